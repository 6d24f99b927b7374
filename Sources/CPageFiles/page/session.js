// The session of this browser, and requests to the server.

const key = "pumpctl-token";

export const token = () => localStorage.getItem(key);

export function forgetToken() {
  localStorage.removeItem(key);
}

// The browser has six connections to a server, so what a screen asked for ends with the screen.
export let screen = new AbortController();
export function endRequests() {
  screen.abort();
  screen = new AbortController();
}

/** Begins a request; returns its response. Throws the server's problem. */
export async function open(path, signal, { headers, ...options } = {}) {
  const response = await fetch(`/api/v1/${path}`, { ...options, headers: { ...(token() && { Authorization: `Bearer ${token()}` }), ...headers }, signal });
  if (!response.ok) throw await response.json();
  return response;
}

/**
 * Sends a request.
 *
 * @param ending Ends the request early; `screen.signal` does so with the screen.
 * @returns The JSON of the answer.
 * @throws The server's problem, or one with the code "unreachable" if no answer that can be read came within `patience`
 *   milliseconds, or before `ending`.
 */
export async function call(method, path, body, patience = 10_000, ending = null) {
  const signal = AbortSignal.any([AbortSignal.timeout(patience), ...(ending ? [ending] : [])]);
  try {
    const response = await open(path, signal, { method, ...(body && { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }) });
    return response.status === 204 ? null : await response.json();
  } catch (problem) {
    if (problem.detail) throw problem;
    throw {
      code: "unreachable", detail: "The server did not answer.", outcome: method === "POST" ? "unknown" : undefined,
      hint: "check that pumpctl-page runs, and that this device is online",
    };
  }
}

/** Reads what a screen shows. The reading ends with the screen. The server waits 20 seconds for pumpctld or the record. */
export const read = (path, patience = 25_000) => call("GET", path, undefined, patience, screen.signal);

/** The path of something of a device. */
export const pathOf = (device, name) => `devices/${encodeURIComponent(device)}/${name}`;

/** Starts a run of pumpctl, and returns the objects that it prints. Throws at the end if any of them was an error. */
export async function* told(path, signal, options) {
  const response = await open(path, signal, { method: "POST", ...options });
  let rest = "";
  let failure = null;
  for (const reader = response.body.pipeThrough(new TextDecoderStream()).getReader(); ;) {
    const { done, value } = await reader.read();
    if (done && failure) throw failure;
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines.filter(Boolean)) {
      const told = JSON.parse(line);
      // An event may have an error too.
      const isFailure = told.error && told.message;
      if (isFailure) failure = { ...failure, ...told, code: told.error, detail: told.message };
      if (!isFailure || "passed" in told) yield told;
    }
  }
}

/** Does what takes a connection for long, one at a time in this browser: OFF needs one too. */
export function alone(work) {
  return navigator.locks.request("pumpctl-content", { ifAvailable: true }, (lock) => {
    if (!lock) throw { detail: "a transfer or a trial is under way in this browser" };
    return work();
  });
}

/** Exchanges a code, or an address that ends with one, for a token. */
export async function logIn(code) {
  if (code.includes("#")) code = code.slice(code.indexOf("#") + 1);
  const session = await call("POST", "session", { code: code.trim() });
  localStorage.setItem(key, session.token);
}

/** Returns the code in the address, and removes it. */
export function takeCode() {
  const code = location.hash.slice(1);
  if (!code || code.startsWith("/")) return null;
  history.replaceState(null, "", "#/");
  return code;
}

// The session of this browser, and requests to the server.

const key = "pumpctl-token";

export const token = () => localStorage.getItem(key);

export function forgetToken() {
  localStorage.removeItem(key);
}

/** A failure of a request: the members of the server's problem, or `code` "unreachable". */
export class Failure extends Error {
  constructor(problem) {
    super(problem.detail);
    Object.assign(this, problem);
  }
}

// The browser has six connections to a server, so what a screen asked for ends with the screen.
export let screen = new AbortController();
/** Ends the requests of the screen that is left. */
export function endRequests() {
  screen.abort();
  screen = new AbortController();
}

/**
 * Sends a request.
 *
 * @param ending Ends the request early; `screen.signal` does so with the screen.
 * @returns The JSON of the answer.
 * @throws {Failure} The server refused, or did not answer within `patience` milliseconds.
 */
export async function call(method, path, body, patience = 10_000, ending = null) {
  const headers = { Accept: "application/json" };
  if (token()) headers.Authorization = `Bearer ${token()}`;
  if (body) headers["Content-Type"] = "application/json";
  let response;
  let answer;
  try {
    response = await fetch(`/api/v1/${path}`, {
      method, headers, body: body && JSON.stringify(body), signal: AbortSignal.any([AbortSignal.timeout(patience), ...(ending ? [ending] : [])]),
    });
    // The answer to logging out has no body.
    answer = response.status === 204 ? null : await response.json();
  } catch {
    throw new Failure({
      code: "unreachable", detail: "The server did not answer.",
      hint: "check that pumpctl-page runs, and that this device is online",
    });
  }
  if (!response.ok) throw new Failure(answer);
  return answer;
}

/** Exchanges the code in the address, or one that was typed, for a token. The code is removed from the address. */
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

// The state of the bench, as far as it is known, and commands to its devices. Nothing here touches the document.

import { call, pathOf } from "./session.js";
import { silence } from "./stream.js";

/** What is known. Times are milliseconds since 1970 by the server's clock. */
export const bench = {
  /** Whether pumpctld runs: "up", "away", or null as long as nothing was heard. */
  daemon: null,
  /** The devices by name. `values[key]` is `{value, read, was}`: a value, the time at which it was read, and the last value
   *  that was known. */
  devices: {},
  families: {},
  /** Whether the list of devices was ever read. */
  hasList: false,
  /** Whether the list of devices may have changed. */
  isListOld: true,
  /** The scope of the session: "see" or "command". */
  scope: null,
  /** The ID of the session. */
  session: null,
  /** The number of the last message that was taken, and the latest time of a message. */
  number: null,
  heard: 0,
};

/** The number of the last message that was shown. A command names it; the server refuses a command on an old view. */
export let seen = null;
export function noteShown() { seen = bench.number; }

// The server's clock, by the message of a connection that waited least. Neither of the browser's clocks is right alone: one
// stops during sleep, the other can be set.
let offsets = { wall: -Infinity, steady: -Infinity };
export const now = () => (offsets.wall === -Infinity ? Date.now()
  : Math.max(Date.now() + offsets.wall, performance.now() + offsets.steady));

/** The number of times that the server's clock was set back. Times from before can't be compared with those after. */
export let clockSteps = 0;

function noteTime(text, isFirst) {
  const time = Date.parse(text);
  // Small steps back are no sign: messages have the times of two programs.
  if (time < bench.heard - 1000) {
    clockSteps += 1;
    const jump = now() - time;
    for (const device of Object.values(bench.devices)) {
      for (const held of Object.values(device.values)) if (held.read !== null) held.read -= jump;
    }
    isFirst = true;
  }
  if (isFirst) offsets = { wall: -Infinity, steady: -Infinity };
  offsets.wall = Math.max(offsets.wall, time - Date.now());
  offsets.steady = Math.max(offsets.steady, time - performance.now());
  bench.heard = isFirst ? time : Math.max(bench.heard, time);
}

export const familyOf = (device) => bench.families[device.family];

/** Whether a message of the last few seconds was taken: see `silence`. */
export const isLive = () => bench.number !== null && now() - bench.heard < silence;

/** Whether something is known of the present state of a device. */
export const isKnown = (device) => isLive() && bench.daemon === "up" && device.link === "up";

/** Takes a message of the stream. Returns its data if it is of the kind "said" or "command", otherwise null. */
export function take({ number, kind, data }) {
  if (kind === "model") {
    // A model may come from a tab that was frozen, so only a tab that knows nothing takes it.
    if (bench.daemon !== null) return null;
    Object.assign(bench, data);
    offsets = { wall: data.wall, steady: data.wall + Date.now() - performance.now() };
    delete bench.wall;
    return null;
  }
  const isWhole = kind === "snapshot" || kind === "resync";
  // A tab that was frozen may pass on old messages when it awakes, and one that joins lacks what came before.
  if (!isWhole && (bench.daemon === null || Number(number) <= Number(bench.number))) return null;
  // A message of the kind "daemon" has no time.
  if (data.time) noteTime(data.time, isWhole);
  switch (kind) {
    case "snapshot":
    case "resync":
      // While pumpctld is away, no devices are listed: nothing is known of them, but they are not gone.
      if (data.devices.length) takeDevices(data.devices, data.time, true);
      else Object.values(bench.devices).forEach(forget);
      bench.isListOld = true;
      bench.daemon = data.daemon;
      break;
    case "daemon":
      bench.daemon = data.daemon;
      Object.values(bench.devices).forEach(forget);
      bench.isListOld = true;
      break;
    case "state":
      takeState(data.device, data, data.time);
      break;
    case "link":
      if (!bench.devices[data.device]) break;
      bench.devices[data.device].link = data.link;
      bench.devices[data.device].isTold = true;
      if (data.link !== "up") forget(bench.devices[data.device]);
      break;
  }
  // Last, so that a message that could not be taken does not count as shown.
  bench.number = number;
  return kind === "said" || kind === "command" ? data : null;
}

/** The messages that a tab which joins now needs to know. */
export const past = () =>
  bench.number === null ? [] : [{ number: bench.number, kind: "model", data: { ...bench, wall: now() - Date.now() } }];

/** Takes a list of devices; those that are not in it are no longer configured. */
export function takeDevices(list, time, isWhole) {
  const former = bench.devices;
  bench.devices = {};
  for (const device of list) {
    const { state, ...others } = device;
    bench.devices[device.name] = { values: {}, ...former[device.name], ...others };
    // An event may have overtaken the list, so a list tells only of devices that no event has told of.
    if (state && (isWhole || !former[device.name]?.isTold)) takeState(device.name, state, time);
  }
}

/** Notes that nothing is known of a device any more. A value that is no longer known stays, as what it was. */
function forget(device) {
  device.link = "lost";
  for (const held of Object.values(device.values)) held.value = null;
}

function takeState(name, state, time) {
  const device = (bench.devices[name] ??= { name, values: {} });
  device.link = state.link;
  device.isTold = true;
  device.last_change = state.last_change;
  device.sensor_faults = state.sensor_faults;
  for (const [key, value] of Object.entries(state.values)) {
    const age = state.ages_s[key];
    const read = age === null || age === undefined ? null : Date.parse(time) - age * 1000;
    // If the value is unknown although the link is up, the device itself says so: an older value is not kept.
    device.values[key] = { value, read, was: known(value) ? value : state.link === "up" ? undefined : device.values[key]?.was };
  }
}

/** Whether a value is known: null and "unknown" are not. */
export const known = (value) => value !== null && value !== undefined && value !== "unknown";

/** Reads the list of devices and their families, as after the first event of a new device. */
export async function refresh() {
  const [{ devices, time }, { families }] = await Promise.all([call("GET", "devices"), call("GET", "families")]);
  takeDevices(devices, time);
  bench.hasList = true;
  bench.isListOld = false;
  bench.families = Object.fromEntries(families.map((family) => [family.name, family]));
}

/**
 * Sends a command to a device.
 *
 * @param view The value of `seen` when the user decided.
 * @returns The answer, with its `outcome`.
 * @throws The problem. If its `outcome` is "unknown", the command may have been carried out.
 */
export async function command(device, name, parameters, isQuery, view) {
  const body = { name, ...(parameters && { parameters }) };
  if (!isQuery) Object.assign(body, { id: crypto.randomUUID(), seen: Number(view) });
  try {
    // The server waits up to a second for the device's state, then up to five for pumpctld's answer.
    return await call("POST", pathOf(device, "commands"), body, 7000);
  } catch (failure) {
    if (failure.code === "unreachable" && isQuery) failure.outcome = "nothing_changed";
    throw failure;
  }
}

/**
 * Makes a device safe. Asks again for ten seconds until it is confirmed.
 *
 * Each press is a request of its own: one that shared the answer of an earlier press could miss a command between them.
 *
 * @param ending Ends the request if later presses follow: the browser has six connections to the server.
 * @param tell Called with each failure after which the stop is repeated.
 * @returns The times at which the confirmed request was sent and was answered, with `clockSteps` when it was sent.
 * @throws The last failure. Its `outcome` is "unknown" if any attempt may have had an effect.
 */
export async function stop(device, ending, tell) {
  const end = performance.now() + 10_000;
  let isUncertain = false;
  for (;;) {
    const asked = now();
    const steps = clockSteps;
    try {
      // The server waits up to five seconds for pumpctld's answer.
      await call("POST", pathOf(device, "stop"), undefined, 6000, ending);
      return { asked, answered: now(), steps };
    } catch (failure) {
      isUncertain ||= !failure.outcome || failure.outcome === "unknown";
      const isFinal = ending.aborted || [401, 403, 404].includes(failure.status) || failure.code === "refused";
      if (isFinal || performance.now() > end) throw { ...failure, outcome: isUncertain ? "unknown" : failure.outcome };
      tell(failure);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

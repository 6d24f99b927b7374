// The outcomes of commands, and their words.

import { bench, command, familyOf, isKnown, isLive, now } from "./bench.js";
import { clock, element, plain, status, write } from "./elements.js";

export const called = (device) => familyOf(device)?.device ?? device.family ?? "a device";

// Outcomes outlive a screen: a command may be under way while the screen is made anew.
const outcomes = new Map();

/** The place for the outcome of a device's command, with `data-busy`. */
export function outcomeOf(device, name) {
  const key = JSON.stringify([device, name]);
  if (!outcomes.has(key)) outcomes.set(key, status());
  return outcomes.get(key);
}

/** The stops by device: their number, and the abort controllers of the first and the last unanswered stop since the last
 *  change. */
export const stops = new Map();
export const stopsOf = (name) => stops.get(name)?.number ?? 0;

const replied = (answer) => (answer.reply.length ? `done at ${clock(now())}: ${answer.reply.map(plain).join(", ")}`
  : `sent at ${clock(now())}; the device does not acknowledge it`);

/**
 * Sends a command; returns whether it was done.
 *
 * @param row The description of the command.
 * @param view The value of `seen` when the user decided.
 * @param inWords Returns the outcome of a command that was done.
 */
export async function send(device, row, parameters, outcome, view, inWords = replied) {
  outcome.dataset.busy = "yes";
  show(outcome, "sending", "sending …");
  const confirmed = outcomeOf(device.name, "stop");
  if (row.effect !== "query") {
    if (confirmed.dataset.state === "done") show(confirmed, "", "");
    // The first stop after this change counts as a first one again, so that later presses do not end it.
    if (stops.has(device.name)) Object.assign(stops.get(device.name), { first: null, last: null });
  }
  try {
    const answer = await command(device.name, row.name, parameters, row.effect === "query", view);
    show(outcome, "done", inWords(answer));
    outcome.dataset.answered = now();
    return true;
  } catch (failure) {
    showFailure(outcome, failure, device);
    return false;
  } finally {
    outcome.dataset.busy = "no";
  }
}

export const hands = "press the button on its lid, or pull the plug.";
/** The advice if OFF can't help. */
export const byHand = `if it runs, ${hands}`;

/** Returns whether a command can be sent to a device. Shows why not. */
export function isReady({ name }, outcome) {
  const isYes = isKnown(bench.devices[name] ?? {});
  if (!isYes) show(outcome, "failed", `not sent: ${!isLive() ? "what was shown is older than five seconds" : bench.daemon === "up" ? `${plain(name)} is not connected` : "pumpctld is away"}`);
  return isYes;
}

/** What may have happened if the outcome of a command is unknown. */
function fear(device) {
  // Without a description of its family, a device may be one that can be on.
  const canBeOn = familyOf(device)?.commands.some((row) => row.name === "on") ?? true;
  return canBeOn ? `${called(device)} may be on` : "it may have been carried out";
}

/** A remedy with the names of this page's buttons: "press OFF" for "command 'off'". */
export const here = (remedy, family) => remedy.replace(/command '([^']+)'/g, (_, name) => `press ${name === family?.stop ? name.toUpperCase() : `'${name}'`}`);

/** Shows the failure of a request. `unknown` says what may have happened if its outcome is unknown. */
export function showFailure(outcome, failure, device, unknown = fear(device)) {
  const begin = {
    unknown: `unknown: ${unknown}`, not_sent: "not sent",
    nothing_changed: failure.code === "refused" ? "refused" : "failed, and nothing was changed",
  }[failure.outcome] ?? "failed";
  // The device's own code, in the words of its family.
  const error = familyOf(device)?.errors.find((row) => row.code === failure.device_code);
  const hint = failure.hint ? ` (${plain(here(failure.hint, familyOf(device)))})` : "";
  show(outcome, failure.outcome === "unknown" ? "unknown" : "failed", `${begin}: ${error?.meaning ?? plain(failure.detail)}${hint}`);
}

export function show(outcome, state, text) {
  outcome.dataset.state = state;
  write(outcome, text);
}

// The outcomes of what was asked for, in words.

import { familyOf } from "./bench.js";
import { element, plain, write } from "./elements.js";

/** A device in a sentence: "a pump". */
export const called = (device) => familyOf(device)?.device ?? device.family ?? "a device";

// Outcomes outlive a screen: a command may be under way while the screen is made anew.
const outcomes = new Map();

/** Returns the place for the outcome of a device's command; `busy` of its data set says whether one is under way. */
export function outcomeOf(device, name) {
  const key = JSON.stringify([device, name]);
  if (!outcomes.has(key)) outcomes.set(key, element("p", { class: "outcome", role: "status" }));
  return outcomes.get(key);
}

export function show(outcome, state, text) {
  outcome.dataset.state = state;
  write(outcome, text);
}

/** Shows the failure of a request. `unknown` says what may have happened if its outcome is unknown. */
export function showFailure(outcome, failure, device, unknown = `${called(device)} may be on`) {
  const begin = {
    unknown: `unknown: ${unknown}`, not_sent: "not sent",
    nothing_changed: failure.code === "refused" ? "refused" : "failed, and nothing was changed",
  }[failure.outcome] ?? "failed";
  // The device's own code, in the words of its family.
  const error = familyOf(device)?.errors.find((row) => row.code === failure.device_code);
  const hint = failure.hint ? ` (${plain(failure.hint)})` : "";
  show(outcome, failure.outcome === "unknown" ? "unknown" : "failed", `${begin}: ${error?.meaning ?? plain(failure.detail)}${hint}`);
}

// The bench of a simulated device, made from the verbs of its simulator: what a person does at a real one.

import { bench, isKnown, now } from "./bench.js";
import { clock, element, form, plain, write } from "./elements.js";
import { outcomeOf, show, showFailure } from "./outcomes.js";
import { call, pathOf, read } from "./session.js";

const interval = 5000;
/** The number of questions, one a second, after a link has changed: a simulator needs a moment to notice that. */
const tries = 3;
/** The longest wait for the server, which waits 20 seconds for pumpctld. */
const patience = 25_000;
/** A minimum or maximum of this size or more is left out of a field: a browser can't show it exactly. */
const largest = 1e15;

/** The simulators by device: `verbs`, or null; `state`, or `trouble`, the reason that it is not known; the `number` of the last
 * question, and how many are `left`. */
const simulators = new Map();

/** Makes the section of a device. It is hidden unless the device has a simulator. */
export function simulator(device, parts) {
  if (!simulators.has(device.name)) simulators.set(device.name, { verbs: null, link: null, number: 0 });
  const found = simulators.get(device.name);
  // A request of a former screen has ended with it, and what that screen showed is old.
  Object.assign(found, { state: {}, trouble: null, isAsking: false, asked: -Infinity, left: tries });
  const state = element("p", { class: "signal" });
  const forms = element("div", { class: "commands" });
  const section = element("section", { class: "bench", hidden: true, "aria-label": "Bench" }, element("h2", {}, "Bench"),
    element("p", {}, "This is a simulated device. Here you do what a person does at a real one."), state, forms);
  let shape = "";
  let rows = [];
  parts.push(() => {
    const current = bench.devices[device.name] ?? {};
    ask(device.name, found, current);
    section.hidden = !found.verbs;
    if (!found.verbs) return;
    const shapeNow = JSON.stringify(found.verbs);
    if (shapeNow !== shape) {
      shape = shapeNow;
      rows = found.verbs.map((verb, index) => row(device, found, verb, index));
      forms.replaceChildren(...rows.map((row) => row.node));
    }
    // The port is shown above.
    const shown = Object.entries(found.state).filter(([key]) => key !== "port");
    const trouble = isKnown(current) ? found.trouble : "The device is not connected.";
    write(state, trouble ? `The simulator's state is unknown: ${plain(trouble)}`
      : shown.map(([key, value]) => `${plain(key.replaceAll("_", " ").replace(/ c$/, " °C"))}: ${words(value)}`).join(" · "));
    const isOpen = isKnown(current) && bench.scope === "command";
    rows.forEach((row) => row.update(isOpen));
  });
  return section;
}

const words = (value) => (typeof value === "number" ? String(Math.round(value * 100) / 100)
  : typeof value === "boolean" ? (value ? "yes" : "no") : plain(value));

/** Asks for the simulator if the link has changed, or from time to time. */
function ask(name, found, current) {
  const link = String(isKnown(current));
  if (link !== found.link) Object.assign(found, { link, left: tries, asked: -Infinity });
  if (found.isAsking || !(found.verbs || found.left > 0)) return;
  if (performance.now() - found.asked < (found.verbs ? interval : 1000)) return;
  Object.assign(found, { isAsking: true, asked: performance.now(), left: found.left - 1 });
  look(name, found);
}

async function look(name, found) {
  const number = (found.number += 1);
  const isLast = () => number === found.number;
  try {
    const { verbs, state } = await read(pathOf(name, "simulator"));
    if (isLast()) Object.assign(found, { verbs, state, trouble: null, left: tries });
  } catch (failure) {
    if (!isLast()) return;
    if (failure.code === "no_simulator") found.verbs = null;
    lose(found, failure);
  }
  if (isLast()) found.isAsking = false;
}

function lose(found, failure) {
  Object.assign(found, { state: {}, trouble: failure.detail });
}

function row(device, found, verb, index) {
  const name = [verb.name, verb.option].filter(Boolean).map(plain).join(" ");
  const outcome = outcomeOf(device.name, `simulator ${name}`);
  const isBusy = () => outcome.dataset.busy === "yes";
  const inputs = verb.arguments.map((argument, place) => input(argument, `bench-${index}-${place}`));
  const button = element("button", { "data-name": JSON.stringify([device.name, "simulator", name]) }, name);
  const node = form(() => {
    if (isBusy()) return;
    const values = inputs.map((one) => one.control.value);
    act(device, found, verb.name, verb.option ? [verb.option, ...values] : values, outcome);
  }, ...inputs.flatMap((one) => one.nodes), button,
  // The label of an option's field says the same.
  verb.option ? "" : element("p", { class: "about" }, plain(verb.summary)), outcome);
  return {
    node,
    update: (isOpen) => {
      button.disabled = !isOpen || isBusy();
      inputs.forEach((one) => { one.control.disabled = !isOpen; });
    },
  };
}

/** Does something at the simulated device. It is no command for the device, so it needs no view of it. */
async function act(device, found, verb, given, outcome) {
  outcome.dataset.busy = "yes";
  show(outcome, "sending", "sending …");
  try {
    const answer = await call("POST", pathOf(device.name, "simulator"), { verb, arguments: given }, patience);
    // An answer that was asked for before comes too late.
    found.number += 1;
    Object.assign(found, { state: answer.state, trouble: null, isAsking: false });
    show(outcome, "done", `done at ${clock(now())}`);
  } catch (failure) {
    // The state is read again soon.
    if (failure.outcome === "unknown") lose(found, failure);
    showFailure(outcome, failure, device, "it may have been done");
  } finally {
    outcome.dataset.busy = "no";
  }
}

function input(argument, id) {
  const list = argument.suggestions && id;
  const limit = (value) => (Math.abs(value) < largest ? value : null);
  const isNumber = ["integer", "number"].includes(argument.type);
  const control = argument.choices
    ? element("select", {}, ...argument.choices.map((choice) => element("option", {}, plain(choice))))
    : element("input", {
      list, type: isNumber ? "number" : "text", min: limit(argument.minimum), max: limit(argument.maximum),
      step: argument.type === "number" ? "any" : null, required: true, autocomplete: "off",
      placeholder: argument.type === "time" ? "25m" : null,
    });
  const options = list ? element("datalist", { id: list }, ...argument.suggestions.map((text) => element("option", { value: text }))) : "";
  return { control, nodes: [element("label", {}, plain(argument.summary), control), options] };
}

// The list of devices, and the screen of a device. Both are made from the description of the device's family.

import { bench, clockSteps, familyOf, isKnown, isLive, known, now, seen, stop } from "./bench.js";
import { charts } from "./chart.js";
import { console } from "./console.js";
import { content, isContent } from "./content.js";
import { clock, element, form, plain, write } from "./elements.js";
import { byHand, called, hands, isReady, outcomeOf, send, show, stops, stopsOf } from "./outcomes.js";
import { rescue } from "./rescue.js";
import { simulator } from "./simulator.js";
import { trial } from "./trial.js";
import { answered, askedInVain, banners, beginAsking, notAsked, remembers, troubleOf, values } from "./values.js";

/** A screen. `parts` are functions, each of which shows what is known now in its part of `node`. */
const screen = (title, parts, node) => ({ title, node, update: () => parts.forEach((part) => part()) });

const queues = new Map();

/** The place for a command that waits until the same command, sent before, is answered. It outlives a screen. */
function queueOf(device, name) {
  const key = JSON.stringify([device, name]);
  if (!queues.has(key)) queues.set(key, { wanted: null });
  return queues.get(key);
}

export function list() {
  const parts = [];
  const canRun = (device) => !familyOf(device) || Boolean(familyOf(device).stop);
  const devices = Object.values(bench.devices).sort((one, other) => canRun(other) - canRun(one));
  const cards = devices.map((device) => {
    const link = element("p", { class: "link" });
    const facts = element("p", { class: "signal" });
    parts.push(() => showLink(bench.devices[device.name], link, facts, troubleOf(device.name)));
    const node = element("li", { class: "card" },
      element("h2", {}, element("a", { href: `#/device/${encodeURIComponent(device.name)}` }, plain(device.name)),
        " ", element("small", {}, called(device))),
      stopper(device, parts), link, facts, values(device, parts, 6));
    parts.push(() => { node.classList.toggle("on", stateOf(device.name) === "on"); });
    return node;
  });
  const pumps = devices.filter(canRun);
  const all = outcomeOf("", "all");
  parts.push(() => showAll(pumps, all));
  const node = element("section", {}, element("h1", {}, "Devices"),
    pumps.length > 1 && bench.scope !== "see" && element("div", { class: "all" }, element("button", {
      class: "off", onclick: () => {
        all.dataset.busy = "yes";
        pumps.forEach(stopOne);
      }, onpointerdown: holdPointer, onkeydown: ignoreRepeat, "data-name": "all",
    }, "ALL OFF"), all) || "",
    cards.length ? element("ul", { class: "cards" }, ...cards)
      : !bench.hasList ? element("p", {}, "Waiting for the list of devices …")
      : element("p", {}, "No device is configured. Start pumpctl serve with --port, or add one to its configuration."),
    element("p", {}, element("a", { href: "#/peer" }, "Be a peer")));
  return screen("Devices", parts, node);
}

export function device(name) {
  const parts = [];
  if (!Object.hasOwn(bench.devices, name)) {
    const reason = bench.hasList ? `There is no device named ${plain(name)}. ` : "Waiting for the list of devices … ";
    return screen(name, parts, element("article", {}, stopper({ name }, parts, banners({ name }, parts)), element("h1", {}, plain(name)),
      element("p", {}, reason, element("a", { href: "#/" }, "All devices"))));
  }
  const found = bench.devices[name];
  const link = element("p", { class: "link" });
  const facts = element("p", { class: "signal" });
  const last = element("p", { class: "last" });
  parts.push(() => {
    showLink(bench.devices[name], link, facts);
    const change = bench.devices[name]?.last_change;
    const who = change?.by === "by hand" ? `${plain(change.command)} by hand`
      : `${plain(change?.command)} by ${plain(change?.by)}${bench.session && change?.by.startsWith(`page session ${bench.session} `) ? ", which is this browser," : ""}`;
    const main = familyOf(found)?.state[0];
    const held = bench.devices[name]?.values[main?.key];
    // A device that stops by itself does not say so.
    const isOther = change?.outcome === "done" && main?.choices?.includes(change?.command) && known(held?.value) && held.value !== change.command && held.read > Date.parse(change.time) + 1000;
    const then = isOther ? `; then ${held.value} without a command` : change?.outcome === "unknown" ? "; its outcome is unknown" : "";
    write(last, change ? `last change: ${who} at ${clock(Date.parse(change.time))}${then}` : "");
  });
  const node = element("article", {},
    stopper(found, parts, banners(found, parts)),
    element("h1", {}, plain(name), " ", element("small", {}, called(found))),
    link, facts, values(found, parts), last,
    found.family === "rescue" ? rescue(found, parts) : commands(found, parts), charts(found, familyOf(found), parts), content(found),
    simulator(found, parts), trial(found, parts), console(found, parts));
  return screen(name, parts, node);
}

function showLink(device, link, facts, trouble = "") {
  if (!device) return;
  const text = !isLive() ? "unknown: page not connected"
    : bench.daemon === "away" ? "unknown: pumpctld is away"
    : device.link === "up" ? "connected" : "not connected: its state is unknown";
  write(link, trouble || text);
  link.dataset.link = isKnown(device) && !trouble ? "up" : "lost";
  write(facts, [plain(device.endpoint ?? ""), known(device.signal_dbm) ? signal(device.signal_dbm) : ""]
    .filter(Boolean).join(" · "));
}

const signal = (dbm) =>
  `signal ${dbm >= -55 ? "excellent" : dbm >= -67 ? "good" : dbm >= -80 ? "fair" : "weak"} (${dbm} dBm)`;

/** Keeps a press on its button, even if the button moves under the pointer. */
const holdPointer = (event) => event.currentTarget.setPointerCapture(event.pointerId);

/** A key that is held down is one press. */
const ignoreRepeat = (event) => { if (event.repeat) event.preventDefault(); };

/** The button that makes a device safe. It is enabled in every state, and asks nothing. */
function stopper(device, parts, ...others) {
  const outcome = outcomeOf(device.name, "stop");
  const button = element("button", {
    class: "off", onclick: () => stopOne(device), onpointerdown: holdPointer, onkeydown: ignoreRepeat, "data-name": JSON.stringify([device.name, "stop"]),
  });
  const isMute = bench.scope === "see";
  const box = element("div", { class: "stop" }, isMute ? element("p", {}, `This session may only look. To stop a pump, ${hands}`) : button, outcome, ...others);
  parts.push(() => {
    const family = familyOf(bench.devices[device.name] ?? device) ?? familyOf(device);
    // Without a description of the family, a stop is offered all the same.
    box.hidden = Boolean(family) && !family.stop;
    write(button, (family?.stop ?? "off").toUpperCase());
    if (!family) return;
    const current = bench.devices[device.name];
    if (isOver(outcome, family, current)) show(outcome, "", "");
    const held = current?.values[family.state[0]?.key];
    const { state, answered } = outcome.dataset;
    if (["unknown", "failed"].includes(state) && isKnown(current ?? {}) && known(held?.value) && held.read > Number(answered)) {
      show(outcome, state, `NOT CONFIRMED at ${clock(Number(answered))}; ${held.value} when last read: press ${button.textContent} again; ${byHand}`);
    }
  });
  return box;
}

/**
 * Whether the outcome of a stop is out of date. Since then, another command was carried out, or the server's clock was set
 * back; or, after a confirmation, the device was read to be in another state, or its state was known and is lost again; or,
 * after a failure, the device was read to be safe.
 */
function isOver(outcome, family, device) {
  const { state, steps, asked, answered, wasKnown } = outcome.dataset;
  if (!answered || state === "sending") return false;
  const isDone = state === "done";
  // A page that was cut off all the time knows nothing newer than the confirmation, so it keeps that.
  if (!device || !isKnown(device)) return isDone && wasKnown === "yes";
  outcome.dataset.wasKnown = "yes";
  // Times of another clock can't be compared.
  if (Number(steps) !== clockSteps || Number(asked) > now() + 1000) return true;
  const change = device.last_change;
  if (change && change.command !== family.stop && Date.parse(change.time) > Number(asked)) return true;
  const main = family.state[0];
  const held = device.values[main?.key];
  return Boolean(main?.choices?.includes(family.stop) && held && known(held.value) && (held.value === family.stop) !== isDone
    && (held.read === null ? isDone : held.read > Number(answered)));
}

/** Why a stop is not confirmed, unless the device only did not answer. */
const cause = (failure) => (failure.code === "no_answer" ? "" : ` (${plain(failure.detail)})`);

async function stopOne(device) {
  const outcome = outcomeOf(device.name, "stop");
  const command = familyOf(device)?.stop ?? "off";
  beginAsking(device.name, command);
  if (!stops.has(device.name)) stops.set(device.name, { number: 0, first: null, last: null });
  const asked = stops.get(device.name);
  const ending = new AbortController();
  // A press ends the stop of the press before it, but not the first one: otherwise fast presses could end each request before
  // it has left the browser.
  if (asked.last !== asked.first) asked.last.abort();
  asked.first ??= ending;
  asked.last = ending;
  const press = (asked.number += 1);
  // Only the last press shows its outcome.
  const isLast = () => stopsOf(device.name) === press;
  show(outcome, "sending", isKnown(bench.devices[device.name] ?? {}) ? "sending …" : `asking, but not connected: ${byHand}`);
  try {
    const times = await stop(device.name, ending.signal, (failure) => {
      if (isLast()) show(outcome, "sending", `NOT CONFIRMED YET, asking again; ${byHand}${cause(failure)}`);
    });
    answered(device, familyOf(device)?.stop);
    if (!isLast()) return;
    Object.assign(outcome.dataset, times, { wasKnown: "no" });
    show(outcome, "done", `confirmed by ${plain(device.name)}, asked at ${clock(times.asked)}`);
  } catch (failure) {
    if (!isLast()) return;
    Object.assign(outcome.dataset, { asked: now(), answered: now(), steps: clockSteps });
    // A stop that was not sent leaves a device as it was.
    if (failure.outcome === "unknown" || remembers(device.name)) askedInVain(device.name, command, failure.outcome === "unknown");
    else notAsked(device.name);
    show(outcome, failure.outcome === "unknown" ? "unknown" : "failed", `NOT CONFIRMED at ${clock(now())}: ${byHand}${cause(failure)}`);
  } finally {
    if (asked.first === ending) asked.first = asked.last === ending ? null : asked.last;
    if (asked.last === ending) asked.last = asked.first;
  }
}

function showAll(devices, all) {
  const texts = { sending: isLive() && bench.daemon === "up" ? "asked" : "asking, but not connected", done: "confirmed", unknown: "NOT CONFIRMED", failed: "NOT CONFIRMED" };
  const states = devices.map((device) => outcomeOf(device.name, "stop").dataset.state);
  // A device that was switched on since has no outcome any more, and is not left out. What is confirmed comes last.
  const told = devices.map(({ name }, index) => `${plain(name)}: ${texts[states[index]] ?? stateOf(name)}`)
    .sort((one, other) => one.endsWith(`: ${texts.done}`) - other.endsWith(`: ${texts.done}`));
  show(all, states.every((state) => state === "done") ? "done" : states.some((state) => ["unknown", "failed"].includes(state)) ? "unknown" : "sending",
    all.dataset.busy === "yes" ? told.join("; ") : "");
  // Only what ALL OFF has asked for is told here.
  if (!states.some((state) => texts[state])) all.dataset.busy = "no";
}

/** The main state of a device in one word. */
function stateOf(name) {
  const device = bench.devices[name] ?? {};
  const value = isKnown(device) ? device.values[familyOf(device)?.state[0]?.key]?.value : null;
  return known(value) ? plain(value) : "unknown";
}

/** The commands of a device, without the one that makes it safe. */
function commands(device, parts) {
  const family = familyOf(device);
  const rows = (family?.commands ?? []).filter((row) => row.name !== family.stop && row.effect !== "stop" && !isContent(device, row.name));
  return element("section", { class: "commands", "aria-label": "Commands" }, ...rows.map((row) => {
    const outcome = outcomeOf(device.name, row.name);
    const isBusy = () => outcome.dataset.busy === "yes";
    const inputs = row.parameters.map((parameter) => input(device, family, parameter, isBusy));
    const queue = queueOf(device.name, row.name);
    const isQuery = row.effect === "query";
    const main = family.state[0];
    const why = row.states ? `Possible while ${main.label} is ${row.states.join(" or ")}.` : "";
    const restriction = row.states ? element("small", { class: "restriction" }) : "";
    const button = element("button", {
      title: row.summary, class: row.danger ? "danger" : "", "data-name": JSON.stringify([device.name, row.name]),
    }, row.name);
    const submit = async () => {
      // A slider that is moved on meanwhile is sent once more, with its last value, after the answer. It counts as
      // decided now: if OFF comes first, or the view is old by then, it is not sent.
      if (isBusy() && !inputs.some((one) => one.isSlider)) return;
      const parameters = inputs.length ? Object.fromEntries(inputs.map((one) => [one.name, one.read()])) : null;
      queue.wanted = { parameters, view: seen, stops: stopsOf(device.name) };
      if (isBusy()) return;
      while (queue.wanted) {
        const { parameters, view, stops: former } = queue.wanted;
        queue.wanted = null;
        if (!isReady(device, outcome)) break;
        if (!isQuery && stopsOf(device.name) !== former) break;
        const changes = !isQuery && family.stop;
        if (changes) beginAsking(device.name, row.name);
        const isDone = await send(device, row, parameters, outcome, view);
        if (changes && isDone) answered(device, row.name);
        else if (changes && outcome.dataset.state === "unknown") askedInVain(device.name, row.name);
        else if (changes) notAsked(device.name);
        if (!isDone) break;
      }
      queue.wanted = null;
      inputs.forEach((one) => one.reset());
    };
    const node = form(submit, ...inputs.map((one) => one.node), button, element("p", { class: "about" }, row.summary, row.danger ? ` Careful: ${row.danger}.` : ""), restriction, outcome);
    parts.push(() => {
      const current = bench.devices[device.name] ?? {};
      const held = current.values?.[main?.key];
      // A device whose present state is not known may carry the command out.
      const isCertain = isKnown(current) && held && known(held.value) && held.read !== null && now() - held.read < 15_000;
      const isPossible = !row.states || !isCertain || row.states.includes(held.value);
      if (restriction) write(restriction, isPossible ? "" : why);
      // What was done is out of date once the device was read to be in another state.
      if (outcome.dataset.state === "done" && main?.choices?.includes(row.name) && isCertain && held.value !== row.name && held.read > Number(outcome.dataset.answered)) {
        show(outcome, "", "");
      }
      const isOpen = isKnown(current) && isPossible && (isQuery || bench.scope === "command");
      inputs.forEach((one) => one.update(isOpen));
      button.disabled = !isOpen || isBusy() || !inputs.every((one) => one.isChosen());
    });
    return node;
  }));
}

/** The input for a parameter. A slider is sent when it is released, and goes back to the value that was read. */
function input(device, family, parameter, isBusy) {
  const isSlider = parameter.type === "integer" && parameter.maximum !== undefined && parameter.maximum <= 1000;
  // The value that shows the parameter: of `speed_percent` and `speed_pwm`, the one with the parameter's limits.
  const field = family.state.find((row) => row.key.startsWith(parameter.name)
    && row.minimum === parameter.minimum && row.maximum === parameter.maximum);
  // A pump says its speed in percent, and the number only after it was set.
  const share = family.state.find((row) => row.key.startsWith(parameter.name) && row.unit === "%");
  const shown = element("output", {});
  const control = parameter.choices
    ? element("select", {}, ...parameter.choices.map((choice) => element("option", {}, choice)))
    : element("input", {
      type: isSlider ? "range" : parameter.type === "text" ? "text" : "number", min: parameter.minimum,
      max: parameter.maximum, step: parameter.type === "number" ? "any" : null, required: true,
    });
  const read = () => (["integer", "number"].includes(parameter.type) ? Number(control.value) : control.value);
  let isTouched = false;
  const update = () => {
    if (isTouched || !isSlider) return;
    const current = bench.devices[device.name];
    const valueOf = (row) => (current && isKnown(current) ? current.values[row?.key]?.value : null);
    const [exact, percent] = [valueOf(field), valueOf(share)];
    const isRead = known(exact) || known(percent);
    control.value = known(exact) ? exact : known(percent) ? Math.round((percent * parameter.maximum) / 100) : parameter.minimum;
    control.classList.toggle("unknown", !isRead);
    write(shown, isRead ? `now ${known(exact) ? exact : `${percent} %`}` : "not known now");
  };
  if (isSlider) {
    control.addEventListener("input", () => {
      isTouched = true;
      write(shown, `${control.value} not sent`);
    });
    control.addEventListener("change", () => control.form.requestSubmit());
    // A slider that was moved back sends nothing, and follows the device again. The event `change`, if there is one, comes
    // before this.
    for (const end of ["pointerup", "pointercancel", "blur"]) {
      control.addEventListener(end, () => setTimeout(() => {
        if (!isBusy()) isTouched = false;
        update();
      }));
    }
  }
  return {
    name: parameter.name, read, isSlider,
    isChosen: () => isTouched || !control.classList.contains("unknown"),
    node: element("label", {}, parameter.summary ?? parameter.name, control, isSlider ? shown : ""),
    update: (isOpen) => {
      control.disabled = !isOpen;
      if (!isOpen && !isBusy()) isTouched = false;
      update();
    },
    reset: () => {
      isTouched = false;
      update();
    },
  };
}

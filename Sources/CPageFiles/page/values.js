// The values of a device with their ages and gauges, and banners for what is wrong.

import { bench, familyOf, isKnown, known, now } from "./bench.js";
import { ago, clock, element, isShare, plain, say, store, stored, svg, unsay, words, write } from "./elements.js";
import { byHand, here } from "./outcomes.js";

/** The judgement of a number by its field: "too warm". */
const levelOf = (field, value) => field.levels?.find((level) => level.up_to === undefined || value <= level.up_to);

export function values(device, parts, limit = Infinity) {
  const fields = (familyOf(device)?.state ?? []).slice(0, limit);
  return element("dl", {}, ...fields.map((field) => {
    const value = element("span", { class: "value" });
    const level = element("span", { class: "level" });
    const drawing = isShare(field) ? ring() : gauge(field);
    // The first value is the main state of a device.
    const isSwitch = field === familyOf(device).state[0] && field.type === "boolean";
    const inWords = (held) => (isSwitch ? (held ? "on" : "off") : words(field, held));
    const was = element("s", {});
    const age = element("small", { class: "age" });
    let former = null;
    parts.push(() => {
      const current = bench.devices[device.name];
      const held = current?.values?.[field.key];
      if (!held) {
        drawing?.show(null);
        [level, was, age].forEach((one) => write(one, ""));
        return write(value, "unknown");
      }
      const isCurrent = isKnown(current) && known(held.value);
      const isFault = isKnown(current) && current.sensor_faults?.includes(field.key);
      const text = isFault ? "sensor fault" : isCurrent ? inWords(held.value) : isKnown(current) && field.unknown === undefined ? "–" : "unknown";
      write(value, text);
      const judged = isCurrent && !isFault ? levelOf(field, held.value) : undefined;
      write(level, judged?.word ?? "");
      level.dataset.grade = judged?.grade ?? "";
      drawing?.show(isCurrent && !isFault ? held.value : null);
      // A value of the past is struck through.
      const isPast = !isCurrent && !isKnown(current) && known(held.was);
      write(was, isPast ? inWords(held.was) : "");
      write(age, isCurrent ? (held.read === null ? "age unknown" : ago(now() - held.read)) : isPast ? "before" : "");
      // An error is said by its banner.
      if (former !== null && former !== text && (isCurrent || field === fields[0]) && (field.type === "choice" || isSwitch) && field.key !== "error") {
        say(`${plain(device.name)}: ${field.label} ${text}`);
      }
      former = text;
    });
    const hasNamesake = fields.some((other) => other !== field && other.label === field.label);
    return element("div", { "data-key": field.key },
      element("dt", {}, hasNamesake && field.unit ? `${field.label} (${field.unit})` : field.label),
      element("dd", {}, value, level, was, age, drawing?.node ?? ""));
  }));
}

/** A ring that is filled by a part of a whole. */
function ring() {
  const length = 100;
  const arc = svg("circle", { class: "arc", cx: 20, cy: 20, r: 16, pathLength: length, "stroke-dasharray": `0 ${length}` });
  return {
    node: svg("svg", { class: "ring", viewBox: "0 0 40 40", "aria-hidden": "true" }, svg("circle", { cx: 20, cy: 20, r: 16 }), arc),
    show: (share) => arc.setAttribute("stroke-dasharray", `${(share ?? 0) * length} ${length}`),
  };
}

/** A bar of a number's levels with a mark at the number; null if there are fewer than three. */
function gauge(field) {
  const ends = (field.levels ?? []).map((level) => level.up_to).filter((end) => end !== undefined);
  if (ends.length < 2) return null;
  const margin = (ends.at(-1) - ends[0]) / 2;
  const low = ends[0] - margin;
  const place = (number) => (100 * Math.min(Math.max(number - low, 0), ends.at(-1) - low + margin)) / (ends.at(-1) - low + margin);
  const mark = svg("path", { class: "mark", d: "M0 0V10" });
  const node = svg("svg", { class: "gauge", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true", visibility: "hidden" },
    ...field.levels.map((level, index) => svg("rect", {
      class: level.grade, x: index ? place(ends[index - 1]) : 0, y: 3, height: 4,
      width: (index < ends.length ? place(ends[index]) : 100) - (index ? place(ends[index - 1]) : 0),
    })), mark);
  return {
    node,
    show: (number) => {
      node.setAttribute("visibility", number === null ? "hidden" : "visible");
      if (number !== null) mark.setAttribute("transform", `translate(${place(number)} 0)`);
    },
  };
}

/** The value of a device that says whether it runs. */
const mainOf = (device) => device.values[familyOf(device)?.state[0]?.key];

// What a device may do although nobody has read it. The browser keeps both, so that a page that is opened anew knows them.
const [runningKey, askedKey] = ["pumpctl-running", "pumpctl-asked"];
/** The time after which a pump has stopped itself, and nothing of before counts any more. */
const longest = 30 * 60_000;
const isYoung = (time) => now() - time < longest;
const storedEntries = (key, timeOf) => new Map(stored(key).filter((entry) => Array.isArray(entry) && isYoung(timeOf(entry[1]))));
const readRunning = () => storedEntries(runningKey, (time) => time);
const readAsked = () => storedEntries(askedKey, (entry) => entry?.[1]);
/** The devices that were on when they were last read, with the times of these readings. */
const running = readRunning();
/** The last command to each device whose outcome is unknown, as `[command, time, mayHaveArrived]`. */
const asked = readAsked();

/** Stores an entry, or forgets it if it is undefined. Other tabs store theirs. */
function keepEntry(key, entries, name, entry) {
  if (entry === undefined) entries.delete(name);
  else entries.set(name, entry);
  store(key, [...entries]);
}

/** Whether a reading is later than a time. The server's clock may have been set back since. */
const isAfter = (read, time) => read > time || time > now() + 1000;

const since = (time) => `it may be on; unknown since ${clock(time)}`;
const inVain = (command, time, mayHaveArrived) => `it may be on; ${mayHaveArrived ? `no answer to ${command} of ${clock(time)}` : `${command} of ${clock(time)} did not reach it`}`;

/** The devices that may run for all that this browser knows, in words. */
export const remembered = () => [
  ...[...running].map(([name, time]) => [name, time, since(time)]), ...[...asked].map(([name, entry]) => [name, entry[1], inVain(...entry)]),
].filter(([, time]) => isYoung(time)).map(([name, , text]) => `${plain(name)}: ${text}.`).join(" ");

/** Notes which devices run. Call it after each message. */
export function noteRunning() {
  for (const device of Object.values(bench.devices)) {
    const { name } = device;
    const family = familyOf(device);
    const held = mainOf(device);
    if (!family?.stop || !isKnown(device) || !known(held?.value)) continue;
    if (held.value === "on") {
      const time = held.read ?? now();
      const isNew = Math.abs(time - (running.get(name) ?? 0)) > 5000;
      running.set(name, time);
      // Not each reading is stored.
      if (isNew) keepEntry(runningKey, readRunning(), name, time);
    } else if (running.has(name) && isAfter(held.read ?? now(), running.get(name))) {
      running.delete(name);
      keepEntry(runningKey, readRunning(), name);
    }
    const [command, time] = asked.get(name) ?? [];
    if (command === undefined) continue;
    const change = device.last_change;
    const isRead = isAfter(held.read ?? 0, time) && !(command === family.stop && held.value === "on");
    // Another speed does not end the doubt whether a stop was carried out.
    const isReplaced = change?.outcome === "done" && change.command !== command && family.state[0].choices?.includes(change.command) && Date.parse(change.time) > time;
    if (isRead || isReplaced) settle(name);
  }
}

/** Notes a command that is about to be sent. It counts as one without an answer once the page is opened anew. */
export const beginAsking = (name, command) => keepEntry(askedKey, readAsked(), name, [command, now(), true]);

/** Notes a command whose outcome is unknown, or a stop that was not confirmed. */
export function askedInVain(name, command, mayHaveArrived = true) {
  asked.set(name, [command, now(), mayHaveArrived]);
  keepEntry(askedKey, readAsked(), name, asked.get(name));
}

/** Notes that the last command to a device was not carried out: what was unknown before stays so. */
export const notAsked = (name) => keepEntry(askedKey, readAsked(), name, asked.get(name));

/** Notes that nothing is unknown about a device any more. */
function settle(name) {
  asked.delete(name);
  keepEntry(askedKey, readAsked(), name);
}

/** Notes that a command was done. */
export function answered({ name, ...device }, command) {
  const family = familyOf(device);
  // A speed that was set says nothing of a stop before it.
  if (asked.get(name)?.[0] === family?.stop && command !== family?.stop && !family?.state[0]?.choices?.includes(command)) notAsked(name);
  else settle(name);
}

/** Whether a device was on when it was last read. */
export const remembers = (name) => running.has(name);

/** The latest time of what leaves open whether a device runs. */
const doubtTime = (name) => Math.max(running.get(name) ?? -Infinity, asked.get(name)?.[1] ?? -Infinity);

/** What leaves open whether a device runs: a link that was lost while it did, silence, or a command without an answer. */
function doubts(device) {
  const held = mainOf(device);
  const isRead = isKnown(device) && known(held?.value);
  const found = [];
  const add = (text, read, remedy = `To do: ${byHand}`) => found.push({ text, read, remedy });
  const [command, began, mayHaveArrived] = asked.get(device.name) ?? [];
  if (command !== undefined && isYoung(began)) {
    if (!(isRead && isAfter(held.read ?? 0, began))) add(inVain(command, began, mayHaveArrived), began);
    else if (held.value === "on") add(`it is on; ${command} of ${clock(began)} was not confirmed`, held.read, `To do: press ${command.toUpperCase()} again; ${byHand}`);
    if (found.length) return found;
  }
  const change = device.last_change;
  const time = Date.parse(change?.time);
  if (change?.outcome === "unknown" && !(isRead && (held.read ?? 0) > time)) {
    add(inVain(change.command ?? "a command", time, true), time);
    return found;
  }
  const seen = running.get(device.name);
  if (seen === undefined || (isRead && (held.read === null || (held.value !== "on" && isAfter(held.read, seen))))) return found;
  // Between a command and the next reading, the state of a connected device is not known for a moment.
  if (isKnown(device) && now() - seen < 15_000) return found;
  add(isRead ? `it may be on; no answer since ${clock(seen)}` : since(seen), seen);
  return found;
}

// What was dismissed, by device. It is forgotten once it is over, once the device's main state changes, and after a snapshot.
const dismissed = new Map();

/** What is wrong with a device: an error that it is in, and values that are bad. */
function troubles(device) {
  const family = familyOf(device);
  if (!Object.hasOwn(bench.devices, device.name)) {
    // Such as before the list of devices is read, while pumpctld is away.
    const isGone = bench.hasList && bench.daemon === "up";
    const found = isYoung(doubtTime(device.name)) ? doubts(device) : [];
    return found.map((one) => ({ ...one, key: one.text, text: one.text + (isGone ? "; pumpctld does not have it any more" : "") }));
  }
  if (!family) return [];
  const found = family.stop ? doubts(device) : [];
  for (const one of found) one.key = one.text;
  if (!isKnown(device)) return found;
  const others = [];
  const add = (text, held, remedy, place = others) => place.push({ text, read: held.read, remedy: remedy ? `To do: ${here(remedy, family)}.` : "" });
  const main = family.state[0];
  const state = device.values[main?.key];
  let hasCause = false;
  for (const field of family.state) {
    const held = device.values[field.key];
    if (held && device.sensor_faults?.includes(field.key)) {
      add(`${field.label}: sensor fault; overheating may go unnoticed`, held, "check the sensor and its plug");
      continue;
    }
    if (!held || !known(held.value)) continue;
    // An error in reply to a line, as to those of a test, is the trouble of who has sent the line.
    const error = field.type === "choice" && family.errors.find((row) => row.code === held.value && row.unsolicited);
    if (error) {
      hasCause = true;
      // Why a device was stopped comes before the values that show it too.
      add(error.meaning, held, error.remedy, found);
    }
    const level = levelOf(field, held.value);
    if (level?.grade === "bad") add(`${field.label}: ${level.word}`, held, state?.value === "on" && family.stop ? `press ${family.stop.toUpperCase()}` : "");
  }
  if (state?.value === "error" && !hasCause) {
    const stop = family.commands.find((row) => row.name === family.stop);
    add(`${main.label}: error`, state, stop ? `press ${stop.name.toUpperCase()}` : "", found);
  }
  const sensors = family.state.filter((field) => field.unit === "°C" && field.levels);
  if (state?.value === "on" && sensors.length && !sensors.some(({ key }) => known(device.values[key]?.value) || device.sensor_faults?.includes(key))) {
    add("no temperature is read; overheating may go unnoticed", state);
  }
  found.push(...others);
  for (const one of found) one.key ??= `${state?.value} ${one.text}`;
  return found;
}

/** What is wrong with a device, and was not dismissed. */
function openTroubles(name) {
  const hidden = dismissed.get(name);
  return troubles(bench.devices[name] ?? { name, values: {} }).filter((one) => !hidden?.has(one.key));
}

/** The first of what is wrong with a device, in words. */
export const troubleOf = (name) => plain(openTroubles(name)[0]?.text ?? "");

/** The devices with which something is wrong. */
export const troubled = () => [...new Set([...Object.keys(bench.devices), ...running.keys(), ...asked.keys()])].filter(troubleOf);

/** Forgets what was dismissed and is no longer known to be wrong. Call it after each message. */
export function forgetDismissed({ kind }) {
  // What happened before a snapshot is not known.
  if (kind === "snapshot" || kind === "resync") dismissed.clear();
  for (const [name, keys] of dismissed) {
    const found = troubles(bench.devices[name] ?? { name, values: {} }).map((one) => one.key);
    for (const key of keys) if (!found.includes(key)) keys.delete(key);
  }
}

/** A place for banners, which can be dismissed. */
export function banners(device, parts) {
  const box = element("div", { class: "banners" });
  const shown = new Map();
  parts.push(() => {
    const found = openTroubles(device.name);
    for (const [key, node] of shown) {
      if (found.some((one) => one.key === key)) continue;
      node.remove();
      unsay(node.dataset.said);
      shown.delete(key);
    }
    for (const { key, text, read, remedy } of found) {
      if (!shown.has(key)) {
        const node = element("p", { class: "banner" }, element("span", {}, plain(text), " ", element("small", { class: "age" })), " ",
          element("small", {}, plain(remedy)), element("button", {
          type: "button",
          // The second click of a double click would dismiss the next banner.
          onclick: (event) => {
            if (event.detail > 1) return;
            if (!dismissed.has(device.name)) dismissed.set(device.name, new Set());
            dismissed.get(device.name).add(key);
            node.remove();
            unsay(node.dataset.said);
            shown.delete(key);
          },
        }, "dismiss"));
        shown.set(key, node);
        box.append(node);
        node.dataset.said = `${plain(device.name)}: ${plain(text)} ${plain(remedy)}`;
        say(node.dataset.said, true);
      }
      write(shown.get(key).querySelector(".age"), read === null ? "" : ago(now() - read));
    }
  });
  return box;
}

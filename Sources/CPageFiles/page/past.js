// The past: the record of a device, or a capture that stays in this browser, on one axis of time.

import { bench, familyOf, known } from "./bench.js";
import { line } from "./chart.js";
import { clock, element, form, plain, status, svg, words, write } from "./elements.js";
import { open, pathOf, read, screen } from "./session.js";

/** What is shown, and the moment in it. They outlive the screen. Times are in milliseconds since 1970. `marks` are the
 * commands and events of a record, or the lines and events of a capture. */
let tape = null;
let moment = 0;
/** The number of the last choice: an answer to an earlier one comes too late. */
let chosen = 0;
const choice = { device: null, since: null };

/** A reading is the state until the next one comes, but no longer than this: values are read every five seconds. */
const patience = 15_000;
const outcomes = { done: "done", nothing_changed: "failed, and nothing was changed", not_sent: "not sent", unknown: "unknown: it may have been carried out" };
/** The events after which nothing is known: a monitor's, and the codes of errors that end a link or mean that it has ended. */
const losses = ["lost", "link_lost", "device_away", "disconnected", "closed", "timed_out", "system"];
/** The largest capture in bytes, and the largest number of marks on the axis. */
const [sizeLimit, markLimit] = [50_000_000, 500];

async function record(device, since) {
  const { rows, events, complete, events_complete } = await read(pathOf(device.name, `history?since=${since}`));
  const readings = rows.map((row) => ({ time: Date.parse(row.time), values: row }));
  const marks = [...events.map(markOf), ...failures(readings, familyOf(device))].sort((one, other) => one.time - other.time);
  const ends = [readings[0], marks[0], readings.at(-1), marks.at(-1)].filter(Boolean).map((one) => one.time);
  if (!ends.length) throw new Error("Nothing was recorded in this time.");
  return {
    title: `the record of ${plain(device.name)}`, note: complete && events_complete ? "" : "There is more than is shown: choose a shorter time.",
    from: Math.min(...ends), to: Math.max(...ends), family: familyOf(device), isRecord: true, readings, marks,
  };
}

/** Makes marks of the readings that are the first in an error: a record has no events of that. */
function failures(readings, family) {
  const main = family?.state[0];
  const isError = (reading) => reading?.values[main?.key] === "error";
  return readings.filter((one, index) => isError(one) && !isError(readings[index - 1])).map(({ time, values }) => {
    const error = family.errors.find(({ code }) => family.state.some(({ key, type }) => type === "choice" && values[key] === code));
    return { time, kind: "link", text: plain(`${main.label}: error${error ? `: ${error.meaning}` : ""}`) };
  });
}

/** Makes a mark of a recorded event. */
function markOf({ time, event, text }) {
  const mark = { time: Date.parse(time), kind: "link", text: plain(text ? `${event}: ${text}` : event) };
  if (event !== "command") return { ...mark, isLoss: losses.includes(event) };
  let { command, by, outcome } = {};
  try { ({ command, by, outcome } = JSON.parse(text)); } catch { return mark; }
  const who = by === "by hand" ? by : `by ${by}: ${outcomes[outcome] ?? outcome}`;
  return { ...mark, kind: "command", text: plain(`${command ?? "a line"} ${who}`) };
}

function capture(name, text) {
  const rows = text.split("\n");
  // A program that was killed has cut its last line.
  const isCut = rows.pop() !== "";
  let head;
  const marks = [];
  rows.forEach((row, index) => {
    let entry;
    try { entry = JSON.parse(row); } catch { throw new Error(`Line ${index + 1} is not JSON.`); }
    if (!index) {
      head = entry;
      if (head?.pumpctl_capture !== 1) throw new Error("This is no capture of a version that this page knows.");
      return;
    }
    const time = Math.round(Date.parse(head.started) + entry.time_s * 1000);
    if (!Number.isFinite(time)) throw new Error(`Line ${index + 1} has no time.`);
    const add = (kind, said) => marks.push({ time, kind, text: plain(said) });
    if (entry.event === "sent" || entry.event === "received") for (const said of entry.lines ?? []) add(entry.event, said);
    else if (entry.event === "opened") add("link", `the link to ${entry.name ?? entry.endpoint ?? "the device"} is open`);
    else if (entry.event === "ended") add("link", entry.error ? `the link is lost: ${entry.detail ?? entry.error}` : "the link is closed");
    else if (entry.event === "break") add("link", "a break on the line");
  });
  if (!marks.length) throw new Error("The capture is empty.");
  return {
    title: `the capture ${plain(name)}`, note: isCut ? "The last line is cut and was left out." : "",
    from: marks[0].time, to: marks.at(-1).time, family: bench.families[head.family], readings: [], marks,
  };
}

/** The screen of the past. It has no controls of a device. */
export function past() {
  const outcome = status();
  const view = element("section", { "aria-label": "The chosen time", hidden: true });
  const put = () => {
    view.replaceChildren(...(tape ? player() : []));
    view.hidden = !tape;
    if (tape) write(outcome, `${tape.title}, ${spell(tape.from)} to ${spell(tape.to)}. ${tape.note}`);
  };
  const show = async (make) => {
    const number = (chosen += 1);
    write(outcome, "reading …");
    let [made, reason] = [null, ""];
    try {
      made = await make();
    } catch (failure) {
      reason = plain(failure.detail ?? failure.message);
    }
    if (number !== chosen) return;
    tape = made;
    moment = tape?.from;
    put();
    if (!tape) write(outcome, `nothing to show: ${reason}`);
  };
  const load = (file) => show(async () => {
    if (file.size > sizeLimit) throw new Error(`The file is larger than ${sizeLimit / 1e6} MB.`);
    return capture(file.name, await file.text());
  });
  const kept = element("form", { hidden: true });
  offer(kept, show);
  const devices = Object.values(bench.devices);
  const select = (key, options) => element("select", { id: `past-${key}`, onchange: (event) => (choice[key] = event.target.value) },
    ...options.map(([value, text]) => element("option", { value, selected: value === choice[key] }, text)));
  const device = select("device", devices.map((one) => [one.name, plain(one.name)]));
  const since = select("since", [["1h", "the last hour"], ["6h", "the last 6 hours"]]);
  const file = element("input", { id: "past-file", type: "file", onchange: () => file.files[0] && load(file.files[0]) });
  const node = element("section", { class: "past" },
    element("h1", {}, "The past"),
    element("p", { class: "banner" }, "This is not the present. For OFF, go to ", element("a", { href: "#/" }, "the devices"), "."),
    element("div", { class: "commands" },
      form(() => { if (devices.length) show(() => record(devices[device.selectedIndex], since.value)); }, element("label", {}, "Record of", device), element("label", {}, "Time", since),
        element("button", {}, "show")),
      kept,
      element("form", {}, element("label", {}, "Capture", file),
        element("p", { class: "about" }, "Or drop the file here. It is read in this browser and sent nowhere."))),
    outcome, view);
  // What was chosen on a screen that is left is not shown any more.
  chosen += 1;
  put();
  return { title: "The past", node, update() {}, drop: load, printed: () => (tape ? `The past: ${tape.title}, as it was at ${spell(moment)}` : "The past: nothing is shown") };
}

async function offer(form, show) {
  let captures;
  try { ({ captures } = await read("captures")); } catch { return; }
  if (!captures.length) return;
  const select = element("select", {}, ...captures.map((one) => element("option", { value: one.name }, plain(one.name))));
  form.append(element("label", {}, "Capture of the server", select), element("button", {}, "open"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { name, bytes } = captures[select.selectedIndex];
    show(() => fetchCapture(name, bytes));
  });
  form.hidden = false;
}

async function fetchCapture(name, bytes) {
  if (bytes > sizeLimit) throw new Error(`The capture is larger than ${sizeLimit / 1e6} MB.`);
  return capture(name, await (await open(`captures/${encodeURIComponent(name)}`, screen.signal)).text());
}

const spell = (time) => `${new Date(time).toLocaleDateString("sv")} ${clock(time)}`;

/** The axis with its controls, and the state at the chosen moment. */
function player() {
  const { from, to, isRecord, readings, marks, family } = tape;
  const cursor = svg("path", { class: "cursor" });
  const charts = draw(cursor);
  const time = element("output", { for: "past-time" });
  const slider = element("input", { id: "past-time", type: "range", min: from, max: to, step: 1, "aria-label": "Time" });
  const speed = element("select", { "aria-label": "Speed" }, ...[1, 10, 100].map((one) => element("option", { value: one }, `× ${one}`)));
  // A number that is not plausible is recorded as null.
  const isFault = (value) => value === null;
  const fields = (family?.state ?? []).filter(({ key }) => readings.some(({ values }) => known(values[key]) || isFault(values[key])));
  const values = fields.map(() => element("span", { class: "value" }));
  const said = element("ol", { class: "lines", tabindex: 0, "aria-label": isRecord ? "Commands and events" : "What went over the link" });
  let timer = null;
  const play = element("button", {
    type: "button", onclick: () => {
      if (timer) return pause();
      if (moment >= to) moment = from;
      let before = performance.now();
      timer = setInterval(() => {
        // Another tape, or another screen, ends the playing.
        if (!slider.isConnected) return pause();
        const now = performance.now();
        moment = Math.min(to, moment + (now - before) * speed.value);
        before = now;
        update();
        if (moment === to) pause();
      }, 100);
      write(play, "pause");
    },
  }, "play");
  function pause() {
    clearInterval(timer);
    timer = null;
    write(play, "play");
  }
  function update() {
    slider.value = moment;
    write(time, spell(moment));
    slider.setAttribute("aria-valuetext", spell(moment));
    const x = to > from ? (line.width * (moment - from)) / (to - from) : 0;
    cursor.setAttribute("d", `M${x.toFixed(1)} 0V${line.height}`);
    const reading = readings.findLast((one) => one.time <= moment);
    const isKnown = reading && moment - reading.time <= patience
      && !marks.some((mark) => mark.isLoss && mark.time >= reading.time && mark.time <= moment);
    fields.forEach((field, index) => {
      const value = isKnown ? reading.values[field.key] : undefined;
      write(values[index], known(value) ? words(field, value) : isFault(value) ? "sensor fault" : isKnown && field.unknown === undefined ? "–" : "unknown");
    });
    const end = marks.findLastIndex((mark) => mark.time <= moment) + 1;
    said.replaceChildren(...marks.slice(Math.max(0, end - 20), end).map((mark) => element("li", { class: mark.kind === "received" ? "" : "command" },
      `${clock(mark.time)} ${{ sent: "> ", received: "< " }[mark.kind] ?? ""}${mark.text}`)));
  }
  // A millisecond would be too small a step for a key.
  slider.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1000, ArrowDown: -1000, ArrowRight: 1000, ArrowUp: 1000 }[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    slider.value = Number(slider.value) + step;
    slider.dispatchEvent(new Event("input"));
  });
  slider.addEventListener("input", () => {
    moment = Number(slider.value);
    update();
  });
  update();
  return [
    charts, element("label", {}, "Time", slider, time),
    element("div", { class: "player" }, play, speed),
    readings.length ? element("dl", {}, ...fields.map((field, index) => element("div", { "data-key": field.key },
      element("dt", {}, field.unit ? `${field.label} (${field.unit})` : field.label), element("dd", {}, values[index])))) : "",
    marks.length ? said : "",
  ];
}

/** Draws the numbers of the readings, each on a scale of its own, and the marks. */
function draw(cursor) {
  const { from, to, isRecord, readings, marks, family } = tape;
  const drawing = svg("svg", { viewBox: `0 0 ${line.width} ${line.height}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  const numeric = (family?.state ?? []).filter((field) => ["number", "integer"].includes(field.type));
  // A value that is given in two units has one line.
  const fields = numeric.filter((field, index) => numeric.findIndex((one) => one.label === field.label) === index
    && readings.some((one) => known(one.values[field.key]))).slice(0, 4);
  const legend = element("figcaption", {});
  fields.forEach((field, index) => {
    const points = [];
    for (const { time, values } of readings) {
      // The line ends where nothing was known.
      const isLost = points.at(-1) && marks.some((mark) => mark.isLoss && mark.time >= points.at(-1)[0] && mark.time <= time);
      if (points.at(-1) && (isLost || !known(values[field.key]) || time - points.at(-1)[0] > patience)) points.push(null);
      if (!known(values[field.key])) continue;
      points.push([time, Number(values[field.key])]);
    }
    const numbers = points.filter(Boolean).map((point) => point[1]);
    const low = numbers.reduce((least, value) => Math.min(least, value));
    const high = numbers.reduce((most, value) => Math.max(most, value));
    // Values that stay the same have lines of different heights.
    const scale = low === high ? [low - 1 - index, low + fields.length - index] : [low, high];
    drawing.append(svg("path", { class: `line line-${index}`, d: line.path(points, from, to, ...scale) }));
    legend.append(element("span", { class: `key key-${index}` }, `${field.label}: ${[...new Set([words(field, low), words(field, high)])].join(" to ")}`), " ");
  });
  // Of many marks, some stand for those beside them.
  const step = Math.ceil(marks.length / markLimit);
  marks.filter((_, index) => index % step === 0).forEach((mark) => {
    const x = to > from ? (line.width * (mark.time - from)) / (to - from) : 0;
    drawing.append(svg("path", { class: `event ${mark.kind}`, d: `M${x.toFixed(1)} ${["sent", "command"].includes(mark.kind) ? 0 : line.height / 2}v${line.height / 2}` }));
  });
  if (marks.length) legend.append(element("span", {}, isRecord ? "marks: above the commands, below errors and events" : "marks: above what was sent, below what was received and the link"));
  drawing.append(cursor);
  return element("figure", {}, legend, element("div", { class: "plot" }, drawing),
    element("div", { class: "times" }, element("span", {}, spell(from)), element("span", {}, spell(to))));
}

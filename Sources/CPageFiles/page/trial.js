// Trials of a device by pumpctl: the test of its firmware, and the parts of its round trips.

import { bench, isKnown, now } from "./bench.js";
import { clock, element, folded, plain, svg } from "./elements.js";
import { outcomeOf, show, showFailure } from "./outcomes.js";
import { alone, pathOf, screen, told } from "./session.js";

/** The families that have a question for the measurement of round trips. */
const measured = ["pump", "storm", "led"];
const opened = new Set();

/** Makes the section of a device. A trial ends with its screen. */
export function trial(device, parts) {
  if (!device.family || device.family === "raw") return "";
  const outcome = outcomeOf(device.name, "trial");
  const isBusy = () => outcome.dataset.busy === "yes";
  if (!isBusy()) show(outcome, "", "");
  const result = element("div", {});
  let ending = null;
  const start = (command, present) => async () => {
    // The second click of a double click would replace `ending`, and the first trial could not be cancelled.
    if (isBusy()) return;
    const mine = ending = new AbortController();
    outcome.dataset.busy = "yes";
    result.replaceChildren();
    show(outcome, "sending", "under way …");
    try {
      const lines = told(pathOf(device.name, command), AbortSignal.any([mine.signal, screen.signal]));
      await alone(() => present(lines, outcome, result, device));
    } catch (failure) {
      if (mine.signal.aborted) show(outcome, "failed", "cancelled; a pump that was tested is being switched off: look at its state");
      else showFailure(outcome, { detail: "it broke off; look at the device", ...failure }, device);
    } finally {
      outcome.dataset.busy = "no";
    }
  };
  const trials = [["test the firmware", "verify", test], ["measure round trips", "latency", measure]];
  const buttons = trials.filter(([, command]) => command === "verify" || measured.includes(device.family)).map(([text, command, present]) =>
    element("button", { type: "button", onclick: start(command, present), "data-name": JSON.stringify([device.name, command]) }, text));
  const cancel = element("button", { type: "button", onclick: () => ending?.abort() }, "cancel");
  parts.push(() => {
    const isOpen = isKnown(bench.devices[device.name] ?? {}) && bench.scope === "command";
    buttons.forEach((button) => { button.disabled = isBusy() || !isOpen; });
    cancel.hidden = !isBusy();
  });
  return folded(opened, device.name, "Tests",
    element("p", { class: "about" }, device.family === "peer" ? "A test shows texts to the person at the peer. Nobody should use it meanwhile."
      : "A test sends commands that no app sends. It starts no pump, and refuses one that runs. A pump that is started meanwhile is switched off."),
    ...buttons.flatMap((button) => [button, " "]), cancel, outcome, result);
}

async function test(told, outcome, result, device) {
  const list = element("ol", { class: "lines", tabindex: "0", "aria-label": "Checks" });
  result.append(list);
  const checks = [];
  let sum = null;
  const finish = () => {
    if (!sum) return;
    const text = `${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped, at ${clock(now())}`;
    show(outcome, sum.failed ? "failed" : "done", text);
    result.append(element("p", {}, text), save("JUnit", `${device.name}.xml`, "application/xml", junit(device.family, checks)), " ",
      save("HTML", `${device.name}.html`, "text/html", page(device, text, checks)));
  };
  try {
    for await (const one of told) {
      if (!one.check) sum = one;
      else {
        checks.push(one);
        list.append(element("li", { class: one.outcome }, inWords(one)));
        show(outcome, "sending", `${checks.length} checks made …`);
      }
    }
    if (!sum) throw {};
  } finally {
    finish();
  }
}

const reasonOf = (one) => one.reason ?? (one.expected ? `expected ${one.expected}, got ${one.got}` : "");
const inWords = (one) => plain([one.outcome, one.check, reasonOf(one)].filter(Boolean).join(": "));

function save(text, name, type, content) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  screen.signal.addEventListener("abort", () => URL.revokeObjectURL(address));
  return element("a", { href: address, download: name }, `save as ${text}`);
}

/** Escapes a text for XML, which has no signs for some characters. */
const xml = (text) => plain(text).replace(/[\p{Cs}\u{FFFE}\u{FFFF}]/gu, "?").replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** The checks as JUnit XML, without what was sent and received. */
function junit(family, checks) {
  const count = (outcome) => checks.filter((one) => one.outcome === outcome).length;
  const seconds = (time) => ((time ?? 0) / 1000).toFixed(3);
  const counts = `tests="${checks.length}" failures="${count("failed")}" errors="0" skipped="${count("skipped")}" time="${seconds(checks.reduce((sum, one) => sum + (one.duration_ms ?? 0), 0))}"`;
  const rows = checks.map((one) => {
    const body = one.outcome === "skipped" ? `<skipped message="${xml(reasonOf(one))}"/>`
      : one.outcome === "failed" ? `<failure message="${xml(reasonOf(one))}">${xml(one.protocol)}</failure>` : "";
    return `    <testcase classname="${xml(family)}" name="${xml(one.check)}" time="${seconds(one.duration_ms)}">${body}</testcase>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${counts}>\n  <testsuite name="${xml(family)}" ${counts}>\n${rows.join("")}  </testsuite>\n</testsuites>\n`;
}

function page(device, sum, checks) {
  const rows = checks.map((one) => `<tr><td>${xml(one.outcome)}<td>${xml(one.check)}<td>${xml(one.protocol)}<td>${xml(reasonOf(one))}\n`);
  return `<!doctype html><meta charset="utf-8"><title>${xml(device.name)}</title>\n<h1>The firmware of ${xml(device.name)}</h1>\n<p>${xml(sum)}\n<table border>\n<tr><th>outcome<th>check<th>rule<th>reason\n${rows.join("")}</table>\n`;
}

async function measure(told, outcome, result) {
  let report = null;
  for await (const one of told) report = one;
  if (!report) throw {};
  const { median, p99 } = report.round_trip_ms;
  show(outcome, "done", `${report.answers} answers to ${plain(report.question)}: half of them within ${milliseconds(median)}, 99 % within ${milliseconds(p99)}`);
  result.append(bar(report.parts), histogram(report.histogram));
}

const milliseconds = (time) => `${time.toPrecision(3)} ms`;

/** The parts of a round trip, as long as their shares. */
function bar(parts) {
  let place = 0;
  const texts = parts.map((part) => `${plain(part.causes.join(", "))}: ${milliseconds(part.times_ms.median)}, ${Math.round(part.share * 100)} %`);
  return figure("shares", 8, texts, texts.map((text, index) => element("span", { class: `key key-${index % 4}` }, text)), parts.map((part, index) => {
    const node = svg("rect", { class: `fill-${index % 4}`, x: place, width: part.share * 100, height: 8 });
    place += part.share * 100;
    return node;
  }));
}

function histogram(rows) {
  const most = Math.max(...rows.map((row) => row.count), 1);
  const width = 100 / rows.length;
  const texts = rows.map((row) => `${row.count} of ${row.from_ms} to ${row.to_ms} ms`);
  return figure("counts", 50, texts, ["Round trips by their time"], rows.map((row, index) => svg("rect", {
    class: "fill-0", x: index * width + width / 10, width: width * 0.8, y: 50 - (50 * row.count) / most, height: (50 * row.count) / most,
  })), element("div", { class: "times" }, ...[rows[0]?.from_ms, rows.at(-1)?.to_ms].map((time) => element("span", {}, `${time ?? 0} ms`))));
}

/** A drawing of rectangles, which `texts` describe. */
const figure = (name, height, texts, caption, rows, ...others) => element("figure", {}, element("figcaption", {}, ...caption),
  svg("svg", { viewBox: `0 0 100 ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": texts.join("; "), class: name }, ...rows), ...others);

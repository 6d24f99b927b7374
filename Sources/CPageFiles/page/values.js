// The values of a device with their ages and gauges, and banners for what is wrong.

import { bench, familyOf, isKnown, known, now } from "./bench.js";
import { ago, element, isShare, plain, say, svg, words, write } from "./elements.js";

/** The judgement of a number by its field: "too warm". */
const levelOf = (field, value) => field.levels?.find((level) => level.up_to === undefined || value <= level.up_to);

/** The values of a device, at most `limit`. */
export function values(device, parts, limit = Infinity) {
  const fields = (familyOf(device)?.state ?? []).slice(0, limit);
  return element("dl", {}, ...fields.map((field) => {
    const value = element("span", { class: "value" });
    const level = element("span", { class: "level" });
    const drawing = isShare(field) ? ring() : gauge(field);
    // The first value is the main state of a device, such as whether its light is on.
    const isSwitch = field === familyOf(device).state[0] && field.type === "boolean";
    const inWords = (held) => (isSwitch ? (held ? "on" : "off") : words(field, held));
    const was = element("s", {});
    const age = element("small", { class: "age" });
    let former = null;
    parts.push(() => {
      const current = bench.devices[device.name];
      const held = current?.values?.[field.key];
      if (!held) return write(value, "unknown");
      const isCurrent = isKnown(current) && known(held.value);
      const isFault = isKnown(current) && current.sensor_faults?.includes(field.key);
      const text = isFault ? "sensor fault" : isCurrent ? inWords(held.value) : isKnown(current) && field.unknown === undefined ? "–" : "unknown";
      write(value, text);
      const judged = isCurrent && !isFault ? levelOf(field, held.value) : undefined;
      write(level, judged?.word ?? "");
      level.dataset.grade = judged?.grade ?? "";
      drawing?.show(isCurrent && !isFault ? held.value : null);
      // A value that may be wrong by now is struck through, and said to be one of the past.
      const isPast = !isCurrent && !isKnown(current) && known(held.was);
      write(was, isPast ? inWords(held.was) : "");
      write(age, isCurrent ? (held.read === null ? "age unknown" : ago(now() - held.read)) : isPast ? "before" : "");
      if (former !== null && former !== text && (field.type === "choice" || isSwitch)) {
        say(`${plain(device.name)}: ${field.label} ${text}`, field.key === "error");
      }
      former = text;
    });
    const hasNamesake = fields.some((other) => other !== field && other.label === field.label);
    return element("div", { "data-key": field.key },
      element("dt", {}, hasNamesake && field.unit ? `${field.label} (${field.unit})` : field.label),
      element("dd", {}, value, level, was, age, drawing?.node ?? ""));
  }));
}

/** A ring that is filled by a part of a whole. The text beside it says the same. */
function ring() {
  const length = 100;
  const arc = svg("circle", { class: "arc", cx: 20, cy: 20, r: 16, pathLength: length, "stroke-dasharray": `0 ${length}` });
  return {
    node: svg("svg", { class: "ring", viewBox: "0 0 40 40", "aria-hidden": "true" }, svg("circle", { cx: 20, cy: 20, r: 16 }), arc),
    show: (share) => arc.setAttribute("stroke-dasharray", `${(share ?? 0) * length} ${length}`),
  };
}

/** A bar of a number's levels with a mark at the number; null if there are less than three. */
function gauge(field) {
  const ends = (field.levels ?? []).map((level) => level.up_to).filter((end) => end !== undefined);
  if (ends.length < 2) return null;
  const margin = (ends.at(-1) - ends[0]) / 2;
  const low = ends[0] - margin;
  const place = (number) => (100 * Math.min(Math.max(number - low, 0), ends.at(-1) - low + margin)) / (ends.at(-1) - low + margin);
  const mark = svg("path", { class: "mark", d: "M0 0V10" });
  return {
    node: svg("svg", { class: "gauge", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
      ...field.levels.map((level, index) => svg("rect", {
        class: level.grade, x: index ? place(ends[index - 1]) : 0, y: 3, height: 4,
        width: (index < ends.length ? place(ends[index]) : 100) - (index ? place(ends[index - 1]) : 0),
      })), mark),
    show: (number) => {
      mark.setAttribute("visibility", number === null ? "hidden" : "visible");
      if (number !== null) mark.setAttribute("transform", `translate(${place(number)} 0)`);
    },
  };
}

// MARK: Banners

// What was dismissed, by device. It stays so until it was over once.
const dismissed = new Map();

/** What is wrong with a device: an error that it is in, and values that are bad. */
function troubles(family, device) {
  const found = [];
  for (const field of family.state) {
    const value = device.values[field.key]?.value;
    if (!known(value) || device.sensor_faults?.includes(field.key)) continue;
    const error = field.type === "choice" && family.errors.find((row) => row.code === value);
    if (error) found.push(error.meaning + (error.remedy ? ` To do: ${error.remedy}.` : ""));
    const level = levelOf(field, value);
    if (level?.grade === "bad") found.push(`${field.label}: ${level.word}`);
  }
  return found;
}

/** A place for banners, which can be dismissed. */
export function banners(device, parts) {
  const box = element("div", { class: "banners" });
  const hidden = dismissed.get(device.name) ?? new Set();
  dismissed.set(device.name, hidden);
  const shown = new Map();
  parts.push(() => {
    const current = bench.devices[device.name];
    const family = current && familyOf(current);
    if (!family || !isKnown(current)) {
      shown.clear();
      return box.replaceChildren();
    }
    const found = troubles(family, current);
    for (const text of hidden) if (!found.includes(text)) hidden.delete(text);
    for (const [text, node] of shown) {
      if (found.includes(text) && !hidden.has(text)) continue;
      node.remove();
      shown.delete(text);
    }
    for (const text of found) {
      if (shown.has(text) || hidden.has(text)) continue;
      const node = element("p", { class: "banner" }, element("span", {}, plain(text)), element("button", {
        type: "button",
        onclick: () => {
          hidden.add(text);
          node.remove();
          shown.delete(text);
        },
      }, "dismiss"));
      shown.set(text, node);
      box.append(node);
      say(`${plain(device.name)}: ${plain(text)}`, true);
    }
  });
  return box;
}

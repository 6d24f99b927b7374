// Charts of the last hour: what was recorded, and what was read since the screen was opened.

import { bench, clockSteps, isKnown, known, now } from "./bench.js";
import { clock, element, svg, words, write } from "./elements.js";
import { pathOf, read } from "./session.js";

const hour = 3_600_000;
const [width, height] = [600, 120];
/** The size of a chart, and the path of a line: `points` are times with values, or null where the line is interrupted. */
export const line = { width, height, path };
/** The largest number of points of a line. */
const limit = 3600;

export function charts(device, family, parts) {
  const units = new Map();
  const labels = new Set();
  for (const field of family?.state ?? []) {
    // A value that is given in two units has one line. The minutes of a run have none: the ring shows them.
    if (!field.unit || field.unit === "min" || labels.has(field.label)) continue;
    labels.add(field.label);
    if (!units.has(field.unit)) units.set(field.unit, []);
    units.get(field.unit).push({ field, points: [], read: 0, steps: clockSteps });
  }
  if (!units.size) return "";
  const all = [...units.values()].flat();
  load(device, all);
  return element("section", { "aria-label": "The last hour" },
    ...[...units].map(([unit, series]) => chart(device, unit, series, parts)));
}

/** Puts what was recorded before what was read since. */
async function load(device, all) {
  try {
    const { series } = await read(pathOf(device.name, `history?since=1h&columns=${width}`));
    for (const { key, points, starts } of series) {
      const one = all.find(({ field }) => field.key === key);
      if (!one) continue;
      const recorded = points.flatMap((point, index) => (starts.includes(index) ? [null, point] : [point]));
      const first = one.points.find(Boolean)?.[0] ?? Infinity;
      one.points.unshift(...recorded.filter((point) => !point || point[0] < first));
    }
  } catch { /* The chart begins now. */ }
}

function chart(device, unit, series, parts) {
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img" });
  const paths = series.map((one, index) => svg("path", { class: `line line-${index % 4}` }));
  drawing.append(...paths);
  const top = element("span", { class: "top" });
  const bottom = element("span", { class: "bottom" });
  const from = element("span", {});
  const legend = element("figcaption", {});
  const figure = element("figure", { hidden: true }, legend, element("div", { class: "plot" }, drawing, top, bottom),
    element("div", { class: "times" }, from, element("span", {}, "now")));
  let drawn = -Infinity;
  parts.push(() => {
    const current = bench.devices[device.name];
    for (const one of series) follow(one, current);
    if (performance.now() - drawn < 1000) return;
    drawn = performance.now();
    const end = now();
    const shown = series.filter((one) => trim(one, end - hour));
    figure.hidden = !shown.length;
    if (!shown.length) return;
    const values = shown.flatMap((one) => one.points.filter(Boolean).map((point) => point[1]));
    let low = values.reduce((least, value) => Math.min(least, value));
    let high = values.reduce((most, value) => Math.max(most, value));
    if (high - low < 2) [low, high] = [(low + high) / 2 - 1, (low + high) / 2 + 1];
    write(top, `${high.toFixed(1)} ${unit}`);
    write(bottom, `${low.toFixed(1)} ${unit}`);
    write(from, clock(end - hour));
    series.forEach((one, index) => paths[index].setAttribute("d", path(one.points, end - hour, end, low, high)));
    legend.replaceChildren(...shown.map((one) => element("span", { class: `key key-${series.indexOf(one) % 4}` }, one.field.label)));
    drawing.setAttribute("aria-label", shown.map(({ field, points }) => {
      const numbers = points.filter(Boolean).map((point) => point[1]);
      return `${field.label} from ${words(field, Math.min(...numbers))} to ${words(field, Math.max(...numbers))}`;
    }).join(", "));
  });
  return figure;
}

/** Adds a value that was read anew. The line is interrupted while nothing is known. */
function follow(one, device) {
  const held = device?.values?.[one.field.key];
  if (one.steps !== clockSteps) {
    [one.steps, one.read] = [clockSteps, 0];
    // The server's clock was set back: points from before may lie in the future.
    one.points.splice(0, Infinity, ...one.points.filter((point) => !point || point[0] <= now()), null);
  }
  if (!device || !isKnown(device) || !held || !known(held.value)) {
    if (one.points.length && one.points.at(-1)) one.points.push(null);
  } else if (held.read !== null && held.read > one.read) {
    // A page that nobody saw has missed values.
    if (one.read && held.read - one.read > 15_000) one.points.push(null);
    one.read = held.read;
    one.points.push([held.read, held.value]);
  }
}

/** Drops points that are older than `oldest`, or beyond the limit; returns whether any remain. */
function trim(one, oldest) {
  const first = one.points.findIndex((point) => point && point[0] >= oldest);
  one.points.splice(0, first < 0 ? one.points.length : Math.max(first, one.points.length - limit));
  return one.points.length > 0;
}

function path(points, begin, end, low, high) {
  let text = "";
  let isNew = true;
  for (const point of points) {
    if (point) {
      const x = end > begin ? (width * (point[0] - begin)) / (end - begin) : 0;
      const y = height - (height * (point[1] - low)) / (high - low);
      text += `${isNew ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`;
    }
    isNew = !point;
  }
  return text;
}

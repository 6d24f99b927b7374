// A map of messages: pins on a grid of latitude and longitude. No picture of the ground is fetched.

import { element, svg } from "./elements.js";
import { categories } from "./messages.js";

/** The shapes of the categories, within 12 units around the middle. */
const shapes = {
  "Road Closure": "M0-11 11 0 0 11-11 0Z",
  Flooding: "M0-12C5-4 8-1 8 3A8 8 0 0 1-8 3C-8-1-5-4 0-12Z",
  Shelter: "M0-11 11-1H8V10H-8V-1H-11Z",
  Resource: "M-4-11H4V-4H11V4H4V11H-4V4H-11V-4H-4Z",
  SOS: "M0-12 2.9-4 11.4-3.7 4.8 1.5 7.1 9.7 0 5-7.1 9.7-4.8 1.5-11.4-3.7-2.9-4Z",
  Other: "M-8 0A8 8 0 1 0 8 0A8 8 0 1 0-8 0Z",
};

const kindOf = (category) => (categories.includes(category) ? category : "Other");
const shape = (category) => svg("path", { class: "pin", "data-category": kindOf(category), d: shapes[kindOf(category)] });

/** The sign of a category, beside a text. */
export const sign = (category) =>
  svg("svg", { class: "sign", viewBox: "-13 -13 26 26", "aria-hidden": "true" }, shape(category));

const turned = (angle) => ((((angle + 180) % 360) + 360) % 360) - 180;

/** The smallest part of a circle that has all longitudes, from west to east. */
function span(longitudes) {
  const sorted = longitudes.toSorted((one, other) => one - other);
  let [gap, first] = [sorted[0] + 360 - sorted.at(-1), 0];
  for (let index = 1; index < sorted.length; index += 1) {
    if (sorted[index] - sorted[index - 1] > gap) [gap, first] = [sorted[index] - sorted[index - 1], index];
  }
  return [sorted[first], sorted[first] + 360 - gap];
}

/** The least height and width of a map in degrees of latitude: about two kilometres. */
const least = 0.02;
const margin = 36;

/** An equirectangular projection in which all places fit, true in the middle latitude. */
function projection(places, width, height) {
  const latitudes = places.map((one) => one.latitude);
  const [south, north] = [Math.min(...latitudes), Math.max(...latitudes)];
  const [west, east] = span(places.map((one) => one.longitude));
  const [middle, center] = [(south + north) / 2, (west + east) / 2];
  const narrowing = Math.max(Math.cos((middle * Math.PI) / 180), 0.05);
  const scale = Math.min((width - 2 * margin) / Math.max((east - west) * narrowing, least),
    (height - 2 * margin) / Math.max(north - south, least));
  return {
    x: (longitude) => width / 2 + turned(longitude - center) * narrowing * scale,
    y: (latitude) => height / 2 - (latitude - middle) * scale,
    latitudes: [Math.max(middle - height / 2 / scale, -90), Math.min(middle + height / 2 / scale, 90)],
    longitudes: [center - Math.min(width / 2 / scale / narrowing, 179.999), center + Math.min(width / 2 / scale / narrowing, 179.999)],
  };
}

/** At most `count` round numbers in a range, and their number of decimals. */
function ticks([low, high], count) {
  const least = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= least);
  const numbers = [];
  for (let index = Math.ceil(low / step); index * step <= high; index += 1) numbers.push(index * step);
  return [numbers, Math.max(0, -Math.floor(Math.log10(step) + 1e-9))];
}

function label(number, decimals, positive, negative) {
  const text = Math.abs(number).toFixed(decimals);
  return `${text}°${Number(text) === 0 || Number(text) === 180 ? "" : ` ${number < 0 ? negative : positive}`}`;
}

function grid(view, width, height) {
  const [latitudes, latitudeDecimals] = ticks(view.latitudes, height / 60);
  const [longitudes, longitudeDecimals] = ticks(view.longitudes, width / 110);
  const lines = [...latitudes.map((one) => `M0 ${view.y(one).toFixed(1)}H${width}`),
    ...longitudes.map((one) => `M${view.x(one).toFixed(1)} 0V${height}`)];
  // Labels are not in the corners.
  const names = [
    ...latitudes.filter((one) => view.y(one) > 16 && view.y(one) < height - 24).map((one) =>
      svg("text", { x: 4, y: view.y(one) - 4 }, label(one, latitudeDecimals, "N", "S"))),
    ...longitudes.filter((one) => view.x(one) > 4 && view.x(one) < width - 76).map((one) =>
      svg("text", { x: view.x(one) + 4, y: height - 6 }, label(turned(one), longitudeDecimals, "E", "W"))),
  ];
  return [svg("path", { class: "grid", d: lines.join("") }), ...names];
}

/**
 * Makes a map. The list of the messages says the same, so the map is hidden from a screen reader.
 *
 * @param choose Called with the ID of the message whose pin was pressed.
 * @returns The element, and a function that draws messages, of which one may be chosen.
 */
export function map(choose) {
  const drawing = svg("svg", { "aria-hidden": "true" });
  const key = element("p", { class: "signs", "aria-hidden": "true" },
    ...categories.map((category) => element("span", {}, sign(category), category)));
  const node = element("div", { class: "map" }, drawing, key);
  let [shown, chosen, pins, drawn] = [[], null, [], 0];
  drawing.addEventListener("click", (event) => {
    const box = drawing.getBoundingClientRect();
    const distance = (pin) => Math.hypot(pin.x - event.clientX + box.x, pin.y - event.clientY + box.y);
    const near = pins.filter((pin) => distance(pin) < 22).sort((one, other) => distance(one) - distance(other));
    // Pins that lie on each other are chosen by turns.
    const next = near[near.findIndex((pin) => pin.id === chosen) + 1] ?? near[0];
    if (next) choose(next.id);
  });
  const draw = () => {
    const width = drawn = drawing.clientWidth;
    if (!width || !shown.length) return drawing.replaceChildren();
    const height = Math.round(Math.min(Math.max(width * 0.6, 240), 420));
    drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    drawing.setAttribute("height", height);
    const view = projection(shown, width, height);
    pins = shown.map((one) => ({ id: one.id, category: one.category, x: view.x(one.longitude), y: view.y(one.latitude) }));
    // What is newer lies above, and what is chosen above all.
    const order = pins.toReversed().sort((one, other) => (one.id === chosen) - (other.id === chosen));
    drawing.replaceChildren(...grid(view, width, height), ...order.map((pin) => svg("g", {
      transform: `translate(${pin.x.toFixed(1)} ${pin.y.toFixed(1)})`, "data-id": pin.id,
    }, ...(pin.id === chosen ? [svg("circle", { class: "chosen", r: 17 })] : []), shape(pin.category))));
  };
  new ResizeObserver(() => { if (drawing.clientWidth !== drawn) requestAnimationFrame(draw); }).observe(node);
  return {
    node,
    show(list, id) {
      [shown, chosen] = [list, id];
      node.hidden = !list.length;
      draw();
    },
  };
}

// The console of a device: what it said unasked, and which commands were sent to it.

import { clock, element, plain } from "./elements.js";

/** The largest number of lines that are kept. */
const limit = 200;
const lines = [];
let number = 0;
/** The devices whose lines are shown, also after their screen was made anew. */
const opened = new Set();

/** Keeps an event. */
export function keep(event) {
  number += 1;
  const text = event.event === "said" ? event.line : `${event.name ?? "a line"} was sent by ${event.by}`;
  lines.push({ number, device: event.device, kind: event.event, text: `${clock(Date.parse(event.time))} ${plain(text)}` });
  if (lines.length > limit) lines.shift();
}

/** Makes the list of a device's lines, the newest first. */
export function console(device, parts) {
  const list = element("ol", { class: "lines", reversed: true, tabindex: "0", "aria-label": "Lines of the device" });
  let last = 0;
  parts.push(() => {
    for (const line of lines) {
      if (line.number <= last || line.device !== device.name) continue;
      list.prepend(element("li", { class: line.kind }, line.text));
      last = line.number;
      if (list.children.length > limit) list.lastChild.remove();
    }
  });
  return element("details", {
    open: opened.has(device.name),
    ontoggle: (event) => (event.target.open ? opened.add(device.name) : opened.delete(device.name)),
  }, element("summary", {}, "Lines"), list);
}

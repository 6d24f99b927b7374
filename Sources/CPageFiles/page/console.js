// The console of a device: what it said unasked, and which commands were sent to it.

import { clock, element, folded, plain } from "./elements.js";

/** The largest number of lines that are kept, of all devices together. */
const limit = 200;
const lines = [];
let number = 0;
const opened = new Set();

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
  return folded(opened, device.name, "Lines", list);
}

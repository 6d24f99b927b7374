// Elements of the document, and words for values. Text of devices only ever becomes text, never markup.

/** Makes an element. Properties that begin with `on` are listeners; a child is a node or a text. */
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

export function svg(name, properties, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(properties)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Changes a text only if it differs, so that nothing is read aloud or selected anew. */
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** A place for an outcome, which is read aloud. */
export const status = () => element("p", { class: "outcome", role: "status" });

/** Returns the list that this browser has kept; an empty one if there is none. */
export function stored(key) {
  let list;
  try { list = JSON.parse(localStorage.getItem(key)); } catch { /* Not written by this page. */ }
  return Array.isArray(list) ? list : [];
}

/** Keeps a list in this browser, if possible. */
export function store(key, value) {
  try { localStorage.setItem(key, JSON.stringify(value)); } catch { /* The store is full. */ }
}

/** Makes a form. A double click, or a key that is held down, is one decision. */
export const form = (submit, ...children) => element("form", {
  onclick: (event) => { if (event.detail > 1 && event.target.type === "submit") event.preventDefault(); },
  onkeydown: (event) => { if (event.repeat && event.key === "Enter" && event.target.type !== "textarea") event.preventDefault(); },
  onsubmit: (event) => {
    event.preventDefault();
    submit();
  },
}, ...children);

/** Makes a part that is folded unless `key` is in `opened`, which outlives a screen. */
export function folded(opened, key, title, ...children) {
  return element("details", {
    open: opened.has(key),
    ontoggle: (event) => (event.target.open ? opened.add(key) : opened.delete(key)),
  }, element("summary", {}, title), ...children);
}

const day = (moment) => moment.toLocaleDateString("sv");

/** A time of the day, after its date if that is not today. */
export function clock(time) {
  const moment = new Date(time);
  return `${day(moment) === day(new Date()) ? "" : `${day(moment)} `}${moment.toTimeString().slice(0, 8)}`;
}

/** An age in the largest unit of which there are at least two; empty up to ten seconds, because values are read every five. */
export function ago(milliseconds) {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds <= 10) return "";
  if (seconds < 120) return `${seconds} seconds ago`;
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  return minutes < 120 ? `${minutes} minutes ago` : hours < 48 ? `${hours} hours ago` : `${Math.floor(hours / 24)} days ago`;
}

/** A text of a device without control characters and marks that reverse the order of letters. */
export const plain = (text) => String(text).replace(/[\p{Cc}\p{Bidi_Control}]/gu, "\u{FFFD}");

/** Whether a field is a part of a whole, from 0 to 1. */
export const isShare = (field) => field.type === "number" && field.maximum === 1 && !field.unit;

export function words(field, value) {
  if (field.type === "boolean") return value ? "yes" : "no";
  if (isShare(field)) return `${Math.round(value * 100)} %`;
  if (field.type === "number" && field.unit) return `${value.toFixed(1)} ${field.unit}`;
  return plain(value) + (field.unit ? ` ${field.unit}` : "");
}

const alarms = new Map();
let spoken = {};

/** Says a text to a screen reader, one a second, alarms first. An alarm that waits is replaced only by one of its source. */
export function say(text, isAlarm = false, source = text) {
  if (isAlarm) alarms.set(source, text);
  else spoken.change = text;
}

/** Takes back an alarm whose cause is over. */
export function unsay(text) {
  alarms.delete(text);
  const node = document.getElementById("alarms");
  if (node.textContent === text) node.replaceChildren();
}

setInterval(() => {
  if (alarms.size) {
    const [[source, text]] = alarms;
    alarms.delete(source);
    // The same text again is read aloud only if it is new to the element.
    const node = document.getElementById("alarms");
    node.replaceChildren();
    setTimeout(write, 50, node, text);
  } else if (spoken.change) {
    write(document.getElementById("changes"), spoken.change);
    spoken = {};
  }
}, 1000);

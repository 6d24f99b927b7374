// The calls for help that nobody has dismissed: a banner on every screen, and an alarm for each of them.

import { notify } from "./attention.js";
import { bench, isKnown, isLive } from "./bench.js";
import { clock, element, plain, say, store, write } from "./elements.js";
import { age, arrive, keepHeard, load, messages, place } from "./messages.js";

const box = document.getElementById("calls");
const text = element("span", { tabindex: "0", role: "group", "aria-label": "Newest call" });

// MARK: Dismissed ones

const key = "pumpctl-dismissed";
/** The largest number of dismissed calls that this browser remembers. */
const limit = 1000;
let [stored, dismissed] = ["", new Set()];

/** The IDs of the calls that were dismissed in this browser, or sent from it. */
function dismissedOnes() {
  const current = localStorage.getItem(key) ?? "";
  if (current !== stored) {
    stored = current;
    // IDs are only added: if the store fails, this page still knows its own.
    try { for (const id of JSON.parse(current)) dismissed.add(id); } catch { /* Not written by this page. */ }
  }
  return dismissed;
}

export function dismiss(id) {
  const ids = dismissedOnes();
  ids.add(id);
  store(key, [...ids].slice(-limit));
  keepHeard(open());
}

// MARK: Announcing

function open() {
  const gone = dismissedOnes();
  return messages.list.filter((one) => one.category === "SOS" && !gone.has(one.id));
}

const phones = () => Object.values(bench.devices).filter((one) => one.family === "rescue");

const announcement = (message) =>
  `SOS ${message.heard ? "received" : "in the record"}: someone needs help at ${place(message)}`;
const more = (count) => (count > 1 ? `; ${count - 1} more` : "");

const announced = new Set();

/** Announces each call once, whether it was heard or is in the record. */
function announce() {
  const all = open();
  const news = all.filter((one) => !announced.has(one.id));
  if (!news.length) return;
  keepHeard(all);
  for (const one of news) announced.add(one.id);
  const words = announcement(news[0]) + more(all.length);
  say(words, true, "SOS");
  notify(news[0].device ?? "rescue", words, news[0].id);
}

/** Takes an event of a device. A device whose family is not known yet may be a phone. */
export function hear({ event, device, line }) {
  if (event !== "said" || (bench.devices[device]?.family ?? "rescue") !== "rescue") return;
  arrive(line, device);
  announce();
}

let [isReading, wait, next] = [false, 0, 0];

/** Reads the record if messages may have come to it unnoticed. Call it after each message of the stream. */
export async function followRecord() {
  if (!messages.isOld || isReading || performance.now() < next) return;
  if (!isLive() || bench.daemon !== "up" || !phones().length) return;
  isReading = true;
  const isRead = await loadAlone();
  wait = isRead ? 0 : Math.min(Math.max(wait * 2, 1000), 60_000);
  next = performance.now() + wait;
  isReading = false;
  announce();
}

/** Reads the record, one tab at a time: the browser has six connections to the server, and OFF needs one. */
async function loadAlone() {
  try {
    return await navigator.locks.request("pumpctl-messages", { signal: AbortSignal.timeout(20_000) }, load);
  } catch {
    // A tab that was frozen keeps its lock.
    return !document.hidden && load();
  }
}

// MARK: The banner

/** The call in the banner, and the one that was there when a finger or a key went down. */
let [shown, held] = [null, null];
let releasing = null;
function hold(event) {
  if (event.repeat) return;
  clearTimeout(releasing);
  held = shown;
}
for (const end of ["pointerup", "pointercancel", "keyup", "blur"]) {
  // On a touch screen the click comes some time later, and it may not come at all.
  addEventListener(end, () => {
    clearTimeout(releasing);
    releasing = setTimeout(() => { held = null; }, 500);
  }, true);
}

// The call that "show" was pressed for, and its listener.
let [wanted, tell] = [null, () => {}];

/** Calls `listener` when a call is to be shown on the screen that is open already. */
export function onWanted(listener) { tell = listener; }

export function takeWanted() {
  const id = wanted;
  wanted = null;
  return id;
}

function showMessage() {
  const names = phones().map((one) => one.name);
  const addresses = names.map((name) => `#/device/${encodeURIComponent(name)}`);
  const message = held ?? shown;
  held = null;
  wanted = message?.id;
  if (addresses.includes(location.hash)) tell();
  else location.hash = addresses[Math.max(names.indexOf(message?.device), 0)] ?? "#/";
}

function dismissShown(event) {
  const decided = held ?? shown;
  held = null;
  // The second click of a double click would dismiss the next call.
  if (event.detail > 1 || !decided) return;
  dismiss(decided.id);
  showCalls();
}

const buttons = element("span", {},
  element("button", { type: "button", onpointerdown: hold, onkeydown: hold, onclick: showMessage }, "show"), " ",
  element("button", { type: "button", onpointerdown: hold, onkeydown: hold, onclick: dismissShown }, "dismiss"));
box.append(text, buttons);

/** What is known if no call is open. */
function quiet() {
  if (!phones().every(isKnown)) return "SOS: not known now, because a phone is not connected.";
  if (messages.trouble) return "SOS: none known; the record can't be read.";
  if (!messages.isRead || messages.isOld || isReading) return "SOS: reading the record …";
  return `SOS: ${messages.isComplete ? "none known" : "none among the newest messages; older ones were not read"}${messages.missed ? `; this page was cut off until ${clock(messages.missed)}` : ""}.`;
}

/** Hides the banner, as after the end of the session. */
export function hideCalls() { box.hidden = true; }

/** Shows the newest call. Its place is kept while there is none, so that nothing moves when one comes. */
export function showCalls() {
  const all = open();
  shown = all[0] ?? null;
  box.hidden = !shown && !phones().length;
  buttons.hidden = !shown;
  box.classList.toggle("open", Boolean(shown));
  write(text, shown ? plain(`${announcement(shown)}, ${shown.heard ? `at ${clock(shown.heard)}` : `written ${age(shown)}`}${more(all.length)}${shown.content ? `: ${shown.content}` : ""}`) : quiet());
}

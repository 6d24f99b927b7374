// The messages of the rescue app: those that were kept, and those that came or were sent since the page was opened.

import { now } from "./bench.js";
import { ago, store, stored } from "./elements.js";
import { call } from "./session.js";

/** The categories of the protocol. A phone may send others. */
export const categories = ["Road Closure", "Flooding", "Shelter", "Resource", "SOS", "Other"];
const limit = 500;
/** The time from which the protocol counts, in milliseconds since 1970, and its limits in seconds: the years 1 to 9999. */
const epoch = Date.UTC(2001, 0, 1);
const [earliest, latest] = [-63_113_904_000, 252_423_993_600];

const key = "pumpctl-calls";

/** Keeps the calls for help that this browser has heard: they may be in no record, and a reload forgets all other messages. */
export const keepHeard = (open) => store(key, open.filter((one) => one.heard).slice(0, limit));

export const messages = {
  /** The messages with their places, the newest first. `time` is in milliseconds since 1970; `heard` is the time at which
   *  this page got a message, and `device` its sender. */
  list: stored(key),
  version: 0,
  /** Whether the record was read, and why it could not be read. */
  isRead: false, trouble: null,
  isComplete: true,
  /** The time until which messages may have come unnoticed. */
  missed: null,
  /** Whether the record may have more than was read. */
  isOld: true,
};

function change(list) {
  // Others do not push a call for help out of the list.
  messages.list = list.filter((one, index) => index < limit || (one.category === "SOS" && index < 2 * limit));
  if (list.length > limit) messages.isComplete = false;
  messages.version += 1;
}

/** The time up to which the record was read; 0 before the first reading. */
let readUntil = 0;

/** Reads the record. Returns whether that succeeded. */
export async function load() {
  const begun = now();
  messages.isOld = false;
  try {
    const { messages: kept, complete } = await call("GET", `messages?limit=${limit}`, undefined, 25_000);
    merge(kept);
    messages.isComplete = complete && messages.list.length <= limit;
    [messages.isRead, messages.trouble, readUntil] = [true, null, begun];
    return true;
  } catch (failure) {
    [messages.isOld, messages.trouble] = [true, failure.detail];
    return false;
  }
}

/** Puts what is new of the record into the list. Both have the newest first. */
function merge(kept) {
  const known = new Map(messages.list.map((one) => [one.id, one]));
  for (const one of kept) if (one.status === "synced" && known.has(one.id)) known.get(one.id).status = "synced";
  const isNew = (one) => !known.has(one.id);
  // In the record, what stands in front of the first message that was known before came since the last reading, or
  // while the page was cut off.
  const border = Math.max(readUntil, messages.missed ?? 0);
  const isSince = (one) => one.heard > border;
  const first = messages.isRead ? kept.findIndex((one) => !isNew(one) && !isSince(known.get(one.id))) : 0;
  const [newer, older] = first < 0 ? [kept, []] : [kept.slice(0, first), kept.slice(first)];
  const made = (some) => some.filter(isNew).map((one) => ({ ...one, time: Date.parse(one.time) }));
  const [since, before] = [messages.list.filter(isSince), messages.list.filter((one) => !isSince(one))];
  change([...since, ...made(newer), ...before, ...made(older)]);
}

/** Notes that the page was cut off: messages may have come meanwhile. */
export function missed() {
  messages.missed = now();
  messages.isOld = true;
}

/** Returns the message in a line of a phone; null if there is none. */
function read(line) {
  let wire;
  try { wire = JSON.parse(line); } catch { return null; }
  const { id, content, latitude, longitude, timestamp, status, category } = wire ?? {};
  const isWithin = (number, low, high) => typeof number === "number" && number >= low && number <= high;
  const isMessage = [id, content, category].every((text) => typeof text === "string")
    && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id) && isWithin(latitude, -90, 90) && isWithin(longitude, -180, 180)
    && isWithin(timestamp, earliest, latest) && ["pending_sync", "synced"].includes(status);
  if (!isMessage) return null;
  // A message that was received waits to be passed on, whatever its sender says.
  return { id: id.toUpperCase(), content, latitude, longitude, category, time: epoch + timestamp * 1000, status: "pending_sync" };
}

export function arrive(line, device) {
  const message = read(line);
  if (!message || messages.list.some((one) => one.id === message.id)) return;
  change([{ ...message, device, heard: now() }, ...messages.list]);
}

/** Makes a message, as the protocol has it. */
export const compose = (content, category, latitude, longitude) => ({
  id: crypto.randomUUID().toUpperCase(), content: content.toWellFormed(), latitude, longitude,
  timestamp: (now() - epoch) / 1000, status: "pending_sync", category,
});

export function sent({ timestamp, ...message }) {
  change([{ ...message, time: epoch + timestamp * 1000, status: "synced", heard: now() }, ...messages.list]);
}

/** The age of a message by its sender's clock. */
export function age({ time }) {
  const passed = now() - time;
  return passed < -60_000 ? "in the future, by the sender's clock" : ago(passed) || "just now";
}

const degrees = (number, positive, negative) => `${Math.abs(number).toFixed(5)}° ${number < 0 ? negative : positive}`;
export const place = ({ latitude, longitude }) => `${degrees(latitude, "N", "S")}, ${degrees(longitude, "E", "W")}`;

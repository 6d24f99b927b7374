// The messages of the rescue app: those that were kept, and those that came or were sent since the page was opened.

import { now } from "./bench.js";
import { call, screen } from "./session.js";

/** The categories of the protocol. A phone may send others. */
export const categories = ["Road Closure", "Flooding", "Shelter", "Resource", "SOS", "Other"];
/** The largest number of messages that are shown. */
const limit = 500;
/** The time from which the protocol counts, in milliseconds since 1970, and its limits in seconds: the years 1 to 9999. */
const epoch = Date.UTC(2001, 0, 1);
const [earliest, latest] = [-63_113_904_000, 252_423_993_600];

/** What is known of the messages. */
export const messages = {
  /** The messages with their places, the newest first. `time` is in milliseconds since 1970. */
  list: [],
  /** Changes with the list. */
  version: 0,
  /** Whether the record was read, and why it could not be read. */
  isRead: false, trouble: null,
  /** Whether there are older ones. */
  isComplete: true,
  /** The time until which messages may have come unnoticed. */
  missed: null,
};

function change(list) {
  messages.list = list.slice(0, limit);
  if (list.length > limit) messages.isComplete = false;
  messages.version += 1;
}

/** Reads the record, and puts what is new of it behind what came since. */
export async function load() {
  try {
    const { messages: kept, complete } = await call("GET", `messages?limit=${limit}`, undefined, 20_000, screen.signal);
    const known = new Map(messages.list.map((one) => [one.id, one]));
    for (const one of kept) if (one.status === "synced" && known.has(one.id)) known.get(one.id).status = "synced";
    messages.isComplete = complete;
    [messages.isRead, messages.trouble] = [true, null];
    change([...messages.list, ...kept.filter((one) => !known.has(one.id)).map((one) => ({ ...one, time: Date.parse(one.time) }))]);
  } catch (failure) {
    messages.trouble = failure.detail;
  }
}

/** Notes that the page was cut off: messages may have come meanwhile. */
export function missed() {
  messages.missed = now();
  if (messages.isRead) load();
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

/** Takes a line of a phone. Returns its message if that is new. */
export function arrive(line) {
  const message = read(line);
  if (!message || messages.list.some((one) => one.id === message.id)) return null;
  change([message, ...messages.list]);
  return message;
}

/** Makes a message, as the protocol has it. */
export const written = (content, category, latitude, longitude) => ({
  id: crypto.randomUUID().toUpperCase(), content: content.toWellFormed(), latitude, longitude,
  timestamp: (now() - epoch) / 1000, status: "pending_sync", category,
});

/** Adds a message that was sent. */
export function sent({ timestamp, ...message }) {
  change([{ ...message, time: epoch + timestamp * 1000, status: "synced" }, ...messages.list]);
}

const degrees = (number, positive, negative) => `${Math.abs(number).toFixed(5)}° ${number < 0 ? negative : positive}`;
/** A place in words. */
export const place = ({ latitude, longitude }) => `${degrees(latitude, "N", "S")}, ${degrees(longitude, "E", "W")}`;

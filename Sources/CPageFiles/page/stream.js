// The stream of events. The tabs of a browser share one, because a browser opens at most six connections to a server:
// one tab holds a lock and reads the stream, and passes the messages on to the others.

import { token } from "./session.js";

const name = "pumpctl-stream";
/** The longest silence of a stream that is not broken, in milliseconds. */
export const silence = 5000;

/**
 * Receives the stream for as long as the page is open.
 *
 * @param take Called with each message: `{number, kind, data}`. A comment has the kind "tick".
 * @param past Returns the messages that a tab which joins now needs to know.
 * @param refused Called if the server does not accept the token.
 */
export function receive(take, past, refused) {
  const channel = new BroadcastChannel(name);
  let isReader = false;
  let isWaiting = false;
  let lastHeard = performance.now();
  channel.onmessage = ({ data: message }) => {
    if (message.joins) {
      if (isReader) for (const old of past()) channel.postMessage(old);
    } else {
      lastHeard = performance.now();
      take(message);
    }
  };
  let reading;
  const read = async () => {
    const mine = reading = new AbortController();
    [isReader, isWaiting] = [true, false];
    let last = null;
    while (!mine.signal.aborted) {
      const used = token();
      try {
        await readStream(used, last, mine.signal, (message) => {
          lastHeard = performance.now();
          take(message);
          channel.postMessage(message);
          last = message.number;
        });
      } catch (error) {
        // Somebody may have logged in anew meanwhile.
        if (error === 401 && token() === used) return refused();
        // What waited is dropped. A stream without a last number begins with all that is known.
        if (error === "stale") last = null;
      }
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  };
  const join = (options) => {
    navigator.locks.request(name, options, read).catch(() => {
      // Another tab has taken the lock. This tab waits for its turn again.
      isReader = false;
      reading?.abort();
      if (isWaiting) return;
      isWaiting = true;
      join({});
    });
  };
  join({});
  channel.postMessage({ joins: true });
  // A reader that was frozen keeps its lock.
  setInterval(() => {
    if (isReader || document.hidden || performance.now() - lastHeard < silence) return;
    lastHeard = performance.now();
    join({ steal: true });
  }, 1000);
}

async function readStream(used, last, signal, take) {
  const headers = { Authorization: `Bearer ${used}` };
  if (last !== null) headers["Last-Event-ID"] = last;
  const stop = new AbortController();
  let watchdog = setTimeout(() => stop.abort(), silence);
  const response = await fetch("/api/v1/events", { headers, signal: AbortSignal.any([signal, stop.signal]) });
  if (response.status === 401) throw 401;
  if (!response.ok) throw response.status;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    let text = "";
    let arrived = Date.now();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      // After a sleep, or after the clock was set, what waited is not of the present.
      if (Date.now() - arrived > silence) throw "stale";
      arrived = Date.now();
      clearTimeout(watchdog);
      watchdog = setTimeout(() => stop.abort(), silence);
      text += value;
      const blocks = text.split("\n\n");
      text = blocks.pop();
      for (const block of blocks) take(message(block));
    }
  } finally {
    clearTimeout(watchdog);
    stop.abort();
  }
}

/** Returns the message of a block of lines. Numbers stay text, because they may be large. */
function message(block) {
  if (block.startsWith(":")) {
    const [number, time] = block.slice(1).trim().split(" ");
    return { number, kind: "tick", data: { time } };
  }
  const fields = {};
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    fields[line.slice(0, colon)] = line.slice(colon + 2);
  }
  return { number: fields.id, kind: fields.event, data: JSON.parse(fields.data) };
}

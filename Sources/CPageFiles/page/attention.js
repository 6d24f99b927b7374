// The attention of the person: the screen stays on while a device runs, and notifications say what has gone wrong.

import { bench, familyOf, isKnown, isLive } from "./bench.js";
import { plain } from "./elements.js";

const running = () => Object.values(bench.devices).filter((device) => {
  const family = familyOf(device);
  return family?.stop && isKnown(device) && device.values[family.state[0]?.key]?.value === "on";
}).map((device) => device.name);

let lock = null;
let isAsking = false;

/** Keeps the screen on while a device runs, where the browser can. */
export async function keepAwake() {
  if (document.hidden || !running().length) {
    lock?.release();
    lock = null;
  } else if ((!lock || lock.released) && !isAsking) {
    isAsking = true;
    // A browser refuses while the battery is low.
    try { lock = await navigator.wakeLock?.request("screen"); } catch { lock = null; }
    isAsking = false;
  }
}

/** Returns a function that notifies of what got worse by a message. Call `watch` before the message is taken, and the
 *  returned function afterwards. */
export function watch() {
  const former = running();
  return (news) => {
    if (news?.event === "said" && news.line.startsWith("ERROR:")) {
      const code = news.line.slice(6).trim();
      const family = familyOf(bench.devices[news.device] ?? {});
      const error = family?.errors.find((row) => row.code === code && row.unsolicited);
      if (error) notify(news.device, error.meaning);
    }
    for (const name of former) {
      const device = bench.devices[name];
      if (!device || !isKnown(device)) notify(name, "It was running, and its state is unknown now.");
    }
  };
}

let known = [];
// No message tells a page that it is cut off.
setInterval(() => {
  if (!isLive()) for (const name of known) notify(name, "It was running, and this page is not connected any more.");
  known = isLive() ? running() : [];
}, 1000);

/** Shows a notification if that is allowed. Tabs replace each other's by the same `tag`. */
export async function notify(name, text, tag = `${name} ${bench.number}: ${text}`) {
  if (globalThis.Notification?.permission !== "granted") return;
  const options = { body: plain(text), tag, icon: new URL("icon.svg", import.meta.url).href };
  // A phone's browser shows notifications only if a worker shows them.
  const worker = await navigator.serviceWorker?.getRegistration();
  if (worker) await worker.showNotification(plain(name), options);
  else new Notification(plain(name), options);
}

/** Whether notifications are "granted" or "denied" by the person, "default" before they were asked, or "none". */
export const permission = () => globalThis.Notification?.permission ?? "none";

/** Installs the worker that keeps the page's files. The page works without it. */
export function install() {
  const address = new URL("worker.js", import.meta.url).pathname;
  const own = globalThis.trustedTypes?.createPolicy("worker", { createScriptURL: () => address });
  navigator.serviceWorker?.register(own?.createScriptURL("") ?? address, { scope: "/" }).catch(() => {});
}

// The log that a sensor has stored, and the image that is chosen at a peer.

import { clock, element, plain, status, write } from "./elements.js";
import { familyOf, now } from "./bench.js";
import { alone, open, pathOf } from "./session.js";

const contents = { storm: ["log", "text/csv"], peer: ["image", "image/*"] };
export const isContent = (device, command) => command.split(" ")[0] === contents[device.family]?.[0];
/** The largest number of lines of a log that are shown. The copy and the file have all. */
const shownLines = 200;

// The transfer under way, and the address of the last content: both end with their screen.
let stop = null;
let address = null;

export function leave() {
  stop?.abort();
  if (address) URL.revokeObjectURL(address);
  [stop, address] = [null, null];
}

/** Makes the part that fetches the content of a device; nothing for a family without content. */
export function content(device) {
  const [name, type] = contents[device.family] ?? [];
  if (!name) return "";
  const outcome = status();
  const progress = element("progress", { "aria-label": `${name} received`, hidden: true });
  const result = element("div", {});
  const cancel = element("button", { type: "button", hidden: true, onclick: () => stop?.abort() }, "cancel");
  const button = element("button", { type: "button", onclick: async () => {
    button.disabled = true;
    cancel.hidden = progress.hidden = false;
    const mine = stop = new AbortController();
    outcome.dataset.state = "sending";
    write(outcome, `asking for the ${name} …`);
    result.replaceChildren();
    try {
      const bytes = await alone(() => fetchContent(device.name, name, mine.signal, (count, all) => {
        write(outcome, all ? `${Math.floor((count / all) * 100)} %, ${count} of ${all} bytes` : `${count} bytes`);
        if (all) progress.value = count / all;
      }));
      outcome.dataset.state = "done";
      write(outcome, `${name} received at ${clock(now())}: ${bytes.length} bytes`);
      show(result, device.name, name, new Blob([bytes], { type }));
    } catch (failure) {
      outcome.dataset.state = "failed";
      const error = familyOf(device)?.errors.find((row) => row.code === failure.device_code);
      const reason = plain(error?.meaning ?? failure.detail ?? "the transfer broke off");
      write(outcome, mine.signal.aborted ? "cancelled; nothing was kept"
        : `not received whole, so nothing is shown: ${reason} (${plain(error?.remedy ?? failure.hint ?? "get it again")})`);
    } finally {
      button.disabled = false;
      cancel.hidden = progress.hidden = true;
      progress.removeAttribute("value");
    }
  } }, `get ${name}`);
  return element("section", { class: "card content" }, button, " ", cancel, progress, outcome, result);
}

async function fetchContent(device, name, signal, report) {
  const response = await open(pathOf(device, name), signal);
  const all = Number(response.headers.get("Announced-Length"));
  const pieces = [];
  let count = 0;
  for (const reader = response.body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    count += value.length;
    report(count, all);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

async function show(result, device, name, blob) {
  if (address) URL.revokeObjectURL(address);
  address = URL.createObjectURL(blob);
  const file = name === "log" ? `${device}.log` : device;
  const parts = [element("a", { href: address, download: file }, "save")];
  if (name === "image") {
    parts.push(element("img", { src: address, alt: `the image of ${device}` }));
  } else {
    const text = await blob.text();
    const lines = text.split("\n").map((line) => line.trimEnd()).filter(Boolean);
    const odd = lines.filter((line) => !/^\S+\s+\d+\s+\d+\s+(-?[\d.]+(e[-+]?\d+)?|nan)$/i.test(line)).length;
    const copied = element("span", { role: "status" });
    parts.push(" ", element("button", { type: "button", onclick: async () => {
      await navigator.clipboard.writeText(text);
      write(copied, " copied");
    } }, "copy"), copied,
    odd ? element("p", { class: "outcome", "data-state": "failed" }, `${odd} of ${lines.length} lines are no measurements: get the log again.`) : "",
    element("p", {}, lines.length > shownLines ? `the last ${shownLines} of ${lines.length} lines:` : `${lines.length} lines:`),
    element("pre", { tabindex: "0", "aria-label": "Log" }, lines.slice(-shownLines).map(plain).join("\n")));
  }
  result.replaceChildren(...parts);
}

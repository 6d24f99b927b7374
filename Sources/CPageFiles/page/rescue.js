// The screen of a phone with the rescue app: a map and a list of messages, a new message, and the call for help.

import { bench, familyOf, isKnown, now, seen } from "./bench.js";
import { dismiss, followRecord, onWanted, takeWanted } from "./calls.js";
import { clock, element, form, plain, say, write } from "./elements.js";
import { map, sign } from "./map.js";
import { age, categories, compose, messages, place, sent } from "./messages.js";
import { isReady, outcomeOf, send, show } from "./outcomes.js";

const help = "Someone needs help";
const statuses = { pending_sync: "not handed on yet", synced: "handed on" };

/** A text of a phone, with its ends of lines. */
const lines = (text, end = "\n") => text.split(/\r\n|[\r\n]/).map(plain).join(end);
/** A text of a phone in one line of at most `length` characters. */
const shortened = (text, length) => {
  const line = [...lines(text, " ")];
  return line.length > length ? `${line.slice(0, length).join("")} …` : line.join("");
};
/** The category of a message, which a phone may have made up. */
const kind = ({ category }) => shortened(category, 40);

export function rescue(device, parts) {
  const row = familyOf(device)?.commands.find((one) => one.name === "send");
  if (!row) return "";
  messages.isOld = true;
  followRecord();
  let [chosen, version, showFacts] = [null, null, () => {}];
  const card = element("section", { class: "message", "aria-label": "Chosen message" });
  const list = element("ol", { class: "messages" });
  const note = element("p", { class: "about" });
  const rows = new Map();
  const choose = (id) => {
    chosen = messages.list.find((one) => one.id === id);
    if (!chosen) return;
    version = null;
    showFacts = showCard(card, chosen);
    update();
    card.scrollIntoView({ block: "nearest" });
    say([kind(chosen), lines(chosen.content, " "), ...facts(chosen).map(([, fact]) => fact())].join(". "));
  };
  const drawing = map(choose);
  const update = () => {
    const wanted = takeWanted();
    if (wanted) return choose(wanted);
    write(note, noteOnList());
    if (version !== messages.version) {
      version = messages.version;
      arrange(list, rows, chosen, choose);
      drawing.show(messages.list, chosen?.id);
    }
    showFacts();
  };
  parts.push(update);
  onWanted(update);
  card.append(element("p", { class: "about" }, "Choose a message in the list, or a pin."));
  const { call, node } = writing(device, row, parts);
  return element("div", { class: "rescue" },
    element("section", {}, element("h2", {}, "Map"), drawing.node, card, ...call),
    element("section", {}, element("h2", {}, "Messages"), list, note), node);
}

function noteOnList() {
  const origin = messages.trouble ? `The record can't be read: ${plain(messages.trouble).replace(/\.$/, "")}. Here is what came or was sent since this page was opened.`
    : !messages.isRead ? "Reading the record …"
    : messages.list.length ? `${messages.isComplete ? "All" : "The newest"} of the record, and what came or was sent since this page was opened.`
    : "No messages in the record, and none since this page was opened.";
  return origin + (messages.missed ? ` The page was cut off until ${clock(messages.missed)}: messages may be missing.` : "")
    + " “pumpctl rescue listen” keeps what comes; this page keeps only an SOS that nobody has dismissed. “Handed on” means that a message was written to the link: a phone does not confirm it.";
}

/** Puts the rows into a list. Rows that stay are not moved, so that the focus stays. */
function arrange(list, rows, chosen, choose) {
  const ids = new Set(messages.list.map((one) => one.id));
  for (const [id, row] of rows) {
    if (ids.has(id)) continue;
    row.remove();
    rows.delete(id);
  }
  messages.list.forEach((message, index) => {
    if (!rows.has(message.id)) rows.set(message.id, rowOf(message, choose));
    const row = rows.get(message.id);
    if (list.children[index] !== row) list.insertBefore(row, list.children[index] ?? null);
    row.firstChild.setAttribute("aria-pressed", message.id === chosen?.id);
    write(row.querySelector(".status"), statuses[message.status]);
  });
}

function rowOf(message, choose) {
  return element("li", {}, element("button", { type: "button", "aria-pressed": "false", onclick: () => choose(message.id) },
    sign(message.category), element("strong", {}, kind(message)), " ", element("small", { class: "status" }), " ",
    element("bdi", {}, shortened(message.content, 120)), " ",
    element("small", { class: "place" }, place(message))));
}

const facts = (message) => [
  ["place", () => place(message)],
  ["written", () => `${new Date(message.time).toLocaleString("sv")}, ${age(message)}`],
  ["status", () => statuses[message.status]],
];

/** Shows a message whole; returns a function that shows its facts. */
function showCard(card, message) {
  const shown = facts(message).map(([name, fact]) => [element("dt", {}, name), element("dd", {}), fact]);
  card.replaceChildren(element("h3", {}, sign(message.category), kind(message)),
    element("div", { class: "text", tabindex: "0", role: "group", "aria-label": "Text", dir: "auto" }, lines(message.content)),
    element("dl", {}, ...shown.map(([term, node]) => element("div", {}, term, node))));
  return () => shown.forEach(([, node, fact]) => write(node, fact()));
}

// What was typed outlives a screen, which may be made anew.
const drafts = new Map();

function writing(device, row, parts) {
  if (!drafts.has(device.name)) drafts.set(device.name, { category: "Other" });
  const draft = drafts.get(device.name);
  const field = (name, text, node) => {
    node.value = draft[name] ?? "";
    node.addEventListener("input", () => { draft[name] = node.value; });
    return element("label", { class: name === "content" && "wide" }, text, node);
  };
  const degrees = (limit) => element("input", { type: "number", min: -limit, max: limit, step: "any", required: true });
  const [latitude, longitude] = [degrees(90), degrees(180)];
  const content = element("textarea", { rows: 3, maxlength: 2000, required: true });
  const category = element("select", {}, ...categories.map((one) => element("option", {}, one)));
  const outcomes = { message: outcomeOf(device.name, "send"), call: outcomeOf(device.name, "SOS") };
  const isBusy = () => Object.values(outcomes).some((one) => one.dataset.busy === "yes");
  const hasPlace = () => [latitude, longitude].every((one) => one.value !== "" && one.checkValidity());
  const composed = (text, name) => compose(text, name, Number(latitude.value), Number(longitude.value));

  const sentence = (message) =>
    `${message.category === "SOS" ? `SOS sent: ${lines(message.content, " ")}` : `sent: ${message.category}`}, at ${place(message)}, ${clock(now())}; a phone does not confirm it`;
  const post = async (message, outcome) => {
    if (isBusy() || !isReady(device, outcome)) return false;
    const isDone = await send(device, row, { message: JSON.stringify(message) }, outcome, seen, () => sentence(message));
    if (!isDone) return false;
    // The banner need not announce a call that was sent here.
    dismiss(message.id);
    sent(message);
    return true;
  };
  const postWritten = async (message) => {
    const isDone = await post(message, message.category === "SOS" ? outcomes.call : outcomes.message);
    if (isDone && content.value === message.content) content.value = draft.content = "";
  };

  const { dialog, ask } = question();
  const call = element("button", { type: "button", class: "danger call", "data-name": JSON.stringify([device.name, "SOS"]), onclick: () => {
    if (!hasPlace()) {
      show(outcomes.call, "failed", "not sent: an SOS needs a place. Enter it below.");
      // The browser scrolls to the place.
      show(outcomes.message, "failed", "The SOS was not sent: enter its place here; then press SOS above once more.");
      return [latitude, longitude].find((one) => !one.reportValidity());
    }
    for (const one of [outcomes.call, outcomes.message]) if (one.dataset.state === "failed") show(one, "", "");
    ask(composed(help, "SOS"), (message) => post(message, outcomes.call));
  } }, "SOS");
  const button = element("button", { "data-name": JSON.stringify([device.name, "send"]) }, "send");
  const node = form(() => {
    if (isBusy()) return;
    const message = composed(content.value, category.value);
    if (message.category === "SOS") ask(message, postWritten);
    else postWritten(message);
  }, element("h2", {}, "New message"),
  field("latitude", "Latitude: degrees north, below 0 south", latitude),
  field("longitude", "Longitude: degrees east, below 0 west", longitude),
  finder([latitude, longitude]),
  field("category", "Category", category), field("content", "Text", content), button, outcomes.message);
  parts.push(() => {
    const isOpen = isKnown(bench.devices[device.name] ?? {}) && bench.scope === "command" && !isBusy();
    button.disabled = call.disabled = !isOpen;
  });
  return { call: [call, outcomes.call, dialog], node };
}

/** The question before a call for help is sent. What is sent is what it shows. */
function question() {
  const text = element("p", { class: "text" });
  const where = element("p", {});
  let act = null;
  const answer = (isYes) => {
    dialog.close();
    if (isYes) act?.();
    act = null;
  };
  const dialog = element("dialog", { "aria-labelledby": "question" }, element("h2", { id: "question" }, "Send an SOS?"), text, where,
    // The second click of a double click on SOS is no answer.
    element("button", { type: "button", onclick: () => answer(false) }, "cancel"), " ",
    element("button", { type: "button", class: "danger", onclick: (event) => { if (event.detail < 2) answer(true); } }, "send SOS"));
  const ask = (message, then) => {
    write(text, lines(message.content));
    write(where, `at ${place(message)}`);
    act = () => then(message);
    dialog.showModal();
  };
  return { dialog, ask };
}

/** The button that enters the place of this device. Nothing asks for the place before it is pressed. */
function finder([latitude, longitude]) {
  if (!navigator.geolocation) return "";
  const outcome = element("small", { role: "status" });
  const find = () => {
    write(outcome, "looking for this device …");
    navigator.geolocation.getCurrentPosition(({ coords }) => {
      for (const [input, number] of [[latitude, coords.latitude], [longitude, coords.longitude]]) {
        input.value = number.toFixed(6);
        input.dispatchEvent(new Event("input"));
      }
      write(outcome, `found, within ${Math.round(coords.accuracy)} m`);
    }, (error) => write(outcome, error.code === 1 ? "The browser is not permitted to tell the place: permit it in its settings, or enter the place." : "The place was not found: enter it."), { timeout: 20_000 });
  };
  return element("p", {}, element("button", { type: "button", onclick: find }, "use this device's place"), " ", outcome);
}

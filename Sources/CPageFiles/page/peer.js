// This computer as a text and image peer of a central. pumpctl offers it.

import { bench } from "./bench.js";
import { clock, element, form, plain, say, status, write } from "./elements.js";
import { show, showFailure } from "./outcomes.js";
import { call, told } from "./session.js";

/** The limits of an image in bytes, of a text in characters, and of the list in lines. */
const [imageLimit, textLimit, lineLimit] = [5_250_000, 500, 200];

/** Ends the peer that is offered; null while there is none. */
let ending = null;
addEventListener("hashchange", () => { if (location.hash !== "#/peer") ending?.abort(); });

let made = null;
/** The screen is made once, so that a peer outlives a change of the devices. */
export const peer = () => (made ??= make());

function make() {
  const [state, outcome, image, position] = [status(), status(), element("p", { class: "about" }), element("p", {})];
  const list = element("ol", { class: "lines", reversed: true, tabindex: "0", "aria-label": "Events of the peer" });
  const name = element("input", { value: "QDevice1", required: true, autocomplete: "off", "data-name": "peer name" });
  const file = element("input", { type: "file", accept: "image/png", onchange: () => update() });
  const text = element("input", { required: true, autocomplete: "off", "data-name": "peer text" });
  const button = element("button", { "data-name": "peer" });
  const senders = [element("button", {}, "send"),
    ...["ON", "OFF"].map((word) => element("button", { type: "button", onclick: () => send(word) }, word))];
  const take = (one) => {
    const words = plain(inWords[one.event]?.(one) ?? "");
    if (!words) return;
    list.prepend(element("li", {}, `${clock(Date.parse(one.time))} ${words}`));
    if (list.children.length > lineLimit) list.lastChild.remove();
    if (one.event in states) show(state, states[one.event], words);
    else say(words);
    if (one.event === "toggle") write(position, `Remote toggle: ${words}`);
  };
  const offer = async () => {
    const mine = ending = new AbortController();
    const [body] = file.files;
    show(state, "sending", "starting …");
    write(position, "Remote toggle: not known");
    list.replaceChildren();
    update();
    try {
      if (body?.size > imageLimit) throw { detail: `the image is larger than ${imageLimit} bytes` };
      const lines = told(`peer?name=${encodeURIComponent(name.value)}`, mine.signal, body && { body, headers: { "Content-Type": "image/png" } });
      for await (const one of lines) take(one);
      throw {};
    } catch (failure) {
      if (mine.signal.aborted) show(state, "", "idle");
      else showFailure(state, { detail: "it broke off", ...failure }, {});
    }
    ending = null;
    update();
  };
  const send = async (said) => {
    show(outcome, "sending", "sending …");
    try {
      await call("POST", "peer/say", { text: said });
      show(outcome, "done", `handed on at ${clock(Date.now())}; a central does not confirm it`);
      if (text.value === said) text.value = "";
    } catch (failure) {
      showFailure(outcome, failure, {}, "it may have been sent");
    }
  };
  const update = () => {
    const isClosed = bench.scope !== "command";
    write(button, ending ? "stop" : "start");
    button.disabled = isClosed;
    name.disabled = file.disabled = isClosed || Boolean(ending);
    for (const one of senders) one.disabled = isClosed || !ending;
    write(image, `Selected image: ${plain(file.files[0]?.name ?? "none")}`);
  };
  show(state, "", "idle");
  const node = element("section", {}, element("h1", {}, "Be a peer"),
    element("p", {}, "While this screen is open, a phone or another pumpctl finds this computer by Bluetooth, and sends texts or gets the image."),
    state, position,
    element("div", { class: "commands" },
      form(() => (ending ? ending.abort() : offer()), element("label", {}, "Name", name),
        element("label", {}, "Image (PNG)", file), image, button),
      form(() => send(text.value), element("label", {}, "Text", text), ...senders.flatMap((one) => [one, " "]), outcome)),
    list);
  return { title: "Peer", node, update };
}

/** The states that follow from events. */
const states = { ready: "done", interrupted: "failed", subscribed: "done", unsubscribed: "" };
/** The events in words. A connection may be that of another device. */
const inWords = {
  ready: () => "advertising",
  interrupted: (one) => `failed: ${one.error}; advertised again when that is over`,
  connected: (one) => `${one.central} is connected to this computer`,
  disconnected: (one) => `${one.central} is disconnected from this computer`,
  subscribed: () => "connected: a central listens",
  unsubscribed: () => "disconnected; advertising",
  greeting: (one) => `greeting from ${one.host}`,
  hello: () => "greeting",
  text: (one) => `text: ${one.text.slice(0, textLimit)}${one.characters > textLimit ? " …" : ""}`,
  bytes: (one) => `bytes: ${one.hex.slice(0, textLimit)}`,
  toggle: (one) => one.toggle,
  image_asked: () => "the image was asked for",
  waiting: () => "a text waits for a central",
};

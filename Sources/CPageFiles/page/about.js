// The screens that show no device: doctor's findings, and the session with the notes on safety.

import { permission } from "./attention.js";
import { bench } from "./bench.js";
import { clock, element, plain, status, write } from "./elements.js";
import { read } from "./session.js";

/** What `pumpctl doctor` finds on the computer that the devices are connected to. */
export function findings() {
  const outcome = status();
  const list = element("ul", { class: "cards" });
  const look = async () => {
    button.disabled = true;
    write(outcome, "looking …");
    try {
      const { findings: found } = await read("findings", 30_000);
      list.replaceChildren(...found.map((one) => element("li", { class: "card finding", "data-severity": one.severity },
        element("p", {}, { ok: "fine: ", warning: "look at: ", bad: "wrong: " }[one.severity] ?? "",
          one.subject ? `${plain(one.subject)}: ` : "", plain(one.sentence)),
        one.remedy ? element("p", { class: "about" }, `To do: ${plain(one.remedy)}`) : "")));
      write(outcome, `found at ${clock(Date.now())}`);
    } catch (failure) {
      write(outcome, `no findings: ${plain(failure.detail)}`);
    } finally {
      button.disabled = false;
    }
  };
  const button = element("button", { onclick: look }, "look again");
  look();
  return {
    title: "Findings", update() {},
    node: element("section", {}, element("h1", {}, "Findings"),
      element("p", {}, "The state of the computer that the devices are connected to."), button, outcome, list),
  };
}

const safety = [
  "The pump is worn by a person. Start it only if that person knows.",
  "OFF works in every state of this page. If it is not confirmed and the pump runs, press the button on its lid, or pull the plug.",
  "The pump stops by itself after 30 minutes, and if the skin is warmer than 40 °C.",
  "A value with an age is as old as that. What is struck through is no longer known.",
  "If a command's outcome is unknown, it may have been carried out. Look at the pump.",
  "This page can lose its connection. The pump goes on then, up to its own limits.",
];

export function about(end) {
  const session = element("p", {});
  const notices = element("p", {});
  const allow = element("button", { onclick: () => Notification.requestPermission().then(update, update) }, "allow notifications");
  const update = () => {
    write(session, bench.scope === "command" ? "It may send commands." : "It may look, and not send commands.");
    const state = permission();
    write(notices, {
      granted: "Notifications tell of a stop for safety, and of a lost link while a device runs, as long as this page is open.",
      denied: "Notifications are not allowed: see the settings of the browser.",
      default: "This page can notify you of a stop for safety, and of a lost link while a device runs, as long as it is open.",
    }[state] ?? "This browser has no notifications here.");
    allow.hidden = state !== "default";
  };
  return {
    title: "About",
    node: element("section", {}, element("h1", {}, "Safety"),
      element("ul", {}, ...safety.map((note) => element("li", {}, note))),
      element("h2", {}, "This browser"), session, element("button", { onclick: end }, "log out"),
      element("h2", {}, "Notifications"), notices, allow),
    update,
  };
}

// The page: logging in, the choice of the screen, and showing what is known.

import { about, findings } from "./about.js";
import { install, keepAwake, watch } from "./attention.js";
import { bench, familyOf, isLive, noteShown, now, past, refresh, take } from "./bench.js";
import { followRecord, hear, hideCalls, showCalls } from "./calls.js";
import { keep } from "./console.js";
import { leave } from "./content.js";
import { clock, element, form, plain, say, write } from "./elements.js";
import { messages, missed } from "./messages.js";
import { peer } from "./peer.js";
import { past as pastScreen } from "./past.js";
import { device, list } from "./screens.js";
import { byHand } from "./outcomes.js";
import { call, endRequests, forgetToken, logIn, takeCode, token } from "./session.js";
import { receive } from "./stream.js";
import { forgetDismissed, noteRunning, remembered, troubled, troubleOf } from "./values.js";

const place = document.getElementById("screen");
const connection = document.getElementById("connection");
const trouble = document.getElementById("trouble");
const printed = document.getElementById("printed");
let current = null;

function showLogIn(reason) {
  current = null;
  hideCalls();
  write(connection, "");
  const outcome = element("p", { class: "outcome", role: "alert" }, reason);
  const enter = async (typed) => {
    try {
      await logIn(typed);
      location.reload();
    } catch (failure) {
      write(outcome, plain(failure.detail));
    }
  };
  removeEventListener("hashchange", route);
  // An address with a code may also be entered in the browser's address bar.
  onhashchange = () => {
    const typed = takeCode();
    if (typed) enter(typed);
  };
  const code = element("input", { autocomplete: "off", required: true });
  place.replaceChildren(element("section", {},
    element("h1", {}, "Log in"),
    element("p", {}, "Run this in a terminal of the computer that the devices are connected to:"),
    element("pre", {}, "pumpctl page --code"),
    element("p", {}, "It prints an address. Open it, or enter it here. It works once, for five minutes."),
    form(() => enter(code.value), element("label", {}, "Code", code), element("button", {}, "Log in"), outcome),
    element("p", { class: remembered() ? "banner" : "" }, remembered(), " ", helpless)));
  code.focus();
}

const helpless = `This page can't switch a pump off now: ${byHand}`;

function logOutHere(reason) {
  forgetToken();
  bench.devices = {};
  keepAwake();
  showLogIn(reason);
}

async function logOut() {
  try {
    await call("DELETE", "session");
  } catch (failure) {
    // A session that has ended needs no end.
    if (failure.status !== 401) return say(plain(failure.detail), true);
  }
  logOutHere("Logged out.");
}

function decoded(name) {
  try { return decodeURIComponent(name); } catch { return name; }
}

function route(event) {
  const [, kind, name] = location.hash.split("/");
  endRequests();
  current = kind === "device" ? device(decoded(name)) : kind === "findings" ? findings() : kind === "past" ? pastScreen() : kind === "peer" ? peer() : kind === "about" ? about(logOut) : list();
  leave();
  document.title = kind ? `${plain(current.title)} – pumpctl` : "pumpctl";
  const focused = document.activeElement?.dataset.name;
  place.replaceChildren(current.node);
  if (event) scrollTo(0, 0);
  update(true);
  // The same button of the same device keeps the focus.
  if (focused) [...place.querySelectorAll("[data-name]")].find((one) => one.dataset.name === focused)?.focus();
}

/** Shows what is known now. Commands are then sent on this view. */
function update(isNew = false) {
  // Nothing moves under a finger: the view stays as it is for up to a second.
  if (!isNew && performance.now() - pressed < 1000) return;
  const live = isLive();
  const text = bench.number === null ? "connecting …"
    : !live ? `not connected since ${clock(bench.heard)}; what follows is old`
      : bench.daemon === "up" ? "connected" : "pumpctld is away: the state of the devices is unknown";
  if (connection.textContent !== text) {
    write(connection, text);
    connection.dataset.state = live && bench.daemon === "up" ? "live" : "old";
  }
  document.body.classList.toggle("old", !live);
  const [first, ...others] = troubled();
  // A long name must leave room for what is wrong.
  const name = plain(first).replace(/^(.{6}).{4,}(.{6})$/u, "$1…$2");
  write(trouble, first ? `${name}${others.length ? ` (and ${others.length} more)` : ""}: ${troubleOf(first)}` : "");
  trouble.hidden = !first;
  trouble.href = first ? `#/device/${encodeURIComponent(first)}` : "#/";
  write(printed, current?.printed ? current.printed() : bench.heard ? `The state as shown at ${new Date(now()).toString().slice(0, 24)}` : "");
  showCalls();
  current?.update();
  // Nothing is hidden behind the bar with OFF, however high it is.
  const bar = document.querySelector("article > .stop");
  document.documentElement.style.setProperty("--bar", `${bar?.offsetHeight ?? 0}px`);
  noteShown();
  keepAwake();
}

// A file that is dropped beside its place must not replace the page, which has OFF.
for (const kind of ["dragover", "drop"]) {
  addEventListener(kind, (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer?.files ?? [];
    if (kind === "drop" && file) current?.drop?.(file);
  });
}

addEventListener("beforeprint", () => { if (current) update(true); });

let isPending = false;
function updateSoon() {
  if (isPending) return;
  isPending = true;
  // A page that nobody sees shows nothing.
  requestAnimationFrame(() => {
    isPending = false;
    if (current) update();
  });
}

/** The time at which a finger or a key was pressed that is still down. */
let pressed = -Infinity;
for (const begin of ["pointerdown", "keydown"]) {
  addEventListener(begin, (event) => { if (!event.repeat) pressed = performance.now(); }, true);
}
for (const end of ["pointerup", "pointercancel", "keyup"]) {
  // On a touch screen the click comes some time later.
  addEventListener(end, () => setTimeout(() => {
    pressed = -Infinity;
    follow();
    updateSoon();
  }, 300), true);
}

let shape = "";
let isRefreshing = false;
/** Reads the list of devices again if a device is new, and makes the screen anew if the list has changed. */
async function follow() {
  const devices = Object.values(bench.devices);
  if (!isRefreshing && bench.daemon === "up" && (bench.isListOld || devices.some((one) => !one.family))) {
    isRefreshing = true;
    try { await refresh(); } catch { /* The next event tries again. */ }
    isRefreshing = false;
  }
  // The log-in stays, and for five seconds nothing moves under a finger.
  if (!current || performance.now() - pressed < 5000) return;
  const shapeNow = JSON.stringify([...Object.values(bench.devices).map((one) => [one.name, one.family]),
    Object.keys(bench.families), bench.scope, bench.hasList]);
  if (shapeNow !== shape) {
    shape = shapeNow;
    route();
  }
}

/** Logs in by the code in the address, if there is one, and begins. */
async function start(event, code = takeCode()) {
  write(connection, "connecting …");
  try {
    try {
      if (code) await logIn(code);
    } catch (failure) {
      // A used code does not end the session that this browser has.
      if (failure.status !== 401 || !token()) throw failure;
    }
    if (!token()) return showLogIn("");
    ({ id: bench.session, scope: bench.scope } = await call("GET", "session"));
  } catch (failure) {
    if (failure.code === "unreachable") {
      write(connection, "the server does not answer; trying again");
      if (!place.querySelector(".banner")) place.replaceChildren(element("p", { class: "banner", role: "alert" }, remembered(), " ", helpless));
      return setTimeout(start, 1000, null, code);
    }
    return failure.status === 401 && token() ? logOutHere("The session has ended.") : showLogIn(plain(failure.detail));
  }
  addEventListener("hashchange", route);
  receive((message) => {
    const notice = watch();
    const wasKnown = bench.number !== null;
    const news = take(message);
    if (wasKnown && (["snapshot", "resync"].includes(message.kind) || (message.kind === "daemon" && bench.daemon === "up"))) missed();
    notice(news);
    noteRunning();
    forgetDismissed(message);
    if (news) {
      keep(news);
      hear(news);
    }
    if (news?.event === "said" && news.line.startsWith("ERROR:")) {
      // Errors that a device makes up are one source, so that they keep nothing else from being said.
      const row = familyOf(bench.devices[news.device] ?? {})?.errors.find(({ code }) => code === news.line.slice(6).trim());
      say(`${news.device}: ${plain(news.line)}`, true, `${news.device} ERROR ${row?.code}`);
    }
    // While a phone was away, messages of it may have come to the record.
    if (message.kind === "link" && message.data.link === "up" && bench.devices[message.data.device]?.family === "rescue") messages.isOld = true;
    followRecord();
    follow();
    updateSoon();
  }, past, () => logOutHere("The session has ended."));
  route();
  setInterval(updateSoon, 1000);
}

install();
start();

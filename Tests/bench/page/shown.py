#!/usr/bin/env python3
"""Check that the page shows the truth about a pump while the line and the programs fail at random moments.

    shown.py [SEEDS]

The runs are those of ../http/truth.py, with a browser as the client; SEEDS is as there. Each shown state is compared
with the pump's true state, and each shown outcome with the lines that the pump received and sent. `make check` has 6
runs, a soak 100.
"""

import pathlib
import random
import signal
import sys
import threading
import time
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "http"))

import truth
from playwright.sync_api import expect, sync_playwright

# The number of runs at a time: a browser takes a processor for its start.
WIDTH = 3
# The time in seconds for which a page whose server is silent may still show a state as current: five, after which the
# page counts the connection as lost, one until it has rendered that, and a margin.
SILENCE = 6.5
PATIENCE = 60

# The time in seconds for which a value may be shown without its age: the page adds the age after ten seconds; the rest
# is for rendering.
FRESHNESS = 11.5
# The time in seconds for which a confirmation of OFF may be shown while the pump is on again: two queries of the state,
# of which pumpctld sends one every five seconds, and a margin.
CONFIRMED = 11.5
# The time in seconds for which the page may show an old state: while a button is pressed, it does not change for a
# second.
FREEZE = 1.25
# The time in seconds for which both a confirmation of OFF and the state `on` from before it may be shown: FREEZE, and a
# margin for the arrival of the state.
CONTRADICTION = 2

# Records the shown texts at each change, and four times a second, with the time at which the shown state was read.
RECORDER = """async () => {
  const { bench } = await import(document.querySelector("script").src.replace("main.js", "bench.js"));
  const text = (selector) => document.querySelector(selector)?.textContent ?? "";
  window.shown = [];
  let last = "";
  // Taken at each change of the shown state, and of the printed time, which changes each second. While a button is
  // pressed, the model is ahead of the shown state.
  let read = null;
  const isOfState = ({ target }) => (target.closest ? target : target.parentElement)?.closest("#printed, [data-key=state]");
  const note = (isAgain, records = []) => {
    if (records.some(isOfState)) read = bench.devices.pump?.values.state?.read ?? null;
    const entry = [text("[data-key=state] .value"), text("[data-key=state] .age"), text(".stop .outcome"), text("#connection"), text(".link")];
    if (!isAgain && JSON.stringify(entry) === last) return;
    last = JSON.stringify(entry);
    window.shown.push([Date.now() / 1000, read, ...entry]);
  };
  new MutationObserver((records) => note(false, records)).observe(document.body, { subtree: true, childList: true, characterData: true });
  setInterval(note, 250, true);
}"""

# Presses a button, or moves the slider; returns whether it was enabled. OUTCOME then reads the text in its form.
PRESS = """([name, speed]) => {
  const form = [...document.querySelectorAll("form")].find((one) => one.querySelector("button").textContent === name);
  const control = form.querySelector(speed === null ? "button" : "input");
  if (control.disabled) return false;
  if (speed === null) control.click();
  else {
    control.value = speed;
    for (const kind of ["input", "change"]) control.dispatchEvent(new Event(kind, { bubbles: true }));
  }
  return true;
}"""
OUTCOME = """(name) => {
  const form = [...document.querySelectorAll("form")].find((one) => one.querySelector("button").textContent === name);
  const outcome = (name === "OFF" ? document.querySelector(".stop") : form).querySelector(".outcome");
  return outcome.dataset.state === "sending" || outcome.dataset.busy === "yes" ? null : [outcome.textContent];
}"""
# The outcome of a command, by the beginning of the text that the page shows.
OUTCOMES = {"done at": "done", "confirmed by": "done", "NOT CONFIRMED at": "unknown", "not sent": "not_sent", "refused": "nothing_changed",
            "failed, and nothing was changed": "nothing_changed", "unknown": "unknown"}


class PageRun(truth.Run):
    """A run of one seed with a browser."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.is_ready = threading.Event()
        self.silences: list[tuple[float, float]] = []
        self.shown: list[list] = []

    def clients(self) -> list:
        return [self.browse, self.read]

    def trouble(self) -> None:
        if self.is_ready.wait(PATIENCE):
            super().trouble()

    # MARK: The browser

    def browse(self) -> None:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
            self.page = browser.new_page()
            self.page.goto(f"http://127.0.0.1:{self.bench.address[1]}/#{self.bench.code()}")
            expect(self.page.locator("#connection")).to_have_text("connected", timeout=PATIENCE * 1000)
            self.page.evaluate("location.hash = '#/device/pump'")
            expect(self.page.locator("[data-key=state] .value")).not_to_have_text("unknown", timeout=PATIENCE * 1000)
            self.page.evaluate(RECORDER)
            self.is_ready.set()
            self.press_often()
            expect(self.page.locator("#connection")).to_have_text("connected", timeout=PATIENCE * 1000)
            expect(self.page.locator(".link")).to_have_text("connected", timeout=PATIENCE * 1000)
            self.finish([self.push("OFF")])
            expect(self.page.locator("[data-key=state] .value")).to_have_text("off", timeout=PATIENCE * 1000)
            self.shown = self.page.evaluate("window.shown")
            browser.close()
        self.check_shown()

    def press_often(self) -> None:
        draw = random.Random(self.seed + 4_000_000)
        while not self.is_over:
            self.page.wait_for_timeout(draw.uniform(0, 400))
            if draw.random() < 0.08:
                self.silence(draw.uniform(0.1, 2) if draw.random() < 0.6 else draw.uniform(6, 8))
            name = draw.choice(["on", "on", "OFF", "speed", "speed", "status"])
            pressed = [self.push(name, self.speeds.pop() if name == "speed" else None)]
            if name != "OFF" and draw.random() < 0.3:
                pressed.append(self.push("OFF"))
            self.finish([one for one in pressed if one])

    def silence(self, length: float) -> None:
        """Suspend the server for `length` seconds."""
        self.counts["suspend the server"] += 1
        self.bench.page.send_signal(signal.SIGSTOP)
        begin = time.time()
        self.page.wait_for_timeout(length * 1000)
        self.silences.append((begin, time.time()))
        self.bench.page.send_signal(signal.SIGCONT)

    def push(self, name: str, speed: int | None = None) -> dict | None:
        """Press a button, or move the slider; return the command, or None if it was disabled."""
        start = time.time()
        if name == "OFF":
            # A real click, which fails if the button is disabled, covered, or out of view.
            self.page.locator("button.off").click(timeout=PATIENCE * 1000, no_wait_after=True)
            return {"name": "stop", "button": name, "body": {}, "start": start}
        if not self.page.evaluate(PRESS, [name, speed]):
            self.counts[f"{name} was disabled"] += 1
            return None
        body = {} if speed is None else {"parameters": {"speed": speed}}
        return {"name": name, "button": name, "body": body, "start": start}

    def finish(self, commands: list[dict]) -> None:
        """Wait for the outcomes of commands."""
        for command in commands:
            text = self.page.wait_for_function(OUTCOME, arg=command["button"], timeout=PATIENCE * 1000).json_value()[0]
            if not text and command["name"] == "stop":
                # Without a text, the outcome of OFF is of the past: something else was done since, or the pump was read
                # to be off.
                self.counts["OFF over"] += 1
                continue
            outcome = next((outcome for begin, outcome in OUTCOMES.items() if text.startswith(begin)), None)
            self.counts[f"{command['button']} {outcome}"] += 1
            if not outcome:
                self.flaw(f"{command['name']}: {text}")
            answer = types.SimpleNamespace(status=200 if outcome == "done" else 409, outcome=outcome, text=text)
            command["times"] = [(command["start"], time.time(), answer)]
            self.commands.append(command)

    # MARK: Checks

    def check_shown(self) -> None:
        # The last time at which the confirmation of OFF and the shown state did not contradict each other.
        agreed = 0.0
        for when, read, state, age, outcome, connection, link in self.shown:
            self.counts[f"shown {state}"] += 1
            where = f"shown at {when:.3f}: {state}, {age}, {connection}, {link}, {outcome}"
            lag = 0.05 + self.lag.longest
            if outcome.startswith("confirmed") and "off" not in self.truth.possible(when - CONFIRMED - lag, when):
                self.flaw(f"{where}: the pump is on")
            agreed = agreed if outcome.startswith("confirmed") and state == "on" else when
            if when - agreed > CONTRADICTION + lag:
                self.flaw(f"{where}: since {agreed:.3f}")
            if state not in ("on", "off"):
                continue
            if connection != "connected" or link != "connected":
                self.flaw(f"{where}: a state without a connection")
            # The shown state may lag behind the pump's messages, and lags further while the server is suspended.
            begin = min([when, *(first for first, last in self.silences if first < when < last + FREEZE + lag)])
            heard = self.last_heard(begin - FREEZE - lag)
            if heard is None:
                if self.last_heard(when) is None:
                    self.flaw(f"{where}: the pump never said so")
                continue
            since = (heard if read is None else read / 1000) - lag
            if state not in self.truth.possible(since, when):
                self.flaw(f"{where}: read at {since:.3f}, and not so since")
            if not age and state not in self.truth.possible(when - FRESHNESS - lag, when):
                self.flaw(f"{where}: not so in the last ten seconds, and no age is shown")
            # While the line is cut or the server is silent, a state may be shown only for a limited time.
            for causes, patience in ((self.cuts, truth.CUT_PATIENCE + 1), (self.silences, SILENCE)):
                if any(first + patience + lag < when < last for first, last in causes):
                    self.flaw(f"{where}: nothing was known")


if __name__ == "__main__":
    sys.exit(truth.check("shown", PageRun, truth.seeds((sys.argv + [""])[1], "1-100", "1-6"), WIDTH))

#!/usr/bin/env python3
"""Check that the HTTP server reports a pump truthfully while the line and the daemon fail at random moments.

    truth.py [SEEDS]

SEEDS is one seed (1234), a range (1-30, the default; in a soak 1-300), or the first of 300 seeds (1234+). Without
SEEDS, $SEEDS is used in the same way.

In each run a client switches a pump on and off and sets its speed, repeats requests, and reads its state, while the
daemon is killed, started and suspended, the pump unplugged, its replies lost and its button pressed. The bench's line
records every line between the pump and the daemon, also those that it does not pass on. From these lines the run
derives the pump's true state.

A reported state is a claim about an interval: from the pump's last answer, whose age at the report's `time` is
`ages_s.state`, until the report. The claim is false if the pump was in the other state during all of this interval. A
change after the last answer, which the server could not know of, does not make it false: `ages_s` tells the reader how
old the answer is. While a command is in flight to the pump, both states are possible. Some seconds after the line was
cut (CUT_PATIENCE), the server must not report `on` or `off` any more.
"""

import collections
import concurrent.futures
import datetime
import functools
import json
import os
import random
import signal
import sys
import threading
import time
import uuid

from bench import IS_SOAK, Bench, Lag, Stream, wait_until

API = "/api/v1"
# The number of runs at a time: more than processors, because a run mostly waits.
WIDTH = 8
# The time in seconds for which a pump whose line is cut may still be reported as on or off. Chosen: pumpctld notices a
# cut at once, and the rest is for a busy machine.
CUT_PATIENCE = 3


def seconds(text: str) -> float:
    """Convert a time of a report to seconds since 1970."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Truth:
    """The states in which the pump may have been at each time, derived from the lines that it received and sent."""

    def __init__(self) -> None:
        # The beginning of each span, and the possible states from then until the next span begins.
        self.spans: list[tuple[float, frozenset]] = [(0.0, frozenset({"off"}))]
        # The commands and button presses that the pump has not answered yet, with their times: "on" or "off" for a
        # command, None for a press.
        self.pending: list[tuple[float, str | None]] = []
        self.known = "off"
        self.lock = threading.Lock()

    def note(self, when: float) -> None:
        states = {self.known}
        for _, state in self.pending:
            states |= {state} if state else {"on", "off"}
        self.spans.append((when, frozenset(states)))

    def hear(self, when: float, sender: str, text: str, _: bool) -> None:
        """Take a line on the wire into account. It counts even if it is not passed on to the daemon."""
        with self.lock:
            if sender == "host":
                if text.upper() in ("ON", "OFF"):
                    self.pending.append((when, text.lower()))
                    self.note(when)
                return
            if text in ("PUMP:ON", "PUMP:OFF", "MANUAL:ON", "MANUAL:OFF"):
                state = text.partition(":")[2].lower()
                what = state if text.startswith("PUMP") else None
                for number, (_, pending) in enumerate(self.pending):
                    if pending == what:
                        del self.pending[number]
                        break
            elif text.startswith("STATUS:{State:O") and (not self.pending or self.pending[0][0] < when - 2):
                # The pump answers within 2 s: a command that is pending for longer was lost. The pump may have answered
                # the status before it got a later command.
                self.pending = [(time, state) for time, state in self.pending if time >= when - 2]
                state = text[14:].partition(",")[0].strip("}").lower()
            else:
                return
            self.known = state
            self.note(when)

    def press(self, when: float) -> None:
        with self.lock:
            self.pending.append((when, None))
            self.note(when)

    def possible(self, begin: float, end: float) -> set:
        """Return the states in which the pump may have been during an interval."""
        with self.lock:
            spans = [*self.spans, (float("inf"), frozenset())]
        found: set = set()
        for (start, states), (stop, _) in zip(spans, spans[1:]):
            if start <= end and stop >= begin:
                found |= states
        return found


class Run:
    """A run of one seed, with programs of its own: clients, failures at random moments, and checks at the end."""

    def __init__(self, seed: int) -> None:
        self.seed, self.random = seed, random.Random(seed)
        self.flaws: list[str] = []
        self.counts: collections.Counter = collections.Counter()
        self.truth, self.lag = Truth(), Lag()
        # The client's commands in their order, each with its `times`: for each request, the times at which it was sent
        # and answered, and the answer. A `stale` command names an older view than the client had.
        self.commands: list[dict] = []
        self.is_over = False
        # The intervals during which the line was cut.
        self.cuts: list[tuple[float, float]] = []
        # Each speed is used once, so that a SPEED line on the wire belongs to one command.
        self.speeds = self.random.sample(range(256), 256)

    def flaw(self, text: str) -> None:
        self.flaws.append(text)

    def run(self) -> None:
        with Bench() as self.bench:
            self.bench.line.listeners.append(self.truth.hear)
            self.bench.start_daemon()
            self.bench.start_page()
            self.token = self.bench.log_in()
            self.stream = Stream(self.bench, self.token)
            wait_until(lambda: self.stream.last, "a first event")
            threads = [threading.Thread(target=self.guarded, args=[work]) for work in self.clients()]
            for thread in threads:
                thread.start()
            try:
                self.trouble()
            finally:
                self.is_over = True
                for thread in threads:
                    thread.join()
            self.end()
            self.stream.close()
            self.check_stream()
            self.check_commands()
            if self.flaws:
                self.flaws += ["lines:"] + [f"  {t:.3f} {who} {text}{'' if passed else ' (lost)'}"
                                            for t, who, text, passed in self.bench.line.lines]

    def clients(self) -> list:
        """Return the functions that run at once, each on a thread, until `trouble` is over."""
        return [self.command, self.read, self.stop_often]

    def guarded(self, work) -> None:
        try:
            work()
        except Exception as error:
            self.flaw(f"{work.__name__}: {error!r}")

    # MARK: Trouble

    def pause(self, low: float, high: float) -> None:
        time.sleep(self.random.uniform(low, high))

    def trouble(self) -> None:
        bench = self.bench
        for _ in range(self.random.randint(5, 8)):
            self.pause(0.1, 1)
            kind = self.random.choice(["kill", "end", "suspend", "unplug", "lose", "press", "press lost"])
            self.counts[kind] += 1
            if kind in ("kill", "end"):
                bench.daemon.send_signal(signal.SIGKILL if kind == "kill" else signal.SIGTERM)
                bench.daemon.wait()
                self.pause(0, 1.5)
                bench.start_daemon()
            elif kind == "suspend":
                bench.daemon.send_signal(signal.SIGSTOP)
                if self.random.random() < 0.5:
                    self.pause(0, 0.5)
                    self.press()
                self.pause(0.1, 1.5) if self.random.random() < 0.8 else self.pause(5, 7)
                bench.daemon.send_signal(signal.SIGCONT)
            elif kind == "unplug":
                bench.line.unplug()
                begin = time.time()
                if self.random.random() < 0.5:
                    self.press()
                self.pause(0.1, 1.5) if self.random.random() < 0.7 else self.pause(3, 5)
                self.cuts.append((begin, time.time()))
                bench.line.plug()
            elif kind == "press":
                self.press()
            else:
                bench.line.lose(True)
                if kind == "press lost":
                    self.press()
                self.pause(0.1, 2)
                bench.line.lose(False)

    def press(self) -> None:
        self.truth.press(time.time())
        self.bench.control_pump("press")

    # MARK: The client

    def post(self, target: str, body: dict | None) -> tuple:
        start = time.time()
        answer = self.bench.ask("POST", f"{API}/devices/pump/{target}", body, self.token, limit=20)
        end = time.time()
        self.counts[f"{answer.status} {answer.outcome}".strip()] += 1
        # The server waits 5 s at most for the daemon; half a second is a margin.
        if end - start > 5.5 + self.lag.longest:
            self.flaw(f"{target} {body} was answered after {end - start:.2f} s: {answer}")
        kinds = {
            (200, "done"), (409, "not_sent"), (409, "nothing_changed"), (503, "not_sent"), (503, "nothing_changed"),
            (504, "unknown"), (504, "nothing_changed"), (429, "not_sent"),
        }
        if (answer.status, answer.outcome) not in kinds:
            self.flaw(f"{target} {body}: {answer}")
        if answer.status >= 400 and not (answer.json.get("detail") and answer.json.get("hint")):
            self.flaw(f"{target} {body} without a hint: {answer}")
        return start, end, answer

    def command(self) -> None:
        # Each thread has random numbers of its own, because the order in which threads draw is not reproducible.
        draw = random.Random(self.seed + 1_000_000)
        while not self.is_over:
            time.sleep(draw.uniform(0, 0.4))
            name = draw.choice(["on", "on", "off", "speed", "speed", "status", "temp"])
            body: dict = {"name": name}
            if name == "speed":
                body["parameters"] = {"speed": self.speeds.pop()}
            command = {"name": name, "body": body, "times": []}
            if name not in ("status", "temp"):
                body["id"] = str(uuid.UUID(int=draw.getrandbits(128)))
                body["seen"] = self.stream.last
                losses = [number for _, number, event, data in self.stream.events
                          if event in ("link", "state") and data.get("link") == "lost" or data.get("daemon") == "away"]
                if losses and draw.random() < 0.15:
                    body["seen"] = losses[-1] - 1
                    command["stale"] = True
            self.commands.append(command)
            again = None
            if "id" in body and draw.random() < 0.4:
                delay, is_new = draw.uniform(0, 0.4), draw.random() < 0.5
                def repeat() -> None:
                    time.sleep(delay)
                    command["times"].append(self.post("commands", body))
                again = threading.Thread(target=self.guarded, args=[repeat])
                again.start()
            command["times"].append(self.post("commands", body))
            if again:
                again.join()
                if draw.random() < 0.5:
                    # A repetition with a newer `seen` is still the same command, because its id is the same.
                    command["times"].append(self.post("commands", {**body, "seen": self.stream.last}))

    def stop_often(self) -> None:
        draw = random.Random(self.seed + 2_000_000)
        while not self.is_over:
            time.sleep(draw.uniform(0.5, 3))
            command = {"name": "stop", "body": {}, "times": []}
            command["times"].append(self.post("stop", None))
            self.commands.append(command)

    def read(self) -> None:
        draw = random.Random(self.seed + 3_000_000)
        while not self.is_over:
            time.sleep(draw.uniform(0, 0.5))
            self.look()

    def look(self) -> dict:
        """Read the devices, check the reported state of the pump, and return that state; {} if there was none."""
        start = time.time()
        answer = self.bench.ask("GET", f"{API}/devices", token=self.token, limit=20)
        self.counts[f"GET {answer.status}"] += 1
        if answer.status == 200:
            state = answer.json["devices"][0]["state"]
            self.check_state(state, seconds(answer.json["time"]), seconds(answer.json["time"]), "GET")
            return state
        if answer.status != 503 or not answer.json.get("hint"):
            self.flaw(f"GET: {answer}")
        # The server waits for the daemon up to 5 s, and then up to 5 s for each of two replies.
        if time.time() - start > 15.5 + self.lag.longest:
            self.flaw(f"GET was answered after {time.time() - start:.2f} s: {answer}")
        return {}

    def end(self) -> None:
        """Check that the link comes back after the trouble, and that a stop then switches the pump off."""
        wait_until(lambda: self.look().get("link") == "up", "a link after the trouble")
        start, end, answer = self.post("stop", None)
        self.commands.append({"name": "stop", "body": {}, "times": [(start, end, answer)]})
        state = self.bench.control_pump("state")["state"]
        if answer.status != 200 or state != "off":
            self.flaw(f"the last stop: {answer}, and the pump is {state}")
        if (found := self.look().get("values", {}).get("state")) != "off":
            self.flaw(f"behind the last stop the state is {found}")

    # MARK: Checks

    def check_state(self, state: dict, told: float, now: float, where: str) -> None:
        """Check a state of the pump.

        `told` is the time at which the daemon reported it to the server; `now` is the time of the server's report.
        """
        value = state["values"]["state"]
        self.counts[f"reported {value}"] += 1
        if value not in ("on", "off"):
            return
        if state["link"] != "up":
            self.flaw(f"{where}: {value} without a link: {state}")
            return
        # A state without an age comes from an answer that the daemon may have read late, after it was suspended. Then
        # the interval begins at the last line that showed the state. An acknowledgement (PUMP:ON, PUMP:OFF) is not such
        # a line, because it may belong to an earlier command.
        # The daemon may not have read lines that are younger than `lag`.
        lag = 0.05 + self.lag.longest
        heard = self.last_heard(told - lag)
        if heard is None:
            if self.last_heard(told + 0.001) is None:
                self.flaw(f"{where}: {value}, which the pump never said: {state}")
            return
        age = state["ages_s"]["state"]
        begin = (heard if age is None else told - age) - lag
        if value not in self.truth.possible(begin, now):
            self.flaw(f"{where}: {value} at {now:.3f}, last heard at {begin:.3f}, which was not so: {state}")
        if any(cut + CUT_PATIENCE + self.lag.longest < now < end for cut, end in self.cuts):
            self.flaw(f"{where}: {value} at {now:.3f}, while the line is cut: {state}")

    def last_heard(self, limit: float) -> float | None:
        """Return the time of the last line before `limit` that showed the pump's state and was passed on, or None."""
        return next((when for when, who, text, passed in reversed(self.bench.line.lines)
                     if who == "pump" and passed and when < limit and text.startswith(("STATUS:", "MANUAL:"))), None)

    def check_stream(self) -> None:
        last = 0
        for _, number, event, data in self.stream.events:
            if number < last:
                self.flaw(f"the number of an event went back from {last} to {number}")
            last = number
            if event == "state":
                self.check_state(data, seconds(data["time"]), seconds(data["time"]), f"event {number}")
            elif event in ("snapshot", "resync"):
                for device in data["devices"]:
                    if state := device.get("state"):
                        self.check_state(state, seconds(state["time"]), seconds(data["time"]), f"{event} {number}")

    def check_commands(self) -> None:
        lines = self.bench.line.lines
        # How late after the first answer a line may still be sent: a margin for the bench's own delays.
        slack = 0.5 + self.lag.longest
        claimed = []
        for number, command in enumerate(self.commands):
            start = min(times[0] for times in command["times"])
            end = max(times[1] for times in command["times"])
            first = min(times[1] for times in command["times"])
            answers = [times[2] for times in command["times"]]
            text = f"{command['body'] or 'stop'} {start:.3f}-{end:.3f}: {[str(answer) for answer in answers]}"
            heard = [line[2] for line in lines if line[1] == "pump" and line[3] and start <= line[0] <= end]
            if command["name"] in ("on", "speed"):
                speed = command["body"].get("parameters", {}).get("speed")
                sent = "ON" if speed is None else f"SPEED:{speed}"
                # All ON lines are alike, so only those before the next `on` belong to this one.
                later = [other for other in self.commands if other["name"] == command["name"] == "on"
                         and min(times[0] for times in other["times"]) > start]
                until = min((times[0] for other in later for times in other["times"]), default=float("inf"))
                found = [line[0] for line in lines if line[1:3] == ("host", sent) and start <= line[0] < until]
                claimed += found
                if len(found) > 1:
                    self.flaw(f"sent {len(found)} times: {text}")
                outcomes = {answer.outcome for answer in answers}
                if found and "not_sent" in outcomes:
                    self.flaw(f"sent at {found[0]:.3f}: {text}")
                if found and found[0] > first + slack:
                    self.flaw(f"sent late, at {found[0]:.3f}: {text}")
                if len(outcomes) > 1:
                    self.flaw(f"one command has several outcomes: {text}")
                acknowledgement = "PUMP:ON" if speed is None else sent
            else:
                # OFF is done only once a status shows it, so its own reply PUMP:OFF is not enough.
                acknowledgement = {"status": "STATUS:{", "temp": "TEMP:"}.get(command["name"], "STATUS:{State:OFF")
            if command.get("stale") and command["name"] != "off" and any(answer.status == 200 for answer in answers):
                self.flaw(f"its sender could not know the state: {text}")
            for begin, finish, answer in command["times"]:
                if answer.outcome == "done" and not any(line.startswith(acknowledgement) for line in heard):
                    self.flaw(f"the pump has acknowledged nothing: {text}, only {heard}")
                if answer.outcome == "done" and command["name"] in ("off", "stop") \
                        and "off" not in self.truth.possible(begin, finish):
                    self.flaw(f"the pump was not off: {text}")
        for when, who, what, _ in lines:
            if who == "host" and (what == "ON" or what.startswith("SPEED")) and when not in claimed:
                self.flaw(f"{what} at {when:.3f}, which nobody asked for")
            if who == "host" and what not in ("ON", "OFF", "STATUS", "TEMP") and not what.startswith("SPEED:"):
                self.flaw(f"{what!r} at {when:.3f}")


def run(kind: type[Run], seed: int) -> tuple[int, list[str], collections.Counter]:
    one = kind(seed)
    try:
        one.run()
    except Exception as error:
        one.flaw(f"the run failed: {error!r}")
    return seed, one.flaws, one.counts


def seeds(text: str, soak: str, usual: str) -> range:
    """Return the seeds that `text` or else $SEEDS names; by default the range `soak` in a soak, otherwise `usual`."""
    text = text or os.environ.get("SEEDS") or (soak if IS_SOAK else usual)
    if text.endswith("+"):
        return range(int(text[:-1]), int(text[:-1]) + int(soak.partition("-")[2]))
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def check(title: str, kind: type[Run], chosen: range, width: int) -> int:
    """Run all seeds, `width` at a time; print the flaws and counts, and return the exit status."""
    start, bad, counts = time.monotonic(), 0, collections.Counter()
    with concurrent.futures.ProcessPoolExecutor(width) as pool:
        for seed, flaws, some in pool.map(functools.partial(run, kind), chosen):
            counts += some
            if flaws:
                bad += 1
                print(f"FAIL  seed {seed}:", *flaws, sep="\n      ", flush=True)
    print(f"{title}:", json.dumps(dict(sorted(counts.items()))))
    print(f"{title}: {len(chosen)} runs, {bad} bad, {time.monotonic() - start:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(check("truth", Run, seeds((sys.argv + [""])[1], "1-300", "1-30"), WIDTH))

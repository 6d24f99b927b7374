#!/usr/bin/env python3
"""Check the answers and messages of the HTTP server when something outside of it fails.

    errors.py

Each failure must be reported in one sentence with advice: `detail` and `hint` in an answer, or a message and a hint on
standard error, with the failure's exit status.
"""

import json
import os
import signal
import socket
import sys
import threading
import time
import uuid

from bench import Answer, Bench, Checks, Lag, Stream, wait_until

API = "/api/v1"
STOP = f"{API}/devices/pump/stop"
COMMANDS = f"{API}/devices/pump/commands"


class FakeDaemon:
    """A listener at the daemon's socket that sends only `greeting` to each client, and with `closes` hangs up."""

    def __init__(self, path: str, greeting: bytes, closes: bool = False) -> None:
        self.path, self.greeting, self.closes = path, greeting, closes
        if os.path.exists(path):
            os.unlink(path)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(64)
        self.connections: list[socket.socket] = []
        threading.Thread(target=self.run, daemon=True).start()

    def run(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.greet, args=[connection], daemon=True).start()

    def greet(self, connection: socket.socket) -> None:
        try:
            connection.sendall(self.greeting)
        except OSError:
            pass
        if self.closes:
            connection.close()
        else:
            self.connections.append(connection)

    def end(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in self.connections:
            connection.close()
        os.unlink(self.path)


class Errors:
    def __init__(self, checks: Checks, lag: Lag) -> None:
        self.checks, self.lag = checks, lag

    def is_sentence(self, text: str, name: str) -> None:
        # The usual limit of a message is 20 words; more than 30 are surely more than one sentence.
        is_one = 0 < len(text.split()) <= 30 and not text.endswith(".")
        self.checks.check(f"{name}: one sentence", is_one, repr(text))

    def refused(self, name: str, answer: Answer, status: int, codes: str | tuple, outcome: str | tuple | None = None) -> None:
        """Check an answer that reports a failure: its status, its code (one of `codes`), its texts, and its outcome."""
        codes = (codes,) if isinstance(codes, str) else codes
        self.checks.check(f"{name}: {status} {codes[0]}", answer.status == status and answer.code in codes, answer)
        self.is_sentence(answer.json.get("detail", ""), name)
        self.checks.check(f"{name}: a hint", bool(answer.json.get("hint")), answer)
        self.checks.equal(f"{name}: type", answer.headers.get("content-type"), "application/problem+json")
        if outcome:
            outcomes = (outcome,) if isinstance(outcome, str) else outcome
            self.checks.check(f"{name}: outcome {outcome}", answer.outcome in outcomes, answer)

    def timed(self, name: str, limit: float, act) -> Answer:
        """Call `act`, and check that it takes less than `limit` seconds, plus a second, plus the machine's lag.

        The limits follow from the server's own time limit: it waits 5 s for an answer of the daemon. Some requests need
        two answers.
        """
        start = time.monotonic()
        answer = act()
        took = time.monotonic() - start
        self.checks.check(f"{name}: after {took:.1f} s", took < limit + 1 + self.lag.longest, limit)
        return answer

    def change(self, bench: Bench, token: str, seen: int, name: str = "on") -> Answer:
        return bench.ask("POST", COMMANDS, {"id": str(uuid.uuid4()), "seen": seen, "name": name}, token)

    # MARK: The daemon and the device

    def daemon_and_device(self) -> None:
        with Bench() as bench:
            bench.start_page()
            token = bench.log_in()
            def get() -> Answer:
                return bench.ask("GET", f"{API}/devices", token=token)
            def stop() -> Answer:
                return bench.ask("POST", STOP, token=token)
            def query() -> Answer:
                return bench.ask("POST", COMMANDS, {"name": "status"}, token)

            self.refused("no daemon, devices", self.timed("no daemon, devices", 6, get), 503, "daemon_away")
            self.refused("no daemon, stop", stop(), 503, "daemon_away", "not_sent")
            self.refused("no daemon, query", query(), 503, "daemon_away", "not_sent")
            stream = Stream(bench, token)
            wait_until(lambda: stream.events, "a first event")
            self.checks.equal("no daemon, the stream", stream.events[0][3].get("code"), "daemon_away")

            bench.start_daemon()
            wait_until(lambda: get().status == 200, "devices once the daemon runs")
            self.checks.equal("the daemon has come, stop", stop().status, 200)
            wait_until(lambda: stream.events[-1][2] != "daemon" and any(
                event[3].get("daemon") == "up" for event in stream.events), "the stream says that the daemon is there")

            number = len(stream.events)
            bench.daemon.send_signal(signal.SIGSTOP)
            pending = [threading.Thread(target=work) for work in [
                lambda: self.refused("suspended, stop", self.timed("suspended, stop", 5.5, stop), 504,
                                     ("daemon_silent", "no_answer"), "unknown"),
                lambda: self.refused("suspended, query", self.timed("suspended, query", 5.5, query), 503, "daemon_silent"),
                lambda: self.refused("suspended, devices", self.timed("suspended, devices", 11, get), 503, "daemon_silent"),
            ]]
            for thread in pending:
                thread.start()
            for thread in pending:
                thread.join()
            wait_until(lambda: any(event[3].get("daemon") == "away" for event in stream.events[number:]),
                       "the stream says that a suspended daemon is away", 12 + self.lag.longest)
            event = next(event for event in stream.events[number:] if event[3].get("daemon") == "away")
            self.checks.equal("suspended, the stream", event[3]["code"], "daemon_silent")
            self.refused("suspended, change", self.change(bench, token, stream.last), 503, "daemon_silent", "not_sent")
            bench.daemon.send_signal(signal.SIGCONT)
            wait_until(lambda: get().status == 200, "devices once the daemon is resumed")
            self.checks.equal("resumed, stop", stop().status, 200)

            number = len(stream.events)
            bench.daemon.kill()
            bench.daemon.wait()
            wait_until(lambda: any(event[3].get("daemon") == "away" for event in stream.events[number:]),
                       "the stream says that a killed daemon is away")
            away = next(event[1] for event in stream.events[number:] if event[3].get("daemon") == "away")
            bench.start_daemon()
            wait_until(lambda: any(event[3].get("daemon") == "up" for event in stream.events[number:]),
                       "the stream says that the daemon is back")
            self.refused("a view from before a restart", self.change(bench, token, away - 1), 409, "stale_view", "not_sent")

            self.refused("no such device", bench.ask("POST", f"{API}/devices/lamp/stop", token=token), 404,
                         "no_such_device", "not_sent")
            self.refused("no such device, state", bench.ask("GET", f"{API}/devices/lamp", token=token), 404, "no_such_device")

            # Other programs have taken all connections that the daemon accepts, which are 64. The page keeps its own.
            places = []
            for _ in range(80):
                places.append(socket.socket(socket.AF_UNIX))
                places[-1].connect(bench.socket)
                places[-1].recv(1000)
            self.checks.equal("no place, stop", stop().status, 200)
            self.checks.equal("no place, devices", get().status, 200)
            self.refused("no place, change", self.change(bench, token, stream.last), 503, "too_many_clients", "not_sent")
            for place in places:
                place.close()
            wait_until(lambda: query().status == 200, "a free place")

            # Unplug in mid-command: the pump receives ON, and its reply is lost.
            wait_until(lambda: get().json.get("devices", [{}])[0].get("up"), "a link")
            bench.line.lose(True)
            results: list[Answer] = []
            count = len(bench.line.lines)
            thread = threading.Thread(target=lambda: results.append(self.change(bench, token, stream.last)))
            thread.start()
            wait_until(lambda: any(line[1:3] == ("host", "ON") for line in bench.line.lines[count:]), "an ON on the wire")
            bench.line.unplug()
            thread.join()
            bench.line.lose(False)
            self.refused("unplugged in mid-command", results[0], 504, ("link_lost", "no_answer", "closed"), "unknown")
            wait_until(lambda: get().json.get("devices", [{}])[0].get("up") is False, "a lost link")
            self.refused("unplugged, change", self.change(bench, token, get().json["seen"]), 503, "device_away", "not_sent")
            self.refused("unplugged, stop", stop(), 503, "device_away", "not_sent")
            state = get().json["devices"][0]["state"]
            self.checks.equal("unplugged, state", state["values"]["state"], "unknown")
            bench.line.plug()
            wait_until(lambda: get().json["devices"][0]["state"]["link"] == "up", "a link again")
            self.checks.equal("plugged in again, stop", stop().status, 200)
            self.checks.equal("the pump is off", bench.control_pump("state")["state"], "off")
            stream.close()

    def other_daemons(self) -> None:
        with Bench(has_pump=False) as bench:
            bench.start_page()
            token = bench.log_in()
            hello = {"event": "hello", "devices": ["pump"], "time": "2026-01-01T00:00:00.000Z"}
            for name, greeting, closes, code in [
                    ("version 2", json.dumps({**hello, "version": 2}).encode() + b"\n", False, "daemon_version"),
                    ("no version", json.dumps(hello).encode() + b"\n", False, "daemon_version"),
                    ("another program", b"SSH-2.0-OpenSSH_9.2\r\n", False, "daemon_version"),
                    ("one that hangs up", b"", True, "daemon_lost"),
                    ("one that is silent", b"", False, "daemon_silent")]:
                fake = FakeDaemon(bench.socket, greeting, closes)
                answer = self.timed(f"{name}, stop", 5.5, lambda: bench.ask("POST", STOP, token=token))
                if greeting or closes:
                    self.refused(f"{name}, stop", answer, 503, code, "not_sent")
                else:
                    # The stop still waits for the daemon's greeting, and may be sent later.
                    self.refused(f"{name}, stop", answer, 504, "no_answer", "unknown")
                answer = bench.ask("GET", f"{API}/devices", token=token)
                self.checks.equal(f"{name}, devices", answer.status, 503, answer)
                fake.end()
            # A line without an end. A debug build takes seconds to search it, so 503 and 504 are both right.
            fake = FakeDaemon(bench.socket, b"x" * 20_000_000)
            answer = bench.ask("POST", STOP, token=token)
            self.checks.check("one that floods, stop", answer.status in (503, 504), answer)
            fake.end()
            self.checks.equal("the server still answers", bench.ask("GET", "/").status, 200)
            memory = bench.resources()[1]
            self.checks.check(f"memory behind a flood: {memory} KiB", memory < 150_000)
            self.checks.check("the server lives", bench.page.poll() is None, bench.log("page")[-2000:])

    # MARK: Files and addresses

    def failed(self, name: str, bench: Bench, arguments: list[str], status: int, *words: str) -> None:
        """Check that pumpctl-page ends with this exit status, and that its message contains the words."""
        ending = bench.run_page(*arguments)
        self.checks.equal(f"{name}: exit status", ending.returncode, status, ending.stderr)
        for word in words:
            self.checks.check(f"{name}: '{word}'", word in ending.stderr, ending.stderr)
        self.checks.check(f"{name}: nothing on standard output", not ending.stdout, ending.stdout)

    def files(self) -> None:
        with Bench(has_pump=False) as bench:
            bench.start_page()
            token = bench.log_in()
            path = bench.folder / "pumpctl-page/sessions"
            def session() -> Answer:
                return bench.ask("GET", f"{API}/session", token=token)
            self.checks.equal("the file of sessions is right", session().status, 200)
            text = path.read_text()
            for mode in (0o644, 0o660, 0o602):
                path.chmod(mode)
                self.refused(f"mode {mode:o} while serving", session(), 503, "sessions_unusable")
                self.checks.check(f"mode {mode:o}: the hint", "chmod 600" in session().json.get("hint", ""), session())
                self.failed(f"mode {mode:o} at the start", bench, ["--http", "0", "--socket", bench.socket], 78, "chmod 600", "hint:")
                self.failed(f"mode {mode:o}, --code", bench, ["--code"], 78, "chmod 600", "hint:")
            path.chmod(0o600)
            self.checks.equal("the mode is right again", session().status, 200)
            # A session that began in the future is refused: the clock was set back, so its end is unknown.
            record = json.loads(text)
            for name, new, status in [
                    ("the clock was set back", json.dumps({**record, "began": "2096-01-01T00:00:00.000Z"}) + "\n", 401),
                    ("damaged", text[:-20] + "\n", 401), ("empty", "", 401), ("another line is damaged", "junk\n\xff\n" + text, 200),
                    ("no scope", json.dumps({**record, "scope": "open"}) + "\n", 401),
                    ("right again", text, 200)]:
                path.write_text(new)
                self.checks.equal(f"the file of sessions, {name}", session().status, status)
            path.unlink()
            self.refused("no file of sessions", session(), 401, "wrong_token")
            path.mkdir()
            self.checks.check("a folder in its place", session().status in (401, 503), session())

    def addresses(self) -> None:
        with Bench(has_pump=False) as bench:
            bench.start_page()
            port = bench.address[1]
            # The program that holds the port belongs to this user, so the message names it.
            self.failed("port taken", bench, ["--http", str(port)], 69, f"127.0.0.1:{port}",
                        f"pumpctl-page (pid {bench.page.pid})", "hint:")
            for address in ("0.0.0.0:0", "192.0.2.1:8080", "[::]:0", "example.com:80", "[2001:db8::1]:80", "127.1:0", "128.0.0.1:0"):
                self.failed(f"address {address}", bench, ["--http", address], 64, "loopback", "hint:")
            for address in ("", "x", "70000", "-1", ":80", "127.0.0.1:", "80:127.0.0.1"):
                self.failed(f"address '{address}'", bench, ["--http", address], 64, "--http")
            self.failed("a socket's folder is missing", bench, ["--http", f"unix:{bench.folder}/none/x"], 71, "hint:")
            self.failed("a socket's path is too long", bench, ["--http", f"unix:{bench.folder}/{'x' * 200}"], 71, "hint:")
            path = bench.folder / "file"
            path.write_text("mine")
            self.failed("a file in the place of the socket", bench, ["--http", f"unix:{path}"], 69, "hint:")
            self.checks.equal("the file is still there", path.read_text(), "mine")
            self.failed("--revoke of none", bench, ["--revoke", "01234567"], 64, "--sessions")
            self.failed("an unknown option", bench, ["--htpp", "8080"], 64, "--htpp")
            for address in ("127.5.6.7:0", "[::1]:0", "localhost:0", f"unix:{bench.folder}/web"):
                page = bench.start("pumpctl-page", "--http", address, "--socket", bench.socket, output="other")
                wait_until(lambda: "serving at" in bench.log("other") or page.poll() is not None, "a server")
                self.checks.check(f"address {address} is served", page.poll() is None, bench.log("other"))
                if address.startswith("unix:"):
                    self.failed("the socket is taken", bench, ["--http", address], 69, "hint:")
                page.terminate()
                self.checks.equal(f"address {address}: SIGTERM ends it", page.wait(30), 0)
                (bench.folder / "other.log").unlink()
            # A connection that arrives while the program ends must not end it by a signal.
            for _ in range(8):
                page = bench.start("pumpctl-page", "--http", f"unix:{bench.folder}/web", "--socket", bench.socket, output="other")
                wait_until(lambda: "serving at" in bench.log("other") or page.poll() is not None, "a server", pause=0.001)
                with socket.socket(socket.AF_UNIX) as client:
                    client.connect(f"{bench.folder}/web")
                    page.terminate()
                self.checks.equal("SIGTERM and a connection", page.wait(30), 0, bench.log("other"))
                (bench.folder / "other.log").unlink()
            self.checks.check("the socket is removed", not (bench.folder / "web").exists())


def main() -> int:
    checks = Checks()
    errors = Errors(checks, Lag())

    def guarded(work) -> None:
        try:
            work()
        except Exception as error:
            checks.check(f"{work.__name__} ends", False, repr(error))

    threads = [threading.Thread(target=guarded, args=[work]) for work in (
        errors.daemon_and_device, errors.other_daemons, errors.files, errors.addresses)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"errors: {checks.count} checks, {checks.failed} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())

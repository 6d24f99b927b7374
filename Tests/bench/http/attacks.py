#!/usr/bin/env python3
"""Attack the HTTP server: check that no attack gets access, and that a pump can be stopped all the time.

    attacks.py

A thread stops the pump once a second during the attacks. Each of its requests must succeed, and the time that the
server and the daemon take is measured. At the end the server must have no more descriptors, and hardly more memory,
than after the first attacks.
"""

import concurrent.futures
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import threading
import time
import uuid

from bench import IS_SOAK, PROGRAMS, Bench, Checks, Client, Lag, Stream, request_bytes, wait_until

RECONNECTIONS = 10_000 if IS_SOAK else 900
# The user ID of `nobody`, who owns no files.
NOBODY = 65534
API = "/api/v1"
STOP = f"{API}/devices/pump/stop"
COMMANDS = f"{API}/devices/pump/commands"
SIMULATOR = f"{API}/devices/pump/simulator"
# The routes that need a token: the method, the path, the scope that the token must have, and a body.
ROUTES = [
    ("GET", f"{API}/session", "see", None),
    ("GET", f"{API}/devices", "see", None),
    ("GET", f"{API}/devices/pump", "see", None),
    ("GET", f"{API}/devices/pump/history", "see", None),
    ("GET", f"{API}/devices/pump/log", "see", None),
    ("GET", f"{API}/devices/pump/image", "see", None),
    ("GET", SIMULATOR, "see", None),
    ("GET", f"{API}/messages", "see", None),
    ("GET", f"{API}/findings", "see", None),
    ("GET", f"{API}/captures", "see", None),
    ("GET", f"{API}/captures/a", "see", None),
    ("GET", f"{API}/families", "see", None),
    ("GET", f"{API}/events", "see", None),
    ("POST", COMMANDS, "command", {"name": "status"}),
    ("POST", STOP, "command", None),
    ("POST", SIMULATOR, "command", {"verb": "press"}),
    ("POST", f"{API}/devices/pump/verify", "command", None),
    ("POST", f"{API}/devices/pump/latency", "command", None),
    ("POST", f"{API}/peer", "command", None),
    ("POST", f"{API}/peer/say", "command", {"text": "Hello"}),
    # Last, because it ends the session.
    ("DELETE", f"{API}/session", "see", None),
]


class Stopper:
    """Stops the pump once a second on one connection, which is opened again if the server closes it."""

    def __init__(self, bench: Bench, token: str) -> None:
        self.bench, self.token = bench, token
        self.answers: list[tuple[int, str]] = []
        # The time in seconds that the server and the daemon took for each stop: without the time from OFF on the wire
        # to the pump's last line.
        self.times: list[float] = []
        # The attack that went on during each of these stops.
        self.stages: list[str] = []
        self.stage = ""
        self.is_open = True
        # Held during each stop, and by `Attacks.settled` while it measures.
        self.turn = threading.Lock()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        client = self.bench.client()
        while self.is_open:
            with self.turn:
                start = time.time()
                client.send(request_bytes("POST", STOP, self.bench.headers(self.token)))
                answer = client.answer()
                end = time.time()
            self.answers.append((answer.status, str(answer)))
            self.stages.append(self.stage)
            lines = [line for line in self.bench.line.lines[-40:] if start <= line[0] <= end]
            begin = next((line[0] for line in lines if line[1:3] == ("host", "OFF")), None)
            last = max((line[0] for line in lines if line[1] == "pump"), default=None)
            self.times.append(end - start if begin is None or last is None else begin - start + max(end - last, 0))
            if answer.status == 0:
                client.close()
                client = self.bench.client()
            time.sleep(max(0, start + 1 - time.time()))
        client.close()

    def end(self, checks: Checks, lag: Lag) -> None:
        self.is_open = False
        self.thread.join()
        bad = [text for status, text in self.answers if status != 200]
        checks.check(f"each of {len(self.answers)} stops during the attacks succeeds", not bad, bad[:3])
        # 0.25 s is chosen, not measured. The longest time is only printed: it depends on the machine.
        median, longest = statistics.median(self.times), max(self.times)
        checks.check(
            f"a stop takes {median * 1000:.0f} ms, at most {longest * 1000:.0f} ms ({self.stages[self.times.index(longest)]}), "
            "without the pump's own time", median <= 0.25, f"the machine was late by {lag.longest * 1000:.0f} ms")


class Attacks:
    def __init__(self, bench: Bench, checks: Checks) -> None:
        self.bench, self.checks, self.port = bench, checks, bench.address[1]
        self.token = bench.log_in()
        self.pool = concurrent.futures.ThreadPoolExecutor(32)

    def raw(self, data: bytes, limit: float = 30):
        """Send bytes on a new connection, and return the first answer."""
        with self.bench.client(limit) as client:
            client.send(data)
            return client.answer()

    def with_headers(self, method: str, target: str, headers: list[tuple[str, str]]):
        return self.raw(request_bytes(method, target, [*headers, ("Authorization", f"Bearer {self.token}")]))

    def equal_all(self, name: str, cases: list, act, expected) -> None:
        """Call `act` with all cases at once, and check the results. `expected` is a value or a function of the case."""
        for case, found in zip(cases, self.pool.map(act, cases)):
            self.checks.equal(f"{name}: {case}", found, expected(case) if callable(expected) else expected)

    # MARK: Other sites

    def hosts(self) -> None:
        port = self.port
        other = port - 1
        wrong = [
            [f"evil.example:{port}"], [f"localhost:{other}"], [f"127.0.0.1:{other}"], ["localhost"], ["127.0.0.1"],
            [f"localhost:{port}", f"localhost:{port}"], [f"localhost:{port}", f"evil.example:{port}"], [], [""],
            [f"127.1:{port}"], [f"0x7f.1:{port}"], [f"0177.0.0.1:{port}"], [f"2130706433:{port}"], [f"localhost.:{port}"],
            [f"[::ffff:127.0.0.1]:{port}"], [f"127.0.0.1.nip.io:{port}"], [f"localhost.evil.example:{port}"],
            [f"user@localhost:{port}"], [f"localhost:{port}@evil.example"], [f"0.0.0.0:{port}"], [f"[::]:{port}"],
            [f"128.0.0.1:{port}"], [f"localhost:{port}, evil.example:{port}"], [f"[::1]x:{port}"], [f"[::1%lo]:{port}"],
            [f"http://localhost:{port}"], [f"localhost:{port}/"], [f":{port}"], [f"ⅼocalhost:{port}"],
        ]
        for method, target in [("GET", "/"), ("GET", f"{API}/devices"), ("POST", STOP), ("POST", SIMULATOR)]:
            def status(hosts):
                return self.with_headers(method, target, [("Host", host) for host in hosts]).status
            self.equal_all(f"wrong Host, {method} {target}", wrong, status, 421)
        right = [f"127.5.6.7:{port}", f"[::1]:{port}", f"localhost:{port}", f"LocalHost:{port}", f"127.0.0.1:{port}"]
        self.equal_all(
            "right Host", right, lambda host: self.with_headers("GET", f"{API}/session", [("Host", host)]).status, 200)
        self.checks.equal(
            "HTTP/1.0 without Host", self.raw(f"GET / HTTP/1.0\r\n\r\n".encode()).status, 421)
        self.checks.equal(
            "a target with another Host",
            self.with_headers("GET", f"http://evil.example:{port}/", [("Host", f"localhost:{port}")]).status, 400)

    def origins(self) -> None:
        host = ("Host", f"127.0.0.1:{self.port}")
        own = f"http://127.0.0.1:{self.port}"
        wrong = [
            [("Origin", "null")], [("Origin", f"http://127.0.0.1:{self.port - 1}")], [("Origin", "http://127.0.0.1")],
            [("Origin", f"http://rebind.example:{self.port}")], [("Origin", f"https://127.0.0.1:{self.port}")],
            [("Origin", f"http://localhost:{self.port}")], [("Origin", own + ".evil.example")], [("Origin", "")],
            [("Origin", own), ("Origin", own)], [("Origin", own + "/")], [("Origin", own + " http://evil.example")],
            [("Origin", "file://")], [("Origin", "chrome-extension://abc")],
            [("Sec-Fetch-Site", "same-site")], [("Sec-Fetch-Site", "cross-site")], [("Sec-Fetch-Site", "")],
            [("Origin", own), ("Sec-Fetch-Site", "cross-site")],
            [("Sec-Fetch-Site", "none"), ("Sec-Fetch-Site", "cross-site")],
        ]
        for method, target in [("GET", "/"), ("GET", f"{API}/session"), ("POST", STOP), ("POST", SIMULATOR), ("POST", f"{API}/session")]:
            self.equal_all(
                f"wrong origin, {method} {target}", wrong,
                lambda headers: self.with_headers(method, target, [host, *headers]).status, 403)
        right = [[("Origin", own)], [("Sec-Fetch-Site", "none")], [("Origin", own), ("Sec-Fetch-Site", "same-origin")]]
        self.equal_all(
            "right origin", right, lambda headers: self.with_headers("GET", f"{API}/session", [host, *headers]).status, 200)
        answer = self.with_headers("OPTIONS", COMMANDS, [
            host, ("Origin", own), ("Access-Control-Request-Method", "POST"),
            ("Access-Control-Request-Headers", "authorization")])
        self.checks.check(
            "no other site gets a permission", not any(name.startswith("access-control") for name in answer.headers),
            answer.headers)
        answer = self.bench.ask("GET", "/")
        for name, part in [
                ("content-security-policy", "default-src 'none'"), ("content-security-policy", "frame-ancestors 'none'"),
                ("content-security-policy", "require-trusted-types-for 'script'"),
                ("cross-origin-opener-policy", "same-origin"), ("cross-origin-resource-policy", "same-origin"),
                ("x-content-type-options", "nosniff"), ("cache-control", "no-store")]:
            self.checks.check(f"the page has {name}: {part}", part in answer.headers.get(name, ""), answer.headers)
        self.checks.check("no cookie", "set-cookie" not in answer.headers, answer.headers)

    # MARK: Other users of the computer

    def neighbours(self) -> None:
        """Act as another user of the computer, who has a server of the same kind on another port of 127.0.0.1."""
        if os.geteuid() != 0:
            print("note: only root can act as another user")
            return
        bench = self.bench
        # The files must be protected by their own permissions, so open the folders around them.
        for folder in (bench.folder, bench.folder / "pumpctl-page"):
            folder.chmod(0o755)
        program = pathlib.Path(shutil.copy(PROGRAMS / "pumpctl-page", bench.folder / "program"))
        home = bench.folder / "neighbour"
        home.mkdir()
        os.chown(home, NOBODY, NOBODY)
        environment = {**bench.environment, **dict.fromkeys(["HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"], str(home))}
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": [], "env": environment, "text": True}

        def run(*words) -> subprocess.CompletedProcess:
            return subprocess.run(words, capture_output=True, timeout=60, **user)

        for path in (bench.folder / "pumpctl-page/sessions", bench.socket):
            self.checks.check(f"{path} is there", os.path.exists(path))
            ending = run("test", "-r", path, "-o", "-w", path)
            self.checks.equal(f"a neighbour may not open {pathlib.Path(path).name}", ending.returncode, 1)
        address = f"127.0.0.1:{self.port}"
        code = run(program, "--code", "--http", address).stdout.strip().rpartition("#")[2]
        self.checks.check("a neighbour has codes of his own", code, "none")
        self.checks.equal(
            "a neighbour's code", bench.ask("POST", f"{API}/session", {"code": code}).status, 401)
        log = home / "log"
        with log.open("w") as stderr:
            server = subprocess.Popen(
                [program, "--http", "127.0.0.1:0", "--socket", bench.socket], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=stderr, **user)
        try:
            text = wait_until(
                lambda: "serving at " in log.read_text() and log.read_text(), "a neighbour's server that listens")
            port = int(text.split("serving at http://127.0.0.1:")[1].split("/")[0])
            code = run(program, "--code", "--http", f"127.0.0.1:{port}").stdout.strip().rpartition("#")[2]
            theirs = Client(("127.0.0.1", port))
            host = ("Host", f"127.0.0.1:{port}")
            theirs.send(request_bytes("POST", f"{API}/session", [host], json.dumps({"code": code}).encode()))
            token = theirs.answer().json.get("token", "")
            self.checks.check("a neighbour has a server of his own", token, "no token")
            theirs.send(request_bytes("POST", STOP, [host, ("Authorization", f"Bearer {token}")]))
            answer = theirs.answer()
            self.checks.equal(
                "a neighbour's server and the daemon", (answer.status, answer.code), (503, "daemon_not_permitted"), answer)
            self.checks.equal("a neighbour's token", bench.ask("POST", STOP, token=token).status, 401)
            origin = [*bench.headers(self.token), ("Origin", f"http://127.0.0.1:{port}"), ("Sec-Fetch-Site", "same-site")]
            self.checks.equal("a page of a neighbour's server", bench.ask("POST", STOP, headers=origin).status, 403)
            theirs.close()
        finally:
            server.kill()
            server.wait()

    # MARK: Tokens

    def edit_sessions(self, edit) -> None:
        """Call `edit` with each session in the server's file of sessions, and write the file."""
        path = self.bench.folder / "pumpctl-page/sessions"
        sessions = [json.loads(line) for line in path.read_text().splitlines()]
        for session in sessions:
            edit(session)
        new = path.with_name("edited")
        new.write_text("".join(json.dumps(session) + "\n" for session in sessions))
        new.chmod(0o600)
        new.rename(path)

    def expire(self, identifier: str) -> None:
        """Put the end of a session or code in the past, in the server's file."""
        def edit(session: dict) -> None:
            if session["id"] == identifier:
                session["ends"] = "2026-01-01T00:00:00.000Z"
        self.edit_sessions(edit)

    def status_of_route(self, method: str, target: str, body: dict | None, headers: list[tuple[str, str]]) -> int:
        data = None if body is None else json.dumps(body).encode()
        with self.bench.client(30) as client:
            client.send(request_bytes(method, target, headers, data))
            return client.answer().status

    def tokens(self) -> None:
        bench, token = self.bench, self.token
        listed = {
            (method.upper(), path.format(device="pump", capture="a"))
            for path, methods in bench.ask("GET", f"{API}/openapi.json").json["paths"].items()
            for method, operation in methods.items() if isinstance(operation, dict) and operation.get("security")}
        self.checks.equal("the attacked routes", {route[:2] for route in ROUTES}, listed)
        see, expired, revoked, old_code = bench.log_in("--see"), bench.log_in(), bench.log_in(), bench.code()
        identifier, secret = token.split(".")
        for which in (expired, old_code):
            self.expire(which.split(".")[0])
        ending = bench.run_page("--revoke", revoked.split(".")[0])
        self.checks.equal("a session is revoked", ending.returncode, 0, ending.stderr)
        wrong = {
            "wrong": f"{identifier}.{'0' * 64}", "of another session": f"{see.split('.')[0]}.{secret}",
            "prefix": token[:-1], "half": token[:40], "only the ID": identifier, "longer": token + "0",
            "in capitals": token.upper(), "expired": expired, "revoked": revoked, "a code": bench.code(),
        }
        forms = {name: [("Authorization", f"Bearer {value}")] for name, value in wrong.items()}
        forms |= {
            "none": [], "empty": [("Authorization", "")], "Basic": [("Authorization", f"Basic {token}")],
            "without a word": [("Authorization", token)], "twice": [("Authorization", f"Bearer {token}")] * 2,
            "two words": [("Authorization", f"Bearer {token} {token}")], "in a cookie": [("Cookie", f"token={token}")],
        }
        host = bench.headers()
        cases = [(name, *route) for name in forms for route in ROUTES]
        self.equal_all(
            "token", cases, lambda case: self.status_of_route(case[1], case[2], case[4], host + forms[case[0]]), 401)
        self.equal_all(
            "token that may only look", [route for route in ROUTES if route[2] == "command"],
            lambda route: self.status_of_route(route[0], route[1], route[3], bench.headers(see)), 403)
        self.equal_all(
            "token that may look", [route for route in ROUTES[:-1] if route[2] == "see"],
            lambda route: self.status_of_route(route[0], route[1], route[3], bench.headers(see)) in (401, 403), False)
        self.checks.equal("the session of 'see' still lives", bench.ask("GET", f"{API}/session", token=see).status, 200)
        self.checks.equal("log out", bench.ask("DELETE", f"{API}/session", token=see).status, 204)
        self.checks.equal("logged out", bench.ask("GET", f"{API}/session", token=see).status, 401)

        for name in ("token", "access_token", "authorization"):
            self.checks.equal(
                f"token in a query as '{name}'", bench.ask("GET", f"{API}/session?{name}={token}").status, 401)
            self.checks.equal(
                f"token in a query as '{name}', with the header",
                bench.ask("GET", f"{API}/session?{name}={token}", token=token).status, 400)

        code = bench.code()
        answers = list(self.pool.map(lambda _: bench.ask("POST", f"{API}/session", {"code": code}).status, range(8)))
        self.checks.equal("a code used by 8 at once", sorted(answers), [201] + [401] * 7)
        for name, value in [
                ("used", code), ("too old", old_code), ("a token", token), ("empty", ""), ("prefix", bench.code()[:-1])]:
            self.checks.equal(f"a code: {name}", bench.ask("POST", f"{API}/session", {"code": value}).status, 401)
        for body in ({}, {"code": 5}, {"code": None}, {"code": code, "more": 1}):
            self.checks.equal(f"a code: {body}", bench.ask("POST", f"{API}/session", body).status, 400)
        text = "".join(path.read_text() for path in (bench.folder / "pumpctl-page").iterdir()) + bench.log("page")
        self.checks.check("no secret in the file of sessions and the log", secret not in text and code not in text)

    def revoked_stream(self) -> None:
        """Check that a stream ends if its session is revoked."""
        token = self.bench.log_in()
        with self.bench.client() as client:
            client.send(request_bytes("GET", f"{API}/events", self.bench.headers(token)))
            self.checks.equal("a stream begins", client.answer().status, 200)
            self.bench.run_page("--revoke", token.split(".")[0])
            start = time.monotonic()
            self.checks.check("a revoked session's stream ends", client.is_closed())
            self.checks.check("… within 10 s", time.monotonic() - start < 10, time.monotonic() - start)

    # MARK: Requests that must do nothing

    def methods(self) -> None:
        bench, token = self.bench, self.token
        for method in ("GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "FOO"):
            for target in (STOP, COMMANDS):
                with bench.client() as client:
                    client.send(request_bytes(method, target, bench.headers(token)))
                    while b"\r\n" not in client.rest and client.more():
                        pass
                    status = int((client.rest.split() + [b"0", b"0"])[1])
                self.checks.check(f"{method} {target}", status in (400, 405), status)
        override = [*bench.headers(token), ("X-HTTP-Method-Override", "POST"), ("X-Method-Override", "POST")]
        self.checks.equal("GET that asks to be a POST", bench.ask("GET", STOP, headers=override).status, 405)
        for target in (f"{COMMANDS}?name=on", f"{STOP}?method=POST"):
            self.checks.equal(f"GET {target}", bench.ask("GET", target, token=token).status, 405)
        self.checks.equal("a change without id", bench.ask("POST", COMMANDS, {"name": "on"}, token).status, 400)
        seen = bench.ask("GET", f"{API}/devices", token=token).json["seen"]
        fresh = {"id": str(uuid.uuid4()), "seen": seen, "name": "on"}
        bad = {
            "no id": {**fresh, "id": None}, "id without form": {**fresh, "id": "x"}, "seen as text": {**fresh, "seen": str(seen)},
            "seen in the future": {**fresh, "seen": seen + 1_000_000}, "seen is negative": {**fresh, "seen": -1},
            "seen is old": {**fresh, "seen": 1}, "a line end": {**fresh, "name": "on\nON"}, "no such": {**fresh, "name": "ON"},
            "seen is huge": {**fresh, "seen": 10**30}, "a fraction": {**fresh, "seen": seen + 0.5},
            "parameters": {**fresh, "name": "speed", "parameters": {"speed": "5\nON"}},
            "more parameters": {**fresh, "parameters": {"speed": 5}}, "a member": {**fresh, "effect": "query"},
            "a verb": {**fresh, "do": "send", "line": "ON"}, "a device": {**fresh, "device": "other"},
        }
        for name, body in bad.items():
            body["id"] = str(uuid.uuid4()) if body["id"] == fresh["id"] else body["id"]
            answer = bench.ask("POST", COMMANDS, body, token)
            self.checks.check(f"a command: {name}", answer.status in (400, 409), answer)
            self.checks.equal(f"… its outcome", answer.outcome, "not_sent")
        # The device's port is a pseudo-terminal like a simulator's, but it is the end of the bench's line.
        answer = bench.ask("POST", SIMULATOR, {"verb": "press"}, token)
        self.checks.equal("an action at a device that is not simulated", (answer.status, answer.code), (404, "no_simulator"))
        for name in ("off%0AON", "pump%00", "..", "a" * 3000, "%F0%9F%92%A7", "pump%2Fstop"):
            answer = bench.ask("POST", f"{API}/devices/{name}/stop", token=token)
            self.checks.check(f"a device: {name[:20]}", answer.status in (400, 404), answer)

    def traversal(self) -> None:
        targets = [
            "/../../../../etc/passwd", "/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2f..%2fetc%2fpasswd",
            "/%252e%252e/%252e%252e/etc/passwd", "/..%5c..%5cetc%5cpasswd", "/..\\..\\etc\\passwd", "/.%2e/.%2e/etc/passwd",
            "/%c0%ae%c0%ae/%c0%ae%c0%ae/etc/passwd", "//etc/passwd", "/....//....//etc/passwd", "/..;/..;/etc/passwd",
            "/%2e%2e%00/etc/passwd", "/%uff0e%uff0e/etc/passwd", "/./etc/passwd", "/index.html/../../etc/passwd",
            f"{API}/devices/..%2f..%2fsession", f"{API}/devices/%2e%2e/session", f"{API}/devices/../session", "/%", "/%4",
            f"{API}/devices/pump/commands/../stop", "file:///etc/passwd", "etc/passwd", "*", "/%ff",
        ]
        def result(target):
            answer = self.with_headers("GET", target, self.bench.headers())
            return answer.status in (400, 404) and b"root:" not in answer.body
        self.equal_all("traversal", targets, result, True)

    # MARK: Bodies and framing

    def framing(self) -> None:
        bench, host, auth = self.bench, f"Host: 127.0.0.1:{self.port}\r\n", f"Authorization: Bearer {self.token}\r\n"
        def answers(text: str) -> list[int]:
            """Return the statuses of all answers until the server hangs up; the last one is -1 if it does not."""
            with bench.client(20) as client:
                client.send(text.encode("latin-1"))
                found = []
                try:
                    while (answer := client.answer()).status:
                        found.append(answer.status)
                except TimeoutError:
                    found.append(-1)
                return found
        end = f"GET {API}/session HTTP/1.1\r\n{host}{auth}Connection: close\r\n\r\n"
        get = end.replace("Connection: close\r\n", "")
        post = f"POST {API}/session HTTP/1.1\r\n{host}Content-Type: application/json\r\n"
        stop = f"POST {STOP} HTTP/1.1\r\n{host}{auth}"
        self.checks.equal("40 requests at once", answers(get * 39 + end), [200] * 40)
        self.checks.equal("a stop between others", answers(get + stop + "\r\n" + end), [200] * 3)
        code = json.dumps({"code": bench.code()})
        chunks = "".join(f"1\r\n{byte}\r\n" for byte in code) + "0\r\n\r\n"
        self.checks.equal("a chunked body", answers(post + "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + chunks), [201])
        smuggled = f"GET {API}/session HTTP/1.1\r\n{host}{auth}\r\n"
        bad = {
            "both lengths": f"Content-Length: {5 + len(smuggled)}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{smuggled}",
            "both lengths, turned": f"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n{smuggled}",
            "two lengths": f"Content-Length: 0\r\nContent-Length: {len(smuggled)}\r\n\r\n{smuggled}",
            "a negative length": "Content-Length: -1\r\n\r\n" + smuggled,
            "a length with a sign": "Content-Length: +2\r\n\r\n{}" + smuggled,
            "a huge length": f"Content-Length: {2**64}\r\n\r\n" + smuggled,
            "a wrong chunk": f"Transfer-Encoding: chunked\r\n\r\nxyz\r\n{smuggled}",
            "chunked twice": f"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n{smuggled}",
            "an unknown coding": f"Transfer-Encoding: gzip\r\n\r\n0\r\n\r\n{smuggled}",
            "a bare line feed": f"X: y\nContent-Length: 0\r\n\r\n{smuggled}",
            "a folded header": f"X: y\r\n Content-Length: 5\r\n\r\n{smuggled}",
            "a space before the colon": f"Content-Length : 5\r\n\r\n12345{smuggled}",
            "a body of a stop": f"Content-Length: {len(smuggled)}\r\n\r\n{smuggled}",
        }
        for name, rest in bad.items():
            for target, start in (("a log-in", post), ("a stop", stop)):
                found = answers(start + "Connection: close\r\n" + rest + "\r\n")
                # A stop is answered without waiting for its body, which must not be taken for a request.
                is_right = len(found) <= 1 and (found in ([400], [501], []) or target == "a stop" and found == [200])
                if name in ("a bare line feed", "a folded header"):
                    # The server may accept these as one header. Then the bytes after them are a second request.
                    is_right = len(found) <= 2
                if name == "a body of a stop" and target == "a log-in":
                    is_right = found == [400]
                self.checks.check(f"framing, {name}, {target}", is_right, found)
        for name, data in [
                ("TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200)), ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
                ("HTTP/0.9", b"GET /\r\n\r\n"), ("NUL", bytes(1000)), ("HTTP/3.0", b"GET / HTTP/3.0\r\n\r\n")]:
            with bench.client(30) as client:
                client.send(data)
                found = client.answer().status
            self.checks.check(f"framing, {name}", found in (0, 400, 421, 505), found)
        answer = bench.ask("GET", f"{API}/events", headers=[
            *bench.headers(self.token), ("Upgrade", "websocket"), ("Connection", "close, Upgrade")])
        self.checks.equal("no WebSocket", answer.status, 200)

        def body(data: bytes) -> int:
            return self.raw(request_bytes("POST", COMMANDS, bench.headers(self.token), data)).status
        self.checks.equal("a body of 1 MB", body(b" " * 1_000_000), 413)
        for name, data in [
                ("deep", b"[" * 16_000), ("empty", b""), ("twice a name", b'{"name":"status","name":"on"}'), ("a list", b"[]"),
                ("no UTF-8", b'{"name":"\xff"}'), ("two values", b'{"name":"status"} {}'), ("NaN", b'{"name":NaN}'),
                ("half a pair", b'{"name":"\\ud800"}')]:
            self.checks.check(f"a body: {name}", body(data) in (400, 415), body(data))
        plain = request_bytes("POST", COMMANDS, [*bench.headers(self.token), ("Content-Length", "17")]) + b'{"name":"status"}'
        self.checks.equal("a body that a form may send", self.raw(plain).status, 415)

    # MARK: Floods

    def floods(self) -> None:
        bench = self.bench
        get = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n".encode()
        for name, data in [
                ("100,000 headers", get + b"".join(b"X-%d: y\r\n" % index for index in range(100_000)) + b"\r\n"),
                ("a header of 2 MB", get + b"X: " + b"y" * 2_000_000 + b"\r\n\r\n"),
                ("a target of 2 MB", b"GET /" + b"y" * 2_000_000 + b" HTTP/1.1\r\n\r\n"),
                ("a header's name of 2 MB", get + b"y" * 2_000_000)]:
            answer = self.raw(data)
            self.checks.check(f"{name}", answer.status in (0, 400, 413, 431), answer)
        halves = []
        try:
            for _ in range(200):
                halves.append(bench.client())
                halves[-1].send(get + b"X-Half: ")
            self.checks.equal(
                f"half a header from 200, another gets in",
                [bench.ask("GET", f"{API}/session", token=self.token).status for _ in range(5)], [200] * 5)
        finally:
            for client in halves:
                client.close()

        def reconnect(count: int) -> int:
            done = 0
            for _ in range(count):
                with bench.client() as client:
                    client.send(request_bytes("GET", f"{API}/events", bench.headers(self.token)))
                    done += client.answer().status == 200
            return done
        share = RECONNECTIONS // 3 // 4
        self.checks.equal(
            f"{share * 4} reconnections", sum(self.pool.map(reconnect, [share] * 4)), share * 4)

    def settled(self, stopper: "Stopper") -> tuple[int, int]:
        """Return the server's number of descriptors and its memory, once the number of descriptors is constant."""
        found: list[int] = []
        def is_settled() -> bool:
            found.append(self.bench.resources()[0])
            return len(found) > 6 and len(set(found[-6:])) == 1
        with stopper.turn:
            wait_until(is_settled, "a constant number of descriptors", pause=0.1)
            return self.bench.resources()


# MARK: Slow clients

# The time in seconds after which a slow client gives up.
SLOW_PATIENCE = 120


def be_slow(bench: Bench, name: str, first: bytes, more: bytes | None, limit: float) -> float:
    """Send `first`, and then `more` again and again. Return the time in seconds until the server hangs up.

    If `more` is None, send as much as the server accepts, and read nothing.
    """
    start = time.monotonic()
    with bench.client() as client:
        if more is None:
            client.socket.settimeout(1)
            rest = memoryview(first)
            while time.monotonic() < start + SLOW_PATIENCE:
                # A full buffer is a time-out; if the server has hung up, sending fails.
                try:
                    rest = rest[client.socket.send(rest or b"\r\n"):]
                except TimeoutError:
                    continue
                except (BrokenPipeError, ConnectionResetError):
                    break
                time.sleep(0 if rest else 0.2)
            return time.monotonic() - start
        client.send(first)
        client.socket.settimeout(0.5)
        while time.monotonic() < start + SLOW_PATIENCE:
            try:
                if not client.more():
                    break
            except TimeoutError:
                client.send(more)
    return time.monotonic() - start


def slow_clients(checks: Checks, lag: Lag) -> None:
    """Check on a separate bench that the server hangs up on clients that are slow in different ways, all at once."""
    with Bench(has_pump=False) as bench:
        bench.start_page()
        token = bench.log_in()
        head = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{bench.address[1]}\r\n".encode()
        body = f"POST {COMMANDS} HTTP/1.1\r\nHost: 127.0.0.1:{bench.address[1]}\r\nAuthorization: Bearer {token}\r\n" \
            "Content-Type: application/json\r\n".encode()
        # The last number is the time in seconds after which the server hangs up, as in `PageSettings.Limits`: 10 for a
        # request's head, 15 for a body, 20 for a reader that takes nothing, 60 for the next head on a used connection.
        # On a busy machine, three times as long is accepted.
        cases = [
            ("says nothing", b"", b"", 10), ("sends half a request line", b"GET /", b"", 10),
            ("sends half a header", head + b"X", b"", 10), ("trickles a header", head + b"X: ", b"y", 10),
            ("trickles headers", head, b"X: y\r\n", 10),
            ("trickles a body", body + b"Content-Length: 1000\r\n\r\n", b" ", 15),
            ("trickles chunks", body + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", 15),
            ("reads nothing", (head + b"\r\n") * 40_000, None, 20),
        ]
        if IS_SOAK:
            cases += [("sends nothing more", head + b"\r\n", b"", 60), ("trickles a second", head + b"\r\nGET /", b"y", 60)]
        with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
            for case, took in zip(cases, pool.map(lambda case: be_slow(bench, *case), cases)):
                checks.check(
                    f"a client that {case[0]} is hung up on after {took:.1f} s", case[3] - 1 < took < case[3] * 3 + lag.longest,
                    f"expected {case[3]} s")


def main() -> int:
    checks, lag = Checks(), Lag()
    with Bench() as bench:
        bench.start_daemon()
        bench.start_page()
        attacks = Attacks(bench, checks)
        # A stream as an ordinary page has it. The attacks must not interrupt it.
        page = Stream(bench, bench.log_in())
        stopper = Stopper(bench, bench.log_in())
        slow = threading.Thread(target=slow_clients, args=[checks, lag])
        slow.start()

        def attack(*names: str) -> tuple[int, int]:
            for name in names:
                stopper.stage = name
                getattr(attacks, name)()
            return attacks.settled(stopper)

        first = attack("floods", "hosts", "tokens")
        last = attack("floods", "origins", "neighbours", "methods", "traversal", "framing", "revoked_stream", "floods")
        slow.join()
        stopper.end(checks, lag)
        checks.equal("the connections of an ordinary page's stream", page.connections, 1)
        numbers = [event[1] for event in page.events]
        checks.check("its events are in order, and none is missing", numbers == list(range(numbers[0], numbers[0] + len(numbers))))
        checks.check(f"descriptors: {first[0]} after the first third, {last[0]} at the end", last[0] <= first[0], "more")
        # The allowed growth, a tenth and 2 MiB, is chosen: the allocator keeps some freed memory.
        checks.check(
            f"memory: {first[1]} KiB after the first third, {last[1]} KiB at the end", last[1] <= first[1] * 1.1 + 2048, "more")
        started = [line for line in bench.line.lines if line[1] == "host" and line[2] not in ("OFF", "STATUS", "TEMP")]
        checks.check("nothing but OFF and questions reached the pump", not started, started[:3])
        checks.check("the server lives", bench.page.poll() is None, bench.log("page")[-2000:])
    print(f"attacks: {checks.count} checks, {checks.failed} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())

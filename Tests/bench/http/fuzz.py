#!/usr/bin/env python3
"""Send random and mutated requests to the HTTP server.

    fuzz.py [SEED]

The server must not end, must answer another client all the time, and must not answer 5xx except 503 and 504, which
report failures of the daemon and the device. Without SEED, $SEEDS names the seed; without both, the seed is always the
same, and in a soak a fresh one. A soak sends ten times as many bytes.
"""

import collections
import concurrent.futures
import json
import os
import random
import statistics
import sys
import threading
import time
import uuid

from bench import IS_SOAK, Bench, Checks, Lag, request_bytes

BYTES = 10_000_000 if IS_SOAK else 1_000_000
# The number of connections at a time.
WIDTH = 16
API = "/api/v1"
# Bytes that are inserted into requests.
PIECES = [
    b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"\0", b" ", b"\t", b":", b"/", b"%", b"%00", b"%2e%2e", b"..", b"?", b"&", b"=", b"#",
    b"{", b"}", b"[" * 40, b'"', b"\\", b"\\u0000", b"\\ud800", b"null", b"true", b"-1", b"1e999", b"9" * 30, b"\xff\xfe",
    b"HTTP/1.1", b"HTTP/0.9", b"GET ", b"POST ", b"DELETE ", b"Transfer-Encoding: chunked\r\n", b"Content-Length: 5\r\n",
    b"Content-Length: 99999999999999999999\r\n", b"Expect: 100-continue\r\n", b"Connection: close\r\n",
    b"Connection: upgrade\r\nUpgrade: h2c\r\n", b"Host: x\r\n", b"Authorization: Bearer \r\n", b"0\r\n\r\n", b"5\r\nabcde\r\n",
    b"ffffffffffffffff\r\n", b"x" * 9000, b"Last-Event-ID: -1\r\n", b"Last-Event-ID: 9223372036854775808\r\n",
]


class Fuzz:
    def __init__(self, bench: Bench, seed: int, lag: Lag) -> None:
        self.bench, self.seed, self.lag = bench, seed, lag
        # The second token is in no mutated request, so none can end its session.
        self.token, self.other_token = bench.log_in(), bench.log_in()
        self.statuses: collections.Counter = collections.Counter()
        self.failures: list[bytes] = []
        self.sent = 0
        self.lock = threading.Lock()

    def requests(self, source: random.Random) -> list[bytes]:
        """Return valid requests, to be mutated."""
        headers = self.bench.headers(self.token)
        def request(method: str, target: str, members: dict | None = None) -> bytes:
            return request_bytes(method, target, headers, None if members is None else json.dumps(members).encode())
        identifier = str(uuid.UUID(int=source.getrandbits(128)))
        change = {"id": identifier, "seen": source.getrandbits(63), "name": "speed", "parameters": {"speed": source.randrange(300)}}
        return [
            request("GET", "/"), request("GET", f"{API}/openapi.json"), request("GET", f"{API}/session"),
            request("GET", f"{API}/devices/pump"), request("GET", f"{API}/families"),
            request("POST", f"{API}/session", {"code": "0" * 8 + "." + "0" * 64}),
            request("POST", f"{API}/devices/pump/commands", {"name": "temp"}), request("POST", f"{API}/devices/pump/stop"),
            request("POST", f"{API}/devices/pump/commands", change), request("GET", f"{API}/events"),
            request("DELETE", f"{API}/nothing"), b"",
        ]

    def mutated(self, data: bytes, source: random.Random) -> bytes:
        text = bytearray(data)
        for _ in range(source.choice([0, 1, 1, 2, 4, 16])):
            place = source.randrange(len(text) + 1)
            match source.randrange(6):
                case 0 if text:
                    text[place % len(text)] ^= 1 << source.randrange(8)
                case 1:
                    text[place:place] = source.choice(PIECES)
                case 2:
                    del text[place:place + source.choice([1, 2, 8, 64])]
                case 3:
                    text[place:place] = text[place:place + source.randrange(200)]
                case 4:
                    text[place:place] = source.randbytes(source.choice([1, 4, 100]))
                case _:
                    if source.random() < 0.1:
                        del text[place:]
        return bytes(text)

    def play(self, number: int) -> None:
        """Send the requests of one connection, and count the statuses of the answers."""
        # A factor above the number of connections, so that neighbouring seeds share no connection.
        source = random.Random(self.seed * 1_000_003 + number)
        data = b""
        for _ in range(source.choice([1, 1, 2, 6])):
            data += source.randbytes(source.randrange(400)) if source.random() < 0.05 \
                else self.mutated(source.choice(self.requests(source)), source)
        with self.lock:
            self.sent += len(data)
        got = b""
        with self.bench.client() as client:
            start = 0
            while start < len(data):
                size = source.choice([1, 10, 500, 100_000])
                client.send(data[start:start + size])
                start += size
            # Not all requests are complete, so not all are answered.
            client.socket.settimeout(min(0.2 + self.lag.longest, 1))
            try:
                while client.more():
                    pass
            except TimeoutError:
                pass
            got = client.rest
        with self.lock:
            for part in got.split(b"HTTP/1.1 ")[1:]:
                status = part[:3]
                self.statuses[status.decode("latin-1")] += 1
                if status.startswith(b"5") and status not in (b"503", b"504"):
                    self.failures.append(data)

    def watch(self, checks: Checks, is_over: threading.Event) -> None:
        """Send valid requests as another client until the fuzzing is over, and check the answers and their times."""
        times, bad = [], []
        while not is_over.is_set():
            start = time.monotonic()
            answer = self.bench.ask("GET", f"{API}/session", token=self.other_token)
            times.append(time.monotonic() - start)
            if answer.status != 200:
                bad.append(str(answer))
            time.sleep(0.05)
        median, longest = statistics.median(times), max(times)
        checks.check(f"another client is answered {len(times)} times", not bad, bad[:3])
        checks.check(
            f"… in {median * 1000:.0f} ms, at most {longest * 1000:.0f} ms",
            median < 0.5 + self.lag.longest and longest < 15 + self.lag.longest)


def main() -> int:
    checks, lag = Checks(), Lag()
    text = (sys.argv + [""])[1] or os.environ.get("SEEDS", "")
    seed = int(text.split("-")[0].strip("+") or (int.from_bytes(os.urandom(4)) if IS_SOAK else 20261127))
    print(f"fuzz: seed {seed}", flush=True)
    with Bench() as bench:
        bench.start_daemon()
        bench.start_page()
        fuzz = Fuzz(bench, seed, lag)
        is_over = threading.Event()
        watcher = threading.Thread(target=fuzz.watch, args=[checks, is_over])
        watcher.start()
        number = 0
        try:
            with concurrent.futures.ThreadPoolExecutor(WIDTH) as pool:
                while fuzz.sent < BYTES and bench.page.poll() is None:
                    list(pool.map(fuzz.play, range(number, number + 10 * WIDTH)))
                    number += 10 * WIDTH
        except ConnectionRefusedError:
            pass
        is_over.set()
        watcher.join()
        checks.check(
            f"the server lives after {number} connections and {fuzz.sent} bytes", bench.page.poll() is None,
            bench.log("page")[-2000:])
        checks.check("the daemon lives", bench.daemon.poll() is None, bench.log("daemon")[-2000:])
        checks.check(f"no answer says that the server failed: {dict(sorted(fuzz.statuses.items()))}", not fuzz.failures,
                     fuzz.failures[:3])
        checks.check("some requests were right", fuzz.statuses["200"] > 20, fuzz.statuses)
        started = [line for line in bench.line.lines if line[1:3] == ("host", "ON")]
        checks.check("no ON reached the pump", not started, started[:3])
        answer = bench.ask("POST", f"{API}/devices/pump/stop", token=fuzz.other_token)
        checks.equal("a stop behind all that", answer.status, 200, answer)
    print(f"fuzz: {checks.count} checks, {checks.failed} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())

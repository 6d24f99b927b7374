"""Measure pumpctl-page: OFF by HTTP, its cost with many streams and idle, its start, recorded values and downloads."""
import contextlib
import http.client
import json
import os
import pathlib
import pty
import select
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import tty

from harness import Costs, Program, ended, medians, numbers
from sharing import Daemon, free_port, pump, socat

STOPS = 300
STREAMS = 128
DEVICES = 10
IDLE_S = 10
DAY_ROWS = 17_280
LOG_BYTES = 100_000_000


class TimedPump(threading.Thread):
    """A pump that replies at once, and notes the time of the last OFF and the number of lines.

    The time is that of `time.perf_counter()`.
    """

    REPLIES = {b"OFF": b"OK\r\nPUMP:OFF\r\n", b"TEMP": b"TEMP:{Water:12.0C,Skin:34.5C}\r\n"}
    STATUS = b"STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}\r\n"

    def __init__(self):
        super().__init__(daemon=True)
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        self.path, self.off, self.lines = os.ttyname(self.slave), 0.0, 0

    def run(self):
        rest = b""
        while True:
            rest += os.read(self.master, 4096)
            now = time.perf_counter()
            *lines, rest = rest.split(b"\n")
            for line in filter(None, map(bytes.strip, lines)):
                self.lines += 1
                if line == b"OFF":
                    self.off = now
                os.write(self.master, self.REPLIES.get(line, self.STATUS))

    def say(self, line):
        """Send an unsolicited line."""
        os.write(self.master, line + b"\r\n")


class Page(Costs):
    """pumpctl-page in front of a daemon, for the duration of the `with` block. `started` is the time to its first answer."""

    def __init__(self, daemon, folder):
        self.program = pathlib.Path(daemon.program).resolve().parent / "pumpctl-page"
        self.daemon, self.port = daemon, free_port()
        self.environment = dict(os.environ, XDG_STATE_HOME=str(folder))

    def __enter__(self):
        start = time.perf_counter()
        self.process = subprocess.Popen(
            [self.program, "--http", str(self.port), "--socket", self.daemon.socket], stderr=subprocess.DEVNULL,
            env=self.environment)
        while True:
            try:
                self.ask("GET", "/")
                break
            except ConnectionRefusedError:
                time.sleep(0.0005)
        self.started = time.perf_counter() - start
        code = subprocess.run(
            [self.program, "--http", str(self.port), "--code"], env=self.environment, stdout=subprocess.PIPE, text=True,
            check=True).stdout.partition("#")[2].strip()
        session = self.ask("POST", "/api/v1/session", json.dumps({"code": code}), {"Content-Type": "application/json"})
        self.headers = {"Authorization": "Bearer " + json.loads(session)["token"]}
        return self

    def __exit__(self, *_):
        self.process.terminate()
        ended(self.process)

    def connection(self):
        """Return an open connection to the page."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def ask(self, method, path, body=None, headers=None):
        """Send a request on a connection of its own; return the body of the response."""
        with contextlib.closing(self.connection()) as connection:
            connection.request(method, path, body, headers if headers is not None else getattr(self, "headers", {}))
            return connection.getresponse().read()

    def stops(self, pump_, name):
        """Stop a pump several times on one connection; return the times until the bytes are at the pump, in ms."""
        times = []
        with contextlib.closing(self.connection()) as connection:
            for _ in range(STOPS):
                start = time.perf_counter()
                connection.request("POST", f"/api/v1/devices/{name}/stop", headers=self.headers)
                response = json.loads(connection.getresponse().read())
                if response.get("outcome") != "done":
                    raise SystemExit(f"run: a stop by HTTP failed: {response}")
                times.append((pump_.off - start) * 1000)
                time.sleep(0.01)
        return sorted(times)

    @contextlib.contextmanager
    def streams(self, count):
        """Read several streams of events, for the duration of the `with` block."""
        sockets = []
        for _ in range(count):
            one = socket.create_connection(("127.0.0.1", self.port))
            one.sendall((f"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
                         f"Authorization: {self.headers['Authorization']}\r\n\r\n").encode())
            sockets.append(one)
        is_over = threading.Event()

        def drain():
            while not is_over.is_set():
                for one in select.select(sockets, [], [], 0.2)[0]:
                    one.recv(65536)

        reader = threading.Thread(target=drain)
        reader.start()
        try:
            yield
        finally:
            is_over.set()
            reader.join()
            for one in sockets:
                one.close()


def add_stops(table, what, times, median, worst):
    """Add rows for sorted times in ms, with the goals for their median and for their 99th percentile."""
    percentile = times[int(len(times) * 0.99)]
    table.add(what, f"{statistics.median(times):.1f} ms", "", "", f"≤ {median} ms", statistics.median(times) <= median)
    table.add("… its 99th percentile", f"{percentile:.1f} ms", "", "", f"≤ {worst} ms", percentile <= worst)


def work(table, options, folder):
    """Measure a page with some pumps: its start, idle, OFF, and OFF beside many streams and the download of a log."""
    pumps = {f"pump{index}": TimedPump() for index in range(DEVICES)}
    with Program(options.peers / "storm", 4 * LOG_BYTES, lines=1) as sensor:
        devices = {name: pump(pump_.path) for name, pump_ in pumps.items()}
        devices["storm"] = {"endpoint": sensor.said[0], "family": "storm"}
        with Daemon(options.pumpctld, folder, devices) as daemon, Page(daemon, folder) as page:
            # Start the pumps only now. While the daemon starts, their busy threads would keep this program from reading
            # all notices of the daemon.
            for pump_ in pumps.values():
                pump_.start()
            table.add("the start of pumpctl-page, until its first answer", f"{page.started * 1000:.0f} ms", "", "", "≤ 60 ms",
                      page.started <= 0.06)
            stripped = folder / "stripped"
            subprocess.run(["strip", "-o", stripped, page.program], check=True)
            size = os.stat(stripped).st_size / 1e6
            table.add("… its size, stripped", f"{size:.1f} MB", "", "", "≤ 30 MB", size <= 30)
            # Wait until the threads of the start have ended: a thread that ends takes its count of switches with it.
            time.sleep(8)
            memory, before = page.memory("VmRSS"), page.switches()
            lines = sum(pump_.lines for pump_ in pumps.values())
            time.sleep(IDLE_S)
            rate = (page.switches() - before) / IDLE_S
            asked = sum(pump_.lines for pump_ in pumps.values()) - lines
            table.add("… idle, its memory", f"{memory:.1f} MiB", "", "", "≤ 30 MiB", memory <= 30)
            table.add("… its wake-ups", f"{rate:.1f} /s", "", "", "≤ 1 /s", rate <= 1)
            table.add("… lines to the devices", f"{asked}", "", "", "0", asked == 0)
            add_stops(table, "OFF by HTTP, until it is at the pump", page.stops(pumps["pump0"], "pump0"), 5, 20)
            with page.streams(STREAMS):
                time.sleep(1)
                before, start = page.cpu(), time.monotonic()
                for _ in range(IDLE_S):
                    for pump_ in pumps.values():
                        pump_.say(b"MANUAL:OFF")
                        time.sleep(1 / DEVICES)
                load = (page.cpu() - before) / (time.monotonic() - start) * 100
                table.add(f"{STREAMS} streams, {DEVICES} devices, an event a second each", f"{load:.1f} % of a core", "", "",
                          "≤ 5 %", load <= 5)
                download = subprocess.Popen(
                    ["curl", "-s", "-o", "/dev/null", "-H", "Authorization: " + page.headers["Authorization"],
                     f"http://127.0.0.1:{page.port}/api/v1/devices/storm/log"])
                add_stops(table, "OFF by HTTP beside these and the download of a log",
                          page.stops(pumps["pump0"], "pump0"), 7.5, 30)
                if download.poll() is not None:
                    raise SystemExit("run: the download ended too early")
                download.terminate()
                ended(download)
            memory = page.memory()
            table.add("… peak memory of pumpctl-page", f"{memory:.1f} MiB", "", "", "≤ 40 MiB", memory <= 40)


def history(table, options, folder):
    """Measure a day of recorded values as the columns of a plot."""
    os.environ["XDG_DATA_HOME"] = str(folder)
    try:
        device = TimedPump()
        device.start()
        with Daemon(options.pumpctld, folder, {"pump": pump(device.path, record=True)}) as daemon, \
                Page(daemon, folder) as page:
            page.ask("GET", "/api/v1/devices")
            database = folder / "pumpctl/record.sqlite"
            deadline = time.monotonic() + 30
            while not database.exists() or not json.loads(page.ask("GET", "/api/v1/devices/pump/history")).get("rows"):
                if time.monotonic() > deadline:
                    raise SystemExit("run: no value was recorded")
            with contextlib.closing(sqlite3.connect(database, timeout=30)) as record, record:
                session, latest, kind, reading = record.execute(
                    "SELECT session_id, time_ms, kind, reading FROM telemetry LIMIT 1").fetchone()
                record.executemany(
                    "INSERT INTO telemetry (session_id, time_ms, kind, reading) VALUES (?, ?, ?, ?)",
                    [(session, latest - 5000 * number, kind, reading.replace("34.5", f"{34.5 + number % 50 / 10:.1f}"))
                     for number in range(1, DAY_ROWS)])

            def fold():
                start = time.perf_counter()
                series = json.loads(page.ask("GET", "/api/v1/devices/pump/history?columns=860"))["series"]
                if max(len(one["points"]) for one in series) < 860:
                    raise SystemExit("run: the day has too few points")
                return [(time.perf_counter() - start) * 1000]

            result = medians(options.rounds, {"day": fold})["day"][0]
    finally:
        del os.environ["XDG_DATA_HOME"]
    table.add(f"a day of {DAY_ROWS} readings as 860 columns", f"{result:.0f} ms ± {result.spread:.0%}", "", "", "≤ 60 ms",
              result <= 60)


def downloads(table, options, folder):
    """Compare the download of a log by HTTP with one from the pseudo-terminal by socat."""
    download = options.peers / "download"
    with Program(options.peers / "storm", LOG_BYTES, lines=1) as shared, \
            Program(options.peers / "storm", LOG_BYTES, lines=1) as relayed:

        def by_socat():
            port = free_port()
            with socat(f"TCP-LISTEN:{port},bind=127.0.0.1,reuseaddr", f"{relayed.said[0]},raw,echo=0"):
                return numbers(download, port, LOG_BYTES)

        with Daemon(options.pumpctld, folder, {"storm": {"endpoint": shared.said[0], "family": "storm"}}) as daemon, \
                Page(daemon, folder) as page:

            def by_http():
                """Return the rate from the first byte of the log to the last, as `download` does.

                The answer ends later: silence is the only sign that a log is over.
                """
                connection = http.client.HTTPConnection("127.0.0.1", page.port)
                connection.request("GET", "/api/v1/devices/storm/log", headers=page.headers)
                answer = connection.getresponse()
                received = start = last = 0
                while piece := answer.read1(1 << 16):
                    last = time.perf_counter()
                    start = start or last
                    received += len(piece)
                connection.close()
                # The answer has no prefix of the protocol.
                if answer.status != 200 or received != LOG_BYTES - len("LOG Values: "):
                    sys.exit(f"run: the log by HTTP has {received} bytes, and the status {answer.status}")
                return [received / 1e6 / (last - start)]

            by_http()
            before = page.memory()
            result = medians(min(options.rounds, 3), {"page": by_http, "socat": by_socat})
            grown = page.memory() - before
    ours, peer = result["page"][0], result["socat"][0]
    table.add("a log by HTTP", f"{ours:.1f} MB/s", f"{peer:.1f} MB/s (socat)", f"{ours / peer:.2f}", "≥ 0.5",
              ours >= 0.5 * peer)
    table.add("… the peak memory of pumpctl-page grows by", f"{grown:.1f} MiB", "", "", "≤ 1 MiB", grown <= 1)


def measure(table, options):
    for part in (work, history, downloads):
        with tempfile.TemporaryDirectory(prefix="pumpctl-benchmark-") as folder:
            part(table, options, pathlib.Path(folder))

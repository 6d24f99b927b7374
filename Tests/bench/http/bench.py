"""A bench for the HTTP server: a simulated pump, a line that can be cut, pumpctld and pumpctl-page.

The programs are those in $PUMPCTL_PROGRAMS, or else in .build/debug. Each bench has a folder of its own, and the system
chooses the server's port.
"""

import contextlib
import errno
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import tty

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAMS = pathlib.Path(os.environ.get("PUMPCTL_PROGRAMS") or ROOT / ".build/debug")
# The time limit in seconds for anything that is waited for; only a program that hangs reaches it.
PATIENCE = 60
# Whether this is a soak, in which everything is done more often: SOAK is set, or SEEDS ends in "+".
IS_SOAK = bool(os.environ.get("SOAK")) or os.environ.get("SEEDS", "").endswith("+")


def wait_until(condition, subject: str, limit: float = PATIENCE, pause: float = 0.02):
    """Wait until the result of `condition` is true, and return the result. `subject` names it in the error."""
    deadline = time.monotonic() + limit
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"in {limit} s not: {subject}")
        time.sleep(pause)
    return value


class Checks:
    """Prints a line for each check, and counts the failed ones."""

    def __init__(self) -> None:
        self.count = self.failed = 0
        self.lock = threading.Lock()

    def check(self, name: str, is_right: bool, detail: object = "") -> bool:
        with self.lock:
            self.count += 1
            self.failed += not is_right
            print(f"ok    {name}" if is_right else f"FAIL  {name}: {detail}", flush=True)
        return is_right

    def equal(self, name: str, found: object, expected: object, detail: object = "") -> bool:
        return self.check(name, found == expected, f"{found}, expected {expected} {detail}")


class Lag:
    """Measures by how much this machine is late at most, in seconds. Checks add that to their time limits."""

    def __init__(self) -> None:
        self.longest = 0.0
        threading.Thread(target=self.run, daemon=True).start()

    def run(self) -> None:
        while True:
            start = time.monotonic()
            time.sleep(0.02)
            self.longest = max(self.longest, time.monotonic() - start - 0.02)


# MARK: The line


class Line:
    """The wire between a pump and the daemon: records all lines, can be cut, and can lose the pump's lines.

    The daemon's end is a pseudo-terminal with a symbolic link to it, a new one each time that the line is plugged in.
    """

    def __init__(self, pump: str, link: str) -> None:
        self.link = link
        self.pump = os.open(pump, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self.pump)
        self.host: int | None = None
        # The lines in their order: the time, "host" or "pump" for the sender, the text, and whether it was passed on.
        self.lines: list[tuple[float, str, str, bool]] = []
        self.is_losing = False
        self.lock = threading.Lock()
        self.listeners: list = []
        self.is_open = True
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def plug(self) -> None:
        with self.lock:
            if self.host is not None:
                return
            host, port = os.openpty()
            tty.setraw(port)
            os.set_blocking(host, False)
            path = os.ttyname(port)
            # Until the daemon opens the port, the pump's output is lost, as on a real line.
            os.close(port)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.link)
            os.symlink(path, self.link)
            self.host = host

    def unplug(self) -> None:
        with self.lock:
            if self.host is None:
                return
            os.unlink(self.link)
            os.close(self.host)
            self.host = None

    @property
    def is_plugged(self) -> bool:
        return self.host is not None

    def lose(self, is_losing: bool) -> None:
        """Lose the pump's lines from now on, or pass them on again."""
        self.is_losing = is_losing

    def note(self, sender: str, text: bytes, is_passed: bool) -> None:
        entry = (time.time(), sender, text.decode(errors="replace"), is_passed)
        self.lines.append(entry)
        for listener in self.listeners:
            listener(*entry)

    def close(self) -> None:
        self.is_open = False
        self.unplug()
        self.thread.join()
        os.close(self.pump)

    def run(self) -> None:
        begun = {"host": b"", "pump": b""}
        owner = None
        while self.is_open:
            with self.lock:
                host = self.host
            if host != owner:
                owner, begun["host"] = host, b""
            poll = select.poll()
            poll.register(self.pump, select.POLLIN)
            if host is not None:
                poll.register(host, select.POLLIN)
            events = dict(poll.poll(5))
            is_host_open = host is not None and not events.get(host, 0) & (select.POLLHUP | select.POLLNVAL)
            with self.lock:
                # If the line was unplugged during the poll, another file may have the descriptor's number now.
                if host is None or self.host != host:
                    host = None
                if host is not None and events.get(host, 0) & select.POLLIN:
                    self.pass_to_pump(host, begun)
                if events.get(self.pump, 0) & select.POLLIN:
                    self.pass_to_host(host if is_host_open else None, begun)
            # A pseudo-terminal that the daemon does not have open ends each poll at once.
            if not is_host_open and not events.get(self.pump):
                time.sleep(0.002)

    def pass_to_pump(self, host: int, begun: dict) -> None:
        try:
            data = os.read(host, 4096)
        except OSError as error:
            if error.errno in (errno.EIO, errno.EAGAIN):
                return
            raise
        *lines, begun["host"] = (begun["host"] + data.replace(b"\r", b"\n")).split(b"\n")
        for line in lines:
            if line:
                self.note("host", line, True)
        os.write(self.pump, data)

    def pass_to_host(self, host: int | None, begun: dict) -> None:
        try:
            data = os.read(self.pump, 4096)
        except OSError as error:
            if error.errno in (errno.EIO, errno.EAGAIN):
                time.sleep(0.01)
                return
            raise
        *lines, begun["pump"] = (begun["pump"] + data).split(b"\n")
        for line in lines:
            is_passed = host is not None and not self.is_losing
            if line.strip():
                self.note("pump", line.strip(), is_passed)
            if is_passed:
                with contextlib.suppress(OSError):
                    os.write(host, line + b"\n")


# MARK: HTTP by socket


class Answer:
    """A response: its status, its headers by names in lower case, and its body; status 0 if the server hung up."""

    def __init__(self, status: int, headers: dict, body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self) -> dict:
        try:
            value = json.loads(self.body)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    @property
    def code(self) -> str:
        return self.json.get("code", "")

    @property
    def outcome(self) -> str:
        return self.json.get("outcome", "")

    def __str__(self) -> str:
        return f"{self.status} {self.body[:300]!r}"


class Client:
    """A connection to the server on which any bytes can be sent."""

    def __init__(self, address: tuple[str, int], limit: float = PATIENCE) -> None:
        self.socket = socket.create_connection(address, timeout=limit)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        """Send bytes. No error if the server has hung up: `answer` then returns status 0."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.socket.sendall(data)

    def more(self) -> bool:
        """Receive bytes into `rest`; return False if the server has ended the connection."""
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            data = b""
        self.rest += data
        return bool(data)

    def is_closed(self) -> bool:
        """Wait until the server ends the connection; return True. A silence up to the time limit is a TimeoutError."""
        while self.more():
            pass
        return True

    def answer(self) -> Answer:
        """Wait for the next response. A silence up to the time limit is a TimeoutError."""
        while b"\r\n\r\n" not in self.rest:
            if not self.more():
                return Answer(0, {}, self.rest)
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        first, *fields = head.decode("latin-1").split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
        length = int(headers.get("content-length", 0))
        while len(self.rest) < length and self.more():
            pass
        body, self.rest = self.rest[:length], self.rest[length:]
        return Answer(int(first.split()[1]), headers, body)


def request_bytes(method: str, target: str, headers: list[tuple[str, str]], body: bytes | None = None) -> bytes:
    head = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    if body is not None:
        head += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join(head).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + (body or b"")


# MARK: The programs


class Bench:
    """The programs. The pump and its line start at once, the others by `start_daemon` and `start_page`."""

    def __init__(self, has_pump: bool = True) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="http-"))
        self.environment = {
            **os.environ, "HOME": str(self.folder), "XDG_STATE_HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder),
            "PUMPCTL_RECORD": "0", "SWIFT_BACKTRACE": "enable=no",
        }
        self.environment.pop("PUMPCTLD_SOCKET", None)
        self.socket = str(self.folder / "daemon")
        self.port_path = str(self.folder / "pump")
        self.control = str(self.folder / "control")
        self.processes: list[subprocess.Popen] = []
        self.line = self.daemon = self.page = None
        self.address = ("127.0.0.1", 0)
        if has_pump:
            pump = str(self.folder / "simulator")
            process = self.start("pumpctl", "sim", "pump", "--unpaced", "--link", pump, "--control", self.control, output="pump")
            wait_until(lambda: os.path.exists(pump) and os.path.exists(self.control) or process.poll() is not None, "a pump")
            self.line = Line(pump, self.port_path)
            self.line.plug()

    def __enter__(self) -> "Bench":
        return self

    def __exit__(self, *_) -> None:
        if self.line:
            self.line.close()
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, name: str, *arguments: str, output: str) -> subprocess.Popen:
        with open(self.folder / f"{output}.log", "ab") as log:
            process = subprocess.Popen(
                [PROGRAMS / name, *arguments], env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.processes.append(process)
        return process

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def start_daemon(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.socket)
        self.daemon = self.start(
            "pumpctld", "--port", self.port_path, "--name", "pump", "--socket", self.socket, output="daemon")
        wait_until(
            lambda: os.path.exists(self.socket) or self.daemon.poll() is not None, "a daemon that listens")
        assert self.daemon.poll() is None, self.log("daemon")

    def start_page(self, *arguments: str) -> None:
        before = len(self.log("page")) if (self.folder / "page.log").exists() else 0
        self.page = self.start(
            "pumpctl-page", "--http", f"127.0.0.1:{self.address[1]}", "--socket", self.socket, *arguments, output="page")
        text = wait_until(
            lambda: "serving at " in self.log("page")[before:] and self.log("page")[before:] or self.page.poll() is not None,
            "a server that listens")
        assert self.page.poll() is None, self.log("page")
        self.address = ("127.0.0.1", int(text.split("serving at http://127.0.0.1:")[1].split()[0]))

    def run_page(self, *arguments: str) -> subprocess.CompletedProcess:
        """Run pumpctl-page until it ends."""
        return subprocess.run(
            [PROGRAMS / "pumpctl-page", *arguments], env=self.environment, capture_output=True, text=True, timeout=PATIENCE)

    def code(self, *arguments: str) -> str:
        """Return a new one-time code."""
        return self.run_page("--code", *arguments).stdout.strip().rpartition("#")[2]

    def log_in(self, *arguments: str) -> str:
        """Return the token of a new session."""
        answer = self.ask("POST", "/api/v1/session", {"code": self.code(*arguments)})
        assert answer.status == 201, answer
        return answer.json["token"]

    def control_pump(self, *words: str) -> dict:
        """Perform a verb at the control socket of the pump."""
        answer = subprocess.run(
            [PROGRAMS / "pumpctl", "sim", "ctl", "--json", self.control, *words], env=self.environment,
            capture_output=True, check=True, timeout=PATIENCE)
        return json.loads(answer.stdout)

    def headers(self, token: str | None = None) -> list[tuple[str, str]]:
        """The headers that a request needs."""
        host = [("Host", f"{self.address[0]}:{self.address[1]}")]
        return host + ([("Authorization", f"Bearer {token}")] if token is not None else [])

    def client(self, limit: float = PATIENCE) -> Client:
        return Client(self.address, limit)

    def ask(
        self, method: str, target: str, members: dict | None = None, token: str | None = None,
        headers: list[tuple[str, str]] | None = None, limit: float = PATIENCE
    ) -> Answer:
        """Send a request on a connection of its own."""
        body = None if members is None else json.dumps(members).encode()
        with self.client(limit) as client:
            client.send(request_bytes(method, target, self.headers(token) if headers is None else headers, body))
            return client.answer()

    def resources(self) -> tuple[int, int]:
        """Return the server's number of open descriptors, and its resident memory in KiB."""
        folder = pathlib.Path(f"/proc/{self.page.pid}")
        status = (folder / "status").read_text()
        return len(list((folder / "fd").iterdir())), int(status.split("VmRSS:")[1].split()[0])


class Stream:
    """A client of the server's stream of events, on a thread of its own, which connects again when the stream ends."""

    def __init__(self, bench: Bench, token: str) -> None:
        self.bench, self.token = bench, token
        # The time of arrival, the number, the name ("tick" for a comment) and the data of each event.
        self.events: list[tuple[float, int, str, dict]] = []
        self.last = 0
        # The number of connections so far.
        self.connections = 0
        self.is_open = True
        self.connection: Client | None = None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.is_open = False
        with contextlib.suppress(OSError, AttributeError):
            self.connection.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()

    def run(self) -> None:
        while self.is_open:
            with contextlib.suppress(OSError):
                self.read()
            time.sleep(0.05)

    def read(self) -> None:
        headers = self.bench.headers(self.token) + ([("Last-Event-ID", str(self.last))] if self.last else [])
        with self.bench.client() as client:
            self.connection = client
            self.connections += 1
            client.send(request_bytes("GET", "/api/v1/events", headers))
            while b"\r\n\r\n" not in client.rest and client.more():
                pass
            buffer = client.rest.partition(b"\r\n\r\n")[2]
            while self.is_open:
                # The body is chunked. `take` ignores the chunk sizes, because they do not look like fields.
                *blocks, buffer = buffer.split(b"\n\n")
                for block in blocks:
                    self.take(block.decode())
                client.rest = b""
                if not client.more():
                    return
                buffer += client.rest

    def take(self, block: str) -> None:
        fields = {}
        for line in block.splitlines():
            if line.startswith(": "):
                number = int(line.split()[1])
                self.events.append((time.time(), number, "tick", {}))
                self.last = number
            name, colon, value = line.partition(": ")
            if colon and name in ("id", "event", "data"):
                fields[name] = value
        if "data" in fields:
            number = int(fields["id"])
            self.events.append((time.time(), number, fields.get("event", ""), json.loads(fields["data"])))
            self.last = number

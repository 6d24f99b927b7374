"""Programs for the checks of the HTTP interface: simulated devices of five families, pumpctld and pumpctl-page."""

import contextlib
import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
DOCUMENT = ROOT / "packaging/schema/http.openapi.json"
# The time limit in seconds for anything that is waited for; only a program that hangs reaches it.
PATIENCE = 60


def wait(until, reason: str):
    """Call `until` until its result is true, and return the result. `reason` names what is waited for in the error."""
    deadline = time.monotonic() + PATIENCE
    while not (result := until()):
        if time.monotonic() > deadline:
            raise SystemExit(f"{reason}: not within {PATIENCE} s")
        time.sleep(0.02)
    return result


class Rig:
    """The running programs. `folder` contains their sockets, their links and their output."""

    def __init__(self, programs: str, folder: pathlib.Path) -> None:
        self.programs, self.folder = pathlib.Path(programs).resolve(), folder
        self.processes: dict[str, subprocess.Popen] = {}
        self.environment = {
            **os.environ, "XDG_STATE_HOME": str(folder / "state"), "XDG_DATA_HOME": str(folder / "data"),
            "XDG_CONFIG_HOME": str(folder)}
        # The families of the devices by their names.
        self.families: dict[str, str] = {}
        # Whether the devices are reached by Bluetooth Low Energy.
        self.is_radio = False
        # The page's address, as pumpctl-page prints it.
        self.address = ""

    @classmethod
    @contextlib.contextmanager
    def in_folder(cls, programs: str):
        """Make a rig in a temporary folder, and end its programs, also after SIGTERM."""
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
        with tempfile.TemporaryDirectory() as folder:
            bench = cls(programs, pathlib.Path(folder))
            try:
                yield bench
            finally:
                for name in reversed(list(bench.processes)):
                    bench.end(name)

    def start_all(self) -> None:
        self.start_devices()
        self.start_daemon()
        self.start_page()

    def start_radio(self) -> None:
        """Start a fake bluetoothd with six adapters: one for each of the five devices, and hci0 for pumpctld.

        Devices that are started later advertise, each on an adapter of its own. The address of hciN ends with N + 1.
        """
        radio = self.processes["radio"] = subprocess.Popen(
            [self.programs / "fake-bluez", "6"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.environment["DBUS_SYSTEM_BUS_ADDRESS"] = radio.stdout.readline().strip()
        self.is_radio = True

    def start(self, name: str, *command: str) -> subprocess.Popen:
        """Start a program of this project, or another one by its absolute path; its output goes to a file."""
        with open(self.folder / f"{name}.log", "wb") as log:
            self.processes[name] = subprocess.Popen(
                [self.programs / command[0], *command[1:]], stdout=log, stderr=log, env=self.environment)
        return self.processes[name]

    def end(self, name: str, number: int = signal.SIGTERM) -> None:
        process = self.processes.pop(name)
        # A check may have suspended the program, which would handle the signal only when it is resumed.
        process.send_signal(signal.SIGCONT)
        process.send_signal(number)
        process.wait()

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def start_devices(self, **families: str) -> None:
        """Start those of the simulated devices that are not running yet, and write pumpctld's configuration.

        `families` has the family of each device by its name; by default one device of each family but `raw`.
        """
        self.families = families or {"pump": "pump", "lamp": "led", "storm": "storm", "peer": "peer", "phone": "rescue"}
        text = f'[daemon]\nsocket = "{self.socket}"\n'
        for number, (name, family) in enumerate(self.families.items(), 1):
            place, endpoint = ["--link", str(self.folder / name)], self.folder / name
            if self.is_radio:
                place, endpoint = ["--ble", "--adapter", f"hci{number}"], f"ble:00:00:5E:00:53:0{number + 1}?adapter=hci0"
            if f"sim-{name}" not in self.processes:
                self.start(f"sim-{name}", "pumpctl", "sim", family, *place, "--control", str(self.folder / f"{name}.control"))
            wait(lambda: self.log(f"sim-{name}"), f"the simulated {family}")
            text += f'[device.{name}]\nendpoint = "{endpoint}"\nfamily = "{family}"\n'
            text += "record = true\n" if name == "pump" else ""
        (self.folder / "pumpctld.toml").write_text(text)

    def control(self, name: str, *words: str) -> None:
        """Perform a verb at the control socket of a simulated device."""
        subprocess.run(
            [self.programs / "pumpctl", "sim", "ctl", self.folder / f"{name}.control", *words], env=self.environment,
            capture_output=True, check=True, timeout=PATIENCE)

    @property
    def socket(self) -> pathlib.Path:
        return self.folder / "socket"

    def start_daemon(self) -> None:
        self.start("daemon", "pumpctld", "--config", str(self.folder / "pumpctld.toml"))
        # pumpctld opens a BLE link only when a client needs it.
        wait(lambda: "serving" in self.log("daemon") if self.is_radio
             else self.log("daemon").count("the link is open") == len(self.families), "pumpctld")

    def start_page(self, http: str = "0", *options: str) -> None:
        self.start("page", "pumpctl-page", "--http", http, "--socket", str(self.socket), *options)
        lines = wait(lambda: [line for line in self.log("page").splitlines() if "serving at " in line], "pumpctl-page")
        self.address = lines[0].split("serving at ")[1]

    def code(self, *options: str) -> str:
        """Return a new one-time code."""
        output = subprocess.run(
            [self.programs / "pumpctl-page", "--code", *options], env=self.environment, check=True,
            capture_output=True, text=True).stdout
        return output.strip().split("#")[1]

    @property
    def port(self) -> int:
        return int(self.address.rsplit(":", 1)[1])

    def ask(self, method: str, path: str, body=None, token: str | None = None, **headers: str) -> "Answer":
        """Send a request on a new connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if body is not None and "Content_Type" not in headers:
            headers["Content_Type"] = "application/json"
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        with contextlib.closing(connection):
            connection.request(
                method, path, data, {name.replace("_", "-"): value for name, value in headers.items()})
            response = connection.getresponse()
            return Answer(response, response.read())

    def log_in(self, *options: str) -> str:
        """Return the token of a new session."""
        return self.ask("POST", "/api/v1/session", {"code": self.code(*options)}).json["token"]


class Answer:
    """A response with its body."""

    def __init__(self, response: http.client.HTTPResponse, body: bytes) -> None:
        self.status, self.headers, self.body = response.status, response.headers, body

    @property
    def type(self) -> str:
        return (self.headers["Content-Type"] or "").split(";")[0]

    @property
    def json(self):
        return json.loads(self.body)

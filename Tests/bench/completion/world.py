"""The surroundings in which the shells complete: files, remembered names, ports, a bluetoothd and a daemon."""

import contextlib
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).parents[3]
# Runs a program as nobody, because root can read the folder without permissions.
NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
# The program `pumpctl` that the shells find. It runs the real one, with $LIMIT instead of the script's time limit,
# which a busy machine might exceed. With $FAILS, completion fails.
PUMPCTL = """#!/bin/sh
. "$WORLD/environment"
if [ "$1" = ---complete ]; then
    [ -z "$FAILS" ] || exit 127
    shift 2
    set -- ---complete "$LIMIT" "$@"
fi
exec "$WORLD/pumpctl" "$@"
"""


class World:
    """The surroundings, in a temporary folder. All programs end, and the folder is removed, when `ends` closes."""

    def __init__(self, programs: pathlib.Path, ends: contextlib.ExitStack) -> None:
        self.ends = ends
        self.folder = pathlib.Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="pumpctl-completion-")))
        self.folder.chmod(0o755)
        self.prefix = NOBODY if os.geteuid() == 0 else []
        for name in "pumpctl", "pumpctld":
            shutil.copy(programs / name, self.folder / name)
        (self.folder / "bin").mkdir()
        (self.folder / "bin/pumpctl").write_text(PUMPCTL)
        (self.folder / "bin/pumpctl").chmod(0o755)
        self.make_files()
        self.bluez = self.start(
            [*self.prefix, "/usr/bin/python3", pathlib.Path(__file__).parent / "bluetoothd.py"], stdin=subprocess.PIPE)
        self.bus = self.bluez.stdout.readline().strip()
        self.ports = self.mock_ports()
        self.daemon, self.hanging = self.listen("daemon", answers=True), self.listen("hanging", answers=False)
        self.simulate()
        self.environment = {
            "PATH": f"{self.folder}/bin:/usr/bin:/bin", "HOME": str(self.home), "WORLD": str(self.folder),
            "TMPDIR": str(self.folder)}
        self.become(None)

    # MARK: The parts

    def make_files(self) -> None:
        self.home, self.work = self.folder / "home", self.folder / "work"
        state = self.home / ".local/state/pumpctl"
        for folder in state, self.work / "captures", self.work / "locked":
            folder.mkdir(parents=True)
        (state / "ble-devices").write_text("00:15:83:00:00:10 HMSoft\n00:15:83:00:00:11 My Pump\n00:15:83:00:00:12 Zähler\n")
        for path in self.home / "notes.txt", self.work / "captures/one.capture", self.work / "captures/with a blank.capture":
            path.touch()
        (self.work / "locked/secret.capture").touch()
        (self.work / "locked").chmod(0)
        self.ends.callback((self.work / "locked").chmod, 0o700)

    def start(self, command: list, **options) -> subprocess.Popen:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)

        def end() -> None:
            process.send_signal(signal.SIGCONT)
            if process.stdin:
                process.stdin.close()
            else:
                process.terminate()
            process.wait()
        self.ends.callback(end)
        return process

    def mock_ports(self) -> str:
        """Mock two USB adapters with umockdev; return the value for UMOCKDEV_DIR."""
        testbed = self.start(
            ["/usr/bin/python3", ROOT / "Tests/SerialPortTests/Discovery/testbed.py"], stdin=subprocess.PIPE,
            env=os.environ | {"LD_PRELOAD": "libumockdev-preload.so.0"})
        root = testbed.stdout.readline().strip()
        for port in [
            {"node": "ttyUSB0", "path": "1-2.3", "vendor": "1a86", "product": "7523", "driver": "ch341"},
            {"node": "ttyUSB1", "path": "1-4", "vendor": "0403", "product": "6001", "driver": "ftdi_sio", "serial": "A50285BI"},
        ]:
            print(json.dumps({"do": "plug", **port}), file=testbed.stdin, flush=True)
            assert testbed.stdout.readline().strip() == "ok"
        subprocess.run(["chmod", "-R", "a+rX", root], check=True)
        return root

    def listen(self, name: str, answers: bool) -> str:
        """Listen on a socket like pumpctld, or without `answers` like one that hangs; return the socket's path."""
        path = str(self.folder / name)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen(64)
        os.chmod(path, 0o777)
        self.ends.callback(listener.close)
        devices = [{"name": name, "family": "pump", "endpoint": "/dev/ttyUSB0", "up": True} for name in ("pump", "bench")]

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    client = listener.accept()[0]
                    with client, contextlib.suppress(OSError), client.makefile("rw") as lines:
                        request = json.loads(lines.readline())
                        print(json.dumps({"id": request["id"], "ok": True, "devices": devices}), file=lines, flush=True)
        if answers:
            threading.Thread(target=serve, daemon=True).start()
        return path

    def simulate(self) -> None:
        """Start a simulated pump, with a symbolic link and a control socket, in the shells' folder."""
        if self.prefix:
            for path in self.folder, *self.folder.rglob("*"):
                os.chown(path, 65534, 65534, follow_symlinks=False)
        simulator = self.start(
            [*self.prefix, self.folder / "pumpctl", "sim", "pump", "--link", "pump", "--control", "control"], cwd=self.work)
        simulator.stdout.readline()

    # MARK: The state

    def calls(self) -> list[str]:
        """End bluetoothd; return the names of its methods that were called, in order."""
        return self.bluez.communicate()[0].split()

    def become(self, failure: str | None) -> None:
        """Make something fail, named as in `cases.FAILURES`, or with None nothing."""
        # Something that hangs uses up the whole time limit, so the limit is short while something fails.
        values = {
            "LIMIT": "60s" if failure is None else "4s", "FAILS": "",
            "DBUS_SYSTEM_BUS_ADDRESS": self.bus, "PUMPCTLD_SOCKET": self.daemon, "UMOCKDEV_DIR": self.ports,
            "LD_PRELOAD": "libumockdev-preload.so.0",
        }
        match failure:
            case "no bus": values["DBUS_SYSTEM_BUS_ADDRESS"] = f"unix:path={self.folder}/nothing"
            case "a bus that hangs": values["DBUS_SYSTEM_BUS_ADDRESS"] = f"unix:path={self.hanging}"
            case "no daemon": values["PUMPCTLD_SOCKET"] = f"{self.folder}/nothing"
            case "a daemon that hangs": values["PUMPCTLD_SOCKET"] = self.hanging
            case "no files of the user": values |= {"HOME": "/nothing", "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nothing"}
            case "no pumpctl": values["FAILS"] = "yes"
        self.bluez.send_signal(signal.SIGSTOP if failure == "a bluetoothd that hangs" else signal.SIGCONT)
        text = "".join(f"export {name}='{value}'\n" for name, value in values.items())
        (self.folder / "environment").write_text(text)

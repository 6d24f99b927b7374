"""The virtual machine: QEMU without KVM, resumed from a state that was saved after the guest had booted.

The guest's root file system is in memory, and there is no disk. Any number of machines can start from one saved state,
and none of them leaves a trace.
"""

import ctypes
import dataclasses
import hashlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time

from guest import PATIENCE, Guest

MACHINE = [
    "qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-display", "none", "-nodefaults", "-no-reboot",
    "-device", "qemu-xhci,id=usb", "-device", "virtio-serial", "-device", "virtserialport,chardev=agent,name=bench",
]
# Memory for the kernel itself need not be zeroed first: without KVM that saves a tenth of all processor time.
KERNEL_OPTIONS = "console=ttyS0 loglevel=7 nokaslr mitigations=off no_timer_check init_on_alloc=0"
# The time limit of a boot, which takes minutes with systemd on a busy host without KVM.
BOOT_SECONDS = 600


@dataclasses.dataclass(frozen=True)
class Boot:
    """A way to boot the image."""

    # The memory in MB. All of the guest's files are in memory.
    memory: int
    # The kernel's option for the first process, if it is not /init.
    first_process: str
    # A Python expression that is true in a booted guest.
    has_booted: str


# image/init, with few other processes.
BENCH = Boot(512, "", "os.path.exists('/run/booted')")
# systemd with its services, as on a user's machine. Its default time limits are too short for a busy host without KVM.
SYSTEMD = Boot(
    1024, " rdinit=/lib/systemd/systemd systemd.service_watchdogs=no systemd.default_timeout_start_sec=600",
    "os.popen('timeout 60 systemctl is-system-running --wait').read() == 'running\\n'")


def saved_state(folder, boot=BENCH):
    """Return the saved state of a booted guest.

    Boots the image in `folder` first if no saved state fits this version of QEMU and these options.
    """
    version = subprocess.run([MACHINE[0], "--version"], check=True, capture_output=True).stdout
    key = hashlib.sha256(version + repr((MACHINE, KERNEL_OPTIONS, boot)).encode()).hexdigest()[:16]
    state = folder / f"booted-{key}"
    if not state.exists():
        with tempfile.NamedTemporaryFile(dir=folder, prefix="booting-") as unfinished:
            kernel = ["-kernel", folder / "vmlinuz", "-initrd", folder / "initrd.zst",
                      "-append", KERNEL_OPTIONS + boot.first_process]
            with VirtualMachine(kernel, boot) as machine:
                try:
                    machine.guest.until(boot.has_booted, BOOT_SECONDS)
                except AssertionError as error:
                    units = machine.guest.run("systemctl", "--failed")
                    raise RuntimeError(f"{error}\n{units}\nthe console ends with:\n{machine.console()[-2000:]}") from None
                machine.save(unfinished.name)
            os.link(unfinished.name, state)
    return state


def end_with_parent():
    """Called in a child: have the kernel kill it when the bench ends for any reason."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
    # Ctrl-C reaches only the bench, which then ends its processes.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])


class VirtualMachine:
    """A virtual machine that runs for the duration of the `with` block."""

    def __init__(self, options, boot):
        self._temporary = tempfile.TemporaryDirectory(prefix="bench-")
        self.folder = pathlib.Path(self._temporary.name)
        self._options = ["-m", str(boot.memory), *map(str, options)]

    @classmethod
    def resume(cls, state, boot=BENCH):
        """Return a machine that resumes the saved state of a guest, which was booted as `boot` says."""
        return cls(["-incoming", f"exec:cat '{state}'"], boot)

    def __enter__(self):
        channels = []
        for name in ("agent", "monitor", "uart"):
            channels += ["-chardev", f"socket,id={name},path={self.folder / name},server=on,wait=off"]
        self._process = subprocess.Popen(
            MACHINE + self._options + channels + ["-mon", "chardev=monitor,mode=control"]
            + ["-serial", f"file:{self.folder / 'console'}", "-serial", "chardev:uart"],
            stdin=subprocess.DEVNULL, preexec_fn=end_with_parent)
        try:
            self._open_monitor()
            self._until("query-status", "running", "resumed")
            self.guest = Guest(str(self.folder / "agent"))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception):
        self._process.kill()
        self._process.wait()
        self._temporary.cleanup()

    @property
    def uart(self):
        """The path of the socket on which QEMU offers the far end of the guest's second serial port."""
        return str(self.folder / "uart")

    def console(self):
        """Return the console output of the guest's kernel."""
        return (self.folder / "console").read_text(errors="replace")

    def _open_monitor(self):
        monitor = socket.socket(socket.AF_UNIX)
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                monitor.connect(str(self.folder / "monitor"))
                break
            except OSError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"QEMU did not start: exit {self._process.poll()}") from None
                time.sleep(0.01)
        monitor.settimeout(PATIENCE)
        self._monitor = monitor.makefile("rw")
        self._monitor.readline()
        self.ask("qmp_capabilities")

    def ask(self, command, **arguments):
        """Send a QMP command; return its result."""
        self._monitor.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self._monitor.flush()
        while True:
            answer = json.loads(self._monitor.readline())
            if "error" in answer:
                raise RuntimeError(f"{command}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]

    def save(self, path):
        """Save the machine's state to a file. After that the machine does not run any more."""
        # By default QEMU limits the speed at which a state is written.
        self.ask("migrate-set-parameters", **{"max-bandwidth": 1 << 40})
        self.ask("migrate", uri=f"exec:cat >'{path}'")
        self._until("query-migrate", "completed", "saved")

    def _until(self, query, wanted, what):
        deadline = time.monotonic() + PATIENCE
        while (status := self.ask(query).get("status")) != wanted:
            if status == "failed" or time.monotonic() > deadline:
                raise RuntimeError(f"the machine's state cannot be {what}: {status}")
            time.sleep(0.01)

    def add_socket(self, name):
        """Have QEMU listen on a socket for the far end of a device; return the socket's path."""
        path = str(self.folder / name)
        address = {"type": "unix", "data": {"path": path}}
        self.ask("chardev-add", id=name, backend={
            "type": "socket", "data": {"addr": address, "server": True, "wait": False}})
        return path

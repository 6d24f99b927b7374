"""A Nano: our firmware on an ATmega328P that `Tests/bench/nano-sim` simulates."""

import os
import pathlib
import select
import subprocess
import threading
import time
import tty

from guest import PATIENCE
from vm import end_with_parent

BENCH = pathlib.Path(__file__).resolve().parents[1]
SIMULATOR = BENCH / "nano-sim" / "build" / "nano-sim"
FIRMWARE = BENCH.parents[1] / "hardware" / "nano-pump" / "build" / "nano-pump.elf"


class Nano:
    """A running board; `on_bytes` is called with the bytes that its UART sends."""

    def __init__(self, bootloader=1):
        """Start a board.

        `bootloader` is the time in seconds after a reset in which the sketch neither receives nor sends.
        """
        self.on_bytes = lambda data: None
        self.bootloader = bootloader
        self.resets = 0
        # The timer of the bootloader, None if it does not run. While it runs, bytes in both directions are dropped.
        self._booting = None
        self._lock = threading.Lock()
        self._simulator = subprocess.Popen(
            [SIMULATOR, "--exit-on-eof", FIRMWARE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
            preexec_fn=end_with_parent)
        path = self._answer().removeprefix("PTY ")
        self._pty = os.open(path, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self._pty)
        self._closing, self._close = os.pipe()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def close(self):
        os.close(self._close)
        self._reader.join()
        if self._booting:
            self._booting.cancel()
        for descriptor in (self._closing, self._pty):
            os.close(descriptor)
        self._simulator.kill()
        self._simulator.wait()
        self._simulator.stdin.close()
        self._simulator.stdout.close()

    def _answer(self):
        if not select.select([self._simulator.stdout], [], [], PATIENCE)[0]:
            raise AssertionError("nano-sim does not answer")
        return self._simulator.stdout.readline().strip()

    def control(self, command):
        """Send a control command to the simulator; return the text after the `ok` of its answer."""
        with self._lock:
            self._simulator.stdin.write(command + "\n")
            answer = self._answer()
        assert answer.startswith("ok "), f"{command}: {answer}"
        return answer.removeprefix("ok ")

    def pump(self):
        """Return whether the pump's driver is enabled, and the pump's PWM value."""
        enabled, pwm = self.control("pwm").split()
        return enabled == "1", int(pwm)

    def until_pump(self, enabled, pwm, seconds=PATIENCE):
        """Wait until the pump's driver has these signals. If it is not enabled, its PWM value does not matter."""
        deadline = time.monotonic() + seconds
        while (found := self.pump())[0] != enabled or enabled and found[1] != pwm:
            assert time.monotonic() < deadline, f"pump is {found}, not {(enabled, pwm)}"
            self.control("wait 0.01")

    def until_started(self):
        """Wait until the firmware has started, which takes 1.3 s of the board's time."""
        self.control("wait 2")

    def write(self, data):
        """Send bytes to the UART; drop them while the bootloader runs."""
        if not self._booting:
            os.write(self._pty, data)

    def reset(self):
        """Pull the reset line for a moment. The sketch starts when the time of the bootloader is over.

        The simulator has no bootloader: its sketch starts at once, unheard, and again at a second reset.
        """
        self.resets += 1
        if self._booting:
            self._booting.cancel()
        if self.bootloader:
            self._booting = threading.Timer(self.bootloader, self._begin_sketch)
            self._booting.start()
        self.control("reset")

    def _begin_sketch(self):
        self.control("reset")
        self._booting = None

    def _read(self):
        while True:
            ready, _, _ = select.select([self._pty, self._closing], [], [])
            if self._closing in ready:
                return
            data = os.read(self._pty, 4096)
            if not self._booting:
                self.on_bytes(data)

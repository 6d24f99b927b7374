"""Measure many idle simulated pumps in one process, each with a client that has its terminal open."""
import contextlib
import os
import pathlib
import tempfile
import time

from harness import Program, raise_descriptor_limit

COUNT = 1000
IDLE_S = 10


class Terminals(Program):
    """A program that serves COUNT pseudo-terminals until a signal ends it, with a client on each of them."""

    def __init__(self, *command):
        super().__init__(*command, lines=COUNT)

    def __enter__(self):
        super().__enter__()
        with contextlib.ExitStack() as stack:
            for line in self.said:
                client = os.open(line.removeprefix("PTY "), os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
                stack.callback(os.close, client)
            self.clients = stack.pop_all()
        # Within this second, the simulator notices all clients, so that `load` measures an idle simulator.
        time.sleep(1)
        return self

    def __exit__(self, *_):
        self.clients.close()
        self.process.terminate()
        super().__exit__()

    def load(self):
        """Return the program's load over IDLE_S seconds in which no byte is sent, in percent of a core."""
        before, start = self.cpu(), time.monotonic()
        time.sleep(IDLE_S)
        return (self.cpu() - before) / (time.monotonic() - start) * 100


def measure(table, options):
    raise_descriptor_limit()
    with tempfile.TemporaryDirectory(prefix="pumpctl-benchmark-") as folder:
        link = pathlib.Path(folder) / "pump-%d"
        with Terminals(options.pumpctl, "sim", "pump", "--count", COUNT, "--link", link) as pumps:
            load, memory = pumps.load(), pumps.memory()
    with Terminals(options.peers / "terminals", COUNT) as terminals:
        peer_load, peer_memory = terminals.load(), terminals.memory()
    table.add(f"{COUNT} idle simulated pumps, each with a client", f"{load:.1f} % of a core",
              f"{peer_load:.1f} % (C, terminals alone)", "", "≤ 6 %", load <= 6)
    table.add("… their peak memory", f"{memory:.0f} MiB", f"{peer_memory:.1f} MiB (C, terminals alone)", "", "≤ 48 MiB",
              memory <= 48)

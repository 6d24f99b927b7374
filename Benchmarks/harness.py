"""Shared parts of the benchmarks: programs to measure against, medians over rounds, and the table of goals."""
import os
import pathlib
import resource
import statistics
import subprocess
import sys

PYTHON = "/usr/bin/python3"
# The time limit of a measured program in seconds. None takes that long unless it hangs.
PATIENCE_S = 300


def ended(process):
    """Wait for a process that was asked to end, and kill it after 10 s."""
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def raise_descriptor_limit():
    """Raise the soft limit of open descriptors, of this process and of programs started later, to the hard limit."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))


class Costs:
    """The costs of the process `self.process`, as the kernel counts them."""

    def memory(self, key="VmHWM"):
        """Return the peak memory in MiB, or with `VmRSS` the current memory."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(key + ":"):
                return int(line.split()[1]) / 1024
        raise LookupError(key)

    def cpu(self):
        """Return the processor time so far, in seconds."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


    def switches(self):
        """Return how often a thread of the process began to wait: the voluntary context switches of all threads."""
        return sum(
            int(line.split()[1])
            for status in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/status")
            for line in status.read_text().splitlines() if line.startswith("voluntary_ctxt_switches"))


class Program(Costs):
    """A program that runs until its standard input ends, for the duration of the `with` block.

    `said` has the program's first lines, such as the paths of its pseudo-terminals. `lines` is their number.
    """

    def __init__(self, *command, lines=1):
        self.command, self.lines = [str(word) for word in command], lines

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.said = [self.process.stdout.readline().strip() for _ in range(self.lines)]
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        ended(self.process)


class Responder(Program):
    """A pump that replies at once, for the duration of the `with` block.

    The block receives the path of the pump's pseudo-terminal.
    """

    def __init__(self, peers):
        super().__init__(peers / "responder")

    def __enter__(self):
        return super().__enter__().said[0]


class Bluetooth(Program):
    """fake-bluez on a bus of its own, for the duration of the `with` block.

    The block receives the environment for the programs that use the bus.
    """

    # fake-bluez's device "Sprinter", as an endpoint and as object paths.
    ENDPOINT = "ble:00:15:83:00:00:20"
    DEVICE = "/org/bluez/hci0/dev_00_15_83_00_00_20"
    CHARACTERISTIC = DEVICE + "/service0001/char0002"

    def __enter__(self):
        return dict(os.environ, DBUS_SYSTEM_BUS_ADDRESS=super().__enter__().said[0])


def numbers(*command, environment=None):
    """Run a program; return the numbers that it prints. If the program fails, end the benchmarks."""
    command = [str(word) for word in command]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, timeout=PATIENCE_S)
    if done.returncode != 0:
        sys.exit(f"run: {' '.join(command)}: status {done.returncode}")
    return [float(word) for word in done.stdout.split()]


class Median(float):
    """The median of some figures; `spread` is half their interquartile range, as a fraction of the median."""

    def __new__(cls, figures):
        median = super().__new__(cls, statistics.median(figures))
        low, _, high = statistics.quantiles(figures, n=4) if len(figures) > 1 else (median, median, median)
        median.spread = (high - low) / 2 / median if median else 0
        return median


def medians(rounds, contestants):
    """Run the contestants in turn, `rounds` times; return the medians over the rounds of each contestant's numbers.

    `contestants` maps a name to a function that runs the contestant once and returns a list of numbers.
    """
    results = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, call in contestants.items():
            results[name].append(call())
    return {name: [Median(column) for column in zip(*rows)] for name, rows in results.items()}


class Table:
    """The table of measured figures and their goals."""

    def __init__(self):
        self.rows = []
        self.all_met = True

    def add(self, what, measured, peer, ratio, goal, met):
        """Add a row of texts, and whether the goal is met."""
        self.all_met &= met
        self.rows.append((what, measured, peer, ratio, goal, "yes" if met else "no"))

    def at_most(self, what, unit, measured, peer_name, peer, factor, factor_text=None, per_unit=1):
        """Add a row of two medians whose ratio must be at most `factor`.

        The medians are divided by `per_unit` to show them in `unit`: 1000 for µs shown as ms.
        """
        ratio = measured / peer
        ours, theirs = (f"{median / per_unit:.3g} {unit} ± {median.spread:.0%}" for median in (measured, peer))
        self.add(what, ours, f"{theirs} ({peer_name})", f"{ratio:.2f}", f"≤ {factor_text or factor}", ratio <= factor)

    def text(self):
        """Return the table, in Markdown."""
        lines = [("what", "measured", "peer", "ratio", "goal", "met")] + self.rows
        widths = [max(len(row[column]) for row in lines) for column in range(6)]
        drawn = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in lines]
        drawn.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
        return "\n".join(drawn)

#!/usr/bin/env python3
"""Make system calls of pumpctl and pumpctld fail, one per run, and check that the programs report the truth.

    check.py [--all] FOLDER

FOLDER contains the programs. Each of 'off', 'on', 'on --for', 'verify' and pumpctld runs against a simulated pump under
strace, which makes one system call fail with EIO, ENOMEM, EINTR or EMFILE. No run may end by a signal. A program that
exits with 0 and reports the pump as off or on must be right, and one that reports that nothing was sent must not have
changed the pump.

By default a seeded sample of the calls fails; --all takes every call. SEEDS=1234 repeats the sample of that seed.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

ERRORS = ["EIO", "ENOMEM", "EINTR", "EMFILE"]
# Calls that strace itself needs, and calls that never fail in this way on a real kernel: if they did, the C library or
# Swift's runtime would abort the program.
LEFT_OUT = {
    "execve", "exit", "exit_group", "rt_sigreturn", "restart_syscall", "brk", "futex", "gettid", "getpid", "geteuid", "getuid",
    "getegid", "getgid", "tgkill", "rt_sigaction", "rt_sigprocmask", "arch_prctl", "set_robust_list", "set_tid_address", "rseq",
}
# The number of failing calls in a sample, for each program; chosen for the time of a run.
SAMPLE = 16
# The time limit of a run in seconds; only a program that hangs reaches it.
PATIENCE = 120


class Pump:
    """A simulated pump on a pseudo-terminal."""

    def __init__(self, pumpctl: str, folder: pathlib.Path, number: int) -> None:
        self.pumpctl, self.port, self.control = pumpctl, str(folder / f"pump-{number}"), str(folder / f"control-{number}")
        self.process = subprocess.Popen(
            [pumpctl, "sim", "pump", "--unpaced", "--link", self.port, "--control", self.control], stdout=subprocess.PIPE)
        self.process.stdout.readline()

    def ask(self, *words: str) -> dict:
        """Perform a verb at the control socket; return the reply."""
        answer = subprocess.run(
            [self.pumpctl, "sim", "ctl", "--json", self.control, *words], capture_output=True, check=True)
        return json.loads(answer.stdout)

    @property
    def is_running(self) -> bool:
        return self.ask("state")["state"] == "on"

    def become(self, is_running: bool) -> None:
        """Switch the pump on or off, unless it is so already."""
        if self.is_running != is_running:
            subprocess.run(
                [self.pumpctl, "-p", self.port, "on" if is_running else "off"], check=True, stdout=subprocess.DEVNULL)

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


class Ending:
    """The result of a run: its exit status, its output, and the last JSON record in the output, {} if there is none."""

    def __init__(self, status: int, output: str, errors: str) -> None:
        self.status, self.output, self.errors = status, output, errors
        records = [line for line in output.splitlines() if line.startswith("{")]
        self.record = json.loads(records[-1]) if records else {}

    def __str__(self) -> str:
        return f"status {self.status}\n{self.output}{self.errors}"


def traced(strace: list[str], command: list[str], during=None) -> Ending:
    """Run a command under strace with these options; kill it after PATIENCE seconds.

    `during`, if given, is called with strace's process while the command runs, and must end the command.
    """
    with subprocess.Popen(
            ["strace", "-f", "-qq", *strace, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, errors="replace", start_new_session=True) as process:
        try:
            if during:
                during(process)
            output, errors = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, errors = process.communicate()
            return Ending(-signal.SIGKILL, output, errors + "(it did not end)")
    return Ending(process.returncode, output, errors)


class Program:
    """A program under test: pumpctl with these arguments.

    `begins_running` is whether the pump is on before each run.
    """

    # The signal that is sent during the run; None for none. A fault may keep the program from catching it, so the program
    # may end by this signal.
    sent_signal: int | None = None

    def __init__(self, name: str, begins_running: bool, *arguments: str) -> None:
        self.name, self.begins_running, self.arguments = name, begins_running, arguments

    def run(self, pump: Pump, strace: list[str]) -> Ending:
        return traced(strace, [pump.pumpctl, "-p", pump.port, "--json", *self.arguments])

    def flaw(self, ending: Ending, is_running: bool) -> str | None:
        """Return a description of the flaw in a run's result, or None."""
        # The statuses above 128 are crashes as a parent process reports them: 128 plus SIGILL, SIGTRAP, SIGABRT,
        # SIGBUS, SIGFPE or SIGSEGV.
        if ending.status < 0 and -ending.status != self.sent_signal or ending.status in (132, 133, 134, 135, 136, 139):
            return "it ended by a signal"
        record = ending.record
        state = record.get("state")
        if ending.status == 0 and state in ("on", "off") and (state == "on") != is_running:
            return f"it says {state}, which is not so"
        if record.get("outcome") == "not_sent" and is_running != self.begins_running:
            return "it says that nothing was sent, and the pump has changed"
        if ending.status == 0 and self.name == "on --for" and is_running:
            return "the pump is left running"
        if self.name == "verify" and is_running and "may be on" not in ending.output + ending.errors:
            return "the pump is left running, and nothing is said of it"
        if ending.status != 0 and not record and not ending.errors:
            return "it failed without a word"
        return None


def listens(path: str) -> bool:
    """Return whether a program listens at a socket. To connect would be a system call of the program under test."""
    sockets = [line.split() for line in pathlib.Path("/proc/net/unix").read_text().splitlines()]
    # The flag __SO_ACCEPTCON. A socket has its path before it listens.
    return any(socket[-1] == path and socket[3] == "00010000" for socket in sockets)


class Daemon(Program):
    """pumpctld, through which `pumpctl off` sends an OFF while it runs."""

    sent_signal = signal.SIGTERM

    def run(self, pump: Pump, strace: list[str]) -> Ending:
        path = pump.port + ".socket"
        heard: list[Ending] = []

        def during(process: subprocess.Popen) -> None:
            deadline = time.monotonic() + PATIENCE
            while not listens(path) and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.01)
            off = subprocess.run(
                [pump.pumpctl, "-p", f"unix:{path}", "--json", "off"], capture_output=True, text=True,
                timeout=PATIENCE)
            heard.append(Ending(off.returncode, off.stdout, off.stderr))
            # Send the signal to pumpctld, strace's child: if strace ended, pumpctld would keep running. There is no child
            # if the fault has ended pumpctld.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                for child in pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
                    os.kill(int(child), signal.SIGTERM)

        try:
            ending = traced(
                strace, [str(pathlib.Path(pump.pumpctl).with_name("pumpctld")), "--port", pump.port, "--unix", path],
                during)
        finally:
            pathlib.Path(path).unlink(missing_ok=True)
        # The exit status is the daemon's; the reported state is that of `pumpctl off`, if it succeeded.
        ending.record = heard[0].record if heard[0].status == 0 else {}
        return ending


PROGRAMS = [
    Program("off", True, "off"),
    Program("on", False, "on"),
    Program("on --for", False, "on", "--for", "300ms"),
    Program("verify", False, "verify", "--allow-run", "--only", "pump.off.stops"),
    Daemon("pumpctld", True),
]


def calls(log: str) -> dict[str, range]:
    """Return the numbers of the occurrences of each system call in a log of strace, without those of the loader.

    strace counts the calls of each thread from 1, and a fault with a number occurs in every thread that gets so far. So
    the last number is that of the thread with the most calls.

    The C library's loader has no way to report a failed call. Its last call queries the stack limit (prlimit64).
    """
    threads = collections.defaultdict(list)
    for thread, name in re.findall(r"^(\d+) +([a-z]\w*)\(", log, re.M):
        threads[thread].append(name)
    first = next(iter(threads.values()), [])
    before = collections.Counter(first[:first.index("prlimit64") if "prlimit64" in first else 0])
    most: collections.Counter = collections.Counter()
    for names in threads.values():
        most |= collections.Counter(names)
    return {name: range(before[name] + 1, count + 1) for name, count in most.items()}


def faults(program: Program, pump: Pump, folder: pathlib.Path) -> list[str]:
    """Run a program without a fault; return a fault for each of its calls and each error, as strace's `inject` takes it."""
    log = folder / "calls"
    pump.become(program.begins_running)
    ending = program.run(pump, ["-o", str(log)])
    # 2: a check of `verify` has failed, which may happen because strace slows the program down.
    if ending.status not in (0, 2):
        raise SystemExit(f"{program.name} fails without a fault: {ending}")
    return [
        f"{name}:error={error}:when={number}"
        for name, numbers in sorted(calls(log.read_text()).items()) if name not in LEFT_OUT
        for number in numbers for error in ERRORS
    ]


def sample(all_faults: list[str], count: int, source: random.Random) -> list[str]:
    """Return `count` of the faults, drawn so that each system call has about as many as any other.

    Otherwise calls that occur a thousand times in a run would displace those that occur once.
    """
    by_call = collections.defaultdict(list)
    for fault in all_faults:
        by_call[fault.split(":")[0]].append(fault)
    for some in by_call.values():
        source.shuffle(some)
    chosen: list[str] = []
    while len(chosen) < count and any(by_call.values()):
        names = [name for name, rest in by_call.items() if rest]
        source.shuffle(names)
        chosen += [by_call[name].pop() for name in names]
    return chosen[:count]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    seed = int(os.environ.get("SEEDS", "").split("+")[0].split("-")[0] or 20261126)
    source = random.Random(seed)
    bad = done = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ.update(
            HOME=name, XDG_STATE_HOME=name, XDG_RUNTIME_DIR=name, PUMPCTL_RECORD="0", SWIFT_BACKTRACE="enable=no")
        pumps = [Pump(str(arguments.folder / "pumpctl"), folder, number) for number in range(2)]
        try:
            for program in PROGRAMS:
                chosen = faults(program, pumps[0], folder)
                if not arguments.all:
                    chosen = sample(chosen, SAMPLE, source)

                def examine(pump: Pump, some: list[str]) -> list[str]:
                    flaws = []
                    for fault in some:
                        pump.become(program.begins_running)
                        # strace stops the program only at this call, so a run takes hardly longer than without strace.
                        call = fault.split(":")[0]
                        ending = program.run(
                            pump, ["-o", "/dev/null", "--seccomp-bpf", "-e", f"trace={call}", "-e", f"inject={fault}"])
                        flaw = program.flaw(ending, pump.is_running)
                        if flaw:
                            flaws.append(f"{program.name}, {fault}: {flaw}: {ending}")
                    return flaws

                with concurrent.futures.ThreadPoolExecutor(len(pumps)) as pool:
                    for flaws in pool.map(examine, pumps, [chosen[number::len(pumps)] for number in range(len(pumps))]):
                        bad += len(flaws)
                        for flaw in flaws:
                            print("FAIL", flaw)
                done += len(chosen)
        finally:
            for pump in pumps:
                pump.end()
    print(f"faults: {done} runs, {bad} bad, seed {seed}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

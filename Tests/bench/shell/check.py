#!/usr/bin/env python3
"""Check that timed runs of the pump end with the pump off in the usual idioms of shells: check.py FOLDER

FOLDER contains the programs. Each script runs in dash and in bash, and begins a timed run of a simulated pump of its own.
Once the pump is on, the script's process group gets a signal or its terminal is closed, or the script ends the run
itself. Then the script must end, and the pump must be off.
"""

import concurrent.futures
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import time

PUMPCTL = pathlib.Path(sys.argv[1]).resolve() / "pumpctl"
# The time limit of a run in seconds; only a script that hangs reaches it.
PATIENCE = 60
HANGUP = "a hang-up"
SHELLS = ["dash", "bash"]

# The event while the pump is on, None if the script itself ends the run; and the script. $run is a run of 10 minutes, $on
# switches the pump on, $off switches it off, and $ask prints the state of the simulated pump.
CASES = [
    # What follows the interrupted run would switch the pump on again.
    (signal.SIGINT, "$run; $on"),
    (signal.SIGINT, "$run\n$on"),
    (signal.SIGINT, "while :; do $run; done"),
    (signal.SIGINT, "for time in 1 2; do $run; done"),
    (signal.SIGINT, "($run); $on"),
    (signal.SIGINT, "words=$($run); $on"),
    (signal.SIGINT, "if ! $run; then $on; fi"),
    (signal.SIGINT, "$run || $on"),
    (signal.SIGINT, "$run | cat; $on"),
    (signal.SIGINT, "nice $run; $on"),
    (signal.SIGINT, "env A=b $run; $on"),
    (signal.SIGINT, "echo $run | xargs env; $on"),
    (signal.SIGINT, "time -p $run; $on"),
    (signal.SIGINT, "sh -c \"$run\"; $on"),
    # A script that goes on after an interrupted run, to clean up.
    (signal.SIGINT, "trap '$off' EXIT; $run; $on"),
    (signal.SIGINT, "trap : INT; $run; $off"),
    (signal.SIGINT, "exec $run"),
    # SIGINT is ignored in the background, so the script passes a signal on.
    (signal.SIGINT, "$run & trap 'kill $!' INT; wait $!; wait $!"),
    (signal.SIGTERM, "$run; $on"),
    (signal.SIGTERM, "$run & wait"),
    (signal.SIGHUP, "$run; $on"),
    (signal.SIGQUIT, "ulimit -c 0; $run"),
    # The terminal is closed: as the controlling terminal, and as a mere output.
    (HANGUP, "$run; $on"),
    (HANGUP, "setsid --wait $run"),
    (HANGUP, "trap '' HUP; $run"),
    # The script ends the run.
    (None, "timeout 1 $run"),
    (None, "timeout -s INT 1 $run"),
    (None, "timeout --foreground 1 $run"),
    (None, "$run | true"),
    (None, "$run | head -n 1"),
    (None, "$run | (read -r line)"),
    (None, "$run --json | head -c 1"),
    (None, "$run > /dev/full"),
    (None, "$run & until $ask | grep -q 'state: on'; do :; done; kill $!; wait $!"),
    (None, "$run --for 0.5s"),
    (None, "nohup $run --for 0.5s"),
    (None, "$run --for 0.5s < /dev/null"),
    (None, "$run --for 0.5s >&- 2>&- <&-"),
    (None, "setsid --wait $run --for 0.5s"),
    (None, "setsid --fork $run --for 0.5s | cat"),
    (None, "($run --for 0.5s &) | cat"),
]


class Pump:
    """A simulated pump on a pseudo-terminal."""

    def __init__(self, folder):
        self.port, self.control = f"{folder}/pump", f"{folder}/control"
        self.process = subprocess.Popen(
            [PUMPCTL, "sim", "pump", "--unpaced", "--link", self.port, "--control", self.control],
            stdout=subprocess.PIPE)
        self.process.stdout.readline()

    @property
    def is_on(self):
        command = [PUMPCTL, "sim", "ctl", "--json", self.control, "state"]
        return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["state"] == "on"

    def end(self):
        self.process.terminate()
        self.process.wait()


def begun(shell, script, folder, port):
    """Start a script in a session of its own, with a terminal as its output; return its process and the terminal."""
    master, slave = pty.openpty()
    command = f"{PUMPCTL} --no-record --port {port}"
    environment = {
        **os.environ, "run": f"{command} on --for 10m", "on": f"{command} on", "off": f"{command} off",
        "ask": f"{PUMPCTL} sim ctl {folder}/control state", "HOME": folder, "XDG_RUNTIME_DIR": folder}

    def prepare():
        os.login_tty(slave)
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)

    process = subprocess.Popen([shell, "-c", script], env=environment, cwd=folder, preexec_fn=prepare)
    os.close(slave)
    return process, master


def is_group(number):
    """Return whether a process group has members."""
    try:
        os.killpg(number, 0)
    except ProcessLookupError:
        return False
    return True


def fault(case):
    """Run a script. Return the fault, None if there is none."""
    shell, event, script = case
    with tempfile.TemporaryDirectory(prefix="pumpctl-shell-") as folder:
        pump = Pump(folder)
        process, terminal = begun(shell, script, folder, pump.port)
        try:
            while event is not None and not pump.is_on:
                if process.poll() is not None:
                    return f"the script ended with {process.returncode} before the pump was on"
            if event == HANGUP:
                os.close(terminal)
                terminal = None
            elif event is not None:
                os.killpg(process.pid, event)
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                return "the script did not end"
            end = time.monotonic() + PATIENCE
            # The shell may end before pumpctl, and pumpctl may be in another session.
            while (is_on := pump.is_on) or is_group(process.pid):
                if time.monotonic() > end:
                    return "the pump is on" if is_on else "a program of the script did not end"
            return None
        finally:
            if terminal is not None:
                os.close(terminal)
            for number in (signal.SIGTERM, signal.SIGKILL):
                try:
                    os.killpg(process.pid, number)
                except ProcessLookupError:
                    pass
            process.wait()
            pump.end()


def main():
    cases = [(shell, *case) for case in CASES for shell in SHELLS]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        faults = list(pool.map(fault, cases))
    for (shell, event, script), words in zip(cases, faults):
        if words:
            print(f"{shell}: {script!r} and {event}: {words}")
    print(f"{len(cases)} runs in shells, {sum(words is not None for words in faults)} with a fault")
    return 1 if any(faults) else 0


sys.exit(main())

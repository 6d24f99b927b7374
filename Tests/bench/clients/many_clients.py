#!/usr/bin/python3
"""Has pyserial, socat, tio and four pumpctl drive one pump at once, by way of pumpctld, and unplugs it again and again.

usage: many_clients.py PUMP_PTY PUMPCTL PUMPCTLD COMMANDS UNPLUGGINGS

Prints how many commands were answered, and each line that was heard and answers nothing that its hearer has asked; leaves
with status 1 where there is one.
"""

import os
import re
import select
import subprocess
import sys
import tempfile
import threading
import tty

import serial

# How long a client waits that hears nothing: longer than pumpctld waits for the pump.
PATIENCE = 15


class Cable:
    """Between the pump's pseudo-terminal and a path that a host opens; it can be unplugged."""

    def __init__(self, pump, path):
        self.path = path
        self.pump = os.open(pump, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self.pump)
        self.master = None
        self.lock = threading.Lock()
        self.wake, self.waker = os.pipe()
        threading.Thread(target=self.carry, daemon=True).start()

    def carry(self):
        while True:
            with self.lock:
                ends = [self.pump, self.wake] + ([self.master] if self.master else [])
            for end in select.select(ends, [], [])[0]:
                if end == self.wake:
                    os.read(self.wake, 1)
                    continue
                with self.lock:
                    other = self.master if end == self.pump else self.pump
                    try:
                        data = os.read(end, 4096)
                        if other:
                            os.write(other, data)
                    except OSError:
                        pass

    def plug(self):
        master, self.slave = os.openpty()
        tty.setraw(self.slave)
        with self.lock:
            self.master = master
        os.symlink(os.ttyname(self.slave), self.path)
        os.write(self.waker, b"!")

    def unplug(self):
        os.unlink(self.path)
        with self.lock:
            master, self.master = self.master, None
        os.close(self.slave)
        os.close(master)
        os.write(self.waker, b"!")


class Bench:
    """What all have in common: who is told what, and for how long it goes on."""

    def __init__(self, commands):
        self.rest = commands
        self.answered = 0
        self.wrong = []
        self.away = threading.Semaphore(0)
        self.back = threading.Semaphore(0)
        self.changed = threading.Condition()

    def goes_on(self):
        with self.changed:
            return self.rest > 0

    def count(self):
        with self.changed:
            self.answered += 1
            self.rest -= 1
            self.changed.notify_all()

    def found(self, who, heard, said):
        with self.changed:
            self.wrong.append(f"{who}: {heard!r} to {said!r}")


class Talker:
    """A client that says lines, and knows which of those that it hears are its own."""

    def __init__(self, bench, number, name):
        self.bench, self.number, self.name = bench, number, name

    def commands(self):
        while True:
            yield "TEMP", [r"TEMP:.*"]
            for speed in range(self.number, 250, 50):
                yield f"SPEED:{speed}", ["OK", f"SPEED:{speed}"]
            yield f"WHAT{self.number}", ["ERROR:UNKNOWN_COMMAND"]
            # A status is said unasked as well: only what is said behind it tells that this one was asked for.
            yield f"STATUS\nWHAT{self.number}", [r"STATUS:\{.*\}", "ERROR:UNKNOWN_COMMAND"]

    def talk(self):
        for command, answers in self.commands():
            if not self.bench.goes_on():
                return
            self.send((command + "\n").encode())
            if self.hear(command, list(answers)):
                self.bench.count()

    def hear(self, command, answers):
        """Whether the answers came."""
        while answers:
            line = self.line()
            if line == "[WARNING] the device is away":
                self.find_back()
                return False
            if line is None:
                self.bench.found(self.name, "nothing", command)
                return False
            if re.fullmatch(answers[0], line):
                answers.pop(0)
            elif line.startswith("ERROR:DEVICE_AWAY"):
                self.until("[WARNING] the device is back")
                self.find_back(is_back=True)
                return False
            elif not line.startswith("STATUS:") and not line.startswith("[WARNING]"):
                self.bench.found(self.name, line, command)
                return False
        return True

    def until(self, wanted):
        while True:
            line = self.line()
            if line is None or line == wanted:
                return line

    def find_back(self, is_back=False):
        """Waits until the pump is there, and all that was asked before is answered, or never will be."""
        if not is_back:
            self.until("[WARNING] the device is back")
        while True:
            self.send(b"TEMP\n")
            while True:
                line = self.line()
                if line is None or line.startswith("TEMP:"):
                    return
                if line == "[WARNING] the device is back":
                    break


class Pyserial(Talker):
    def __init__(self, bench, number, path):
        super().__init__(bench, number, "pyserial")
        self.port = serial.Serial(path, 9600, timeout=PATIENCE)
        self.send = self.port.write

    def line(self):
        line = self.port.readline()
        return line.decode().rstrip("\r\n") if line.endswith(b"\n") else None


class Piped(Talker):
    """A program that passes its standard streams on."""

    def __init__(self, bench, number, name, *command):
        super().__init__(bench, number, name)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.rest = b""

    def send(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def line(self):
        while b"\n" not in self.rest:
            if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
                return None
            data = os.read(self.process.stdout.fileno(), 4096)
            if not data:
                return None
            self.rest += data
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode().strip("\r")


class Pumpctl:
    """Our own program, started anew for each command."""

    def __init__(self, bench, number, program, port):
        self.bench, self.number, self.command = bench, number, [program, "--port", port]

    def talk(self):
        speed = self.number
        while self.bench.goes_on():
            speed = speed + 50 if speed < 200 else self.number
            done = subprocess.run(self.command + ["speed", str(speed)], capture_output=True, text=True)
            if done.returncode == 0:
                if done.stdout != f"speed {speed} ({speed * 100 // 255} %)\n":
                    self.bench.found("pumpctl", done.stdout, f"speed {speed}")
                self.bench.count()
            # 1: refused while the pump is away. 66, 69, 74, 75: it is away, comes or goes.
            elif done.returncode not in (1, 66, 69, 74, 75) or done.returncode == 1 and "DEVICE_AWAY" not in done.stderr:
                self.bench.found("pumpctl", f"{done.returncode} {done.stderr}", f"speed {speed}")


def main():
    pump, pumpctl, pumpctld = sys.argv[1:4]
    commands, unpluggings = map(int, sys.argv[4:6])
    bench = Bench(commands)
    with tempfile.TemporaryDirectory() as folder:
        path, first, second, local = (f"{folder}/{name}" for name in ("nano", "first", "second", "local"))
        cable = Cable(pump, path)
        cable.plug()
        environment = dict(os.environ, PUMPCTLD_SOCKET=f"{folder}/socket")
        os.environ.update(environment)
        daemon = subprocess.Popen(
            [pumpctld, "--port", path, "--socket", f"{folder}/socket", "--pty", first, "--pty", second, "--unix", local,
             "--tcp", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
        lines = iter(daemon.stderr.readline, "")
        log = []
        tcp = None
        for line in lines:
            log.append(line)
            tcp = tcp or re.search(r"tcp:127\.0\.0\.1:(\d+)", line)
            if tcp and "up" in line:
                break
        threading.Thread(target=lambda: log.extend(lines), daemon=True).start()
        talk(bench, cable, unpluggings, [
            Pyserial(bench, 1, first),
            Piped(bench, 2, "socat", "socat", "-", f"TCP:127.0.0.1:{tcp.group(1)}"),
            Piped(bench, 3, "tio", "tio", second),
            *(Pumpctl(bench, 4 + index, pumpctl, port) for index, port in enumerate([path, path, f"unix:{local}", first])),
        ], pumpctl, path)
        daemon.terminate()
        daemon.wait()
    print(bench.answered, "commands were answered")
    for wrong in bench.wrong:
        print(wrong)
    if bench.wrong:
        print("".join(log[-200:]))
    sys.exit(1 if bench.wrong else 0)


def talk(bench, cable, unpluggings, clients, pumpctl, path):
    subprocess.run([pumpctl, "--port", path, "on"], check=True, stdout=subprocess.DEVNULL)
    threads = [threading.Thread(target=client.talk) for client in clients]
    for thread in threads:
        thread.start()
    for number in range(unpluggings):
        with bench.changed:
            target = bench.answered + bench.rest // (unpluggings - number + 1)
            bench.changed.wait_for(lambda: bench.answered >= target)
        cable.unplug()
        cable.plug()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()

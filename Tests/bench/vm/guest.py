"""The client of the agent in the guest, which runs commands, reads and writes files, and waits for conditions."""

import dataclasses
import json
import signal
import socket
import struct

# The time limit for actions that take a second or so in a guest without KVM on a busy machine. A wait ends as soon as
# the event happens, so only a failing test waits this long.
PATIENCE = 120


class GuestError(Exception):
    """A request that the agent could not carry out; the message is the guest's traceback."""


@dataclasses.dataclass
class Result:
    """The result of a command in the guest."""

    status: int
    out: str
    err: str
    # Seconds of processor time, user and system.
    cpu: float

    def __str__(self):
        return f"exit {self.status}\n{self.out}{self.err}"


class Process:
    """A command that runs in the guest."""

    def __init__(self, guest, process_id):
        self.guest = guest
        self.id = process_id

    def wait(self, seconds):
        """Wait for the command's end; return its result. Raise AssertionError if it still runs after these seconds."""
        result = self.ended_within(seconds)
        assert result, f"still runs after {seconds} s: {self.output()}"
        return result

    def ended_within(self, seconds):
        """Wait for the command's end; return its result, or None if it still runs after these seconds."""
        answer = self.guest.request("wait", process_id=self.id, seconds=seconds)
        return Result(**answer) if answer else None

    def output(self):
        """Return standard output and standard error so far."""
        answer = self.guest.request("output", process_id=self.id)
        return answer["out"] + answer["err"]

    def standard_output(self):
        """Return standard output so far."""
        return self.guest.request("output", process_id=self.id)["out"]

    def until_output(self, text, seconds):
        """Wait until standard output or standard error contains `text`."""
        found = self.guest.request("until", expression=f"{text!r} in output_of({self.id})", seconds=seconds)
        assert found, f"no {text!r} within {seconds} s: {self.output()}"

    def feed(self, text, end=False):
        """Write to standard input; with `end`, close it."""
        self.guest.request("feed", payload=text.encode(), process_id=self.id, end=end)

    def send_signal(self, number):
        self.guest.request("send_signal", process_id=self.id, number=number)

    def cpu(self):
        """Return the processor time so far, in seconds."""
        fields = self.guest.python(f"result = open('/proc/{self.id}/stat').read()").rpartition(")")[2].split()
        ticks = int(self.guest.python("result = os.sysconf('SC_CLK_TCK')"))
        return (int(fields[11]) + int(fields[12])) / ticks

    def wakeups(self):
        """Return how often the command's threads have waited so far: their voluntary context switches."""
        return self.guest.python(
            f"import glob, re\nresult = sum(int(re.search('^voluntary_ctxt_switches:.*?(\\d+)', open(p).read(), re.M)[1])"
            f" for p in glob.glob('/proc/{self.id}/task/*/status'))")

    def descriptors(self):
        """Return the targets of the command's open descriptors, by number."""
        return self.guest.request("descriptors", process_id=self.id)

    def kill(self):
        self.send_signal(signal.SIGKILL)
        return self.wait(PATIENCE)


class Guest:
    """The agent's client, on a Unix socket that QEMU connects to a virtio port."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)

    def close(self):
        self.socket.close()

    def request(self, request, payload=b"", with_payload=False, **arguments):
        """Send a request to the agent; return its result, or with `with_payload` the payload of its answer.

        Raise GuestError if the agent could not carry it out.
        The time limit is one minute, plus `seconds` for a request that itself waits for so long.
        """
        header = json.dumps({"request": request, **arguments}).encode()
        self.socket.settimeout(arguments.get("seconds", 0) + 60)
        self.socket.sendall(struct.pack("<II", len(header), len(payload)) + header + payload)
        header_size, payload_size = struct.unpack("<II", self._read(8))
        answer = json.loads(self._read(header_size))
        answer_payload = self._read(payload_size)
        if "error" in answer:
            raise GuestError(answer["error"])
        return answer_payload if with_payload else answer["value"]

    def _read(self, count):
        data = bytearray()
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise ConnectionError("the guest has gone")
            data += piece
        return bytes(data)

    def put(self, path, data, mode=0o644):
        self.request("put", payload=data, path=path, mode=mode)

    def get(self, path):
        return self.request("get", path=path, with_payload=True)

    def start(self, *arguments, user=None):
        """Start a command as root, or as a user without supplementary groups."""
        return Process(self, self.request("start", arguments=arguments, user=user))

    def run(self, *arguments, user=None, seconds=PATIENCE):
        """Run a command to its end, with an empty standard input."""
        process = self.start(*arguments, user=user)
        process.feed("", end=True)
        return process.wait(seconds)

    def python(self, source):
        """Execute statements in the agent, which keeps their variables; return the value of `result`."""
        return self.request("python", source=source)

    def until(self, expression, seconds=PATIENCE):
        """Wait until a Python expression is true in the guest; return its value."""
        value = self.request("until", expression=expression, seconds=seconds)
        assert value, f"not within {seconds} s: {expression}"
        return value

    def read(self, path):
        """Return a small text file, such as one in /sys, without surrounding white space."""
        return self.python(f"result = open({path!r}).read().strip()")

    def settle(self):
        """Wait until udev has processed all events so far."""
        result = self.run("udevadm", "settle", f"--timeout={PATIENCE}")
        assert result.status == 0, result

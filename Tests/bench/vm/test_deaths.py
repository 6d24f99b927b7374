"""SIGKILL and SIGSTOP to a client, to pumpctld and to bluetoothd, at random points of a command to a shared pump.

The reports of pumpctl and pumpctld are compared with the firmware's output, and with the pin that drives the motor.
"""

import json
import os
import random
import re
import signal
import threading

from bench import PATIENCE, BenchTest
from bluetooth import BluetoothTest

# The seed of the points at which signals are sent: SEEDS=7, or SEEDS=7+ in a soak.
SEED = int(re.match(r"\d+", os.environ.get("SEEDS") or "1")[0])
# The commands of the client, one for each moment, again and again.
COMMANDS = (("off",), ("on",), ("speed", "120"), ("off",), ("status",))
# The parts of the firmware's lines that show whether its pump is on.
STATES = re.compile(rb"(?:PUMP:|MANUAL:|STATUS:\{State:)(?:ON|OFF)|\bSPEED:\d")
# The outcomes that a failed command may report: False for any command but OFF, True for OFF. See docs/exit-codes.md.
OUTCOMES = {False: ("not_sent", "nothing_changed", "unknown"), True: ("not_sent", "unknown")}
# Run in the guest: `subscribe` begins to receive pumpctld's updates of the state; `states` returns all updates so far.
SUBSCRIBER = r"""
import json, socket
def subscribe():
    global connection, heard
    connection, heard = socket.socket(socket.AF_UNIX), b""
    connection.connect("/tmp/pumpctld")
    connection.sendall(b'{"id":1,"do":"subscribe","events":["state"]}\n')
def states():
    global heard
    try:
        while data := connection.recv(1 << 16, socket.MSG_DONTWAIT):
            heard += data
    except (BlockingIOError, ConnectionResetError):
        pass
    messages = map(json.loads, heard.split(b"\n")[:-1])
    return [message for message in messages if message.get("event") == "state"]
os.environ["PUMPCTLD_SOCKET"] = "/tmp/pumpctld"
"""


def states(said):
    """Return the states of the pump in the firmware's output, in order."""
    return ["off" if state.endswith(b"OFF") else "on" for state in STATES.findall(said)]


class Gate:
    """A gate between an adapter and its board. From a certain byte on, it holds back all bytes until it is opened."""

    def __init__(self, wire):
        # The bytes that have reached the board, and the bytes that the board has sent, held back or not.
        self.received = b""
        self.said = b""
        self.is_shut = threading.Event()
        self._deliver = {"received": wire.nano.write, "said": wire.adapter.send}
        self._lock = threading.Lock()
        self._limits = {}
        self._held = []
        wire.adapter.on_bytes = lambda data: self._pass("received", data)
        wire.nano.on_bytes = lambda data: self._pass("said", data)

    def shut_behind(self, way, count):
        """Let `count` more bytes pass in one direction, `received` or `said`, and shut at the next one."""
        with self._lock:
            self._limits = {way: count}

    def open(self):
        """Forward the bytes that were held back, and all later ones."""
        with self._lock:
            held, self._held, self._limits = self._held, [], {}
            self.is_shut.clear()
            for way, data in held:
                self._send(way, data)

    def _pass(self, way, data):
        with self._lock:
            if way == "said":
                self.said += data
            if way in self._limits and not self.is_shut.is_set():
                passing, data = data[:self._limits[way]], data[self._limits[way]:]
                self._limits[way] -= len(passing)
                self._send(way, passing)
                if data:
                    self.is_shut.set()
            if self.is_shut.is_set():
                self._held.append((way, data))
            else:
                self._send(way, data)

    def _send(self, way, data):
        if way == "received":
            self.received += data
        if data:
            self._deliver[way](data)


class Deaths:
    """Signals to a victim while a client commands the pump, and the conditions that must hold afterwards.

    A subclass defines how the pump is reached.
    """

    # The moments of the test, one after another: in each, a victim gets a signal during one command.
    MOMENTS = ()
    # The endpoint by which pumpctld opens the pump.
    port = None
    # Additional options of `pumpctl serve`.
    SERVE = ()

    def wire_of_pump(self):
        raise NotImplementedError

    def setUp(self):
        super().setUp()
        wire = self.wire_of_pump()
        self.nano = wire.nano
        self.gate = Gate(wire)
        self.plug(wire)
        self.guest.python(SUBSCRIBER)
        self.start_daemon()

    def start_daemon(self):
        self.daemon = self.guest.start("pumpctl", "serve", "--port", self.port, "--unix", "/tmp/pump", *self.SERVE)
        self.daemon.until_output("serving", PATIENCE)
        self.said_before = len(self.gate.said)
        self.guest.python("subscribe()")
        self.guest.until("any(state['link'] == 'up' for state in states())", PATIENCE)

    def test_no_false_state_is_shown_and_no_acknowledged_off_is_lost(self):
        for number, (victim, blow) in enumerate(self.MOMENTS):
            try:
                self.moment(number, victim, blow)
            except Exception as error:
                error.add_note(f"SEEDS={SEED}, moment {number}: {victim}, {blow.name}")
                raise
        self.check_states()
        self.daemon.send_signal(signal.SIGTERM)
        self.assertEqual(self.daemon.wait(PATIENCE).status, 0)

    def moment(self, number, victim, blow):
        """Send a signal to the victim at a random point of a command, and check all reports and the pump."""
        point = random.Random(f"{SEED} {number}")
        words = COMMANDS[number % len(COMMANDS)]
        self.assertEqual(self.nano.pump()[0], False)
        if words != ("on",):
            self.nano.control("press")
            self.nano.until_pump(True, 180)
        # 40 bytes are about the length of the replies to a command. If these are shorter, the gate does not shut.
        way, count = point.choice([("received", point.randrange(len(" ".join(words)) + 2)), ("said", point.randrange(40))])
        received, said = len(self.gate.received), len(self.gate.said)
        self.gate.shut_behind(way, count)
        client = self.start(*words, port=point.choice([self.port, "unix:/tmp/pump", "shared:pump"]))
        # If the command ends before the gate shuts, the signal is sent at the command's end.
        while not self.gate.is_shut.wait(0.02) and not client.ended_within(0):
            pass
        self.strike(victim, blow, client)
        self.gate.open()
        # Without bluetoothd, pumpctl can't resolve the module's name, so an OFF by name would not reach pumpctld.
        is_off = self.ask_and_switch_off("unix:/tmp/pump" if victim == "bluetoothd" else self.port)
        self.recover(victim, blow, client)
        self.check(client.wait(PATIENCE), words, received, said)
        # A client that was stopped may send its command after this OFF.
        if is_off and (victim, blow) != ("client", signal.SIGSTOP):
            self.assertEqual(self.nano.pump()[0], False, "an acknowledged OFF is not true any more")
        if point.randrange(2):
            self.check_status()
        result = self.start("off").wait(PATIENCE)
        self.assertEqual(result.status, 0, result)
        self.assertEqual(self.nano.pump()[0], False, result)
        self.guest.until("states()[-1]['values']['state'] == 'off'", PATIENCE)

    # The victims: programs that are killed or stopped.

    def strike(self, victim, blow, client):
        """Send a signal to the victim."""
        if victim == "bluetoothd":
            self.guest.run("busybox", "killall", f"-{blow.name}", "bluetoothd")
        elif victim == "pumpctld":
            self.daemon.send_signal(blow)
        elif not client.ended_within(0):
            client.send_signal(blow)

    def recover(self, victim, blow, client):
        """Continue a stopped victim, or start a killed one again."""
        if blow == signal.SIGSTOP:
            self.strike(victim, signal.SIGCONT, client)
        elif victim == "bluetoothd":
            self.start_bluetoothd()
        elif victim == "pumpctld":
            self.assertEqual(self.daemon.wait(PATIENCE).status, -signal.SIGKILL)
            self.check_states()
            self.start_daemon()

    # Commands and checks.

    def start(self, *words, port=None, timeout="20"):
        return self.guest.start(
            "pumpctl", "--no-record", "--json", "--timeout", timeout, "--port", port or self.port, *words)

    def ask_and_switch_off(self, port):
        """Run `off` and `status` while the victim is dead or stopped; return whether OFF was acknowledged."""
        received, said = len(self.gate.received), len(self.gate.said)
        asking = self.start("status", port="unix:/tmp/pump", timeout="2")
        result = self.start("off", port=port, timeout="2").wait(PATIENCE)
        if result.status == 0:
            self.assertEqual(self.nano.pump()[0], False, f"an acknowledged OFF is not true: {result}")
        self.check(result, ("off",), received, said)
        self.check(asking.wait(PATIENCE), ("status",), received, said)
        return result.status == 0

    def check(self, result, words, received, said):
        """Check the report of a command.

        `received` and `said` are the numbers of bytes that the board had received and sent when the command began.
        """
        records = [json.loads(line) for line in result.out.splitlines()]
        truth = states(self.gate.said[said:])
        for record in records:
            if record["ok"]:
                self.assertIn(record["state"], truth, result)
            else:
                self.assertNotIn("state", record, result)
                # The record has no outcome if no link was open: then the command was not sent.
                outcome = record.get("outcome", "not_sent")
                if record["error"] == "stopped":
                    # Another program has switched the pump off after this command had switched it on.
                    self.assertEqual(truth[-1], "off", result)
                else:
                    self.assertIn(outcome, OUTCOMES[words[0] == "off"], result)
                    if outcome == "not_sent" and words[0] in ("on", "speed"):
                        self.assertNotIn(words[0].upper().encode(), self.gate.received[received:], result)
        if result.status == 0:
            self.assertEqual([record["ok"] for record in records], [True], result)
        elif result.status != -signal.SIGKILL:
            self.assertIn(result.status, (1, 66, 69, 74, 75), result)
            self.assertEqual([record["ok"] for record in records], [False], result)
            self.assertTrue(result.err, result)

    def check_status(self):
        result = self.start("status", port="shared:pump").wait(PATIENCE)
        self.assertEqual(result.status, 0, result)
        self.assertEqual(json.loads(result.out)["state"], "on" if self.nano.pump()[0] else "off")

    def check_states(self):
        """Check the states that this pumpctld has shown.

        The firmware must have reported each of them, in this order. While the link is lost, the state must be unknown.
        """
        said = iter(states(self.gate.said[self.said_before:]))
        shown = "unknown"
        for state in self.guest.python("result = states()"):
            before, shown = shown, state["values"]["state"]
            if state["link"] == "lost":
                self.assertEqual(shown, "unknown", state)
            if shown not in ("unknown", before):
                self.assertIn(shown, said, state)


class AroundHM10(Deaths, BluetoothTest):
    MOMENTS = (
        ("client", signal.SIGKILL), ("bluetoothd", signal.SIGKILL), ("pumpctld", signal.SIGKILL), ("client", signal.SIGSTOP),
        ("bluetoothd", signal.SIGSTOP), ("bluetoothd", signal.SIGKILL), ("pumpctld", signal.SIGSTOP))
    port = "ble:HMSoft"
    # Otherwise pumpctld would close the link a minute after its last client has left.
    SERVE = ("--idle", "1h")

    def wire_of_pump(self):
        return self.board(self.hm10())

    def plug(self, wire):
        wire.plug()


class AroundCable(Deaths, BenchTest):
    """A pump on an FTDI adapter, whose opening does not reset the board."""

    MOMENTS = (("pumpctld", signal.SIGKILL), ("client", signal.SIGSTOP), ("pumpctld", signal.SIGSTOP))
    port = "/dev/ttyUSB0"

    def wire_of_pump(self):
        return self.board(self.ftdi())

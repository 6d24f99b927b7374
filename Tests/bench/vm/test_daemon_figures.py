"""What pumpctld costs over BLE: figures for people to read. Nothing is asserted that depends on speed."""

import pathlib
import statistics

from bench import PATIENCE
from bluetooth import BluetoothTest

# The floor, in C with libdbus: WriteValue, and notifications up to a line end. The `ready` of the Makefile builds it.
ROUNDTRIP = pathlib.Path(__file__).resolve().parents[3] / "Benchmarks/.build/peers/ble-roundtrip"
ROUNDS = 5
ROUND_TRIPS = 20
# At most so many times the carrier's own round trip.
GOAL = 3
# For the guest: how many milliseconds something takes there.
CLOCK = r"""
import socket, subprocess
os.environ["PUMPCTLD_SOCKET"] = "/tmp/pumpctld"
def milliseconds(body):
    start = time.monotonic()
    body()
    return (time.monotonic() - start) * 1000
def run(*arguments):
    subprocess.run(["pumpctl", *arguments], check=True, stdout=subprocess.DEVNULL)
def attach(path):
    global connection, lines
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    lines = connection.makefile("rb")
def ask(request, answer):
    connection.sendall(request)
    while answer not in lines.readline():
        pass
"""


class OneShot(BluetoothTest):
    def test_figures_of_a_one_shot_through_pumpctld(self):
        module = self.answering(self.hm10())
        module.plug()
        self.guest.python(CLOCK)
        self.guest.put("/tmp/ble-roundtrip", ROUNDTRIP.read_bytes(), 0o755)
        daemon = self.guest.start("pumpctl", "serve", "--port", "ble:HMSoft", "--unix", "/tmp/pump", "--idle", "1h")
        daemon.until_output("serving", PATIENCE)
        # The link is open from here on, and all of them use it.
        self.guest.python("attach('/tmp/pump')\nask(b'STATUS\\n', b'STATUS:{')")
        one_shots = {
            "by the module's name": "run('--port', 'ble:HMSoft', 'status')",
            "by its address": f"run('--port', 'ble:{module.address}', 'status')",
            "by shared:pump": "run('--port', 'shared:pump', 'status')",
            "… pumpctl --version": "run('--version')",
            "… STATUS by an open share": "ask(b'STATUS\\n', b'STATUS:{')",
        }
        took = {name: [] for name in ("the carrier", *one_shots)}
        for _ in range(ROUNDS):
            took["the carrier"].append(self.carrier(module))
            for name, body in one_shots.items():
                took[name].append(self.guest.python(f"result = milliseconds(lambda: {body})"))
        self.assertEqual(module.connections, 1)
        median = {name: statistics.median(times) for name, times in took.items()}
        carrier = median.pop("the carrier")
        print(f"an ATT write and its notifications: {carrier:.0f} ms; a one-shot through pumpctld (goal: {GOAL} times that):")
        for name, time in median.items():
            print(f"  {name}: {time:.0f} ms, {time / carrier:.1f} times")

    def carrier(self, module):
        """The median time of a write and the notifications that it brings about, in milliseconds."""
        result = self.guest.run("/tmp/ble-roundtrip", *module.object_paths, str(ROUND_TRIPS))
        self.assertEqual(result.status, 0, result)
        return float(result.out.split()[0]) / 1000

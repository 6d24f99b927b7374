"""Measure pumpctld: its added latency, its throughput, and its cost with many clients, many devices, and idle."""
import contextlib
import json
import os
import pathlib
import select
import signal
import socket
import subprocess
import tempfile
import time

from harness import Costs, Program, ended, medians, numbers, raise_descriptor_limit

LOG_BYTES = 50_000_000
ROUND_TRIPS = 20_000
IDLE_S = 10


class Daemon(Costs):
    """pumpctld with some devices, for the duration of the `with` block.

    `devices` maps a device's name to the keys and values of its table in the configuration file.
    """

    def __init__(self, program, folder, devices):
        self.program, self.devices = program, devices
        self.socket = folder / "control"
        self.file = folder / "pumpctld.toml"
        self.notices = folder / "notices"
        tables = [("daemon", {"socket": str(self.socket)})]
        tables += [(f"device.{name}", dict(keys)) for name, keys in devices.items()]
        self.file.write_text("".join(
            f"[{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
            for name, keys in tables))

    def __enter__(self):
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.listener.bind(str(self.notices))
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.stop()
        self.listener.close()

    def start(self):
        """Start the daemon; return the seconds until it is ready and all devices are connected."""
        start = time.monotonic()
        self.process = subprocess.Popen(
            [self.program, "--config", self.file], stderr=subprocess.DEVNULL,
            env=dict(os.environ, NOTIFY_SOCKET=str(self.notices)))
        self.listener.settimeout(60)
        is_ready = False
        status = ""
        while not is_ready or status.count(" connected") < len(self.devices):
            for line in self.listener.recv(1 << 20).decode().split("\n"):
                is_ready |= line == "READY=1"
                if line.startswith("STATUS="):
                    status = line
        return time.monotonic() - start

    def stop(self):
        self.process.terminate()
        ended(self.process)

    def restart(self):
        """End the daemon and start it again; return the seconds until all devices are connected again."""
        start = time.monotonic()
        self.stop()
        self.start()
        return time.monotonic() - start


@contextlib.contextmanager
def socat(*addresses):
    """Run socat between two of its addresses, for the duration of the `with` block."""
    process = subprocess.Popen(["socat", *addresses], stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        ended(process)


def free_port():
    """Return a TCP port of 127.0.0.1 that no program uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def pump(endpoint, **shares):
    """Return the table of a pump for `Daemon`, with keys such as `unix` and `pty` for its shares."""
    return {"endpoint": endpoint, "family": "pump", **shares}


def added_time(table, options, folder):
    """Compare the round trips with a pump directly, through pumpctld, and through socat."""
    roundtrip = options.peers / "roundtrip"
    with Program(options.peers / "responder", 3, lines=3) as pumps:
        direct, shared, relayed = pumps.said
        with Daemon(options.pumpctld, folder, {"pump": pump(shared, unix=str(folder / "pump"))}), \
                socat(f"UNIX-LISTEN:{folder}/relayed,fork", f"{relayed},raw,echo=0"):
            result = medians(options.rounds, {
                "direct": lambda: numbers(roundtrip, direct, ROUND_TRIPS),
                "pumpctld": lambda: numbers(roundtrip, f"unix:{folder}/pump", ROUND_TRIPS),
                "socat": lambda: numbers(roundtrip, f"unix:{folder}/relayed", ROUND_TRIPS),
            })
    median = {name: figures[0] for name, figures in result.items()}
    added, by_socat = (median[name] - median["direct"] for name in ("pumpctld", "socat"))
    table.add("a command through pumpctld, added to its median", f"{added:.1f} µs on {median['direct']:.1f}",
              f"{by_socat:.1f} µs (socat)", f"{added / by_socat:.2f}", "≤ 25 µs, ≤ 1.3", added <= min(25, by_socat * 1.3))


def throughput(table, options, folder):
    """Compare the download of a log from a pseudo-terminal over TCP, through pumpctld and through socat."""
    download = options.peers / "download"
    with Program(options.peers / "storm", LOG_BYTES, lines=1) as shared, \
            Program(options.peers / "storm", LOG_BYTES, lines=1) as relayed:
        port = free_port()

        def by_socat():
            port = free_port()
            with socat(f"TCP-LISTEN:{port},bind=127.0.0.1,reuseaddr", f"{relayed.said[0]},raw,echo=0"):
                return numbers(download, port, LOG_BYTES)

        device = {"endpoint": shared.said[0], "family": "storm", "tcp": str(port)}
        with Daemon(options.pumpctld, folder, {"storm": device}) as daemon:
            # The memory is compared from the second download on.
            numbers(download, port, LOG_BYTES)
            before = daemon.memory()
            result = medians(options.rounds, {
                "pumpctld": lambda: numbers(download, port, LOG_BYTES), "socat": by_socat})
            grown = daemon.memory() - before
    ours, peer = result["pumpctld"][0], result["socat"][0]
    table.add("a log through pumpctld, pty to TCP", f"{ours:.0f} MB/s", f"{peer:.0f} MB/s (socat)",
              f"{ours / peer:.2f}", "≥ 0.5", ours >= 0.5 * peer)
    logged = LOG_BYTES * options.rounds / 1e6
    table.add("… its peak memory grows by", f"{grown:.1f} MiB in {logged:.0f} MB", "", "", "≤ 1 MiB", grown <= 1)


def crowd(table, options, folder):
    """Compare one client's round trips without other clients and beside 99 clients that never read.

    Before the measurement, each pump sends 50 kB of unsolicited lines, which go to all clients.
    """
    folders = [folder / name for name in ("alone", "crowded")]
    for each in folders:
        each.mkdir()
    with contextlib.ExitStack() as stack:
        # After every 500 replies, a pump sends an unsolicited line, which goes to all clients.
        pumps = [stack.enter_context(Program(options.peers / "responder", 1, 500, lines=1)) for _ in folders]
        _, daemon = [
            stack.enter_context(
                Daemon(options.pumpctld, each, {"pump": pump(responder.said[0], unix=str(each / "pump"))}))
            for each, responder in zip(folders, pumps)]
        alone, crowded = (f"unix:{each}/pump" for each in folders)
        others = stack.enter_context(Program(options.peers / "crowd", crowded, 99))
        for responder in pumps:
            responder.process.send_signal(signal.SIGUSR1)
            responder.process.stdout.readline()
        result = medians(options.rounds, {
            name: lambda address=address: numbers(options.peers / "roundtrip", address, ROUND_TRIPS)
            for name, address in (("alone", alone), ("crowded", crowded))})
        memory = daemon.memory()
        others.process.stdin.close()
        connected = int(others.process.stdout.readline())
    percentile = {name: figures[2] for name, figures in result.items()}
    ratio = percentile["crowded"] / percentile["alone"]
    table.add(f"a round trip's 99th percentile, {connected} others not reading", f"{percentile['crowded']:.3g} µs",
              f"{percentile['alone']:.3g} µs (alone)", f"{ratio:.2f}", "≤ 1.2", ratio <= 1.2 and connected == 99)
    table.add("… pumpctld's peak memory", f"{memory:.1f} MiB", "", "", "< 32 MiB", memory < 32)


def ask_in_turn(daemon, names, period_s, duration_s):
    """Ask each device for its status once per period; return the number of queries without a successful reply."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(daemon.socket))
    connection.settimeout(10)
    lines = connection.makefile("rb")
    lines.readline()  # the greeting
    start = time.monotonic()
    asked = answered = told = 0
    while asked < len(names) * duration_s / period_s:
        time.sleep(max(0, start + asked * period_s / len(names) - time.monotonic()))
        request = {"id": asked, "do": "command", "device": names[asked % len(names)], "name": "status"}
        connection.sendall(json.dumps(request).encode() + b"\n")
        asked += 1
        # Take only the replies that have arrived; the others are taken after a later request.
        while select.select([connection], [], [], 0)[0] and answered < asked:
            answered, told = answered + 1, told + json.loads(lines.readline())["ok"]
    while answered < asked and (line := lines.readline()):
        answered, told = answered + 1, told + json.loads(line)["ok"]
    connection.close()
    return asked - told


def fleet(table, options, folder, count=1000, period_s=5, duration_s=10):
    """Measure the load and the memory of pumpctld with many devices, each with a share and asked now and then."""
    raise_descriptor_limit()
    with Program(options.peers / "responder", count, lines=count) as pumps:
        devices = {f"pump{index}": pump(path, unix=str(folder / f"{index}")) for index, path in enumerate(pumps.said)}
        with Daemon(options.pumpctld, folder, devices) as daemon:
            ask_in_turn(daemon, list(devices), period_s, 1)
            before, start = daemon.cpu(), time.monotonic()
            missing = ask_in_turn(daemon, list(devices), period_s, duration_s)
            load = (daemon.cpu() - before) / (time.monotonic() - start) * 100
            memory = daemon.memory()
    table.add(f"{count} devices, each asked every {period_s} s", f"{load:.1f} % of a core", "",
              "", "< 25 %", load < 25 and missing == 0)
    table.add("… pumpctld's peak memory", f"{memory:.0f} MiB", "", "", "< 128 MiB", memory < 128)


def few(table, options, folder, count=10):
    """Measure the wake-ups of an idle pumpctld and the time of its restart, with a few silent devices."""
    with Program(options.peers / "responder", count, lines=count) as pumps:
        devices = {
            f"pump{index}": pump(path, pty=str(folder / f"{index}"), unix=str(folder / f"{index}.socket"))
            for index, path in enumerate(pumps.said)}
        with Daemon(options.pumpctld, folder, devices) as daemon:
            before = daemon.switches()
            time.sleep(IDLE_S)
            rate = (daemon.switches() - before) / IDLE_S
            restart = medians(options.rounds, {"restart": lambda: [daemon.restart()]})["restart"][0]
    table.add(f"idle with {count} devices, wake-ups", f"{rate:.1f} /s", "", "", "< 2 /s", rate < 2)
    table.add(f"a restart with {count} devices, until all are there", f"{restart * 1000:.0f} ms", "", "", "< 1000 ms",
              restart < 1)


def measure(table, options):
    for part in (added_time, throughput, crowd, few, fleet):
        with tempfile.TemporaryDirectory(prefix="pumpctl-benchmark-") as folder:
            part(table, options, pathlib.Path(folder))

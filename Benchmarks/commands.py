"""Measure commands that run for long or print much: a log, a history, a monitor, the console, many sessions."""
import contextlib
import os
import pathlib
import pty
import select
import sqlite3
import subprocess
import tempfile
import time

from harness import PYTHON, Costs, Program, Responder, ended, medians, numbers, raise_descriptor_limit

LOG_BYTES = 50_000_000
SHOWN_BYTES = 5_000_000
ROWS = 10_000_000
SESSIONS = 1000
IDLE_S = 20


def log_get(table, options):
    """Compare a log download from a pseudo-terminal into a file with a C program that reads the log and drops it."""
    with tempfile.TemporaryDirectory() as folder, Program(options.peers / "storm", LOG_BYTES) as storm:
        log = pathlib.Path(folder) / "log"

        def ours():
            log.unlink(missing_ok=True)
            return numbers(options.peers / "launch", 1, options.pumpctl, "--port", storm.said[0], "storm", "log", "get",
                           "--quiet", "300ms", "-o", log)

        result = medians(options.rounds, {
            "ours": ours, "C": lambda: numbers(options.peers / "download", storm.said[0], LOG_BYTES)})
    (time_us, memory_kib), peer = result["ours"], result["C"][0]
    # Without the 0.3 s (--quiet) for which pumpctl waits after the last byte.
    rate = LOG_BYTES / (time_us - 300_000)
    table.add("`storm log get`, 50 MB into a file", f"{rate:.0f} MB/s", f"{peer:.0f} MB/s (C)", f"{rate / peer:.2f}", "≥ 0.5",
              rate >= 0.5 * peer)
    table.add("… its peak memory", f"{memory_kib / 1024:.1f} MiB", "", "", "≤ 16 MiB", memory_kib <= 16 << 10)


def fill(record):
    """Copy the only reading of a record to ROWS readings, 100 ms apart.

    Return the times of the first and the last reading, in whole seconds since 1970.
    """
    with contextlib.closing(sqlite3.connect(record, isolation_level=None)) as base:
        base.execute("PRAGMA synchronous = OFF")
        [(session, first, kind, reading)] = base.execute("SELECT session_id, time_ms, kind, reading FROM telemetry")
        first -= ROWS * 100
        base.execute(
            "WITH RECURSIVE row(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM row WHERE i < ?) "
            "INSERT INTO telemetry (session_id, time_ms, kind, reading) SELECT ?, ? + i * 100, ?, ? FROM row",
            (ROWS - 2, session, first, kind, reading))
    return first // 1000, first // 1000 + ROWS // 10


def history(table, options):
    """Compare an export of one hour of a large record with a Python script, and measure an export of all of it."""
    with tempfile.TemporaryDirectory() as home, Responder(options.peers) as port:
        environment = dict(os.environ, HOME=home)
        numbers(options.peers / "launch", 1, options.pumpctl, "--port", port, "--record", "status", environment=environment)
        record = pathlib.Path(home) / ".local/share/pumpctl/record.sqlite"
        first, last = fill(record)
        middle = (first + last) // 2
        hour = [time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(middle + offset)) for offset in (0, 3600)]
        launch = [options.peers / "launch", 1, options.pumpctl, "history", "--csv"]
        all_rows = numbers(*launch, environment=environment)
        part = medians(options.rounds, {
            "ours": lambda: numbers(*launch, "--since", hour[0], "--until", hour[1], environment=environment),
            "sqlite3": lambda: numbers(options.peers / "launch", 1, PYTHON, "-c", (
                "import csv, json, sqlite3, sys\n"
                "writer = csv.writer(sys.stdout)\n"
                "for time, reading in sqlite3.connect(sys.argv[1]).execute('SELECT time_ms, reading FROM telemetry "
                "WHERE time_ms >= ? AND time_ms < ?', [int(word) * 1000 for word in sys.argv[2:]]):\n"
                "    writer.writerow([time, *json.loads(reading).values()])"), record, middle, middle + 3600),
        })
    table.at_most("`history --csv`, an hour of 10 million rows", "ms", part["ours"][0], "Python", part["sqlite3"][0], 1,
                  per_unit=1000)
    rate = ROWS / all_rows[0] * 1000
    table.add("… all of them", f"{rate:.0f} k/s", "", "", "≥ 200 k/s", rate >= 200)
    table.add("… peak memory", f"{all_rows[1] / 1024:.1f} MiB", "", "", "≤ 16 MiB", all_rows[1] <= 16 << 10)


def monitor(table, options):
    """Measure a monitor whose user types nothing, and whose pump sends nothing unsolicited."""
    with Responder(options.peers) as port:
        watching = Costs()
        watching.process = subprocess.Popen(
            [options.pumpctl, "--port", port, "--no-record", "--json", "monitor"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        watching.process.stdout.readline()
        before, cpu = watching.switches(), watching.cpu()
        time.sleep(IDLE_S)
        rate, load = (watching.switches() - before) / IDLE_S, (watching.cpu() - cpu) / IDLE_S * 100
        memory = watching.memory()
        watching.process.terminate()
        ended(watching.process)
    table.add("`monitor` of a silent pump, wake-ups", f"{rate:.1f} /s, {load:.1f} % of a core", "", "", "≤ 4 /s", rate <= 4)
    table.add("… its peak memory", f"{memory:.1f} MiB", "", "", "≤ 12 MiB", memory <= 12)


def shown(command):
    """Type GET_LOG into a program on a terminal; return the rate in MB/s at which it displays the log."""
    child, terminal = pty.fork()
    if not child:
        os.execvp(command[0], [str(word) for word in command])
    lines, start = 0, None
    # A program that has drawn nothing for a second has started, and reads its input. picocom draws nothing at all.
    while select.select([terminal], [], [], 1)[0]:
        os.read(terminal, 1 << 16)
    os.write(terminal, b"GET_LOG\r")
    # The log has 12 bytes of prefix and rows of 18 bytes.
    wanted = (SHOWN_BYTES - 12) // 18
    while lines < wanted:
        heard = os.read(terminal, 1 << 16)
        start = start or time.monotonic()
        lines += heard.count(b"\n")
    rate = SHOWN_BYTES / (time.monotonic() - start) / 1e6
    os.kill(child, 9)
    os.waitpid(child, 0)
    os.close(terminal)
    return [rate]


def characters(table, options):
    """Compare the rates at which the console, tio and picocom display a log."""
    with Program(options.peers / "storm", SHOWN_BYTES) as storm:
        port = storm.said[0]
        # By default, neither tio nor picocom sends a line feed for the return key, and the sensor needs one.
        result = medians(options.rounds, {
            "ours": lambda: shown([options.pumpctl, "--port", port, "--family", "raw", "console"]),
            "tio": lambda: shown(["tio", "--map", "OCRNL", port]),
            "picocom": lambda: shown(["picocom", "--quiet", "--omap", "crlf", port]),
        })
    ours, tio, picocom = (result[name][0] for name in ("ours", "tio", "picocom"))
    table.add("`console`, lines shown", f"{ours:.1f} MB/s", f"{tio:.1f} (tio), {picocom:.1f} (picocom)", f"{ours / tio:.2f}",
              "≥ 1 × tio", ours >= tio)


def sessions(table, options):
    """Measure one program with many sessions, each of which asks its pump for the status every 5 s."""
    raise_descriptor_limit()
    with Program(options.peers / "responder", SESSIONS, lines=SESSIONS) as pumps:
        load, memory = numbers(options.programs / "many-sessions", *pumps.said)
    table.add(f"a host of {SESSIONS} sessions, each asking every 5 s", f"{load:.1f} % of a core", "", "", "< 15 %", load < 15)
    table.add("… its peak memory", f"{memory:.0f} MiB", "", "", "< 64 MiB", memory < 64)


def measure(table, options):
    for part in (log_get, history, monitor, characters, sessions):
        part(table, options)

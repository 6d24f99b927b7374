#!/usr/bin/env python3
"""Check the output of commands with --json against packaging/schema/pumpctl.schema.json: check.py PROGRAMS

PROGRAMS is the folder of pumpctl and fake-bluez. Each command is run with simulated devices. The schema allows unknown
keys, which a later version may add; here an unknown key is a mistake. Each kind of line in the schema must occur.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import jsonschema

PROGRAMS = pathlib.Path(sys.argv[1]).resolve()
SCHEMA = json.loads((pathlib.Path(__file__).parents[3] / "packaging/schema/pumpctl.schema.json").read_text())

# Commands that run at the same time: the arguments, the exit code (None for any), and for each printed line the name of
# its definition in the schema. A "+" after a name stands for one or more such lines, a "*" for any number.
CASES = [
    ("", 0, "pumpctl"),
    ("--port sim:pump on", 0, "on"),
    ("--port sim:pump on --speed 200 --for 0.1s", 0, "on off"),
    ("--port sim:pump off", 0, "off"),
    ("--port sim:pump speed 100", 1, "failure"),
    ("--port sim:pump speed 300", 64, "failure"),
    ("--port sim:pump status", 0, "status"),
    ("--port sim:pump temp", 0, "temp"),
    ("--port sim:pump?thermistors=0 status", 0, "status"),
    ("--port sim:pump?thermistors=1 temp", 0, "temp"),
    ("--port sim:pump?fault=silence --timeout 0.05 on", 75, "failure"),
    ("--port sim:nothing status", 64, "failure"),
    ("--port ./nothing status", 66, "failure"),
    ("status --nothing", 64, "failure"),
    ("--port sim:storm storm log get -o log", 0, "storm_log_get"),
    ("--port sim:storm storm log get -o nothing/log", 66, "failure"),
    ("--port sim:led led toggle", 0, "led"),
    ("--port sim:peer peer say hello", 0, "peer_say"),
    ("--port sim:peer peer toggle on", 0, "peer_toggle"),
    ("--port sim:peer peer image get -o image", 0, "peer_image_get"),
    ("--port sim:peer?interval=0.2s peer listen --count 2", 0, "peer_listen peer_listen"),
    ("--port sim:rescue?malformed=100 rescue listen --count 2", 0, "rescue_listen rescue_listen+"),
    ("--port sim:raw send ?", 0, "send"),
    ("--port sim:module module info", 0, "module"),
    ("--port sim:module module name pump1", 0, "module"),
    ("--port sim:module module baud 9600", 64, "failure"),
    ("--port sim:pump module info", 76, "failure"),
    ("ports", 0, "ports*"),
    ("doctor", None, "doctor+"),
    ("doctor ./nothing", 66, "doctor+ failure"),
    ("forget ble:nothing", 66, "failure"),
    ("--port sim:led verify", 0, "verify verify+ verify_end"),
    ("--port sim:led?fault=stuck@command:2 verify --only led.on", 2, "verify verify_end"),
    ("--port sim:led verify --list", 0, "verify_list+"),
    ("--port ./nothing verify", 66, "failure*"),
    ("--port sim:pump latency --count 5", 0, "latency"),
    ("--port sim:raw latency --question ? --count 5", 0, "latency"),
    ("replay nothing", 66, "failure"),
]
# Commands that run one after another in a common folder, because each needs the one before.
SEQUENCE = [
    ("history", 0, ""),
    ("--port sim:pump monitor --interval 0.5s --count 2", 0, "monitor monitor"),
    ("--port sim:led monitor --count 1", 0, "monitor"),
    ("--port sim:storm storm log live --count 1", 0, "storm_log_live"),
    ("history", 0, "history history history history"),
    ("history --events", 0, "history*"),
    ("history --sessions", 0, "history_sessions history_sessions history_sessions"),
    ("history --where", 0, "history_where"),
    ("--port sim:rescue rescue send --category Other --at 1,2 hello", 0, "rescue_send"),
    ("--port sim:rescue rescue sync", 0, "rescue_sync"),
    ("rescue list", 0, "rescue_list+"),
    ("sim pump --wait --link ./pump --control ./used --expect baud", 0, "sim"),
    ("--port ./pump on --speed 50%", 0, "on"),
    ("--port ./pump speed 200", 0, "speed"),
    ("--port ./pump status", 0, "status"),
    ("sim ctl ./used stop", 0, "sim_ctl"),
    ("sim pump --wait --control ./control --expect baud", 0, "sim"),
    ("sim ctl ./control state", 0, "sim_ctl"),
    ("sim ctl ./control verbs", 0, "sim_ctl"),
    ("sim ctl ./control nothing", 64, "failure"),
    ("sim ctl ./control stop", 2, "sim_ctl"),
    ("sim ctl ./nothing state", 66, "failure"),
    ("sim led --count 2 --link ./led%d --wait --control ./several", 0, "sim"),
    ("--port ./led2 led on", 0, "led"),
    ("sim ctl ./several stop", 0, "sim_ctl"),
]
# Commands that run one after another with a fake bluetoothd. The first one stores an address that the last one forgets.
BLUETOOTH = [
    ("--port ble:HMSoft status", 0, "status"),
    ("scan --for 1s", 0, "scan scan"),
    ("gatt ble:HMSoft list", 0, "gatt_list"),
    ("gatt ble:HMSoft read FFE1", 0, "gatt"),
    ("gatt ble:HMSoft read FFE1 --type u8", 76, "gatt failure"),
    ("gatt ble:HMSoft write FFE1 0x0a", 0, "gatt"),
    ("gatt ble:HMSoft read 2A00", 66, "failure"),
    ("doctor ble:HMSoft", None, "doctor+"),
    ("forget ble:HMSoft", 0, "forget"),
]


def closed(schema):
    """Return a copy of the schema in which no object may have other keys than the named ones."""
    if isinstance(schema, list):
        return [closed(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: closed(value) for key, value in schema.items()}
    return {"additionalProperties": False} | schema if schema.get("type") == "object" and "properties" in schema else schema


CLOSED = closed(SCHEMA)


def flaw(line, name):
    """Return the reason why a line does not fit the definition `name`; None if it fits."""
    validator = jsonschema.Draft202012Validator({"$defs": CLOSED["$defs"], "$ref": f"#/$defs/{name}"})
    error = jsonschema.exceptions.best_match(validator.iter_errors(line))
    return error and f"not {name}: {error.json_path}: {error.message}"


def expected(names, count):
    """Return the name of the definition of each of `count` lines; None if `names` does not fit that number.

    At most one name is repeated ("+" or "*"): it takes the lines that the others leave.
    """
    words = names.split()
    spare = count - sum(not word.endswith(("+", "*")) for word in words)
    lines = []
    for word in words:
        name = word.rstrip("+*")
        if word.endswith("+") and spare < 1:
            return None
        lines += [name] * (spare if word != name else 1)
    return lines if len(lines) == count else None


def run(case, folder, bus=""):
    """Run a command with this address of the system bus; return its mistakes, and the definitions of its lines."""
    arguments, status, names = case
    environment = {"PATH": os.environ["PATH"], "HOME": folder, "LANG": "C.UTF-8", "DBUS_SYSTEM_BUS_ADDRESS": bus or "unix:path=/nothing"}
    done = subprocess.run([PROGRAMS / "pumpctl", "--json", *arguments.split()], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=60)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = expected(names, len(lines))
    flaws = [] if status in (None, done.returncode) else [f"the exit code is {done.returncode}"]
    flaws += [f"{len(lines)} lines instead of: {names}"] if kinds is None else filter(None, map(flaw, lines, kinds))
    if kinds == ["failure"] and lines[0].get("exit_code") != done.returncode:
        flaws.append("exit_code is not the exit code")
    return [f"pumpctl --json {arguments}: {text}\n{done.stdout}{done.stderr}" for text in flaws], kinds or []


def run_all(cases, folder, bus=""):
    """Run commands one after another."""
    return [run(case, folder, bus) for case in cases]


def main():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(4) as pool, \
            subprocess.Popen([PROGRAMS / "fake-bluez"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as bluetooth:
        def folder(name):
            path = pathlib.Path(work) / name
            path.mkdir()
            return str(path)

        results = [
            pool.submit(run_all, BLUETOOTH, folder("bluetooth"), bluetooth.stdout.readline().strip()),
            pool.submit(run_all, SEQUENCE, folder("sequence"))]
        results += [pool.submit(run_all, [case], folder(str(number))) for number, case in enumerate(CASES)]
        runs = [entry for result in results for entry in result.result()]
    flaws = [text for texts, _ in runs for text in texts]
    seen = {kind for _, kinds in runs for kind in kinds}
    # `times` and `otherFields` are parts of lines.
    lines = {name for name, schema in SCHEMA["$defs"].items() if schema.get("type") == "object"} - {"times", "otherFields"}
    # `ports` prints nothing on a machine without serial ports.
    flaws += [f"no line was a {name}" for name in sorted(lines - seen - {"ports"})]
    sys.exit("\n".join(flaws) if flaws else None)


main()

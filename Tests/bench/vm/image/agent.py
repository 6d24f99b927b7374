"""Runs in the guest, as its first process or as a systemd service, and carries out the bench's requests: agent.py PORT

A request consists of two 32-bit lengths, a JSON object and a payload, and so does the answer. Requests are handled one
at a time, in order. `guest.py` is the client.
"""

import json
import os
import select
import struct
import subprocess
import sys
import time
import traceback

processes = {}
# The namespace shared by `python` requests, so that one can open a port and the next can close it.
namespace = {}


def put(payload, path, mode):
    with open(path, "wb") as file:
        file.write(payload)
    os.chmod(path, mode)


def get(payload, path):
    with open(path, "rb") as file:
        return None, file.read()


def start(payload, arguments, user):
    name = f"/tmp/process.{len(processes)}"
    with open(name + ".out", "wb") as out, open(name + ".err", "wb") as err:
        process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=out, stderr=err, user=user, group=user,
            extra_groups=None if user is None else [])
    process.pidfd = os.pidfd_open(process.pid)
    processes[process.pid] = process, name
    return process.pid


def feed(payload, process_id, end):
    process, _ = processes[process_id]
    process.stdin.write(payload)
    process.stdin.flush()
    if end:
        process.stdin.close()


def wait(payload, process_id, seconds):
    """Waits for a process to end; answers null if it does not end within `seconds`. Status -9 is SIGKILL."""
    process, name = processes[process_id]
    if process.returncode is None:
        if not select.select([process.pidfd], [], [], seconds)[0]:
            return None
        _, status, usage = os.wait4(process_id, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.cpu = usage.ru_utime + usage.ru_stime
        os.close(process.pidfd)
    return {"status": process.returncode, "cpu": process.cpu, **output(None, process_id)}


def output(payload, process_id):
    """Answers with the output of a process so far."""
    _, name = processes[process_id]
    return {stream: open(f"{name}.{stream}", errors="replace").read() for stream in ("out", "err")}


def has_ended(process_id):
    process, _ = processes[process_id]
    return process.returncode is not None or bool(select.select([process.pidfd], [], [], 0)[0])


def descriptors(payload, process_id):
    """Answers with the targets of a process's open descriptors, by number; with none if it has ended."""
    folder = f"/proc/{process_id}/fd"
    try:
        return {number: os.readlink(f"{folder}/{number}") for number in os.listdir(folder)}
    except FileNotFoundError:
        # A descriptor was closed during the listing, or the process has ended.
        return descriptors(payload, process_id) if os.path.exists(folder) else {}


def send_signal(payload, process_id, number):
    os.kill(process_id, number)


def python(payload, source):
    """Executes statements; answers with the value of their variable `result`."""
    namespace.pop("result", None)
    exec(source, namespace)
    return namespace.get("result")


def until(payload, expression, seconds):
    """Waits until an expression is true, and answers with its value; with its last value if time runs out.

    It may use `output_of(process)`, `standard_output_of(process)`, `has_ended(process)` and `descriptors_of(process)`.
    """
    begun = time.monotonic()
    while True:
        value = eval(expression, namespace)
        waited = time.monotonic() - begun
        if value or waited > seconds:
            return value
        # Polling takes processor time from the awaited event, so the longer the wait, the rarer the polls.
        time.sleep(min(0.005 + waited / 20, 0.1))


requests = {f.__name__: f for f in (put, get, start, feed, wait, output, descriptors, send_signal, python, until)}


def read(port, count):
    data = bytearray(count)
    rest = memoryview(data)
    while rest:
        size = os.readv(port, [rest])
        if size == 0:
            # No bench is connected: the guest is about to be saved, or was just resumed.
            time.sleep(0.02)
        rest = rest[size:]
    return data


def write(port, data):
    while data:
        data = data[os.write(port, data):]


def serve(port):
    while True:
        header_size, payload_size = struct.unpack("<II", read(port, 8))
        header = json.loads(read(port, header_size))
        payload = read(port, payload_size)
        answer, answer_payload = {}, b""
        try:
            value = requests[header.pop("request")](payload, **header)
            if isinstance(value, tuple):
                value, answer_payload = value
            answer["value"] = value
        except Exception:
            answer["error"] = traceback.format_exc(limit=-2)
        answer = json.dumps(answer).encode()
        write(port, struct.pack("<II", len(answer), len(answer_payload)) + answer + answer_payload)


namespace.update(
    os=os, time=time,
    has_ended=has_ended,
    standard_output_of=lambda process_id: output(None, process_id)["out"],
    output_of=lambda process_id: "".join(output(None, process_id).values()),
    descriptors_of=lambda process_id: descriptors(None, process_id).values())
serve(os.open(sys.argv[1], os.O_RDWR))

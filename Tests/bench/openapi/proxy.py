"""Check the HTTP interface through nginx as a reverse proxy, with the configuration in docs/http.md."""

import json
import re
import shutil
import ssl
import http.client
import os
import socket
import subprocess

import page
import rig

HOST = "bench.example"


def check(bench: rig.Rig) -> str:
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin")
    if not nginx:
        raise SystemExit("nginx is missing (Debian: nginx-light)")
    bench.start_devices(pump="pump")
    bench.start_daemon()
    path = bench.folder / "http"
    bench.start_page(f"unix:{path}", "--host", HOST)
    block = next(text for kind, text in page.blocks() if kind == "nginx")
    port = free_port()
    certificate = bench.folder / "certificate"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", f"/CN={HOST}", "-addext",
         f"subjectAltName=DNS:{HOST}", "-keyout", f"{certificate}.key", "-out", f"{certificate}.crt"],
        check=True, capture_output=True)
    for before, after in [
            ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"), ("/etc/ssl/bench.example", str(certificate)),
            ("/run/pumpctl-page/http", str(path))]:
        if before not in block:
            raise SystemExit(f"the block of docs/http.md has no '{before}'")
        block = block.replace(before, after)
    # As root, nginx's workers would run as another user, who can't enter the bench's folder.
    user = "user root;\n" if os.geteuid() == 0 else ""
    temporary = "".join(
        f"{kind}_temp_path {bench.folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    settings = bench.folder / "nginx.conf"
    settings.write_text(
        f"{user}daemon off;\npid {bench.folder}/nginx.pid;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{temporary}{block}}}\n")
    bench.start("nginx", nginx, "-c", str(settings), "-e", "stderr")
    rig.wait(lambda: is_open(port) or bench.processes["nginx"].poll() is not None, "nginx")
    if bench.processes["nginx"].poll() is not None:
        raise SystemExit(bench.log("nginx"))

    context = ssl.create_default_context(cafile=f"{certificate}.crt")

    def ask(method: str, target: str, body=None, token: str | None = None, host: str = HOST) -> http.client.HTTPResponse:
        connection = http.client.HTTPSConnection(HOST, port, timeout=rig.PATIENCE, context=context)
        connection.sock = context.wrap_socket(
            socket.create_connection(("127.0.0.1", port), rig.PATIENCE), server_hostname=HOST)
        headers = {"Host": host, "Origin": f"https://{host}"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection.request(method, target, None if body is None else json.dumps(body), headers)
        return connection.getresponse()

    answer = ask("POST", "/api/v1/session", {"code": bench.code()})
    if answer.status != 201:
        raise SystemExit(f"logging in through nginx: {answer.status} {answer.read()!r}")
    token = json.load(answer)["token"]
    stream = ask("GET", "/api/v1/events", token=token)
    # If nginx buffered the stream, nothing would arrive before its end.
    wait_for(stream, "event: snapshot")
    stop = ask("POST", "/api/v1/devices/pump/stop", token=token)
    if stop.status != 200 or json.load(stop)["outcome"] != "done":
        raise SystemExit(f"stop through nginx: {stop.status}")
    wait_for(stream, "event: command")
    wait_for(stream, r": \d+ ")
    wrong = ask("GET", "/api/v1/devices", token=token, host="rebound.example")
    if wrong.status != 421:
        raise SystemExit(f"another host through nginx: {wrong.status}")
    version = subprocess.run([nginx, "-v"], capture_output=True, text=True, check=True).stderr
    return f"{version.split(': ')[1].strip()}: log in, events, stop"


def wait_for(stream: http.client.HTTPResponse, pattern: str) -> None:
    """Read a stream up to a line; a silence of PATIENCE seconds is an error."""
    while line := stream.readline().decode():
        if re.match(pattern, line):
            return
    raise SystemExit(f"the stream ended before '{pattern}'")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def is_open(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0

"""Requests to which every route answers, and almost every error occurs. Each answer is checked against the document."""

import http.client
import re
import signal
import threading
import uuid

import document
import rig

API = "/api/v1"


class Events:
    """A client of the stream of events, on a thread of its own."""

    def __init__(self, bench: rig.Rig, token: str, **headers: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", bench.port, timeout=rig.PATIENCE)
        self.connection.request("GET", f"{API}/events", headers={
            "Authorization": f"Bearer {token}", **{name.replace("_", "-"): value for name, value in headers.items()}})
        self.response = self.connection.getresponse()
        # The events with their numbers, and the numbers of the comments.
        self.events: list[tuple[int, str, str]] = []
        self.comments: list[int] = []
        self.has_ended = False
        threading.Thread(target=self.read, daemon=True).start()

    def read(self) -> None:
        fields: dict[str, str] = {}
        for line in self.response:
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name:
                fields[name] = value
            elif value:
                self.comments.append(int(value.split()[0]))
            elif fields:
                self.events.append((int(fields["id"]), fields["event"], fields["data"]))
                fields = {}
        self.has_ended = True

    def wait(self, name: str, text: str = "") -> None:
        rig.wait(lambda: any(name == event and text in data for _, event, data in list(self.events)), f"event {name} {text}")


def check(bench: rig.Rig) -> str:
    bench.start_devices()
    bench.start_daemon()
    captures = bench.folder / "captures"
    captures.mkdir()
    (captures / "pump.capture").write_text('{"pumpctl_capture":1,"family":"pump","started":"2026-11-28T02:00:00.000Z"}\n')
    bench.start_page("0", "--captures", str(captures))
    known = document.Document()

    def ask(method: str, path: str, body=None, token: str | None = None, **headers: str) -> rig.Answer:
        answer = bench.ask(method, path, body, token, **headers)
        known.check(method, path, answer)
        return answer

    def expect(code: str, answer: rig.Answer, outcome: str | None = None) -> None:
        got = answer.json if answer.type.endswith("json") else {}
        if f"{answer.status} {got.get('code', got.get('outcome', ''))}".strip() != code:
            raise SystemExit(f"{code} was expected: {answer.status} {answer.body!r}")
        if outcome and got.get("outcome") != outcome:
            raise SystemExit(f"{outcome} was expected: {answer.body!r}")

    page = ask("GET", "/")
    expect("200", page)
    for path in re.findall(r'"(/page/[^"]*)"', page.body.decode()):
        expect("200", ask("GET", path))
    expect("404 no_such_path", ask("GET", "/page/1/main.js"))
    expect("200", ask("GET", f"{API}/openapi.json"))
    if ask("GET", f"{API}/openapi.json").json != known.root:
        raise SystemExit("the page serves another document")

    # If the reply to HEAD had a body, the connection would take it for the next reply.
    connection = http.client.HTTPConnection("127.0.0.1", bench.port, timeout=rig.PATIENCE)
    for method, status in (("HEAD", 405), ("GET", 200)):
        connection.request(method, f"{API}/openapi.json")
        with connection.getresponse() as response:
            if response.status != status or not response.read() and method == "GET":
                raise SystemExit(f"{method} after HEAD: {response.status}")
    connection.close()

    code = bench.code()
    session = ask("POST", f"{API}/session", {"code": code})
    expect("201", session)
    token = session.json["token"]
    expect("401 wrong_token", ask("POST", f"{API}/session", {"code": code}))
    looking = ask("POST", f"{API}/session", {"code": bench.code("--see")}).json["token"]
    for path in ("session", "devices", "devices/pump", "devices/lamp", "families"):
        for one in (token, looking):
            expect("200", ask("GET", f"{API}/{path}", token=one))
        expect("401 no_token", ask("GET", f"{API}/{path}"))
        expect("400 usage", ask("GET", f"{API}/{path}?x=1", token=token))
        expect("421 wrong_host", ask("GET", f"{API}/{path}", token=token, Host="rebound.example"))
        expect("403 wrong_origin", ask("GET", f"{API}/{path}", token=token, Origin="http://localhost:1"))
        expect("405 wrong_method", ask("PUT", f"{API}/{path}", token=token))
    expect("401 wrong_token", ask("GET", f"{API}/devices", token=token[:-1]))
    expect("404 no_such_path", ask("GET", f"{API}/nothing", token=token))
    expect("404 no_such_device", ask("GET", f"{API}/devices/nothing", token=token))
    expect("400 bad_target", ask("GET", f"{API}/devices/..%2F", token=token))

    history = f"{API}/devices/pump/history"
    for path in (history, f"{history}?since=1h&until=1s&columns=100", f"{API}/findings", f"{API}/findings?device=pump"):
        expect("200", ask("GET", path, token=looking))
    expect("200", ask("GET", history, token=looking, Accept="text/csv"))
    for query in ("columns=0", "columns=x", "since=never", "since=1h&until=2h", "x=1"):
        expect("400 usage", ask("GET", f"{history}?{query}", token=looking))
    expect("409 not_recorded", ask("GET", f"{API}/devices/lamp/history", token=looking))
    expect("404 no_such_device", ask("GET", f"{API}/devices/nothing/history", token=looking))
    for path in (f"{API}/messages", f"{API}/messages?limit=1000"):
        expect("200", ask("GET", path, token=looking))
    for query in ("limit=0", "limit=1001", "limit=x", "x=1"):
        expect("400 usage", ask("GET", f"{API}/messages?{query}", token=looking))
    for path in ("/captures", "/captures/pump.capture"):
        expect("200", ask("GET", API + path, token=looking))
    expect("404 no_such_capture", ask("GET", f"{API}/captures/nothing", token=looking))

    for path in ("devices/storm/log", "devices/peer/image"):
        answer = ask("GET", f"{API}/{path}", token=looking)
        expect("200", answer)
        if not answer.body:
            raise SystemExit(f"{path} is empty")
    for path in ("devices/pump/log", "devices/storm/image"):
        expect("400 usage", ask("GET", f"{API}/{path}", token=looking))
    expect("404 no_such_device", ask("GET", f"{API}/devices/nothing/log", token=looking))

    simulator = f"{API}/devices/pump/simulator"
    expect("200", ask("GET", simulator, token=looking))
    for body in ({"verb": "temperature", "arguments": ["water", "12.5"]}, {"verb": "set", "arguments": ["knob", "512"]},
                 {"verb": "fault", "arguments": ["none"]}, {"verb": "advance", "arguments": ["1s"]}):
        expect("200 done", ask("POST", simulator, body, token))
    for body in ({}, {"verb": 1}, {"verb": "fly"}, {"verb": "stop"}, {"verb": "set", "arguments": ["image", "/etc/passwd"]},
                 {"verb": "turn"}, {"verb": "turn", "arguments": ["2"]}, {"verb": "turn", "arguments": [0.5]},
                 {"verb": "press", "device": "lamp"}):
        expect("400 usage", ask("POST", simulator, body, token), "not_sent")
    expect("403 may_only_look", ask("POST", simulator, {"verb": "press"}, looking))
    expect("403 wrong_origin", ask("POST", simulator, {"verb": "press"}, token, Origin="http://localhost:1"))
    expect("401 no_token", ask("POST", simulator, {"verb": "press"}))
    expect("415 wrong_type", ask("POST", simulator, b"{}", token, Content_Type="text/plain"))
    expect("404 no_such_device", ask("POST", simulator.replace("pump", "nothing"), {"verb": "press"}, token))

    peer = f"{API}/peer"
    expect("415 wrong_type", ask("POST", peer, b"{}", token))
    expect("413 too_long", ask("POST", peer, bytes(5_250_001), token, Content_Type="image/png"))
    expect("409 no_peer", ask("POST", f"{peer}/say", {"text": "hello"}, token), "not_sent")
    expect("400 usage", ask("POST", f"{peer}/say", {"text": "IMG_END"}, token), "not_sent")
    expect("403 may_only_look", ask("POST", peer, token=looking))

    commands, stop = f"{API}/devices/pump/commands", f"{API}/devices/pump/stop"
    events = Events(bench, looking)
    events.wait("snapshot", '"daemon":"up"')

    def change(name: str, parameters: dict | None = None, seen: int | None = None, **more) -> rig.Answer:
        body = {"id": str(uuid.uuid4()), "name": name, **more}
        body["seen"] = ask("GET", f"{API}/devices/pump", token=token).json["seen"] if seen is None else seen
        if parameters:
            body["parameters"] = parameters
        return ask("POST", commands, body, token)

    expect("200 done", ask("POST", commands, {"name": "status"}, token))
    expect("409 refused", change("speed", {"speed": 7}), "nothing_changed")
    same = str(uuid.uuid4())
    first, second = change("on", id=same), change("on", id=same)
    expect("200 done", first)
    if first.body != second.body:
        raise SystemExit("the same id has two answers")
    expect("409 id_reused", change("reset", id=same), "not_sent")
    expect("200 done", change("speed", {"speed": 200}))
    expect("409 stale_view", change("on", seen=1), "not_sent")
    for body in (
            {"name": "on"}, {"name": "fly"}, {"name": 1}, {}, [], {"name": "status", "x": 1}, b"{",
            b'{"name":"on","name":"off"}',
            {"id": "x", "seen": 1, "name": "on"}, {"id": same, "name": "on"}, {"name": "status", "parameters": 1}):
        expect("400 usage", ask("POST", commands, body, token))
    expect("400 usage", change("speed", {"speed": 300}))
    expect("413 too_long", ask("POST", commands, b" " * 20_000, token))
    expect("415 wrong_type", ask("POST", commands, b"{}", token, Content_Type="text/plain"))
    for path in (commands, stop):
        expect("403 may_only_look", ask("POST", path, {"name": "status"}, looking))
        expect("401 no_token", ask("POST", path, {"name": "status"}))
        expect("404 no_such_device", ask("POST", path.replace("pump", "nothing"), {"name": "status"}, token))
    expect("200 done", ask("POST", stop, token=token))
    expect("400 usage", ask("POST", stop.replace("pump", "lamp"), token=token))
    events.wait("command", '"name":"off"')
    events.wait("state", '"state":"off"')

    # The device falls silent, and is then unplugged.
    bench.processes["sim-pump"].send_signal(signal.SIGSTOP)
    expect("504 no_answer", ask("POST", commands, {"name": "temp"}, token), "nothing_changed")
    expect("504 no_answer", ask("POST", stop, token=token), "unknown")
    bench.end("sim-pump", signal.SIGKILL)
    events.wait("link", '"lost"')
    expect("404 no_simulator", ask("GET", simulator, token=token))
    expect("404 no_simulator", ask("POST", simulator, {"verb": "press"}, token), "not_sent")
    expect("503 device_away", ask("POST", commands, {"name": "status"}, token), "not_sent")
    expect("503 device_away", ask("POST", stop, token=token), "not_sent")
    expect("200", ask("GET", f"{API}/devices/pump", token=token))

    # The daemon is suspended, and then ends.
    bench.processes["daemon"].send_signal(signal.SIGSTOP)
    seen = max([number for number, _, _ in events.events] + events.comments)
    expect("503 device_away", change("on", seen=seen), "not_sent")
    expect("503 daemon_silent", ask("GET", f"{API}/families", token=token))
    expect("504 no_answer", ask("POST", stop, token=token), "unknown")
    bench.end("daemon", signal.SIGKILL)
    events.wait("daemon", '"away"')
    for path in ("devices", "devices/pump", "families"):
        expect("503 daemon_away", ask("GET", f"{API}/{path}", token=token))
    expect("503 daemon_away", ask("POST", commands, {"name": "status"}, token), "not_sent")
    expect("503 daemon_away", ask("POST", stop, token=token), "not_sent")
    bench.start_devices()
    bench.start_daemon()
    events.wait("daemon", '"up"')
    late = Events(bench, looking, Last_Event_ID="1")
    late.wait("resync")
    last = events.events[-1][0]
    again = Events(bench, looking, Last_Event_ID=str(events.events[0][0]))
    rig.wait(lambda: again.events and again.events[-1][0] >= last, "the events after a number")
    rig.wait(lambda: events.comments, "a comment")
    numbers = [number for number, _, _ in events.events]
    if numbers != sorted(set(numbers)) or again.events[:len(numbers) - 1] != events.events[1:len(numbers)]:
        raise SystemExit(f"the events are not in order, or not the same when read again: {events.events} {again.events}")

    # The file of sessions can't be used.
    sessions = bench.folder / "state/pumpctl-page/sessions"
    sessions.chmod(0o644)
    expect("503 sessions_unusable", ask("GET", f"{API}/session", token=token))
    sessions.chmod(0o600)

    expect("204", ask("DELETE", f"{API}/session", token=looking))
    expect("401 wrong_token", ask("GET", f"{API}/session", token=looking))
    rig.wait(lambda: events.has_ended, "the end of the ended session's stream")
    for _, name, data in events.events + late.events + again.events:
        known.check_event(name, data)
    return f"{known.count} answers and events, {len(known.seen)} kinds of errors: {', '.join(sorted(known.seen))}"


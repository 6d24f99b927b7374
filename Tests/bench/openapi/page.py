"""Check the page docs/http.md: its curl lines give the answers that it shows, and its Python program works."""

import json
import os
import re
import subprocess

import rig

PAGE = rig.ROOT / "docs/http.md"
# The parts of answers that differ between runs, and their replacements.
MASKS = [
    (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME"), (r"[0-9a-f]{8}\.[0-9a-f]{64}", "TOKEN"), (r'"id":"[0-9a-f]{8}"', '"id":"ID"'),
    (r'("seen":|\bid: |^: )\d+', r"\1NUMBER"), (r'"age_s":[\d.]+', '"age_s":AGE'), (r"tty-\d+-\d+", "tty"),
    (r"page session [0-9a-f]{8} \(pid \d+ of user \d+\)", "SENDER"), (r'"ages_s":\{[^}]*\}', '"ages_s":AGES'), (r'(_c":)-?[\d.]+', r"\1VALUE"),
    # The LED blinks when a command comes.
    (r'("status_led":)(true|false)', r"\1VALUE"), (r"(Temp:)-?[\d.]+", r"\1VALUE"),
]


def masked(text: str) -> str:
    for pattern, replacement in MASKS:
        text = re.sub(pattern, replacement, text, flags=re.M)
    return text.strip()


def blocks() -> list[tuple[str, str]]:
    """Return the blocks of the page: their kind and their text."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text(), re.M | re.S)


def answers(bench: rig.Rig) -> list[tuple[str, str]]:
    """Run the page's curl lines; return pairs of an answer that the page shows and the answer of this run."""
    bench.start_devices(pump="pump")
    bench.start_daemon()
    bench.start_page()
    token = bench.log_in()
    rig.wait(
        lambda: '"state":"off"' in bench.ask("GET", "/api/v1/devices", token=token).body.decode(), "the state of the pump")
    environment = {name: value for name, value in bench.environment.items() if not name.lower().endswith("_proxy")}
    shell = subprocess.Popen(
        ["bash", "-s"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment,
        cwd=bench.folder)
    token, script, pairs = "", "", []
    for kind, text in blocks():
        if kind == "sh" and ("curl" in text or text.startswith("page=")):
            script = text.replace("http://localhost:8080", bench.address)
            script = script.replace("pumpctl page ", f"{bench.programs}/pumpctl-page ").replace("curl ", "curl -s ")
            script = re.sub(r"Bearer [0-9a-f.…]+", f"Bearer {token}", script)
            # The stream does not end: read it up to its first comment. Then curl ends as soon as more arrives.
            script = re.sub(r"curl -s -N .*", r"\g<0> | sed -u '/^:/q'", script)
            print(script + "echo; echo -- end", file=shell.stdin, flush=True)
            lines = []
            while (line := shell.stdout.readline()) and line != "-- end\n":
                lines.append(line)
            answer = "".join(lines)
            token = token or json.loads(answer)["token"]
        elif kind in ("json", "text") and script:
            pairs.append((text, shortened(answer.replace(f"{bench.folder}/", "/tmp/"))))
            script = ""
    shell.stdin.close()
    shell.wait()
    return pairs


def shortened(answer: str) -> str:
    """Return the first event and the first comment of a stream; any other answer as it is."""
    if not answer.startswith("id: "):
        return answer.strip() + "\n"
    parts = answer.split("\n\n")
    return "\n\n".join([parts[0]] + [part for part in parts if part.startswith(":")][:1]) + "\n"


def renew(bench: rig.Rig) -> str:
    """Write the answers of this run, and the example program, to the page."""
    pairs = answers(bench)
    text = PAGE.read_text()
    for shown, now in pairs:
        text = text.replace(f"\n{shown}```", f"\n{now}```", 1)
    token = json.loads(pairs[0][1])["token"]
    text = re.sub(r"Bearer [0-9a-f.…]+", f"Bearer {token[:13]}…", text)
    example = (rig.ROOT / "Examples/http_client.py").read_text()
    text = re.sub(r"(```python\n).*?(```)", lambda block: block[1] + example + block[2], text, flags=re.S)
    PAGE.write_text(text)
    return f"{len(pairs)} answers written"


def check(bench: rig.Rig) -> str:
    pairs = answers(bench)
    for shown, now in pairs:
        if masked(shown) != masked(now):
            raise SystemExit(f"docs/http.md shows\n{masked(shown)}\nand now it is\n{masked(now)}")
    # Fewer answers would mean that the blocks of the page are not recognised any more.
    if len(pairs) < 9:
        raise SystemExit(f"docs/http.md has {len(pairs)} answers")
    return f"{len(pairs)} answers of docs/http.md, and its program: {program(bench)}"


def program(bench: rig.Rig) -> str:
    """Run the example until it prints a command's event. It must ignore the proxy, at which nothing listens."""
    example = rig.ROOT / "Examples/http_client.py"
    with subprocess.Popen(
            ["python3", "-u", example, f"{bench.address}/#{bench.code()}", "pump"], stdout=subprocess.PIPE, text=True,
            env={**os.environ, "http_proxy": "http://127.0.0.1:9"}) as process:
        try:
            first, second = process.stdout.readline(), process.stdout.readline()
            if not first.startswith("STATUS:{") or not second.startswith("snapshot {"):
                raise SystemExit(f"the example prints {first}{second}")
            bench.ask("POST", "/api/v1/devices/pump/stop", token=bench.log_in())
            for line in process.stdout:
                if line.startswith("command ") and '"off"' in line:
                    return "status, snapshot, command"
            raise SystemExit("the example has ended")
        finally:
            process.kill()

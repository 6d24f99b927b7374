#!/usr/bin/python3
"""Complete command lines of pumpctl in bash, zsh and fish, and compare the offered words with one table of cases.

    check.py FOLDER [TEXT]

FOLDER contains the programs. With TEXT, only the cases whose line contains TEXT are tried.
"""

import contextlib
import os
import pathlib
import subprocess
import sys
import threading

import cases
import shells
import world


def fault(case: tuple, answer: shells.Answer) -> str | None:
    """Return a description of the fault in a shell's answer to a case; None if it is right."""
    line, expected = case
    offered = {word.removesuffix("/") if word + "/" in expected else word for word in answer.words}
    wanted = {word for word in expected if word is not ...}
    if not wanted <= offered or ... not in expected and offered - wanted:
        return f"offers {sorted(answer.words)}, not {sorted(wanted)}"
    if answer.line is None or ... in expected:
        return None
    # Tab inserts the only word, or the common beginning of all words, and makes no other change.
    before, after = shells.unquoted("pumpctl " + line), shells.unquoted(answer.line)
    word = os.path.commonprefix(sorted(wanted)) if wanted else before[-1]
    # After these characters the same word goes on, so no blank follows.
    is_done = len(wanted) == 1 and word[-1] not in "/:=?&@.,"
    if after != before[:-1] + [word] + ([""] if is_done else []):
        return f"makes the line {answer.line!r}"
    # Quotation marks stay open until the word is complete.
    if shells.is_quoted(answer.line) != (shells.is_quoted(line) and not is_done):
        return f"closes or opens quotation marks: {answer.line!r}"
    return None


def check(kind: type, here: world.World, table: list, faults: list[str]) -> None:
    """Try all cases of the table in one shell."""
    line = ""
    try:
        with contextlib.closing(kind(here.environment, here.work, here.prefix)) as shell:
            for case in table:
                line = case[0]
                if text := fault(case, shell.complete("pumpctl " + line)):
                    faults.append(f"{shell.name}: pumpctl {line}: {text}")
    except Exception as error:
        faults.append(f"{kind.name}: pumpctl {line}: {error!r}")


def check_all(here: world.World, table: list, faults: list[str]) -> None:
    threads = [threading.Thread(target=check, args=(kind, here, table, faults)) for kind in (shells.Bash, shells.Zsh, shells.Fish)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def check_program(here: world.World, faults: list[str]) -> None:
    """Check without a shell that pumpctl opens no port and keeps its time limit, and check its script for bash."""

    def run(*command: str, text: str | None = None) -> str:
        ending = subprocess.run(
            [*here.prefix, *command], cwd=here.work, env=here.environment, input=text, capture_output=True, text=True)
        if ending.returncode:
            faults.append(f"{' '.join(command)} exits with {ending.returncode}: {ending.stdout}{ending.stderr}")
        return ending.stdout + ending.stderr

    log = run("strace", "-f", "-e", "trace=open,openat", "pumpctl", "---complete", "1s", "fish", "pumpctl --port ")
    if "usb:1a86:7523" not in log or any(port in log for port in ('"/dev/tty', '"/dev/pts', '"./pump"')):
        faults.append(f"a port is opened, or none is found:\n{log}")
    # A slow file system: each listing of a folder takes 300 ms, and the limit is 45 ms, that of the shells' scripts.
    slow = ["-f", "-e", "trace=getdents64", "-e", "inject=getdents64:delay_enter=300000"]
    if "captures" in (log := run("strace", *slow, str(here.folder / "pumpctl"), "---complete", "45ms", "fish", "pumpctl replay ")):
        faults.append(f"the time limit does not hold:\n{log}")
    run("shellcheck", "--shell=bash", "-", text=run("pumpctl", "--generate-completion-script", "bash"))


def main() -> int:
    text = sys.argv[2] if len(sys.argv) > 2 else ""
    faults: list[str] = []
    count = 0
    with contextlib.ExitStack() as ends:
        here = world.World(pathlib.Path(sys.argv[1]).resolve(), ends)
        if not text:
            check_program(here, faults)
        failures = list(dict.fromkeys(name for name, _, _ in cases.FAILURES))
        for failure in [None, *failures]:
            here.become(failure)
            table = cases.CASES if failure is None else [case[1:] for case in cases.FAILURES if case[0] == failure]
            table = [case for case in table if text in case[0]]
            count += len(table)
            own: list[str] = []
            check_all(here, table, own)
            faults += [f"{failure}: {line}" if failure else line for line in own]
        # A scan would call other methods.
        if (calls := set(here.calls())) != {"GetManagedObjects"} and not text:
            faults.append(f"bluetoothd was asked for {sorted(calls)}")
    for line in faults:
        print(line)
    print(f"{count} cases in 3 shells, {len(faults)} faults")
    return 1 if faults or not count else 0


sys.exit(main())

"""Shells that complete a line: bash and zsh by Tab at a terminal, fish by `complete -C`.

Each shell runs a script that installs pumpctl's completion and reports the offered words. In bash and zsh, Ctrl-G
writes the report: the line after Tab, in bash the part of it that the words replace, and the words. In fish, the report
has only the words. The fields of a report end in NUL.
"""

import contextlib
import os
import pathlib
import pty
import shlex
import subprocess
import tempfile
import threading

# The time limit of one answer in seconds; only a shell that hangs reaches it.
PATIENCE = 60

# `probe` wraps the function of pumpctl's script, to keep the words that it offers.
BASH = r"""
PS1=; bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; bind 'set completion-query-items 0'
scripts=$HOME/.local/share/bash-completion/completions
mkdir -p "$scripts"; pumpctl --generate-completion-script bash >"$scripts/pumpctl"
. /usr/share/bash-completion/bash_completion
_comp_load pumpctl 2>/dev/null || _completion_loader pumpctl
probe() { TAIL=$2; _pumpctl "$@"; local status=$?; REPLY=("${COMPREPLY[@]}"); return $status; }
complete -F probe pumpctl
TAIL= REPLY=()
show() { printf '%s\0' "$READLINE_LINE" "$TAIL" "${REPLY[@]}" >"$PIPE"; READLINE_LINE= READLINE_POINT=0 TAIL= REPLY=(); }
bind -x '"\C-g": show'
printf 'ready\0' >"$PIPE"
"""

# `compadd` wraps the builtin by which completion functions add words, to keep these words. A call with -O, -A or -D
# only filters words.
ZSH = r"""
PS1= PS2= RPS1=
mkdir -p ~/.zfunc; pumpctl --generate-completion-script zsh >~/.zfunc/_pumpctl
fpath+=(~/.zfunc); autoload -Uz compinit; compinit -u -D
unsetopt auto_list beep prompt_cr
typeset -a found
compadd() {
    if [[ ${@[1,(i)(-|--)]} != *-[OAD]\ * ]]; then
        local -a hits
        builtin compadd -A hits "$@"
        found+=("${IPREFIX}${^hits[@]}")
    fi
    builtin compadd "$@"
}
show() { printf '%s\0' "$BUFFER" "" "${(@Q)found}" >$PIPE; BUFFER= found=(); }
zle -N show
bindkey '^G' show
printf 'ready\0' >$PIPE
"""

FISH = r"""
pumpctl --generate-completion-script fish | source
printf 'ready\0' >$PIPE
while read -l line
    set -l words (complete -C $line)
    printf '%s\0' "" "" $words >$PIPE
end
"""


class Answer:
    """The complete words that a shell offers, without quotation marks, and the line after Tab; None in fish."""

    def __init__(self, words: list[str], line: str | None = None) -> None:
        self.words, self.line = words, line


class Shell:
    """A running shell. The pipe named in its environment, PIPE, takes its reports.

    A subclass has the shell's command line, its script, and `whole`, which completes a reported word.
    """

    name = ""

    def __init__(self, environment: dict[str, str], folder: pathlib.Path, prefix: list[str]) -> None:
        self.pipe = pathlib.Path(tempfile.mkdtemp(dir=folder.parent)) / "pipe"
        os.mkfifo(self.pipe)
        os.chmod(self.pipe.parent, 0o755)
        os.chmod(self.pipe, 0o666)
        script = self.pipe.parent / "script"
        script.write_text(self.script)
        self.environment = environment | {"PIPE": str(self.pipe), "TERM": "dumb", "LC_ALL": "C.UTF-8"}
        self.prefix, self.folder = prefix, folder
        self.terminal, inner = pty.openpty()
        # Opening the terminal makes it the controlling terminal of the new session, as an interactive shell expects.
        self.process = subprocess.Popen(
            [*prefix, *self.command(script)], stdin=inner, stdout=inner, stderr=inner, cwd=folder, env=self.environment,
            start_new_session=True, preexec_fn=lambda: os.close(os.open(os.ttyname(0), os.O_RDWR)))
        os.close(inner)
        self.shown = b""
        threading.Thread(target=self.drain, daemon=True).start()
        self.begin(script)
        assert self.hear() == ["ready"], self.shown.decode(errors="replace")

    def drain(self) -> None:
        with contextlib.suppress(OSError):
            while text := os.read(self.terminal, 65536):
                self.shown += text

    def begin(self, script: pathlib.Path) -> None:
        self.type(f" . {script}\n")

    def type(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def hear(self) -> list[str]:
        """Wait for a report of the shell; return its fields. A shell that does not answer within PATIENCE is killed."""
        alarm = threading.Timer(PATIENCE, self.process.kill)
        # If the killed shell has not opened the pipe, opening it for writing ends the read below.
        wake = threading.Timer(PATIENCE + 1, lambda: os.close(os.open(self.pipe, os.O_WRONLY | os.O_NONBLOCK)))
        alarm.start(), wake.start()
        text = self.pipe.read_bytes()
        alarm.cancel(), wake.cancel()
        assert text, f"{self.name} does not answer: {self.shown.decode(errors='replace')[-2000:]}"
        return text.decode().removesuffix("\0").split("\0")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.terminal)

    def complete(self, line: str) -> Answer:
        self.type(line + "\t\x07")
        after, tail, *words = self.hear()
        return Answer([self.whole(line, tail, word) for word in words], after)


def unquoted(line: str) -> list[str]:
    """Split a line as shells do; a quotation may be open at its end. A blank at the end begins a last, empty word."""
    for closing in "", "'", '"':
        with contextlib.suppress(ValueError):
            return shlex.split(line + closing) + ([""] if not closing and line.endswith(" ") and not line.endswith("\\ ") else [])
    raise ValueError(line)


def is_quoted(line: str) -> bool:
    """Return whether a quotation is open at the end of a line."""
    try:
        shlex.split(line.replace("\\", ""))
        return False
    except ValueError:
        return True


class Bash(Shell):
    name, script = "bash", BASH

    def command(self, script: pathlib.Path) -> list[str]:
        return ["bash", "--norc", "--noprofile", "-i"]

    def whole(self, line: str, tail: str, word: str) -> str:
        # pumpctl offers an incomplete word a second time, with "…", so that Readline leaves the quotation marks open.
        return unquoted(line.removesuffix(tail) + word.removesuffix("…"))[-1]


class Zsh(Shell):
    name, script = "zsh", ZSH

    def command(self, script: pathlib.Path) -> list[str]:
        return ["zsh", "-f", "-i"]

    def whole(self, line: str, tail: str, word: str) -> str:
        return word


class Fish(Shell):
    name, script = "fish", FISH

    def command(self, script: pathlib.Path) -> list[str]:
        return ["fish", "--no-config", str(script)]

    def begin(self, script: pathlib.Path) -> None:
        pass

    def complete(self, line: str) -> Answer:
        self.type(line + "\n")
        return Answer([word.split("\t")[0] for word in self.hear()[2:]])

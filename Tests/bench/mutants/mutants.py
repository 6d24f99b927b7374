#!/usr/bin/env python3
"""Mutants of the pump's firmware: each changes one operator, constant or branch in hardware/nano-pump/src.

usage: mutants.py plan [--seed SEED]     lists all mutants, one per line: number, tab, why it may survive, tab, the
                                         change; shuffled by the seed, otherwise in source order
       mutants.py build NUMBER FOLDER    builds a mutant in an empty folder; prints `fails`, `same`, or, one per line,
                                         the ELF files that differ from the firmware's
       mutants.py unit NUMBER FOLDER     runs the firmware's unit tests with a mutant; prints `killed` or `survived`

`plan` exits with 1 if survivors.txt names a mutant that does not exist. `build` needs the output of `make variants` in
hardware/nano-pump, and rebuilds only what depends on the change.
"""

import argparse
import fcntl
import pathlib
import random
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
FIRMWARE = HERE.parent.parent.parent / "hardware" / "nano-pump"
SURVIVORS = HERE / "survivors.txt"

# The builds that are verified. Together they contain all code that depends on the options of the firmware's Makefile.
BUILDS = [
    ("nano-pump", ["THERMISTORS=2", "FIELD=0"]),
    ("nano-pump-one-thermistor-field", ["THERMISTORS=1", "FIELD=1"]),
]

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<directive>^\#[^\n]*)|(?P<space>\s+)
    |(?P<string>"(?:\\.|[^"\\])*")|(?P<char>'(?:\\.|[^'\\])*')
    |(?P<float>\d+\.\d*(?:[eE][+-]?\d+)?[fF]?)|(?P<int>0[xX][0-9a-fA-F]+[uUlL]*|\d+[uUlL]*)
    |(?P<name>[A-Za-z_]\w*)|(?P<operator><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|::|.)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)

# The replacements of a binary operator.
BINARY = {
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
    "&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"], "&": ["|"], "|": ["&"],
    "<<": [">>"], ">>": ["<<"], "+=": ["-="], "-=": ["+="],
}
# The replacements of an operator before or after its operand.
UNARY = {"++": "--", "--": "++"}
# The names that do not begin a statement that can be removed.
NO_STATEMENT = {
    "if", "for", "while", "switch", "case", "default", "do", "else", "const", "static", "struct", "namespace", "using",
}


class Token:
    """A token of C++, with the offsets of its begin and end in the source."""

    def __init__(self, kind, text, start):
        self.kind, self.text, self.start, self.end = kind, text, start, start + len(text)


class Mutant:
    """A changed source file; `key` names the file, the function, and the changed line before and after."""

    def __init__(self, path, key, source):
        self.path, self.key, self.source = path, key, source


def tokens_of(source):
    """Return the tokens of a source, without comments, directives and white space."""
    found = [Token(m.lastgroup, m.group(), m.start()) for m in TOKEN.finditer(source)]
    return [token for token in found if token.kind not in ("comment", "directive", "space")]


def enumerators(sources):
    """Return the replacement of each enumerator, by the pair of its enum's name and its own: the next one of the enum."""
    stand_ins = {}
    for source in sources:
        plain = re.sub(r"//[^\n]*", "", source)
        for name, body in re.findall(r"enum class (\w+)[^{;]*\{([^}]*)\}", plain):
            names = re.findall(r"(\w+)\s*(?:=[^,]*)?(?:,|$)", body.strip())
            for index, enumerator in enumerate(names):
                stand_ins[name, enumerator] = names[(index + 1) % len(names)]
    return stand_ins


def closing(tokens, index):
    """Return the index of the token that closes the bracket at `index`."""
    depth = 0
    for end in range(index, len(tokens)):
        depth += (tokens[end].text in "([{") - (tokens[end].text in ")]}")
        if depth == 0:
            return end
    raise ValueError("a bracket is not closed")


def number_changes(text):
    """Return the replacements of an integer: more and less by 1, or above 255 by a tenth; none below 0."""
    digits = re.match(r"0[xX][0-9a-fA-F]+|\d+", text).group()
    suffix, value = text[len(digits):], int(digits, 0)
    step = 1 if value <= 255 else value // 10
    return [f"{other}{suffix}" for other in (value + step, value - step) if other >= 0]


def token_changes(tokens, index, source, stand_ins):
    """Return the replacements of one token; none if it is left as it is."""
    token = tokens[index]
    before = tokens[index - 1] if index > 0 else None
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    if token.kind == "int":
        return number_changes(token.text)
    if token.kind == "float":
        suffix = "f" if token.text[-1] in "fF" else ""
        value = float(token.text.rstrip("fF"))
        return [f"{value * 1.1:.6g}{suffix}", f"{value * 0.9:.6g}{suffix}"]
    if token.kind == "string":
        return ['""', token.text[:-2] + '"'] if len(token.text) > 3 else ['""']
    if token.kind == "char":
        return ["'x'"]
    if token.text in ("true", "false"):
        return ["false" if token.text == "true" else "true"]
    if token.kind == "name" and before is not None and before.text == "::":
        is_label = index >= 2 and any(t.text == "case" for t in tokens[max(0, index - 5):index])
        stand_in = stand_ins.get((tokens[index - 2].text, token.text))
        return [stand_in] if stand_in and not is_label and stand_in != token.text else []
    if token.kind != "operator" or before is None or after is None:
        return []
    if token.text in UNARY:
        return [UNARY[token.text]]
    is_spaced = source[token.start - 1].isspace() and source[token.end].isspace()
    if token.text == "!" or (token.text == "-" and not is_spaced and before.kind == "operator" and before.text != ")"):
        return [""]
    return BINARY.get(token.text, []) if is_spaced else []


def conditions(tokens):
    """Yield the begin and end offsets of each condition of an `if`, a `while` or a `?`."""
    for index, token in enumerate(tokens):
        if token.text in ("if", "while") and tokens[index + 1].text == "(":
            yield tokens[index + 2].start, tokens[closing(tokens, index + 1) - 1].end
        elif token.text == "?":
            begin, depth = index, 0
            while True:
                text = tokens[begin - 1].text
                depth += (text in ")]}") - (text in "([{")
                if depth < 0 or (depth == 0 and text in ("=", "return", ",", ";", "{")):
                    break
                begin -= 1
            yield tokens[begin].start, tokens[index - 1].end


def statements(tokens):
    """Yield the begin and end offsets of each statement that may be removed."""
    # For each open brace, whether it holds statements: the body of a function, a branch or a loop, or a block inside
    # one. The braces of types, namespaces and initializers do not.
    blocks = []
    # Whether a statement may begin at the next token.
    begins = False
    index = 0
    while index < len(tokens):
        token, before = tokens[index], tokens[index - 1].text if index > 0 else ""
        if token.text == "{":
            blocks.append(before in (")", "const", "override", "else", ":", ";", "{", "}") and
                          (before in (")", "const", "override", "else") or any(blocks)))
            begins = blocks[-1]
        elif token.text == "}":
            blocks.pop()
            begins = bool(blocks) and blocks[-1]
        elif begins and blocks and blocks[-1]:
            if token.text in ("if", "while", "switch", "for"):
                index = closing(tokens, index + 1)
            elif token.text in ("case", "default"):
                while tokens[index].text != ":":
                    index += 1
            elif token.text != "else":
                end, depth = index, 0
                while tokens[end].text != ";" or depth:
                    depth += (tokens[end].text in "([{") - (tokens[end].text in ")]}")
                    end += 1
                is_declaration = tokens[index].kind == "name" and tokens[index + 1].kind == "name"
                is_value = token.text == "return" and tokens[index + 1].text != ";"
                if token.kind == "name" and token.text not in NO_STATEMENT and not is_declaration and not is_value:
                    yield token.start, tokens[end].end
                index = end
        index += 1


def context(source, offset):
    """Return the name of the function or type that contains `offset`, or "-"."""
    name = "-"
    for line in source[:source.find("\n", offset)].split("\n"):
        if re.match(r"[A-Za-z].*[({,]$|[A-Za-z].*\{.*\}$", line) and not line.startswith("namespace"):
            found = re.search(r"([\w:]+)\(", line) or re.search(r"(?:class|struct|enum class) (\w+)", line)
            name = found.group(1) if found else name
    return name


def changes(source, stand_ins):
    """Yield all changes of one source: begin and end offset, and the text that replaces what is between them."""
    tokens = tokens_of(source)
    for index, token in enumerate(tokens):
        for text in token_changes(tokens, index, source, stand_ins):
            yield token.start, token.end, text
    for begin, end in conditions(tokens):
        yield begin, end, f"!({source[begin:end]})"
    for begin, end in statements(tokens):
        yield begin, end, ";"


def one_line(text):
    return " ".join(text.split())


def mutants():
    """Return all mutants, in the order of the sources. The index of a mutant is its number."""
    paths = sorted((FIRMWARE / "src").glob("*.cpp")) + sorted((FIRMWARE / "src").glob("*.h"))
    sources = [path.read_text() for path in paths]
    stand_ins = enumerators(sources)
    found, counts = [], {}
    for path, source in zip(paths, sources):
        for begin, end, text in sorted(changes(source, stand_ins)):
            first, last = source.rfind("\n", 0, begin) + 1, source.find("\n", end)
            old, new = one_line(source[first:last]), one_line(source[first:begin] + text + source[end:last])
            key = f"{path.name}, {context(source, begin)}: {old} => {new}"
            counts[key] = counts.get(key, 0) + 1
            if counts[key] > 1:
                key += f" (#{counts[key]})"
            found.append(Mutant(path.name, key, source[:begin] + text + source[end:]))
    return found


def survivors():
    """Return the reason why a mutant may survive, by the mutant's key.

    In survivors.txt a reason is a paragraph of lines that begin with `#`. The keys of its mutants follow it.
    """
    reasons, reason, was_reason = {}, "", False
    for line in SURVIVORS.read_text().splitlines():
        if line.startswith("#"):
            text = line[1:].strip()
            reason = f"{reason} {text}" if was_reason else text
        elif line.strip():
            reasons[line.strip()] = reason
        was_reason = line.startswith("#")
    return reasons


def plan(seed):
    """Print all mutants; return the exit status. `seed` is None for the order of the sources."""
    all_mutants, reasons = mutants(), survivors()
    strangers = set(reasons) - {mutant.key for mutant in all_mutants}
    for key in sorted(strangers):
        print(f"{SURVIVORS.name}: no such mutant: {key}", file=sys.stderr)
    rows = [f"{number}\t{reasons.get(mutant.key, '')}\t{mutant.key}" for number, mutant in enumerate(all_mutants)]
    if seed is not None:
        random.Random(seed).shuffle(rows)
    print("\n".join(rows))
    return 1 if strangers else 0


def copy_firmware(mutant, folder):
    """Copy the firmware's sources, without its build, and apply the mutant."""
    shutil.copytree(FIRMWARE, folder, ignore=shutil.ignore_patterns("build"), dirs_exist_ok=True)
    (folder / "src" / mutant.path).write_text(mutant.source)


def binary(elf):
    """Return the content of the flash according to an ELF file."""
    flash = elf.with_suffix(".bin")
    subprocess.run(["avr-objcopy", "-O", "binary", elf, flash], check=True)
    data = flash.read_bytes()
    flash.unlink()
    return data


def build(mutant, folder):
    """Build a mutant; return the lines to print. The parts that do not depend on a change are linked or copied."""
    copy_firmware(mutant, folder)
    objects = folder / "build" / "objects"
    objects.mkdir(parents=True)
    for name in ("core", "core.a"):
        (objects / name).symlink_to(FIRMWARE / "build" / "objects" / name)
    different = []
    for name, options in BUILDS:
        shutil.copytree(FIRMWARE / "build" / "objects" / name, objects / name)
        made = subprocess.run(
            ["make", "-s", "-C", folder, *options, f"build/{name}.elf"], capture_output=True, text=True)
        if made.returncode != 0:
            return ["fails"]
        original = folder / "build" / "original.elf"
        shutil.copy(FIRMWARE / "build" / f"{name}.elf", original)
        elf = folder / "build" / f"{name}.elf"
        if binary(elf) != binary(original):
            different.append(str(elf))
    return different or ["same"]


def unit(mutant, folder):
    """Run the firmware's unit tests with a mutant; return the line to print. A hang also counts as killed."""
    # Several programs test mutants at once, and only one of them may build the objects of the unchanged firmware.
    with open(FIRMWARE / "Makefile") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["make", "-s", "-C", FIRMWARE, "build/check"], check=True, capture_output=True)
    copy_firmware(mutant, folder)
    shutil.copytree(FIRMWARE / "build" / "objects" / "check", folder / "build" / "objects" / "check")
    try:
        checked = subprocess.run(["make", "-s", "-C", folder, "check"], capture_output=True, timeout=120)
        return ["survived" if checked.returncode == 0 else "killed"]
    except subprocess.TimeoutExpired:
        return ["killed"]


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("plan").add_argument("--seed")
    for name in ("build", "unit"):
        command = commands.add_parser(name)
        command.add_argument("number", type=int)
        command.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.command == "plan":
        return plan(arguments.seed)
    mutant = mutants()[arguments.number]
    print("\n".join({"build": build, "unit": unit}[arguments.command](mutant, arguments.folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Manual pages of section 1, from the options that a program describes by --experimental-dump-help."""
import json
import subprocess

from mdoc import code, literal, plain, tagged, wrapped

# These are described once, in pumpctl(1).
EVERYWHERE = {"version", "help"}


def described(program):
    """The description of a program's commands."""
    done = subprocess.run([program, "--experimental-dump-help"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["command"]


def shown(command):
    """The subcommands that help shows."""
    return [each for each in command.get("subcommands", []) if each["shouldDisplay"] and each["commandName"] != "help"]


def leaves(command, path):
    """The commands below a command that have no subcommands, each with its path."""
    below = shown(command)
    if not below:
        return [(path, command)]
    return [leaf for each in below for leaf in leaves(each, [*path, each["commandName"]])]


def options(command):
    """The options of a command, in the order of its help; a flag and its opposite are one entry."""
    entries = []
    for argument in command.get("arguments", []):
        if argument["kind"] == "positional" or not argument["shouldDisplay"]:
            continue
        if entries and argument["kind"] == "flag" and entries[-1][0]["kind"] == "flag" \
                and argument.get("abstract") == entries[-1][0].get("abstract"):
            entries[-1].append(argument)
        else:
            entries.append([argument])
    return entries


def is_everywhere(entry):
    return entry[0]["preferredName"]["name"] in EVERYWHERE


def term(entry):
    """The names of an option, and its value."""
    names = sorted((name for argument in entry for name in argument["names"]), key=lambda name: name["kind"] == "long")
    flags = [f"Fl {name['name'] if name['kind'] == 'short' else '-' + name['name']}" for name in names]
    value = f" Ar {entry[0]['valueName']}" if entry[0]["kind"] == "option" else ""
    return ["." + f"{value} , ".join(flags).replace(" ,", " ,") + value]


def description(entry):
    """The help text of an option, its values and its default."""
    argument = entry[0]
    texts = [argument.get("abstract", "")]
    if argument.get("discussion"):
        texts.append(argument["discussion"])
    if argument.get("allValues"):
        texts.append(f"Values: {', '.join(argument['allValues'])}.")
    if argument.get("defaultValue"):
        texts.append(f"Default: {argument['defaultValue']}.")
    if argument.get("isRepeating") and "repeated" not in texts[0]:
        texts.append("May be repeated.")
    return list(wrapped(plain(" ".join(filter(None, texts)))))


def option_list(entries):
    return tagged((term(entry), description(entry)) for entry in entries)


def positionals(command):
    """The arguments of a command, for its synopsis."""
    result = []
    for argument in command.get("arguments", []):
        if argument["kind"] != "positional" or not argument["shouldDisplay"]:
            continue
        text = f"Ar {argument['valueName']}"
        if argument.get("parsingStrategy") == "postTerminator":
            text = f"Fl - {text}"
        if argument["isRepeating"]:
            text += " ..."
        result.append(f".Op {text}" if argument["isOptional"] else f".{text}")
    return result


def synopsis(path, command):
    has_options = any(not is_everywhere(entry) for entry in options(command))
    return [f".Nm {' '.join(path)}", *([".Op Ar options"] if has_options else []), *positionals(command)]


def prose(command, group=None):
    """The paragraphs of a command's help that its group does not have, and its examples."""
    paragraphs = [command.get("abstract", ""), *(command.get("discussion") or "").splitlines()]
    examples = [text.removeprefix("Example: ") for text in paragraphs if text.startswith("Example: ")]
    texts = [text for text in paragraphs if text and not text.startswith(("Example: ", "Exit codes: "))]
    known = (group or {}).get("discussion") or ""
    lines = []
    for text in filter(lambda text: text not in known, texts):
        lines += [".Pp"] * bool(lines) + list(wrapped(plain(text)))
    return lines, examples


def arguments_text(command):
    """The help of the arguments that have any."""
    entries = [
        ([f".Ar {argument['valueName']}"], list(wrapped(plain(argument["abstract"]))))
        for argument in command.get("arguments", [])
        if argument["kind"] == "positional" and argument["shouldDisplay"] and argument.get("abstract")]
    return tagged(entries) if entries else []


def one_command(path, command):
    """The sections of a page about one command without subcommands."""
    text, examples = prose(command)
    lines = [".Sh SYNOPSIS", *synopsis(path, command), ".Sh DESCRIPTION", *text, *arguments_text(command)]
    own = [entry for entry in options(command) if not is_everywhere(entry)]
    if own:
        lines += [".Sh OPTIONS", *option_list(own)]
    return lines, examples


def many_commands(path, command):
    """The sections of a page about a command with subcommands: their common options are listed once."""
    below = leaves(command, path)
    common = [
        entry for entry in options(below[0][1])
        if not is_everywhere(entry) and all(entry in options(leaf) for _, leaf in below)]
    text, examples = prose(command)
    lines = [".Sh SYNOPSIS"]
    for leaf_path, leaf in below:
        lines += synopsis(leaf_path, leaf)
    lines += [".Sh DESCRIPTION", *text]
    for leaf_path, leaf in below:
        text, more = prose(leaf, command)
        examples += more
        lines += [f".Ss {' '.join(leaf_path)}", *text, *arguments_text(leaf)]
        own = [entry for entry in options(leaf) if not is_everywhere(entry) and entry not in common]
        if own:
            lines += option_list(own)
    if common:
        lines += [".Sh OPTIONS", "All of these commands take these options:", *option_list(common)]
    return lines, examples


def command_page(path, command):
    """The sections of a command's page, up to its options; and the examples in its help."""
    return many_commands(path, command) if shown(command) else one_command(path, command)


def example_section(examples):
    """The section of examples, of lines to type."""
    return [".Sh EXAMPLES", *literal(examples)] if examples else []

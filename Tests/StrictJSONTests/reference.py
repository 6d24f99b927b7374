"""Read each line of a file as strict JSON, and write its value in a canonical form; an empty line if it is not JSON.

    reference.py INPUT OUTPUT

Python's reader is more lenient than StrictJSON. `read` also refuses NaN, Infinity and duplicate members, and
`canonical` refuses half of a surrogate pair and more than 16 levels.
"""
import json
import sys


class Number(str):
    """A number by its digits."""


def refuse(word):
    raise ValueError(word)


def members(pairs):
    names = [name for name, _ in pairs]
    if len(names) != len(set(names)):
        raise ValueError("a member is there twice")
    return dict(pairs)


def read(line):
    return json.loads(
        line.decode(), parse_int=Number, parse_float=Number, parse_constant=refuse, object_pairs_hook=members
    )


def canonical(value, depth=0):
    if isinstance(value, (dict, list)) and depth == 16:
        raise ValueError("more than 16 levels")
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, str):
        return '"' + value.encode().hex()
    if isinstance(value, list):
        return "[" + "".join(canonical(element, depth + 1) + "," for element in value) + "]"
    if isinstance(value, dict):
        members = (canonical(name) + ":" + canonical(element, depth + 1) + "," for name, element in value.items())
        return "{" + "".join(members) + "}"
    return {True: "true", False: "false", None: "null"}[value]


def main():
    with open(sys.argv[1], "rb") as lines, open(sys.argv[2], "w") as values:
        results = []
        for line in lines.read().split(b"\n"):
            try:
                results.append(canonical(read(line)))
            except (ValueError, RecursionError):
                results.append("")
        values.write("\n".join(results))


main()

#!/usr/bin/python3 -B
"""The versions in CHANGELOG.md. As a program, prints them in the form of debian/changelog."""
import datetime
import email.utils
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MAINTAINER = "The pumpctl authors <pumpctl@pumpctl.invalid>"


def version():
    """The version in the file VERSION."""
    return (ROOT / "VERSION").read_text().strip()


def sections():
    """The version, the date and the lines of each section that has a date, the newest first."""
    parts = re.split(r"^## \[([^]]+)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    found = [(name, datetime.date.fromisoformat(date), text.splitlines()) for name, date, text in zip(parts[1::3], parts[2::3], parts[3::3])]
    if not found or found[0][0] != version():
        sys.exit(f"CHANGELOG.md has no section of version {version()}\n  hint: put '## [{version()}] - YYYY-MM-DD' above the others")
    return found


def debian():
    """The text of debian/changelog."""
    for name, date, lines in sections():
        time = datetime.datetime.combine(date, datetime.time(12), datetime.timezone.utc)
        yield f"pumpctl ({name}) unstable; urgency=medium\n"
        for paragraph in re.split(r"\n(?=\* |###)|\n\n+", "\n".join(lines).strip()):
            if paragraph.startswith("### "):
                yield f"  [ {paragraph[4:].strip()} ]"
            else:
                yield textwrap.fill(" ".join(paragraph.replace("`", "").split()), 78, initial_indent="  ", subsequent_indent="    ")
        yield f"\n -- {MAINTAINER}  {email.utils.format_datetime(time)}\n"


if __name__ == "__main__":
    print("\n".join(debian()))

"""Text and Markdown as mdoc, the language of manual pages."""
import re
import textwrap

# The characters that mean something else to roff, or look different in a manual page.
CODE = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}
PROSE = {"\\": "\\e", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}
WIDTH = 78
# A sentence may end in a bold part.
SENTENCE_END = r"(?:(?<=[.!?])|(?<=[.!?]\\f[RP])) +(?=[A-Z\"(\\])"


def escaped(text, table=PROSE):
    """Escape text that is not at the beginning of a line."""
    return "".join(table.get(sign) or (sign if sign.isascii() else f"\\[u{ord(sign):04X}]") for sign in text)


def code(text):
    """Text that a user types or sees, in bold."""
    # A space at an end counts, and no line may end there.
    text = re.sub("^ | $", "\0", text)
    return f"\\fB{escaped(text, CODE)}\\fP".replace("\0", "\\ ")


def plain(text):
    """Prose without Markdown, such as a help text; options are bold."""
    parts = re.split(r"(?<![\w-])(--?[a-z][a-z-]*\b)", text)
    return "".join(code(part) if number % 2 else escaped(part) for number, part in enumerate(parts))


def guarded(line):
    """A line that roff does not take for a request."""
    return "\\&" + line if line[:1] in (".", "'") else line


def wrapped(text):
    """Lines of roff text: each sentence begins on a new line, as mdoc demands."""
    for sentence in re.split(SENTENCE_END, text):
        yield from map(guarded, textwrap.wrap(sentence, WIDTH, break_long_words=False, break_on_hyphens=False))


def literal(lines):
    """An indented block of code."""
    return [".Bd -literal -offset indent", *(guarded(escaped(line.rstrip(), CODE)) for line in lines), ".Ed"]


def tagged(entries):
    """A list of (lines of the term, lines of its description)."""
    result = [".Bl -tag -width Ds"]
    for term, description in entries:
        result += [".It Xo", *term, ".Xc", *description]
    return [*result, ".El"]


class Markdown:
    """Converts Markdown of the dialect in docs: headings, paragraphs, lists, tables, code, and links.

    `page` gives the manual page for the name of a linked file, or None.
    """

    def __init__(self, page=lambda name: None):
        self.page = page

    def inline(self, text):
        """Convert code, links, bold and slanted text of a paragraph."""
        text = re.sub(r'<a id="[^"]*"></a>\s*', "", text)
        text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
        result = ""
        token = r"(`` (?P<quoted>.+?) ``|`(?P<code>[^`]+)`|\[(?P<label>(?:`[^`]*`|[^\]])+)\]\((?P<target>[^)]*)\)|\*\*(?P<bold>.+?)\*\*|\*(?P<slanted>[^*\s][^*]*)\*)"
        position = 0
        for match in re.finditer(token, text):
            result += escaped(text[position:match.start()])
            position = match.end()
            if spoken := match["code"] or match["quoted"]:
                result += code(spoken)
            elif match["label"] is not None:
                result += self.inline(match["label"])
                page = self.page(match["target"])
                if page:
                    result += f" (\\fB{escaped(page[0], CODE)}\\fP({page[1]}))"
            else:
                font = "B" if match["bold"] else "I"
                # The end of a font inside of another must restore the outer one.
                inner = self.inline(match["bold"] or match["slanted"]).replace("\\fP", f"\\f{font}")
                result += f"\\f{font}{inner}\\fR"
        return result + escaped(text[position:])

    def heading(self, text):
        """A heading of a section in capitals, except its code."""
        parts = re.split(r"`([^`]*)`", text)
        return "".join(escaped(part, CODE) if number % 2 else escaped(part.upper()) for number, part in enumerate(parts))

    def table(self, rows):
        """A table as a list of terms: the cells of a row follow its first one, with the names of their columns."""
        head, *rows = [
            [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))] for row in rows]
        # A head with code says what the table is about, and others only that these are options, verbs or the like.
        about = [".Pp", *wrapped(self.inline(head[0][:1].upper() + head[0][1:] + ":"))] if "`" in head[0] else []
        entries = []
        for first, *others in rows[1:]:
            named = [(name, cell) for name, cell in zip(head[1:], others) if cell]
            texts = [f"{name}: {cell}" if len(head) > 2 and name not in ("", "meaning", "does") else cell for name, cell in named]
            entries.append((list(wrapped(self.inline(first))), list(wrapped(self.inline("; ".join(texts))))))
        return [*about, *tagged(entries)]

    def blocks(self, lines):
        """Convert lines of Markdown; return lines of mdoc."""
        result, lines = [], list(lines)
        # Whether a paragraph needs a macro before it: not at the beginning of a section or of an item.
        inside = False
        while lines:
            line = lines.pop(0)
            if not line.strip():
                continue
            if match := re.match(r"(#+) +(.*)", line):
                depth, text = len(match[1]), match[2]
                if depth <= 2:
                    result.append(f".Sh {self.heading(text)}")
                elif depth == 3:
                    result.append(f".Ss {escaped(text.replace('`', ''), PROSE)}")
                else:
                    result += [".Pp"] * inside + [f"\\fB{escaped(text.replace('`', ''))}\\fP"]
                inside = depth > 3
            elif line.startswith("```"):
                block = []
                while lines and not lines[0].startswith("```"):
                    block.append(lines.pop(0))
                lines and lines.pop(0)
                result += literal(block)
                inside = True
            elif line.startswith("|"):
                rows = [line]
                while lines and lines[0].startswith("|"):
                    rows.append(lines.pop(0))
                result += self.table(rows)
                inside = True
            elif match := re.match(r"(\*|-|\d+\.) +", line):
                lines.insert(0, line)
                result += self.items(lines, ordered=match[1][0].isdigit())
                inside = True
            else:
                paragraph = [line]
                while lines and lines[0].strip() and not re.match(r"```|\||#+ |(\*|-|\d+\.) +", lines[0]):
                    paragraph.append(lines.pop(0))
                text = list(wrapped(self.inline(" ".join(part.strip() for part in paragraph)).strip()))
                if text:
                    result += [".Pp"] * inside + text
                    inside = True
        return result

    def items(self, lines, ordered):
        """Convert the items of one list, and remove them from `lines`."""
        result = [".Bl -enum" if ordered else ".Bl -bullet"]
        mark = r"(\d+\.) +" if ordered else r"(\*|-) +"
        while lines and (match := re.match(mark, lines[0])):
            indent = match.end()
            item = [lines.pop(0)[indent:]]
            while lines and (lines[0].startswith(" ") or (not lines[0].strip() and len(lines) > 1 and lines[1].startswith("  "))):
                item.append(lines[0][min(indent, len(lines[0]) - len(lines[0].lstrip(" "))):])
                lines.pop(0)
            result += [".It", *self.blocks(item)]
            if lines and not lines[0].strip() and len(lines) > 1 and re.match(mark, lines[1]):
                lines.pop(0)
        return [*result, ".El"]


def section(text, heading):
    """The lines of a Markdown text below a heading, to the next one of its level or a higher one."""
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines) if re.fullmatch(rf"#+ {re.escape(heading)}", line))
    depth = lines[start].index(" ")
    end = start + 1
    fenced = False
    while end < len(lines) and (fenced or not re.match(rf"#{{1,{depth}}} ", lines[end])):
        fenced ^= lines[end].startswith("```")
        end += 1
    return lines[start + 1:end]

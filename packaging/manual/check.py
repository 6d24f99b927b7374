#!/usr/bin/python3 -B
"""Tests of the conversion to mdoc: packaging/manual/check.py"""
import unittest

import changes
from commands import command_page
from mdoc import Markdown, section, wrapped


def blocks(text, page=lambda target: None):
    return Markdown(page).blocks(text.splitlines())


class MarkdownTests(unittest.TestCase):
    def test_code_keeps_its_signs_and_its_spaces(self):
        self.assertEqual(blocks("`--port` and ` OFF`, `\\n`"), ["\\fB\\-\\-port\\fP and \\fB\\ OFF\\fP, \\fB\\en\\fP"])

    def test_a_line_is_never_taken_for_a_request(self):
        self.assertEqual(blocks("...\n'a'"), ["\\&... 'a'"])
        self.assertEqual(blocks("```\n.pump\n```"), [".Bd -literal -offset indent", "\\&.pump", ".Ed"])

    def test_a_sentence_begins_a_line(self):
        self.assertEqual(list(wrapped("At 70 %. It runs (see off). Use e.g. 90s.")), ["At 70 %.", "It runs (see off).", "Use e.g. 90s."])

    def test_bold_and_code_inside_of_it(self):
        self.assertEqual(blocks("**OFF by `off`** is *first*."), ["\\fBOFF by \\fBoff\\fB\\fR is \\fIfirst\\fR."])

    def test_links_name_pages_that_there_are(self):
        text = "See [endpoints](endpoints.md#usb) and [other](x.md)."
        page = {"endpoints.md#usb": ("pumpctl-endpoints", 7)}.get
        self.assertEqual(blocks(text, page), ["See endpoints (\\fBpumpctl\\-endpoints\\fP(7)) and other."])

    def test_pictures_and_marks_are_left_out(self):
        self.assertEqual(blocks('![a plot](plot.svg)\n\n<a id="pump-1"></a>**pump-1** A rule.'), ["\\fBpump-1\\fR A rule."])

    def test_a_table_is_a_list_whose_other_columns_are_named(self):
        self.assertEqual(
            blocks("| option | values | default |\n| --- | --- | --- |\n| `bits` | 5 to 8 | 8 |\n| `pair` | | |"),
            [".Bl -tag -width Ds", ".It Xo", "\\fBbits\\fP", ".Xc", "values: 5 to 8; default: 8", ".It Xo", "\\fBpair\\fP", ".Xc", ".El"])

    def test_a_head_with_code_stands_before_its_table(self):
        self.assertEqual(
            blocks("| key of `[http]` | meaning |\n| --- | --- |\n| `listen` | where |")[:2], [".Pp", "Key of \\fB[http]\\fP:"])

    def test_an_item_has_paragraphs_and_code(self):
        self.assertEqual(
            blocks("* One:\n\n  ```sh\n  pumpctl\n  ```\n* Two\n  lines\n\nEnd."),
            [".Bl -bullet", ".It", "One:", ".Bd -literal -offset indent", "pumpctl", ".Ed", ".It", "Two lines", ".El", ".Pp", "End."])

    def test_a_section_ends_at_the_next_of_its_level(self):
        text = "# A\n## B\none\n### C\n```sh\n# no heading\n```\n## D\ntwo"
        self.assertEqual(section(text, "B"), ["one", "### C", "```sh", "# no heading", "```"])


class CommandTests(unittest.TestCase):
    def option(self, name, kind="option", **others):
        return {
            "kind": kind, "names": [{"kind": "long", "name": name}], "preferredName": {"kind": "long", "name": name},
            "valueName": "value", "shouldDisplay": True, "isOptional": True, "isRepeating": False, "abstract": f"About {name}."} | others

    def test_a_flag_and_its_opposite_are_one_entry(self):
        command = {"abstract": "Do.", "arguments": [
            self.option("record", "flag", abstract="Record."), self.option("no-record", "flag", abstract="Record.")]}
        lines, _ = command_page(["pumpctl", "do"], command)
        self.assertIn(".Fl -record , Fl -no-record", lines)

    def test_common_options_of_subcommands_are_listed_once(self):
        leaves = [
            {"commandName": name, "abstract": f"{name}.", "shouldDisplay": True, "arguments": [self.option("port"), self.option(name)]}
            for name in ("get", "set")]
        lines, _ = command_page(["pumpctl", "led"], {"abstract": "LED.", "subcommands": leaves})
        self.assertEqual(lines.count(".Fl -port Ar value"), 1)
        self.assertEqual(lines.count(".Fl -get Ar value"), 1)

    def test_examples_in_the_help_are_examples(self):
        lines, examples = command_page(["pumpctl", "on"], {"abstract": "Start.", "discussion": "Text.\n\nExample: pumpctl on"})
        self.assertEqual(examples, ["pumpctl on"])
        self.assertNotIn("Example: pumpctl on", lines)


class ChangeTests(unittest.TestCase):
    def test_the_changelog_of_debian_has_short_lines_and_the_version(self):
        text = "\n".join(changes.debian())
        self.assertTrue(text.startswith(f"pumpctl ({changes.version()}) "))
        self.assertLessEqual(max(len(line) for line in text.splitlines() if not line.startswith(" -- ")), 80)


if __name__ == "__main__":
    unittest.main()

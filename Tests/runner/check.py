"""Tests of `run.py`. A shell script that writes prepared events takes the place of `swift test`."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

RUN = pathlib.Path(__file__).with_name("run.py")
# run.py would append the results of the pretended runs to the file of this run.
os.environ.pop("PARTS", None)


def test(name, kind="function"):
    """Return the record with which `swift test` lists a test; with the kind `suite`, a suite."""
    return {"kind": "test", "payload": {"kind": kind, "id": f"Tests/{name}", "name": f"{name}()", "displayName": name}}


def event(kind, name=None, time=0.0):
    """Return the record of an event of a test, or without a name, of the run."""
    payload = {"kind": kind, "instant": {"absolute": time}}
    return {"kind": "event", "payload": {**payload, "testID": f"Tests/{name}"} if name else payload}


def issue(name, *texts, known=False, line=7):
    """Return the record of a failure; with `known`, of a failure that the test expects."""
    place = {"fileID": "Tests/a.swift", "line": line} if line else None
    messages = [{"symbol": "fail", "text": text} for text in texts]
    return {"kind": "event", "payload": {
        "kind": "issueRecorded", "testID": f"Tests/{name}", "messages": messages, "issue": {"isKnown": known, "sourceLocation": place}}}


class CheckRun(unittest.TestCase):
    def run_tests(self, *records, status=0, options=("--no-skips",), tail="", ending="", arguments=()):
        """Run run.py on these records; return its exit status, its output, and its lines in the file named by PARTS.

        `tail` is text after the last record, `ending` is shell code before the exit, and `arguments` are the options
        of the pretended `swift test`.
        """
        with tempfile.TemporaryDirectory() as folder:
            events = pathlib.Path(folder, "said")
            events.write_text("".join(json.dumps(record) + "\n" for record in records) + tail)
            # run.py adds the option with the path for the events after all other arguments.
            program = ["sh", "-c", f'while [ "$1" != --event-stream-output-path ]; do shift; done; cat "{events}" >"$2"; {ending}exit {status}']
            program += ["sh", *arguments]
            parts = pathlib.Path(folder, "parts")
            result = subprocess.run(
                [RUN, *options, *program], capture_output=True, text=True, check=False, env={**os.environ, "PARTS": str(parts), "PART": "unit"})
            return result.returncode, result.stdout, parts.read_text()

    def test_tests_can_receive_sigint_even_if_run_py_ignores_it(self):
        program = ["sh", "-c", "kill -INT $$; echo survived"]
        run = subprocess.run(
            [RUN, *program], capture_output=True, text=True, check=False,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        # run.py exits with the status that Python reports for a signal, -2, of which 8 bits remain.
        self.assertEqual((run.returncode, run.stdout), (-signal.SIGINT % 256, "no test was run\n"))

    def test_tests_can_be_suspended(self):
        suspended = "import os, signal, subprocess, sys; child = subprocess.Popen(['sleep', '60']); child.send_signal(signal.SIGTSTP);" \
            " _, status = os.waitpid(child.pid, os.WUNTRACED); child.kill(); sys.exit(not os.WIFSTOPPED(status))"
        run = subprocess.run([RUN, sys.executable, "-c", suspended], capture_output=True, text=True, check=False, timeout=30)
        self.assertEqual(run.stdout, "no test was run\n")

    def test_a_run_without_skips_passes_and_is_counted(self):
        status, printed, parts = self.run_tests(test("a"), test("b"), test("s", "suite"), event("runEnded"))
        self.assertEqual((status, printed, parts), (0, "2 tests, 0 skipped\n", "note\tunit\t2 tests, 0 skipped\n"))

    def test_the_slowest_tests_and_the_sum_of_a_target_are_printed(self):
        names = [f"t{number:02}" for number in range(25)]
        events = []
        for number, name in enumerate(names):
            events += [event("testStarted", name, 100 * number), event("testEnded", name, 100 * number + number)]
        status, printed, parts = self.run_tests(*map(test, names), *events, event("runEnded"), arguments=["--no-parallel"])
        lines = printed.splitlines()
        self.assertEqual((status, lines[0], len(lines)), (0, "   24.0 s  Tests: t24", 22))
        self.assertEqual(lines[19:], ["    5.0 s  Tests: t05", "  300.0 s  Tests, all", "25 tests, 0 skipped"])
        self.assertEqual(parts, "note\tunit\t25 tests, 0 skipped\n")

    def test_of_parallel_tests_only_those_with_arguments_have_a_time(self):
        def case(kind, number, time):
            record = event(kind, "b", time)
            record["payload"]["_testCase"] = {"id": str(number)}
            return record

        status, printed, _ = self.run_tests(
            test("a"), test("b"), event("testStarted", "a", 0), event("testStarted", "b", 0), case("testCaseStarted", 1, 5),
            case("testCaseStarted", 2, 6), case("testCaseEnded", 1, 7), case("testCaseEnded", 2, 9), event("testEnded", "a", 9),
            event("testEnded", "b", 9), event("runEnded"))
        lines = ["    5.0 s  Tests: b", "    5.0 s  Tests, all that have arguments", "2 tests, 0 skipped"]
        self.assertEqual((status, printed.splitlines()), (0, lines))

    def test_a_terminated_run_leaves_no_process(self):
        with tempfile.TemporaryDirectory() as folder:
            started = pathlib.Path(folder, "started")
            os.mkfifo(started)
            program = ["sh", "-c", f'echo $$ >"{started}"; exec sleep 1000']
            with subprocess.Popen([RUN, *program], stdout=subprocess.DEVNULL) as run:
                process = int(started.read_text())
                run.terminate()
                self.assertEqual(run.wait(), 143)
            self.assertRaises(ProcessLookupError, os.kill, process, 0)

    def test_a_skipped_test_fails_the_run_and_is_named(self):
        for kind in ("testSkipped", "testCancelled", "testCaseCancelled"):
            with self.subTest(kind=kind):
                status, printed, _ = self.run_tests(test("a"), test("b"), event(kind, "b"), event(kind, "b"), event("runEnded"))
                self.assertEqual((status, printed), (1, "2 tests, 1 skipped: b\n"))

    def test_a_skipped_suite_fails_the_run(self):
        status, _, _ = self.run_tests(test("a"), test("s", "suite"), event("testSkipped", "s"), event("runEnded"))
        self.assertEqual(status, 1)

    def test_skips_are_printed_even_if_they_are_allowed(self):
        status, printed, _ = self.run_tests(test("a"), event("testSkipped", "a"), event("runEnded"), options=())
        self.assertEqual((status, printed), (0, "1 tests, 1 skipped: a\n"))

    def test_a_run_without_tests_fails(self):
        self.assertEqual(self.run_tests(event("runEnded"))[0], 1)

    def test_a_run_whose_events_break_off_fails(self):
        for tail in ("", '{"kind":"ev'):
            with self.subTest(tail=tail):
                status, printed, _ = self.run_tests(test("a"), tail=tail)
                self.assertEqual(status, 1)
                self.assertIn("did not come to its end", printed)

    def test_a_run_that_hangs_is_killed_and_its_tests_are_named(self):
        status, printed, _ = self.run_tests(
            *(test(name) for name in "abc"), *(event("testStarted", name) for name in "abc"), event("testEnded", "b"),
            options=("--silence", "0.1"), ending="sleep 1000; ")
        self.assertEqual(status, 1)
        self.assertIn("did not come to its end; under way: a; c\n", printed)

    def test_run_py_exits_with_the_status_of_a_failed_run(self):
        self.assertEqual(self.run_tests(test("a"), event("runEnded"), status=7)[0], 7)

    def test_failures_are_printed_at_the_end_one_line_each(self):
        status, printed, parts = self.run_tests(
            test("a"), test("b"), issue("a", "is 1\nwanted 2\n", "since"), issue("b", "known", known=True), issue(None, "hm", line=None),
            event("runEnded"), status=1)
        self.assertEqual(status, 1)
        lines = ["2 tests, 0 skipped", "failed: a (Tests/a.swift:7): is 1 / wanted 2 / since", "failed: outside of a test: hm"]
        self.assertEqual(printed.splitlines(), lines)
        self.assertEqual(parts.splitlines(), [f"note\tunit\t{line}" for line in lines])

    def test_at_most_20_failures_are_printed_with_1000_characters_each(self):
        _, printed, _ = self.run_tests(
            test("a"), *(issue("a", f"{number} " + "x" * 5000) for number in range(25)), event("runEnded"), status=1)
        lines = printed.splitlines()
        self.assertEqual((len(lines), lines[-1]), (22, "and 5 more"))
        self.assertTrue(all(len(line) < 1100 for line in lines))


if __name__ == "__main__":
    unittest.main()

"""What a run of the tests shows, what is tried a second time, and whether all of it is good enough."""

import concurrent.futures
import contextlib
import io
import multiprocessing
import os
import signal
import time
import unittest

from vm import end_with_parent

# Longer than any test; one that takes as long hangs.
TEST_SECONDS = 600
# How many tests may pass only on their second try: a busy machine makes one late, now and then. More is a defect.
SECOND_TRIES = 2


def passes(suite, again=False, jobs=1):
    """Runs the tests, prints what came of them, and returns whether that is a pass: none failed, none was skipped.

    So many `jobs` run at once. With `again`, what failed is run once more, one at a time, and SECOND_TRIES tests may pass
    only then.
    """
    first = Report()
    if jobs == 1:
        suite.run(first)
    else:
        _run_at_once(list(_cases(suite)), jobs, first)
    _note(first.summary())
    failed, skipped, late = set(first.failed), set(first.skipped_tests), set()
    if failed and again:
        print("once more, what failed:", flush=True)
        # What failed outside of a test, as in setUpClass, can't be run on its own.
        tests = [test for test in first.failed.values() if isinstance(test, unittest.TestCase)]
        second = Report()
        unittest.TestSuite(type(test)(test._testMethodName) for test in tests).run(second)
        _note(f"once more, of these {second.summary()}")
        late = {test.id() for test in tests} - set(second.failed) - set(second.skipped_tests)
        failed -= late
        skipped |= set(second.skipped_tests)
    _tell("failed", failed)
    _tell("skipped", skipped)
    _tell("passed only on the second try", late)
    if len(late) > SECOND_TRIES:
        _note(f"that is too many: at most {SECOND_TRIES} tests may need a second try")
    return not failed and not skipped and len(late) <= SECOND_TRIES


def _cases(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from _cases(test)
        else:
            yield test


def _run_at_once(tests, jobs, report):
    """Runs the tests in so many processes, and adds to the report what came of each."""
    # A test is not sent to a process, which was forked and has all of them: only its number is.
    _run_one.tests = tests
    pool = concurrent.futures.ProcessPoolExecutor(jobs, multiprocessing.get_context("fork"), end_with_parent)
    try:
        running = {pool.submit(_run_one, number): test for number, test in enumerate(tests)}
        for ended in concurrent.futures.as_completed(running):
            has_failed, was_skipped, printed = ended.result()
            print(printed, end="", flush=True)
            report.add(running[ended], has_failed, was_skipped)
    except BaseException:
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _run_one(number):
    """Whether a test has failed, whether it or a part of it was skipped, and what it printed."""
    report = Report()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        unittest.TestSuite([_run_one.tests[number]]).run(report)
    return bool(report.failed), bool(report.skipped_tests), printed.getvalue()


def _note(text):
    """Prints it, and adds it to the table of CI's parts."""
    print(text, flush=True)
    if path := os.environ.get("PARTS"):
        with open(path, "a", encoding="utf-8") as parts:
            parts.write(f"note\t{text}\n")


def _tell(what, names):
    if names:
        _note(f"{what}: {len(names)}: {', '.join(map(_title, sorted(names)))}")


def _title(name):
    return name.replace("test_", "").replace("_", " ")


class Report(unittest.TestResult):
    """One line a test."""

    def startTest(self, test):
        super().startTest(test)
        self._begun = time.monotonic()
        self._verdict = "ended"
        self._details = ""
        signal.alarm(TEST_SECONDS)

    def stopTest(self, test):
        signal.alarm(0)
        super().stopTest(test)
        print(f"{self._verdict:6} {time.monotonic() - self._begun:6.1f} s  {_title(test.id())}{self._details}", flush=True)

    def _fail(self, test, error):
        details = "\n" + self._exc_info_to_string(error, test)
        for adapter in getattr(test, "adapters", []):
            details += f"{adapter}\n"
        if (machine := getattr(test, "machine", None)) and (console := machine.console()):
            details += f"the guest's console ends with:\n{console[-2000:]}"
        if isinstance(test, unittest.TestCase):
            self._verdict = "FAILED"
            self._details += details
        else:
            print(f"FAILED  {test.id()}{details}", flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self._verdict = "ok"

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._fail(test, error)

    def addError(self, test, error):
        super().addError(test, error)
        self._fail(test, error)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error:
            self._details += f"\n{subtest}"
            self._fail(test, error)

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self._verdict = "FAILED"
        self._details += ": it passed, though it was expected to fail"

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._verdict = "skip"
        self._details += f": {reason}"

    def add(self, test, has_failed, was_skipped):
        """Counts a test that another report has shown."""
        self.testsRun += 1
        if has_failed:
            self.failures.append((test, ""))
        if was_skipped:
            self.skipped.append((test, ""))

    @property
    def failed(self):
        """The tests that failed, by their names. A failed subtest counts as the test that it belongs to."""
        return self._by_name([test for test, _ in self.failures + self.errors] + self.unexpectedSuccesses)

    @property
    def skipped_tests(self):
        """The tests of which all or a part was skipped, by their names."""
        return self._by_name([test for test, _ in self.skipped])

    @staticmethod
    def _by_name(tests):
        tests = (getattr(test, "test_case", test) for test in tests)
        return {test.id(): test for test in tests}

    def summary(self):
        bad, skipped = self.failed, self.skipped_tests
        passed = self.testsRun - len(set(bad) | set(skipped))
        text = f"{passed} passed, {len(bad)} failed"
        return text + (f", {len(skipped)} skipped" if skipped else "")

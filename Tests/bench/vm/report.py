"""The report on a run of the tests: verdicts, times, and whether the run passes."""

import concurrent.futures
import contextlib
import io
import multiprocessing
import os
import resource
import signal
import time
import unittest

from vm import end_with_parent

# The time limit of a test in seconds; only a test that hangs reaches it.
TEST_SECONDS = 1800
# The number of the slowest tests in the final report.
SLOWEST = 20


def passes(suite, jobs=1):
    """Run the tests, print their verdicts, and return whether none failed and none was skipped.

    Up to `jobs` tests run at once; the tests start in the order of the suite.
    """
    report = Report()
    if jobs == 1:
        suite.run(report)
    else:
        _run_at_once(list(cases(suite)), jobs, report)
    _tell_times(report.times)
    _note(report.summary())
    _tell("failed", report.failed)
    _tell("skipped", report.skipped_tests)
    return not report.failed and not report.skipped_tests


def _tell_times(times):
    """Print the slowest tests, and the total time of each module."""
    print("the slowest tests:")
    for name, took in sorted(times.items(), key=lambda item: item[1], reverse=True)[:SLOWEST]:
        print(f"  {_time(took)}  {_title(name)}")
    modules = {}
    for name, took in times.items():
        modules.setdefault(name.split(".")[0], []).append(took)
    sums = {f"{_title(module)}: {len(all_times)}": [sum(seconds) for seconds in zip(*all_times)]
            for module, all_times in modules.items()}
    print("each module, and how many tests it has:")
    for module, took in sorted(sums.items(), key=lambda item: item[1], reverse=True):
        print(f"  {_time(took)}  {module}")


def cases(suite):
    """Yield the tests of a suite one by one."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from cases(test)
        else:
            yield test


def _run_at_once(tests, jobs, report):
    """Run the tests in `jobs` processes, and add their verdicts to the report."""
    # A forked process already has all tests, so only the number of a test is sent to it.
    _run_one.tests = tests
    pool = concurrent.futures.ProcessPoolExecutor(jobs, multiprocessing.get_context("fork"), end_with_parent)
    try:
        running = {pool.submit(_run_one, number): test for number, test in enumerate(tests)}
        for ended in concurrent.futures.as_completed(running):
            has_failed, was_skipped, times, printed = ended.result()
            print(printed, end="", flush=True)
            report.add(running[ended], has_failed, was_skipped, times)
    except BaseException:
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _run_one(number):
    """Run a test; return whether it failed, whether it or a part of it was skipped, its times, and its output."""
    report = Report()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        unittest.TestSuite([_run_one.tests[number]]).run(report)
    return bool(report.failed), bool(report.skipped_tests), report.times, printed.getvalue()


def _note(text):
    """Print a line, and append it to the file named by PARTS, if it is set (see scripts/part)."""
    print(text, flush=True)
    if path := os.environ.get("PARTS"):
        with open(path, "a", encoding="utf-8") as parts:
            parts.write(f"note\t{os.environ.get('PART', '')}\t{text}\n")


def _tell(what, names):
    """Print the names of the tests with a verdict, if there are any."""
    if names:
        _note(f"{what}: {len(names)}: {', '.join(map(_title, sorted(names)))}")


def _clock():
    """Return the real time and the processor time in seconds, including ended child processes."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return time.monotonic(), sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _time(took):
    return "{:6.1f} s ({:5.1f} s of processor time)".format(*took)


def _title(name):
    return name.replace("test_", "").replace("_", " ")


class Report(unittest.TestResult):
    """A result that prints one line per test."""

    def __init__(self):
        super().__init__()
        # Seconds of real time and of processor time, by test name.
        self.times = {}

    def startTest(self, test):
        super().startTest(test)
        self._begun = _clock()
        self._verdict = "ended"
        self._details = ""
        signal.alarm(TEST_SECONDS)

    def stopTest(self, test):
        signal.alarm(0)
        super().stopTest(test)
        self.times[test.id()] = took = tuple(end - begin for begin, end in zip(self._begun, _clock()))
        print(f"{self._verdict:6} {_time(took)}  {_title(test.id())}{self._details}", flush=True)

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

    def add(self, test, has_failed, was_skipped, times):
        """Count a test that another process has run and reported."""
        self.testsRun += 1
        self.times.update(times)
        if has_failed:
            self.failures.append((test, ""))
        if was_skipped:
            self.skipped.append((test, ""))

    @property
    def failed(self):
        """The failed tests, by name. A failed subtest counts as the test that it belongs to."""
        return self._by_name([test for test, _ in self.failures + self.errors] + self.unexpectedSuccesses)

    @property
    def skipped_tests(self):
        """The tests that were skipped in whole or in part, by name."""
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

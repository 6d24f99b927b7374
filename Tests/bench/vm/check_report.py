"""Tests of `report`: which runs pass. No virtual machine is needed, so the bench does not run them: `make check` does."""

import contextlib
import io
import multiprocessing
import os
import tempfile
import unittest
import unittest.mock

import report


def suite_of(**verdicts):
    """Return a suite with a test for each name, whose verdict is the given one: ok, fails or skips."""
    def test(name):
        def run(self):
            match verdicts[name]:
                case "fails":
                    self.fail("as it was told to")
                case "skips":
                    self.skipTest("as it was told to")
        return run

    cases = type("Cases", (unittest.TestCase,), {f"test_{name}": test(name) for name in verdicts})
    return unittest.defaultTestLoader.loadTestsFromTestCase(cases)


def run(suite, jobs=1):
    """Run a suite; return whether it passes, and its output."""
    with contextlib.redirect_stdout(io.StringIO()) as printed, unittest.mock.patch.dict(os.environ):
        # The verdicts of these suites must not get into the file named by PARTS, which CI reports.
        os.environ.pop("PARTS", None)
        is_good = report.passes(suite, jobs)
    return is_good, printed.getvalue()


class CheckReport(unittest.TestCase):
    def test_a_run_passes_if_all_tests_pass(self):
        is_good, printed = run(suite_of(a="ok", b="ok"))
        self.assertTrue(is_good)
        self.assertIn("2 passed, 0 failed\n", printed)

    def test_a_failed_test_fails_the_run_and_is_named(self):
        is_good, printed = run(suite_of(a="fails", b="ok"))
        self.assertFalse(is_good)
        self.assertRegex(printed, r"\nfailed: 1: .*Cases\.a\n")

    def test_the_table_of_parts_names_failed_tests(self):
        with tempfile.NamedTemporaryFile("r") as parts, contextlib.redirect_stdout(io.StringIO()):
            with unittest.mock.patch.dict(os.environ, PARTS=parts.name, PART="a part"):
                report.passes(suite_of(a="fails"))
            self.assertRegex(parts.read(), r"(?m)^note\ta part\tfailed: 1: .*Cases\.a$")

    def test_a_skipped_test_fails_the_run(self):
        is_good, printed = run(suite_of(a="ok", b="skips"))
        self.assertFalse(is_good)
        self.assertIn("1 passed, 0 failed, 1 skipped\n", printed)
        self.assertRegex(printed, r"\nskipped: 1: .*Cases\.b\n")

    def test_a_skipped_subtest_fails_the_run(self):
        class Cases(unittest.TestCase):
            def test_parts(self):
                for part in range(3):
                    with self.subTest(part=part):
                        if part == 1:
                            self.skipTest("as it was told to")

        is_good, printed = run(unittest.TestSuite([Cases("test_parts")]))
        self.assertFalse(is_good)
        self.assertIn("0 passed, 0 failed, 1 skipped\n", printed)

    def test_failed_subtests_count_as_one_failed_test_and_are_named(self):
        class Cases(unittest.TestCase):
            def test_parts(self):
                for part in range(3):
                    with self.subTest(part=part):
                        self.assertEqual(part, 1)

        is_good, printed = run(unittest.TestSuite([Cases("test_parts")]))
        self.assertFalse(is_good)
        self.assertIn("0 passed, 1 failed\n", printed)
        self.assertIn("(part=2)", printed)

    def test_a_failure_outside_of_a_test_fails_the_run(self):
        class Cases(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                raise OSError("as it was told to")

            def test_nothing(self):
                pass

        is_good, printed = run(unittest.TestSuite([Cases("test_nothing")]))
        self.assertFalse(is_good)
        self.assertIn("as it was told to", printed)

    def test_parallel_tests_are_counted_and_shown_like_others(self):
        is_good, printed = run(suite_of(a="ok", b="fails", c="skips", d="ok"), jobs=2)
        self.assertFalse(is_good)
        for line in (r"ok .*Cases\.a", r"FAILED .*Cases\.b", r"skip .*Cases\.c: as it was told to", r"ok .*Cases\.d"):
            self.assertRegex(printed, f"(?m)^{line}")
        self.assertIn("2 passed, 1 failed, 1 skipped\n", printed)
        self.assertRegex(printed, r"\nfailed: 1: .*Cases\.b\n")

    def test_parallel_tests_run_at_the_same_time(self):
        meeting = multiprocessing.Barrier(2, timeout=60)

        class Cases(unittest.TestCase):
            def test_a(self):
                meeting.wait()

            test_b = test_a

        self.assertTrue(run(unittest.defaultTestLoader.loadTestsFromTestCase(Cases), jobs=2)[0])

    def test_the_slowest_tests_and_the_sum_of_each_module_are_printed(self):
        times = {"test_a.Cases.quick": (1, 0.5), "test_b.Cases.slow": (5, 2), "test_a.Cases.other": (3, 1.25)}
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            report._tell_times(times)
        self.assertRegex(printed.getvalue(), r"(?s)5\.0 s.*b\.Cases\.slow.*3\.0 s.*1\.0 s.*each module.*5\.0 s.*b: 1\n")
        self.assertRegex(printed.getvalue(), r"4\.0 s +\( *1\.8 s of processor time\)  a: 2\n")

    def test_times_of_parallel_tests_are_printed(self):
        printed = run(suite_of(a="ok", b="ok"), jobs=2)[1]
        self.assertRegex(printed, r"(?s)the slowest tests:\n.*Cases\.a\n.*each module.*: 2\n")

    def test_an_expected_failure_that_passes_fails_the_run(self):
        class Cases(unittest.TestCase):
            @unittest.expectedFailure
            def test_nothing(self):
                pass

        self.assertFalse(run(unittest.TestSuite([Cases("test_nothing")]))[0])


if __name__ == "__main__":
    unittest.main()

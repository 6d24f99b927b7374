"""The tests of `report`: what a run counts as passed. They need no virtual machine, and so are none of the bench."""

import contextlib
import io
import multiprocessing
import os
import tempfile
import unittest
import unittest.mock

import report


def suite_of(**verdicts):
    """Tests by their names, each with what comes of its first try, its second, and so on: ok, fails, skips."""
    tries = {name: iter(verdict.split()) for name, verdict in verdicts.items()}

    def test(name):
        def run(self):
            match next(tries[name]):
                case "fails":
                    self.fail("as it was told to")
                case "skips":
                    self.skipTest("as it was told to")
        return run

    cases = type("Cases", (unittest.TestCase,), {f"test_{name}": test(name) for name in verdicts})
    return unittest.defaultTestLoader.loadTestsFromTestCase(cases)


def run(suite, again=True, jobs=1):
    """Whether a run passes, and what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed, unittest.mock.patch.dict(os.environ):
        # What is told here is none of CI's.
        os.environ.pop("PARTS", None)
        is_good = report.passes(suite, again, jobs)
    return is_good, printed.getvalue()


class CheckReport(unittest.TestCase):
    def test_all_that_passed_at_once_is_a_pass(self):
        is_good, printed = run(suite_of(a="ok", b="ok"))
        self.assertTrue(is_good)
        self.assertIn("2 passed, 0 failed\n", printed)
        self.assertNotIn("second try", printed)

    def test_what_passed_only_on_the_second_try_is_counted_and_named(self):
        is_good, printed = run(suite_of(a="ok", b="fails ok", c="fails ok"))
        self.assertTrue(is_good)
        self.assertRegex(printed, r"passed only on the second try: 2: .*Cases\.b, .*\.c\n")

    def test_the_table_of_parts_has_the_second_tries(self):
        with tempfile.NamedTemporaryFile("r") as parts, contextlib.redirect_stdout(io.StringIO()):
            with unittest.mock.patch.dict(os.environ, PARTS=parts.name):
                report.passes(suite_of(a="fails ok"), again=True)
            self.assertRegex(parts.read(), r"(?m)^note\tpassed only on the second try: 1: .*Cases\.a$")

    def test_more_than_two_that_needed_a_second_try_fail_the_run(self):
        is_good, printed = run(suite_of(a="fails ok", b="fails ok", c="fails ok", d="ok"))
        self.assertFalse(is_good)
        self.assertIn("passed only on the second try: 3: ", printed)
        self.assertIn("too many", printed)

    def test_what_failed_twice_fails_the_run_and_is_no_second_try(self):
        is_good, printed = run(suite_of(a="fails fails", b="fails ok"))
        self.assertFalse(is_good)
        self.assertRegex(printed, r"\nfailed: 1: .*Cases\.a\n")
        self.assertRegex(printed, r"passed only on the second try: 1: .*Cases\.b\n")

    def test_without_again_there_is_one_try(self):
        is_good, printed = run(suite_of(a="fails ok"), again=False)
        self.assertFalse(is_good)
        self.assertNotIn("second try", printed)

    def test_a_skipped_test_fails_the_run(self):
        is_good, printed = run(suite_of(a="ok", b="skips"))
        self.assertFalse(is_good)
        self.assertIn("1 passed, 0 failed, 1 skipped\n", printed)
        self.assertRegex(printed, r"\nskipped: 1: .*Cases\.b\n")

    def test_a_test_skipped_on_its_second_try_has_not_passed(self):
        is_good, printed = run(suite_of(a="fails skips"))
        self.assertFalse(is_good)
        self.assertNotIn("only on the second try", printed)

    def test_a_skipped_part_of_a_test_fails_the_run(self):
        class Cases(unittest.TestCase):
            def test_parts(self):
                for part in range(3):
                    with self.subTest(part=part):
                        if part == 1:
                            self.skipTest("as it was told to")

        is_good, printed = run(unittest.TestSuite([Cases("test_parts")]))
        self.assertFalse(is_good)
        self.assertIn("0 passed, 0 failed, 1 skipped\n", printed)

    def test_failed_parts_are_one_failed_test_and_named(self):
        class Cases(unittest.TestCase):
            def test_parts(self):
                for part in range(3):
                    with self.subTest(part=part):
                        self.assertEqual(part, 1)

        is_good, printed = run(unittest.TestSuite([Cases("test_parts")]))
        self.assertFalse(is_good)
        self.assertIn("0 passed, 1 failed\n", printed)
        self.assertIn("(part=2)", printed)

    def test_what_fails_outside_of_a_test_fails_the_run(self):
        class Cases(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                raise OSError("as it was told to")

            def test_nothing(self):
                pass

        is_good, printed = run(unittest.TestSuite([Cases("test_nothing")]))
        self.assertFalse(is_good)
        self.assertIn("as it was told to", printed)

    def test_tests_that_run_at_once_are_counted_and_shown_as_others(self):
        is_good, printed = run(suite_of(a="ok", b="fails", c="skips", d="ok"), again=False, jobs=2)
        self.assertFalse(is_good)
        for line in (r"ok .*Cases\.a", r"FAILED .*Cases\.b", r"skip .*Cases\.c: as it was told to", r"ok .*Cases\.d"):
            self.assertRegex(printed, f"(?m)^{line}")
        self.assertIn("2 passed, 1 failed, 1 skipped\n", printed)
        self.assertRegex(printed, r"\nfailed: 1: .*Cases\.b\n")

    def test_at_once_means_at_the_same_time(self):
        meeting = multiprocessing.Barrier(2, timeout=60)

        class Cases(unittest.TestCase):
            def test_a(self):
                meeting.wait()

            test_b = test_a

        self.assertTrue(run(unittest.defaultTestLoader.loadTestsFromTestCase(Cases), jobs=2)[0])

    def test_what_failed_beside_another_passes_on_its_own(self):
        here = os.getpid()

        class Cases(unittest.TestCase):
            def test_alone(self):
                self.assertEqual(os.getpid(), here)

            def test_nothing(self):
                pass

        is_good, printed = run(unittest.defaultTestLoader.loadTestsFromTestCase(Cases), jobs=2)
        self.assertTrue(is_good)
        self.assertRegex(printed, r"passed only on the second try: 1: .*Cases\.alone\n")

    def test_an_expected_failure_that_passes_fails_the_run(self):
        class Cases(unittest.TestCase):
            @unittest.expectedFailure
            def test_nothing(self):
                pass

        self.assertFalse(run(unittest.TestSuite([Cases("test_nothing")]))[0])


if __name__ == "__main__":
    unittest.main()

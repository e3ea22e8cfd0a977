"""The order of the cases of a test (tests/support/cases.py, cases.c): the same in C and Python; each case has its turn, also in a loop within
another and with each method that may be taken first, where there is time for one of them only; what a failure says repeats it. Of the tests that
take minutes each has its turn too, and is stopped where its time is up (tests/validate, support/measured.c).

Control: with one step for methods and cases, as it once was, half of the pairs never come.
"""
import importlib.machinery
import importlib.util
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, ctest  # noqa: E402

TESTS = pathlib.Path(__file__).resolve().parents[1]
BUILT = pathlib.Path(os.environ.get("GPUMC_BUILD", TESTS.parent / "build/release")) / "tests"
PROGRAM, MEASURED = BUILT / "unit_tests", BUILT / "gpumc_measured"
IN_C = 17 * 41  # cases of test_cases.c
ROTATIONS = 2500
WITHOUT_OURS = {name: value for name, value in os.environ.items() if not name.startswith("GPUMC_")}  # those of this test


class Order(unittest.TestCase):
    def test_all_come_once(self):
        for number, rotation, depth in itertools.product((1, 2, 60, 61, 62, 697, 1000), range(0, 300, 29), range(4)):
            self.assertEqual(sorted(cases.order(number, rotation, depth)), list(range(number)))

    def test_each_comes_first(self):
        for number, depth in itertools.product((2, 7, 61, 128), range(3)):
            self.assertEqual({cases.order(number, rotation, depth)[0] for rotation in range(ROTATIONS)}, set(range(number)), (number, depth))

    def test_each_comes_first_with_each_method(self):
        for methods, number in (2, 2), (5, 40), (3, 61):
            pairs = {(cases.place(cases.METHODS, methods, rotation), cases.order(number, rotation)[0]) for rotation in range(ROTATIONS)}
            self.assertEqual(len(pairs), methods * number)
        pairs = {(cases.place(cases.GOLDEN, 2, rotation), cases.order(40, rotation)[0]) for rotation in range(ROTATIONS)}
        self.assertLess(len(pairs), 2 * 40 * 0.55, "control")

    def test_each_comes_first_in_each_case_around_it(self):
        for outer, inner in (2, 2), (12, 8):
            pairs = {(cases.order(outer, rotation, 0)[0], cases.order(inner, rotation, 1)[0]) for rotation in range(ROTATIONS)}
            self.assertEqual(len(pairs), outer * inner)

    @unittest.skipUnless(PROGRAM.exists(), "the tests in C are not built")
    def test_the_same_in_c(self):
        for rotation in range(1500, 1540):
            done = subprocess.run([PROGRAM, "unit_test_cases", "one_is_taken*"], capture_output=True, text=True, check=True,
                                  env={**os.environ, "GPUMC_ROTATION": str(rotation)})
            self.assertEqual(re.search(r"1 of 697 cases \(rotation \d+\): (\d+)", done.stderr).group(1), str(cases.order(IN_C, rotation)[0]))


class Tenth(unittest.TestCase):
    def test_each_long_test_has_its_turn(self):
        loader = importlib.machinery.SourceFileLoader("validate", str(TESTS / "validate"))
        validate = importlib.util.module_from_spec(importlib.util.spec_from_loader("validate", loader))
        loader.exec_module(validate)
        names = [f"test_{number}" for number in range(37)]
        turns = [validate.tenth(names, rotation) for rotation in range(1500, 1530)]
        self.assertEqual({len(turn) for turn in turns}, {4})
        self.assertEqual(set(itertools.chain(*turns)), set(names))


@unittest.skipUnless(MEASURED.exists(), "the tests in C are not built")
class Stopped(unittest.TestCase):
    def measured(self, script, seconds):
        with tempfile.TemporaryDirectory() as folder:
            begin = time.monotonic()
            done = subprocess.run([MEASURED, f"{folder}/test-times.tsv", "some", sys.executable, "-c", script], capture_output=True, text=True, check=False,
                                  env={**WITHOUT_OURS, "GPUMC_STOP_AFTER": str(seconds)})
            return done.returncode, ctest.runs(folder)["some"].code, done.stderr, time.monotonic() - begin

    def test_one_that_is_still_at_work_was_skipped(self):
        returned, told, said, took = self.measured("import time; time.sleep(600)", 1)
        self.assertEqual((returned, told), (77, ctest.STOPPED))
        self.assertIn("stopped after 1 s", said)
        self.assertLess(took, 60)

    def test_what_it_started_ends_too(self):
        """Also what does not listen and has a session of its own: the pipe ends with the last one that has it."""
        _, told, _, took = self.measured("import os, signal, time\nif os.fork() == 0: os.setsid(); signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
                                         "time.sleep(600)", 1)
        self.assertEqual(told, ctest.STOPPED)
        self.assertLess(took, 60)

    def test_one_of_python_cleans_up(self):
        """And what had failed before has failed."""
        script = textwrap.dedent(f"""\
            import sys, time, unittest
            sys.path.insert(0, {str(TESTS)!r})
            from support import cases
            class Some(unittest.TestCase):
                def test_1(self):
                    self.assertNotEqual(FAILS, 1)
                def test_2(self):
                    self.addCleanup(print, "cleaned up", file=sys.stderr)
                    time.sleep(600)
            cases.main()
            """)
        returned, told, said, _ = self.measured(script.replace("FAILS", "0"), 2)
        self.assertEqual((returned, told), (77, ctest.STOPPED), said)
        self.assertIn("cleaned up", said)
        self.assertEqual(self.measured(script.replace("FAILS", "1"), 600)[:2], (1, 1))

    def test_one_that_ended_is_as_always(self):
        for code in 0, 1:
            self.assertEqual(self.measured(f"raise SystemExit({code})", 600)[:2], (code, code))


class Failures(unittest.TestCase):
    SCRIPT = textwrap.dedent("""\
        import sys, unittest
        sys.path.insert(0, sys.argv.pop())
        from support import cases
        class Some(unittest.TestCase):
            def test_one(self):
                for outer in cases.of("abc"):
                    for inner in cases.of(range(9)):
                        with self.subTest(outer=outer, inner=inner):
                            self.assertNotEqual((outer, inner), ("b", 7))
        cases.main()
        """)

    def run_script(self, **environment):
        return subprocess.run([sys.executable, "-c", self.SCRIPT, TESTS], capture_output=True, text=True, check=False,
                              env={**WITHOUT_OURS, **environment})

    def test_a_case_that_fails_is_repeated_by_what_it_says(self):
        done = self.run_script()
        order, = set(re.findall(r"GPUMC_CASES=(\S+:1,\S+:7)", done.stderr))
        self.assertEqual(done.returncode, 1)
        again = self.run_script(GPUMC_CASES=order)
        self.assertEqual(again.returncode, 1)
        self.assertIn("2 of 9 cases", again.stderr)
        self.assertEqual(self.run_script(GPUMC_CASES=order.replace(":7", ":6")).returncode, 0)

    def test_a_method_that_fails_is_repeated_by_what_it_says(self):
        order, = re.findall(r"repeated by GPUMC_METHODS=(\S+)$", self.run_script(GPUMC_METHODS_SECONDS="60").stderr, re.M)
        self.assertEqual(order, "Some.test_one")
        self.assertEqual(self.run_script(GPUMC_METHODS=order).returncode, 1)

    @unittest.skipUnless(PROGRAM.exists(), "the tests in C are not built")
    def test_a_filter_that_matches_nothing_has_not_passed(self):
        done = subprocess.run([PROGRAM, "unit_test_cases", "no_such_function"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no function whose name matches", done.stderr)

    def test_a_case_that_there_is_not_has_not_passed(self):
        done = self.run_script(GPUMC_CASES="test_two:0")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no loop has such a case", done.stderr)

    def test_every_failure_is_met_in_its_turn(self):
        codes = [self.run_script(GPUMC_CASES_SECONDS="1e-9", GPUMC_ROTATION=str(rotation)).returncode for rotation in range(60)]
        self.assertTrue(0 < sum(codes) < 30, codes)


if __name__ == "__main__":
    unittest.main()

"""Numbers with errors: the Python tools write what the program writes, and so do the documents."""
import math
import pathlib
import random
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools/python")]
from gpumc import measured  # noqa: E402
from support import faults  # noqa: E402

PROGRAM = faults.TESTS / "gpumc_measured_program"

# For both signs of the value.
CASES = [
    (0.136, 0.0791), (1.4123456, 0.00021), (0.5, 0.00996), (0.5, 0.0996), (1.9996, 0.0031), (123.456, 1.54),
    (12.34, 9.96), (12.34, 15), (1234, 150), (0.02, 1.5), (0.02, 15), (99.96, 0.12), (999.96, 14), (9.9996e6, 51),
    (3, 0), (0, 0), (0, -0.0), (0, 0.1), (1.99995, math.nan), (1, -0.5), (1, math.inf), (1, -math.inf),
    (math.nan, 0.1), (math.inf, 0.1), (math.inf, math.nan), (0.5, 0.5), (2.5, 1e3), (0.125, 0.25), (2.675, 0.05),
    (1.23456e-7, 1.2e-10), (1e-9, 2.34e-7), (1.23456789e12, 3.4e9), (1.5e7, 1.2e7), (1, 1e-17), (1, 1e-20), (0.1, 2.5e-16),
    (0.1, 2.5e-15), (123456789.125, 1e-12), (1.5e20, 3), (1e-5, 3e-7),
    (9.99999e-6, 1e-8), (1e-300, 1e-301), (1e300, 1e299), (1e290, 1e280), (1e-280, 1e-289), (5e-324, 5e-324),
    (1.7e308, 1.7e308), (9.95, 0.995), (9.5, 0.0995), (999999.96, 0.12), (9999999.6, 1.2), (99.5, 10), (1, 9.949),
]


def by_program(cases):
    lines = "".join(f"{value!r} {error!r}\n" for value, error in cases)
    return subprocess.run([PROGRAM], input=lines, capture_output=True, text=True, check=True,
                          timeout=60).stdout.splitlines()


class Measured(unittest.TestCase):
    def compare(self, cases):
        for case, expected in zip(cases, by_program(cases), strict=True):
            self.assertEqual(measured.text(*case), expected, case)

    def test_a_table_of_cases(self):
        self.compare([(sign * value, error) for value, error in CASES for sign in (1.0, -1.0)])

    def test_what_it_looks_like(self):
        for case, expected in (((-0.136, 0.0791), "-0.136(79)"), ((12.34, 1.54), "12.3(1.5)"), ((1234, 150), "1230(150)"),
                               ((1.23456e-7, 1.2e-10), "1.2346(12)e-07"), ((3, 0), "3(0)"), ((1, 1e-20), "1(1e-20)"),
                               ((-1.99995, math.nan), "-1.99995(?)"), ((math.nan, 0.1), "?")):
            self.assertEqual(measured.text(*case), expected)

    def test_ten_thousand_drawn_ones(self):
        drawn = random.Random(20261123)
        cases = []
        for _ in range(10000):
            error = round(drawn.uniform(0.5, 10), drawn.randrange(6)) * 10.0 ** drawn.randrange(-14, 14)
            value = drawn.uniform(-1, 1) * error * 10.0 ** drawn.uniform(-2, 18)
            cases.append((drawn.choice([value, float(f"{value:.4g}"), float(f"{value:.2g}")]), error))
        self.compare(cases)


class Users(unittest.TestCase):
    def test_no_tool_and_no_document_writes_an_error_in_another_way(self):
        for path in [*(ROOT / "tools").iterdir(), *(ROOT / "docs").glob("*.md"), ROOT / "README.md"]:
            if path.is_file():
                self.assertIsNone(re.search(r"\+-(?!J|width|1\b)", path.read_text()), path)


if __name__ == "__main__":
    unittest.main()

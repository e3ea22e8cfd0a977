"""tests/same_results.py finds a number that moved, and nothing where nothing did.

CTest: release (cli_test_run, cli_test_canonical_keys)
"""
import os
import pathlib
import subprocess
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import same_results
from support.program import PROGRAM as GPUMC, ProgramCase

CASES = "small/square/(pa|canonical)/spin"
# Runs the program with another seed.
RESEEDED = """\
#!/bin/sh
[ "$1" = run ] && exec "PROGRAM" "$@" --set seed=12
exec "PROGRAM" "$@"
"""


class SameResults(ProgramCase):
    def compare(self, other, *options):
        return subprocess.run([sys.executable, same_results.__file__, "--base", GPUMC, "--program", other,
                               "--only", CASES, *options], capture_output=True, text=True)

    def reseeded(self):
        path = self.path("reseeded")
        path.write_text(RESEEDED.replace("PROGRAM", GPUMC))
        os.chmod(path, 0o755)
        return path

    def test_one_program_twice(self):
        done = self.compare(GPUMC)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("all the same", done.stdout)

    def test_another_seed_is_found(self):
        done = self.compare(self.reseeded())
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("small/square/pa/spin/summary/energy\n", done.stdout)
        self.assertIn("small/square/canonical/spin/summary/energy\n", done.stdout)

    def test_what_is_allowed_is_named_with_a_reason(self):
        self.write("allow", "small/* inf another seed\n")
        done = self.compare(self.reseeded(), "--allow", self.path("allow"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("another seed", done.stdout)
        self.write("allow", "small/* inf\n")
        done = self.compare(self.reseeded(), "--allow", self.path("allow"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no reason", done.stderr)

    def test_differences(self):
        far = same_results.difference
        one = np.array([1.0, np.nan, 4.0])
        self.assertEqual(far(one, one.copy()), 0)
        self.assertAlmostEqual(far(one, np.array([1.0, np.nan, 5.0])), 0.2)
        self.assertEqual(far(one, np.array([1.0, 2.0, 4.0])), np.inf)
        self.assertEqual(far(one, one[:2]), np.inf)
        self.assertEqual(far(one, one.astype(np.float32)), np.inf)
        self.assertGreater(far(np.array([0.0]), np.array([-0.0])), 0)


if __name__ == "__main__":
    unittest.main()

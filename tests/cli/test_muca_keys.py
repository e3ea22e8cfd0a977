"""Impossible values of the keys of `muca` are refused with their place and a remedy; values at the edge are accepted."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.program import INVALID, ProgramCase

CONFIG = """\
gpumc: 1
seed: 1
model: {{name: ising2d, shape: [8, 8]}}
algorithm:
  name: muca
  {keys}
output: x.h5
"""


class Keys(ProgramCase):
    device = None

    def refuse(self, message, keys, line=6):
        config = self.write("c.yaml", CONFIG.format(keys=keys))
        error = self.gpumc("validate", config, code=INVALID).err
        self.assertIn(f"c.yaml:{line}:", error)
        self.assertIn(message, error)
        self.assertEqual(error.count("c.yaml:"), 1, error)

    def accept(self, keys):
        self.assertEqual(self.gpumc("validate", self.write("c.yaml", CONFIG.format(keys=keys))).err, "")

    def test_bins_that_leave_too_few_levels(self):
        """Energies of 8 x 8 sites go from -128 to 128: the mistake is the bin's, whether there is a range or not."""
        for size in "132", "512", "1e12":
            for more in "", "\n  range: {from: -1, to: 1}":
                with self.subTest(size=size, more=more):
                    self.refuse(f"bin = {float(size):g} leaves fewer than 3 levels of the energy: make it narrower",
                                f"bin: {size}{more}")
        self.accept("bin: 128")

    def test_a_range_that_leaves_too_few_levels(self):
        self.refuse("fewer than 3 levels of the energy are in the range: widen it", "range: {from: -1, to: -0.99}")
        self.refuse("fewer than 3 levels of the energy are in the range: widen it",
                    "bin: 16\n  range: {from: -1, to: -0.9}", line=7)

    def test_less_than_one_update(self):
        for updates in "0.5", "1e-9":
            with self.subTest(updates):
                self.refuse(f"updates = {float(updates):g} is less than one: give 1 or more, or 0",
                            f"production: {{updates: {updates}}}")
        for updates in "0", "1", "1.5":
            self.accept(f"production: {{updates: {updates}}}")


if __name__ == "__main__":
    unittest.main(verbosity=2)

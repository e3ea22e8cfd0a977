"""Pressures of hard disks near close packing and in small boxes, where the densities near contact are narrow or fall off
like a root, against exact values.

Exact values are in tests/support/hard_disks.py: the free-volume expansion, and integrals for two and three disks.

Null: deviations over errors are standard normal; at 0.9068 errors contain what rounded places do. Bound 4.5, about 40
numbers, one run in 3000 fails by chance; seeds are fixed. Errors must be small: below 2 % (8 % at 0.9068). Negative
controls: the fixed range of 0.02 (`contact` and `scaling` in the bins of the result), and the pressures of boxes that
are larger by 30 % in each direction.

CTest: release (unit_test_observables, exact_test_disks_kernels)
"""
import math
import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device  # noqa: E402
from support.hard_disks import PressureCase, free_volume, off_by, pressure  # noqa: E402

BOUND = 4.5
# Packing fraction, size of moves, and what the fixed range gives for `contact` and for `scaling`: the pressure itself,
# bit for bit, nearly the same, or something wrong.
DENSE = [(0.8, 0.06, "same", "same"), (0.88, 0.008, "same", "near"), (0.9, 0.002, "near", "wrong"), (0.905, 0.0006, "wrong", "wrong"),
         (0.9065, 0.00015, "wrong", "wrong"), (0.9068, 0.0001, "wrong", "wrong")]
# Disks, box, the largest error as a share of the pressure: a root at contact itself, at L = 2, costs most.
SMALL = [(2, (2, 2), 0.2), (2, (2.004, 2.3), 0.05), (2, (2.3, 2.6), 0.02), (3, (2, 2.4), 0.08), (3, (2.01, 2.5), 0.02),
         (3, (2.4, 2.4), 0.02)]


class HardDisksExtrapolation(PressureCase):
    def fixed(self, found, density):
        """Returns both pressures, with errors, that the fixed range gives."""
        return {"pressure": (density * (1 + math.pi * found["contact"]), density * math.pi * found["contact_error"]),
                "pressure_scaling": (density * (1 + found["scaling"] / 4), density * found["scaling_error"] / 4)}

    def test_close_packing(self):
        for fraction, size, contact, scaling in cases.of(DENSE):
            with self.subTest(fraction):
                found, attributes = self.summary(f"lattice: [8, 8], packing_fraction: {fraction}, start: lattice",
                                                 "thermalization: 1000, sweeps: 10000, interval: 5", size)
                exact, density = free_volume(fraction, 64), fraction * 4 / math.pi
                off = off_by(found, exact)
                shares = [found[f"{name}_error"] / exact for name in off]
                print(fraction, exact, {name: round(z, 2) for name, z in off.items()}, np.round(shares, 5), attributes["trusted"])
                self.assertLess(max(abs(z) for z in off.values()), BOUND)
                self.assertLess(max(shares), 0.08 if fraction > 0.9065 else 0.02)
                self.assertEqual(attributes["trusted"], 1, attributes)
                for (name, (value, error)), kind in zip(self.fixed(found, density).items(), (contact, scaling)):
                    if kind != "near":
                        self.assertEqual(abs(value - exact) > BOUND * error, kind == "wrong", name)
                    if kind == "same":
                        self.assertAlmostEqual(value, found[name], delta=1e-6 * value)  # the box is rounded

    def test_small_boxes(self):
        for disks, box, largest in cases.of(SMALL):
            with self.subTest(disks, box=box):
                found, attributes = self.summary(f"particles: {disks}, box: [{box[0]}, {box[1]}], start: compressed",
                                                 "thermalization: 200, sweeps: 16000, interval: 2", 0.4, replicas=64)
                exact = pressure(disks, box)
                off, wrong = off_by(found, exact), off_by(found, pressure(disks, [1.3 * side for side in box]))
                print(disks, box, exact, {name: round(z, 2) for name, z in off.items()}, found["pressure_error"] / exact)
                self.assertLess(max(abs(z) for z in off.values()), BOUND)
                self.assertGreater(max(abs(z) for z in wrong.values()), BOUND)
                self.assertLess(found["pressure_error"], largest * exact)
                self.assertEqual(attributes["trusted"], 1, attributes)

    def test_fluids_keep_their_bits(self):
        for fraction in (0.3, 0.7):
            found, _ = self.summary(f"particles: 100, packing_fraction: {fraction}", "thermalization: 100, sweeps: 1000, interval: 5", 0.1)
            for name, (value, _) in self.fixed(found, fraction * 4 / math.pi).items():
                self.assertAlmostEqual(value, found[name], delta=1e-6 * value)  # the box is rounded


if __name__ == "__main__":
    device.require()
    unittest.main(verbosity=2)

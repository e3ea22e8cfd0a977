"""The reported errors of parallel tempering are right: over 200 seeds the deviations scatter as the errors say, which
come from the samples or, if there are few of them, from blocks of time.

Null: (value - exact)/error has variance 1. The sum of 200 squares is then within the bounds of 3.9 standard deviations
(false alarm 1e-4 per comparison). Control: errors that treat the measurements of every sweep as independent are
rejected.

CTest: validate (exact_test_pt_small, exact_test_pt_ea)
"""
import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, gpumc_program as gpumc, parallel_tempering  # noqa: E402
from support.parallel_tempering import BETAS  # noqa: E402

SEEDS = 200


class Errors(unittest.TestCase):
    """200 repeats."""

    UNKNOWN = ["abs_magnetization", "binder_parameter", "correlation_length", "overlap2",
               "binder_overlap", "link_overlap"]

    def check(self, found, side=8, betas=BETAS):
        low, high = gpumc.chi_square_bounds(SEEDS, 3.9)
        lost = np.mean([f["equilibrated"] == 0 for f in found])
        print(f"not equilibrated, though they are: {100 * lost:.2f} %")
        self.assertLess(lost, 0.01)  # four comparisons beyond four errors: 0.03 % of Gaussian ones
        exact = dict(zip(("energy", "specific_heat"),
                         gpumc.exact().kaufman(side, side, np.asarray(betas))[1:]))
        for name in list(exact) + [n for n in self.UNKNOWN if n in found[0]]:
            value = np.array([f[name] for f in found])
            error = np.array([f[name + "_error"] for f in found])
            # Using the mean of the repeats in place of the exact value takes one degree of freedom.
            bias = 1.0 if name in exact else SEEDS / (SEEDS - 1)
            z = (value - exact.get(name, value.mean(0))) / error
            for t, measured in enumerate(bias * np.mean(z ** 2, 0)):
                if np.isnan(value[:, t]).any():  # xi is undetermined where noise exceeds it
                    continue
                print(f"beta {betas[t]:.2f} {name:18s} <z^2> = {measured:.3f} in "
                      f"[{low:.3f}, {high:.3f}], <z> = {z[:, t].mean():+.3f}")
                with self.subTest(name=name, beta=betas[t]):
                    self.assertGreater(measured, low)
                    self.assertLess(measured, high)

    def test_from_samples(self):
        self.check(parallel_tempering.run(range(1, SEEDS + 1), samples=32, replicas=2, sweeps=20480,
                                          exchange_every=10, structure_factor="true"))

    def test_from_blocks_of_time(self):
        betas = [0.30, 0.40, 0.48]
        found = parallel_tempering.run(range(1, SEEDS + 1), betas=betas, samples=2, replicas=2,
                                       sweeps=102400, exchange_every=10)
        self.check(found, betas=betas)

    def test_from_blocks_of_time_of_one_sample(self):
        """Half as many blocks as with two."""
        betas = [0.30, 0.35, 0.40]
        self.check(parallel_tempering.run(range(1, SEEDS + 1), betas=betas, samples=1, replicas=2,
                                          sweeps=51200, exchange_every=10), betas=betas)

    def test_independent_measurements_are_rejected(self):
        """The control: with one measurement per sweep, errors as if these were independent."""
        betas = [0.40, 0.44]
        found = parallel_tempering.run(range(1, 61), betas=betas, samples=1, sweeps=6400,
                                       exchange_every=1)
        exact, heat = gpumc.exact().kaufman(8, 8, np.asarray(betas))[1:]
        naive = np.sqrt(heat / np.square(betas) / 64 / 3200)
        z = np.array([(f["energy"] - exact) / naive for f in found])
        high = gpumc.chi_square_bounds(60, 3.9)[1]
        self.assertTrue((np.mean(z ** 2, 0) > high).all(), np.mean(z ** 2, 0))


if __name__ == "__main__":
    device.require()
    cases.main()

"""The errors of multicanonical results are right, and what they rest on matters.

ln Omega of the 8 x 8 lattice in SEEDS runs against Beale's numbers, at every level. Deviations of neighbouring levels
are strongly correlated, and a run is little more than one number. So three things are tested, with bounds that were
set on other seeds (1001 to 1100):

- Errors at all levels together: the mean of (deviation/error)^2 over levels and runs. Null: 19/17, of 20 blocks. The
  mean over the levels of one run has a standard deviation of 0.65 to 0.8. Bound: five standard errors, 0.4, a false
  alarm in a million seeds. Control: errors that are wrong by a third.
- Errors at every level: the mean of (deviation/error)^2 over runs is between 0.4 and 2.0 at each of the 63. Its
  standard deviation is 0.17 (squares of Student's t with 19 degrees of freedom): a false alarm in a thousand seeds.
  Control: errors that are 1.7 times too small or too large.
- The mean over runs: differences between the averages of ln Omega over neighbouring ones of ten groups of levels, by
  chi-square with their covariance over runs, which is Hotelling's T^2: 9 * 99/91 F(9, 91). Bound: F < 5.3, a false
  alarm in 1e5 seeds. Control: numbers tilted by 0.05 from one end to the other.

16 x 16 in three runs: the mean of (deviation/error)^2 over levels and runs is below 3.0. In eight other runs it was
0.9, with a standard deviation of 0.4 of one: a false alarm in 1e4 seeds at most. Control: errors a third of the size.
Larger lattices: test_muca_large.py. Iterations without thermalization: test_muca_thermalization.py. Seeds are fixed.

CTest: validate (gates and controls on smaller lattices: exact_test_muca_small)
"""
import math
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, gpumc_program as gpumc  # noqa: E402

SEEDS, GROUPS = 100, 10
MEAN, BOUND = 19 / 17, 0.4
LEAST, MOST = 0.4, 2.0
RATIO = 5.3
LARGER = 3.0
CONFIG = """\
gpumc: 1
seed: {seed}
model: {{name: ising2d, shape: [{side}, {side}]}}
algorithm: {{name: muca, walkers: {walkers}, {keys}}}
output: {output}
"""
# 640 walkers are 20 blocks. Less flat weights do not affect correctness, and take a quarter of the time.
SHORT = ("iteration: {divergence: 1e-3}, production: {measurements: 100}, "
         "beta: {from: 0, to: 0.5, step: 0.5}")


def beale(side):
    return np.array([math.log(count) for count in gpumc.exact().density_of_states(side, side) if count > 0])


def ratio_of(deviations):
    """Returns F of the mean over runs of the differences between neighbouring groups of levels."""
    averages = np.stack([part.mean(axis=1) for part in np.array_split(deviations, GROUPS, axis=1)], axis=1)
    differences = np.diff(averages, axis=1)
    runs, n = differences.shape
    mean = differences.mean(axis=0)
    square = runs * mean @ np.linalg.solve(np.cov(differences, rowvar=False), mean)
    return square * (runs - n) / (n * (runs - 1))


class Errors(unittest.TestCase):
    def run_muca(self, folder, **what):
        output = pathlib.Path(folder) / "run.h5"
        gpumc.run_config(CONFIG.format(output=output, **what), folder, "--fresh")
        return output

    def runs(self, side, seeds):
        """Deviations of ln Omega and their errors, [seeds][levels]."""
        exact = beale(side)
        deviations, errors = [], []
        with gpumc.folder() as folder:
            for seed in range(1, seeds + 1):
                output = self.run_muca(folder, seed=seed, side=side, walkers=640, keys=SHORT)
                found = gpumc.summary(output)
                self.assertEqual(len(found["log_dos"]), len(exact))
                self.assertAlmostEqual(np.logaddexp.reduce(found["log_dos"]), side**2 * math.log(2), places=9)
                deviations.append(found["log_dos"] - exact)
                errors.append(found["log_dos_error"])
                with h5py.File(output) as file:
                    self.assertEqual(file["summary"].attrs["trusted"], 1)
        return np.array(deviations), np.array(errors)

    def test_every_level(self):
        deviations, errors = self.runs(8, SEEDS)
        squares = (deviations / errors)**2
        mean, levels = squares.mean(), squares.mean(axis=0)
        ratio = ratio_of(deviations)
        tilted = ratio_of(deviations + np.linspace(-0.025, 0.025, deviations.shape[1]))
        print(f"mean square {mean:.3f}, at single levels {levels.min():.2f} to {levels.max():.2f}, "
              f"F {ratio:.2f}, tilted {tilted:.1f}")
        self.assertLess(abs(mean - MEAN), BOUND)
        for factor in (2 / 3, 4 / 3):
            self.assertGreater(abs(mean / factor**2 - MEAN), BOUND, factor)
        self.assertGreater(levels.min(), LEAST)
        self.assertLess(levels.max(), MOST)
        self.assertGreater(levels.max() * 1.7**2, MOST)
        self.assertLess(levels.min() / 1.7**2, LEAST)
        self.assertLess(ratio, RATIO)
        self.assertGreater(tilted, RATIO)

    def test_larger_lattice(self):
        deviations, errors = self.runs(16, 3)
        mean = ((deviations / errors)**2).mean()
        print(f"mean square {mean:.3f}")
        self.assertLess(mean, LARGER)
        self.assertGreater(((deviations / (errors / 3))**2).mean(), LARGER)


if __name__ == "__main__":
    device.require()
    cases.main()

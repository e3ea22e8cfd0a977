"""The errors of multicanonical results are right, and what they rest on matters.

Null: over seeds, deviations of ln Omega of the 8 x 8 lattice from Beale's numbers have the reported errors: the mean of
their squares over all levels and SEEDS runs is 31/29 for 32 blocks, with a standard deviation of about 0.06 (deviations
of neighbouring levels are correlated, ten of a run are independent at the least). Bounds: 5 of them. Negative
controls: errors that are wrong by a third; iterations without thermalization, whose weights oscillate (Gross et al.,
Fig. A.1). Seeds are fixed; bounds were set before these runs.
"""
import math
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import device, gpumc_program as gpumc  # noqa: E402

SEEDS = 60
MEAN, BOUND = 31 / 29, 0.3
CONFIG = """\
gpumc: 1
seed: {seed}
model: {{name: ising2d, shape: [{side}, {side}]}}
algorithm: {{name: muca, walkers: {walkers}, {keys}}}
output: {output}
"""


class Errors(unittest.TestCase):
    def run_muca(self, folder, **what):
        output = pathlib.Path(folder) / "run.h5"
        gpumc.run_config(CONFIG.format(output=output, **what), folder, "--fresh")
        return output

    def test_density_of_states(self):
        states = gpumc.exact().density_of_states(8, 8)
        exact = np.array([math.log(count) for count in states if count > 0])
        squares = []
        with gpumc.folder() as folder:
            for seed in range(1, SEEDS + 1):
                output = self.run_muca(folder, seed=seed, side=8, walkers=1024, keys="beta: {from: 0, to: 0.5, step: 0.5}")
                found = gpumc.summary(output)
                self.assertEqual(len(found["log_dos"]), len(exact))
                squares.append((((found["log_dos"] - exact) / found["log_dos_error"])**2).mean())
                with h5py.File(output) as file:
                    self.assertEqual(file["summary"].attrs["trusted"], 1)
        mean = float(np.mean(squares))
        print(f"mean square of the deviations: {mean:.3f}")
        self.assertLess(abs(mean - MEAN), BOUND)
        for factor in (2 / 3, 4 / 3):
            self.assertGreater(abs(mean / factor**2 - MEAN), BOUND, factor)

    def divergences(self, folder, thermalization):
        keys = f"iteration: {{thermalization: {thermalization}, maximum: 45}}, production: {{updates: 1000}}"
        output = self.run_muca(folder, seed=1, side=16, walkers=4096, keys=keys)
        with h5py.File(output) as file:
            return file["runs/0000/iterations/kullback_leibler"][30:]

    def test_weights_need_thermalization(self):
        with gpumc.folder() as folder:
            self.assertLess(self.divergences(folder, 30).max(), 0.1)
            self.assertGreater(self.divergences(folder, 0).max(), 0.1)


if __name__ == "__main__":
    device.require()
    unittest.main(verbosity=2)

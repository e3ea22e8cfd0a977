"""Multicanonical sampling of larger lattices against exact values: minutes, label validate (ctest -L validate).

32 x 32: ln Omega at every level against Beale's numbers, one run. Deviations of the levels of a run are correlated; the
mean of (deviation/error)^2 over levels is below 6. Of two hundred runs of 8 x 8 the largest was 3.6, the mean 0.9 and
the standard deviation 0.65: a false alarm in a thousand seeds at most. Control: errors a quarter of the size.

64 x 64 in a range of energies: energy and specific heat by reweighting against Kaufman, at all temperatures at which
the range has the states that count. Deviations are below five errors, from 20 blocks; curves have a few independent
points: a false alarm in a thousand seeds. Control: temperatures off by 0.2 %.

Seeds are fixed, and bounds were set before the runs.

CTest: validate
"""
import math
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, gpumc_program as gpumc  # noqa: E402

CONFIG = """\
gpumc: 1
seed: 1
model: {{name: ising2d, shape: [{side}, {side}]}}
algorithm:
  name: muca
  walkers: 640
  iteration: {{divergence: 1e-3}}
  production: {{measurements: {measurements}}}
  {keys}
output: {output}
"""


class Large(unittest.TestCase):
    def run_muca(self, folder, warnings=(), **what):
        """Checks that these warnings, and no others, keep the result from being trusted."""
        output = pathlib.Path(folder) / "run.h5"
        gpumc.run_config(CONFIG.format(output=output, **what), folder, timeout=850)
        with h5py.File(output) as file:
            self.assertEqual(sorted(name for name in file["summary"].attrs if name.endswith("warning")), sorted(warnings))
            self.assertEqual(file["summary"].attrs["trusted"], int(not warnings))
        return gpumc.summary(output)

    def test_density_of_states(self):
        exact = np.array([math.log(count) for count in gpumc.exact().density_of_states(32, 32) if count > 0])
        with gpumc.folder() as folder:
            found = self.run_muca(folder, side=32, measurements=100, keys="beta: {from: 0, to: 0.5, step: 0.5}")
        self.assertEqual(len(found["log_dos"]), len(exact))
        self.assertAlmostEqual(np.logaddexp.reduce(found["log_dos"]), 1024 * math.log(2), places=8)
        square = (((found["log_dos"] - exact) / found["log_dos_error"])**2).mean()
        print(f"mean square {square:.2f}, errors up to {found['log_dos_error'].max():.3f}")
        self.assertLess(square, 6)
        self.assertGreater(16 * square, 6)

    def test_range_of_energies(self):
        with gpumc.folder() as folder:
            found = self.run_muca(folder, ["range_warning", "undetermined_warning"], side=64, measurements=1000,
                                  keys="range: {from: -1.7, to: -1.15}\n  beta: {from: 0.43, to: 0.45, step: 0.0005}")
        known = ~np.isnan(found["energy"])
        print(f"beta {found['beta'][known].min():.4f} to {found['beta'][known].max():.4f}")
        self.assertGreater(known.sum(), 3)
        for factor, good in ((1, True), (1.002, False)):
            _, energy, heat = gpumc.exact().kaufman(64, 64, factor * found["beta"][known])
            z = [(found[name][known] - exact) / found[name + "_error"][known]
                 for name, exact in (("energy", energy), ("specific_heat", heat))]
            print(f"largest deviations in errors {np.abs(z).max(axis=1).round(1)}")
            self.assertEqual(np.abs(z).max() < 5, good)


if __name__ == "__main__":
    device.require()
    cases.main()

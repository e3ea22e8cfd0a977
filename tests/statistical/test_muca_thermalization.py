"""Iterations without thermalization: divergences that oscillate (Gross et al., Comput. Phys. Commun. 224, 387 (2018),
Fig. A.1) instead of weights that converge, and a result that says so.

The 16 x 16 lattice, 4096 walkers, at most 45 iterations. With the usual thermalization weights converge to 1e-2, and
from the 15th iteration on the divergence stays below 0.1. Control, without any: it stays above 0.1, and rises by more
than a fifth above its minimum. The seed is fixed; in both cases the bound is several times away.
"""
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import device, gpumc_program as gpumc  # noqa: E402

CONFIG = """\
gpumc: 1
seed: 1
model: {{name: ising2d, shape: [16, 16]}}
algorithm:
  name: muca
  walkers: 4096
  iteration: {{thermalization: {thermalization}, maximum: 45, divergence: 1e-2}}
  production: {{updates: 1000, measurements: 100}}
output: {output}
"""
COVERED, MOST, RISE = 15, 0.1, 1.2


class Thermalization(unittest.TestCase):
    def iterations(self, thermalization):
        """Returns divergences once the range is covered, and the messages of the result."""
        with gpumc.folder() as folder:
            output = pathlib.Path(folder) / "run.h5"
            gpumc.run_config(CONFIG.format(thermalization=thermalization, output=output), folder)
            with h5py.File(output) as file:
                divergence = file["runs/0000/iterations/kullback_leibler"][COVERED:]
                said = dict(file["summary"].attrs)
        print(f"thermalization {thermalization}: divergence {divergence.min():.3g} to {divergence.max():.3g}, "
              f"{COVERED + len(divergence)} iterations")
        return divergence, said

    def test_weights_converge_with_it(self):
        divergence, said = self.iterations(30)
        self.assertEqual(said["converged"], 1)
        self.assertLess(divergence.max(), MOST)

    def test_weights_oscillate_without_it(self):
        divergence, said = self.iterations(0)
        self.assertEqual((said["converged"], said["trusted"]), (0, 0))
        self.assertIn("have not converged", str(said["warning"]))
        self.assertGreater(divergence.min(), MOST)
        rise = (divergence / np.minimum.accumulate(divergence)).max()
        print(f"rises to {rise:.2f} times what it was")
        self.assertGreater(rise, RISE, "divergences do not rise again")


if __name__ == "__main__":
    device.require()
    unittest.main(verbosity=2)

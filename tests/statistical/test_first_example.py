"""The README's first example, configs/ising2d/first.yaml unchanged: it is trusted without a warning, and its deviations
from Kaufman's lattice, in errors, scatter as they should.

Null: each is a Gaussian number. Bound of each of 4 x 121: 4.5 errors, false alarm 3e-3 in all. The energies of
neighbouring temperatures are nearly independent; the mean of their squares is between 0.6 and 1.5 (4 standard
deviations of 121 independent ones are 0.51). Control: temperatures that are wrong by 1 %.

CTest: release
"""
import pathlib
import sys
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools"), str(ROOT / "tools/python")]
import gpumc as reader  # noqa: E402
from gpumc import ising2d_exact  # noqa: E402
from support import device, gpumc_program as gpumc  # noqa: E402


class FirstExample(unittest.TestCase):
    def deviations(self, result, scale=1.0):
        beta = scale * result.summary["beta"]
        log_z, energy, heat = ising2d_exact.kaufman(32, 32, beta, 1.0)
        exact = {"energy": energy, "specific_heat": heat, "beta_free_energy": -log_z,
                 "entropy": beta * energy + log_z}
        found = {}
        for name, values in exact.items():
            error = result.summary[name + "_error"]
            known = error > 0
            found[name] = (result.summary[name] - values)[known] / error[known]
        return found

    def test_trusted_and_right(self):
        with gpumc.folder() as folder:
            path = pathlib.Path(folder) / "first.h5"
            done = gpumc.run("run", ROOT / "configs/ising2d/first.yaml", "-o", path, "--quiet")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("warning", done.stderr)
            result = reader.read(path)
        self.assertEqual(result.remarks["trusted"], 1)
        self.assertNotIn("warning", result.remarks)
        for name, deviations in self.deviations(result).items():
            print(f"{name}: mean square {np.mean(deviations ** 2):.2f}, {np.abs(deviations).max():.2f} at most")
            self.assertGreaterEqual(len(deviations), 120)
            self.assertLess(np.abs(deviations).max(), 4.5)
        self.assertTrue(0.6 < np.mean(self.deviations(result)["energy"] ** 2) < 1.5)
        self.assertGreater(np.mean(self.deviations(result, 1.01)["energy"] ** 2), 1.5)


if __name__ == "__main__":
    device.require()
    unittest.main()

"""The main job, configs/ising2d/pa.yaml unchanged: every temperature against Kaufman.

Null: exact values. At each of 200 temperatures energy, specific heat and beta F are within four reported errors (600
correlated comparisons; false alarm of one 6e-5), and the error of the energy at beta = 0.4 is below 3e-4, so that
agreement does not come from large errors. The entropy, their linear combination, is printed. Control: exact values at a
beta larger by 0.1 % are rejected.

CTest: validate (a shorter job with the same gates and a control: statistical_test_first_example)
"""
import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, gpumc_program as gpumc  # noqa: E402


class MainJob(unittest.TestCase):
    def test_against_kaufman(self):
        with gpumc.folder() as folder:
            path = pathlib.Path(folder) / "pa.h5"
            done = gpumc.run("run", gpumc.ROOT / "configs/ising2d/pa.yaml", "-o", path, "--quiet",
                             "--device", device.NAME, timeout=3600)
            self.assertEqual(done.returncode, 0, done.stderr)
            found = gpumc.summary(path)
        beta = found["beta"]
        self.assertEqual(len(beta), 201)
        worst = self.deviations(found, beta)
        for name, deviation in worst.items():
            print(f"{name:18s} largest |deviation|/error = {deviation.max():.2f}, "
                  f"mean square = {np.mean(deviation ** 2):.2f}")
            if name != "entropy":
                self.assertLess(deviation.max(), 4, (name, beta[1:][deviation.argmax()]))
        at = int(np.argmin(np.abs(beta - 0.4)))
        print(f"error of e at beta = 0.4: {found['energy_error'][at]:.2e}")
        self.assertLess(found["energy_error"][at], 3e-4)
        control = self.deviations(found, 1.001 * beta)
        self.assertGreater(control["energy"].max(), 4)

    @staticmethod
    def deviations(found, beta):
        log_z, energy, heat = gpumc.exact().kaufman(64, 64, beta)
        exact = {"energy": energy, "specific_heat": heat, "beta_free_energy": -log_z,
                 "entropy": beta * energy + log_z}
        return {name: np.abs(np.asarray(found[name] - value, float))[1:] / found[name + "_error"][1:]
                for name, value in exact.items()}


if __name__ == "__main__":
    device.require()
    cases.main()

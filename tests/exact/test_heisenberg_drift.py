"""Lengths of Heisenberg and XY spins stay 1 within 1e-5 over a million sweeps in single precision.

Measured right before the sweeps that renormalise them, when they are off by most. Controls: in single precision they
are off at all, by more than in double precision (unit/test_heisenberg_moves.c shows that they drift without
renormalisation).

CTest: release (exact_test_heisenberg_bits, exact_test_heisenberg_kernels)
"""
import pathlib
import sys
import unittest

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import gpumc_program as gpumc  # noqa: E402

CONFIG = """\
gpumc: 1
seed: 29
model: {{name: heisenberg, shape: [4, 4, 4], components: {components}}}
algorithm: {{name: canonical, beta: {{values: [0.7]}}, replicas: 1, update: {update}, thermalization: 0, sweeps: {sweeps},
            interval: 1600, norm_drift: true, series: true}}
kernel: {{variant: {variant}{step}}}
output: {folder}/out.h5
"""
BOUND = 1e-5
STEPS = {"metropolis_small": ", width: 0.5", "wolff": ", clusters: 2"}


class Drift(unittest.TestCase):
    def largest(self, variant, components, update, sweeps):
        with gpumc.folder() as folder:
            gpumc.run_config(CONFIG.format(folder=folder, variant=variant, components=components, update=update, sweeps=sweeps,
                                           step=STEPS.get(update, "")), folder)
            with h5py.File(f"{folder}/out.h5") as file:
                found = file["runs/0000/norm_drift"][...]
        self.assertEqual(found.shape, (sweeps // 1600, 1))
        print(f"{variant} O({components}) {update}: max ||S| - 1| = {found.max():.2g} in {sweeps} sweeps")
        return found.max()

    def test_a_million_sweeps(self):
        cases = [(3, update) for update in ("over_relaxation", "mixed", "heat_bath", "metropolis", "metropolis_small",
                                            "swendsen_wang", "wolff")]
        cases += [(2, update) for update in ("over_relaxation", "mixed", "metropolis_small", "swendsen_wang")]
        for components, update in cases:
            with self.subTest(components=components, update=update):
                found = self.largest("float", components, update, 1000000)
                self.assertLess(found, BOUND)
                self.assertGreater(found, 0)

    def test_double_precision(self):
        for components in 3, 2:
            self.assertLess(self.largest("double", components, "over_relaxation", 16000), 1e-13)


if __name__ == "__main__":
    unittest.main(verbosity=2)

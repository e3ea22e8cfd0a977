"""The angle between two Heisenberg or XY spins has its exact distribution, by every move of every kernel.

Null: on a ring of two spins both bonds join the same pair, so the angle has the density exp(K cos) sin (n = 3) or exp(K
cos) (n = 2), K = 2 beta J. The angles of 100,352 written configurations are put into 50 bins of equal probability.
Bound: chi^2 of 49 degrees of freedom exceeds 110 once in 10^6; 24 comparisons on a CPU, 36 on a GPU, which has `fast`:
false alarm below 4e-5. Configurations are 25 sweeps apart, in which the heat bath draws the angle anew and the steps of
Metropolis have forgotten it. Controls, which must exceed the bound: each distribution at K larger by 8 % and 0.1, and
over-relaxation, which keeps the angles of the start. The rules alone are in unit/test_heisenberg_moves.c.

CTest: validate (unit_test_heisenberg_moves)
"""
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, gpumc_program as gpumc  # noqa: E402

CONFIG = """\
gpumc: 1
seed: 61
model: {{name: heisenberg, shape: [2], components: {components}}}
algorithm: {{name: canonical, beta: {{values: {betas}}}, replicas: 2048, update: {update}, thermalization: 100,
            sweeps: 1225, interval: 25, configurations: {{every: 25}}}}
kernel: {{variant: {variant}}}
output: {folder}/out.h5
"""
BINS, BOUND, GRID = 50, 110.0, 20000
# The weak field and the strong one, with the tail of the logarithm, are tests of the heat bath.
BETAS = {"heat_bath": [0.0005, 1.0, 25.0]}


def distribution(components, K, versine):
    """Returns the probability that 1 - cos is below `versine`."""
    if components == 3:
        return np.expm1(-K * versine) / np.expm1(-2 * K)
    angle = np.linspace(0, np.pi, GRID + 1)
    density = np.exp(K * (np.cos(angle) - 1))
    below = np.concatenate([[0], np.cumsum(density[1:] + density[:-1])])
    return np.interp(2 * np.arcsin(np.sqrt(np.clip(versine / 2, 0, 1))), angle, below / below[-1])


def chi_square(components, K, versine):
    count, _ = np.histogram(distribution(components, K, versine), bins=BINS, range=(0, 1))
    return ((count - len(versine) / BINS) ** 2).sum() / (len(versine) / BINS)


class Angles(unittest.TestCase):
    def versines(self, components, update, variant, betas):
        """[temperature][configuration], from the chord between the spins, which is exact at small angles."""
        with gpumc.folder() as folder:
            gpumc.run_config(CONFIG.format(folder=folder, components=components, update=update, variant=variant,
                                           betas=betas), folder)
            with h5py.File(f"{folder}/out.h5") as file:
                spins = np.ascontiguousarray(file["configurations/bytes"][...]).view(np.float64)
        spins = np.moveaxis(spins.reshape(-1, len(betas), 2048, 2, components), 1, 0).reshape(len(betas), -1, 2, components)
        self.assertEqual(spins.shape[1], 2048 * 49)
        return ((spins[:, :, 0] - spins[:, :, 1]) ** 2).sum(axis=-1) / 2

    def check(self, components, update, variant):
        betas = BETAS.get(update, [1.0])
        for beta, versine in zip(betas, self.versines(components, update, variant, betas)):
            K = 2 * beta
            right, wrong = (chi_square(components, at, versine) for at in (K, 1.08 * K + 0.1))
            where = f"O({components}) {update} {variant} K = {K}"
            print(f"{where}: chi^2 = {right:.1f}, of a larger K {wrong:.1f}")
            self.assertLess(right, BOUND, where)
            self.assertGreater(wrong, BOUND, where)

    def test_every_move_and_precision(self):
        for components in 3, 2:
            for update in "heat_bath", "metropolis", "metropolis_small", "mixed":
                for variant in ["double", "float"] + device.on_gpus("fast"):
                    with self.subTest(components=components, update=update, variant=variant):
                        self.check(components, update, variant)

    def test_over_relaxation_keeps_the_angles(self):
        """For spins drawn uniformly."""
        for components in 3, 2:
            for variant in ["double", "float"] + device.on_gpus("fast"):
                versine, = self.versines(components, "over_relaxation", variant, [1.0])
                self.assertGreater(chi_square(components, 2.0, versine), BOUND)


if __name__ == "__main__":
    device.require()
    cases.main()

"""Errors of the specific heat in long canonical runs of cold lattices: a fluctuating quantity has an error, however
small it is beside the square of the energy, and it is right; one that does not fluctuate has none.

Null: (value - exact)/error of the specific heat has variance 1, over seeds; bound of 3.9 standard deviations (false
alarm 1e-4). Control: the bound on rounding that grows with all measurements, n eps beta^2 N e^2, exceeds the errors.

CTest: release, long, methods 5 s
"""
import os
import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, gpumc_program as gpumc  # noqa: E402

SEEDS, SWEEPS, BETA = 6, 300000, 1.7
FIELD, GAP = 0.5, 9.0  # of one spin against all others
CONFIG = """\
gpumc: 1
seed: 1
model: {{name: ising2d, shape: [{side}, {side}], h: {field}}}
algorithm: {{name: canonical, beta: {{values: [{beta}]}}, replicas: {replicas}, thermalization: 1000, sweeps: {sweeps},
  interval: 1}}
output: "{folder}/{{seed}}.h5"
campaign: {{seed: [{seeds}]}}
"""


def repeat(seeds, **values):
    """The summaries, by name [seeds, temperatures]."""
    with gpumc.folder() as folder:
        gpumc.run_config(CONFIG.format(folder=folder, seeds=", ".join(map(str, range(1, seeds + 1))), **values),
                         folder)
        found = [gpumc.summary(os.path.join(folder, f"{seed}.h5")) for seed in range(1, seeds + 1)]
    return {name: np.array([one[name] for one in found]) for name in found[0]}


class Rounding(unittest.TestCase):
    def test_small_errors_are_known(self):
        for side in 64, 60:  # sums of energies are exact, and rounded
            found = repeat(SEEDS, side=side, beta=BETA, replicas=1, sweeps=SWEEPS, field=FIELD)
            share = np.exp(-BETA * GAP)  # of single spins; two together add one in a thousand
            exact = (BETA * GAP) ** 2 * share / (1 + share) ** 2
            error = found["specific_heat_error"]
            z = (found["specific_heat"] - exact) / error
            print(f"L = {side}: errors {np.median(error):.2g}, <z^2> = {np.mean(z ** 2):.2f}")
            former = SWEEPS * 2.0 ** -52 * BETA ** 2 * side ** 2 * (2 + FIELD) ** 2
            with self.subTest(side=side):
                self.assertTrue(np.isfinite(error).all())
                self.assertLess(np.median(error), former, "control")
                self.assertLess(np.mean(z ** 2), gpumc.chi_square_bounds(SEEDS, 3.9)[1])

    def test_what_stands_still_is_unknown(self):
        """A lattice in its ground state whose energy per site is not a binary fraction, so its sums are rounded."""
        for replicas in 1, 5:
            found = repeat(2, side=6, beta=5, replicas=replicas, sweeps=20000, field=2)
            for name in "energy", "specific_heat", "binder_parameter", "abs_magnetization":
                with self.subTest(name=name, replicas=replicas):
                    self.assertTrue(np.isnan(found[name + "_error"]).all())


if __name__ == "__main__":
    device.require()
    cases.main()

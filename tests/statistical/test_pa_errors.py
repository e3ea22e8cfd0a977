"""The reported errors of population annealing are right: over 200 seeds the deviations from Kaufman's exact values
scatter as the errors say.

Null: (value - exact)/error has variance 1. The sum of 200 squares is then within the bounds of 3.9 standard deviations
(false alarm 1e-4 per comparison). Control: errors that treat all replicas as independent are rejected at criticality,
where siblings do not forget each other within a few steps.

CTest: release (a few runs of each kind: cli_test_configs), long, cases 4 s
"""
import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, error_bars, gpumc_program as gpumc  # noqa: E402

BETAS = {"high temperature": 0.1, "critical": 0.44, "ordered": 0.6}
QUANTITIES = ["energy", "specific_heat", "beta_free_energy", "entropy"]
UNKNOWN = ["abs_magnetization", "magnetization2", "magnetization4"]  # no closed form: scatter only

CONFIG = """\
gpumc: 1
seed: 1
model: {{name: ising2d, shape: [16, 16]}}
algorithm:
  name: pa
  population: {population}
  sweeps: {sweeps}
  beta: {beta}
  runs: {runs}
  resampling: {resampling}
{more}
output: "{folder}/{{seed}}.h5"
campaign: {{seed: [{seeds}]}}
"""


class Errors(unittest.TestCase):
    def repeat(self, group="summary", **changed):
        values = dict(population=2000, sweeps=3, runs=1, beta="{to: 0.6, step: 0.02}",
                      resampling="nearest_integer", more="")
        values.update(changed)
        return error_bars.repeat(CONFIG, group, **values)

    def check(self, found, betas=BETAS):
        kaufman = gpumc.exact().kaufman
        rejected = {}
        for where, beta in betas.items():
            row = int(np.argmin(np.abs(found["beta"][0] - beta)))
            log_z, energy, heat = (float(x[0]) for x in kaufman(16, 16, found["beta"][0][row]))
            entropy = found["beta"][0][row] * energy + log_z
            exact = dict(zip(QUANTITIES, (energy, heat, -log_z, entropy)))
            for name in QUANTITIES + [n for n in UNKNOWN if n in found]:
                value, error = found[name][:, row], found[name + "_error"][:, row]
                reference = exact.get(name, value.mean())
                error_bars.expect_right(self, f"{where:17s}", name, (value - reference) / error)
            # errors of the energy as if all replicas were independent
            naive = np.sqrt(found["specific_heat"][:, row] / (found["beta"][0][row] ** 2 * 256)
                            / self.replicas)
            squares = error_bars.mean_square((found["energy"][:, row] - energy) / naive)
            rejected[where] = squares > error_bars.largest_square()
        return rejected

    def test_one_run(self):
        self.replicas = 2000
        rejected = self.check(self.repeat())
        self.assertTrue(rejected["critical"], rejected)

    def test_four_runs_weighted(self):
        self.replicas = 2000
        self.check(self.repeat(population=500, runs=4))

    def test_systematic_resampling(self):
        self.replicas = 2000
        self.check(self.repeat(resampling="systematic"))

    def test_reweighted(self):
        """Between the temperatures of the run, for one run and for four."""
        self.replicas = 2000
        for population, runs in ((2000, 1), (500, 4)):
            found = self.repeat("summary/reweighted", population=population, runs=runs,
                                more="  reweight: {from: 0.05, to: 0.59, step: 0.02}")
            self.check(found, {"high temperature": 0.11, "critical": 0.45, "ordered": 0.59})


if __name__ == "__main__":
    device.require()
    cases.main()

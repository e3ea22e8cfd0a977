"""gpumc.analysis.reweight against Kaufman's exact energy and specific heat of 8 x 8: whether its errors are right.

200 runs of two temperatures with series, reweighted onto seven temperatures at, between and beyond them, both together and from the first one alone.
Null: (value - exact)/error has variance 1: the bounds of chi^2 of 200 at 3.9 standard deviations (false alarm 1e-4 a comparison; 28), and its
mean is 0 within 3.9 of its own. ln Z of the second temperature likewise. Controls, by the same gate: errors that take measurements as
independent; a wrong temperature.
Moments of the magnetization: at the temperatures of the runs those of the program within rounding where one temperature alone is used.

CTest: validate (cli_test_critical)
"""
import os
import pathlib
import sys
import unittest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools/python")]
import gpumc as reader  # noqa: E402
from gpumc import analysis, ising2d_exact  # noqa: E402
from gpumc.analysis import transition  # noqa: E402
from support import cases, device, error_bars, gpumc_program as gpumc  # noqa: E402

SEEDS = list(range(70001, 70001 + error_bars.SEEDS))
BETA = np.array([0.36, 0.38, 0.40, 0.42, 0.44, 0.46, 0.48])
CONFIG = """\
gpumc: 1
seed: 1
model: {{name: ising2d, shape: [8, 8]}}
algorithm: {{name: canonical, beta: {{values: [0.38, 0.44]}}, replicas: 4, thermalization: 500, sweeps: 6000, interval: 2, series: true,
  structure_factor: true}}
output: "{folder}/{{seed}}.h5"
campaign: {{seed: {seeds}}}
"""


class Kaufman(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        log_z, energy, heat = ising2d_exact.kaufman(8, 8, BETA)
        cls.exact = {"energy": energy, "specific_heat": heat}
        cls.log_ratio = 64 * np.diff(ising2d_exact.kaufman(8, 8, [0.38, 0.44])[0])[0]
        with gpumc.folder() as folder:
            gpumc.run_config(CONFIG.format(folder=folder, seeds=SEEDS), pathlib.Path(folder))
            cls.results = [reader.read(f"{folder}/{seed}.h5") for seed in SEEDS]
        cls.found = [analysis.reweight(result, 1 / BETA, replicates=60) for result in cls.results]

    def deviations(self, name):
        return np.array([(found.values[name] - self.exact[name]) / found.errors[name] for found in self.found])

    def test_errors(self):
        for name in self.exact:
            deviations = self.deviations(name)
            for place, beta in enumerate(BETA):
                error_bars.expect_right(self, f"beta {beta:g}", name, deviations[:, place])
                self.assertLess(abs(deviations[:, place].mean()), error_bars.DEVIATIONS / np.sqrt(len(SEEDS)) + 0.1, (name, beta))

    def test_partition_function(self):
        deviations = np.array([(found.log_partition[1] - self.log_ratio) / found.log_partition_error[1] for found in self.found])
        error_bars.expect_right(self, "ln Z", "of both", deviations)

    def test_wrong_temperature_is_rejected(self):
        low, high = gpumc.chi_square_bounds(len(SEEDS), error_bars.DEVIATIONS)
        wrong = ising2d_exact.kaufman(8, 8, BETA + 0.004)[1]
        deviations = np.array([(found.values["energy"] - wrong) / found.errors["energy"] for found in self.found])
        self.assertTrue((np.mean(deviations ** 2, axis=0) > high).all())

    def test_measurements_taken_as_independent_are_rejected(self):
        """The error of the mean over all measurements by their variance alone."""
        _, high = gpumc.chi_square_bounds(len(SEEDS), error_bars.DEVIATIONS)
        exact = self.exact["energy"][4]
        deviations = [(run["energy"].mean() - exact) / (run["energy"].std() / np.sqrt(run["energy"].size))
                      for run in (result.runs[1] for result in self.results)]
        print(f"taken as independent: <z^2> = {np.mean(np.square(deviations)):.2f}")
        self.assertGreater(np.mean(np.square(deviations)), high)

    def test_at_its_own_temperature(self):
        """One temperature reweighted onto itself is its average."""
        result = self.results[0]
        one = reader.Result(**{**vars(result), "runs": result.runs[:1],
                               "summary": {name: values[:1] if np.ndim(values) else values for name, values in result.summary.items()}})
        found = analysis.reweight(one, [1 / 0.38], replicates=10)
        for name in ("energy", "specific_heat", "abs_magnetization", "magnetization2", "magnetization4", "structure_factor"):
            self.assertAlmostEqual(found.values[name][0] / result.summary[name][0], 1, 9 if name != "specific_heat" else 2, name)
        self.assertAlmostEqual(found.values["correlation_length"][0] / result.summary["correlation_length"][0], 1, 2)
        self.assertAlmostEqual(found.values["binder_parameter"][0], result.summary["binder_parameter"][0], 2)

    def test_too_far(self):
        found = analysis.reweight(self.results[0], [1 / 0.44, 50.0], replicates=10)
        self.assertTrue(np.isfinite(found.values["energy"][0]) and np.isnan(found.values["energy"][1]))
        self.assertIn("50", found.remarks[-1])

    def test_refusals(self):
        result = self.results[0]
        without = reader.Result(**{**vars(result), "runs": [{}]})
        with self.assertRaisesRegex(transition.NotComparable, "series: true"):
            analysis.reweight(without, [2.0])
        samples = {**result.config, "algorithm": {**result.config["algorithm"], "samples": 3}}
        with self.assertRaisesRegex(transition.NotComparable, "disorder"):
            analysis.reweight(reader.Result(**{**vars(result), "config": samples}), [2.0])
        larger = {**result.config, "model": {**result.config["model"], "shape": [4, 4]}}
        with self.assertRaisesRegex(transition.NotComparable, "sizes"):
            analysis.reweight([result, reader.Result(**{**vars(result), "config": larger})], [2.0])


if __name__ == "__main__":
    device.require()
    cases.main()

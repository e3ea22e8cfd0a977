"""gpumc-critical on campaigns of the square Ising model with several seeds, each as precise as the tutorial's: tests/support/square_campaigns.json.

Null: T_c, nu, beta/nu and gamma/nu of each are within three of their errors of the exact values, with the leading corrections L^-7/4, and the deviations in errors
of each number have a root mean square below 1.5 over the seeds. Corrections are the same ones with every seed, so that deviations depend on each other:
false alarm 0.3 % for a deviation, up to 13 % for a root mean square. Errors are no larger than LARGEST, so that they mean something.

The root mean square of nu is 1.8 so far, and its test is expected to fail: gpumc-critical doubts such errors of nu (docs/analysis.md).

Controls, by the same gate: errors three times too small, and temperatures wrong by 0.1 %.

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
from gpumc import analysis  # noqa: E402
from support import cases, square_campaigns  # noqa: E402

EXACT = {"t_c": 2 / np.log(1 + np.sqrt(2)), "nu": 1.0, "beta/nu": 1 / 8, "gamma/nu": 7 / 4}
LARGEST = {"t_c": 4e-4, "nu": 0.01, "beta/nu": 1.2e-3, "gamma/nu": 2e-3}
OMEGA, ERRORS, ROOT_MEAN_SQUARE = 1.75, 3.0, 1.5


def numbers(campaign):
    """(value, error) by name."""
    found = analysis.critical_point(square_campaigns.curves(campaign), omega=OMEGA)
    return {"t_c": (found.best.t_c, found.best.t_c_error), "nu": (found.best.nu, found.best.nu_error),
            **{name: (one.exponent, one.exponent_error) for name, one in found.exponents.items()}}


class Square(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.found = {seed: numbers(campaign) for seed, campaign in square_campaigns.CAMPAIGNS.items()}

    def test_each_seed(self):
        for seed, found in self.found.items():
            for name, (value, error) in found.items():
                away = (value - EXACT[name]) / error
                print(f"seed {seed}: {name} = {value:.6f}({error:.6f}), {away:+.2f} errors from {EXACT[name]:.6f}", flush=True)
                with self.subTest(seed=seed, name=name):
                    self.assertLess(abs(away), ERRORS)
                    self.assertLess(error, LARGEST[name])
            t_c, error = found["t_c"]
            self.assertGreater(abs(1.001 * t_c - EXACT["t_c"]), ERRORS * error)

    def root_mean_square(self, name):
        away = np.array([(found[name][0] - EXACT[name]) / found[name][1] for found in self.found.values()])
        print(f"{name}: mean {away.mean():+.2f}, root mean square {np.sqrt(np.mean(away ** 2)):.2f}", flush=True)
        return np.sqrt(np.mean(away ** 2))

    def test_all_seeds(self):
        for name in ("t_c", "beta/nu", "gamma/nu"):
            self.assertLess(self.root_mean_square(name), ROOT_MEAN_SQUARE)
            self.assertGreater(3 * self.root_mean_square(name), ROOT_MEAN_SQUARE)

    @unittest.expectedFailure
    def test_all_seeds_nu(self):
        self.assertLess(self.root_mean_square("nu"), ROOT_MEAN_SQUARE)


if __name__ == "__main__":
    cases.main()

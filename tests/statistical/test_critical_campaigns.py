"""gpumc-critical on campaigns of models in three dimensions whose critical point is known, reduced to curves: tests/support/critical_campaigns.json.

Each has the configuration that it is from. Null: T_c, nu, beta/nu and gamma/nu of each are within three of their errors of
the literature's values (four numbers of each campaign, which depend on each other; false alarm 0.3 % each), and errors are no larger than LARGEST, so that they mean
something. What the sizes cannot tell stands before the first number and names the exponents.

Controls, by the same gate: the collapse without corrections, as numbers were once; temperatures wrong by 1 %.

CTest: release (a tool of Python alone)
"""
import json
import os
import pathlib
import sys
import unittest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools/python")]
from gpumc import analysis  # noqa: E402
from support import cases, universality  # noqa: E402

CAMPAIGNS = json.loads((ROOT / "tests/support/critical_campaigns.json").read_text())
LARGEST = {"t_c": 1e-3, "nu": 0.05, "beta/nu": 0.06, "gamma/nu": 0.06}  # relative
ERRORS = 3.0


def curves_of(campaign, wrong=1.0):
    return [analysis.from_arrays(size["side"], wrong / np.array(size["beta"]), size["values"], size["errors"], dimension=3) for size in campaign["sizes"]]


class Campaigns(unittest.TestCase):
    def test_known_numbers(self):
        for label, campaign in cases.of(CAMPAIGNS.items()):
            exact = universality.MODELS[campaign["model"]].exact
            found = analysis.critical_point(curves_of(campaign), replicates=100)
            numbers = {"t_c": (found.best.t_c, found.best.t_c_error), "nu": (found.best.nu, found.best.nu_error),
                       **{name: (one.exponent, one.exponent_error) for name, one in found.exponents.items()}}
            for name, (value, error) in numbers.items():
                print(f"{label}: {name} = {value:.5f}({error:.5f}), {(value - exact[name]) / error:+.2f} errors from {exact[name]:.5f}", flush=True)
                with self.subTest(label=label, name=name):
                    self.assertLess(abs(value - exact[name]), ERRORS * error)
                    self.assertLess(error, LARGEST[name] * exact[name])
            warnings, _, after = found.text().partition("\n\n")
            self.assertTrue(after.startswith("T_c  = "))
            for words in ("what these sizes cannot tell", "omega", "T_c, nu, beta/nu, gamma/nu"):
                self.assertIn(words, warnings)

    def test_controls(self):
        label, campaign = next(iter(CAMPAIGNS.items()))
        exact, sizes = universality.MODELS[campaign["model"]].exact, curves_of(campaign)
        plain = analysis.collapse(sizes, "binder_parameter", analytic=True, replicates=100)
        wrong = analysis.collapse(sizes, "susceptibility", analytic=True, replicates=100, given=plain)
        print(f"{label}, without corrections: {wrong.text()}")
        self.assertGreater(abs(plain.t_c - exact["t_c"]), ERRORS * plain.t_c_error)
        self.assertGreater(abs(wrong.exponent - exact["gamma/nu"]), ERRORS * wrong.exponent_error)
        shifted = analysis.collapse(curves_of(campaign, 1.01), "binder_parameter", analytic=True, omega=(0.5, 1.0, 2.0), replicates=60)
        self.assertGreater(abs(shifted.t_c - exact["t_c"]), ERRORS * shifted.t_c_error)


if __name__ == "__main__":
    cases.main()

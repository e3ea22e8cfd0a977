"""T_c, nu, beta/nu and gamma/nu of gpumc.analysis.critical_point() are within one of their errors in 60 to 80 % of 200 campaigns, in two and three dimensions.

Campaigns of known models (tests/support/universality.py: square and cubic Ising, cubic XY and Heisenberg, +-J glass) whose corrections to scaling are drawn anew for each:
size, sign, slope, and what decays faster, with exponents that the fit does not know. Null: 68 %; the false alarm of each share is 1 %. Shares are of one
number of one model over 200 campaigns, 20 comparisons; without MODELS and SETS in the environment all are made, which takes 10 minutes of a core for each model.

Controls, by the same gate: collapses without corrections (the errors of noise alone, as they were), and halved errors. Numbers of one campaign depend on each other.

CTest: validate (statistical_test_critical_campaigns, cli_test_critical)
"""
import os
import pathlib
import sys
import unittest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads for small matrices only wait for each other
import numpy as np  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools/python")]
from gpumc import analysis  # noqa: E402
from support import cases, universality  # noqa: E402

SETS = int(os.environ.get("SETS", "200"))
CHOSEN = os.environ.get("MODELS", ",".join(universality.MODELS)).split(",")
FIRST_SEED = 700_000  # the first eight had a part in the choice of which corrections grow
CONTROLS = 40  # campaigns of the controls
NAMES = "t_c", "nu", "beta/nu", "gamma/nu"
LEAST, MOST = 0.6, 0.8


def deviations(model, sets=SETS, find=None):
    """In errors, [set, name]."""
    exact = universality.MODELS[model].exact
    found = []
    for seed in range(FIRST_SEED, FIRST_SEED + sets):
        numbers = (find or averages)(universality.campaign(model, seed))
        found.append([(numbers[name][0] - exact[name]) / numbers[name][1] for name in NAMES])
    return np.array(found)


def averages(sizes):
    found = analysis.critical_point(sizes, replicates=100)
    return {"t_c": (found.best.t_c, found.best.t_c_error), "nu": (found.best.nu, found.best.nu_error),
            **{name: (one.exponent, one.exponent_error) for name, one in found.exponents.items()}}


def without_corrections(sizes):
    names = list(sizes[0].values)
    found = analysis.collapse(sizes, names[0], analytic=True, replicates=60)
    of = [analysis.collapse(sizes, name, analytic=True, replicates=60, given=found) for name in names[2:]]
    return {"t_c": (found.t_c, found.t_c_error), "nu": (found.nu, found.nu_error), **{one.exponent_name: (one.exponent, one.exponent_error) for one in of}}


class Coverage(unittest.TestCase):
    def test_errors_hold_corrections(self):
        for model in CHOSEN:
            away = deviations(model)
            for name, column in zip(NAMES, away.T):
                within = np.mean(np.abs(column) < 1)
                print(f"{model}, {name}: {100 * within:.1f} % of {len(column)} within one error, {100 * np.mean(np.abs(column) < 2):.1f} % within two, "
                      f"mean {column.mean():+.2f}", flush=True)
                with self.subTest(model=model, name=name):
                    self.assertTrue(LEAST <= within <= MOST, within)
                    self.assertLess(np.mean(np.abs(2 * column) < 1), LEAST)

    def test_errors_of_noise_alone_are_rejected(self):
        for model in CHOSEN:
            within = np.mean(np.abs(deviations(model, CONTROLS, without_corrections)) < 1, axis=0)
            print(f"{model}, without corrections: " + ", ".join(f"{name} {100 * share:.0f} %" for name, share in zip(NAMES, within)))
            self.assertLess(within[2], LEAST, model)
            self.assertLess(within[3], LEAST, model)


if __name__ == "__main__":
    cases.main()

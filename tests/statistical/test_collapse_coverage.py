"""gpumc.analysis.collapse on simulated sizes with known T_c, nu and beta/nu: whether its errors and its p are right.

A Binder parameter and a magnetization of L = 8, 16 and 32 (or 8 to 32 in five steps) at twelve temperatures follow known scaling
functions exactly; noise is that of 64 groups, which both quantities share in part. 200 sets of data for each kind: without corrections,
with a bent scaling field, with corrections L^-2, and with temperatures that share their groups.

Null: intervals of one error hold the true number in 68 % of the sets, those of 1.96 errors in 95 %: two-sided binomial bounds, false alarm
0.2 % each. p is uniform on (0, 1): Kolmogorov and Smirnov, 0.1 %. 26 comparisons: 5 % in all, and seeds are fixed. Where 64 groups
tell the covariance of twelve temperatures, errors may be too small by a fifth, as docs/analysis.md says, and so 56 % to 76 % and 86 % to
99 % are asked for.

Controls, by the same gates: errors halved; corrections L^-2 that the fit does not know; temperatures that depend on each other, taken as
independent; curvature errors of the exponent where the quantities are correlated, which overstate it.

CTest: validate (cli_test_critical)
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
from support import cases, simulated_sizes as simulated  # noqa: E402

SETS, TRUE = simulated.SETS, simulated.TRUE
FIRST_SEED = 5000  # none of these had a part in the choice of anything


class Fits:
    """Of all sets: what was found, the errors of bootstrap and curvature by name, [set], and p of both quantities, [set, 2]."""
    def __init__(self, options, known):
        first, second = [], []
        for number in range(SETS):
            sizes = simulated.sizes(FIRST_SEED + number, **known)
            first.append(analysis.collapse(sizes, "binder_parameter", replicates=100, **options))
            second.append(analysis.collapse(sizes, "abs_magnetization", given=first[-1], replicates=100, **options))
        self.found = {"t_c": [fit.t_c for fit in first], "nu": [fit.nu for fit in first], "exponent": [fit.exponent for fit in second]}
        self.bootstrap = {"t_c": [fit.t_c_error for fit in first], "nu": [fit.nu_error for fit in first],
                          "exponent": [fit.exponent_error for fit in second]}
        self.curvature = {"t_c": [fit.curvature[0] for fit in first], "nu": [fit.curvature[1] for fit in first],
                          "exponent": [fit.curvature[3] for fit in second]}
        self.p = np.array([[fit.quality.p for fit in fits] for fits in (first, second)])

    def covered(self, name, kind="bootstrap", scale=1.0):
        """How many sets hold the true number within one error, and within 1.96."""
        return simulated.covered((np.array(self.found[name]) - TRUE[name]) / (scale * np.array(getattr(self, kind)[name])))


class Coverage(unittest.TestCase):
    def expect(self, what, fits, names=("t_c", "nu", "exponent"), kind="bootstrap"):
        for name in names:
            counts = fits.covered(name, kind)
            print(f"{what}, {name}: {counts[0]} and {counts[1]} of {SETS} within 1 and 1.96 errors by {kind}")
            with self.subTest(what=what, name=name):
                self.assertTrue(simulated.is_right(counts), counts)

    def expect_uniform(self, what, fits):
        for quantity, p in zip(("binder_parameter", "abs_magnetization"), fits.p):
            print(f"{what}, p of {quantity}: {np.histogram(p, 5, (0, 1))[0]}")
            with self.subTest(what=what, quantity=quantity):
                self.assertTrue(simulated.is_uniform(p))

    def test_plain(self):
        fits = Fits({}, {})
        self.expect("plain", fits)
        self.expect("plain", fits, ("t_c", "nu"), "curvature")
        self.expect_uniform("plain", fits)
        for name in TRUE:
            self.assertFalse(simulated.is_right(fits.covered(name, scale=0.5)), f"{name}: halved errors")
        self.assertFalse(simulated.is_right(fits.covered("exponent", "curvature")))

    def test_bent_scaling_field(self):
        fits = Fits({"analytic": True}, {"bend": 0.5})
        self.expect("bent", fits)
        self.expect_uniform("bent", fits)

    def test_corrections(self):
        known = {"correction": 0.05, "sides": (8, 12, 16, 24, 32)}
        fits = Fits({"omega": 2.0}, known)
        self.expect("with L^-2", fits)
        self.expect_uniform("with L^-2", fits)
        wrong = Fits({}, known)
        print(f"L^-2 not known to the fit: {wrong.covered('t_c')}, p {np.histogram(wrong.p[0], 5, (0, 1))[0]}")
        self.assertFalse(simulated.is_right(wrong.covered("t_c")))
        self.assertFalse(simulated.is_uniform(wrong.p[0]))

    def test_shared_groups(self):
        fits = Fits({}, {"is_joint": True})
        for name in TRUE:
            counts = fits.covered(name)
            print(f"shared groups, {name}: {counts[0]} and {counts[1]} of {SETS} within 1 and 1.96 errors")
            self.assertTrue(0.56 <= counts[0] / SETS <= 0.76 and 0.86 <= counts[1] / SETS <= 0.99, (name, counts))
        found = []
        for number in range(SETS):
            sizes = [analysis.from_arrays(size.side, size.temperature, size.values, size.errors)
                     for size in simulated.sizes(FIRST_SEED + number, is_joint=True)]
            fit = analysis.collapse(sizes, "binder_parameter", replicates=100)
            found.append((fit.t_c - TRUE["t_c"]) / fit.t_c_error)
        counts = simulated.covered(np.array(found))
        print(f"taken as independent, t_c: {counts}")
        self.assertLess(counts[0] / SETS, 0.56)


if __name__ == "__main__":
    cases.main()

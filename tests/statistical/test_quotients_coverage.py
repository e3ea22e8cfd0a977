"""gpumc.analysis.quotients and extrapolate on simulated sizes: whether their errors are right.

Quotients: curves with exact scaling functions (test_collapse_coverage.py has the same ones) of L = 8, 16 and 32, noise of 64 groups, which the
quantities share in part. Null: crossing temperature, 1/nu and beta/nu of both pairs are T_c, 1/1.1 and 0.12 within one error in 68 % and
within 1.96 in 95 % of 200 sets: two-sided binomial bounds, false alarm 0.2 % each, 12 comparisons.
Their common T_c, with the covariance of the bootstrap, likewise. Controls: halved errors; the pairs taken as independent.

Extrapolation: v + a L^-e of four or five sizes with normal noise, e known, known with an error, and fitted. The same bounds, for a fitted e of one
error alone and only from below: its intervals are those of the profile likelihood. p is uniform (Kolmogorov and Smirnov, 0.1 %). Controls:
halved errors; a wrong e.

CTest: validate (cli_test_critical)
"""
import os
import pathlib
import sys
import unittest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np  # noqa: E402
from scipy import stats  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools/python")]
from gpumc import analysis  # noqa: E402
from support import cases, simulated_sizes as simulated  # noqa: E402

SETS = simulated.SETS
FIRST_SEED = 9000


class Quotients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.true = {"temperature": simulated.TRUE["t_c"], "1/nu": 1 / simulated.TRUE["nu"], "beta/nu": simulated.TRUE["exponent"]}
        cls.found = [analysis.quotients(simulated.sizes(FIRST_SEED + number, noise=1e-3), replicates=100) for number in range(SETS)]

    def deviations(self, pair, name, found=None):
        numbers = [(pairs[pair].temperature, pairs[pair].temperature_error) if name == "temperature" else pairs[pair].exponents[name]
                   for pairs in found or self.found]
        value, error = np.array(numbers).T
        return (value - self.true[name]) / error

    def test_coverage(self):
        for pair in (0, 1):
            for name in self.true:
                deviations = self.deviations(pair, name)
                counts = simulated.covered(deviations)
                print(f"pair {pair}, {name}: {counts[0]} and {counts[1]} of {SETS}, mean {deviations.mean():+.2f}")
                with self.subTest(pair=pair, name=name):
                    self.assertTrue(simulated.is_right(counts), counts)
                    self.assertFalse(simulated.is_right(simulated.covered(2 * deviations)))

    def test_crossings_of_all_pairs(self):
        """The pairs share L = 16; their values are T_c without corrections, so that a constant fits: e is any number."""
        deviations, apart, p = [], [], []
        for pairs in self.found:
            drawn = np.array([found.replicates["temperature"] for found in pairs])
            covariance = np.cov(drawn[:, np.isfinite(drawn).all(0)])
            values = np.array([found.temperature for found in pairs])
            for matrix, into in ((covariance, deviations), (np.diag(np.diag(covariance)), apart)):
                weights = np.linalg.solve(matrix, np.ones(2))
                into.append((weights @ values / weights.sum() - self.true["temperature"]) * np.sqrt(weights.sum()))
            rest = values - weights @ values / weights.sum()
            p.append(stats.chi2.sf(rest @ np.linalg.solve(covariance, rest), 1))
        print(f"both pairs: {simulated.covered(np.array(deviations))}, taken as independent {simulated.covered(np.array(apart))}")
        self.assertTrue(simulated.is_right(simulated.covered(np.array(deviations))))
        self.assertFalse(simulated.is_right(simulated.covered(np.array(apart))))
        self.assertTrue(simulated.is_uniform(p))


class Extrapolations(unittest.TestCase):
    SIDES = np.array([8.0, 12.0, 16.0, 24.0, 32.0])

    def fits(self, exponent=2.75, **options):
        found = []
        for number in range(SETS):
            random = np.random.default_rng(FIRST_SEED + number)
            errors = 1e-3 * np.sqrt(self.SIDES / 8)
            values = 2.27 - 0.05 * (self.SIDES / 8) ** -2.75 + errors * random.normal(size=5)
            shift = options.get("exponent_error", 0) * random.normal()
            found.append(analysis.extrapolate(self.SIDES, values, errors, exponent=None if exponent is None else exponent + shift,
                                              **options))
        return found

    def expect(self, what, found):
        deviations = np.array([(fit.value - 2.27) / fit.error for fit in found])
        p = [fit.quality.p for fit in found]
        print(f"{what}: {simulated.covered(deviations)} of {SETS}, p {np.histogram(p, 5, (0, 1))[0]}")
        self.assertTrue(simulated.is_right(simulated.covered(deviations)), what)
        self.assertTrue(simulated.is_uniform(p), what)
        self.assertFalse(simulated.is_right(simulated.covered(2 * deviations)), what)

    def test_known_exponent(self):
        self.expect("known", self.fits())

    def test_exponent_with_an_error(self):
        self.expect("with an error", self.fits(exponent_error=0.2))

    def test_wrong_exponent_is_rejected(self):
        found = self.fits(0.8)
        deviations = np.array([(fit.value - 2.27) / fit.error for fit in found])
        self.assertFalse(simulated.is_right(simulated.covered(deviations)))
        self.assertFalse(simulated.is_uniform([fit.quality.p for fit in found]))

    def test_fitted_exponent(self):
        found = self.fits(None)
        held = sum(fit.lower <= 2.27 <= fit.upper for fit in found)
        exponent = sum(fit.exponent_range[0] <= 2.75 <= fit.exponent_range[1] for fit in found)
        print(f"fitted: {held} of {SETS} intervals hold the value, {exponent} that of e")
        low, _ = simulated.bounds(0.6827)
        self.assertGreaterEqual(held, low)
        self.assertGreaterEqual(exponent, low)
        self.assertLess(held, 0.85 * SETS)

    def test_refusals(self):
        for wrong in ({"exponent": None}, {"exponent": 2.0, "smallest": 32}):
            with self.assertRaises(ValueError):
                analysis.extrapolate([16, 32], [2.2, 2.3], [0.1, 0.1], **wrong)

    def test_shifts_of_other_ratios(self):
        """T_c and amplitude are found again from pairs of other ratios, whose shifts are not a power."""
        sides, ratios = np.array([8, 12, 16, 24]), np.array([1.5, 4 / 3, 1.5, 2])
        shifts = analysis.crossing_shift(sides, ratios, 1.0, 2.0)
        found = analysis.extrapolate(sides, 2.27 + 3 * shifts, np.full(4, 1e-4), shifts=shifts)
        self.assertAlmostEqual(found.value, 2.27, 9)
        self.assertAlmostEqual(found.amplitude, 3, 6)
        self.assertLess(found.quality.chi2, 1e-9)


if __name__ == "__main__":
    cases.main()

"""tools/correlation.py: correlations of simulated groups against the matrix they were drawn from.

5000 groups: each of 10 different elements is within 5 of its standard deviations, (1 - rho^2)/sqrt(5000), and within
what the mean correlation contributes: false alarm rate below 1e-5. Control: groups in another order at each
temperature.
"""
import pathlib
import sys
import types
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/python"))
from gpumc.analysis import correlation  # noqa: E402

GROUPS, COUNT = 5000, 5
ABOVE, BELOW = np.linspace(0.3, 0.9, COUNT), np.linspace(0.4, 0.8, COUNT)
KNOWN = 0.7 ** np.abs(np.arange(COUNT)[:, None] - np.arange(COUNT))
SHARE = COUNT / (COUNT + GROUPS)


def drawn(seed=1):
    """Returns deviations [group, temperature] with the correlations KNOWN and different variances."""
    normal = np.random.default_rng(seed).normal(size=(GROUPS, COUNT))
    return normal @ np.linalg.cholesky(KNOWN).T * np.linspace(0.02, 0.05, COUNT)


def result(algorithm, **parts):
    return types.SimpleNamespace(config={"algorithm": algorithm}, summary={"beta": np.arange(COUNT)},
                                 **{"remarks": {}, "runs": [], "samples": {}, **parts})


def moments():
    """Returns the groups' <m^4> and <m^2>, for which ln(above) - 2 ln(below) has the correlations KNOWN although
    neither has them alone."""
    shared = np.random.default_rng(2).normal(size=(GROUPS, 1)) * 0.05
    return ABOVE * (1 + drawn() + 2 * shared), BELOW * (1 + shared)


class Correlations(unittest.TestCase):
    def assert_known(self, found):
        bound = 5 * (1 - KNOWN ** 2) / np.sqrt(GROUPS) + SHARE
        np.fill_diagonal(bound, 1e-12)
        self.assertTrue((np.abs(found - KNOWN) <= bound).all(), found)

    def test_many_groups(self):
        self.assert_known(correlation.shrunk(drawn()))

    def test_groups_in_another_order_are_rejected(self):
        random = np.random.default_rng(3)
        with self.assertRaises(AssertionError):
            self.assert_known(correlation.shrunk(random.permuted(drawn(), axis=0)))

    def test_few_groups_have_the_mean_correlation(self):
        """With two groups all correlations found are 1 or -1; their mean is 5/7 of each."""
        deviations = np.array([[1.0, 2, 3, 4, -5], [-1.0, -2, -3, -4, 5]])
        wanted = np.where(np.arange(5) < 4, 1.0, -1.0)
        wanted = 2 / 7 * np.outer(wanted, wanted) + 5 / 7 * 0.2 * np.ones((5, 5))
        np.fill_diagonal(wanted, 1.0)
        np.testing.assert_allclose(correlation.shrunk(deviations), wanted, atol=1e-14)

    def test_no_scatter(self):
        """A temperature without fluctuations does not spoil the others; a single temperature correlates with itself."""
        deviations = drawn()
        deviations[:, 2] = 0
        found = correlation.shrunk(deviations)
        self.assertTrue(np.isfinite(found).all())
        self.assertGreater(np.linalg.eigvalsh(found).min(), 0)
        self.assertAlmostEqual(found[0, 1], 0.7, 1)
        np.testing.assert_array_equal(correlation.shrunk(deviations[:, :1]), [[1.0]])

    def test_of_samples(self):
        above, below = moments()
        read = result({"name": "pt"}, remarks={"errors_from": "samples"}, samples={"overlap4": above, "overlap2": below})
        self.assert_known(correlation.correlation(read, "binder_overlap"))
        read.remarks["errors_from"] = "time"
        self.assertIsNone(correlation.correlation(read, "binder_overlap"))

    def test_of_replicas_of_canonical_samples(self):
        above, below = moments()
        runs = [{"replicas/magnetization4": above[:, k], "replicas/magnetization2": below[:, k]} for k in range(COUNT)]
        read = result({"name": "canonical", "samples": GROUPS}, runs=runs)
        self.assert_known(correlation.correlation(read, "binder_parameter"))
        read.config["algorithm"]["samples"] = 1
        np.testing.assert_array_equal(correlation.correlation(read, "binder_parameter"), np.eye(COUNT))

    def test_of_families_of_two_runs(self):
        """Blocks with different populations, and two runs with different means."""
        above, below = moments()
        population = np.random.default_rng(4).integers(50, 150, size=(1, GROUPS))
        # A block's deviation is that of its sum, whatever its population, so that all have the same variance.
        sums = [mean[:, None] * population + 100 * (values / mean - 1).T * mean[:, None]
                for values, mean in ((above, ABOVE), (below, BELOW))]
        half = GROUPS // 2
        runs = [{"blocks/magnetization4": sums[0][:, part], "blocks/magnetization2": sums[1][:, part],
                 "blocks/population": np.repeat(population[:, part], COUNT, axis=0)}
                for part in (slice(half), slice(half, None))]
        self.assert_known(correlation.correlation(result({"name": "pa"}, runs=runs), "binder_parameter"))

    def test_unknown(self):
        """No groups, too few groups, and runs with different temperatures."""
        above, below = moments()
        for samples in ({}, {"overlap4": above[:7], "overlap2": below[:7]},
                        {"overlap4": above[:, :4], "overlap2": below[:, :4]}):
            read = result({"name": "pt"}, remarks={"errors_from": "samples"}, samples=samples)
            self.assertIsNone(correlation.correlation(read, "binder_overlap"))


if __name__ == "__main__":
    unittest.main()

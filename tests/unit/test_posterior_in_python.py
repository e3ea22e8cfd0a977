"""gpumc.analysis.posterior draws from known probabilities: a narrow Gaussian at an angle, and two peaks far apart.

Bounds are four errors, from 20 blocks of moves, in eight comparisons: a false alarm once in 200. Controls: a Gaussian that is wider by a fifth, and walkers
that all begin at one of the peaks.
"""
import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/python"))
from gpumc.analysis import posterior

COVARIANCE = np.array([[1.0, 0.9], [0.9, 1.0]]) * np.outer([1e-3, 10.0], [1e-3, 10.0])
PRECISION = np.linalg.inv(COVARIANCE)
PEAKS, HEIGHTS = np.array([-1.0, 1.0]), np.array([0.3, 0.7])
WIDTH, MOVES, ERRORS = 0.1, 2000, 4


def gaussian(place):
    return -0.5 * place @ PRECISION @ place


def peaks(place):
    return float(np.logaddexp.reduce(np.log(HEIGHTS) - 0.5 * ((place[0] - PEAKS) / WIDTH) ** 2)) if abs(place[0]) < 3 else -np.inf


def drawn(density, places, seed=1):
    random = np.random.default_rng(seed)
    return posterior.sample(density, *posterior.spread(density, places, random), random, MOVES)


def away(found, expected):
    """Of the mean of `found` [move, walker], in errors from the scatter of blocks of moves."""
    blocks = found.reshape(20, -1).mean(1)
    return (blocks.mean() - expected) / (blocks.std(ddof=1) / np.sqrt(len(blocks)))


class Posterior(unittest.TestCase):
    def test_gaussian(self):
        places = np.random.default_rng(2).normal(size=(200, 2)) * [3e-3, 30.0]
        found = drawn(gaussian, places)
        self.assertEqual(found.shape, (MOVES, posterior.WALKERS, 2))
        for j in range(2):
            self.assertLess(abs(away(found[:, :, j], 0.0)), ERRORS)
            for k in range(2):
                products = found[:, :, j] * found[:, :, k]
                self.assertLess(abs(away(products, COVARIANCE[j, k])), ERRORS)
                self.assertGreater(abs(away(products, 1.2 * COVARIANCE[j, k])), ERRORS)

    def test_two_peaks(self):
        random = np.random.default_rng(3)
        found = drawn(peaks, random.uniform(-2, 2, (200, 1)))
        self.assertLess(abs(away(found[:, :, 0] > 0, HEIGHTS[1])), ERRORS)
        self.assertLess(abs(away(np.abs(np.abs(found[:, :, 0]) - 1), WIDTH * np.sqrt(2 / np.pi))), ERRORS)
        one = drawn(peaks, random.normal(1, WIDTH / 2, (200, 1)))
        self.assertGreater(np.mean(one[:200, :, 0] > 0), 0.9)

    def test_nowhere_likely(self):
        with self.assertRaises(np.linalg.LinAlgError):
            posterior.spread(lambda place: -np.inf, np.zeros((40, 1)), np.random.default_rng(1))


if __name__ == "__main__":
    unittest.main()

"""Parallel tempering: averages are Kaufman's, with and without exchange, in one copy and in several.

Every comparison is within four errors (false alarm 6e-5 each); temperatures wrong by 0.5 % are not.

CTest: release, methods 5 s
"""
import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, gpumc_program as gpumc, parallel_tempering  # noqa: E402
from support.parallel_tempering import BETAS  # noqa: E402


def deviations(found, side, betas):
    """(value - exact)/error of energy and specific heat, [2][temperatures]."""
    exact = gpumc.exact().kaufman(side, side, np.asarray(betas))[1:]
    return np.array([gpumc.in_errors(found, name, reference)
                     for name, reference in zip(("energy", "specific_heat"), exact)])


class Exact(unittest.TestCase):
    """Nine cases of six temperatures and two quantities, all within four errors: false alarm 0.7 %."""

    def check(self, side=8, **keys):
        found, = parallel_tempering.run(side=side, **keys)
        self.assertTrue((found["energy_error"] < 0.003).all(), found["energy_error"])
        off = deviations(found, side, BETAS)
        print(f"{side}x{side} {keys}: largest deviation {np.abs(off).max():.2f} errors")
        self.assertLess(np.abs(off).max(), 4.0, off)
        wrong = deviations(found, side, 1.005 * np.array(BETAS))
        self.assertGreater(np.abs(wrong).max(), 4.0, "temperatures wrong by 0.5 % are not noticed")
        return found

    def test_with_exchange(self):
        found = self.check(samples=64, sweeps=102400, exchange_every=5, measure_every=10)
        self.assertGreater(np.nanmin(found["acceptance"]), 0.1)

    def test_without_exchange(self):
        found = self.check(samples=64, sweeps=102400, exchange_every=0)
        self.assertNotIn("acceptance", found)

    def test_one_sample(self):
        self.check(samples=1, sweeps=3276800, exchange_every=10)

    def test_several_copies(self):
        found = self.check(samples=32, replicas=3, sweeps=81920, exchange_every=10)
        # Two copies are as independent as two configurations: <q^2> at high temperature is small.
        self.assertLess(found["overlap2"][0], found["overlap2"][-1])

    def test_heat_bath(self):
        self.check(samples=64, sweeps=102400, exchange_every=10, update="heat_bath")

    def test_larger_lattice(self):
        self.check(side=16, samples=64, sweeps=204800, exchange_every=10, thermalization=1000)

    def test_every_size_of_sample_word(self):
        for samples in (31, 32, 33):
            with self.subTest(samples=samples):
                self.check(samples=samples, sweeps=204800, exchange_every=10)

    def test_overlap_of_independent_copies(self):
        """Without disorder two copies are two configurations, so <q^2> = sum over pairs of sites of the squared
        correlation; at L = 2 it is known by summing over all states."""
        beta = [0.1, 0.3]
        found, = parallel_tempering.run(side=2, betas=beta, samples=64, replicas=2, sweeps=204800,
                                        update="heat_bath")
        for t, b in enumerate(beta):
            exact = overlap_moments(b)
            for name, value in exact.items():
                off = gpumc.in_errors(found, name, value, t)
                print(f"2x2 beta {b} {name:13s} {off:+.2f} errors")
                self.assertLess(abs(off), 4.0, name)


def overlap_moments(beta):
    """Moments of the overlaps of two independent 2 x 2 lattices, each pair of sites having two bonds."""
    states = np.array([[1 - 2 * (n >> i & 1) for i in range(4)] for n in range(16)])
    pairs = [(0, 1), (0, 1), (2, 3), (2, 3), (0, 2), (0, 2), (1, 3), (1, 3)]
    bonds = sum(states[:, i] * states[:, j] for i, j in pairs)
    weight = np.exp(beta * bonds)
    both = np.outer(weight, weight) / weight.sum() ** 2
    q = np.einsum("ai,bi->ab", states, states) / 4
    link = sum((states[:, i] * states[:, j])[:, None] * (states[:, i] * states[:, j])[None, :]
               for i, j in pairs) / len(pairs)
    return {"abs_overlap": (both * np.abs(q)).sum(), "overlap2": (both * q ** 2).sum(),
            "overlap4": (both * q ** 4).sum(), "link_overlap": (both * link).sum()}


if __name__ == "__main__":
    device.require()
    cases.main()

"""Parallel tempering: averages are Kaufman's, with and without exchange, and the reported errors are right.

Null of the gates: (value - exact)/error has variance 1. Sums of n squares lie within the bounds of 3.9
standard deviations (false alarm 1e-4 a comparison). Controls: temperatures wrong by 0.5 % are rejected,
and so are errors that take all measurements as independent.
"""
import os
import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import device, gpumc_program as gpumc  # noqa: E402

SEEDS = 200

CONFIG = """\
gpumc: 1
seed: 20260301
model: {{name: ising2d, shape: [{side}, {side}]}}
algorithm: {{name: pt, beta: {{values: {betas}}}, {more}}}
output: "{folder}/{{seed}}.h5"
campaign: {{seed: [{seeds}]}}
"""
BETAS = [0.30, 0.36, 0.40, 0.44, 0.48, 0.54]


def run(seeds=(1,), side=8, betas=BETAS, **keys):
    """The summaries of one run a seed."""
    more = ", ".join(f"{name}: {value}" for name, value in keys.items())
    with gpumc.folder() as folder:
        gpumc.run_config(CONFIG.format(folder=folder, side=side, betas=betas, more=more,
                                       seeds=", ".join(map(str, seeds))), folder)
        return [gpumc.summary(os.path.join(folder, f"{seed}.h5")) for seed in seeds]


def deviations(found, side, betas):
    """(value - exact)/error of energy and specific heat, [2][temperatures]."""
    exact = gpumc.exact().kaufman(side, side, np.asarray(betas))[1:]
    return np.array([(found[name] - reference) / found[name + "_error"]
                     for name, reference in zip(("energy", "specific_heat"), exact)])


class Exact(unittest.TestCase):
    """Nine cases of six temperatures and two quantities, all within four errors: false alarm 0.7 %."""

    def check(self, side=8, **keys):
        found, = run(side=side, **keys)
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
        """Without disorder two copies are two configurations, so <q^2> = sum over pairs of sites of
        the squared correlation; at L = 2 that is known by summing over all states."""
        beta = [0.1, 0.3]
        found, = run(side=2, betas=beta, samples=64, replicas=2, sweeps=204800, update="heat_bath")
        for t, b in enumerate(beta):
            exact = overlap_moments(b)
            for name, value in exact.items():
                off = (found[name][t] - value) / found[name + "_error"][t]
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


class Errors(unittest.TestCase):
    """200 repeats."""

    UNKNOWN = ["abs_magnetization", "binder_parameter", "correlation_length", "overlap2",
               "binder_overlap", "link_overlap"]

    def check(self, found, side=8, betas=BETAS):
        low, high = gpumc.chi_square_bounds(SEEDS, 3.9)
        exact = dict(zip(("energy", "specific_heat"),
                         gpumc.exact().kaufman(side, side, np.asarray(betas))[1:]))
        for name in list(exact) + [n for n in self.UNKNOWN if n in found[0]]:
            value = np.array([f[name] for f in found])
            error = np.array([f[name + "_error"] for f in found])
            # The mean of the repeats in place of the exact value takes one degree of freedom.
            bias = 1.0 if name in exact else SEEDS / (SEEDS - 1)
            z = (value - exact.get(name, value.mean(0))) / error
            for t, measured in enumerate(bias * np.mean(z ** 2, 0)):
                if np.isnan(value[:, t]).any():  # xi is undetermined where noise exceeds it
                    continue
                print(f"beta {betas[t]:.2f} {name:18s} <z^2> = {measured:.3f} in "
                      f"[{low:.3f}, {high:.3f}], <z> = {z[:, t].mean():+.3f}")
                with self.subTest(name=name, beta=betas[t]):
                    self.assertGreater(measured, low)
                    self.assertLess(measured, high)

    def test_from_samples(self):
        self.check(run(range(1, SEEDS + 1), samples=32, replicas=2, sweeps=20480, exchange_every=10,
                       structure_factor="true"))

    def test_from_blocks_of_time(self):
        betas = [0.30, 0.40, 0.48]
        found = run(range(1, SEEDS + 1), betas=betas, samples=2, replicas=2, sweeps=204800,
                    exchange_every=10)
        self.check(found, betas=betas)

    def test_independent_measurements_are_rejected(self):
        """The control: with a measurement a sweep, errors as if these were independent."""
        betas = [0.40, 0.44]
        found = run(range(1, SEEDS + 1), betas=betas, samples=1, sweeps=25600, exchange_every=1)
        exact, heat = gpumc.exact().kaufman(8, 8, np.asarray(betas))[1:]
        naive = np.sqrt(heat / np.square(betas) / 64 / 12800)
        z = np.array([(f["energy"] - exact) / naive for f in found])
        high = gpumc.chi_square_bounds(SEEDS, 3.9)[1]
        self.assertTrue((np.mean(z ** 2, 0) > high).all(), np.mean(z ** 2, 0))


if __name__ == "__main__":
    device.require()
    unittest.main(verbosity=2)

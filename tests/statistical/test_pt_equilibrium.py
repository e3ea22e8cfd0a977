"""`equilibrated` of parallel tempering: of runs in equilibrium at most one in a hundred is said not to be at some
temperature, for one file and for merged ones; runs that still relax are rejected at their coldest temperatures, even
with few samples.

Null: a share of 1 % of the runs. Of 100 to 400 runs no more are flagged than such a share exceeds with probability
1e-4. Control: the former rule, differences beyond four errors with Student's factor whatever the degrees of freedom and
the number of comparisons, flags more of runs with eight samples.

CTest: validate (exact_test_pt_ea, unit_test_pt)
"""
import json
import math
import os
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, gpumc_program as gpumc, pt_equilibrium  # noqa: E402
from support.chance import most_by_chance  # noqa: E402

RATE = 0.01
CONFIG = """\
gpumc: 1
seed: 1
model: {{{model}}}
algorithm: {{name: pt, replicas: 2, {algorithm}}}
output: "{folder}/{{seed}}.h5"
campaign: {{seed: [{seeds}]}}
"""
FERROMAGNET = ("name: ising2d, shape: [4, 4]", "beta: {values: [0.2, 0.25, 0.3, 0.34, 0.38, 0.42]}, "
               "exchange_every: 5")
GLASS = ("name: ea, shape: [4, 4, 4], couplings: gaussian, disorder_seed: 3",
         "beta: {from: 0.2, to: 2.0, count: 8}, exchange_every: 2, measure_every: 2")


WARM_GLASS = ("name: ea, shape: [4, 4, 4], couplings: gaussian, disorder_seed: 5",
              "beta: {from: 0.2, to: 0.6, count: 8}, exchange_every: 2, measure_every: 2")
# Samples, sweeps, and the least share of runs that are rejected.
POWER = ((8, 16, 0.85), (8, 32, 0.75), (8, 64, 0.45), (16, 16, 0.85), (16, 64, 0.85), (16, 128, 0.85), (32, 128, 0.85))


def decided_here(file):
    """`equilibrated` by code that shares nothing with the program."""
    summary, config = file["summary"], json.loads(file["config/resolved"].asstr()[()])
    joined = {name: item[:] for name, item in file["samples"].items()}
    bins = file["earlier_bins"]
    earlier = [{name: item[:] for name, item in bins[back].items()} for back in sorted(bins)]
    identity = None
    if "gaussian_identity" in summary:
        identity = joined["energy"] + 3 * summary["beta"][:] * (1 - joined["link_overlap"])
    values = int(summary.attrs["measurements"]) * int(summary.attrs["replicas"])
    return pt_equilibrium.equilibrated(joined, earlier, "couplings" in config["model"], values, identity) == 1


def former_rule(file):
    """Returns where the temperatures were equilibrated by the rule before rates were introduced."""
    good = True
    for bins in file["earlier_bins"].values():
        for name, item in bins.items():
            change = file["samples"][name][:] - item[:]
            n = len(change)
            error = change.std(0, ddof=1) / np.sqrt(n) * np.sqrt((n - 1) / (n - 3))
            good = good & (np.abs(change.mean(0)) <= 4 * error)
    if "gaussian_identity" in file["summary"]:
        good &= (np.abs(file["summary/gaussian_identity"][:])
                 <= 4 * file["summary/gaussian_identity_error"][:])
    return good


class Equilibrium(unittest.TestCase):
    def run_seeds(self, kind, more, seeds):
        """Returns [seeds, temperatures] equilibrated, by the program and by the former rule."""
        found = []
        with gpumc.folder() as folder:
            gpumc.run_config(CONFIG.format(folder=folder, model=kind[0], algorithm=f"{kind[1]}, {more}",
                                           seeds=", ".join(map(str, range(1, seeds + 1)))), folder)
            for seed in range(1, seeds + 1):
                with h5py.File(os.path.join(folder, f"{seed}.h5")) as file:
                    now = file["summary/equilibrated"][:] == 1
                    found.append((now, former_rule(file)))
                    if gpumc.attributes(file["summary"])["errors_from"] == "samples" and seed <= 40:
                        np.testing.assert_array_equal(decided_here(file), now)
        return np.array(found).swapaxes(0, 1)

    def test_false_alarms(self):
        for kind, more, seeds in ((FERROMAGNET, "samples: 8, sweeps: 1280", 400),
                                  (FERROMAGNET, "samples: 32, sweeps: 640", 200),
                                  (FERROMAGNET, "samples: 1, sweeps: 10240", 100),
                                  (WARM_GLASS, "samples: 8, sweeps: 512", 200)):
            now, former = self.run_seeds(kind, more, seeds)
            flagged, before = (int((~good).any(1).sum()) for good in (now, former))
            most = most_by_chance(seeds, RATE)
            print(f"{more}: {flagged} of {seeds} runs flagged, at most {most}; by the former rule {before}")
            with self.subTest(more=more):
                self.assertLessEqual(flagged, most)
                if kind is FERROMAGNET and more.startswith("samples: 8"):
                    self.assertGreater(before, most, "control")

    def test_runs_that_relax_are_rejected(self):
        """Gaussian couplings: with 256 samples, stopped after 8 to 64 sweeps, always at the coldest temperatures;
        with few samples, 30 runs each, at the rate that is documented less four of its standard deviations."""
        for sweeps in 8, 16, 32, 64:
            now, former = self.run_seeds(GLASS, f"samples: 256, sweeps: {sweeps}", 5)
            with self.subTest(sweeps=sweeps):
                self.assertFalse(now[:, -3:].any())
                self.assertLessEqual(now.sum(), former.sum())
        for samples, sweeps, least in POWER:
            now, former = self.run_seeds(GLASS, f"samples: {samples}, sweeps: {sweeps}", 30)
            rejected = (~now).any(1).mean()
            print(f"{samples} samples, {sweeps} sweeps: rejected {rejected:.2f}, former {(~former).any(1).mean():.2f}; "
                  f"of the coldest three {(~now[:, -3:]).mean():.2f}, {(~former[:, -3:]).mean():.2f}")
            with self.subTest(samples=samples, sweeps=sweeps):
                self.assertGreaterEqual(rejected, least)
                self.assertLessEqual(now[:, -3:].sum(), former[:, -3:].sum())


class Simulated(unittest.TestCase):
    """The decision that merged files make, of Gaussian samples without and with a drift."""

    SAMPLES, TEMPERATURES = 20, 5

    def decide(self, noise, drift):
        shape = (self.SAMPLES, self.TEMPERATURES)
        joined = {"energy": noise.normal(size=shape), "energy2": np.full(shape, 100.0)}
        joined["overlap2"] = noise.normal(size=shape)
        earlier = [{name: scale * noise.normal(size=shape) + (drift if name == "energy" else 0)
                    for name in ("energy", "overlap2")} for scale in (2 ** 0.5, 2)]
        return pt_equilibrium.equilibrated(joined, earlier, True, 100).all()

    def test_rate(self):
        noise, runs = np.random.default_rng(1), 1000
        flagged = sum(not self.decide(noise, 0) for _ in range(runs))
        print(f"{flagged} of {runs} flagged, at most {most_by_chance(runs, RATE)}")
        self.assertLessEqual(flagged, most_by_chance(runs, RATE))

    def test_drift_is_found(self):
        noise = np.random.default_rng(2)
        self.assertFalse(any(self.decide(noise, 5) for _ in range(20)))


class Tails(unittest.TestCase):
    def test_student_and_fisher(self):
        """Table values, and the two tails of each other: t^2 is F with one degree of freedom."""
        for t, freedom, tail in ((12.706, 1, 0.05), (4.785, 7, 0.002), (5.408, 7, 0.001), (3.291, 1e7, 0.001)):
            self.assertAlmostEqual(pt_equilibrium.student_tail(t, freedom) / tail, 1, 2)
        for t, freedom in ((0.5, 3), (2.0, 7), (6.0, 31)):
            self.assertAlmostEqual(pt_equilibrium.student_tail(t, freedom),
                                   pt_equilibrium.fisher_tail(t * t, 1, freedom), 12)
        self.assertAlmostEqual(pt_equilibrium.fisher_tail(3.787, 7, 7), 0.05, 4)
        self.assertEqual(pt_equilibrium.student_tail(math.inf, 7), 0)
        self.assertEqual(pt_equilibrium.fisher_tail(math.nan, 7, 7), 1)


if __name__ == "__main__":
    device.require()
    cases.main()

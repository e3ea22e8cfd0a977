"""Parallel tempering of disordered models: exact samples of spin glasses and random fields, the Nishimori line, and the
identity of Gaussian couplings.

Every comparison is within four errors, which is exceeded by chance once in 16000. Controls: references wrong by 0.1 %,
and times too early for equilibrium, are rejected.

CTest: release, long, methods 6 s
"""
import itertools
import os
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, enumeration, gpumc_program as gpumc, splitmix_couplings  # noqa: E402

# 4^3, couplings of splitmix64 with state = seed: energy per site at beta = 0.5 and 1, ground state.
EXACT = {1: (-1.29637048709690, -1.64755701573054, -112),
         2: (-1.37872890048442, -1.69513902171966, -114),
         3: (None, -1.56580855628011, -104)}
REPEATS = 32  # of each sample in the file: independent simulations of the same couplings

CONFIG = """\
gpumc: 1
seed: 4
model: {{{model}}}
algorithm: {{name: pt, {algorithm}}}
output: "{folder}/ea.h5"
"""


class SpinGlass(unittest.TestCase):
    def run_pt(self, model, algorithm, name="ea"):
        """Returns the open result."""
        folder = gpumc.folder()
        self.addCleanup(folder.cleanup)
        gpumc.run_config(CONFIG.format(folder=folder.name, model=f"name: {name}, {model}",
                                        algorithm=algorithm),
                         folder.name)
        file = h5py.File(os.path.join(folder.name, "ea.h5"), "r")
        self.addCleanup(file.close)
        return file

    def test_known_samples(self):
        """Energies at errors below 2e-4, and ground states."""
        folder = gpumc.folder()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "couplings.txt")
        seeds = np.repeat(list(EXACT), REPEATS)
        pathlib.Path(path).write_text(splitmix_couplings.text_file((4, 4, 4), seeds.tolist()))
        file = self.run_pt(f"shape: [4, 4, 4], couplings: file, file: {path}",
                           f"beta: {{values: [0.25, 0.35, 0.5, 0.7, 1.0]}}, samples: {seeds.size}, "
                           "sweeps: 327680, exchange_every: 4, measure_every: 8")
        energy = file["samples/energy"][:]
        lowest = 64 * file["samples/lowest_energy"][:]
        for seed, (half, one, ground) in EXACT.items():
            mine = seeds == seed
            self.assertEqual(set(np.rint(lowest[mine])), {ground}, f"ground states of seed {seed}")
            for t, exact in ((2, half), (4, one)):
                if exact is None:
                    continue
                values = energy[mine, t]
                error = values.std(ddof=1) / np.sqrt(REPEATS)
                off = (values.mean() - exact) / error
                print(f"seed {seed} beta {file['samples/beta'][t]}: {off:+.2f} errors of {error:.2e}")
                self.assertLess(error, 2e-4)
                self.assertLess(abs(off), 4.0)
                self.assertGreater(abs(values.mean() - 1.001 * exact) / error, 4.0, "control")

    def run_random_field(self, sample, algorithm):
        return self.run_pt("shape: [4, 2, 2], random_field: {distribution: gaussian, width: 2}, "
                           f"sample: {sample}, disorder_seed: 5, write_couplings: true",
                           "beta: {values: [0.3, 0.5, 0.8]}, sweeps: 327680, exchange_every: 4, "
                           f"measure_every: 8, {algorithm}", name="ising3d")

    def exact_of_field(self, fields, beta):
        """Energy and q^2 of one sample of 16 sites."""
        energy = enumeration.energies((4, 2, 2), np.ones((16, 3)), fields)
        spins = enumeration.states(16).astype(float)
        weight = np.exp(-beta * (energy - energy.min()))
        weight /= weight.sum()
        correlations = spins.T @ (spins * weight[:, None])
        return weight @ energy / 16, np.mean(correlations**2)

    def check_random_field(self, first, more):
        """Each of 8 samples against enumeration. Energies of a sample scatter by at most 0.6, so the 20,480 measurements
        of the last bin in two copies have errors below 0.003; other samples are rejected. Returns their fields, and the
        largest differences from other samples."""
        file = self.run_random_field(first, f"samples: 8{more}")
        fields = file["disorder/fields"][:]
        self.assertEqual(len(np.unique(fields, axis=0)), 8)
        self.assertEqual(gpumc.attributes(file["summary"])["errors_from"], "samples")
        others = []
        for t, beta in enumerate(file["samples/beta"][:]):
            exact = np.array([self.exact_of_field(field, beta) for field in fields])
            for k, name in enumerate(("energy", "overlap2")):
                off = np.abs(file[f"samples/{name}"][:, t] - exact[:, k])
                print(f"random field beta {beta} {name}: off by {off.max():.4f}")
                self.assertLess(off.max(), 0.015, name)
                others.append(np.abs(file[f"samples/{name}"][:, t] - np.roll(exact[:, k], 1)).max())
                self.assertGreater(others[-1], 0.1 if first < 24 else 0.05, "control")  # overlaps of the last 8 lie within 0.07
        return fields, others

    def test_samples_of_a_random_field(self):
        """32 of them, also with exchanges of clusters."""
        exchanges = ["", ", cluster_exchange: {kind: houdayer}", ", cluster_exchange: {kind: joerg}"]
        found, others = {}, {more: [] for more in exchanges}
        for more, first in cases.of(itertools.product(exchanges, range(0, 32, 8))):
            with self.subTest(first=first, more=more):
                found[first], largest = self.check_random_field(first, more)
                others[more].append(largest)
        if found:
            self.assertEqual(len(np.unique(np.concatenate(list(found.values())), axis=0)), 8 * len(found))
        for of_all in others.values():
            if len(of_all) == 4:
                self.assertGreater(np.max(of_all, axis=0).min(), 0.1, "control")

    def test_samples_of_a_random_field_are_those_of_runs_of_one(self):
        several = self.run_random_field(0, "samples: 2")
        for sample in range(2):
            one = self.run_random_field(sample, "samples: 1")
            np.testing.assert_array_equal(one["disorder/fields"][0],
                                          several["disorder/fields"][sample])
            off = one["samples/energy"][0] - several["samples/energy"][sample]
            self.assertLess(np.abs(off).max(), 0.015)
        self.assertGreater(np.abs(np.diff(several["samples/energy"][:], axis=0)).min(), 0.05)

    def check_nishimori(self, shape, beta):
        """[e] = -d tanh beta if p = 1/(1 + exp(-2 beta)), at any size."""
        p = 1 / (1 + np.exp(-2 * beta))
        file = self.run_pt(f"shape: {shape}, p: {float(p)!r}, disorder_seed: 7",
                           f"beta: {{values: [{0.5 * beta}, {0.7 * beta}, {beta}]}}, samples: 4096, "
                           "sweeps: 2560, exchange_every: 5, measure_every: 10")
        summary = file["summary"]
        exact = -len(shape) * np.tanh(beta)
        off = (summary["energy"][2] - exact) / summary["energy_error"][2]
        print(f"{shape} Nishimori beta {beta}: {off:+.2f} errors of {summary['energy_error'][2]:.2e}")
        self.assertEqual(gpumc.attributes(summary)["errors_from"], "samples")
        self.assertLess(abs(off), 4.0)
        self.assertGreater(abs(off - 0.005 * exact / summary["energy_error"][2]), 4.0, "control")

    def test_nishimori_line_in_two_dimensions(self):
        self.check_nishimori([6, 8], 0.9)

    def test_nishimori_line_in_three_dimensions(self):
        self.check_nishimori([4, 4, 4], 0.6)

    def heat(self, replicas, sweeps, samples):
        file = self.run_pt("shape: [4, 4, 4], disorder_seed: 5",
                           f"beta: {{values: [0.5, 0.6, 0.7]}}, samples: {samples}, replicas: {replicas}, "
                           f"thermalization: 1000, sweeps: {sweeps}, exchange_every: 2, "
                           "measure_every: 4")
        return file["summary/specific_heat"][2], file["summary/specific_heat_error"][2]

    def test_specific_heat_of_short_runs(self):
        """However few measurements there are, with two copies there is no bias. Control: with one copy there is."""
        exact, exact_error = self.heat(2, 16384, 2048)
        for replicas in (2, 3):
            short, error = self.heat(replicas, 160, 2048)
            off = (short - exact) / np.hypot(error, exact_error)
            print(f"specific heat of {replicas} copies: {short:.4f} - {exact:.4f}, {off:+.2f} errors")
            self.assertLess(abs(off), 4.0)
        short, error = self.heat(1, 160, 2048)
        off = (short - exact) / np.hypot(error, exact_error)
        print(f"of one copy: {off:+.2f} errors")
        self.assertLess(off, -4.0, "control")

    def test_gaussian_identity(self):
        """[e] = -beta d (1 - [q_l]) in equilibrium, approached from energies that are too high and link
        overlaps that are too small."""
        file = self.run_pt("shape: [4, 4, 4], couplings: gaussian, disorder_seed: 3",
                           "beta: {from: 0.2, to: 2.0, count: 8}, samples: 256, sweeps: 8192, "
                           "exchange_every: 2, measure_every: 4")
        bins = file["runs/0000"]
        off = bins["gaussian_identity"][:] / bins["gaussian_identity_error"][:]
        for sweep, row in zip(bins["sweep"][:], off):
            print(f"sweep {sweep:6d} " + " ".join(f"{value:+7.2f}" for value in row))
        self.assertLess(np.abs(off[-1]).max(), 4.0)
        self.assertGreater(np.abs(off[0]).max(), 10.0, "not violated at the beginning")
        self.assertEqual(file["summary"].attrs["trusted"], 1)


if __name__ == "__main__":
    device.require()
    cases.main()

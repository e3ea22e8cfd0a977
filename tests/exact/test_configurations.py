"""Configurations written by pt and pa: energies and overlaps computed from them are those recorded in the file, at
every temperature, and writing them changes no other number.

Control: couplings of another sample give other energies.

CTest: methods 5 s
"""
import json
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, gpumc_program as gpumc  # noqa: E402
from support.edited_result import edited  # noqa: E402

sys.path.insert(0, str(device.ROOT / "tools/python"))
import gpumc as reader  # noqa: E402

CONFIG = """\
gpumc: 1
seed: 20260301
model: {{{model}}}
algorithm: {{name: {algorithm}}}
output: {folder}/out.h5
"""
BIMODAL = "name: ea, shape: [4, 6, 2], write_couplings: true"
GAUSSIAN = "name: ea, shape: [6, 4, 4], couplings: gaussian, sample: 5, write_couplings: true"
SQUARE = "name: ea, shape: [6, 4], h: 0.25, write_couplings: true"


class Written(unittest.TestCase):
    def simulate(self, model, algorithm, *options):
        holder = gpumc.folder()
        self.addCleanup(holder.cleanup)
        gpumc.run_config(CONFIG.format(model=model, algorithm=algorithm, folder=holder.name), holder.name,
                         *options)
        return f"{holder.name}/out.h5"

    def assert_same_summary(self, path, without):
        """Compares a run that writes configurations with one that does not."""
        with_them, expected = gpumc.numeric_datasets(path), gpumc.numeric_datasets(without)
        self.assertEqual({name: with_them[name] for name in expected}, expected)
        written = sorted(with_them.keys() - expected.keys())
        self.assertTrue(written and all(name.startswith("configurations/") for name in written), written)


def link_sums(spins, coupling):
    """Sums of J s_i s_j over the bonds, spins [..., sample, (z,) y, x], couplings [sample, site, direction]."""
    lattice = spins.shape[-coupling.shape[2]:]
    coupling = coupling.reshape(len(coupling), *lattice, -1)
    axes = tuple(range(-len(lattice), 0))
    return sum((coupling[..., d] * spins * np.roll(spins, -1, axis=-1 - d)).sum(axis=axes)
               for d in range(len(lattice)))


def energies(spins, file, roll=0):
    """Per site; `roll`: with the couplings of the sample this many places further on."""
    coupling = np.roll(file["disorder/couplings"][:], roll, axis=0)
    field = json.loads(file["config/resolved"].asstr()[()])["model"].get("h", 0)
    axes = tuple(range(-coupling.shape[2], 0))
    return -(link_sums(spins, coupling) + field * spins.sum(axis=axes)) / coupling.shape[1]


class ParallelTempering(Written):
    BETA = "beta: {from: 0.4, to: 1.6, count: 5}"

    def test_energies_and_overlaps(self):
        """Without exchange a configuration is the measured one, here the only measurement."""
        for model, samples in (BIMODAL, 40), (GAUSSIAN, 9), (SQUARE, 3):
            with self.subTest(model):
                path = self.simulate(model, f"pt, {self.BETA}, samples: {samples}, sweeps: 7, measure_every: 7, "
                                     "exchange_every: 0, thermalization: 15, configurations: {every: 7}")
                sweeps, spins = reader.configurations(path)
                self.assertEqual(list(sweeps), [7])
                self.assertEqual(spins.shape[:4], (1, 5, 2, samples))
                with h5py.File(path) as file:
                    found = energies(spins[0], file)  # [temperature, copy, sample]
                    recorded = {name: item[...] for name, item in file["samples"].items()}
                    np.testing.assert_array_equal(file["configurations/sample"][:samples], recorded["sample"])
                    np.testing.assert_allclose(found.mean(axis=1).T, recorded["energy"], atol=1e-13)
                    np.testing.assert_allclose((found ** 2).mean(axis=1).T, recorded["energy2"], atol=1e-13)
                    np.testing.assert_allclose(found.min(axis=(0, 1)), recorded["lowest_energy"], atol=1e-13)
                    wrong = energies(spins[0], file, roll=1).mean(axis=1).T
                    self.assertGreater(np.abs(wrong - recorded["energy"]).max(), 0.01)
                    both = spins[0, :, 0] * spins[0, :, 1]  # [temperature, sample, ...]
                    overlap = both.reshape(5, samples, -1).mean(axis=2).T
                    links = link_sums(both, np.ones_like(file["disorder/couplings"]))
                for power, name in (2, "overlap2"), (4, "overlap4"):
                    np.testing.assert_allclose(overlap ** power, recorded[name], atol=1e-13)
                dimension = spins.ndim - 4
                np.testing.assert_allclose(links.T / (dimension * both[0, 0].size), recorded["link_overlap"],
                                           atol=1e-13)

    def test_every_time(self):
        """The first bins of time have one measurement each, those of 10 and 20 sweeps."""
        path = self.simulate(BIMODAL, f"pt, {self.BETA}, samples: 33, sweeps: 80, exchange_every: 0, "
                             "configurations: {every: 20}")
        later = self.simulate(BIMODAL, f"pt, {self.BETA}, samples: 33, sweeps: 80, exchange_every: 0, "
                              "configurations: {times: [10, 80]}")
        self.assertEqual(list(reader.configurations(path)[0]), [20, 40, 60, 80])
        self.assertEqual(list(reader.configurations(later)[0]), [10, 80])
        np.testing.assert_array_equal(reader.configurations(path)[1][3],
                                      reader.configurations(later)[1][1])
        for name, k, row in (later, 0, 0), (path, 0, 1):
            spins = reader.configurations(name)[1]
            with h5py.File(name) as file:
                np.testing.assert_allclose(energies(spins[k], file).mean(axis=(1, 2)),
                                           file["runs/0000/energy"][row], atol=1e-13)

    def test_behind_the_exchange(self):
        """After the measurement neighbours are exchanged, as often as the file says; with Gaussian couplings an energy
        identifies its replica. Tuning and thermalization come before."""
        algorithm = (f"pt, {self.BETA}, samples: 50, replicas: 1, sweeps: 10, exchange_every: 10, "
                     "tune: {sweeps: 200, iterations: 2}, thermalization: {}, configurations: {every: 10}")
        for thermalization in 10, 20:  # even pairs, or odd ones
            with self.subTest(thermalization=thermalization):
                path = self.simulate(GAUSSIAN, algorithm.replace("{}", str(thermalization)))
                _, spins = reader.configurations(path)
                with h5py.File(path) as file:
                    after = energies(spins[0, :, 0], file).T
                    before = file["samples/energy"][...]
                    acceptance = file["summary/acceptance"][...]
                exchanges = np.isclose(after[:, :-1], before[:, 1:], atol=1e-7, rtol=0)
                self.assertEqual(np.isnan(acceptance).sum(), 3)
                self.assertGreater(np.nansum(acceptance), 0.2)
                np.testing.assert_allclose(exchanges.sum(axis=0)[:4] / 50, np.nan_to_num(acceptance[:4]))
                expected = before.copy()
                for s, t in zip(*np.nonzero(exchanges)):
                    expected[s, [t, t + 1]] = before[s, [t + 1, t]]
                np.testing.assert_allclose(after, expected, atol=1e-13)

    def test_chosen_temperatures(self):
        algorithm = f"pt, {self.BETA}, samples: 9, sweeps: 40, configurations: {{every: 20}}"
        path = self.simulate(BIMODAL, algorithm)
        chosen = self.simulate(BIMODAL, algorithm.replace("20}", "20, temperatures: [0, 3, 4]}"))
        sweeps, spins = reader.configurations(path)
        self.assertEqual(spins.shape, (2, 5, 2, 9, 2, 6, 4))
        np.testing.assert_array_equal(reader.configurations(chosen)[1], spins[:, [0, 3, 4]])
        for name in path, chosen:
            found, coldest = reader.configurations(name, temperature=4)
            np.testing.assert_array_equal(found, sweeps)
            np.testing.assert_array_equal(coldest, spins[:, 4:])
        np.testing.assert_array_equal(reader.configurations(chosen, sweep=40, temperature=3)[1],
                                      spins[1:, 3:4])
        with self.assertRaisesRegex(reader.ResultError, "no configurations of temperature 1"):
            reader.configurations(chosen, temperature=1)

    def test_change_no_number(self):
        algorithm = f"pt, {self.BETA}, samples: 9, sweeps: 640"
        self.assert_same_summary(self.simulate(BIMODAL, algorithm + ", configurations: {every: 10}"),
                                 self.simulate(BIMODAL, algorithm))

    def test_of_a_stopped_run(self):
        """The working file has complete times; incomplete ones are left out."""
        path = self.simulate(BIMODAL, f"pt, {self.BETA}, samples: 9, sweeps: 40, configurations: {{every: 20}}")
        _, spins = reader.configurations(path)
        with edited(path) as file:
            for item in file["configurations"].values():
                item.resize(2 * 5 * 2 * 9 - 1, axis=0)
        sweeps, whole = reader.configurations(path)
        self.assertEqual(list(sweeps), [20])
        np.testing.assert_array_equal(whole, spins[:1])


class PopulationAnnealing(Written):
    def anneal(self, model=BIMODAL, beta="{to: 1, step: 0.1}", **keys):
        keys = dict(dict(population=500, sweeps=3, beta=beta, runs=3), **keys)
        return self.simulate(model, "pa, " + ", ".join(f"{key}: {value}" for key, value in keys.items()))

    def check_populations(self, path, steps):
        """Each is a measured one: sizes, mean energies and families match the row of its run."""
        betas, spins, families = reader.configurations(path)
        with h5py.File(path) as file:
            runs = [{name: item[...] for name, item in file[f"runs/{m:04d}"].items() if name != "blocks"}
                    for m in range(3)]
            self.assertEqual([len(of_step) for of_step in spins + families], 2 * len(steps) * [3])
            for k, row in enumerate(steps):
                for run, replicas, family in zip(runs, spins[k], families[k]):
                    self.assertEqual(betas[k], run["beta"][row])
                    self.assertEqual(len(replicas), run["population"][row])
                    found = energies(replicas, file)
                    self.assertAlmostEqual(found.mean(), run["energy"][row], delta=1e-12)
                    self.assertAlmostEqual(found.min(), run["lowest_energy"][row], delta=1e-12)
                    self.assertEqual((found < found.min() + 1e-12).sum(), run["lowest_energy_replicas"][row])
                    self.assertEqual(len(set(family)), run["families"][row])
                    size = np.unique(family, return_counts=True)[1] / len(family)
                    self.assertAlmostEqual(len(family) * (size ** 2).sum() / run["rho_t"][row], 1, delta=1e-12)
                    if row > 0:
                        self.assertGreater(abs(found.mean() - run["energy"][row - 1]), 1e-3)
            self.assertEqual(len(file["configurations/bytes"]), sum(len(x) for of_step in spins for x in of_step))
        return betas, spins, families

    def test_populations(self):
        """For equal steps and for a list, and all kinds of couplings; rows begin with that of beta = 0."""
        for model in BIMODAL, GAUSSIAN, SQUARE:
            for moments, steps in (("{every: 4}", [4, 8, 10]), ("{betas: [0, 0.3, 0.7, 1]}", [0, 3, 7, 10]),
                                   ("{every: 100}", [10])):
                with self.subTest(model, moments=moments):
                    self.check_populations(self.anneal(model, configurations=moments), steps)
        path = self.anneal(beta="{to: 1, values: [0.3, 0.7, 1]}", configurations="{betas: [0.7]}",
                           resampling="systematic")
        betas, spins, _ = self.check_populations(path, [2])
        self.assertEqual(betas, [0.7])
        self.assertEqual([len(replicas) for replicas in spins[0]], 3 * [500])

    def test_other_samples_begin_otherwise(self):
        """Otherwise averages over samples would share the fluctuations of their random numbers."""
        first = [reader.configurations(self.anneal(f"name: ea, shape: [4, 6, 2], sample: {sample}",
                                                         configurations="{betas: [0]}"))[1][0][0]
                 for sample in (0, 1)]
        agree = (first[0] == first[1]).mean()
        self.assertLess(abs(agree - 0.5), 4 * 0.5 / first[0].size ** 0.5)

    def test_adaptive_steps(self):
        """The first temperatures that are not below the requested ones, one if two coincide, and the last."""
        path = self.anneal(beta="{to: 1, overlap: 0.8}", configurations="{betas: [0.5, 0.5001, 0.8, 1]}")
        with h5py.File(path) as file:
            steps = [int(np.argmax(file["runs/0000/beta"][:] >= beta)) for beta in (0.5, 0.8, 1)]
        self.assertEqual(len(set(steps)), 3)
        betas, _, _ = self.check_populations(path, steps)
        self.assertGreater(betas[0], 0.5001)
        self.assertEqual(betas[-1], 1)
        path = self.anneal(beta="{to: 1, overlap: 0.8}", configurations="{every: 3}")
        with h5py.File(path) as file:
            last = len(file["runs/0000/beta"]) - 1
        self.check_populations(path, sorted({*range(3, last + 1, 3), last}))

    def test_more_than_go_together(self):
        """Replicas come from the device in blocks of 16 MiB, 2048 replicas here."""
        path = self.anneal("name: ea, shape: [256, 256], write_couplings: true", population=2200, sweeps=1,
                           beta="{to: 0.01, step: 0.01}", configurations="{every: 1}", runs=2)
        with h5py.File(path) as file:
            for m in range(2):
                _, spins, _ = reader.configurations(path, run=m, beta=0.01)
                self.assertEqual(len(spins[0][0]), file[f"runs/{m:04d}/population"][1])
                found = np.concatenate([energies(part, file) for part in np.array_split(spins[0][0], 50)])
                self.assertEqual(len({replica.tobytes() for replica in spins[0][0][2040:2060]}), 20)
                self.assertAlmostEqual(found.mean(), file[f"runs/{m:04d}/energy"][1], delta=1e-12)

    def test_a_part_of_the_file(self):
        path = self.anneal(configurations="{betas: [0.3, 1]}")
        betas, spins, families = reader.configurations(path)
        some, chosen, labels = reader.configurations(path, beta=0.3, run=2)
        self.assertEqual(list(some), [betas[0]])
        np.testing.assert_array_equal(chosen[0][0], spins[0][2])
        np.testing.assert_array_equal(labels[0][0], families[0][2])
        with self.assertRaisesRegex(reader.ResultError, "no configurations of beta 0.4 and run 1"):
            reader.configurations(path, beta=0.4, run=1)
        with self.assertRaisesRegex(reader.ResultError, "chosen by beta and run"):
            reader.configurations(path, sweep=10)

    def test_of_a_stopped_run(self):
        path = self.anneal(configurations="{betas: [0.3, 1]}")
        _, spins, _ = reader.configurations(path)
        with edited(path) as file:
            file.attrs["complete"] = 0
            rows = len(file["configurations/bytes"])
            for item in file["configurations"].values():
                item.resize(rows - 1, axis=0)
        betas, whole, _ = reader.configurations(path)
        self.assertEqual([len(of_step) for of_step in whole], [3, 2])
        np.testing.assert_array_equal(whole[1][1], spins[1][1])

    def test_change_no_number(self):
        self.assert_same_summary(self.anneal(configurations="{every: 2}"), self.anneal())


if __name__ == "__main__":
    device.require()
    cases.main()

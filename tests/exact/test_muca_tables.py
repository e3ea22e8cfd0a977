"""Multicanonical sampling with several tables of weights: overlapping windows, and samples of the disorder.

Windows: ln Omega of 8 x 8 in three windows against Beale's numbers, in SEEDS runs. Null: joined, it has the reported
errors, 19/17 as the mean of (deviation/error)^2 over levels and runs. Bound: between LEAST and MOST, five standard
errors of the mean of runs whose own has a standard deviation of 0.5 (40 other seeds: 0.94 on average). Control: errors
wrong by a factor of two. Every run is trusted, which it would not be if a join had a tilt.

Samples: twelve of the 4 x 4 glass, ln Omega of each against all of its states as in test_muca_small; averages over them
are those of the exact curves within the errors of the single ones, and their errors the scatter of the exact curves.
Control: numbers of another sample. A sample is the same, bit for bit, whichever other samples there are. Seeds are
fixed; bounds were set before these runs.

CTest: release (cli_test_configs, resume_test_resume_muca, unit_test_muca_join), cases 4 s
"""
import math
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, enumeration, gpumc_program as gpumc, splitmix_couplings  # noqa: E402

SEEDS, LEAST, MOST = 20, 0.5, 1.7
SHAPE, SITES, SAMPLES = (4, 4), 16, 12
LIMIT = 6.0

CONFIG = """\
gpumc: 1
seed: {seed}
model: {model}
algorithm: {{name: muca, walkers: 640, {keys}}}
output: {output}
"""
WINDOWS = "windows: {count: 3, overlap: 0.4}, iteration: {divergence: 1e-3}, beta: {from: 0, to: 1, step: 0.5}"


def run_muca(folder, model, keys, seed=1):
    output = pathlib.Path(folder) / "run.h5"
    gpumc.run_config(CONFIG.format(seed=seed, model=model, keys=keys, output=output), folder, "--fresh")
    return output


class Windows(unittest.TestCase):
    def test_joined_density_of_states(self):
        exact = np.array([math.log(count) for count in gpumc.exact().density_of_states(8, 8) if count > 0])
        squares, tilts = [], []
        with gpumc.folder() as folder:
            for seed in range(1, SEEDS + 1):
                with h5py.File(run_muca(folder, "{name: ising2d, shape: [8, 8]}", WINDOWS, seed)) as file:
                    found = file["summary"]
                    self.assertEqual(found.attrs["trusted"], 1)
                    self.assertAlmostEqual(np.logaddexp.reduce(found["log_dos"][:]), 64 * math.log(2), places=9)
                    squares.append(((found["log_dos"][:] - exact) / found["log_dos_error"][:])**2)
                    windows = {name: found["windows"][name][:] for name in found["windows"]}
                    tilts += list((windows["tilt"] / windows["tilt_error"])[1:])
        self.assertEqual(len(windows["from"]), 3)
        self.assertEqual((windows["from"][0], windows["to"][2]), (-128, 128))
        self.assertTrue((windows["from"][1:] < windows["to"][:-1]).all())
        mean = np.mean(squares)
        print(f"mean square {mean:.3f}, of tilts {np.mean(np.square(tilts)):.3f}")
        self.assertTrue(LEAST < mean < MOST, mean)
        for factor in (0.5, 2):
            self.assertFalse(LEAST < mean / factor**2 < MOST, factor)

    def test_part_of_the_range(self):
        """Two windows of a range that walkers have to get into."""
        exact = gpumc.exact().density_of_states(8, 8)
        keys = ("range: {from: -1.8, to: -0.2}, windows: {count: 2, overlap: 0.5}, iteration: {divergence: 1e-3}, "
                "beta: {from: 0.1, to: 0.3, step: 0.1}")
        with gpumc.folder() as folder:
            with h5py.File(run_muca(folder, "{name: ising2d, shape: [8, 8]}", keys)) as file:
                found = {name: file["summary"][name][:] for name in ("level_energy", "log_dos", "log_dos_error")}
        value = np.arange(-128, 129, 4)
        inside = np.isin(value, found["level_energy"])
        self.assertEqual((found["level_energy"][0], found["level_energy"][-1]), (-112, -16))
        part = np.array([math.log(count) for count in np.array(exact, dtype=object)[inside]])
        part -= np.logaddexp.reduce(part)
        for tilt, good in ((0, True), (0.2, False)):
            tilted = part + np.linspace(-tilt, tilt, len(part))
            square = (((found["log_dos"] - tilted) / found["log_dos_error"])**2).mean()
            self.assertEqual(square < LIMIT, good, square)

    def test_few_walkers_that_do_not_get_far(self):
        """Windows whose common levels contain no walker of a neighbour begin all the same; results are not trusted."""
        keys = "windows: {count: 6, overlap: 0.1}, iteration: {maximum: 3}, production: {updates: 1000, measurements: 100}"
        with gpumc.folder() as folder:
            output = pathlib.Path(folder) / "run.h5"
            text = CONFIG.format(seed=1, model="{name: ising2d, shape: [16, 16]}", keys=keys, output=output)
            gpumc.run_config(text.replace("640", "24"), folder)
            with h5py.File(output) as file:
                self.assertEqual(file["summary"].attrs["trusted"], 0)
                self.assertEqual(file["summary/windows/iterations"][:].tolist(), [3] * 6)

    def test_mistakes(self):
        for keys, part in (("windows: {count: 60}", "60 windows have"), ("windows: {count: 0}", "windows.count"),
                           ("windows: {count: 2, overlap: 1}", "overlap")):
            with gpumc.folder() as folder:
                text = CONFIG.format(seed=1, model="{name: ising2d, shape: [8, 8]}", keys=keys, output="run.h5")
                self.assertIn(part, gpumc.run_config(text, folder, expect=2).stderr)


class Samples(unittest.TestCase):
    def run_samples(self, folder, samples, keys="", first=0):
        seeds = range(1, SAMPLES + 2)
        path = pathlib.Path(folder) / "couplings.txt"
        path.write_text(splitmix_couplings.text_file(SHAPE, seeds))
        model = f"{{name: ea, shape: [4, 4], couplings: file, file: {path}, sample: {first}}}"
        return run_muca(folder, model, f"samples: {samples}, {keys} beta: {{from: 0, to: 2, step: 0.25}}")

    def couplings(self, sample):
        return np.array(splitmix_couplings.couplings(SHAPE, 1 + sample), dtype=float).reshape(SITES, 2)

    def levels(self, sample):
        energies = enumeration.energies(SHAPE, self.couplings(sample), np.zeros(SITES))
        value, count = np.unique(np.rint(energies).astype(int), return_counts=True)
        return value, np.log(count)

    def curves(self, sample, betas):
        """Exact ones, including the specific heat."""
        curves = enumeration.averages(SHAPE, self.couplings(sample), np.zeros(SITES), betas)
        value, log_dos = self.levels(sample)
        weight = log_dos - betas[:, None] * value
        weight = np.exp(weight - weight.max(axis=1, keepdims=True))
        weight /= weight.sum(axis=1, keepdims=True)
        square = weight @ value**2 - (weight @ value)**2
        return {**curves, "specific_heat": betas**2 * square / SITES}

    def mean_square(self, found, sample):
        """Compares the s-th row of /samples with another sample's numbers; infinite if levels differ."""
        value, log_dos = self.levels(sample)
        known = ~np.isnan(found["log_dos"])
        if found["level_energy"][known].astype(int).tolist() != value.tolist():
            return math.inf
        return (((found["log_dos"][known] - log_dos) / found["log_dos_error"][known])**2).mean()

    def test_every_sample_and_the_average(self):
        with gpumc.folder() as folder:
            with h5py.File(self.run_samples(folder, SAMPLES)) as file:
                samples = {name: file["samples"][name][:] for name in file["samples"]}
                summary = {name: file["summary"][name][:] for name in file["summary"]}
                said = dict(file["summary"].attrs)
        self.assertEqual({name for name in said if name.endswith("warning")}, {"samples_warning"})  # m^4
        self.assertIn("dominate the average of the", said["samples_warning"].decode())
        self.assertEqual(samples["sample"].tolist(), list(range(SAMPLES)))
        wrong = 0
        for s in range(SAMPLES):
            row = {"level_energy": samples["level_energy"], "log_dos": samples["log_dos"][s],
                   "log_dos_error": samples["log_dos_error"][s]}
            self.assertLess(self.mean_square(row, s), LIMIT, s)
            wrong += self.mean_square(row, (s + 1) % SAMPLES) > LIMIT
        self.assertGreater(wrong, SAMPLES / 2)
        exact = [self.curves(s, summary["beta"]) for s in range(SAMPLES)]
        freedom = SAMPLES - 1
        for name in ("energy", "specific_heat", "abs_magnetization", "beta_free_energy"):
            curves = np.array([of_sample[name] for of_sample in exact])
            z = (samples[name] - curves)[:, 1:] / samples[name + "_error"][:, 1:]
            self.assertLess(np.abs(z).max(), 6, name)
            error = np.sqrt((samples[name + "_error"]**2).sum(axis=0)) / SAMPLES
            z = (summary[name] - curves.mean(axis=0))[1:] / error[1:]
            self.assertLess(np.abs(z).max(), 5, name)
            self.assertGreater(np.abs((summary[name] - curves[0])[1:] / error[1:]).max(), 5, name)
            scatter = curves.std(axis=0, ddof=1) / math.sqrt(SAMPLES)
            ratio = summary[name + "_error"][1:] / scatter[1:]
            self.assertTrue((ratio > 0.9).all() and (ratio < 2 * math.sqrt(freedom / (freedom - 2))).all(),
                            f"{name}: {ratio}")

    def test_samples_do_not_depend_on_each_other(self):
        names = ("log_dos", "log_dos_error", "energy", "round_trips", "checksum")
        with gpumc.folder() as folder:
            rows = []
            for samples in (5, 3):
                with h5py.File(self.run_samples(folder, samples)) as file:
                    rows.append({name: file["samples"][name][:3] for name in names})
                    said = str(file["summary"].attrs["samples_warning"])
                    self.assertEqual(file["summary"].attrs["trusted"], 0)
                self.assertIn(f"{samples} samples are rough", said)
            for name in names:
                np.testing.assert_array_equal(rows[0][name], rows[1][name], name)
            with h5py.File(self.run_samples(folder, 3, first=1)) as file:
                self.assertEqual(file["samples/checksum"][:2].tolist(), rows[0]["checksum"][1:].tolist())
                self.assertFalse(np.array_equal(file["samples/log_dos"][:2], rows[0]["log_dos"][1:], equal_nan=True))

    def test_samples_in_windows(self):
        keys = "range: {from: -1.5, to: 1.5}, windows: {count: 2, overlap: 0.5}, "
        text = CONFIG.format(seed=1, model="{name: ea, shape: [6, 6], disorder_seed: 4}", output="run.h5",
                             keys=keys + "samples: 2, iteration: {divergence: 1e-3}")
        with gpumc.folder() as folder:
            output = pathlib.Path(folder) / "run.h5"
            gpumc.run_config(text.replace("run.h5", str(output)), folder)
            with h5py.File(output) as file:
                joined = file["samples/log_dos"][:], file["samples/log_dos_error"][:]
            gpumc.run_config(text.replace("run.h5", str(output)).replace("windows: {count: 2, overlap: 0.5}, ", ""),
                             folder, "--fresh")
            with h5py.File(output) as file:
                whole = file["samples/log_dos"][:], file["samples/log_dos_error"][:]
        for other, good in ((whole, True), ([part[::-1] for part in whole], False)):
            known = joined[1] > 0
            square = (joined[0] - other[0])[known]**2 / (joined[1]**2 + other[1]**2)[known]
            self.assertEqual(np.mean(square) < LIMIT, good, np.mean(square))

    def test_models_without_disorder_have_none(self):
        with gpumc.folder() as folder:
            text = CONFIG.format(seed=1, model="{name: ising2d, shape: [8, 8]}", keys="samples: 2", output="run.h5")
            self.assertIn("no quenched disorder", gpumc.run_config(text, folder, expect=2).stderr)


if __name__ == "__main__":
    device.require()
    cases.main()

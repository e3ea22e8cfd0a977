"""Levels of multicanonical sampling with fields, couplings of several sizes, and couplings of 0: wherever couplings and
fields have a common unit the file has the exact energies, ln Omega of each and what follows from it; elsewhere it has bins,
with their width and the mean energy of the states in each. All states are enumerated, energies as exact fractions.

Null: as in test_muca_small.py. Mean squares of ln Omega are below LIMIT but for one run in a thousand; curves are within five
errors. Means of bins are within five errors, or within the rounding where all states of a bin have one energy. Negative
controls: a density of states that is tilted by 0.2 over its range, other temperatures, and the middles of bins in place of their means.

CTest: release (unit_test_multiples, resume_test_resume_muca), cases 4 s
"""
import fractions
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, enumeration, gpumc_program as gpumc  # noqa: E402

LIMIT = 6.0
CONFIG = """\
gpumc: 1
seed: {seed}
model: {model}
algorithm: {{name: {algorithm}, {keys}}}
output: {output}
"""
GRID = "walkers: 640, beta: {from: 0, to: 1, step: 0.25}, iteration: {divergence: 1e-3, thermalization: 8}"
MUCA = GRID + ", production: {updates: 4000, measurements: 500}"
OPEN = "1 0.5 1.5 0 1 1 0 1 0 0 1 1 1 0 1 0 1 1 0 0 1 1 0 1 1 1 0.5 0 1 0 1 0".split()
TENTHS = "0.1 -0.2 0.3 0.7 0 0.1 -1.1 0.4 0.1 0.1 -0.3 0.2 0.5 0.6 -0.7 0.8".split()


def decimal_energies(shape, couplings, fields):
    """Energies of all states, [2^N] integers, and their unit: of couplings and fields given as text or numbers."""
    terms = [fractions.Fraction(str(x)) for x in [*np.ravel(couplings), *fields]]
    parts = np.lcm.reduce([term.denominator for term in terms])
    whole = np.array([int(term * int(parts)) for term in terms], dtype=float)
    bonds = len(whole) - len(fields)
    energies = enumeration.energies(shape, whole[:bonds].reshape(-1, len(shape)), whole[bonds:])
    return np.rint(energies).astype(int), int(parts)


def curves(energies, betas):
    sites = int(np.log2(len(energies)))
    found = {"energy": [], "specific_heat": [], "beta_free_energy": []}
    for beta in betas:
        weight = np.exp(-beta * (energies - energies.min()))
        total = weight.sum()
        mean = weight @ energies / total
        found["energy"].append(mean / sites)
        found["specific_heat"].append(beta**2 * (weight @ (energies - mean)**2) / total / sites)
        found["beta_free_energy"].append((beta * energies.min() - np.log(total)) / sites)
    return {name: np.array(curve) for name, curve in found.items()}


def text_file(folder, shape, couplings, fields=None):
    """Writes samples of couplings, [samples][bonds], and fields; returns the path."""
    lines = ["shape " + " ".join(map(str, shape))]
    for s, sample in enumerate(couplings):
        lines += ["couplings " + " ".join(sample)] + (["fields " + " ".join(fields[s])] if fields else [])
    path = pathlib.Path(folder) / "couplings.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


class Case(unittest.TestCase):
    def run_it(self, folder, model, keys=MUCA, algorithm="muca", seed=1):
        output = pathlib.Path(folder) / "run.h5"
        gpumc.run_config(CONFIG.format(seed=seed, model=model, algorithm=algorithm, keys=keys, output=output), folder, "--fresh")
        with h5py.File(output) as file:
            self.said = dict(file["summary"].attrs)
        return gpumc.summary(output)

    def check_log_dos(self, found, expected, errors=None):
        errors = found["log_dos_error"] if errors is None else errors
        def square(of):
            return (((found["log_dos"] - of) / errors)**2).mean()
        self.assertLess(square(expected), LIMIT)
        self.assertGreater(square(expected + np.linspace(-0.2, 0.2, len(expected))), LIMIT)

    def check_curves(self, found, energies):
        def farthest(shift):
            exact = curves(energies, found["beta"] + shift)
            return max(np.abs((found[name] - curve) / np.maximum(found[name + "_error"], 1e-12))[1:].max() for name, curve in exact.items())
        self.assertLess(farthest(0), 5)
        self.assertGreater(farthest(0.05), 5)

    def check_levels(self, found, energies, parts, log_dos=None):
        """Every level that exists, to the last digit, and nothing else."""
        value, count = np.unique(energies, return_counts=True)
        self.assertEqual(found["level_energy"].tolist(), (value / parts).tolist())
        self.check_log_dos(found, np.log(count))
        self.assertAlmostEqual(np.logaddexp.reduce(found["log_dos"]), np.log(len(energies)), places=9)
        self.check_curves(found, energies / parts)
        self.assertEqual(self.said["trusted"], 1)
        self.assertEqual([name for name in self.said if "warning" in name], [])

    def check_uniform(self, name, shape, coupling, field, keys=MUCA):
        sites = int(np.prod(shape))
        energies, parts = decimal_energies(shape, [[coupling] * len(shape)] * sites, [field] * sites)
        with gpumc.folder() as folder:
            found = self.run_it(folder, f"{{name: {name}, shape: {list(shape)}, J: {coupling}, h: {field}}}", keys)
        self.check_levels(found, energies, parts)
        return found


class Fields(Case):
    def test_uniform_fields(self):
        for shape, coupling, field, ground in (((2, 4), 1, 0.5, -20), ((2, 4), 1, 1, -24), ((2, 4), 1, 2, -32),
                                               ((2, 4), 1, 0.1, -16.8), ((2, 4), 0.7, -0.35, -14), ((4, 4), 0.5, 0.3, -20.8)):
            with self.subTest(shape, J=coupling, h=field):
                found = self.check_uniform("ising2d", shape, coupling, field)
                self.assertEqual(found["level_energy"][0], ground)

    def test_three_dimensions_and_windows(self):
        self.check_uniform("ising3d", (2, 2, 4), 1, 0.25)
        self.check_uniform("ising2d", (4, 4), 1, 0.5, MUCA + ", windows: {count: 2}")

    def test_files(self):
        """Open edges, dilution, sizes that are multiples of each other, fields of each site."""
        fields = "0.5 0 -1 1.5 0.25 0 1 -0.5 0.5 0 -1 1.5 0.25 0 1 -0.5".split()
        for shape, couplings, of_sites in (((4, 4), OPEN, None), ((2, 4), TENTHS, None), ((4, 4), OPEN, fields),
                                           ((4, 4), ["0"] * 32, fields), ((4, 4), ["0.3", "-0.3"] * 16, None)):
            energies, parts = decimal_energies(shape, couplings, of_sites or [0] * int(np.prod(shape)))
            with self.subTest(couplings=couplings[:6], fields=of_sites is not None), gpumc.folder() as folder:
                path = text_file(folder, shape, [couplings], of_sites and [of_sites])
                found = self.run_it(folder, f"{{name: ea, shape: {list(shape)}, couplings: file, file: {path}}}")
                self.check_levels(found, energies, parts)

    def test_drawn_samples(self):
        """Bimodal couplings and random fields, alone and with a uniform one."""
        for model in ("ea, shape: [4, 4], p: 1, random_field: {distribution: bimodal, width: 0.3}",
                      "ea, shape: [4, 4], h: 0.25",
                      "ea, shape: [4, 4], h: 0.1, random_field: {distribution: bimodal, width: 0.5}"):
            with self.subTest(model), gpumc.folder() as folder:
                found = self.run_it(folder, f"{{name: {model}, disorder_seed: 5, write_couplings: true}}")
                with h5py.File(pathlib.Path(folder) / "run.h5") as file:
                    couplings = file["disorder/couplings"][0].round(6)
                    fields = np.zeros(16) if "fields" not in file["disorder"] else file["disorder/fields"][0].round(6)
                uniform = 0.25 if "0.25" in model else 0.1 if "h: 0.1" in model else 0
                energies, parts = decimal_energies((4, 4), couplings, (fields + uniform).round(6))
                self.check_levels(found, energies, parts)

    def test_samples_of_different_parity(self):
        """Levels of all samples of a file, of which each has every other one."""
        other = ["1" if x == "0" else x for x in OPEN[:5]] + OPEN[5:]
        exact = [decimal_energies((4, 4), couplings, [0] * 16) for couplings in (OPEN, other)]
        with gpumc.folder() as folder:
            path = text_file(folder, (4, 4), [OPEN, other])
            self.run_it(folder, f"{{name: ea, shape: [4, 4], couplings: file, file: {path}}}", MUCA + ", samples: 2")
            samples = gpumc.summary(pathlib.Path(folder) / "run.h5", "samples")
        for s, (energies, parts) in enumerate(exact):
            value, count = np.unique(energies, return_counts=True)
            known = np.isfinite(samples["log_dos"][s])
            self.assertEqual(samples["level_energy"][known].tolist(), (value / parts).tolist())
            self.check_log_dos({"log_dos": samples["log_dos"][s][known]}, np.log(count), samples["log_dos_error"][s][known])

    def check_bins(self, found, energies):
        """Bins hold the states of their range, at the mean energy that is measured."""
        middle, width = found["energy_bin"], found["energy_bin_width"]
        self.assertNotIn("level_energy", found)
        place = [np.abs(energies - m) < 0.5 * w + 1e-9 for m, w in zip(middle, width)]
        self.assertEqual(sum(map(np.sum, place)), len(energies))
        self.check_log_dos(found, np.log([np.sum(where) for where in place]))
        exact = np.array([energies[where].mean() for where in place])
        spread = np.array([np.ptp(energies[where]) for where in place])
        errors = np.where(spread > 1e-6, found["energy_bin_mean_error"], 1e-6)  # nothing fluctuates in a single level
        known = np.isfinite(found["energy_bin_mean"] + errors)
        self.assertGreater(known.mean(), 0.9)
        self.assertLess(np.abs((found["energy_bin_mean"] - exact) / errors)[known].max(), 5)
        self.assertGreater(np.abs((middle - exact) / errors)[known].max(), 5)

    def test_bins(self):
        """Of Gaussian couplings, of a spectrum with too many levels, and of several levels each."""
        gaussian = [f"{x:.17g}" for x in np.random.default_rng(3).standard_normal(32)]
        of_file = enumeration.energies((4, 4), np.array(gaussian, dtype=float).reshape(16, 2), np.zeros(16))
        keys = GRID + ", production: {updates: 8000, measurements: 1000}"
        with gpumc.folder() as folder:
            path = text_file(folder, (4, 4), [gaussian])
            found = self.run_it(folder, f"{{name: ea, shape: [4, 4], couplings: file, file: {path}}}", keys + ", bin: 0.5")
            self.check_bins(found, of_file)
            self.check_curves(found, of_file)
            for field, width in ((0.123457, 0.5), (0.5, 2)):
                energies = enumeration.energies((4, 4), np.ones((16, 2)), np.full(16, field))
                found = self.run_it(folder, f"{{name: ising2d, shape: [4, 4], h: {field}}}", keys + f", bin: {width}")
                self.check_bins(found, energies)

    def test_bins_of_samples(self):
        with gpumc.folder() as folder:
            self.run_it(folder, "{name: ea, shape: [2, 4], couplings: gaussian, write_couplings: true}",
                        GRID + ", bin: 1, samples: 2, production: {updates: 8000, measurements: 1000}")
            samples = gpumc.summary(pathlib.Path(folder) / "run.h5", "samples")
            with h5py.File(pathlib.Path(folder) / "run.h5") as file:
                couplings = file["disorder/couplings"][:]
        for s in range(2):
            of_sample = {name: values[s] if values.ndim == 2 else values for name, values in samples.items()
                         if name.startswith(("energy_bin", "log_dos"))}
            known = np.isfinite(of_sample["log_dos"])
            found = {name: values[known] for name, values in of_sample.items()}
            self.check_bins(found, enumeration.energies((2, 4), couplings[s], np.zeros(8)))

    def test_ranges_that_cut_off_a_gap(self):
        """The ground state lies 9 below all others, and the range ends between: where it counts there are no averages."""
        energies, parts = decimal_energies((4, 4), [["1", "1"]] * 16, ["0.5"] * 16)
        with gpumc.folder() as folder:
            found = self.run_it(folder, "{name: ising2d, shape: [4, 4], h: 0.5}", MUCA + ", range: {from: -2.3, to: 3}")
        self.assertEqual(found["level_energy"][0], -31)
        self.assertIn("range_warning", self.said)
        weight = np.exp(-found["beta"][:, None] * (energies / parts + 40))
        share = weight[:, energies == -40 * parts].sum(axis=1) / weight.sum(axis=1)
        self.assertTrue((share[2:] > 0.01).all())
        self.assertTrue(np.isnan(found["energy"][share > 0.01]).all())

    def test_reweighted_populations(self):
        """Population annealing reweights histograms of the same levels."""
        energies, parts = decimal_energies((4, 4), [[1, 1]] * 16, ["0.3"] * 16)
        with gpumc.folder() as folder:
            found = self.run_it(folder, "{name: ising2d, shape: [4, 4], h: 0.3}", algorithm="pa", keys=(
                "population: 10000, sweeps: 10, beta: {from: 0, to: 0.5, step: 0.05}, reweight: {from: 0.05, to: 0.5, step: 0.15}"))
            reweighted = gpumc.summary(pathlib.Path(folder) / "run.h5", "summary/reweighted")
        self.assertEqual(len(found["beta"]), 11)
        self.check_curves(reweighted, energies / parts)
        value, count = np.unique(energies, return_counts=True)
        log_dos = dict(zip(value, np.log(count)))
        place = np.rint(reweighted["level_energy"] * parts).astype(int)
        np.testing.assert_allclose(reweighted["level_energy"], place / parts, atol=1e-12)
        exact, known = np.array([log_dos[k] for k in place]), reweighted["log_dos_error"] > 0
        self.assertLess(np.abs((reweighted["log_dos"] - exact) / reweighted["log_dos_error"])[known].max(), 6)


class FreeSpins(Case):
    """Couplings that are all 0."""

    def runs(self, folder, more, algorithm, keys):
        path = text_file(folder, (4, 4), [["0"] * 32])
        return self.run_it(folder, f"{{name: ea, shape: [4, 4], couplings: file, file: {path}{more}}}", keys, algorithm)

    def test_in_a_field(self):
        for algorithm, keys in (("canonical", "beta: {values: [0.5, 1]}, sweeps: 4000, replicas: 8"),
                                ("pt", "beta: {values: [0.5, 1]}, samples: 1, sweeps: 4096"),
                                ("pa", "population: 4000, beta: {from: 0, to: 1, step: 0.25}")):
            with self.subTest(algorithm), gpumc.folder() as folder:
                found = self.runs(folder, ", h: 0.5", algorithm, keys)
                exact = -0.5 * np.tanh(0.5 * found["beta"])
                hot = found["beta"] > 0
                self.assertLess(np.abs((found["energy"] - exact) / found["energy_error"])[hot].max(), 5)

    def test_without_a_field(self):
        """Every state has energy 0; muca says that it cannot be used."""
        for algorithm, keys in (("canonical", "beta: {values: [0.5, 1]}, sweeps: 4000, replicas: 8"),
                                ("pt", "beta: {values: [0.5, 1]}, samples: 1, sweeps: 4096"),
                                ("pa", "population: 4000, beta: {from: 0, to: 1, step: 0.25}")):
            with self.subTest(algorithm), gpumc.folder() as folder:
                found = self.runs(folder, "", algorithm, keys)
                self.assertEqual(found["energy"].tolist(), [0.0] * len(found["beta"]))
        with gpumc.folder() as folder:
            path = text_file(folder, (4, 4), [["0"] * 32])
            done = gpumc.run_config(CONFIG.format(seed=1, model=f"{{name: ea, shape: [4, 4], couplings: file, file: {path}}}",
                                                  algorithm="muca", keys="walkers: 64", output="x.h5"), folder, expect=2)
            self.assertIn("without couplings and fields every state has the same energy, 0", done.stderr)


if __name__ == "__main__":
    device.require()
    cases.main()

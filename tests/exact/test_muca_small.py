"""Multicanonical sampling of systems whose states can be counted: the density of states and results derived from it, in
energies, in bins of them and in the magnetization, in ranges, with 24 and with 500,000 walkers; lattices of 4^3 with
exact values by transfer matrix.

Null: ln Omega has the reported errors. Deviations over the levels of a run are correlated, so a run is judged by their
mean square, which is below LIMIT except for one run in a thousand or fewer (of a hundred seeds of the square the
largest was 3.0). Curves are within five errors, which have 31 degrees of freedom or more: four curves with at most ten
independent points each fail in one run of a thousand. Seeds are fixed; bounds were set before these runs.

Negative controls: a density of states that is wrong by a tenth of a logarithm over its range; another field, and other
temperatures; bins read at their centres.

CTest: release (cli_test_configs, exact_test_muca_start, resume_test_resume_muca), cases 4 s
"""
import math
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, enumeration, gpumc_program as gpumc, splitmix_couplings  # noqa: E402

LIMIT = 6.0
SHAPE, SITES = (4, 4), 16
BETA = 0.4
GLASS_SEED = 5

CONFIG = """\
gpumc: 1
seed: {seed}
model: {model}
algorithm: {{name: muca, {keys}}}
output: {output}
"""


def couplings(glass):
    if not glass:
        return np.ones((SITES, 2))
    return np.array(splitmix_couplings.couplings(SHAPE, GLASS_SEED), dtype=float).reshape(SITES, 2)


def levels_of(values, weights):
    """Distinct values with the logarithm of the weight of each."""
    value, place = np.unique(np.rint(values).astype(int), return_inverse=True)
    return value, np.log(np.bincount(place, weights=weights))


def mean_square(found, exact, errors):
    return float((((found - exact) / errors)**2).mean())


def exact_curves(energies, betas):
    """Averages over all states at these temperatures, as in a summary."""
    magnetization = np.abs(enumeration.states(SITES).sum(axis=1)) / SITES
    curves = []
    for beta in betas:
        weight = np.exp(-beta * (energies - energies.min()))
        total = weight.sum()
        mean = weight @ energies / total
        curves.append((mean / SITES, beta**2 * (weight @ (energies - mean)**2) / total / SITES,
                       weight @ magnetization / total, (beta * energies.min() - np.log(total)) / SITES))
    return dict(zip(("energy", "specific_heat", "abs_magnetization", "beta_free_energy"), np.transpose(curves)))


SMALLEST = """\
gpumc: 1
model: {{name: ising2d, shape: [8, 8]}}
algorithm: {{name: muca, walkers: 1024}}
seed: {seed}
output: {output}
"""


class Small(unittest.TestCase):
    def run_muca(self, folder, model, keys, seed=1):
        output = pathlib.Path(folder) / "run.h5"
        gpumc.run_config(CONFIG.format(seed=seed, model=model, keys=keys, output=output), folder, "--fresh")
        with h5py.File(output) as file:
            said = dict(file["summary"].attrs)
        reasons = {name for name in said if name.endswith("warning")}
        self.assertEqual(said["trusted"], not reasons)
        # Averages that a range or wide bins leave unknown speak against a result, but not against the rest of it.
        self.trusted = reasons <= {"range_warning", "bin_warning", "undetermined_warning"}
        return gpumc.summary(output)

    def check_levels(self, found, axis, value, log_dos, trusted=True):
        self.assertEqual(found[axis].astype(int).tolist(), value.tolist())
        self.assertLess(mean_square(found["log_dos"], log_dos, found["log_dos_error"]), LIMIT)
        tilted = log_dos + np.linspace(-0.1, 0.1, len(log_dos))
        self.assertGreater(mean_square(found["log_dos"], tilted, found["log_dos_error"]), LIMIT)
        self.assertEqual(self.trusted, trusted)

    def check_energies(self, model, glass, keys, trusted=True, factor=True):
        energies = enumeration.energies(SHAPE, couplings(glass), np.zeros(SITES))
        value, log_dos = levels_of(energies, np.ones(len(energies)))
        with gpumc.folder() as folder:
            found = self.run_muca(folder, model, keys + f", structure_factor: {str(factor).lower()}")
        self.check_levels(found, "level_energy", value, log_dos, trusted)
        self.assertAlmostEqual(float(np.logaddexp.reduce(found["log_dos"])), SITES * np.log(2), places=9)
        exact = enumeration.averages(SHAPE, couplings(glass), np.zeros(SITES), found["beta"])
        for name, curve in exact.items():
            if name not in found:
                self.assertIn(name, ["magnetization2"] if factor else ["magnetization2", "structure_factor"])
                continue
            errors = found[name + "_error"]
            known = errors > 0
            z = (found[name] - curve)[known] / errors[known]
            self.assertLess(np.abs(z).max(), 5, name)

    def test_square(self):
        self.check_energies("{name: ising2d, shape: [4, 4]}", False, "walkers: 1024")

    def test_smallest_configuration(self):
        """The defaults end converged and trusted, without a warning, at all existing levels; by Beale's numbers."""
        states = gpumc.exact().density_of_states(8, 8)
        value = np.arange(-128, 129, 4)[np.array(states, dtype=object) > 0]
        log_dos = np.array([math.log(count) for count in states if count > 0])
        for seed in (1, 2, 3):
            with gpumc.folder() as folder:
                output = pathlib.Path(folder) / "run.h5"
                gpumc.run_config(SMALLEST.format(seed=seed, output=output), folder)
                with h5py.File(output) as file:
                    said = dict(file["summary"].attrs)
                found = gpumc.summary(output)
            self.trusted = int(said["trusted"])
            self.assertEqual(said["converged"], 1)
            self.assertEqual([name for name in said if "warning" in name], [])
            self.assertAlmostEqual(np.logaddexp.reduce(found["log_dos"]), 64 * math.log(2), places=9)
            self.check_levels(found, "level_energy", value, log_dos)

    def test_square_by_the_plain_scheme_on_few_walkers(self):
        self.check_energies("{name: ising2d, shape: [4, 4]}", False,
                            "walkers: 24, iteration: {extrapolate: false}")

    def test_glass(self):
        with gpumc.folder() as folder:
            path = pathlib.Path(folder) / "couplings.txt"
            path.write_text(splitmix_couplings.text_file(SHAPE, [GLASS_SEED]))
            self.check_energies(f"{{name: ea, shape: [4, 4], couplings: file, file: {path}}}", True,
                                "walkers: 1024")

    def check_cube(self, model, betas, ground):
        """ln Z / N and e of a lattice of 4^3 at two temperatures, and its ground state."""
        (first, *exact_first), (last, *exact_last) = betas
        grid = f"beta: {{from: {first}, to: {last}, step: {last - first}}}"
        with gpumc.folder() as folder:
            model = model.format(folder=folder)
            for seed in (1, 2, 3):
                (pathlib.Path(folder) / f"{seed}.txt").write_text(
                    splitmix_couplings.text_file((4, 4, 4), [seed]))
            found = self.run_muca(folder, model, f"walkers: 1024, {grid}")
        self.assertTrue(self.trusted)
        self.assertEqual(found["level_energy"][0], ground)
        for t, (log_z, energy) in enumerate((exact_first, exact_last)):
            for name, exact in (("beta_free_energy", -log_z), ("energy", energy)):
                z = abs(found[name][t] - exact) / found[name + "_error"][t]
                self.assertLess(z, 4, (name, t))

    def test_cube(self):
        self.check_cube("{{name: ising3d, shape: [4, 4, 4]}}",
                        ((0.22165463, 0.78793348202032, -1.29322802048205),
                         (0.3, 0.94546461051256, -2.51507346281203)), -192)

    def test_glass_in_three_dimensions(self):
        self.check_cube("{{name: ea, shape: [4, 4, 4], couplings: file, file: '{folder}/1.txt'}}",
                        ((0.5, 1.04605038775732, -1.29637048709690),
                         (1.0, 1.80896667654758, -1.64755701573054)), -112)
        self.check_cube("{{name: ea, shape: [4, 4, 4], couplings: file, file: '{folder}/2.txt'}}",
                        ((0.5, 1.05870271767372, -1.37872890048442),
                         (1.0, 1.85290272092118, -1.69513902171966)), -114)

    def test_field_by_the_magnetization(self):
        """Weights by the magnetization at one temperature give every field."""
        fields = np.linspace(-1, 1, 21)
        energies = enumeration.energies(SHAPE, couplings(False), np.zeros(SITES))
        magnetization = enumeration.states(SITES).sum(axis=1).astype(float)
        value, log_weight = levels_of(magnetization, np.exp(-BETA * energies))
        log_weight -= np.logaddexp.reduce(log_weight)
        with gpumc.folder() as folder:
            found = self.run_muca(folder, "{name: ising2d, shape: [4, 4]}",
                                  f"walkers: 1024, control: {{name: h, beta: {BETA}, from: -1, to: 1, step: 0.1}}")
        self.check_levels(found, "level_magnetization", value, log_weight)
        np.testing.assert_allclose(found["h"], fields, atol=1e-12)
        for shift, good in ((0.0, True), (0.02, False)):
            weight = np.exp(-BETA * energies + BETA * (fields[:, None] + shift) * magnetization)
            weight /= weight.sum(axis=1, keepdims=True)
            exact = weight @ magnetization / SITES
            z = np.abs((found["magnetization"] - exact) / found["magnetization_error"]).max()
            self.assertEqual(z < 5, good, z)

    def test_range(self):
        """A window of energies: the same density of states up to a constant."""
        energies = enumeration.energies(SHAPE, couplings(False), np.zeros(SITES))
        value, log_dos = levels_of(energies, np.ones(len(energies)))
        inside = (value >= -24) & (value <= 0)
        with gpumc.folder() as folder:
            found = self.run_muca(folder, "{name: ising2d, shape: [4, 4]}",
                                  "walkers: 1024, range: {from: -1.5, to: 0}")
        part = log_dos[inside] - np.logaddexp.reduce(log_dos[inside])
        self.check_levels(found, "level_energy", value[inside], part)

    def test_many_walkers(self):
        """More walkers than production needs, each with little work."""
        self.check_energies("{name: ising2d, shape: [4, 4]}", False,
                            "walkers: 500000, iteration: {thermalization: 5, divergence: 1e-3}, "
                            "production: {updates: 400, measurements: 100}", trusted=False, factor=False)

    def deviations(self, found, exact, where):
        """Returns deviations of curves at these places, in errors, by name."""
        return {name: (found[name] - curve)[where] / np.maximum(found[name + "_error"][where], 1e-12)
                for name, curve in exact.items()}

    def test_temperatures_of_a_range(self):
        """If states that were cut off have weight there are no averages; elsewhere they are right."""
        energies, top = enumeration.energies(SHAPE, couplings(False), np.zeros(SITES)), 8
        with gpumc.folder() as folder:
            found = self.run_muca(folder, "{name: ising2d, shape: [4, 4]}",
                                  f"walkers: 1024, range: {{from: -2, to: {top / SITES}}}")
            with h5py.File(pathlib.Path(folder) / "run.h5") as file:
                said = dict(file["summary"].attrs)
        self.assertIn("states outside algorithm.range contribute", str(said["range_warning"]))
        self.assertIn("undetermined (NaN)", str(said["undetermined_warning"]))
        self.assertEqual(said["trusted"], 0)
        self.assertNotIn("beta_free_energy", found)
        value, log_dos = levels_of(energies, np.ones(len(energies)))
        weight = log_dos - found["beta"][:, None] * value
        cut = weight[:, value == top][:, 0] - weight.max(axis=1) - np.log(1e-4)
        missing = np.isnan(found["energy"])
        self.assertTrue(missing[cut > 0.1].all() and not missing[cut < -0.1].any())
        self.assertTrue(missing.any() and not missing.all())
        for shift, good in ((0, True), (0.02, False)):
            exact = exact_curves(energies, found["beta"] + shift)
            del exact["beta_free_energy"]  # a range has none
            z = np.array(list(self.deviations(found, exact, ~missing).values()))
            self.assertEqual(np.abs(z).max() < 5, good, np.abs(z).max())

    def check_bins(self, model, energies, width, least):
        """Averages in bins; control: bins at their centres. At least this many temperatures have some."""
        with gpumc.folder() as folder:
            found = self.run_muca(folder, model, f"walkers: 1024, bin: {width}, "
                                  "beta: {from: 0, to: 1, step: 0.05}, iteration: {divergence: 1e-3}, "
                                  "production: {updates: 20000, measurements: 1000}")
        self.assertTrue(self.trusted)
        known = ~np.isnan(found["energy"])
        self.assertGreaterEqual(known.sum(), least)
        weight = found["log_dos"] - found["beta"][:, None] * found["energy_bin"]
        weight = np.exp(weight - weight.max(axis=1, keepdims=True))
        centred = weight @ found["energy_bin"] / weight.sum(axis=1) / SITES
        exact = exact_curves(energies, found["beta"])
        z = (centred - exact["energy"])[known] / found["energy_error"][known]
        self.assertGreater(np.abs(z).max(), 5)
        for name, z in self.deviations(found, exact, known).items():
            self.assertLess(np.abs(z).max(), 5, f"{name}: {z.round(1)} at {found['beta'][known].round(2)}")

    def test_bins_of_two_levels(self):
        energies = enumeration.energies(SHAPE, couplings(False), np.zeros(SITES))
        self.check_bins("{name: ising2d, shape: [4, 4]}", energies, 8, 2)

    def test_bins_of_gaussian_couplings(self):
        values = np.random.default_rng(3).standard_normal((SITES, 2)).round(6)
        energies = enumeration.energies(SHAPE, values, np.zeros(SITES))
        lines = [f"shape {SHAPE[0]} {SHAPE[1]}", "couplings", *(f"{a} {b}" for a, b in values)]
        with gpumc.folder() as folder:
            path = pathlib.Path(folder) / "couplings.txt"
            path.write_text("\n".join(lines) + "\n")
            self.check_bins(f"{{name: ea, shape: [4, 4], couplings: file, file: {path}}}", energies, 1, 8)


if __name__ == "__main__":
    device.require()
    cases.main()

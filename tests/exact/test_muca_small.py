"""Multicanonical sampling of systems whose states can be counted: the density of states and what follows from
it, in energies and in the magnetization; lattices of 4^3 with exact values by transfer matrix.

Null: ln Omega has the reported errors. Deviations over the levels of a run are correlated, so that a run is judged by
their mean square, which lies below LIMIT but for one run in a thousand or fewer (of a hundred seeds of the square the
largest was 3.0). Seeds are fixed; bounds were set before these runs. Negative controls: a density of states that
is wrong by a tenth of a logarithm over its range, and another field.
"""
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import device, enumeration, gpumc_program as gpumc, splitmix_couplings  # noqa: E402

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


class Small(unittest.TestCase):
    def run_muca(self, folder, model, keys, seed=1):
        output = pathlib.Path(folder) / "run.h5"
        gpumc.run_config(CONFIG.format(seed=seed, model=model, keys=keys, output=output), folder, "--fresh")
        with h5py.File(output) as file:
            self.trusted = int(file["summary"].attrs["trusted"])
        return gpumc.summary(output)

    def check_levels(self, found, axis, value, log_dos):
        self.assertEqual(found[axis].astype(int).tolist(), value.tolist())
        self.assertLess(mean_square(found["log_dos"], log_dos, found["log_dos_error"]), LIMIT)
        tilted = log_dos + np.linspace(-0.1, 0.1, len(log_dos))
        self.assertGreater(mean_square(found["log_dos"], tilted, found["log_dos_error"]), LIMIT)
        self.assertTrue(self.trusted)

    def check_energies(self, model, glass, keys):
        energies = enumeration.energies(SHAPE, couplings(glass), np.zeros(SITES))
        value, log_dos = levels_of(energies, np.ones(len(energies)))
        with gpumc.folder() as folder:
            found = self.run_muca(folder, model, keys + ", structure_factor: true")
        self.check_levels(found, "level_energy", value, log_dos)
        self.assertAlmostEqual(float(np.logaddexp.reduce(found["log_dos"])), SITES * np.log(2), places=9)
        exact = enumeration.averages(SHAPE, couplings(glass), np.zeros(SITES), found["beta"])
        for name, curve in exact.items():
            if name not in found:
                self.assertEqual(name, "magnetization2")
                continue
            errors = found[name + "_error"]
            known = errors > 0
            z = (found[name] - curve)[known] / errors[known]
            self.assertLess(np.abs(z).max(), 5, name)

    def test_square(self):
        self.check_energies("{name: ising2d, shape: [4, 4]}", False, "walkers: 1024")

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
        """A window of energies: the same density of states but for a constant."""
        energies = enumeration.energies(SHAPE, couplings(False), np.zeros(SITES))
        value, log_dos = levels_of(energies, np.ones(len(energies)))
        inside = (value >= -24) & (value <= 0)
        with gpumc.folder() as folder:
            found = self.run_muca(folder, "{name: ising2d, shape: [4, 4]}",
                                  "walkers: 1024, range: {from: -1.5, to: 0}")
        part = log_dos[inside] - np.logaddexp.reduce(log_dos[inside])
        self.check_levels(found, "level_energy", value[inside], part)


if __name__ == "__main__":
    device.require()
    unittest.main(verbosity=2)

"""Cold Heisenberg and XY spins against spin waves, whose corrections are of second order in the temperature, T = 1e-5 and
1e-6 of J: energies, magnetizations, structure factor and helicity modulus of rings, squares and cubes, in both
precisions, by all moves; with a field; with couplings of both signs that do not compete; in all algorithms.

Null: float is as exact as double. Lengths that rounding makes wrong by 1e-7 would shift energies by a third of what
they differ from the ground state's. Bounds are 4.5 reported errors: with 110 comparisons, false alarm 0.1 %; energies
below the ground state's are none. Negative controls: a temperature wrong by 1 %, and bonds longer by 1e-7.

CTest: release (exact_test_heisenberg_kernels, exact_test_heisenberg_bits)
"""
import itertools
import math
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import gpumc_program as gpumc  # noqa: E402

BOUND = 4.5
CONFIG = """\
gpumc: 1
seed: 48
model: {{name: heisenberg, shape: {shape}, components: {components}, h: {h}, {more}}}
algorithm: {{name: {algorithm}}}
kernel: {{variant: {variant}}}
output: {folder}/out.h5
"""
TURNS = "[{heat_bath: 1}, {over_relaxation: 4}, {wolff: 1}]"
CANONICAL = ("canonical, beta: {{values: [{beta}]}}, replicas: 64, update: {update}, thermalization: {thermalization}, sweeps: {sweeps}, "
             "interval: {interval}, structure_factor: true, helicity_modulus: {twist}")


def stiffness(shape):
    """2 sum of 1 - cos k over the axes, for all wave vectors k, k = 0 first."""
    numbers = itertools.product(*(range(side) for side in shape))
    return np.array([2 * sum(1 - math.cos(2 * math.pi * k / side) for k, side in zip(number, shape)) for number in numbers])


def waves(shape, components, beta, h=0.0):
    """To first order in T: energies are those of one harmonic degree of freedom for each wave and transverse direction,
    except for rotations of all spins together without a field."""
    sites, transverse, of_wave = math.prod(shape), components - 1, stiffness(shape)
    if h:
        return {"energy": -len(shape) - h + transverse / (2 * beta),
                "magnetization_x": 1 - transverse / (2 * sites * beta) * np.sum(1 / (h + of_wave))}
    scatter = transverse / (sites * beta) * np.sum(1 / of_wave[1:])
    expected = {"energy": -len(shape) + transverse * (sites - 1) / (2 * sites * beta),
                "abs_magnetization": 1 - scatter / 2, "magnetization2": 1 - scatter, "magnetization4": 1 - 2 * scatter,
                "structure_factor": transverse / (beta * 2 * (1 - math.cos(2 * math.pi / max(shape))))}
    if components == 2 and len(set(shape)) == 1:
        expected["helicity_modulus"] = 1 - (sites - 1) / (2 * len(shape) * sites * beta)
    return expected


class Cold(unittest.TestCase):
    def run_job(self, algorithm, shape, components, variant, h=0.0, more="J: 1"):
        with gpumc.folder() as folder:
            gpumc.run_config(CONFIG.format(folder=folder, shape=list(shape), components=components, h=h, variant=variant, more=more,
                                           algorithm=algorithm), folder)
            with h5py.File(f"{folder}/out.h5") as file:
                return gpumc.summary(f"{folder}/out.h5"), dict(file["summary"].attrs)

    def compare(self, found, expected, what):
        off = {}
        for name, exact in expected.items():
            off[name] = float(np.ravel(gpumc.in_errors(found, name, exact))[-1])
        print(what, ", ".join(f"{name} {value:+.1f}" for name, value in off.items()))
        for name, value in off.items():
            self.assertLess(abs(value), BOUND, f"{what}: {name}")
        return off

    def canonical(self, shape, components, variant, beta, update, h=0.0, sweeps=1000, thermalization=1000, interval=1, more="J: 1"):
        twist = "false" if h else "true"
        return self.run_job(CANONICAL.format(beta=beta, update=update, sweeps=sweeps, thermalization=thermalization, interval=interval,
                                             twist=twist), shape, components, variant, h, more)

    def test_lattices(self):
        for shape, components, variant in itertools.product(((16,), (8, 8), (4, 4, 4)), (2, 3), ("float", "double")):
            found, attributes = self.canonical(shape, components, variant, 1e6, TURNS)
            self.assertEqual(attributes["trusted"], 1, attributes)
            self.compare(found, waves(shape, components, 1e6), f"{shape} O({components}) {variant}:")

    def test_moves(self):
        for update, components in itertools.product(("[{heat_bath: 1}, {swendsen_wang: 1}]", "[{swendsen_wang: 1}, {metropolis_small: 5}]",
                                                     "[{over_relaxation: 31}, {heat_bath: 1}, {swendsen_wang: 1}]"), (2, 3)):
            found, _ = self.canonical((4, 4), components, "float", 1e5, update, sweeps=3000)
            self.compare(found, waves((4, 4), components, 1e5), f"{update} O({components}):")

    def test_fields(self):
        for shape, components in ((16,), 3), ((8, 8), 2), ((4, 4, 4), 3):
            for h in 0.3, 4.0:
                found, _ = self.canonical(shape, components, "float", 1e6, "[{heat_bath: 1}, {over_relaxation: 4}]", h)
                self.compare(found, waves(shape, components, 1e6, h), f"{shape} O({components}) h = {h}:")

    def test_signs_that_do_not_compete(self):
        """Couplings J_ij = c_ij s_i s_j of random sizes and signs: all spins along s_i is the ground state. An
        antiferromagnet is one of them."""
        random = np.random.default_rng(48)
        with gpumc.folder() as folder:
            for components in 2, 3:
                s, size = random.choice((-1, 1), (4, 4)), random.uniform(0.5, 2, (4, 4, 2))
                couplings = size * s[..., None] * np.stack([np.roll(s, -1, 1), np.roll(s, -1, 0)], axis=-1)
                path = pathlib.Path(folder) / f"signs{components}.txt"
                path.write_text("shape 4 4\ncouplings\n" + " ".join(map(repr, couplings.ravel().tolist())) + "\n")
                found, _ = self.canonical((4, 4), components, "float", 1e5, TURNS, more=f"couplings: file, file: {path}")
                exact = {"energy": -size.sum() / 16 + (components - 1) * 15 / (32 * 1e5)}
                self.compare(found, exact, f"signs O({components}):")
        for components in 2, 3:
            found, _ = self.canonical((4, 4), components, "float", 1e5, TURNS, more="J: -1")
            self.compare(found, {"energy": waves((4, 4), components, 1e5)["energy"]}, f"antiferromagnet O({components}):")

    def test_tempering(self):
        pt = ("pt, beta: {from: 1e4, to: 1e6, count: 16}, samples: 32, thermalization: 512, sweeps: 2048, exchange_every: 2, "
              "update: [{heat_bath: 1}, {over_relaxation: 1}, {wolff: 1}]")
        found, _ = self.run_job(pt, (4, 4), 2, "float")
        self.compare(found, {"energy": waves((4, 4), 2, 1e6)["energy"]}, "pt:")

    def test_annealing(self):
        """The lowest energy found is not below the ground state's."""
        for components, variant in itertools.product((2, 3), ("float", "double")):
            pa = "pa, beta: {from: 0, to: 1e6, overlap: 0.6}, population: 1000, sweeps: 12, update: " + TURNS
            found, attributes = self.run_job(pa, (4, 4), components, variant)
            print(f"pa O({components}) {variant}: lowest energy per site + 2 = {attributes['lowest_energy'] + 2:.3g}")
            self.assertGreaterEqual(attributes["lowest_energy"], -2)
            self.compare(found, {"energy": waves((4, 4), components, 1e6)["energy"]}, f"pa O({components}) {variant}:")

    def test_small_steps_that_are_too_fine_for_float(self):
        """Beyond beta times the field of a spin = 1e6 they are refused, with the remedy; just below it they are right."""
        jobs = {"canonical": ("canonical, beta: {values: [3e5]}, update: [{swendsen_wang: 1}, {metropolis_small: 2}], thermalization: 50, "
                              "sweeps: 100", 0.0),
                "a field": ("canonical, beta: {values: [1e5]}, update: metropolis_small, thermalization: 50, sweeps: 100", 10.0),
                "pt": ("pt, beta: {values: [2e5, 3e5]}, update: metropolis_small, thermalization: 50, sweeps: 100, samples: 8", 0.0)}
        for (name, (job, h)), variant in itertools.product(jobs.items(), ("float", "double")):
            with self.subTest(name, variant=variant), gpumc.folder() as folder:
                config = CONFIG.format(folder=folder, shape=[4, 4], components=3, h=h, variant=variant, more="J: 1", algorithm=job)
                done = gpumc.run_config(config, folder, expect=2 if variant == "float" else 0)
                self.assertEqual("kernel.variant: double" in done.stderr, variant == "float", done.stderr)
        small = "[{swendsen_wang: 1}, {metropolis_small: 5}]"
        for components in 2, 3:
            found, _ = self.canonical((4, 4), components, "float", 2e5, small, sweeps=3000)
            self.compare(found, {"energy": waves((4, 4), components, 2e5)["energy"]}, f"small steps O({components}):")

    def test_mistakes_are_noticed(self):
        found, _ = self.canonical((8, 8), 2, "float", 1e6, TURNS)
        wrong = waves((8, 8), 2, 1.01e6)["energy"]
        self.assertGreater(abs(gpumc.in_errors(found, "energy", wrong)[-1]), BOUND)
        longer = waves((8, 8), 2, 1e6)["energy"] - 2e-7
        self.assertGreater(abs(gpumc.in_errors(found, "energy", longer)[-1]), BOUND)


if __name__ == "__main__":
    unittest.main(verbosity=2)

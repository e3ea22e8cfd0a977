"""The program says that Metropolis sweeps do not reach every state if that is so, and only then.

Reference: all states of lattices of up to 8 spins, and which of them follows which in a sweep. Controls: at least a
third of these lattices is of either kind; the run with the warning is indeed wrong.

CTest: validate (exact_test_pt_ea, cli_test_couplings)
"""
import json
import math
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, gpumc_program as gpumc  # noqa: E402

SAMPLES = 45  # per shape
SHAPES = ((2, 2), (2, 4), (4, 2), (2, 2, 2))

CONFIG = """\
gpumc: 1
seed: 1
model: {{name: ea, shape: {shape}, couplings: file, file: "{folder}/couplings.h5"}}
algorithm: {algorithm}
output: "{folder}/out.h5"
"""
CANONICAL = "{{name: canonical, thermalization: 10, beta: {{values: [0.5]}}, update: {update}, sweeps: 100}}"


def draw(shape, seed):
    """Couplings of every density, including pairs along a side of length 2 that cancel; every other sample with fields
    at some sites."""
    generator = np.random.default_rng(seed)
    sites = math.prod(shape)
    density = generator.random((SAMPLES, 1, 1))
    values = generator.choice([-2, -1, -1, 1, 1, 3], size=(SAMPLES, sites, len(shape)))
    couplings = np.where(generator.random(values.shape) < density, values, 0)
    fields = generator.choice([0, 0, 0, 1, -1], size=(SAMPLES, sites))
    fields[::2] = 0
    couplings[:, 0, 0] = np.where((couplings == 0).all((1, 2)), 1, couplings[:, 0, 0])
    return couplings, fields


def place(site, shape):
    coordinates = []
    for length in shape:
        coordinates.append(site % length)
        site //= length
    return coordinates


def number(coordinates, shape):
    site = 0
    for x, length in zip(reversed(coordinates), reversed(shape)):
        site = site * length + x % length
    return site


def net_couplings(couplings, shape):
    sites = len(couplings)
    matrix = np.zeros((sites, sites), int)
    for site in range(sites):
        for d in range(len(shape)):
            to = place(site, shape)
            to[d] += 1
            other = number(to, shape)
            matrix[site, other] += couplings[site, d]
            matrix[other, site] += couplings[site, d]
    return matrix


def half_sweep(matrix, fields, colour):
    """follows[s, t]: t can follow s when the sites of one colour are updated, all at once."""
    sites = len(fields)
    states = np.arange(2 ** sites)
    spins = 1 - 2 * (states[:, None] >> np.arange(sites) & 1)
    costs = spins * (spins @ matrix + fields) > 0  # such flips may be refused; all others are certain
    follows = np.eye(len(states), dtype=bool)
    for site in np.flatnonzero(colour):
        flipped = follows[:, states ^ 1 << site]
        follows = flipped | (follows & costs[:, [site]])
    return follows


def is_ergodic(couplings, fields, shape):
    """Returns whether there is a state that all states have reached after enough sweeps: one class, of period 1."""
    matrix = net_couplings(couplings, shape)
    odd = np.array([sum(place(site, shape)) % 2 == 1 for site in range(len(fields))])
    follows = compose(half_sweep(matrix, fields, ~odd), half_sweep(matrix, fields, odd))
    for _ in range(10):
        follows = compose(follows, follows)
    return follows.all(0).any()


def compose(before, after):
    return before.astype(np.float32) @ after.astype(np.float32) > 0


ONE_REPLICA = "each sample has one replica"  # begins a warning of `samples` in algorithm canonical


def warning(text, folder, *arguments, timeout=600):
    """Returns whether `validate` warns of unreachable states; it has nothing else to report than ONE_REPLICA, with `samples`."""
    path = pathlib.Path(folder) / "c.yaml"
    path.write_text(text)
    process = gpumc.run("validate", path, "--json", *arguments, timeout=timeout)
    if process.returncode != 0:
        raise AssertionError(process.stdout + process.stderr)
    warnings = [told for told in json.loads(process.stdout)[0]["warnings"] if "samples:" not in text or not told.startswith(ONE_REPLICA)]
    if any("does not reach every state" not in told for told in warnings):
        raise AssertionError(warnings)
    return len(warnings) > 0


class EverySmallLattice(unittest.TestCase):
    def warned(self, shape, folder, sample, update):
        return warning(CONFIG.format(shape=list(shape), folder=folder, algorithm=CANONICAL.format(update=update)),
                       folder, "--set", f"model.sample={sample}")

    def test_warned_of_where_the_chain_is_not_ergodic(self):
        """None is missed, and there is no needless warning."""
        count = {True: 0, False: 0}
        for shape in SHAPES:
            couplings, fields = draw(shape, seed=len(shape) + math.prod(shape))
            with gpumc.folder() as folder:
                with h5py.File(f"{folder}/couplings.h5", "w") as file:
                    file["shape"], file["couplings"], file["fields"] = list(shape), couplings, fields
                for sample in range(SAMPLES):
                    with self.subTest(shape=shape, sample=sample):
                        warned = self.warned(shape, folder, sample, "metropolis")
                        good = is_ergodic(couplings[sample], fields[sample], shape)
                        self.assertEqual(warned, not good)
                        count[warned] += 1
        self.assertGreater(min(count.values()), SAMPLES * len(SHAPES) / 3)

    def test_every_sample_of_a_file_is_looked_at(self):
        """The last of three causes a warning; the first two alone do not."""
        couplings = np.ones((3, 32, 2), int)
        for site, direction in (0, 0), (0, 1), (3, 0), (28, 1):
            couplings[2, site, direction] = 0  # all bonds of the spin at (0, 0)
        with gpumc.folder() as folder:
            with h5py.File(f"{folder}/couplings.h5", "w") as file:
                file["shape"], file["couplings"] = [4, 8], couplings
            for samples in 2, 3:
                algorithm = CANONICAL.format(update="metropolis").replace("sweeps", f"samples: {samples}, sweeps", 1)
                text = CONFIG.format(shape=[4, 8], folder=folder, algorithm=algorithm)
                self.assertEqual(warning(text, folder), samples == 3)

    def test_heat_bath_is_never_warned_of(self):
        couplings, fields = draw((2, 2), seed=6)
        with gpumc.folder() as folder:
            with h5py.File(f"{folder}/couplings.h5", "w") as file:
                file["shape"], file["couplings"], file["fields"] = [2, 2], couplings, fields
            for sample in range(0, SAMPLES, 6):
                self.assertFalse(self.warned((2, 2), folder, sample, "heat_bath"))


class Rings(unittest.TestCase):
    """8 x 8 spins in 16 ferromagnetic rings of four."""
    BETAS = [0.5, 1.0]
    ALGORITHM = ("{{name: pt, beta: {{values: [0.5, 1.0]}}, samples: 1, replicas: 8, update: {update}, sweeps: 12800, "
                 "measure_every: 10}}")

    def run_rings(self, update):
        couplings = np.zeros((1, 64, 2), int)
        for site in range(64):
            x, y = place(site, (8, 8))
            couplings[0, site] = x % 2 == 0, y % 2 == 0
        folder = gpumc.folder()
        self.addCleanup(folder.cleanup)
        with h5py.File(f"{folder.name}/couplings.h5", "w") as file:
            file["shape"], file["couplings"] = [8, 8], couplings
        gpumc.run_config(CONFIG.format(shape=[8, 8], folder=folder.name,
                                       algorithm=self.ALGORITHM.format(update=update)), folder.name)
        with h5py.File(f"{folder.name}/out.h5") as file:
            summary = file["summary"]
            attributes = {group: gpumc.attributes(file[group]) for group in ("summary", "provenance")}
            return summary["energy"][:], summary["energy_error"][:], attributes

    def exact(self):
        """A ring of four has Z = (2 cosh beta)^4 + (2 sinh beta)^4."""
        beta = np.array(self.BETAS)
        c, s = np.cosh(beta), np.sinh(beta)
        return -(c ** 3 * s + s ** 3 * c) / (c ** 4 + s ** 4)

    def test_heat_bath_is_right(self):
        energy, error, attributes = self.run_rings("heat_bath")
        self.assertTrue((np.abs(energy - self.exact()) < 4 * error).all(), (energy, error))
        self.assertTrue((error < 0.01).all(), error)
        self.assertEqual(attributes["summary"]["trusted"], 1)
        for group in attributes.values():
            self.assertNotIn("ergodicity_warning", group)

    def test_metropolis_is_wrong_and_not_trusted(self):
        energy, error, attributes = self.run_rings("metropolis")
        self.assertTrue((np.abs(energy - self.exact()) > 4 * error).all(), (energy, error))
        self.assertEqual(attributes["summary"]["trusted"], 0)
        for group in attributes.values():
            self.assertIn("heat_bath", group["ergodicity_warning"])


class Lattices(unittest.TestCase):
    """Without a file. The share of states that flip as a whole is 6e-5 in 2 x 8, 4e-6 in 2 x 10, and 2e-7 in 4 x 6;
    there are none in 2 x 2 x 6. Few samples with couplings of both signs have any. Pieces of 2 x 64 are connected."""

    CASES = (("{name: ising2d, shape: [4, 4]}", True), ("{name: ising2d, shape: [4, 8]}", False),
             ("{name: ising2d, shape: [4, 6]}", False), ("{name: ising2d, shape: [2, 10]}", True),
             ("{name: ising2d, shape: [2, 8]}", True), ("{name: ising2d, shape: [4, 4], h: 0.1}", False),
             ("{name: ising2d, shape: [2, 64]}", False), ("{name: ising3d, shape: [2, 2, 2]}", False),
             ("{name: ising3d, shape: [2, 2, 6]}", False), ("{name: ising3d, shape: [2, 2, 4]}", True),
             ("{name: ising3d, shape: [4, 4, 2]}", False), ("{name: ea, shape: [4, 4], p: 1}", True),
             ("{name: ea, shape: [4, 4]}", False), ("{name: ea, shape: [4, 4], couplings: gaussian}", False),
             ("{name: ea, shape: [8, 8]}", False), ("{name: ea, shape: [4, 4, 4]}", False),
             ("{name: ea, shape: [2, 64]}", False), ("{name: ea, shape: [2, 64], couplings: gaussian}", False),
             ("{name: ea, shape: [4, 4], h: 1, random_field: {distribution: bimodal, width: 2}}", False))
    TEXT = "gpumc: 1\nseed: 1\nmodel: {}\nalgorithm: {}\noutput: {}/out.h5\n"

    def test_warnings(self):
        for model, expected in self.CASES:
            with self.subTest(model), gpumc.folder() as folder:
                text = self.TEXT.format(model, CANONICAL.format(update="metropolis"), folder)
                self.assertEqual(warning(text, folder), expected)

    def test_samples_are_looked_at(self):
        """One in twenty of 2 x 6 has pieces that flip as a whole."""
        algorithm = CANONICAL.format(update="metropolis").replace("sweeps", "samples: 100, sweeps", 1)
        with gpumc.folder() as folder:
            self.assertTrue(warning(self.TEXT.format("{name: ea, shape: [2, 6]}", algorithm, folder), folder))

    def test_many_samples_cost_nothing(self):
        """A plan refused for its memory is refused at once, however many samples there would be."""
        algorithm = CANONICAL.format(update="metropolis").replace("sweeps", "samples: 2000000000, sweeps", 1)
        with gpumc.folder() as folder:
            for model in "{name: ea, shape: [2, 16]}", "{name: ea, shape: [2, 64]}", "{name: ea, shape: [4, 4], h: 1}":
                self.assertFalse(warning(self.TEXT.format(model, algorithm, folder), folder, timeout=20))

    def test_beside_an_unsafe_generator(self):
        """Both are reported, before the run and in the result."""
        with gpumc.folder() as folder:
            path = pathlib.Path(folder) / "c.yaml"
            path.write_text(self.TEXT.format("{name: ising2d, shape: [4, 4]}", CANONICAL.format(update="metropolis"),
                                             folder) +
                            "kernel: {variant: tiled, generator: lcg32}\n")
            told = gpumc.run("run", path, "--threads", 1)
            self.assertEqual(told.returncode, 0, told.stderr)
            plan = json.loads(gpumc.run("plan", path, "--json").stdout)["tasks"][0]
            with h5py.File(f"{folder}/out.h5") as file:
                self.assertEqual(file["summary"].attrs["trusted"], 0)
                for name in "generator_warning", "ergodicity_warning":
                    self.assertIn(plan[name], told.stderr)
                    for group in "summary", "provenance":
                        self.assertEqual(gpumc.attributes(file[group])[name], plan[name])


if __name__ == "__main__":
    cases.main()

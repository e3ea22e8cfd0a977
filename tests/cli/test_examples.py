"""The examples of docs/examples, compiled into a program (cli_test_examples_copied builds that as a user does), or into
plugins, which give the same numbers (cli_test_plugins_outside has more of those): a Potts model, exact in every
algorithm, a kernel of it that does nothing, which the same comparison rejects, an algorithm that walks at random, and hard rods, whose states have equal
weight, exact in mpmc, and at constant pressure, without a temperature, exact in canonical, pt and pa, with
a kernel that is not balanced, which the same comparisons reject.

Comparisons are within 4.5 errors (false alarm 7e-6 each, below 2e-3 for all together).

CTest: long, cases 4 s
"""
import itertools
import json
import math
import pathlib
import re
import subprocess
import sys
import unittest

import h5py
import jsonschema
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases  # noqa: E402
from support.device import PROGRAM, SKIPPED  # noqa: E402
from support.gpumc_program import numeric_datasets  # noqa: E402
from support.installed import BUILD, EXAMPLES, build_plugin, class_folder, install, output  # noqa: E402
from support.sanitizers import SANITIZED  # noqa: E402

BOUND = 4.5
BETAS = [0.4, 0.8, 1.2]
LINES = {"potts/potts.c": 300, "random_walk/random_walk.c": 150, "rods/rods.c": 365}

POTTS = """\
gpumc: 1
seed: 7
model: {{name: potts, shape: [3, 3], q: 3}}
algorithm: {{name: {algorithm}}}
kernel: {{device: cpu, variant: {variant}}}
output: {output}
"""
ALGORITHMS = {
    "canonical": "canonical, thermalization: 200, sweeps: 20000, replicas: 16, "
                 f"update: heat_bath, agreement: true, beta: {{values: {BETAS}}}",
    "pt": "pt, samples: 16, sweeps: 20000, exchange_every: 5, update: heat_bath, "
          f"beta: {{values: {BETAS}}}",
    "pa": "pa, population: 20000, sweeps: 5, runs: 4, beta: {from: 0, to: 1.2, step: 0.05}"}

RODS = """\
gpumc: 1
seed: 5
model: {{name: rods, particles: {particles}, length: {length}}}
algorithm: {algorithm}
kernel: {{device: cpu, variant: {variant}}}
output: {output}
"""
PRESSURES = [1.0, 2.0, 4.0]
PRESSED = {
    "canonical": "canonical, thermalization: 2000, sweeps: 40000, interval: 2, replicas: 8, control: {name: beta_pressure, "
                 f"values: {PRESSURES}, reweight: {{from: 1.7, to: 2.3, step: 0.1}}}}",
    "pt": f"pt, samples: 16, thermalization: 2000, sweeps: 20000, exchange_every: 5, control: {{name: beta_pressure, values: {PRESSURES}}}",
    "pa": "pa, population: 2000, sweeps: 10, runs: 4, control: {name: beta_pressure, from: 1, to: 4, step: 0.1, "
          "thermalization: 2000}",
    "adaptive": "pa, population: 2000, sweeps: 20, runs: 4, control: {name: beta_pressure, from: 1, to: 4, overlap: 0.9, "
                "thermalization: 2000}"}
MPMC = "{{name: mpmc, thermalization: 500, sweeps: {sweeps}, interval: 2, replicas: {replicas}{more}}}"


def exact():
    """Curves by name of three states on a torus of 3 x 3, by enumeration."""
    sites = np.arange(9).reshape(3, 3)
    bonds = [(i, np.roll(sites, -1, axis=axis).ravel()[i]) for axis in (0, 1) for i in range(9)]
    states = np.array(list(itertools.product(range(3), repeat=9)))
    energy = -sum((states[:, i] == states[:, j]).astype(float) for i, j in bonds)
    largest = np.max([(states == s).sum(axis=1) for s in range(3)], axis=0)
    order = (3 * largest / 9 - 1) / 2
    curves = {"energy": [], "specific_heat": [], "order": [], "beta_free_energy": [], "agreement": []}
    squares = states.reshape(-1, 3, 3)
    agreement = np.array([(squares == np.roll(squares, -1, axis=2)).mean(axis=(1, 2))] * 2).T
    for beta in BETAS:
        weight = np.exp(-beta * energy)
        mean = lambda x: (weight * x).sum() / weight.sum()  # noqa: E731
        curves["energy"].append(mean(energy) / 9)
        curves["specific_heat"].append(beta**2 * (mean(energy**2) - mean(energy)**2) / 9)
        curves["order"].append(mean(order))
        curves["agreement"].append([mean(agreement[:, i]) for i in range(2)])
        curves["beta_free_energy"].append(-np.log(weight.sum()) / 9)
    return {name: np.array(values) for name, values in curves.items()}


def exact_rods(particles, length):
    """Of the gaps, uniform on the simplex of those that fill what the rods leave free (rods.c)."""
    free, width = length - particles, 1 / 8
    contact = 1 - (1 - width / free)**(particles - 1)
    return {"gap2": 2 * free**2 / (particles * (particles + 1)), "contact": contact,
            "pressure": -np.log1p(-contact) / width}


def exact_pressed(particles, pressure):
    """At constant pressure: the free length has two gamma distributions (rods.c)."""
    mean = particles + (particles + 1) / pressure - 1 / (1 + pressure)
    variance = (particles + 1) / pressure**2 - 1 / (1 + pressure)**2
    free2 = particles * (particles + 1) * (1 / pressure + (1 + 2 / particles) / pressure**2) / (1 + pressure)
    return {"length": mean / particles, "compressibility": particles * variance / mean**2,
            "gap2": 2 * free2 / (particles * (particles + 1))}


def exact_beside_a_fixed_rod(particles, pressure):
    """The same where one rod cannot move: one gamma distribution."""
    mean = particles + particles / pressure
    return {"length": mean / particles, "compressibility": particles**2 / pressure**2 / mean**2}


def exact_gibbs(particles, pressure):
    """-ln of the partition function at constant pressure, per rod."""
    return pressure + ((particles + 1) * np.log(pressure) - np.log1p(pressure)) / particles


def exact_pair_correlation(particles, length, bins=32, width=1 / 8):
    """k gaps in a row are the free length times a number of the beta distribution with k and N - k."""
    edges = 1 + width * np.arange(bins + 1)
    found = np.zeros(bins)
    for k in range(1, particles):
        x = np.clip((edges - k) / (length - particles), 0, 1)
        below = sum(math.comb(particles - 1, j) * x**j * (1 - x)**(particles - 1 - j) for j in range(k, particles))
        found += np.diff(below)
    return found * length / particles / width


def accepted(off):
    """Whether all deviations are known and within the bound."""
    return all((np.abs(z) < BOUND).all() for z in off.values())


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = class_folder(cls)
        cls.program = BUILD / "tests/gpumc_with_examples"

    def gpumc(self, *arguments, code=0):
        done = subprocess.run([self.program, *map(str, arguments)], cwd=self.folder, text=True,
                              capture_output=True, timeout=600)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def deviations(self, algorithm, variant="plain"):
        """(value - exact)/error of what both know, by name."""
        output = f"{algorithm}-{variant}.h5"
        config = self.folder / f"{algorithm}-{variant}.yaml"
        config.write_text(POTTS.format(algorithm=ALGORITHMS[algorithm], variant=variant,
                                       output=output))
        self.gpumc("run", config, "--quiet")
        with h5py.File(self.folder / output) as file:
            summary = file["summary"]
            at = [int(np.abs(summary["beta"][...] - beta).argmin()) for beta in BETAS]
            found = {name: [summary[name + of][...][at] for of in ("", "_error")] for name in exact() if name in summary}
            if "agreement" in found:  # a site agrees with itself, which never changes
                self.assertEqual([scale[0].name for scale in summary["agreement"].dims], ["/summary/beta", "/summary/distance"])
                if variant == "plain":
                    self.assertTrue((found["agreement"][0][:, 0] == 1).all() and np.isnan(found["agreement"][1][:, 0]).all())
                found["agreement"] = [values[:, 1:] for values in found["agreement"]]
            return {name: (values - exact()[name]) / error for name, (values, error) in found.items()}

    def test_lengths(self):
        for name, most in LINES.items():
            with open(EXAMPLES / name, encoding="utf-8") as source:
                self.assertLessEqual(sum(1 for _ in source), most, name)

    def test_they_are_listed_beside_the_others(self):
        lists = json.loads(self.gpumc("list", "--json"))
        self.assertLessEqual({"ising2d", "ea", "potts"}, {m["name"] for m in lists["models"]})
        self.assertLessEqual({"pa", "random_walk"}, {a["name"] for a in lists["algorithms"]})
        self.assertIn("Number of states", self.gpumc("describe", "potts"))

    def test_plugins_give_the_numbers_of_what_is_compiled_in(self):
        prefix = install(self.folder / "prefix")
        configs = {"potts": POTTS.format(algorithm="pa, population: 2000, sweeps: 5, runs: 2, beta: {from: 0, to: 1.2, step: 0.1}",
                                         variant="plain", output="HERE-potts.h5"),
                   "rods": RODS.format(particles=4, length=6, variant="serial", output="HERE-rods.h5",
                                       algorithm=MPMC.format(sweeps=2000, replicas=4, more=", pair_correlation: true")),
                   "random_walk": (EXAMPLES / "random_walk/random_walk.yaml").read_text()}
        configs["random_walk"] = re.sub("(?m)^output:.*", "output: HERE-random_walk.h5", configs["random_walk"])
        for name, config in configs.items():
            with self.subTest(name):
                plugin = build_plugin(prefix, EXAMPLES / name, self.folder / "plugins" / name)
                within, outside = (self.folder / f"{way}-{name}.yaml" for way in ("within", "outside"))
                within.write_text(config.replace("HERE", "within"))
                outside.write_text(config.replace("HERE", "outside") + f"plugins: [{plugin}]\n")
                self.gpumc("run", within, "--quiet")
                output(PROGRAM, "run", outside, "--quiet", cwd=self.folder)
                one, other = (numeric_datasets(self.folder / f"{way}-{name}.h5") for way in ("within", "outside"))
                self.assertTrue(one)
                self.assertEqual(one, other)

    def test_potts_is_exact(self):
        for algorithm in ALGORITHMS:
            with self.subTest(algorithm):
                off = self.deviations(algorithm)
                print(algorithm, {name: np.round(z, 2).tolist() for name, z in off.items()})
                self.assertLessEqual({"energy", "specific_heat", "order"}, set(off))
                self.assertEqual("beta_free_energy" in off, algorithm == "pa")
                self.assertEqual("agreement" in off, algorithm == "canonical")
                self.assertTrue(accepted(off), off)

    def test_a_kernel_that_does_nothing_is_rejected(self):
        for algorithm in ALGORITHMS:
            with self.subTest(algorithm):
                self.assertFalse(accepted(self.deviations(algorithm, "frozen")))

    def run_rods(self, output, particles=4, length=6, variant="serial", sweeps=40000, replicas=8, more="", options=(),
                 code=0):
        config = self.folder / f"{output}.yaml"
        config.write_text(RODS.format(particles=particles, length=length, variant=variant, output=output,
                                      algorithm=MPMC.format(sweeps=sweeps, replicas=replicas, more=more)))
        self.gpumc("run", config, "--quiet", *options, code=code)
        return self.folder / output

    def rods_off(self, particles, length, variant="serial", replicas=8):
        """(value - exact)/error by name."""
        path = self.run_rods(f"rods-{variant}-{particles}-{replicas}.h5", particles, length, variant, replicas=replicas)
        with h5py.File(path) as file:
            summary = file["summary"]
            self.assertNotIn("beta", summary)
            self.assertEqual(summary["pressure"].shape, ())
            if variant == "serial":  # fewer chains could not contradict each other
                self.assertEqual(summary.attrs["trusted"], int(replicas >= 8))
            return {name: (summary[name][()] - value) / summary[f"{name}_error"][()]
                    for name, value in exact_rods(particles, length).items()}

    def test_rods_are_exact(self):
        for particles, length, replicas in (2, 3, 8), (4, 6, 1), (16, 20, 12):
            with self.subTest(particles):
                off = self.rods_off(particles, length, replicas=replicas)
                print("rods", particles, {name: round(float(z), 2) for name, z in off.items()})
                self.assertTrue(accepted(off), off)

    def pair_correlation_off(self, output, exact, replicas, **more):
        path = self.run_rods(output, 4, 6, replicas=replicas, more=", pair_correlation: true", **more)
        with h5py.File(path) as file:
            found, error = (file[f"summary/pair_correlation{suffix}"][...] for suffix in ("", "_error"))
            distance = file["summary/pair_correlation"].dims[0][0]
            self.assertEqual(distance.name, "/summary/distance")
            np.testing.assert_allclose(distance[...], 1 + (np.arange(32) + 0.5) / 8)
        self.assertTrue(((found == 0) == (exact == 0)).all())
        self.assertTrue((np.isnan(error) <= (exact == 0)).all())
        return {"pair_correlation": ((found - exact) / error)[exact > 0]}

    def test_profiles_are_exact(self):
        exact = exact_pair_correlation(4, 6)
        for replicas in 1, 12:
            off = self.pair_correlation_off(f"rods-pairs-{replicas}.h5", exact, replicas)["pair_correlation"]
            print("pair correlation", replicas, np.round(off, 2).tolist())
            self.assertTrue(accepted({"": off}), off)
            # chi^2 of 24 to 32 numbers, correlated: errors are neither half nor twice as large as they should be
            self.assertTrue(0.25 < np.mean(off**2) < 4, off)

    def test_a_profile_of_another_length_is_rejected(self):
        shorter = exact_pair_correlation(4, 5.98)
        exact = exact_pair_correlation(4, 6)
        off = self.pair_correlation_off("rods-pairs-other.h5", exact, 12)["pair_correlation"]
        path = self.folder / "rods-pairs-other.h5"
        with h5py.File(path) as file:
            error = file["summary/pair_correlation_error"][...][exact > 0]
        self.assertFalse(accepted({"": off + (exact - shorter)[exact > 0] / error}))

    def test_rods_that_are_not_balanced_are_rejected(self):
        self.assertFalse(accepted(self.rods_off(4, 6, "scaled")))

    def run_pressed(self, algorithm, variant="serial", particles=8):
        """The summary at constant pressure."""
        output, config = self.folder / f"pressed-{algorithm}-{variant}.h5", self.folder / "pressed.yaml"
        if not output.exists():
            config.write_text(RODS.format(particles=particles, length=2 * particles, variant=variant, output=output.name,
                                          algorithm=f"{{name: {PRESSED[algorithm]}}}"))
            self.gpumc("run", config, "--quiet")
        return h5py.File(output)

    def pressed_off(self, algorithm, exact=exact_pressed, variant="serial", group="summary", particles=8):
        """(value - exact)/error at all pressures, by name."""
        with self.run_pressed(algorithm, variant, particles) as file:
            summary = file[group]
            pressure = summary["beta_pressure"][...]
            if variant == "serial":
                self.assertEqual(file["summary"].attrs["trusted"], 1)
            self.assertNotIn("beta", summary)
            self.assertNotIn("pressure", summary)  # that by the gaps is for a constant length
            self.assertEqual(summary["length"].dims[0][0].name, f"/{group}/beta_pressure")
            return {name: (summary[name][...] - value) / summary[f"{name}_error"][...]
                    for name, value in exact(particles, pressure).items()}

    def test_rods_at_constant_pressure_are_exact(self):
        for algorithm in PRESSED:
            with self.subTest(algorithm):
                off = self.pressed_off(algorithm)
                print("pressed", algorithm, {name: np.round(z, 2).tolist() for name, z in off.items()})
                self.assertTrue(accepted(off), off)
        off = self.pressed_off("canonical", group="summary/reweighted")
        print("pressed, reweighted", {name: np.round(z, 2).tolist() for name, z in off.items()})
        self.assertTrue(accepted(off), off)

    def test_the_change_of_the_gibbs_energy_is_exact(self):
        for algorithm in "pa", "adaptive":
            with self.run_pressed(algorithm) as file:
                summary = file["summary"]
                pressure = summary["beta_pressure"][...]
                found, error = (summary[f"beta_free_energy_difference{of}"][...] for of in ("", "_error"))
            self.assertEqual((pressure[0], pressure[-1], found[0]), (1, 4, 0))
            off = (found - exact_gibbs(8, pressure) + exact_gibbs(8, 1.0))[1:] / error[1:]
            print("Gibbs", algorithm, np.round(off, 2).tolist())
            self.assertTrue(accepted({"": off}), off)

    def test_rods_beside_a_fixed_one_are_rejected(self):
        for algorithm in PRESSED:
            with self.subTest(algorithm):
                self.assertFalse(accepted(self.pressed_off(algorithm, exact_beside_a_fixed_rod)))

    def test_pressed_rods_that_are_not_balanced_are_rejected(self):
        for algorithm in "canonical", "pt", "pa":
            self.assertFalse(accepted(self.pressed_off(algorithm, variant="scaled")))

    def test_the_schema_knows_models_without_a_temperature(self):
        schema = json.loads(self.gpumc("schema"))
        models = {"rods": {"name": "rods", "particles": 4, "length": 8},
                  "potts": {"name": "potts", "shape": [4, 4], "q": 3}}
        ladder = {"values": [1, 2]}
        pressed, inside = {"control": {"name": "beta_pressure", **ladder}}, {"control": {"name": "h", "beta": 1, **ladder}}
        for model, block, right in (("rods", pressed, True), ("rods", {"beta": ladder}, False), ("rods", inside, False),
                                    ("rods", {}, False), ("rods", {"control": ladder}, False), ("potts", {"beta": ladder}, True),
                                    ("potts", {}, False), ("potts", inside, True), ("potts", pressed, False)):
            for algorithm in ({"name": "pt", "sweeps": 10}, {"name": "canonical", "sweeps": 10, "thermalization": 10}):
                config = {"gpumc": 1, "seed": 1, "model": models[model], "algorithm": {**algorithm, **block}, "output": "a.h5"}
                self.assertEqual(jsonschema.Draft7Validator(schema).is_valid(config), right, (model, block))

    def test_rods_are_resumed(self):
        long = {"particles": 1000, "length": 1024, "sweeps": 40000, "more": ", series: true, pair_correlation: true, configurations: {every: 20000}"}
        whole = self.run_rods("rods-whole.h5", **long)
        self.run_rods("rods-parts.h5", **long, options=["--max-time", "1 ms"], code=75)
        parts = self.run_rods("rods-parts.h5", **long)
        self.assertEqual(numeric_datasets(whole), numeric_datasets(parts))

    def test_pressed_rods_are_resumed(self):
        for name, algorithm in (("pt", "pt, samples: 4, sweeps: 20000, exchange_every: 5, control: {name: beta_pressure, values: [1, 2]}"),
                                ("pa", "pa, population: 200, sweeps: 20, control: {name: beta_pressure, from: 1, to: 2, step: 0.02, "
                                       "thermalization: 100}")):
            whole, parts = (self.folder / f"pressed-{part}-{name}.h5" for part in ("whole", "parts"))
            for path in whole, parts:
                path.with_suffix(".yaml").write_text(RODS.format(particles=8, length=16, variant="serial", output=path.name,
                                                                 algorithm=f"{{name: {algorithm}}}"))
            self.gpumc("run", whole.with_suffix(".yaml"), "--quiet")
            self.gpumc("run", parts.with_suffix(".yaml"), "--quiet", "--max-time", "1 ms", code=75)
            self.gpumc("run", parts.with_suffix(".yaml"), "--quiet")
            self.assertEqual(numeric_datasets(whole), numeric_datasets(parts))

    def test_what_does_not_go_together_is_refused(self):
        def refused(model, algorithm, message):
            (self.folder / "refused.yaml").write_text(
                f"gpumc: 1\nseed: 1\nmodel: {{{model}}}\nalgorithm: {{{algorithm}}}\noutput: refused.h5\n")
            done = subprocess.run([self.program, "validate", "refused.yaml"], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)
        times = "thermalization: 10, sweeps: 10"
        rods, potts = "name: rods, particles: 4, length: 8", "name: potts, shape: [4, 4], q: 3"
        refused(potts, f"name: mpmc, {times}", "refused.yaml:4:19: algorithm mpmc gives all states the same weight, but "
                "model potts weights them by their energy: use pa, canonical, pt")
        pressed = "control: {name: beta_pressure"
        for algorithm, at, ladder in ((f"name: canonical, {times}, ", 68, "values: [1, 2]}"),
                                      ("name: pa, population: 100, sweeps: 1, ", 57, "values: [1, 2], thermalization: 10}"),
                                      (f"name: pt, {times}, ", 61, "values: [1, 2]}")):
            refused(rods, f"{algorithm}beta: {{values: [1, 2]}}", f"refused.yaml:4:{at}: model rods has no temperature: use "
                    "control: {name: beta_pressure, ...}\n")
            refused(rods, algorithm.rstrip(", "), "missing key 'control' in algorithm")
            refused(rods, f"{algorithm}{pressed}, beta: 1, {ladder}", "model rods has no temperature: leave out control.beta\n")
            refused(rods, f"{algorithm}control: {{name: h, {ladder}", "model rods has no control 'h' that can be moved: expected "
                    "beta_pressure\n")
            refused(rods, f"{algorithm}{pressed}, {ladder}, reweight: {{from: 1, to: 2, step: 0.1}}",
                    "unknown key 'reweight'" if "pt" in algorithm else "reweight applies to inverse temperatures: ")
            refused(potts, f"{algorithm}{pressed}, {ladder}", "missing key 'beta' or 'temperature' in algorithm.control\n")
            refused(potts, f"{algorithm}{pressed}, beta: 1, {ladder}", "model potts has no control besides the inverse temperature")
        refused(rods, "name: random_walk, steps: 10, step: 0.1, most: 1", "refused.yaml:4:19: algorithm random_walk only "
                "moves temperatures, and model rods has none: use pa, canonical, mpmc, ")
        muca = "name: muca, production: {updates: 100}"
        refused(rods, f"{muca}, {pressed}, from: 1, to: 2, step: 0.1}}", "refused.yaml:4:19: no kernel of model rods on cpu can run "
                "algorithm muca: ")
        refused(rods, muca, "missing key 'control' in algorithm")
        refused(rods, f"{muca}, beta: {{from: 0, to: 1, step: 0.1}}", "model rods has no temperature: use control: {name: "
                "beta_pressure, ...}\n")
        refused(potts, "name: pa, population: 100, sweeps: 1, beta: {from: 0, to: 1, step: 0.1}, agreement: true", "refused.yaml:4:"
                "97: algorithm pa does not average profiles, and agreement is one: leave it out, or use canonical\n")
        refused(rods, f"name: mpmc, {times}, update: heat_bath", "refused.yaml:4:")
        refused("name: rods, particles: 4, length: 4", f"name: mpmc, {times}", "4 rods need a ring longer than 4")

    def test_configs(self):
        for config in sorted(EXAMPLES.glob("*/*.yaml")):
            self.gpumc("validate", config)

    def config_of_walk(self, output):
        text = (EXAMPLES / "random_walk/random_walk.yaml").read_text(encoding="utf-8")
        config = self.folder / f"{output}.yaml"
        config.write_text(text.replace("results/random-walk.h5", output))
        return config

    def test_the_walk_takes_steps(self):
        self.gpumc("run", self.config_of_walk("walk.h5"), "--quiet")
        with h5py.File(self.folder / "walk.h5") as file:
            run = {name: file["runs/0000"][name][...] for name in ("step", "beta", "energy")}
        steps = np.diff(run["beta"])
        self.assertEqual(run["step"].tolist(), list(range(1, 1001)))
        self.assertTrue((np.isclose(np.abs(steps), 0.01) | (steps == 0)).all())
        self.assertTrue(((run["beta"] >= 0) & (run["beta"] <= 0.6)).all())
        self.assertLess(np.corrcoef(run["beta"], run["energy"])[0, 1], -0.8)

    def test_it_is_resumed(self):
        self.gpumc("run", self.config_of_walk("whole.h5"), "--quiet")
        config = self.config_of_walk("parts.h5")
        stops = 0
        for _ in range(5):
            done = subprocess.run([self.program, "run", config, "--quiet", "--max-time", "1 ms"],
                                  cwd=self.folder, capture_output=True, text=True, timeout=600)
            self.assertIn(done.returncode, (0, 75), done.stderr)
            stops += done.returncode == 75
        self.assertGreater(stops, 0)
        self.gpumc("run", config, "--quiet")
        self.assertEqual(numeric_datasets(self.folder / "whole.h5"),
                         numeric_datasets(self.folder / "parts.h5"))


if __name__ == "__main__":
    if SANITIZED:
        print("skipped: nothing here that the build without sanitizers does not test")
        sys.exit(SKIPPED)
    cases.main()

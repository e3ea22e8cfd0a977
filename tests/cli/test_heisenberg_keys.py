"""Mistakes of a configuration of Heisenberg spins, which quantities a run in a field has, bins by default, and keys of
quenched couplings: what is refused, samples that are written and read back, and the samples of each algorithm.

CTest: methods 5 s
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

MODEL = "gpumc: 1\nseed: 5\nmodel: {{name: heisenberg, shape: [4, 4], h: {h}}}\noutput: {folder}/out.h5\n"
ALGORITHMS = {
    "canonical": "{name: canonical, beta: {values: [0.5, 1.0]}, replicas: 16, thermalization: 20, sweeps: 640",
    "pt": "{name: pt, beta: {values: [0.5, 1.0]}, samples: 32, sweeps: 640, exchange_every: 10",
    "pa": "{name: pa, population: 100, sweeps: 5, runs: 16, beta: {from: 0, to: 0.5, step: 0.1}",
}
WITHOUT_FIELD = "susceptibility", "binder_parameter", "helicity_modulus"
ALWAYS = "energy", "specific_heat", "abs_magnetization", "magnetization2", "magnetization4"


def summary_attributes(path):
    with h5py.File(path) as file:
        return gpumc.attributes(file["summary"])


class Counting(unittest.TestCase):
    """What ln Z and the entropy count is in the long names of all that has them, their errors included."""
    OUTPUTS = {
        "pa": (ALGORITHMS["pa"] + "}", ("summary/entropy", "summary/entropy_error", "summary/beta_free_energy", "runs/0000/entropy",
                                        "runs/0000/beta_free_energy")),
        "muca": ("{name: muca, walkers: 64, iteration: {maximum: 1}, production: {updates: 100, measurements: 100}, "
                 "beta: {from: 0, to: 1, step: 1}}", ("summary/log_dos", "summary/log_dos_error", "summary/entropy",
                                                      "summary/beta_free_energy_error")),
    }

    def long_names(self, model, algorithm):
        with gpumc.folder() as folder:
            text = f"gpumc: 1\nseed: 5\nmodel: {model}\noutput: {folder}/out.h5\nalgorithm: {algorithm[0]}\n"
            gpumc.run_config(text, folder)
            with h5py.File(f"{folder}/out.h5") as file:
                return {name: gpumc.attributes(file[name])["long_name"] for name in algorithm[1]}

    def test_long_names(self):
        for components, area in (3, "ln(4 pi)"), (2, "ln(2 pi)"):
            for algorithm in self.OUTPUTS:
                names = self.long_names(f"{{name: heisenberg, shape: [2], components: {components}}}", self.OUTPUTS[algorithm])
                for name, text in names.items():
                    with self.subTest(name, algorithm=algorithm, components=components):
                        self.assertTrue(text.endswith(f", where a free site counts {area}"), text)

    def test_whole_numbers_of_states_are_not_mentioned(self):
        for name, text in self.long_names("{name: ising2d, shape: [4, 4]}", self.OUTPUTS["pa"]).items():
            self.assertNotIn("counts", text, name)
            self.assertNotIn("{", text, name)

    def test_description(self):
        text = gpumc.run("describe", "heisenberg").stdout
        self.assertIn("ln(4 pi)", text)
        self.assertIn("ln(2 pi)", text)


class Width(unittest.TestCase):
    def run_small(self, folder, algorithm, thermalization, kernel="", expect=0):
        text = MODEL.format(folder=folder, h=0) + f"algorithm: {ALGORITHMS[algorithm]}, update: metropolis_small"
        text = text.replace("thermalization: 20, ", "") + f", thermalization: {thermalization}}}\n"
        return gpumc.run_config(text.replace("1.0]", "9.0]") + kernel, folder, expect=expect)

    def test_tuned_or_given(self):
        for algorithm in "canonical", "pt":
            with self.subTest(algorithm), gpumc.folder() as folder:
                self.run_small(folder, algorithm, 400)
                found = gpumc.summary(f"{folder}/out.h5")
                self.assertEqual(found["width"][0], math.pi)
                self.assertLess(found["width"][1], 1.5)
                self.assertGreater(found["move_acceptance"][0], 0.6)
                self.assertAlmostEqual(found["move_acceptance"][1], 0.5, delta=0.05)
            with self.subTest(algorithm), gpumc.folder() as folder:
                self.run_small(folder, algorithm, 0, "kernel: {width: 0.25}\n")
                found = gpumc.summary(f"{folder}/out.h5")
                self.assertEqual(list(found["width"]), [0.25, 0.25])
                self.assertGreater(found["move_acceptance"][1], 0.6)

    def test_other_moves_have_none(self):
        with gpumc.folder() as folder:
            gpumc.run_config(MODEL.format(folder=folder, h=0) + f"algorithm: {ALGORITHMS['canonical']}}}\n", folder)
            self.assertNotIn("width", gpumc.summary(f"{folder}/out.h5"))

    def test_no_time_to_tune(self):
        for algorithm in "canonical", "pt":
            with self.subTest(algorithm), gpumc.folder() as folder:
                done = self.run_small(folder, algorithm, 7, expect=2)
                self.assertIn("metropolis_small tunes its width during at least the first 8 sweeps of the thermalization: set a "
                              "longer algorithm.thermalization, or kernel.width", done.stderr)

    def test_no_thermalization(self):
        """The mistake stands at `update`, for there is no thermalization to point at."""
        text = ("gpumc: 1\nseed: 3\nmodel: {name: heisenberg, shape: [4, 4]}\noutput: out.h5\nalgorithm:\n  name: pt\n"
                "  beta: {values: [0.5, 1.0]}\n  sweeps: 640\n  update: metropolis_small\n")
        self.assertRegex(validate(text), "^c.yaml:9:11: metropolis_small tunes its width")

    def test_short_tuning(self):
        """At beta = 9 eight sweeps leave the steps far too wide; given ones, and long tuning, are not warned of."""
        for algorithm in "canonical", "pt":
            for thermalization, kernel, warned in (8, "", True), (400, "", False), (8, "kernel: {width: 3}\n", False):
                with self.subTest(algorithm, thermalization=thermalization, kernel=kernel), gpumc.folder() as folder:
                    done = self.run_small(folder, algorithm, thermalization, kernel)
                    said = summary_attributes(f"{folder}/out.h5").get("step_warning", "")
                    self.assertEqual("tuning of the width" in done.stderr, warned)
                    self.assertEqual("in 1 of 2 places" in said and "a longer thermalization, or set kernel.width" in said, warned)


class Cycles(unittest.TestCase):
    """Annealing with fewer sweeps than a heat bath and its over-relaxation is warned of, and not trusted."""
    PA = "{{name: pa, population: 100, sweeps: {}, runs: 4, beta: {{from: 0, to: 0.5, step: 0.1}}}}\nkernel: {{over_relaxation: {}}}\n"

    def test_sweeps_below_a_cycle(self):
        for sweeps, k, warned in (4, 4, True), (5, 4, False), (2, 1, False), (1, 1, True), (1, 0, False), (0, 4, False):
            with self.subTest(sweeps=sweeps, k=k), gpumc.folder() as folder:
                text = MODEL.format(folder=folder, h=0) + "algorithm: " + self.PA.format(sweeps, k)
                done = gpumc.run_config(text, folder)
                wanted = (f"algorithm.sweeps = {sweeps} is less than a cycle of the move mixed, {k + 1} sweeps" if warned else "")
                self.assertEqual("is less than a cycle" in done.stderr, warned)
                self.assertIn(wanted, done.stderr)
                found = summary_attributes(f"{folder}/out.h5")
                self.assertIn(wanted, found.get("sweeps_warning", ""))
                self.assertIn(f"use algorithm.sweeps: {k + 1} or more, or a smaller kernel.over_relaxation" if warned else "",
                              found.get("sweeps_warning", ""))
                for command in "validate", "plan":
                    said = gpumc.run(command, f"{folder}/config.yaml")
                    self.assertEqual("is less than a cycle" in said.stdout + said.stderr, warned, command)


class Field(unittest.TestCase):
    def text(self, folder, algorithm, h, more=""):
        return MODEL.format(folder=folder, h=h) + f"algorithm: {ALGORITHMS[algorithm]}{more}}}\n"

    def test_what_means_nothing_in_a_field_is_absent(self):
        for algorithm in ALGORITHMS:
            for h in 0, 0.3:
                more = ", helicity_modulus: true" if h == 0 else ""
                with self.subTest(algorithm, h=h), gpumc.folder() as folder:
                    gpumc.run_config(self.text(folder, algorithm, h, more), folder)
                    found = gpumc.summary(f"{folder}/out.h5")
                    for name in ALWAYS:
                        self.assertTrue(all(map(math.isfinite, found[name][1:])), name)
                    for name in WITHOUT_FIELD:
                        self.assertEqual(name in found, h == 0, name)

    def test_asking_for_it_is_a_mistake(self):
        for algorithm in ALGORITHMS:
            with self.subTest(algorithm), gpumc.folder() as folder:
                done = gpumc.run_config(self.text(folder, algorithm, 0.3, ", helicity_modulus: true"), folder, expect=2)
                self.assertIn("model heisenberg has helicity_modulus only where model.h is 0: leave helicity_modulus out",
                              done.stderr)

    def test_a_moved_field(self):
        """The same of runs that move the field: what answers to it is there instead."""
        with gpumc.folder() as folder:
            text = self.text(folder, "pt", 0).replace("beta: {values: [0.5, 1.0]}",
                                                      "control: {name: h, beta: 0.5, values: [0, 0.5]}")
            gpumc.run_config(text, folder)
            found = gpumc.summary(f"{folder}/out.h5")
        self.assertIn("susceptibility_x", found)
        for name in WITHOUT_FIELD:
            self.assertNotIn(name, found)


GLASS = """\
gpumc: 1
seed: 6
model: {{name: heisenberg, shape: {shape}{model}}}
algorithm: {algorithm}
output: {folder}/{name}.h5
"""
PT = "{name: pt, beta: {values: [0.5, 1.0]}, samples: 6, sweeps: 320, exchange_every: 10}"
CANONICAL = "{name: canonical, beta: {values: [0.5, 1.0]}, samples: 6, thermalization: 20, sweeps: 640, update: heat_bath}"
PA = "{name: pa, population: 100, sweeps: 5, runs: 4, beta: {from: 0, to: 0.5, step: 0.1}}"


class Quenched(unittest.TestCase):
    def run_glass(self, folder, model, algorithm=PT, shape="[4, 6]", name="out", expect=0):
        text = GLASS.format(folder=folder, shape=shape, model=model, algorithm=algorithm, name=name)
        return gpumc.run_config(text, folder, expect=expect)

    def test_refused(self):
        for model, algorithm, message in (
                (", couplings: bimodal, J: -1", PT, "J must be above 0: it is the size of couplings of both signs"),
                (", couplings: file", PT, "couplings: file needs the key 'file', the path of the couplings"),
                (", couplings: file, file: ring.txt, J: 2", PT,
                 "J must be left at 1: couplings that are read from a file are energies"),
                (", file: ring.txt", PT, "file is read with couplings: file only; the couplings are uniform"),
                (", p: 0.3", PT, "p applies to bimodal couplings only; these are uniform"),
                (", couplings: gaussian, p: 0.3", PT, "p applies to bimodal couplings only; these are Gaussian"),
                (", disorder_seed: 3", PT, "disorder_seed = 3 would change nothing: couplings are uniform"),
                (", sample: 3", PT, "sample = 3 would change nothing: couplings are uniform"),
                (", write_couplings: true", PT, "write_couplings needs quenched couplings: these are all J"),
                ("", PT.replace("samples", "replicas: 2, samples"), "model heisenberg has no overlaps"),
                ("", CANONICAL, "model heisenberg has no quenched disorder as configured")):
            with self.subTest(model), gpumc.folder() as folder:
                self.assertIn(message, self.run_glass(folder, model, algorithm, expect=2).stderr)

    def test_couplings_that_are_too_small(self):
        """Reflections at fields of their size would underflow."""
        for value, model in ((-1e-13, "J: -1e-13"), (9.9e-13, "J: 9.9e-13, couplings: gaussian"), (1e-300, "J: 1e-300")):
            with self.subTest(model):
                text = GLASS.format(folder=".", shape="[4, 6]", model=f", {model}", algorithm=PT, name="out")
                self.assertEqual(validate(text), f"c.yaml:3:45: J = {value:g} is too small: kernels need a size of 1e-12 or more; give "
                                                 "energies in a smaller unit, such as J itself\n")
        text = GLASS.format(folder=".", shape="[4, 6]", model=", J: 0", algorithm=PT, name="out")
        self.assertEqual(validate(text), "c.yaml:3:45: J must not be 0: there would be no interaction\n")
        for model in ", J: -1e-12", ", J: 1e-12, couplings: bimodal":
            text = GLASS.format(folder=".", shape="[4, 6]", model=model, algorithm=PT, name="out")
            self.assertEqual(validate(text, expect=0), "")

    def test_files_that_are_refused(self):
        for text, message in (("shape 4\ncouplings 1 1 1 1\nfields 1 0 0 0\n", "holds random fields, which these spins do not have"),
                              ("shape 4\ncouplings 1 1 1e-7 1e-7\n", "its values differ too much in size"),
                              ("shape 4\ncouplings 1e-13 1e-13 -2e-13 0\n",
                               "the largest coupling is 2e-13, but kernels need a size of 1e-12 or more: give energies in a smaller unit"),
                              ("shape 6\ncouplings 1 1 1 1 1 1\n", "the shape is 6, but the lattice of the model is 4")):
            with self.subTest(text), gpumc.folder() as folder:
                pathlib.Path(folder, "ring.txt").write_text(text)
                algorithm = PT.replace("samples: 6", "samples: 1")
                done = self.run_glass(folder, f", couplings: file, file: {folder}/ring.txt", algorithm, "[4]", expect=2)
                self.assertIn(message, done.stderr)

    def test_couplings_that_were_written_give_the_same_run(self):
        """Gaussian ones as well: they are rounded to what kernels have, which the way through the file does not change."""
        for model, shape in ((", couplings: bimodal, disorder_seed: 2", "[4, 6]"), (", couplings: gaussian", "[4, 4, 4]"),
                             (", couplings: gaussian", "[8]")):
            with self.subTest(model, shape=shape), gpumc.folder() as folder:
                self.run_glass(folder, model + ", write_couplings: true", shape=shape, name="first")
                self.run_glass(folder, f", couplings: file, file: {folder}/first.h5, write_couplings: true", shape=shape,
                               name="second")
                with h5py.File(f"{folder}/first.h5") as first, h5py.File(f"{folder}/second.h5") as second:
                    couplings = first["disorder/couplings"][...]
                    np.testing.assert_array_equal(couplings, second["disorder/couplings"][...])
                    self.assertEqual(len(np.unique(couplings, axis=0)), 6)
                    if "bimodal" in model:
                        self.assertEqual(set(couplings.ravel()), {-1.0, 1.0})
                    for name in "magnetization2", "overlap2", "binder_overlap":
                        np.testing.assert_array_equal(first["summary"][name], second["summary"][name], name)
                    np.testing.assert_allclose(first["summary/energy"], second["summary/energy"], atol=1e-6)

    def test_every_algorithm_has_samples(self):
        """The samples of `pt` and `canonical` are those of their numbers; `pa` takes the one that is configured."""
        written = {}
        for name, algorithm, sample in (("pt", PT, 0), ("canonical", CANONICAL, 0), ("pa", PA, 3)):
            with gpumc.folder() as folder:
                self.run_glass(folder, f", couplings: gaussian, sample: {sample}, write_couplings: true", algorithm)
                with h5py.File(f"{folder}/out.h5") as file:
                    written[name] = file["disorder/couplings"][...]
                    self.assertTrue(np.isfinite(file["summary/energy"][...]).all())
        np.testing.assert_array_equal(written["pt"], written["canonical"])
        np.testing.assert_array_equal(written["pt"][3], written["pa"][0])

    def test_what_pt_reports(self):
        """Chains of XY spins have no chirality."""
        for components, shape, chirality in (3, "[4, 6]", True), (3, "[8]", True), (2, "[4, 6]", True), (2, "[8]", False):
            with self.subTest(components=components, shape=shape), gpumc.folder() as folder:
                self.run_glass(folder, f", couplings: bimodal, components: {components}", shape=shape)
                found = gpumc.summary(f"{folder}/out.h5")
                for name in "overlap2", "overlap4", "binder_overlap", "chi_overlap", "link_overlap", "overlap_structure_factor":
                    self.assertTrue(np.isfinite(found[name]).all(), name)
                for name in "chirality_overlap2", "chirality_overlap4", "binder_chirality", "chi_chirality":
                    self.assertEqual(name in found, chirality, name)


def validate(text, expect=2):
    """What `gpumc validate` says of the text, which is c.yaml."""
    with gpumc.folder() as folder:
        path = pathlib.Path(folder) / "c.yaml"
        path.write_text(text)
        done = gpumc.run("validate", path)
        assert done.returncode == expect, (done.returncode, done.stderr)
        return done.stderr.replace(str(path), "c.yaml")


class Walks(unittest.TestCase):
    TEXT = ("gpumc: 1\nseed: 3\nmodel: {{name: heisenberg, {model}}}\n"
            "algorithm: {{name: muca, walkers: 64, bin: {bin}}}\noutput: out.h5\n")

    def test_what_does_not_walk_is_refused_with_its_place(self):
        for model, size, message in (
                ("shape: [4, 6], couplings: bimodal", 1,
                 "its couplings are quenched; leave model.couplings at uniform, or use algorithm canonical, pt or pa"),
                ("shape: [256, 256, 256]", 1000,
                 "it has 50331648 bonds, but exact sums over them need fewer than 2^24 = 16777216; use a smaller model.shape")):
            with self.subTest(model):
                self.assertEqual(validate(self.TEXT.format(model=model, bin=size)),
                                 "c.yaml:4:19: algorithm muca cannot run model heisenberg, which does not walk under a tabulated "
                                 f"weight: {message}\n")
        self.assertEqual(validate(self.TEXT.format(model="shape: [4, 6]", bin=1), expect=0), "")


class KeysOfMoves(unittest.TestCase):
    """Keys of the kernel that only one move reads are refused with others, but for their defaults."""
    CANONICAL = "{{name: canonical, sweeps: 100, thermalization: 9, update: {}, beta: {{values: [1]}}}}"
    PA = "{name: pa, population: 100, beta: {to: 1, step: 0.1}}"
    MUCA = "{name: muca}"

    def check(self, algorithm, kernel, expected, campaign=""):
        text = (f"gpumc: 1\nseed: 3\nmodel: {{name: heisenberg, shape: [4, 4]}}\nalgorithm: {algorithm}\nkernel: {{{kernel}}}\n"
                f"output: out{'{algorithm.update}' if campaign else ''}.h5\n{campaign}")
        said = validate(text, expect=2 if expected else 0)
        self.assertEqual(said, f"c.yaml:5:{10 + kernel.index(':') + 2}: {expected}\n" if expected else "")

    def test_other_moves(self):
        for update in "mixed", "heat_bath", "metropolis", "over_relaxation":
            self.check(self.CANONICAL.format(update), "width: 0.5",
                       f"kernel.width has no effect with update: {update}, only with metropolis_small: set algorithm.update to "
                       "that, or leave kernel.width out")
        for update in "heat_bath", "metropolis", "over_relaxation", "metropolis_small":
            self.check(self.CANONICAL.format(update), "over_relaxation: 1",
                       f"kernel.over_relaxation has no effect with update: {update}, only with mixed: set algorithm.update to "
                       "that, or leave kernel.over_relaxation out")

    def test_accepted(self):
        self.check(self.CANONICAL.format("metropolis_small"), "width: 0.5", "")
        self.check(self.CANONICAL.format("mixed"), "over_relaxation: 1", "")
        self.check(self.CANONICAL.format("metropolis"), "over_relaxation: 4", "")
        self.check(self.PA, "over_relaxation: 1", "")

    def test_algorithms_without_a_choice(self):
        self.check(self.PA, "width: 0.5", "kernel.width has no effect with algorithm pa, which sweeps by mixed, only with update: "
                                          "metropolis_small: leave kernel.width out")
        for key, move in ("width", "metropolis_small"), ("over_relaxation", "mixed"):
            self.check(self.MUCA, f"{key}: 1", f"kernel.{key} has no effect with algorithm muca, which does not sweep, only with "
                                               f"update: {move}: leave kernel.{key} out")

    def test_campaigns(self):
        """The task that has no use for the key is refused, as one of another kernel would be."""
        self.check(self.CANONICAL.format("mixed"), "over_relaxation: 1",
                   "kernel.over_relaxation has no effect with update: metropolis, only with mixed: set algorithm.update to that, "
                   "or leave kernel.over_relaxation out",
                   "campaign: {algorithm.update: [mixed, metropolis]}\n")


class Plan(unittest.TestCase):
    """Updates of walks: runs without a range had 1.33e10 (a ring of 8) and 8.5e9 (of 16) of them."""

    def updates(self, shape, keys=""):
        with gpumc.folder() as folder:
            path = pathlib.Path(folder) / "c.yaml"
            path.write_text(f"gpumc: 1\nseed: 3\nmodel: {{name: heisenberg, shape: {shape}}}\n"
                            f"algorithm: {{name: muca, beta: {{from: 0.1, to: 1, step: 0.1}}{keys}}}\n"
                            f"kernel: {{device: cpu}}\noutput: {folder}/out.h5\n")
            done = gpumc.run("plan", path, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)["tasks"][0]["updates"]

    def test_rare_states_at_the_ends_are_counted(self):
        for shape, seen in ("[8]", 1.33e10), ("[16]", 8.5e9), ("[4, 4]", 1.03e10):
            found = self.updates(shape)
            self.assertTrue(0.5 < found / seen < 2, (shape, found, seen))
            self.assertLess(self.updates(shape, ", range: {from: -0.8, to: 0.8}"), found / 10)


class Bins(unittest.TestCase):
    """Weights at the far end of the grid change by a factor of e over a bin, or there are 64 of all values."""

    def bin_of(self, more, keys=""):
        with gpumc.folder() as folder:
            path = pathlib.Path(folder) / "c.yaml"
            path.write_text(f"gpumc: 1\nseed: 3\nmodel: {{name: heisenberg, {more}}}\n"
                            f"algorithm: {{name: muca, walkers: 64, iteration: {{maximum: 1}}{keys},\n"
                            "            production: {updates: 100, measurements: 100}}\n"
                            f"kernel: {{device: cpu}}\noutput: {folder}/out.h5\n")
            done = gpumc.run("run", path, "--quiet")
            self.assertEqual(done.returncode, 0, done.stderr)
            config = json.loads(gpumc.run("info", f"{folder}/out.h5", "--json").stdout)["config"]
            return config["algorithm"]["bin"], gpumc.summary(f"{folder}/out.h5")["energy_bin"]

    def test_by_default(self):
        for more, keys, expected in (("shape: [2]", "", 4 / 64), ("shape: [8, 8]", "", 1),
                                     ("shape: [8, 8]", ", beta: {from: 0, to: 4, step: 1}", 0.25),
                                     ("shape: [8, 8], J: -0.001", "", 0.256 / 64)):
            with self.subTest(more, keys=keys):
                found, levels = self.bin_of(more, keys)
                self.assertAlmostEqual(found / expected, 1, delta=1e-4)
                self.assertAlmostEqual((levels[1:] - levels[:-1]).min() / expected, 1, delta=1e-4)

    def test_no_bin_at_an_end_is_nearly_empty(self):
        """They are symmetric, and the outermost ones reach beyond the largest energy by half a bin or less."""
        for width in (0.1, 0.11, 0.4, 0.13):
            with self.subTest(width=width):
                found, levels = self.bin_of("shape: [2]", f", bin: {width}")
                self.assertAlmostEqual(found, width)
                self.assertAlmostEqual(levels[0], -levels[-1], delta=1e-9)
                self.assertLess(levels[-1] - 1e-3, 2)


if __name__ == "__main__":
    cases.main()

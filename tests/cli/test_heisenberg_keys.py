"""Mistakes of a configuration of Heisenberg spins, which quantities a run in a field has, and bins by default."""
import json
import math
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import gpumc_program as gpumc  # noqa: E402

MODEL = "gpumc: 1\nseed: 5\nmodel: {{name: heisenberg, shape: [4, 4], h: {h}}}\noutput: {folder}/out.h5\n"
ALGORITHMS = {
    "canonical": "{name: canonical, beta: {values: [0.5, 1.0]}, replicas: 16, thermalization: 20, sweeps: 640",
    "pt": "{name: pt, beta: {values: [0.5, 1.0]}, samples: 32, sweeps: 640, exchange_every: 10",
    "pa": "{name: pa, population: 100, sweeps: 5, runs: 16, beta: {from: 0, to: 0.5, step: 0.1}",
}
WITHOUT_FIELD = "susceptibility", "binder_parameter", "helicity_modulus"
ALWAYS = "energy", "specific_heat", "abs_magnetization", "magnetization2", "magnetization4"


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
                self.assertIn("metropolis_small tunes its width in the first 8 sweeps of the thermalization or more: make it "
                              "longer, or set kernel.width", done.stderr)


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
            return config["algorithm"]["bin"], gpumc.summary(f"{folder}/out.h5")["level_energy"]

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
    unittest.main(verbosity=2)

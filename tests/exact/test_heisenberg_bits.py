"""Heisenberg and XY spins have the same bits for every instruction set and number of threads.

Shapes have lines shorter than a vector, longer than one, and sides of length 2; a colour has fewer sites than share
random counters, and more than are processed together.
"""
import itertools
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, gpumc_program as gpumc  # noqa: E402
from support.results import numbers  # noqa: E402

CONFIG = """\
gpumc: 1
seed: 3
model: {{name: heisenberg, shape: {shape}, components: {components}, h: 0.3}}
algorithm: {{name: canonical, beta: {{values: [0.7, 1.4]}}, replicas: 3, update: {update}, thermalization: 32,
            sweeps: 60, series: true, structure_factor: true, norm_drift: true}}
kernel: {{variant: {variant}}}
output: {folder}/{name}.h5
"""
SHAPES = "[2]", "[8]", "[66]", "[2, 2]", "[6, 4]", "[34, 2, 2]", "[12, 10, 6]"
LEVELS = "x86-64-v2", "x86-64-v3", "x86-64-v4"
UNKNOWN, INVALID = 3, 2  # a level that this machine does not run, or this build does not have


class Bits(unittest.TestCase):
    def run_job(self, folder, name, keys, *arguments):
        path = pathlib.Path(folder) / f"{name}.yaml"
        path.write_text(CONFIG.format(folder=folder, name=name, **keys))
        done = gpumc.run("run", path, "--quiet", *arguments)
        return done, f"{folder}/{name}.h5"

    def test_instruction_sets_and_threads(self):
        compared = 0
        for shape, components, variant, update in cases.of(itertools.product(
                SHAPES, (2, 3), ("double", "float"), ("mixed", "metropolis", "metropolis_small", "swendsen_wang", "wolff"))):
            keys = dict(shape=shape, components=components, variant=variant, update=update)
            with self.subTest(**keys), gpumc.folder() as folder:
                done, path = self.run_job(folder, "reference", keys, "--threads", "1")
                self.assertEqual(done.returncode, 0, done.stderr)
                reference = numbers(path)
                for threads, level in enumerate(LEVELS, 1):
                    done, path = self.run_job(folder, level, keys, "--threads", str(threads), "--set",
                                              f"kernel.isa={level}")
                    if done.returncode in (UNKNOWN, INVALID):
                        continue
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(numbers(path), reference, level)
                    compared += 1
        print(f"{compared} results have the bits of their reference")

    def test_precisions_differ(self):
        """Control: differing numbers are detected."""
        with gpumc.folder() as folder:
            found = [numbers(self.run_job(folder, variant, dict(shape="[8]", components=3, variant=variant,
                                                                update="heat_bath"))[1])
                     for variant in ("double", "float")]
        self.assertNotEqual(*found)


if __name__ == "__main__":
    unittest.main(verbosity=2)

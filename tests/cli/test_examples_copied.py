"""The examples of docs/examples, copied out of the tree and built into a program with GPUMC_PLUGINS, as a user with models
of one's own does: their configurations give the numbers of the program that cli_test_examples takes. The control: with
another seed they do not.

CTest: validate (cli_test_examples)
"""
import pathlib
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.device import ROOT  # noqa: E402
from support.gpumc_program import numeric_datasets  # noqa: E402
from support.installed import BUILD, EXAMPLES, class_folder, output  # noqa: E402


def build(folder):
    """Returns a program with the examples, which stand in `folder`; the tree's own build is not touched."""
    shutil.copytree(EXAMPLES, folder / "own")
    plugins = ";".join(str(folder / "own" / name) for name in ("potts", "random_walk", "rods"))
    output("cmake", "-S", ROOT, "-B", folder / "build", "-DGPUMC_CUDA=OFF", "-DGPUMC_TESTS=OFF", f"-DGPUMC_PLUGINS={plugins}")
    output("cmake", "--build", folder / "build", "--parallel", "2")
    return folder / "build/gpumc"


class Copied(unittest.TestCase):
    def test_it_gives_the_same_numbers(self):
        folder = class_folder(type(self))
        program = build(folder)
        for config in sorted(EXAMPLES.glob("*/*.yaml")):
            with self.subTest(config.stem):
                found = {}
                for name, which, seed in (("within", BUILD / "tests/gpumc_with_examples", 1), ("copied", program, 1),
                                          ("other", program, 2)):
                    path = folder / f"{name}-{config.stem}.h5"
                    output(which, "run", config, "--quiet", "--set", f"output={path}", "--set", f"seed={seed}")
                    found[name] = numeric_datasets(path)
                self.assertTrue(found["within"])
                self.assertEqual(found["copied"], found["within"])
                self.assertNotEqual(found["other"], found["within"])


if __name__ == "__main__":
    unittest.main(verbosity=2)

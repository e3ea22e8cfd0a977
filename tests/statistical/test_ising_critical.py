"""T_c, nu, beta/nu and gamma/nu of the square Ising model from configs/ising2d/critical.yaml, with another seed than the tutorial's.

Null: 2.269185 (Onsager), 1, 1/8 and 7/4 within three of their errors: by the collapses of gpumc.analysis.critical_point() with the leading
corrections L^-7/4, which are known (Salas and Sokal, J. Stat. Phys. 98, 551 (2000)), and of quotients, extrapolated with them, 1/nu, beta/nu,
gamma/nu. Seven comparisons, false alarm 2 %. Fits have p above 0.1 %, and errors are no larger than the tutorial says, so that they mean something.

Controls, by the same gates: temperatures wrong by 0.1 %; a collapse of all sizes without corrections, whose T_c is wrong and whose p tells it.

CTest: validate (cli_test_critical)
"""
import os
import pathlib
import sys
import unittest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools/python")]
import gpumc as reader  # noqa: E402
from gpumc import analysis  # noqa: E402
from support import cases, device, gpumc_program as gpumc  # noqa: E402

EXACT = {"t_c": 2 / np.log(1 + np.sqrt(2)), "nu": 1.0, "beta/nu": 1 / 8, "gamma/nu": 7 / 4, "1/nu": 1.0}
LARGEST_ERROR = {"t_c": 4e-4, "nu": 0.01, "beta/nu": 1.2e-3, "gamma/nu": 2e-3, "1/nu": 0.02}
OMEGA, SEED, ERRORS = 1.75, 20260726, 3.0


class Ising(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with gpumc.folder() as folder:
            done = gpumc.run("run", ROOT / "configs/ising2d/critical.yaml", "--quiet", "--device", device.NAME, "--set", f"seed={SEED}",
                             "--set", f"output={folder}/{{model.shape}}.h5", timeout=3000)
            if done.returncode != 0:
                raise AssertionError(done.stderr)
            cls.results = [reader.read(path) for path in sorted(pathlib.Path(folder).glob("*.h5"))]

    def expect(self, name, value, error):
        print(f"{name} = {value:.6f}({error:.6f}), {(value - EXACT[name]) / error:+.2f} errors from {EXACT[name]:.6f}")
        with self.subTest(name=name):
            self.assertLess(abs(value - EXACT[name]), ERRORS * error)

    def test_collapse(self):
        found = analysis.critical_point(self.results, omega=OMEGA)
        print(found.text())
        best = found.best
        numbers = {"t_c": (best.t_c, best.t_c_error), "nu": (best.nu, best.nu_error)}
        numbers |= {name: (fit.exponent, fit.exponent_error) for name, fit in found.exponents.items()}
        self.assertEqual(set(numbers), {"t_c", "nu", "beta/nu", "gamma/nu"})
        for name, (value, error) in numbers.items():
            self.expect(name, value, error)
            self.assertLess(error, LARGEST_ERROR[name], name)
        for fit in (best, *found.exponents.values()):
            self.assertGreater(fit.quality.p, 1e-3)
        self.assertGreater(abs(1.001 * best.t_c - EXACT["t_c"]), ERRORS * best.t_c_error)

    def test_without_corrections(self):
        plain = analysis.collapse(self.results, "binder_parameter")
        print(plain.text())
        self.assertLess(plain.quality.p, 1e-6)
        self.assertGreater(abs(plain.t_c - EXACT["t_c"]), ERRORS * plain.t_c_error)
        self.assertTrue(any("do not collapse" in remark for remark in plain.remarks))

    def test_quotients(self):
        pairs = analysis.quotients(self.results)
        for found in pairs:
            print(found.text(), found.remarks)
        self.assertEqual([found.sides for found in pairs], [(8, 16), (12, 24), (16, 32), (24, 48), (32, 64)])
        for name in ("1/nu", "beta/nu", "gamma/nu"):
            found = analysis.extrapolate(pairs, name=name, exponent=OMEGA)
            print(found.text())
            self.assertGreater(found.quality.p, 1e-3)
            self.expect(name, found.value, found.error)


if __name__ == "__main__":
    device.require()
    cases.main()

"""tools/plot --slowing-down: exponents of known times, and pictures of files that the program writes.

CTest: release (a tool of Python; runs of gpumc: cli_test_canonical_keys), methods 5 s
"""
import pathlib
import subprocess
import sys
import types
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools/python")]
from gpumc.analysis import slowing, transition  # noqa: E402
from support import cases, device  # noqa: E402
from support.program import ProgramCase  # noqa: E402

SIDES = (16, 32, 64, 128, 256, 512)
CONFIG = """\
gpumc: 1
seed: 3
model: {{name: ising2d, shape: [{side}, {side}]}}
algorithm: {{name: canonical, beta: {{values: [{beta}]}}, replicas: 4, update: {update}, thermalization: 100, sweeps: 2000}}
output: {output}
"""


def result(side, time, error, update="swendsen_wang", beta=0.44, updated=None, converged=1, shape=None):
    summary = {"autocorrelation_time/beta": [beta], "autocorrelation_time/energy": [time], "autocorrelation_time/energy_error": [error],
               "converged": [converged], **({} if updated is None else {"updated": [updated]})}
    return types.SimpleNamespace(path="file", config={"model": {"name": "ising2d", "shape": shape or [side, side]},
                                                      "algorithm": {"update": update}}, summary=summary)


class Known(unittest.TestCase):
    def test_the_exponent_and_its_error_are_right(self):
        """(z - known)/error of 400 sets of noisy times has a mean of 0 within 0.2 and a variance of 1 within 0.3 (four and four
        standard deviations). Controls: not of errors that are half as large, nor of another exponent."""
        random = np.random.default_rng(7)
        for known in 0.25, 2.17:
            away, halved = [], []
            for _ in range(400):
                times = [1.5 * side ** known * (1 + 0.03 * random.normal()) for side in SIDES]
                for found, share in (away, 1.0), (halved, 0.5):
                    growth, = slowing.growths([result(side, time, share * 0.03 * time) for side, time in zip(SIDES, times)])
                    found.append((growth.power.values[1] - known) / growth.power.errors[1])
            self.assertLess(abs(np.mean(away)), 0.2)
            self.assertLess(abs(np.var(away) - 1), 0.3)
            self.assertGreater(np.var(halved) - 1, 0.3)
            shift = 0.02 / growth.power.errors[1]
            self.assertGreater(shift, 0.2)

    def test_errors_hold_corrections(self):
        """Of 200 sets of times L^z (1 + a L^-0.8 + b L^-1.6), a normal with 0.2 and b with 0.5, 60 to 80 % of z are within one error, as many as 68 % would be with
        a false alarm of 1 %. Control: the errors of a fit without corrections."""
        random, within, plain = np.random.default_rng(77), 0, 0
        for _ in range(200):
            a, b, z = random.normal(0, 0.2), random.normal(0, 0.5), random.uniform(0.2, 2.2)
            sides = np.array(SIDES[:5]) / 2
            times = 1.5 * sides ** z * (1 + a * sides ** -0.8 + b * sides ** -1.6) * (1 + 0.004 * random.normal(size=5))
            growth, = slowing.growths([result(int(side), time, 0.004 * time) for side, time in zip(sides, times)])
            within += abs(growth.exponent[0] - z) < growth.exponent[1]
            plain += abs(growth.power.values[1] - z) < growth.power.errors[1]
        print(f"with corrections {within} of 200 within one error, without {plain}")
        self.assertTrue(120 <= within <= 160, within)
        self.assertLess(plain, 80)

    def test_a_logarithm_is_told_from_a_power(self):
        """Exact times a + b ln L: the logarithm fits without deviations, the power does not; and the other way round."""
        for times, fits, fails in ((lambda side: 1 + np.log(side), "logarithm", "power"), (lambda side: side ** 0.5, "power", "logarithm")):
            growth, = slowing.growths([result(side, times(side), 0.005 * times(side)) for side in SIDES])
            self.assertLess(getattr(growth, fits).chi2, 1e-6)
            self.assertGreater(getattr(growth, fails).chi2, 50)

    def test_times_are_in_updates_of_a_site(self):
        growth, = slowing.growths([result(side, 2.0, 0.1, "wolff", updated=1.5) for side in SIDES])
        np.testing.assert_allclose(growth.times, 3.0)
        np.testing.assert_allclose(growth.errors, 0.15)

    def test_moves_are_apart_and_sizes_in_order(self):
        found = slowing.growths([result(side, side ** z, 0.01 * side ** z, update) for side in reversed(SIDES)
                                 for update, z in (("wolff", 0.25), ([{"metropolis": 1}, {"wolff": 2}], 0.5))])
        self.assertEqual([growth.move for growth in found], ["wolff", "1 metropolis + 2 wolff"])
        for growth, z in zip(found, (0.25, 0.5)):
            self.assertEqual(list(growth.sides), sorted(SIDES))
            self.assertAlmostEqual(growth.power.values[1], z)

    def test_what_is_told(self):
        few, = slowing.growths([result(16, 3.0, 0.1), result(32, 3.5, 0.1, converged=0)])
        self.assertEqual(few.text(), "swendsen_wang, energy, L = 16: tau = 3.00(10)\n"
                                     "swendsen_wang, energy, L = 32: tau = 3.50(10) (not converged)")
        many, = slowing.growths([result(side, side ** 0.25, 0.01) for side in SIDES])
        self.assertRegex(many.text(), r"tau ~ L\^z with z = 0.2\d+\(\d+\) \(Baillie and Coddington \(1991\): 0.25\); "
                                      r"without corrections to the power 0.2500\(\d+\), chi\^2/dof = \S+/4\n")

    def test_refusals(self):
        for results, words in (([result(16, 3, 0.1), result(32, 3, 0.1, beta=0.45)], "different temperatures: beta = 0.44, 0.45"),
                               ([result(16, 3, 0.1), result(16, 3, 0.1)], "two results of one size"),
                               ([result(16, 3, 0.1, shape=[16, 32])], "lattices of equal sides"),
                               ([result(16, 3, 0.1), result(16, 3, 0.1, shape=[16, 16, 16])], "different models or dimensions")):
            with self.subTest(words=words), self.assertRaisesRegex(transition.NotComparable, words):
                slowing.growths(results)
        with self.assertRaisesRegex(transition.NotComparable, "no autocorrelation time of 'bond_order'; choose from: energy"):
            slowing.growths([result(16, 3, 0.1)], "bond_order")


class Files(ProgramCase):
    def simulate(self, side, update, beta=0.44068679350977):
        output = f"{update}-{side}.h5"
        self.path(f"{output}.yaml").write_text(CONFIG.format(side=side, update=update, beta=beta, output=output))
        self.gpumc("run", self.path(f"{output}.yaml"), "--quiet", "--device", device.NAME)
        return output

    def plot(self, *arguments):
        return subprocess.run([sys.executable, ROOT / "tools/plot", "--slowing-down", *arguments], capture_output=True, text=True,
                              cwd=self.directory)

    def test_picture(self):
        files = [self.simulate(side, update) for update in ("swendsen_wang", "wolff") for side in (4, 8, 16)]
        shown = self.plot(*files, "-o", "slow.png", "--quantities", "energy,abs_magnetization")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        for move in "swendsen_wang", "wolff":
            for name in "energy", "abs_magnetization":
                self.assertRegex(shown.stdout, rf"{move}, {name}, L = 16: tau = \d\.\d+\(\d+\)\n{move}, {name}: tau ~ L\^z with z = 0\.\d+\(\d+\)")
        self.assertEqual(self.path("slow.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")

    def test_refusals(self):
        files = [self.simulate(8, "wolff"), self.simulate(16, "wolff", beta=0.4)]
        self.assertIn("different temperatures", self.plot(*files).stderr)
        self.assertIn("choose from: abs_magnetization, energy", self.plot(files[0], "--quantities", "no_such").stderr)


if __name__ == "__main__":
    cases.main()

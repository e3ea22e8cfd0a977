"""tools/plot --transition: crossings of known curves, and of files that the program writes."""
import os
import pathlib
import subprocess
import sys
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]
import gpumc_reader  # noqa: E402
import transition  # noqa: E402
from support import device  # noqa: E402
from support.program import ProgramCase  # noqa: E402

SPIN_GLASS = """\
gpumc: 1
seed: 3
model: {name: ea, shape: [4, 4, 4], disorder_seed: 5}
algorithm: {name: pt, beta: {from: 0.4, to: 1.0, count: 6}, samples: 64, sweeps: 640}
output: "{model.shape}.h5"
campaign: {model.shape: [[4, 4, 4], [6, 6, 6]]}
"""


def line(side, slope, noise=None, at=0.8):
    """0.5 at beta = `at`; the samples scatter by `noise`."""
    beta = np.linspace(0.5, 1.0, 11)
    values = 0.5 + slope * (beta - at)
    left_out = None if noise is None else values - np.subtract(noise, np.mean(noise))[:, None]
    return transition.Curve(side, beta, values, np.full(11, 0.01), left_out)


class Crossings(unittest.TestCase):
    def test_of_lines(self):
        panel = transition.Panel("", "", [line(4, 1.0), line(8, 2.0, at=0.83)])
        found, = transition.crossings(panel)
        self.assertEqual(found.sides, (4, 8))
        self.assertAlmostEqual(found.temperature, 1 / 0.86)  # beta - 0.8 = 2 (beta - 0.83)
        self.assertTrue(np.isnan(found.error))

    def test_none_within_the_temperatures(self):
        for at in (0.4, 1.2):
            self.assertEqual(transition.crossings(
                transition.Panel("", "", [line(4, 1.0, at=at), line(8, 2.0, at=at)])), [])

    def test_error_is_that_of_the_difference_over_its_slope(self):
        count = 64
        noise = 0.001 * np.random.default_rng(1).standard_normal(count)
        small, large = line(4, 1.0, noise), line(8, 2.0, noise[::-1])
        error = transition.error_of(small, large)
        one = np.sqrt((count - 1) * np.var(noise))  # of a curve, by jackknife; the slope is 1
        self.assertAlmostEqual(error / (np.sqrt(2) * one / 0.8 ** 2), 1, delta=0.05)


class OnTheProgram(ProgramCase):
    def plot(self, *arguments, code=0):
        environment = dict(os.environ, MPLCONFIGDIR=str(self.directory))
        words = [sys.executable, ROOT / "tools" / "plot", "--transition", *arguments]
        process = subprocess.run(list(map(str, words)), capture_output=True, text=True,
                                 cwd=self.directory, env=environment)
        self.assertEqual(process.returncode, code, process.stdout + process.stderr)
        return process

    def setUp(self):
        super().setUp()
        self.gpumc("run", self.write("job.yaml", SPIN_GLASS), "--quiet")

    def test_picture(self):
        self.plot("6x6x6.h5", "4x4x4.h5", "-o", "transition.png")
        self.assertEqual(self.path("transition.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")

    def test_errors_of_the_samples_are_those_of_the_summary(self):
        result = gpumc_reader.read(self.path("4x4x4.h5"))
        for panel in transition.panels([result]):
            own, = panel.curves
            count = len(own.left_out)
            np.testing.assert_allclose(own.left_out.mean(0), own.values, rtol=0.01)
            error = np.sqrt((count - 1) * own.left_out.var(0))
            np.testing.assert_allclose(error, own.errors, rtol=0.2)

    def test_refusals(self):
        shown = self.plot("4x4x4.h5", "4x4x4.h5", code=1)
        self.assertIn("two files of the same size", shown.stderr)


if __name__ == "__main__":
    device.require()
    unittest.main()

"""tools/plot --helicity: where known curves have their transition, and pictures of files that the program writes.

CTest: methods 5 s
"""
import math
import pathlib
import subprocess
import sys
import types
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools/python")]
from gpumc.analysis import helicity, transition  # noqa: E402
from support import cases, device  # noqa: E402
from support.program import ProgramCase  # noqa: E402

CONFIG = """\
gpumc: 1
seed: 3
model: {{name: heisenberg, components: {components}, shape: {shape}}}
algorithm: {{name: canonical, beta: {{from: 0.9, to: 1.25, count: 6}}, replicas: 4, thermalization: 100, sweeps: 2000,
            interval: 5, helicity_modulus: {asked}}}
output: {output}
"""


def result(side, critical, constant, error=1e-5, components=2):
    """Y = (2 T/pi) (1 + 1/(2 (ln L + C))) at T = critical, with a slope that grows with the size."""
    temperature = np.linspace(1.1, 0.8, 13)
    at_critical = 2 * critical / math.pi * (1 + 1 / (2 * (math.log(side) + constant)))
    return types.SimpleNamespace(
        path="file", config={"model": dict(name="heisenberg", components=components, shape=[side, side], J=1.0),
                             "algorithm": {}},
        summary={"beta": 1 / temperature, "helicity_modulus": at_critical - math.log(side) / 3 * (temperature - critical),
                 "helicity_modulus_error": np.full(13, error)})


class Known(unittest.TestCase):
    def test_the_transition_is_found(self):
        """Within three of its errors, from noise of 1e-5; control: of curves that have another C it is not."""
        for critical in 0.88, 0.9:
            sizes = helicity.sizes([result(side, critical, 1.5) for side in (64, 16, 32)])
            self.assertEqual([size.side for size in sizes], [16, 32, 64])
            for small, large in zip(sizes, sizes[1:]):
                found, error = helicity.transition_of(small, large)
                self.assertLess(abs(found - critical), 3 * error)
                self.assertLess(error, 1e-3)
            wrong, error = helicity.transition_of(*helicity.sizes([result(16, critical, 1.5), result(32, critical, 1.8)]))
            self.assertGreater(abs(wrong - critical), 3 * error)

    def test_curves_meet_the_line(self):
        size, = helicity.sizes([result(16, 0.9, 1.5)])
        slope, excess = math.log(16) / 3, 0.9 / math.pi / (math.log(16) + 1.5)
        found, error = helicity.meeting(size)
        self.assertAlmostEqual(found, 0.9 + excess / (slope + 2 / math.pi), delta=1e-6)
        self.assertLess(error, 1e-5)

    def test_errors_without_a_meeting(self):
        size, = helicity.sizes([result(16, 2.0, 1.5)])
        self.assertIn("does not reach 2 T/pi within", helicity.table([size]))

    def test_other_models_are_refused(self):
        for components, change in (3, {}), (2, {"shape": [4, 4, 4]}):
            other = result(16, 0.9, 1.5, components=components)
            other.config["model"].update(change)
            with self.assertRaises(transition.NotComparable):
                helicity.sizes([other])


class Files(ProgramCase):
    def simulate(self, **values):
        values = dict(dict(components=2, shape="[8, 8]", asked="true"), **values)
        path = self.path(f"{values['output']}.yaml")
        path.write_text(CONFIG.format(**values))
        self.gpumc("run", path, "--quiet", "--device", device.NAME)

    def plot(self, *arguments):
        return subprocess.run([sys.executable, ROOT / "tools/plot", "--helicity", *arguments], capture_output=True, text=True,
                              cwd=self.directory)

    def test_picture(self):
        self.simulate(shape="[8, 8]", output="8.h5")
        self.simulate(shape="[16, 16]", output="16.h5")
        shown = self.plot("16.h5", "8.h5", "-o", "xy.png")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stdout, r"^L = 8: Y = 2 T/pi at T = 0\.9\d+\(\d+\)\nL = 16: Y = 2 T/pi at T = 0\.9")
        self.assertRegex(shown.stdout, r"L = 8 and 16, logarithmic corrections, error of the noise alone: ")
        self.assertEqual(self.path("xy.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")

    def test_refusals(self):
        self.simulate(components=3, output="three.h5")
        self.assertIn("square XY models", self.plot("three.h5").stderr)
        self.simulate(asked="false", output="without.h5")
        self.assertIn("set algorithm.helicity_modulus: true", self.plot("without.h5").stderr)


if __name__ == "__main__":
    cases.main()

"""tools/plot --transition: crossings of known curves, and of files that the program writes.

CTest: first, release (cli_test_configs, cli_test_pt_keys)
"""
import os
import pathlib
import subprocess
import sys
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools/python")]
from gpumc.analysis import crossing, transition  # noqa: E402
from gpumc.plot.transition import curve_and_ends  # noqa: E402
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


def line(side, slope, at=0.8, error=0.01):
    """0.5 at beta = `at`."""
    beta = np.linspace(0.5, 1.0, 11)
    return transition.Curve(side, beta, 0.5 + slope * (beta - at), np.full(11, error))


class Crossings(unittest.TestCase):
    def assert_near(self, found, wanted, least=1e-6):
        """Open ends exactly; others as the smooth curve through the values, whose kinks it rounds, is zero."""
        if not 0 < wanted < np.inf:
            self.assertEqual(found, wanted)
        else:
            self.assertLess(abs(found - wanted), least, (found, wanted))

    def test_of_lines(self):
        panel = transition.Panel("Binder parameter", "", [line(4, 1.0), line(8, 2.0, at=0.83)])
        found, = transition.crossings(panel)
        self.assertEqual(found.sides, (4, 8))
        self.assertAlmostEqual(found.temperature, 1 / 0.86)  # beta - 0.8 = 2 (beta - 0.83)
        error = np.hypot(0.01, 0.01)  # of the difference, whose slope is 1
        self.assertAlmostEqual(found.lower, 1 / (0.86 + error))
        self.assertAlmostEqual(found.upper, 1 / (0.86 - error))
        self.assertEqual(transition.table([panel]), "Binder parameter: L = 4 and 8 cross at "
                         "T = 1.163 (1.144 to 1.182)")

    def test_interval_of_several_errors(self):
        found, = transition.crossings(transition.Panel("", "", [line(4, 1.0), line(8, 2.0)]), 3)
        self.assertAlmostEqual(found.lower, 1 / (0.8 + 0.03 * np.sqrt(2)))

    def test_beyond_the_temperatures(self):
        # Of 11 temperatures limits are of 3.12 errors: 1.041 is 1/(1.005 - 3.12 * 0.01 * sqrt(2)).
        for at, error, known in ((1.2, 0.01, "no crossing resolved"),
                                 (0.4, 0.01, "no crossing resolved"),
                                 (1.005, 0.01, "no crossing resolved; T < 1.041 at 95 %"),
                                 (0.495, 0.01, "no crossing resolved; T > 1.855 at 95 %"),
                                 (0.95, 0.1, "T = 1.053 (T < 1.571 at 95 %)"),
                                 (0.55, 0.1, "T = 1.818 (T > 1.158 at 95 %)"),
                                 (0.75, 0.1, "T = 1.333 (1.176 to 1.540)"),
                                 (0.75, 0.15, "no crossing resolved"),
                                 (0.75, 0.5, "no crossing resolved")):
            with self.subTest(at=at, error=error):
                found = transition.statement(line(4, 1.0, at), line(8, 2.0, at, error))
                self.assertEqual(transition.place(found), known)

    def test_limits_are_of_all_temperatures(self):
        """Of more temperatures a limit needs a more certain difference, by Bonferroni's rule."""
        for count, errors in ((1, 2.3263), (10, 3.0902), (50, 3.5401)):
            self.assertAlmostEqual(transition.error_levels(count)[2], errors, 4)

    def test_of_curves_that_cross_several_times(self):
        """The crossing is the likeliest one, and no doubtful one is outside of the interval."""
        beta = np.linspace(0.5, 1.0, 6)
        flat = transition.Curve(4, beta, np.zeros(6), np.zeros(6))
        wavy = transition.Curve(6, beta, np.array([-1, 0.2, -0.3, 0.1, 0.9, 1.0]), np.full(6, 0.5))
        found = transition.crossing(flat, wavy)
        self.assert_near(found.temperature, 1.2752576)
        self.assert_near(found.lower, 1.1818844)
        self.assert_near(found.upper, 1.8872363)

    def test_of_curves_that_become_one_again(self):
        """Where that is, on either side, is outside of the interval, and a doubtful place between is inside."""
        beta = np.linspace(0.5, 1.0, 6)
        flat = transition.Curve(4, beta, np.zeros(6), np.zeros(6))
        for values, lower, upper in (
                ((0, -1, -0.5, 0.5, 1, 0.01), 1.3163825, 1.3507870),
                ((0, -1, -0.5, 0.5, 1, -0.01), 1.3162801, 1.3507730),
                ((0, -1, -0.5, 0.5, 1, 0), 1.3163318, 1.3507798),
                ((0.15, -1, -0.5, 0.5, 1, -0.15), 1.3155126, 1.3516435),
                ((0, -1, -0.5, 0.11, 0.05, -0.3), 0.0, 1.3295300),
                ((0.3, -0.05, -0.11, 0.5, 1, 0), 1.3371585, np.inf),
                ((0.01, -1, -0.05, -0.5, 1, 2), 1.1553033, 1.4866465),
                ((-0.05, 0.05, 0, -0.05, 1, 2), 1.2190770, np.inf)):
            found = transition.crossing(flat, transition.Curve(6, beta, np.array(values), np.full(6, 0.1)))
            with self.subTest(values=values):
                self.assert_near(found.lower, lower)
                self.assert_near(found.upper, upper)

    def test_the_crossing_is_where_the_sides_meet(self):
        """Neither temperatures of the wrong sign by chance nor those without an error, equal or not in their
        last digit, move it."""
        beta = np.linspace(0.5, 1.0, 6)
        flat = transition.Curve(4, beta, np.zeros(6), np.zeros(6))
        for coldest, error in (0.01, 0.1), (-0.01, 0.1), (-0.15, 0.1), (0.0, 0.0), (1e-16, 0.0), (-1e-16, 0.0):
            large = transition.Curve(6, beta, np.array([0.15, -1, -0.5, 0.5, 1, coldest]),
                                     np.array([0.1, 0.1, 0.1, 0.1, 0.1, error]))
            with self.subTest(coldest=coldest):
                found = transition.crossing(flat, large)
                self.assert_near(found.temperature, 1.333, 0.003)
                self.assert_near(found.lower, 1.316, 0.003)
                self.assert_near(found.upper, 1.351, 0.003)

    def test_the_picture_shows_the_difference_at_all_temperatures(self):
        """Beyond the places where it is the most certain as well, where the smooth curve ends. Control: that curve alone does not."""
        beta = np.linspace(0.5, 1.0, 11)
        apart = transition.Curve(8, beta, np.sin(4 * np.pi * (beta - 0.75)), np.full(11, 0.05))  # -1 and 1 at 0.625 and 0.875
        parts = curve_and_ends(apart)
        self.assertEqual(len(parts), 3)
        drawn = np.concatenate([part[0] for part in parts])
        self.assertEqual((drawn.min(), drawn.max()), (beta[0], beta[-1]))
        for place, value in zip(beta, apart.values):
            near = [np.interp(place, *part) for part in parts if part[0][0] <= place <= part[0][-1]]
            self.assertLess(np.max(np.abs(np.subtract(near, value))), 0.1, place)
        known = crossing.estimate(apart)
        self.assertGreater(known.beta[0], beta[0])
        self.assertLess(known.beta[-1], beta[-1])
        self.assertEqual(len(curve_and_ends(transition.Curve(8, beta, beta - 0.75, np.full(11, 0.05)))), 1)

    def test_undetermined_values_are_left_out(self):
        large = line(8, 2.0)
        large.values[:3] = np.nan
        found, whole = (transition.crossing(line(4, 1.0), size) for size in (large, line(8, 2.0)))
        for name in ("temperature", "lower", "upper"):
            self.assertAlmostEqual(getattr(found, name), getattr(whole, name), 3)

    def test_all_pairs_together(self):
        """Closer than each alone, and disagreement is reported."""
        sizes = [line(4, 1.0), line(8, 2.0), line(16, 4.0)]
        panel = transition.Panel("Binder parameter", "", sizes)
        whole = transition.common([panel])
        self.assertAlmostEqual(whole.temperature, 1.25, 3)
        self.assertTrue(whole.agree)
        for found in transition.crossings(panel):
            self.assertLess(whole.upper - whole.lower, found.upper - found.lower)
        self.assertIn("all pairs together: T = 1.250 (", transition.table([panel]))
        apart = transition.Panel("", "", [line(4, 1.0), line(8, 2.0, at=0.75), line(16, 4.0, at=0.85)])
        self.assertIn("crossings drift with the size", transition.table([apart]))

    def test_pairs_that_do_not_cross(self):
        """All pairs together have no crossing where no pair has one, and are not said to disagree; a pair that has none,
        colder or hotter than all temperatures, hides not that of another."""
        def lines(*places):
            sizes = [line(4, 0.0)]
            for side, at in zip((8, 16, 32), places):
                sizes.append(transition.Curve(side, sizes[0].beta, sizes[-1].values + sizes[0].beta - at, sizes[0].errors))
            return [transition.Panel("Binder parameter", "", sizes)]
        for places, known in (((0.3, 0.3), "all pairs together: no crossing resolved"),
                              ((1.3, 1.3), "all pairs together: no crossing resolved"),
                              ((0.3, 1.3), "all pairs together: no crossing resolved"),
                              ((0.75, 1.003), "L = 4 and 8 cross at T = 1.333"),
                              ((0.497, 0.75), "L = 8 and 16 cross at T = 1.333"),
                              ((0.3, 0.75, 1.3), "L = 8 and 16 cross at T = 1.333")):
            with self.subTest(places=places), np.errstate(all="raise"):
                text = transition.table(lines(*places))
                self.assertIn(known, text)
                self.assertEqual("pairs together: T =" in text, 0.75 in places, text)
                self.assertEqual("the pairs differ" in text, 0.75 in places, text)

    def test_pairs_that_do_not_cross_exclude(self):
        """Two pairs cross at 1.25 with an error of 0.1; where a third is known to be past its own, there is no room."""
        beta = np.linspace(0.5, 1.0, 11)
        flat = transition.Curve(4, beta, np.zeros(11), np.full(11, 0.1), np.eye(11))
        second = transition.Curve(8, beta, beta - 0.8, np.full(11, 0.1), np.eye(11))
        without = transition.common([transition.Panel("", "", [flat, second])])
        third = transition.Curve(16, beta, second.values + 2 * (beta - 0.45), np.full(11, 0.1), np.eye(11))
        whole = transition.common([transition.Panel("", "", [flat, second, third])])
        self.assertGreater(whole.temperature, without.temperature)

    def test_temperatures_too_far_apart(self):
        """For errors that small it is said; of more temperatures and larger errors it is not."""
        for count, error, told in ((3, 1e-6, True), (21, 0.05, False)):
            beta = np.linspace(0.5, 1.0, count)
            flat = transition.Curve(4, beta, np.zeros(count), np.full(count, error))
            large = transition.Curve(8, beta, np.tanh(5 * (beta - 0.72)), np.full(count, error))
            text = transition.table([transition.Panel("Binder parameter", "", [flat, large])])
            self.assertEqual("too few temperatures between T = 1.333 and 2 " in text, told, text)
            self.assertEqual("too few" in text, told, text)


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

    def test_three_sizes_that_do_not_cross(self):
        """Ferromagnets hotter than their transition."""
        self.gpumc("run", self.path("job.yaml"), "--quiet", "--set", "model={name: ising2d, shape: [4, 4]}", "--set",
                   "algorithm={name: canonical, update: heat_bath, beta: {from: 0.2, to: 0.4, count: 8}, replicas: 8, "
                   "thermalization: 100, sweeps: 3000}", "--set", "campaign={model.shape: [[4, 4], [8, 8], [16, 16]]}")
        shown = self.plot("4x4.h5", "8x8.h5", "16x16.h5", "-o", "hot.png")
        self.assertIn("all pairs together: no crossing resolved", shown.stdout)

    def test_refusals(self):
        shown = self.plot("4x4x4.h5", "4x4x4.h5", code=1)
        self.assertIn("two files of the same size", shown.stderr)
        shown = self.plot("4x4x4.h5", code=1)
        self.assertIn("one file does not show a transition", shown.stderr)
        job = self.path("job.yaml")
        self.gpumc("run", job, "--quiet", "--set", "campaign.model.shape=[[8, 8, 8]]",
                   "--set", "algorithm.beta={from: 1.5, to: 2.0, count: 3}")
        shown = self.plot("8x8x8.h5", "4x4x4.h5", code=1)
        self.assertIn("L = 4 (beta from 0.4 to 1) and L = 8 (beta from 1.5 to 2) have no common "
                      "temperature with known values", shown.stderr)
        self.gpumc("run", job, "--quiet", "--set", "campaign.model.shape=[[8, 8, 8]]",
                   "--set", "model.couplings=gaussian", "-o", "gaussian.h5")
        shown = self.plot("4x4x4.h5", "gaussian.h5", code=1)
        self.assertIn("4x4x4.h5 and gaussian.h5 are of different models: model.couplings is bimodal and "
                      "gaussian", shown.stderr)
        self.assertFalse(self.path("4x4x4.png").exists())


if __name__ == "__main__":
    device.require()
    unittest.main()

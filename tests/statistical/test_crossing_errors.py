"""The intervals of `tools/plot --transition` are right: over 200 small campaigns of a spin glass, with other samples
and seeds each, the crossing of all campaigns together is in the interval of one as often as it should be.

Null: it is below the interval of 1 and of 2 standard errors with the probability of a Gaussian tail (0.159 and 0.023),
and above it as often.

The number of campaigns is binomial; false alarm 1e-4 on either side of each of 8 numbers. Each campaign is a 200th of
all, so that it deviates from these by 0.25 % less than from the true crossing. Controls, which the same gate rejects:
the error over the slope where the curves of one campaign cross, and a straight line through the differences with errors
taken as independent of each other, though all temperatures have the same samples.

If temperatures are independent, several near the crossing may each be off. Null, of simulated differences: the interval
misses the crossing on either side no more often than with the probability of a Gaussian tail (false alarm 1e-4 or less
for each of 8 numbers), also where the curves become one again on the hot side, the cold one or both; it is closed there
on both sides, and the crossing is found. A corner at the crossing is beyond a smooth process: less than 60 % of 500
intervals contain it; if the corner is a bend, or the far temperatures are left out, 60 to 80 % do (a false alarm of
1e-4 for 68 %), although most of those that miss it are still on the flat side. Control: the interval that ends at the
first temperature on the way from the crossing where the difference is not 0 within its error.

CTest: validate (cli_test_transition)
"""
import math
import os
import pathlib
import subprocess
import sys
import unittest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads for small matrices only wait for each other
import numpy as np  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools"), str(ROOT / "tools/python")]
from gpumc.analysis import crossing  # noqa: E402
import gpumc as reader  # noqa: E402
from gpumc.analysis import transition  # noqa: E402
from support import cases, device, gpumc_program as gpumc  # noqa: E402

CAMPAIGNS, SAMPLES, SIDES = 200, 128, (4, 6)
FALSE_ALARM = 1e-4

CONFIG = """\
gpumc: 1
seed: {seed}
model: {{name: ea, shape: [4, 4, 4], couplings: bimodal, disorder_seed: 4, sample: {first}}}
algorithm: {{name: pt, beta: {{from: 0.5, to: 1.1, count: 6}}, samples: {samples}, sweeps: 1280,
  exchange_every: 10, measure_every: 20}}
output: "{folder}/{{model.shape}}-{seed}.h5"
campaign: {{model.shape: [[4, 4, 4], [6, 6, 6]]}}
"""


def tail(errors):
    return math.erfc(errors / math.sqrt(2)) / 2


def binomial_bounds(count, probability):
    """Returns the smallest and the largest number that are no alarm."""
    ways = [math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1) for k in range(count + 1)]
    chances = [math.exp(way + k * math.log(probability) + (count - k) * math.log(1 - probability))
               for k, way in enumerate(ways)]
    sums = np.cumsum(chances)
    return int(np.searchsorted(sums, FALSE_ALARM)), int(np.searchsorted(sums, 1 - FALSE_ALARM))


def tools_interval(small, large, errors):
    found = transition.crossing(small, large, errors)
    return found.lower, found.upper


def error_over_slope(small, large, errors):
    """Returns where there is a crossing within the temperatures, None elsewhere."""
    apart = transition.difference(small, large)
    temperature = transition.crossing(small, large).temperature
    if not transition.is_inside(temperature):
        return None
    beta = 1 / temperature
    next_one = int(np.searchsorted(apart.beta, beta))
    slope = np.diff(apart.values)[next_one - 1] / np.diff(apart.beta)[next_one - 1]
    half = errors * np.interp(beta, apart.beta, apart.errors) / slope / beta**2
    return temperature - half, temperature + half


def straight_line(small, large, errors):
    """Zero of the line of least squares."""
    apart = transition.difference(small, large)
    (slope, start), covariance = np.polyfit(apart.beta, apart.values, 1, w=1 / apart.errors,
                                            cov="unscaled")
    zero = -start / slope
    half = errors * math.sqrt(np.array([zero, 1]) @ covariance @ np.array([zero, 1])) / abs(slope)
    return 1 / (zero + half), 1 / (zero - half)


class Crossings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Panels of each campaign, and of all together."""
        holder = gpumc.folder()
        cls.addClassCleanup(holder.cleanup)
        folder = pathlib.Path(holder.name)
        cls.campaigns = [cls.campaign(folder, seed) for seed in range(CAMPAIGNS)]
        cls.together = transition.panels([cls.merged(folder, side) for side in SIDES])

    @staticmethod
    def campaign(folder, seed):
        gpumc.run_config(CONFIG.format(folder=folder, seed=seed, first=seed * SAMPLES,
                                       samples=SAMPLES), folder)
        return transition.panels([reader.read(folder / f"{side}x{side}x{side}-{seed}.h5")
                                  for side in SIDES])

    @staticmethod
    def merged(folder, side):
        parts = [str(folder / f"{side}x{side}x{side}-{seed}.h5") for seed in range(CAMPAIGNS)]
        path = folder / f"{side}.h5"
        subprocess.run([gpumc.PROGRAM, "merge", "-q", path, *parts], check=True)
        return reader.read(path)

    def misses(self, panel, interval, errors, true):
        """Campaigns with an interval, and how often the true crossing is below and above it."""
        ends = [interval(*campaign[panel].curves, errors) for campaign in self.campaigns]
        ends = np.array([pair for pair in ends if pair is not None])
        return len(ends), int((true < ends[:, 0]).sum()), int((true > ends[:, 1]).sum())

    def alarms(self, panel, interval, true):
        """Describes what is outside of the bounds."""
        found = []
        for errors in 1, 2:
            count, below, above = self.misses(panel, interval, errors, true)
            low, high = binomial_bounds(count, tail(errors))
            text = (f"{self.together[panel].title}, {interval.__name__}, {errors} errors: {below} below, "
                    f"{above} above of {count}, each in [{low}, {high}]")
            print(text)
            if not (low <= below <= high and low <= above <= high):
                found.append(text)
        return found

    def test_intervals_hold_the_crossing(self):
        for panel, whole in enumerate(self.together):
            true, = transition.crossings(whole)
            print(f"{whole.title}: all campaigns cross at {transition.place(true)}")
            self.assertTrue(transition.is_inside(true.temperature))
            self.assertEqual(self.alarms(panel, tools_interval, true.temperature), [])

    def test_error_over_slope_is_rejected(self):
        """A control: noise moves the crossing of Binder parameters to where they are steep."""
        true, = transition.crossings(self.together[0])
        self.assertNotEqual(self.alarms(0, error_over_slope, true.temperature), [])

    def test_independent_temperatures_are_rejected(self):
        """A control, against its own crossing of all campaigns, since the curves are not straight."""
        for panel, whole in enumerate(self.together):
            true = straight_line(*whole.curves, 0)[0]
            self.assertNotEqual(self.alarms(panel, straight_line, true), [])


def first_certain(apart):
    """The interval around the crossing where no temperature is beyond the error."""
    cold = crossing.cold_side(apart)
    place = apart.beta[[cold - 1, cold]].mean() if cold < len(apart.beta) else np.inf
    hot = np.flatnonzero((apart.values < -apart.errors) & (apart.beta < place))
    cold = np.flatnonzero((apart.values > apart.errors) & (apart.beta > place))
    lower = transition.zero_after(cold[0] - 1, apart.beta, apart.values - apart.errors) if len(cold) else 0.0
    upper = transition.zero_after(hot[-1], apart.beta, apart.values + apart.errors) if len(hot) else np.inf
    return lower, upper


class IndependentTemperatures(unittest.TestCase):
    """Differences of known crossings, with noise of variance 1 at every temperature."""
    REPEATS, CROSSING = 2000, 1.517
    BETA = np.linspace(1, 2, 32)
    BY = BETA - CROSSING
    SHALLOW = 6 * BY  # within the error at ten temperatures
    LUMP = 48 * BY * np.exp(-36 * BY ** 2)  # -3.4 and 3.4 at most, and 0 at beta = 1 and 2

    def misses(self, differences):
        """Returns how often the true crossing is below and above the intervals of the tool and of the control, and the
        shares of the tool's intervals that are closed on both sides and of crossings within 0.1 of the true one."""
        flat = transition.Curve(4, self.BETA, np.zeros(32), np.zeros(32), np.eye(32))
        at = np.flatnonzero(differences <= 0)[-1]
        true = transition.zero_after(at, self.BETA, differences)
        noise = np.random.default_rng(2026)
        ends, places = [], []
        for _ in range(self.REPEATS):
            large = transition.Curve(6, self.BETA, differences + noise.normal(size=32), np.ones(32),
                                     np.eye(32))
            found = transition.crossing(flat, large)
            ends.append([(found.lower, found.upper), first_certain(large)])
            places.append(found.temperature)
        ends = np.array(ends)
        closed = ((ends[:, 0, 0] > 0) & np.isfinite(ends[:, 0, 1])).mean()
        near = (np.abs(np.array(places) - true) < 0.1).mean()
        return (true < ends[..., 0]).sum(0), (true > ends[..., 1]).sum(0), closed, near

    def test_no_more_misses_than_the_error_says(self):
        self.expect_few_misses(self.SHALLOW, self.LUMP)

    def test_corners_are_a_limit(self):
        """For curves with a corner at the crossing less than 60 % of the intervals contain it, and those that miss it
        are on the flat side. No test of the residuals shows it: the smooth curve is off by one error of its own, and by
        less than that of a single value. The remedy named in docs/statistics.md: temperatures near the crossing
        only."""
        near = np.linspace(self.CROSSING - 0.1, self.CROSSING + 0.1, 32)
        for steep_side, flat_below in ("hot", False), ("cold", True):
            below, above, covered = self.coverage(self.BETA, self.corner(self.BETA, steep_side))
            print(f"corner, steep on the {steep_side} side: {below} below, {above} above, {100 * covered:.1f} % hold it")
            self.assertLess(covered, 0.6)
            self.assertGreater((below if flat_below else above), 10 * (above if flat_below else below))
            below, above, covered = self.coverage(near, self.corner(near, steep_side))
            print(f"the same, of temperatures near it: {below} below, {above} above, {100 * covered:.1f} % hold it")
            self.assertTrue(0.6 <= covered <= 0.8)

    def test_bends_at_the_crossing(self):
        """The same curves, with the change of slope spread over some temperatures, as it is in finite lattices."""
        for steep_side in "hot", "cold":
            below, above, covered = self.coverage(self.BETA, self.corner(self.BETA, steep_side, width=0.1))
            print(f"bend, steep on the {steep_side} side: {below} below, {above} above, {100 * covered:.1f} % hold it")
            self.assertTrue(0.6 <= covered <= 0.8)

    def corner(self, beta, steep_side, width=1e-9):
        """A slope of 48 on one side of the crossing and of 20 on the other."""
        by = beta - self.CROSSING
        on_hot = 0.5 - 0.5 * np.tanh(by / width)
        steep = on_hot if steep_side == "hot" else 1 - on_hot
        return steep * 48 * by * np.exp(-36 * by ** 2) + (1 - steep) * 20 * by

    def coverage(self, beta, differences, repeats=500):
        """Returns how often the crossing is below and above the intervals, and the share of those that contain it."""
        count = len(beta)
        noise = np.random.default_rng(31)
        flat = transition.Curve(4, beta, np.zeros(count), np.zeros(count), np.eye(count))
        found = [transition.crossing(flat, transition.Curve(6, beta, differences + noise.normal(size=count),
                                                            np.ones(count), np.eye(count))) for _ in range(repeats)]
        below = sum(1 / self.CROSSING < interval.lower for interval in found)
        above = sum(1 / self.CROSSING > interval.upper for interval in found)
        return below, above, 1 - (below + above) / repeats

    def expect_few_misses(self, *curves):
        _, most = binomial_bounds(self.REPEATS, tail(1))
        for differences in curves:
            below, above, closed, near = self.misses(differences)
            print(f"of {self.REPEATS}, at most {most} each: {below[0]} below, {above[0]} above; control: "
                  f"{below[1]} below, {above[1]} above; {100 * closed:.1f} % closed, {100 * near:.1f} % near")
            self.assertLessEqual(max(below[0], above[0]), most)
            self.assertGreater(closed, 0.95)
            if differences is self.SHALLOW:
                self.assertGreater(above[1], most)
            else:
                self.assertGreater(near, 0.95)


if __name__ == "__main__":
    device.require()
    cases.main()

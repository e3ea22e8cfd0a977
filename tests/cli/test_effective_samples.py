"""tools/effective-samples: its estimator on series with known autocorrelation times, its extrapolation, and small runs of gpumc.

CTest: release (a tool of Python alone), cases 3 s
"""
import json
import math
import os
import pathlib
import subprocess
import sys
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools"), str(ROOT / "tools/python")]
import effective  # noqa: E402
from support import cases  # noqa: E402
from support.program import PROGRAM, ProgramCase  # noqa: E402


def exponential(tau, count, chains, random):
    """Series with an autocorrelation function a^t whose 1/2 + sum is tau."""
    a = (2 * tau - 1) / (2 * tau + 1)
    noise = math.sqrt(1 - a * a) * random.normal(size=(count, chains))
    noise[0] = random.normal(size=chains)
    for t in range(1, count):
        noise[t] += a * noise[t - 1]
    return noise


def entry(sampler, length, tau, rate=1.0, error=0.01):
    """A row whose lattice makes `rate` sweeps a second."""
    return {"sampler": sampler, "length": length, "chains": 2, "interval": 1, "sweeps": 100, "seconds": 100 / rate, "tau": tau,
            "tau_error": error * tau, "mean": 0.5, "mean_error": 0.01, "note": ""}


class Estimator(unittest.TestCase):
    def test_times_and_their_errors_are_right(self):
        """(tau - known)/error of 100 series has a mean within 0.8 of 0, since the window cuts off 0.25 % and series of 500 tau are skewed, and a
        variance of 1 within 0.6. Control: against a tau that is a third larger the mean is beyond the bound."""
        random = np.random.default_rng(3)
        for tau, count, chains in ((0.5, 2000, 2), (3.0, 3000, 2), (20.0, 5000, 4)):
            away, wrong = [], []
            for _ in range(100):
                found, error = effective.autocorrelation_time(exponential(tau, count, chains, random))
                away.append((found - tau) / error)
                wrong.append((found - 4 / 3 * tau) / error)
            self.assertLess(abs(np.mean(away)), 0.8, tau)
            self.assertLess(abs(np.var(away) - 1), 0.6, tau)
            self.assertGreater(abs(np.mean(wrong)), 0.8, tau)

    def test_series_that_tell_nothing(self):
        for series in (np.zeros((100, 2)), np.ones((4, 1)), np.arange(100.0)[:, None]):
            self.assertTrue(math.isnan(effective.autocorrelation_time(series)[0]))

    def test_a_mean_of_chains_counts_for_all(self):
        series = exponential(3.0, 20000, 1, np.random.default_rng(4))
        found = effective.row("peapods wolff", 32, 2, 1, series, 500, 10.0)
        self.assertAlmostEqual(found["tau"], 3.0, delta=4 * found["tau_error"])
        self.assertEqual((found["sweeps"], found["seconds"], found["chains"]), (500, 10.0, 2))
        short = effective.row("peapods wolff", 32, 2, 1, series[:200], 500, 10.0)
        self.assertTrue(math.isnan(short["tau"]))

    def test_intervals_are_part_of_times(self):
        series = exponential(3.0, 20000, 2, np.random.default_rng(5))
        found = effective.row("gpumc metropolis spin", 32, 2, 10, series, 200000, 10.0)
        self.assertAlmostEqual(found["tau"], 30.0, delta=4 * found["tau_error"])


class Extrapolation(unittest.TestCase):
    def test_powers(self):
        """Clusters by the power of their sizes, single flips by the published one, each sampler by itself."""
        rows = [entry("gpumc wolff", side, 2 * side ** 0.2) for side in (32, 64, 128)] + [entry("gpumc wolff", 1024, math.nan)]
        rows += [entry("gpumc metropolis spin", side, 0.02 * side ** 2.1667) for side in (32, 64)]
        rows += [entry("gpumc metropolis spin", 4096, math.nan), entry("mcising wolff", 32, 3.0), entry("mcising wolff", 64, math.nan)]
        found = {(row["sampler"], row["length"]): row for row in effective.extrapolated(rows)}
        self.assertAlmostEqual(found["gpumc wolff", 1024]["tau_used"], 2 * 1024 ** 0.2, places=6)
        self.assertAlmostEqual(found["gpumc metropolis spin", 4096]["tau_used"] / (0.02 * 4096 ** 2.1667), 1, places=6)
        self.assertTrue(math.isnan(found["mcising wolff", 64]["rate"]))
        self.assertEqual([row["from_fit"] for row in effective.extrapolated(rows)[:4]], [False, False, False, True])

    def test_rates_and_their_comparison(self):
        report = {"program": "gpumc 9", "device": "a core", "threads": 2, "others": {"mcising": "1"}, "rows": [
            entry("gpumc wolff", 32, 2.0, rate=400.0), entry("gpumc metropolis spin", 32, 50.0), entry("mcising wolff", 32, 4.0, rate=20.0)]}
        self.assertEqual(effective.extrapolated(report["rows"])[0]["rate"], 200.0)  # 2 chains of 400 sweeps a second over 2 tau
        self.assertIn("L = 32: gpumc wolff over mcising wolff: 40", effective.table(report))


class Tool(ProgramCase):
    def run_tool(self, *arguments, code=0):
        done = subprocess.run([sys.executable, ROOT / "tools/effective-samples", *arguments], capture_output=True, text=True,
                              cwd=self.directory, env=dict(os.environ, MPLCONFIGDIR=str(self.directory)))
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_samplers_agree_and_files_are_read_again(self):
        """Of all samplers at L = 8, <m^2> within five of their errors of their mean."""
        shown = self.run_tool("--program", PROGRAM, "--length", "8", "--seconds", "0.5", "-o", "eff.json", "--plot", "eff.png")
        rows = json.loads(self.path("eff.json").read_text())["rows"]
        self.assertEqual(len(rows), 4)
        values, errors = (np.array([row[key] for row in rows]) for key in ("mean", "mean_error"))
        middle = np.average(values, weights=errors ** -2)
        self.assertLess(np.max(np.abs(values - middle) / errors), 5)
        self.assertTrue(all(row["tau"] > 0.5 for row in rows))
        self.assertEqual(self.run_tool("--from", "eff.json").stdout, shown.stdout)
        self.assertEqual(self.path("eff.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")

    def test_refusals(self):
        self.assertIn("no program", self.run_tool("--program", "nowhere", code=1).stderr)
        self.assertIn("none.json", self.run_tool("--from", "none.json", code=1).stderr)


if __name__ == "__main__":
    cases.main()

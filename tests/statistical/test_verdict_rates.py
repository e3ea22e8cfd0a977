"""How often verdicts are wrong: false alarms among runs that should be trusted, of every model by every algorithm, and
misses among runs that should not be (tests/support/verdict_cells.py).

As a test (label validate) it makes a few runs of every cell: of a right cell at most as many are not trusted, or trusted
and off by more than four errors, as a rate of 1 % for each explains in one of 10,000 tests; of cells in which all runs
are bad as many are trusted and wrong, or trusted where nothing exact is known. A trusted result that lacks a number counts as
wrong. Negative controls: exact values shifted by six errors, those of temperatures 2 % higher, and numbers that are missing.

The whole table of docs/statistics.md, on a machine of its own:

    python3 tests/statistical/test_verdict_rates.py --program build/release/gpumc --runs 300 --jobs 16 \\
        --json verdicts.json --markdown verdicts.md

A cell's name, or a pattern such as 'ea/*', selects cells (--cells, several); --list names them. Seeds are 1 .. runs.

CTest: validate (the table of docs/statistics.md, a few runs of each cell)
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import h5py
import numpy as np
from scipy import stats

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, chance  # noqa: E402
from support.device import PROGRAM  # noqa: E402
from support.verdict_cells import CELLS, COLD, HOT, LADDER, square  # noqa: E402

ERRORS = 4  # beyond which a trusted number is wrong
RUNS_OF_THE_TEST = 12
HOTTER = 0.98  # in beta, of exact values that are wrong
# Seconds after which a run counts as failed.
PATIENCE = 600


def one_run(program, cell, seed):
    """Returns the verdict, the warnings' names, the deviations from exact values in errors by name, and the time."""
    with tempfile.TemporaryDirectory(prefix="gpumc-verdict-") as folder:
        for name, text in cell.files.items():
            pathlib.Path(folder, name).write_text(text)
        pathlib.Path(folder, "c.yaml").write_text(cell.config(seed))
        began = time.monotonic()
        done = subprocess.run([program, "run", "--quiet", "--threads", "1", "c.yaml"], cwd=folder, capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
        seconds = time.monotonic() - began
        if done.returncode != 0:
            raise RuntimeError(f"{cell.name}, seed {seed}: {done.stderr}")
        with h5py.File(os.path.join(folder, "r.h5")) as file:
            summary = file["summary"]
            return {"seed": seed, "trusted": bool(summary.attrs["trusted"]), "seconds": seconds,
                    "warnings": sorted(name for name in summary.attrs if name.endswith("warning")),
                    "deviations": deviations(summary, cell.exact() if cell.exact else {})}


def deviations(summary, exact):
    """Where an error is 0 the value is exact and known, or infinitely wrong. NaN where the summary has no value or no error."""
    found = {}
    for name, curve in exact.items():
        if name not in summary or f"{name}_error" not in summary:
            found[name] = [float("nan")]
            continue
        value, error = np.atleast_1d(summary[name][()]), np.atleast_1d(summary[f"{name}_error"][()])
        difference = value - curve
        with np.errstate(divide="ignore", invalid="ignore"):
            found[name] = np.where((np.abs(difference) < 1e-12 * (1 + np.abs(curve))) & (error >= 0), 0.0, difference / error).tolist()
    return found


def interval(count, of):
    """The interval of Clopper and Pearson with 95 %."""
    low = stats.beta.ppf(0.025, count, of - count + 1) if count > 0 else 0.0
    high = stats.beta.ppf(0.975, count + 1, of - count) if count < of else 1.0
    return float(low), float(high)


def is_wrong(run):
    """Whether a number is off by more than ERRORS errors, or missing."""
    return not all(abs(z) <= ERRORS for curve in run["deviations"].values() for z in curve)


def mean_square(deviations):
    """Of those that are known; NaN if none is."""
    known = [z for z in deviations if not np.isnan(z)]
    return float(np.mean(np.square(known))) if known else float("nan")


def tally(cell, runs):
    """Returns what the table says of a cell."""
    trusted = [run for run in runs if run["trusted"]]
    reasons = collections.Counter(name for run in runs if not run["trusted"] for name in run["warnings"])
    squares = {name: mean_square([z for run in trusted for z in run["deviations"][name]])
               for name in (trusted[0]["deviations"] if trusted else {})}
    wrong = sum(is_wrong(run) for run in trusted)
    return {"name": cell.name, "what": cell.what, "right": cell.right, "runs": len(runs), "trusted": len(trusted),
            "untrusted_interval": interval(len(runs) - len(trusted), len(runs)),
            "exact": cell.exact is not None, "wrong": wrong, "wrong_interval": interval(wrong, len(runs)),
            "mean_squares": squares, "reasons": dict(reasons.most_common()),
            "seconds": float(np.mean([run["seconds"] for run in runs]))}


def rates(program, cells, runs, jobs, say=lambda text: None):
    """Makes runs 1 .. runs of each cell, several at a time; yields each cell's tally and its runs."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        started = [(cell, [pool.submit(one_run, program, cell, seed + 1) for seed in range(runs)]) for cell in cells]
        for cell, futures in started:
            found = [future.result() for future in futures]
            say(f"{cell.name}: {sum(run['trusted'] for run in found)} of {runs} trusted")
            yield tally(cell, found), found


def percent(count, of, bounds):
    return f"{100 * count / of:.1f} % ({100 * bounds[0]:.1f} to {100 * bounds[1]:.1f})"


def markdown(tallies):
    lines = []
    for right, title in ((True, "not trusted, though right"), (False, "trusted and wrong")):
        rows = [one for one in tallies if one["right"] == right]
        if not rows:
            continue
        lines += ["", f"| {'right' if right else 'bad'} runs | of what | runs | {title} | "
                  + ("off by more than 4 errors | " if right else "trusted | ") + "⟨z²⟩ of trusted ones | reasons |",
                  "| --- | --- | --- | --- | --- | --- | --- |"]
        for one in rows:
            runs = one["runs"]
            alarms = percent(runs - one["trusted"], runs, one["untrusted_interval"])
            wrong = percent(one["wrong"], runs, one["wrong_interval"]) if one["exact"] else "unknown"
            squares = ", ".join(f"{name} {value:.2f}" for name, value in one["mean_squares"].items()) or "-"
            reasons = ", ".join(f"{name} {count}" for name, count in one["reasons"].items()) or "-"
            first, second = (alarms, wrong) if right else (wrong, f"{100 * one['trusted'] / runs:.1f} %")
            lines.append(f"| `{one['name']}` | {one['what']} | {runs} | {first} | {second} | {squares} | {reasons} |")
    return "\n".join(lines[1:]) + "\n"


def mistakes(found):
    """Of a tally: how many runs are trusted and wrong, not trusted although right, or trusted although bad, where nothing else shows it."""
    return (found["wrong"], found["runs"] - found["trusted"] if found["right"] else 0,
            found["trusted"] if not found["right"] and not found["exact"] else 0)


class VerdictRates(unittest.TestCase):
    def test_false_alarms_and_misses(self):
        for found, _ in rates(PROGRAM, CELLS, RUNS_OF_THE_TEST, os.cpu_count() or 1, print):
            with self.subTest(found["name"]):
                self.assertLessEqual(max(mistakes(found)), chance.most_by_chance(RUNS_OF_THE_TEST, 0.01), found)

    def test_bad_runs_without_exact_values_are_not_trusted(self):
        """Control: with exact values, of which trusted runs are not off."""
        tallied = {"right": False, "exact": False, "runs": 12, "trusted": 12, "wrong": 0}
        self.assertEqual(max(mistakes(tallied)), 12)
        self.assertEqual(max(mistakes({**tallied, "exact": True})), 0)
        self.assertEqual(max(mistakes({**tallied, "right": True, "trusted": 5})), 7)

    def test_wrong_numbers_are_found(self):
        """Control: right runs, compared with exact values that are six errors off."""
        cell = next(cell for cell in CELLS if cell.name == "ising2d/canonical/hot")
        run = one_run(PROGRAM, cell, 1)
        self.assertFalse(is_wrong(run))
        shifted = {name: [z + 6 for z in curve] for name, curve in run["deviations"].items()}
        self.assertTrue(is_wrong({**run, "deviations": shifted}))

    def test_wrong_temperatures_are_found(self):
        """Control: right runs of each algorithm, compared with exact values of other temperatures."""
        annealed = tuple(0.02 * k for k in range(25))
        for name, exact in (("ising2d/canonical", lambda: square(16, scaled(HOT))), ("ising2d/pt", lambda: square(16, scaled(LADDER))),
                            ("ising2d/pa", lambda: square(16, scaled(annealed))), ("ising2d/muca", lambda: square(8, scaled(COLD)))):
            cell = next(cell for cell in CELLS if cell.name == name)
            with self.subTest(name):
                (found, _), = rates(PROGRAM, [dataclasses.replace(cell, exact=exact)], 4, os.cpu_count() or 1)
                self.assertGreaterEqual(found["wrong"], 3, found)

    def test_missing_numbers_are_wrong(self):
        """Control: a value that is exact, with an error of 0 as at beta = 0, and one within its error."""
        exact = {"energy": np.array([0.0, -1.0])}
        for value, error, expected in (([0.0, -1.01], [0.0, 0.01], False), ([0.0, np.nan], [0.0, 0.01], True),
                                       ([0.0, -1.01], [0.0, np.nan], True), ([0.0, -1.0], [np.nan, 0.01], True),
                                       ([0.1, -1.0], [0.0, 0.01], True)):
            with self.subTest(value=value, error=error):
                summary = {"energy": np.array(value), "energy_error": np.array(error)}
                self.assertEqual(is_wrong({"deviations": deviations(summary, exact)}), expected)
        self.assertTrue(is_wrong({"deviations": deviations({"energy": np.array(value)}, exact)}))
        self.assertTrue(is_wrong({"deviations": deviations({}, exact)}))


def scaled(betas):
    return tuple(HOTTER * beta for beta in betas)


def main():
    parser = argparse.ArgumentParser(description="The table of false alarms and of missed bad runs.")
    parser.add_argument("--program", default=PROGRAM, help="path of gpumc")
    parser.add_argument("--runs", type=int, default=300, help="runs of each cell")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time, one core each")
    parser.add_argument("--cells", nargs="+", default=["*"], help="names or patterns of cells")
    parser.add_argument("--json", help="file for all runs and tallies")
    parser.add_argument("--markdown", help="file for the table")
    parser.add_argument("--list", action="store_true", help="list the cells and end")
    given = parser.parse_args()
    cells = [cell for cell in CELLS if any(fnmatch.fnmatch(cell.name, pattern) for pattern in given.cells)]
    if given.list or not cells:
        print("\n".join(f"{cell.name:30} {cell.what}" for cell in (cells or CELLS)))
        return 0 if given.list else 2
    program = os.path.abspath(given.program)
    found = list(rates(program, cells, given.runs, given.jobs, lambda text: print(text, file=sys.stderr, flush=True)))
    table = markdown([one for one, _ in found])
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps([{**one, "all": runs} for one, runs in found], indent=1))
    if given.markdown:
        pathlib.Path(given.markdown).write_text(table)
    print(table, end="")
    return 0


if __name__ == "__main__":
    if any(word.startswith("--") for word in sys.argv[1:]):
        sys.exit(main())
    cases.main()

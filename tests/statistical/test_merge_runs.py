"""Merged results of runs of known systems: over 100 merges of three runs each (value - exact)/error has variance 1, and
of merges of consistent runs at most one in a hundred is flagged as contradicting itself.

Null: the mean of 100 squares of Gaussian numbers lies within 4 of its standard deviations, sqrt(2/100), of 1 (false
alarm 1e-4), in a wider interval above for Student's t: 0.43 to 1.8. No more of 100 merges are flagged than a share of 1
% exceeds with probability 1e-4. Controls: errors as large as those of one run, by which the squares are a third, and
merges of which one run is off by eight of its errors, of which nine in ten are flagged at least: with three runs, 15
degrees of freedom for each error, two temperatures and 11 curves a run must be off by 5.3 errors, with a standard
deviation of 1.2.

CTest: validate (a few runs of each kind: cli_test_merge_pt, cli_test_merge_seeds)
"""
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, gpumc_program as gpumc  # noqa: E402
from support.chance import most_by_chance  # noqa: E402
from support.edited_result import edited  # noqa: E402

MERGES, PARTS, RATE = 100, 3, 0.01
LEAST, MOST = 0.43, 1.8
BETAS = [0.2, 0.4]
CONFIG = """\
gpumc: 1
seed: 1
model: {{name: ising2d, shape: [4, 4]}}
algorithm: {algorithm}
output: "{folder}/{{seed}}.h5"
campaign: {{seed: [{seeds}]}}
"""
CANONICAL = "{name: canonical, beta: {values: [0.2, 0.4]}, replicas: 2, update: heat_bath, thermalization: 100, sweeps: 6000}"
ANNEALING = "{name: pa, beta: {values: [0.1, 0.2, 0.3, 0.4]}, population: 1000, sweeps: 5, runs: 2}"
MULTICANONICAL = "{name: muca, beta: {from: 0.2, to: 0.4, step: 0.1}, walkers: 32}"
NAMES = "log_z", "energy", "specific_heat", "abs_magnetization", "magnetization2", "magnetization4"


class Merges(unittest.TestCase):
    def merges(self, algorithm, change=None):
        """Summaries with their attributes of all merges."""
        with gpumc.folder() as folder:
            seeds = range(1000, 1000 + MERGES * PARTS)
            gpumc.run_config(CONFIG.format(algorithm=algorithm, folder=folder, seeds=", ".join(map(str, seeds))), folder)
            for first in seeds[::PARTS]:
                paths = [f"{folder}/{first + part}.h5" for part in range(PARTS)]
                if change is not None:
                    with edited(paths[1]) as file:
                        change(file["summary"])
                done = gpumc.run("merge", "-q", f"{folder}/merged-{first}.h5", *paths)
                self.assertEqual(done.returncode, 0, done.stderr)
                with h5py.File(f"{folder}/merged-{first}.h5") as file:
                    summary = file["summary"]
                    yield {name: item[:] for name, item in summary.items()
                           if isinstance(item, h5py.Dataset)}, "contradiction_warning" in summary.attrs

    def hold(self, algorithm):
        exact = dict(zip(NAMES, gpumc.enumerate_ising(4, 4, 0.0, BETAS)))
        found = list(self.merges(algorithm))
        flagged, most = sum(flag for _, flag in found), most_by_chance(MERGES, RATE)
        print(f"{flagged} of {MERGES} merges flagged, at most {most}")
        self.assertLessEqual(flagged, most)
        at = [int(np.argmin(np.abs(found[0][0]["beta"] - beta))) for beta in BETAS]
        for name in NAMES[1:]:
            squares = np.mean([gpumc.in_errors(summary, name, exact[name], at) ** 2 if len(exact[name]) == len(summary["beta"])
                               else ((summary[name][at] - exact[name]) / summary[name + "_error"][at]) ** 2
                               for summary, _ in found], axis=0)
            print(f"{name}: mean squares {squares}")
            self.assertTrue(((squares > LEAST) & (squares < MOST)).all(), name)
            self.assertTrue((squares / PARTS < LEAST).any(), name)

    def test_canonical(self):
        self.hold(CANONICAL)

    def test_annealing(self):
        self.hold(ANNEALING)

    def test_multicanonical(self):
        self.hold(MULTICANONICAL)

    def test_runs_that_contradict_are_flagged(self):
        def change(summary):
            summary["energy"][1] += 8 * summary["energy_error"][1]
        flagged = sum(flag for _, flag in self.merges(CANONICAL, change))
        print(f"{flagged} of {MERGES} merges with a run that is off by eight errors are flagged")
        self.assertGreaterEqual(flagged, 0.9 * MERGES)


if __name__ == "__main__":
    device.require()
    cases.main()

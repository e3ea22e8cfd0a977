"""Parallel tempering that is killed or stopped at any instant ends with the numbers of the uninterrupted
run: temperatures, walkers, half-filled sums and histograms come back.

GPUMC_KILLS: how many times each run is killed at random instants (default 25).
"""
import os
import pathlib
import random
import signal
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import device
from support.program import STOPPED, ProgramCase
from support.results import assert_same_numbers, numbers

KILLS = int(os.environ.get("GPUMC_KILLS", "25"))

CONFIG = """\
gpumc: 1
seed: 20260301
model: {{{model}}}
algorithm: {{name: pt, {algorithm}}}
output: run.h5
checkpoint: {{every: 20 ms}}
"""

# Errors from blocks of time; from samples, the last word of which is not full, in units that end amid
# a bin of time. Rounds that are longer than units. All with tuning.
CASES = {
    "few samples": ("name: ising2d, shape: [12, 10]",
                    "beta: {from: 0.3, to: 0.6, count: 5}, tune: {sweeps: 3000}, samples: 3, "
                    "replicas: 2, sweeps: 24000, thermalization: 777, exchange_every: 3, "
                    "measure_every: 6, structure_factor: true"),
    "spin glass": ("name: ea, shape: [4, 4, 4], disorder_seed: 5",
                   "beta: {from: 0.3, to: 1.2, count: 6}, tune: {sweeps: 1000, iterations: 3}, "
                   "samples: 525, sweeps: 16000, exchange_every: 5, measure_every: 20, "
                   "update: heat_bath"),
    "long rounds": ("name: ising2d, shape: [32, 32]",
                    "beta: {from: 0.3, to: 0.6, count: 4}, tune: {sweeps: 4000, iterations: 1}, "
                    "samples: 512, sweeps: 16000, exchange_every: 4000"),
}


class Resume(ProgramCase):
    def reference(self, case):
        model, algorithm = CASES[case]
        self.config = self.write("c.yaml", CONFIG.format(model=model, algorithm=algorithm))
        begin = time.monotonic()
        self.gpumc("run", self.config, "-o", "whole.h5", "--threads", 1, "--fresh")
        self.duration = time.monotonic() - begin
        return numbers(self.path("whole.h5"))

    def test_killed_at_random_instants(self):
        for case in CASES:
            with self.subTest(case=case):
                reference = self.reference(case)
                choose = random.Random(1)
                kills = 0
                while kills < KILLS:
                    process = self.start("run", self.config, "--threads", choose.choice([1, 2]))
                    time.sleep(choose.uniform(0, 0.5 * self.duration))
                    process.kill()
                    process.communicate()
                    kills += process.returncode == -signal.SIGKILL
                    if process.returncode == 0:
                        self.path("run.h5").unlink()
                self.gpumc("run", self.config)
                assert_same_numbers(self, reference, self.path("run.h5"))
                self.path("run.h5").unlink()

    def test_stopped_after_every_unit(self):
        for case in CASES:
            with self.subTest(case=case):
                reference = self.reference(case)
                stops = 0
                while True:
                    process = self.start("run", self.config, "--max-time", "1 ms", "--threads", 1)
                    process.communicate()
                    if process.returncode == 0:
                        break
                    self.assertEqual(process.returncode, STOPPED)
                    stops += 1
                print(f"{case}: {stops} stops")
                self.assertGreater(stops, 5)
                assert_same_numbers(self, reference, self.path("run.h5"))
                self.path("run.h5").unlink()

    def test_tells_another_run_apart(self):
        reference = self.reference("spin glass")
        self.gpumc("run", self.config, "--set", "seed=7")
        with self.assertRaises(AssertionError):
            assert_same_numbers(self, reference, self.path("run.h5"))


if __name__ == "__main__":
    device.require()
    unittest.main(verbosity=2)

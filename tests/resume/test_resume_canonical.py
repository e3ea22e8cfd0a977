"""Canonical runs that are killed or stopped end with the numbers of the uninterrupted run: averages, errors,
time series, configurations.

GPUMC_KILLS: how many times the run is killed at random instants (default 25).
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
from support.program import FAILURE, OK, STOPPED, ProgramCase
from support.results import assert_same_numbers, numbers

KILLS = int(os.environ.get("GPUMC_KILLS", "25"))

# Measurements and ends of units (2^28 updates, 1092 sweeps here) that do not meet; everything that has a
# state of its own.
CONFIG = """\
gpumc: 1
seed: 20180801
model: {name: ising2d, shape: [64, 64]}
algorithm:
  name: canonical
  beta: {values: [0.3, 0.44, 0.45]}
  replicas: 20
  update: heat_bath
  thermalization: 1501
  sweeps: 10500
  interval: 70
  structure_factor: true
  series: true
  reweight: {from: 0.43, to: 0.46, step: 0.005}
  configurations: {times: [70, 4900, 4970, 10500]}
output: run.h5
checkpoint: {every: 20 ms}
"""


class Resumed(ProgramCase):
    """Every test compares with one uninterrupted run, which is made once."""

    whole = None

    def setUp(self):
        super().setUp()
        self.config = self.write("c.yaml", CONFIG)
        if Resumed.whole is None:
            begin = time.monotonic()
            self.gpumc("run", self.config, "-o", "whole.h5", "--set", "checkpoint.every=10 min")
            Resumed.whole = self.path("whole.h5").read_bytes(), time.monotonic() - begin
        self.path("whole.h5").write_bytes(self.whole[0])
        self.duration = self.whole[1]
        self.reference = numbers(self.path("whole.h5"))

    def finish(self, *options):
        """Run to the end; only the result is left, and it has the reference's numbers."""
        process = self.gpumc("run", self.config, *options)
        self.assertEqual(self.names("run.h5*"), ["run.h5"])
        assert_same_numbers(self, self.reference, self.path("run.h5"))
        return process

    def test_reference_has_everything(self):
        for name in ("runs/0002/energy", "configurations/bytes", "summary/reweighted/energy",
                     "summary/correlation_length", "runs/0001/bins/energy2"):
            self.assertIn(name, self.reference)

    def test_tells_another_run_apart(self):
        self.gpumc("run", self.config, "--set", "seed=20180802")
        with self.assertRaises(AssertionError):
            assert_same_numbers(self, self.reference, self.path("run.h5"))

    def test_killed_at_random_instants(self):
        choose = random.Random(1)
        kills = 0
        while kills < KILLS:
            process = self.start("run", self.config, "--threads", choose.choice([1, 2]))
            time.sleep(choose.uniform(0, 0.6 * self.duration))
            process.kill()
            process.communicate()
            kills += process.returncode == -signal.SIGKILL
            if self.path("run.h5").exists():
                self.finish()
                self.path("run.h5").unlink()
        self.finish()

    def test_stopped_after_every_unit(self):
        for stops in range(1000):
            process = self.start("run", self.config, "--max-time", "1 ms", "--threads",
                                 1 + stops % 2)
            process.communicate(timeout=60)
            if process.returncode == OK:
                break
            self.assertEqual(process.returncode, STOPPED)
        self.assertGreater(stops, 8)
        assert_same_numbers(self, self.reference, self.path("run.h5"))

    def stop_half_way(self):
        for _ in range(5):
            self.gpumc("run", self.config, "--max-time", "1 ms", code=STOPPED)

    def test_log_is_needed(self):
        """Series and configurations stand in the log; without it nothing is lost silently."""
        self.stop_half_way()
        content = self.path("run.h5.log").read_bytes()
        self.path("run.h5.log").unlink()
        self.assertIn("run.h5.log", self.gpumc("run", self.config, code=FAILURE).err)
        self.path("run.h5.log").write_bytes(content)
        self.finish()


if __name__ == "__main__":
    device.require()
    unittest.main(verbosity=2)

"""Killed at every access to every file beside the result: the files left behind are recognised as ours, and the
next run needs no help.

CTest: long
"""
import itertools
import pathlib
import signal
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, faults
from support.program import OK
from support.resume import ResumeCase

CONFIG = """\
gpumc: 1
seed: 3
model: {name: ising2d, shape: [4, 4]}
algorithm:
  name: pa
  population: 64
  sweeps: 2
  beta: {from: 0.0, to: 0.5, step: 0.1}
  runs: 1
  configurations: {every: 2}
output: run.h5
checkpoint: {every: 1 ms}
"""

FILES = [".partial", ".ckpt", ".log", ".status", ".lock"]
CALLS = ["open", "write", "ftruncate", "rename", "fsync"]
ACCESSES = list(itertools.product(FILES, CALLS))
NONE = [(".ckpt", "ftruncate"), (".log", "ftruncate"), (".status", "ftruncate"), (".status", "fsync"), (".lock", "rename"),
        (".lock", "fsync")]  # accesses that no run needs
# HDF5 makes hundreds of writes: all of the first, in which a file begins, and some of the others.
NUMBERS = list(range(1, 12)) + [20, 50, 130, 400]


class Killed(ResumeCase):
    def test_at_every_access_to_a_file_beside_the_result(self):
        """A case is a kind of access, since only a run that is not killed says how many there are of it."""
        faults.require(self)
        self.use(CONFIG)
        kills = {}
        for suffix, call in cases.of(ACCESSES):
            kills[suffix, call] = self.kill_at_every(suffix, call)
            if (suffix, call) not in NONE:
                with self.subTest(suffix=suffix, call=call):
                    self.assertGreater(kills[suffix, call], 0)
        if len(kills) == len(ACCESSES):
            self.assertGreater(sum(kills.values()), 60)

    def kill_at_every(self, suffix, call):
        """Returns how many accesses of this kind there are among NUMBERS."""
        for kills, nth in enumerate(NUMBERS):
            self.clear()
            process = self.start("run", self.config, env=faults.environment(f"{call}:nth={nth}:path={suffix}:action=kill"))
            process.communicate(timeout=300)
            self.assertIn(process.returncode, [OK, -signal.SIGKILL])
            with self.subTest(suffix=suffix, call=call, nth=nth):
                self.finish()
            if process.returncode == OK:
                return kills
        return len(NUMBERS)


if __name__ == "__main__":
    device.require()
    unittest.main()

"""Killed at every access to every file beside the result: the files left behind are recognised as ours, and the
next run needs no help."""
import pathlib
import signal
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import device, faults, share
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
# HDF5 makes hundreds of writes: all of the first, in which a file begins, and some of the others.
NUMBERS = list(range(1, 12)) + [20, 50, 130, 400]


class Killed(ResumeCase):
    def test_at_every_access_to_a_file_beside_the_result(self):
        faults.require(self)
        self.use(CONFIG)
        kills = 0
        for suffix in FILES:
            for call in CALLS:
                for nth in share.of(NUMBERS):
                    process = self.start("run", self.config, env=faults.environment(
                        f"{call}:nth={nth}:path={suffix}:action=kill"))
                    process.communicate(timeout=300)
                    self.assertIn(process.returncode, [OK, -signal.SIGKILL])
                    with self.subTest(suffix=suffix, call=call, nth=nth):
                        self.finish()
                    self.path("run.h5").unlink(missing_ok=True)
                    kills += process.returncode != OK
                    if process.returncode == OK:
                        break
        self.assertGreater(kills, share.count(60))


if __name__ == "__main__":
    device.require()
    unittest.main()

"""Canonical runs that are killed or stopped end with the numbers of the uninterrupted run: averages, errors,
time series, configurations.

CTest: methods 6 s
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device
from support.program import FAILURE, STOPPED
from support.resume import ResumeCase

# Measurements and ends of units (2^28 updates, 1092 sweeps here) that do not coincide; everything that has a state of
# its own.
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
  configurations: {times: [70, 4900, 4970, 10500], temperatures: [0, 2]}
output: run.h5
checkpoint: {every: 20 ms}
"""


class Resumed(ResumeCase):
    def setUp(self):
        super().setUp()
        self.use(CONFIG)

    def test_reference_has_everything(self):
        for name in ("runs/0002/energy", "configurations/bytes", "summary/reweighted/energy",
                     "summary/correlation_length", "runs/0001/bins/energy2"):
            self.assertIn(name, self.reference)

    def test_tells_another_run_apart(self):
        self.tell_another_seed_apart()

    def test_killed_at_random_instants(self):
        for run in cases.of(self.KILLED):
            self.kill_at_random_instants(run)

    def test_stopped_after_every_unit(self):
        self.stop_after_every_unit(9)

    def test_stopped_in_turns_of_moves(self):
        """Units of other lengths than turns: 1092 sweeps, and a cycle of 7."""
        self.use(CONFIG.replace("update: heat_bath", "update: [{metropolis: 4}, {heat_bath: 3}]"))
        self.stop_after_every_unit(9)

    def stop_half_way(self):
        for _ in range(5):
            self.gpumc("run", self.config, "--max-time", "1 ms", code=STOPPED)

    def test_log_is_needed(self):
        """Series and configurations are in the log; if it is missing, nothing is lost silently."""
        self.stop_half_way()
        content = self.path("run.h5.log").read_bytes()
        self.path("run.h5.log").unlink()
        self.assertIn("run.h5.log", self.gpumc("run", self.config, code=FAILURE).err)
        self.path("run.h5.log").write_bytes(content)
        self.finish()


if __name__ == "__main__":
    device.require()
    cases.main()

"""Runs of Heisenberg spins in single precision that are killed end with the numbers of the uninterrupted run: a
checkpoint holds spins as numbers, the current sweep of a mixed move, and the current size of small steps, also within
the warm-up in which they are tuned. Walks of muca recompute their energies afterwards, which are the previous ones to
the last bit.
"""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import device, share
from support.resume import ResumeCase

CONFIG = """\
gpumc: 1
seed: 20120603
model: {name: heisenberg, shape: [8, 8, 8]}
algorithm:
  name: pt
  beta: {from: 0.6, to: 0.75, step: 0.05}
  samples: 8
  sweeps: 15360
  exchange_every: 3
  helicity_modulus: true
kernel: {variant: float}
output: run.h5
checkpoint: {every: 20 ms}
"""

WALKS = """\
gpumc: 1
seed: 20180804
model: {name: heisenberg, shape: [4, 4]}
algorithm:
  name: muca
  walkers: 96
  bin: 0.5
  structure_factor: true
  range: {from: -1.7, to: 0.5}
  windows: {count: 2}
  iteration: {divergence: 1e-2, write_weights: true}
  production: {updates: 1.5e5, measurements: 200}
kernel: {variant: float}
output: run.h5
checkpoint: {every: 20 ms}
"""


TUNED = CONFIG.replace("sweeps: 15360", "sweeps: 3840\n  thermalization: 12000\n  update: metropolis_small")
TURNS = TUNED.replace("update: metropolis_small", "update: [{heat_bath: 3}, {metropolis_small: 2}, {over_relaxation: 2}]")
CLUSTERS = TUNED.replace("thermalization: 12000", "thermalization: 3000") \
    .replace("update: metropolis_small", "improved_estimators: true\n  update: [{wolff: 2}, {swendsen_wang: 1}, {heat_bath: 1}]")
GLASS = CONFIG.replace("shape: [8, 8, 8]", "shape: [4, 6, 4], couplings: gaussian, disorder_seed: 7") \
    .replace("helicity_modulus: true", "replicas: 2")


class Resumed(ResumeCase):
    def setUp(self):
        super().setUp()
        self.use(CONFIG)

    def test_tells_another_run_apart(self):
        self.tell_another_seed_apart()

    def test_killed_at_random_instants(self):
        self.kill_at_random_instants(most=share.count(4))

    def test_killed_while_steps_are_tuned(self):
        self.use(TUNED)
        self.kill_at_random_instants(most=share.count(4))

    def test_killed_in_turns_of_moves(self):
        self.use(TURNS)
        self.kill_at_random_instants(most=share.count(4))

    def test_killed_in_turns_with_clusters(self):
        self.use(CLUSTERS)
        self.kill_at_random_instants(most=share.count(4))

    def test_walks_killed_at_random_instants(self):
        self.use(WALKS)
        self.assertIn("summary/log_dos", self.reference)
        self.kill_at_random_instants(most=share.count(4))

    def test_walks_stopped_after_every_unit(self):
        self.use(WALKS)
        self.stop_after_every_unit(1)


class ResumedGlass(ResumeCase):
    """With quenched couplings, whose samples are drawn again, and overlaps of two copies."""
    def setUp(self):
        super().setUp()
        self.use(GLASS)

    def test_killed_at_random_instants(self):
        self.kill_at_random_instants(most=share.count(4))


if __name__ == "__main__":
    device.require()
    unittest.main(verbosity=2)

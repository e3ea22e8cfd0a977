"""Runs of Heisenberg spins in single precision that are killed end with the numbers of the uninterrupted run: a
checkpoint holds spins as numbers, the current sweep of a mixed move, and the current size of small steps, also within
the warm-up in which they are tuned. Walks of muca recompute their energies afterwards, which are the previous ones to
the last bit.

CTest: release (resume_test_resume_clusters, exact_test_heisenberg_kernels), methods 6 s
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device
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
CLUSTERS = TUNED.replace("thermalization: 12000", "thermalization: 600").replace("sweeps: 3840", "sweeps: 960") \
    .replace("update: metropolis_small", "improved_estimators: true\n  update: [{wolff: 2}, {swendsen_wang: 1}, {heat_bath: 1}]")
# With quenched couplings, whose samples are drawn again, and overlaps of two copies.
GLASS = CONFIG.replace("shape: [8, 8, 8]", "shape: [4, 6, 4], couplings: gaussian, disorder_seed: 7") \
    .replace("helicity_modulus: true", "replicas: 2")


RUNS = {"sweeps": CONFIG, "steps that are tuned": TUNED, "turns of moves": TURNS, "turns with clusters": CLUSTERS, "walks": WALKS,
        "glass": GLASS}


class Resumed(ResumeCase):
    def test_tells_another_run_apart(self):
        self.use(CONFIG)
        self.tell_another_seed_apart()

    def test_killed_at_random_instants(self):
        for name in cases.of(RUNS):
            with self.subTest(name):
                self.use(RUNS[name])
                self.assertEqual("summary/log_dos" in self.reference, name == "walks")
                self.kill_at_random_instants(name)

    def test_walks_stopped_after_every_unit(self):
        self.use(WALKS)
        self.stop_after_every_unit(1)


if __name__ == "__main__":
    device.require()
    cases.main()

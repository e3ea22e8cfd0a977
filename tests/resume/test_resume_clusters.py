"""Runs with cluster moves that are killed or stopped end with the numbers of the uninterrupted run: canonical, and
population annealing, whose clusters follow the temperature.

CTest: methods 6 s
"""
import itertools
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases
from support.resume import ResumeCase

CONFIG = """\
gpumc: 1
seed: 20180801
model: {{name: ising2d, shape: [64, 64]}}
algorithm:
  name: canonical
  beta: {{values: [0.3, 0.44, 0.45]}}
  replicas: 3
  update: {update}
  thermalization: 301
  sweeps: 2100
  interval: 7
  series: true
  improved_estimators: true
kernel: {{variant: spin}}
output: run.h5
checkpoint: {{every: 20 ms}}
"""

ANNEALED = """\
gpumc: 1
seed: 20180802
model: {name: ising2d, shape: [24, 24]}
algorithm:
  name: pa
  population: 301
  sweeps: 5
  beta: {to: 0.5, overlap: 0.8}
  runs: 3
  update: [{wolff: 2}, {heat_bath: 1}]
output: run.h5
checkpoint: {every: 20 ms}
"""


RUNS = {"swendsen_wang": CONFIG.format(update="swendsen_wang"), "wolff": CONFIG.format(update="wolff"), "annealed": ANNEALED}


class Resumed(ResumeCase):
    def test_tells_another_run_apart(self):
        for name in cases.of(RUNS):
            with self.subTest(name):
                self.use(RUNS[name])
                self.tell_another_seed_apart()

    def test_killed_at_random_instants(self):
        for name, run in cases.of(itertools.product(RUNS, self.KILLED)):
            with self.subTest(name, run=run):
                self.use(RUNS[name])
                self.kill_at_random_instants(run)


if __name__ == "__main__":
    cases.main()

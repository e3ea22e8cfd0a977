"""Runs of hard disks that are killed end with the numbers of the uninterrupted run, whatever the number of threads and
the instruction set of each part: a checkpoint holds positions, the offset of the grid of cells and the order of the
disks in their cells. Several systems, one per thread, and one that the threads share; with psi_6 and configurations. A
unit has 2^28 / 20 updates of disks on a CPU, so these runs have three or four.

CTest: long, cases 1 s, methods 6 s
"""
import pathlib
import sys

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device
from support.program import INVALID
from support.resume import ResumeCase

CONFIG = """\
gpumc: 1
seed: 20131204
model: {name: hard_disks, particles: 400, packing_fraction: 0.7}
algorithm:
  name: mpmc
  replicas: 3
  thermalization: 400
  sweeps: 40000
  interval: 100
  bond_order: true
  series: true
  configurations: {every: 10000}
kernel: {variant: checkerboard}
output: run.h5
checkpoint: {every: 20 ms}
"""

# 4096 cells and more: the threads sweep it together. psi_6 is not requested, but watched.
SHARED = CONFIG.replace("  bond_order: true\n", "").replace("particles: 400", "particles: 4900").replace("replicas: 3", "replicas: 1") \
    .replace("sweeps: 40000", "sweeps: 8000").replace("every: 10000", "every: 2000")

# At constant pressure boxes belong to replicas; the last move of the volume may be older than a measurement, and than a resume.
PRESSED = CONFIG.replace("name: mpmc\n", "name: canonical\n  control: {name: beta_pressure, values: [8, 9]}\n") \
    .replace("replicas: 3", "replicas: 2").replace("variant: checkerboard", "variant: checkerboard, sweeps_per_volume_move: 127") \
    .replace("interval: 100", "interval: 50")
TEMPERED = """\
gpumc: 1
seed: 20131205
model: {name: hard_disks, particles: 256, packing_fraction: 0.65}
algorithm:
  name: pt
  control: {name: beta_pressure, values: [6.5, 6.75, 7, 7.25]}
  samples: 2
  thermalization: 700
  sweeps: 21000
  exchange_every: 7
kernel: {variant: checkerboard, sweeps_per_volume_move: 2}
output: run.h5
checkpoint: {every: 20 ms}
"""

# A population at each pressure: boxes are copied and die with their replicas, steps follow from measurements.
ANNEALED = """\
gpumc: 1
seed: 20131206
model: {name: hard_disks, particles: 64, packing_fraction: 0.5}
algorithm:
  name: pa
  population: 300
  sweeps: 30
  control: {name: beta_pressure, from: 3, to: 6, overlap: 0.8, thermalization: 2000}
  runs: 2
  bond_order: true
  configurations: {every: 3}
kernel: {variant: checkerboard, sweeps_per_volume_move: 4}
output: run.h5
checkpoint: {every: 20 ms}
"""

# Sums of profiles are in checkpoints, too.
PROFILES = CONFIG.replace("  series: true\n", "  contact_histogram: true\n  pair_correlation: true\n  bond_order_correlation: true\n"
                          "  structure_factor: true\n").replace("sweeps: 40000", "sweeps: 20000") \
    .replace("interval: 100", "interval: 20")


RUNS = {"several systems": CONFIG, "one system of all threads": SHARED, "profiles": PROFILES, "tempered": TEMPERED, "pressed": PRESSED,
        "annealed": ANNEALED}


class Resumed(ResumeCase):
    def sets(self):
        """Instruction sets that this machine runs."""
        return [isa for isa in ("x86-64-v2", "x86-64-v3", "x86-64-v4", "portable")
                if self.runs_with(isa)] if self.device == "cpu" else []

    def runs_with(self, isa):
        process = self.start("plan", self.config, "--set", f"kernel.isa={isa}")
        process.communicate(timeout=300)
        return process.returncode not in (INVALID, device.DEVICE)

    def check_profiles(self):
        with h5py.File(self.path("whole.h5")) as file:
            for name in "contact_histogram", "pair_correlation", "bond_order_correlation", "structure_factor":
                self.assertGreater(len(file["summary"][name]), 100)
                self.assertTrue((file["summary"][name + "_error"][()] >= 0).all())
                self.assertIn(f"summary/{name}", self.reference)

    def check_population(self):
        with h5py.File(self.path("whole.h5")) as file:
            self.assertGreater(len(file["summary/beta_pressure"]), 8)
            self.assertGreater(file["summary/beta_free_energy_difference"][-1], 0)
            self.assertTrue((file["summary/volume_acceptance"][1:] > 0).all())

    def test_tells_another_run_apart(self):
        for config in cases.of((CONFIG, ANNEALED, PROFILES)):
            self.use(config)
            self.tell_another_seed_apart()

    def test_killed_at_random_instants(self):
        for name in cases.of(RUNS):
            with self.subTest(name):
                self.use(RUNS[name])
                if name == "profiles":
                    self.check_profiles()
                if name == "annealed":
                    self.check_population()
                if name in ("several systems", "annealed"):
                    self.assertIn("configurations/bytes", self.reference)
                self.kill_at_random_instants(name, sets=self.sets())

    def test_stopped_after_every_unit(self):
        self.use(CONFIG)
        self.stop_after_every_unit(3 if device.NAME == "cpu" else 0)  # all of it is one unit on a GPU


if __name__ == "__main__":
    device.require()
    cases.main()

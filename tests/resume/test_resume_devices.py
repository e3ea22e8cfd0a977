"""A run that is stopped or killed on one device and continued on another ends with the numbers of the
uninterrupted run. Control: another seed ends with others.

CTest: cases 8 s
"""
import itertools
import pathlib
import random
import signal
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, two_devices
from support.program import ProgramCase
from support.results import assert_same_numbers, numbers

# As in test_resume.py: adaptive steps, reweighting, an odd population; several runs in a batch; and configurations.
CONFIG = """\
gpumc: 1
seed: 20170801
model: {{name: ising2d, shape: [12, 10]}}
algorithm:
  name: pa
  population: 1501
  sweeps: 10
  beta: {{from: 0.0, to: 0.6, overlap: 0.85}}
  runs: 4
  blocks: 16
  reweight: {{from: 0.1, to: 0.5, step: 0.05}}
  configurations: {{every: 3}}
kernel: {{variant: {variant}}}
output: run.h5
checkpoint: {{every: 20 ms}}
"""

# In iterations and in production; blocks of time. Units of 2^20 updates of a walker on a CPU, of 2^18 on a GPU.
MULTICANONICAL = """\
gpumc: 1
seed: 20170801
model: {name: ising2d, shape: [12, 10]}
algorithm:
  name: muca
  walkers: 64
  structure_factor: true
  beta: {from: 0, to: 1, step: 0.1}
  iteration: {divergence: 1e-2, write_weights: true}
  production: {updates: 1.5e7}
output: run.h5
checkpoint: {every: 20 ms}
"""

WALKS = MULTICANONICAL.replace("{name: ising2d, shape: [12, 10]}", "{name: heisenberg, shape: [4, 4]}").replace(
    "walkers: 64", "walkers: 64\n  bin: 0.5\n  range: {from: -1.7, to: 0.5}")

SPINS = CONFIG.replace("ising2d", "heisenberg").replace("1501", "301").replace(
    "  reweight: {{from: 0.1, to: 0.5, step: 0.05}}\n", "")

DISKS = """\
gpumc: 1
seed: 20131204
model: {name: hard_disks, particles: 400, packing_fraction: 0.7}
algorithm: {name: mpmc, replicas: 3, thermalization: 400, sweeps: 40000, interval: 100, bond_order: true, configurations: {every: 10000}}
kernel: {variant: checkerboard}
output: run.h5
checkpoint: {every: 20 ms}
"""

PRESSED = DISKS.replace("name: mpmc, replicas: 3", "name: canonical, control: {name: beta_pressure, values: [8, 9]}, replicas: 2") \
    .replace("{variant: checkerboard}", "{variant: checkerboard, sweeps_per_volume_move: 127}")

PAIRS = [(two_devices.A, two_devices.B), (two_devices.B, two_devices.A)]
CONFIGS = {**{f"pa, {variant}": CONFIG.format(variant=variant) for variant in ("multispin", "spin")},
           "pa, Heisenberg spins": SPINS.format(variant="float"), "muca": MULTICANONICAL,
           "muca, Heisenberg spins": WALKS}
# A small run of chains is one unit on a GPU: these begin on the first device.
CHAINS = {"mpmc": DISKS, "hard disks at constant pressure": PRESSED}
KILLS = 6


class AcrossDevices(ProgramCase):
    device = None
    whole = {}  # for every configuration the numbers of an uninterrupted run, and the seconds it took
    startup = {}  # for every device the seconds until the first unit is done

    def begin(self, title):
        self.config = self.write("c.yaml", {**CONFIGS, **CHAINS}[title])
        if title not in self.whole:
            begin = time.monotonic()
            self.gpumc("run", self.config, "--device", two_devices.A, "-o", "whole.h5")
            self.whole[title] = numbers(self.path("whole.h5")), time.monotonic() - begin
            self.path("whole.h5").unlink()
        self.reference, self.duration = self.whole[title]

    def finish(self, name):
        process = self.gpumc("run", self.config, "--device", name)
        self.assertEqual(self.names("run.h5*"), ["run.h5"])
        assert_same_numbers(self, self.reference, self.path("run.h5"))
        self.path("run.h5").unlink()
        return process

    def one_unit_on(self, name):
        return self.one_unit(self.config, "--device", name)

    def startup_of(self, name):
        if name not in self.startup:
            begin = time.monotonic()
            self.assertTrue(self.one_unit_on(name))
            self.startup[name] = time.monotonic() - begin
            for path in self.directory.glob("run.h5*"):
                path.unlink()
        return self.startup[name]

    def for_every_case(self, body):
        for title, (first, second) in cases.of(itertools.product(CONFIGS, PAIRS)):
            with self.subTest(title, first=first, second=second):
                self.begin(title)
                body(first, second)

    def test_uninterrupted(self):
        self.for_every_case(lambda first, second: self.finish(second))

    def test_chains_begun_on_the_first(self):
        for title, units in cases.of(itertools.product(CHAINS, [1, 2])):
            with self.subTest(title, units=units):
                self.begin(title)
                for _ in range(units):
                    self.assertTrue(self.one_unit_on(two_devices.A))
                self.assertRegex(self.finish(two_devices.B).err, r"resuming at \d+ %")

    def test_another_seed_is_noticed(self):
        for title in cases.of({**CONFIGS, **CHAINS}):
            with self.subTest(title):
                self.begin(title)
                self.gpumc("run", self.config, "--device", two_devices.B, "--set", "seed=20170802")
                with self.assertRaises(AssertionError):
                    assert_same_numbers(self, self.reference, self.path("run.h5"))
                self.path("run.h5").unlink()

    def test_stopped_and_continued(self):
        def body(first, second):
            for units in [1, 2, 7, 12]:
                for _ in range(units):
                    self.assertTrue(self.one_unit_on(first))
                self.assertRegex(self.finish(second).err, r"resuming at \d+ %")

        self.for_every_case(body)

    def test_alternating(self):
        def body(first, second):
            units = 0
            while self.one_unit_on([first, second][units % 2]):
                units += 1
            self.assertGreater(units, 8)
            assert_same_numbers(self, self.reference, self.path("run.h5"))
            self.path("run.h5").unlink()

        self.for_every_case(body)

    def checkpoint_time(self):
        """None if there is no checkpoint."""
        path = self.path("run.h5.ckpt")
        return path.stat().st_mtime_ns if path.exists() else None

    def killed(self, name, seconds):
        """Returns whether the kill happened, a checkpoint was continued, one was made."""
        before = self.checkpoint_time()
        process = self.start("run", self.config, "--device", name)
        time.sleep(seconds)
        process.kill()
        _, messages = process.communicate()
        made = self.checkpoint_time() not in (None, before)
        return process.returncode == -signal.SIGKILL, "resuming at" in messages, made

    def test_killed(self):
        """The devices alternate, so a checkpoint of the previous start is one of the other device."""
        choose = random.Random(4)

        def body(first, second):
            kills = continued = 0
            made = False
            startup = {name: self.startup_of(name) for name in (first, second)}
            for number in range(10 * KILLS):
                name = [first, second][number % 2]
                seconds = startup[name] + choose.uniform(0, 0.4) * self.duration
                other_made = made
                killed, resumed, made = self.killed(name, seconds)
                kills += killed
                continued += resumed and other_made
                if self.path("run.h5").exists():
                    self.finish(first)
                    made = False
                if kills >= KILLS and continued > 0:
                    break
            self.assertGreaterEqual(kills, KILLS)
            self.assertGreater(continued, 0, "no start continued what the other device had made")
            self.finish(second)

        self.for_every_case(body)


if __name__ == "__main__":
    two_devices.require()
    unittest.main(verbosity=2)

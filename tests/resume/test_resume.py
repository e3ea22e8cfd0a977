"""Runs that are killed, stopped or lose files end with the numbers of the uninterrupted run.

CTest: long, cases 1 s, methods 6 s
"""
import json
import os
import pathlib
import random
import resource
import signal
import sys
import time

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, faults
from support.program import DEVICE, FAILURE, INVALID, OK, STOPPED, stop
from support.resume import ResumeCase
from support.results import assert_same_numbers

# Adaptive steps and reweighting, so that every part of the state matters; an odd population.
CONFIG = """\
gpumc: 1
seed: 20170801
model:
  name: ising2d
  shape: [12, 10]
algorithm:
  name: pa
  population: 1501
  sweeps: 10
  beta: {from: 0.0, to: 0.6, overlap: 0.85}
  runs: 3
  blocks: 16
  reweight: {from: 0.1, to: 0.5, step: 0.05}
output: run.h5
checkpoint: {every: 20 ms}
"""


class JobCase(ResumeCase):
    startup = None  # seconds until the first unit is done, many if a GPU must be woken
    half = None   # bytes of checkpoint and working file in its middle

    def setUp(self):
        super().setUp()
        self.use(CONFIG)
        if JobCase.startup is None:
            begin = time.monotonic()
            self.gpumc("run", self.config, "-o", "first.h5", "--max-time", "1 ms", code=STOPPED)
            JobCase.startup = time.monotonic() - begin
            for path in self.directory.glob("first.h5*"):
                path.unlink()

    def stopped_half_way(self):
        """The files of a job that was stopped in its second batch, of two runs."""
        names = ["run.h5.ckpt", "run.h5.partial"]
        units = 0
        while JobCase.half is None:
            self.gpumc("run", self.config, "--max-time", "1 ms", code=STOPPED)
            status = json.loads(self.gpumc("status", self.config, "--json").out)["tasks"][0]
            self.assertEqual(status["state"], "resumable")
            units += 1
            self.assertLess(units, 200, "the run makes no progress")
            if status["fraction"] > 0.5:
                JobCase.half = [self.path(name).read_bytes() for name in names]
        for name, content in zip(names, self.half):
            self.path(name).write_bytes(content)

    def instruction_sets(self):
        """Returns those that this machine runs."""
        found = []
        for isa in ["x86-64-v2", "x86-64-v3", "x86-64-v4", "portable"]:
            process = self.start("run", self.config, "-o", f"{isa}.h5", "--set", f"kernel.isa={isa}")
            process.communicate(timeout=300)
            self.assertIn(process.returncode, [OK, INVALID, DEVICE])  # not built, not here
            if process.returncode == OK:
                found.append(isa)
        return found


class Comparison(JobCase):
    def test_tells_another_run_apart(self):
        self.tell_another_seed_apart()


class Killed(JobCase):
    KILLED = range(50)

    def test_at_random_instants(self):
        for run in cases.of(self.KILLED):
            self.kill_at_random_instants(run, [0, self.startup])

    def test_at_every_write_to_the_disk(self):
        """Killed just before the n-th rename and the n-th fsync, for every n there is."""
        faults.require(self)
        for call in ["rename", "fsync"]:
            for n in range(1, 40):
                process = self.start("run", self.config, "--set", "checkpoint.every=10 min",
                                     env=faults.environment(f"{call}:nth={n}:action=kill"))
                process.communicate(timeout=300)
                self.assertIn(process.returncode, [OK, -signal.SIGKILL])
                self.finish()
                self.path("run.h5").unlink()
                if process.returncode == OK:
                    break
            self.assertGreater(n, 1, f"no {call} at all")

    def test_behind_the_last_unit(self):
        """Killed at every write to the disk after all work is done and before the result is in place."""
        faults.require(self)
        last = self.before_the_last_unit()
        finished = 0
        for call in ["rename", "fsync"]:
            for n in range(1, 40):
                for name, content in last.items():
                    self.path(name).write_bytes(content)
                process = self.start("run", self.config, "--set", "checkpoint.every=1 ms",
                                     env=faults.environment(f"{call}:nth={n}:action=kill"))
                process.communicate(timeout=300)
                self.assertIn(process.returncode, [OK, -signal.SIGKILL])
                finished += "resuming at 100 %" in self.finish().err
                self.path("run.h5").unlink()
                if process.returncode == OK:
                    break
        self.assertGreater(finished, 0, "no checkpoint after the last unit")

    def before_the_last_unit(self):
        """Checkpoint and working file of a run with a single unit left."""
        files = {}
        for _ in range(1000):
            if not self.one_unit(self.config):
                break
            files = {name: self.path(name).read_bytes() for name in ["run.h5.ckpt", "run.h5.partial"]}
        self.path("run.h5").unlink()
        return files


class Configurations(ResumeCase):
    """Whole populations are in the log, those of adaptive runs in two batches."""

    KILLED = range(50)

    def setUp(self):
        super().setUp()
        self.use(CONFIG.replace("  blocks: 16\n", "  blocks: 16\n  configurations: {betas: [0, 0.2, 0.45, 0.6]}\n"))

    def test_are_there(self):
        with h5py.File(self.path("whole.h5")) as file:
            steps = [set(file["configurations/step"][:][file["configurations/run"][:] == m]) for m in range(3)]
        self.assertEqual([len(of_run) for of_run in steps], [4, 4, 4])

    def test_killed_at_random_instants(self):
        for run in cases.of(self.KILLED):
            self.kill_at_random_instants(run)

    def test_stopped_after_every_unit(self):
        self.stop_after_units(cases.of(self.PLACES), 11)

    def test_tell_another_run_apart(self):
        self.tell_another_seed_apart()

    def test_log_is_needed(self):
        for _ in range(5):
            self.gpumc("run", self.config, "--max-time", "1 ms", code=STOPPED)
        content = self.path("run.h5.log").read_bytes()
        self.path("run.h5.log").unlink()
        self.assertIn("run.h5.log", self.gpumc("run", self.config, code=FAILURE).err)
        self.path("run.h5.log").write_bytes(content)
        self.finish()


class AnotherControl(ResumeCase):
    """Adaptive steps in the field, thermalized at the first."""

    KILLED = range(50)

    def setUp(self):
        super().setUp()
        self.use(CONFIG.replace("  beta: {from: 0.0, to: 0.6, overlap: 0.85}\n",
                                "  control: {name: h, beta: 0.4, from: -0.3, to: 0.3, overlap: 0.85, thermalization: 50}\n")
                 .replace("  reweight: {from: 0.1, to: 0.5, step: 0.05}\n", "  configurations: {every: 2}\n"))

    def test_killed_at_random_instants(self):
        for run in cases.of(self.KILLED):
            self.kill_at_random_instants(run)

    def test_stopped_after_every_unit(self):
        self.stop_after_units(cases.of(self.PLACES), 11)


class Stopped(JobCase):
    def test_after_every_unit(self):
        """One temperature per invocation, and a checkpoint only at its end."""
        self.stop_after_units(cases.of(self.PLACES), 11, "--set", "checkpoint.every=10 min")

    def test_by_signals(self):
        choose = random.Random(2)
        stops, wait = 0, 0.03 + self.startup + 0.2 * (self.duration - self.startup)
        while not self.path("run.h5").exists() or stops == 0:
            if self.path("run.h5").exists():  # faster than the run that was timed
                self.path("run.h5").unlink()
                wait /= 2
            process = self.start("run", self.config)
            time.sleep(choose.uniform(0.7, 1.3) * wait)
            stop(process, choose.choice([signal.SIGTERM, signal.SIGINT]))
            # A signal before main() ends the program like any other program.
            self.assertIn(process.returncode, [OK, STOPPED, -signal.SIGTERM, -signal.SIGINT])
            stops += process.returncode == STOPPED
            # A signal before the first unit gains nothing either.
            wait *= 1.1 if process.returncode < 0 else 1.01
        self.finish()

    def test_checkpoint_after_every_unit(self):
        self.finish("--set", "checkpoint.every=1 ms")

    def test_on_other_instruction_sets_and_threads(self):
        sets = self.instruction_sets()
        for isa in sets:
            assert_same_numbers(self, self.reference, self.path(f"{isa}.h5"))
        for number in range(1000):
            if not self.one_unit(self.config, "--threads", 1 + number // 2 % 2, "--set",
                                 f"kernel.isa={sets[number % len(sets)]}"):
                break
        self.finish()


class SpoiledCheckpoint(JobCase):
    def refuse(self, says, ours=True):
        """The message names the file and a remedy, and nothing is touched; files that are not known to be ours are kept
        even by a fresh start."""
        checkpoint = self.path("run.h5.ckpt")
        before = checkpoint.read_bytes()
        partial = self.path("run.h5.partial").read_bytes()
        process = self.gpumc("run", self.config, code=FAILURE)
        self.assertIn("run.h5.ckpt", process.err)
        self.assertIn(says, process.err)
        self.assertEqual(process.err.count("--fresh"), int(ours), process.err)
        if not ours:
            fresh = self.gpumc("run", self.config, "--fresh", code=FAILURE)
            self.assertIn("run.h5.ckpt: not a checkpoint of gpumc, and was left alone", fresh.err)
        self.assertEqual(checkpoint.read_bytes(), before)
        self.assertEqual(self.path("run.h5.partial").read_bytes(), partial)

    def test_every_kind(self):
        self.stopped_half_way()
        checkpoint = self.path("run.h5.ckpt")
        good = checkpoint.read_bytes()
        choose = random.Random(3)
        for length in [0, 1, 100, 511, 512, 600, len(good) // 2, len(good) - 1]:
            with self.subTest(truncated_to=length):
                checkpoint.write_bytes(good[:length])
                self.refuse("", ours=length == 0 or length >= 16)
        for position in [0, 20, 30, 300] + [choose.randrange(len(good)) for _ in range(10)]:
            with self.subTest(flipped=position):
                spoiled = bytearray(good)
                spoiled[position] ^= 1 << choose.randrange(8)
                checkpoint.write_bytes(spoiled)
                self.refuse("damaged" if position >= 16 else "", ours=position >= 16)
        with self.subTest("foreign"):
            checkpoint.write_bytes(self.path("whole.h5").read_bytes())
            self.refuse("", ours=False)
        with self.subTest("longer"):
            checkpoint.write_bytes(good + b"more")
            self.refuse("damaged")
        checkpoint.write_bytes(good)
        self.assertRegex(self.finish().err, r"resuming at \d+ %")

    def test_whole_but_contradictory(self):
        """Numbers that index memory are checked even if the checksum is right."""
        far = 2 ** 31
        changes = [("ensemble/sizes", (0, 0), far), ("ensemble/sizes", (1, 0), 1800),
                   ("run/counters", (1, 0), far), ("run/counters", (2, 0), far),
                   ("run/counters", (2, 0), 3), ("run/counters", (2, 0), 1),
                   ("run/counters", (3, 0), 2 ** 40),
                   ("pa/counters", (0, 0), -1), ("pa/counters", (0, 0), 2),
                   ("pa/counters", (1, 0), 3), ("pa/counters", (2, 0), 1),
                   ("pa/counters", (2, 0), far), ("pa/family", (700, 0), 1501)]
        for name, index, value in changes:
            with self.subTest(name=name, index=index, value=value):
                self.stopped_half_way()
                self.change(name, index, value)
                self.refuse("")
        self.stopped_half_way()
        self.change("ensemble/sizes", (0, 0), None)
        self.assertRegex(self.finish().err, r"resuming at \d+ %")

    def test_holds_the_whole_batch(self):
        """Sizes, replicas, families and rows of every run in progress."""
        self.stopped_half_way()
        with h5py.File(self.path("run.h5.ckpt")) as file:
            first, count, row = (int(x) for x in file["pa/counters"][:, 0])
            sizes = file["ensemble/sizes"][:, 0]
            self.assertEqual((first, count, len(sizes)), (1, 2, 2))
            self.assertGreater(row, 1)
            self.assertEqual(file["ensemble/replicas"].shape, (sizes.sum(), 15))
            self.assertEqual(file["pa/family"].shape, (sizes.sum(), 1))
            tables = [file[f"recorder/{i}/rows"].shape[0] for i in range(6)]
        self.assertEqual(tables[2:], [row] * 4)
        self.assertGreaterEqual(tables[0], row)

    def test_of_another_configuration(self):
        self.stopped_half_way()
        good = self.path("run.h5.ckpt").read_bytes()
        process = self.gpumc("run", self.config, "--set", "algorithm.sweeps=11", code=INVALID)
        self.assertIn("algorithm.sweeps: 10 -> 11", process.err)
        self.assertEqual(self.path("run.h5.ckpt").read_bytes(), good)
        self.finish()

    def test_of_another_format(self):
        """One of format 3 had the same random numbers for every `model.sample`."""
        self.stopped_half_way()
        checkpoint = self.path("run.h5.ckpt")
        good = checkpoint.read_bytes()
        version = int.from_bytes(good[16:20], "little")
        for other in (3, version + 1):
            checkpoint.write_bytes(good[:16] + other.to_bytes(4, "little") + good[20:])
            self.refuse(f"was written in checkpoint format {other}; this program reads {version}: "
                        "finish the run with the program that began it")

    def test_fresh_starts_over(self):
        self.stopped_half_way()
        self.path("run.h5.ckpt").write_bytes(b"gpumc-checkpoint, spoiled")
        process = self.finish("--fresh")
        self.assertNotIn("resuming", process.err)


class SpoiledWorkingFile(JobCase):
    def test_loses_nothing(self):
        def delete(path):
            path.unlink()

        def truncate(path):
            os.truncate(path, path.stat().st_size // 2)

        def empty(path):
            path.write_bytes(b"")

        for spoil in [delete, truncate, empty]:
            with self.subTest(spoil.__name__):
                self.stopped_half_way()
                spoil(self.path("run.h5.partial"))
                self.finish()
                self.path("run.h5").unlink()

    def test_that_is_none_of_ours_is_left_alone(self):
        self.stopped_half_way()
        self.path("run.h5.partial").write_bytes(b"spoiled")
        process = self.gpumc("run", self.config, code=FAILURE)
        self.assertIn("run.h5.partial: not a working file of gpumc, and was left alone", process.err)
        self.assertEqual(self.path("run.h5.partial").read_bytes(), b"spoiled")
        self.path("run.h5.partial").unlink()
        self.finish()


class FullDisk(JobCase):
    def check(self, **options):
        """A failure with its reason, the earlier checkpoint intact, and the run continues later."""
        self.stopped_half_way()
        before = self.path("run.h5.ckpt").read_bytes()
        process = self.start("run", self.config, "--set", "checkpoint.every=1 ms", **options)
        process.out, process.err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, FAILURE, process.err)
        self.assertTrue(process.err.splitlines()[-1].startswith("gpumc: error: "), process.err)
        self.assertEqual(self.path("run.h5.ckpt").read_bytes(), before)
        self.assertFalse(self.path("run.h5").exists())
        self.assertIn('"failed"', self.gpumc("status", self.config, "--json").out)
        self.assertRegex(self.finish().err, r"resuming at \d+ %")
        self.path("run.h5").unlink()
        return process

    def test_by_fault_injection(self):
        faults.require(self)
        for setting in ["write:after_bytes=0:path=.ckpt", "write:after_bytes=9000:path=.ckpt",
                        "fsync:nth=1:errno=EIO:path=.ckpt", "rename:nth=1:path=.ckpt",
                        "write:after_bytes=0:path=.partial"]:
            with self.subTest(setting):
                process = self.check(env=faults.environment(setting))
                reason = "Input/output error" if "EIO" in setting else "No space left on device"
                self.assertIn(reason, process.err)

    def test_by_a_limit_on_file_sizes(self):
        limit = 20000
        self.check(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))


if __name__ == "__main__":
    device.require()
    cases.main()

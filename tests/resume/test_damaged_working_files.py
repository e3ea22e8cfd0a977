"""Working files, checkpoints and logs of a killed run that are no longer what they were: every command ends within
seconds, with a message or the right numbers, and the run ends with those of an uninterrupted one, or says what is damaged.

HDF5 reads metadata of a live file again and again while their checksum is wrong, with waits that double each time.

CTest: methods 5 s
"""
import itertools
import json
import pathlib
import random
import signal
import sys

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, faults
from support.program import FAILURE, OK
from support.resume import ResumeCase
from support.results import assert_same_numbers

SECONDS = 20  # for a command of hundredths of a second, on a busy machine and with sanitizers too
EACH = 16  # damaged files of a kind
# Of a file that nothing marks as gpumc's, or that looks as if it was closed with its numbers complete.
NOT_OURS = "not a working file (of gpumc|but a finished or damaged result)"
REMEDY = "run its configuration again"

CONFIG = """\
gpumc: 1
seed: 48
model:
  name: ising2d
  shape: [12, 10]
algorithm:
  name: pa
  population: 301
  sweeps: 4
  beta: {from: 0.0, to: 0.6, step: 0.01}
  runs: 2
  blocks: 16
  configurations: {betas: [0, 0.1, 0.2]}
output: run.h5
"""


def three_quarters(rng, data):
    del data[len(data) * 3 // 4:]


def cut(rng, data):
    del data[rng.randrange(1, len(data)):]


def flip(rng, data):
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def zero(rng, data):
    at = rng.randrange(len(data)) // 512 * 512
    data[at:at + 512] = bytes(len(data[at:at + 512]))


def flip_near_the_begin(rng, data):
    data[rng.randrange(min(16384, len(data)))] ^= 1 << rng.randrange(8)


def zero_near_the_begin(rng, data):
    at = rng.randrange(16384) // 64 * 64
    data[at:at + 64] = bytes(len(data[at:at + 64]))


CUTS = [three_quarters, cut]
KINDS = CUTS + [flip, zero, flip_near_the_begin, zero_near_the_begin]
DAMAGES = list(itertools.product(KINDS, range(EACH)))


class DamagedCase(ResumeCase):
    files = {}  # of the killed run, by name

    def setUp(self):
        super().setUp()
        faults.require(self)
        self.use(CONFIG)
        if not self.files:
            for _ in range(2):  # the second one begins with the rows of the first
                killed = self.start("run", self.config, "--set", "checkpoint.every=1 ms",
                                    env=faults.environment("rename:nth=25:path=.ckpt:action=kill"))
                killed.communicate(timeout=300)
                self.assertEqual(killed.returncode, -signal.SIGKILL)
            self.files.update((name, self.path(name).read_bytes()) for name in ("run.h5.partial", "run.h5.ckpt", "run.h5.log"))
        self.restore()

    def restore(self):
        for path in self.directory.glob("run.h5*"):
            path.unlink()
        for name, content in self.files.items():
            self.path(name).write_bytes(content)

    def soon(self, *arguments):
        """What the command says, and its exit code; it ends soon."""
        process = self.start(*arguments)
        try:
            process.out, process.err = process.communicate(timeout=SECONDS)
        except BaseException:
            process.kill()
            process.communicate()
            raise
        return process

    def damage(self, name, kind, number):
        """Puts a damaged file in the place of the good one, and returns what a message about it should be headed with."""
        which, data = f"{kind.__name__} {number}", bytearray(self.files[name])
        kind(random.Random(f"48 {name} {which}"), data)
        self.restore()
        self.path(name).write_bytes(data)
        return which

    def assert_often(self, found, ran, least):
        """`found` exceeds `least` if all cases of DAMAGES ran, and for a part of them its share less two: a case or two
        may be unlike the others of their kind."""
        self.assertGreater(found, least if ran == len(DAMAGES) else least * ran / len(DAMAGES) - 2)


class WorkingFile(DamagedCase):
    def test_the_killed_run_left_it_open(self):
        """What the other tests rest on: HDF5 opens the file as one that is being written."""
        with self.assertRaises(OSError):
            h5py.File(self.path("run.h5.partial"))
        shown = json.loads(self.soon("info", "run.h5.partial", "--json").out)
        self.assertEqual([run["rows"] > 10 for run in shown["progress"]], [True, True])

    def test_readers_end(self):
        commands = [["info", "run.h5.partial", "--json"], ["export", "run.h5.partial", "runs/0000"],
                    ["compare", "run.h5.partial", "whole.h5"], ["merge", "merged.h5", "run.h5.partial", "whole.h5"]]
        good = [self.soon(*command) for command in commands]
        self.assertEqual([process.returncode for process in good[:2]], [OK, OK], good[1].err)
        ran = refused = 0
        for kind, number in cases.of(DAMAGES):
            ran += 1
            which = self.damage("run.h5.partial", kind, number)
            for command, right in zip(commands, good):
                process = self.soon(*command)
                refused += right.returncode == OK and process.returncode != OK  # two refuse all working files
                if process.returncode != OK:
                    self.assertIn("run.h5.partial", process.err, which)
                elif kind in CUTS:  # rows have no checksum: a changed one is another number
                    self.assertEqual(process.out, right.out, which)
                if "read" in process.err:
                    self.assertIn(REMEDY, process.err, which)
        self.assert_often(refused, ran, EACH)

    def test_status_and_run_take_the_checkpoint(self):
        ran = rebuilt = 0
        for kind, number in cases.of(DAMAGES):
            ran += 1
            which = self.damage("run.h5.partial", kind, number)
            status, process = self.soon("status", self.config), self.soon("run", self.config)
            if process.returncode != OK:  # nothing is left that says whose it is
                self.assertEqual(process.returncode, FAILURE, f"{which}: {process.err}")
                self.assertRegex(process.err, NOT_OURS, which)
                self.assertRegex(status.out, NOT_OURS, which)
                continue
            rebuilt += 1
            self.assertIn("resumable", status.out, which)
            self.assertIn("resuming at", process.err, which)
            assert_same_numbers(self, self.reference, self.path("run.h5"))
        self.assert_often(rebuilt, ran, 5 * EACH)

    def test_watching_ends(self):
        """A look at a damaged file is one like any other: the next one follows, and a signal ends it."""
        for kind, number in cases.of(itertools.product([three_quarters, flip_near_the_begin], range(4))):
            self.damage("run.h5.partial", kind, number)
            process = self.start("status", self.config, "--watch=0.1")
            self.assertIn("resumable", process.stdout.readline())
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=SECONDS)
            self.assertEqual(process.returncode, -signal.SIGTERM)


class OtherFiles(DamagedCase):
    """A checkpoint or a log cannot be made again: the run says so, and deletes nothing."""

    def check(self, name):
        ran = refused = 0
        for kind, number in cases.of(DAMAGES):
            ran += 1
            which = self.damage(name, kind, number)
            before = {path.name: path.read_bytes() for path in self.directory.glob("run.h5*")}
            self.assertIn(self.soon("status", self.config).returncode, [OK, FAILURE])
            process = self.soon("run", self.config)
            if process.returncode == OK:
                assert_same_numbers(self, self.reference, self.path("run.h5"))
                continue
            refused += 1
            self.assertEqual(process.returncode, FAILURE, which)
            self.assertIn(name, process.err, which)
            after = {path.name: path.read_bytes() for path in self.directory.glob("run.h5*")}
            after.pop("run.h5.status", None)
            self.assertEqual(after, before, which)
        self.assert_often(refused, ran, 4 * EACH)

    def test_checkpoint(self):
        self.check("run.h5.ckpt")

    def test_log(self):
        self.check("run.h5.log")


if __name__ == "__main__":
    cases.main()

"""Damaged files in the Python package: within seconds it says what is wrong, or has the right numbers; no process of it
stays behind, and every error is a ResultError.

CTest: release (cli_test_damaged_results, resume_test_damaged_working_files)
"""
import json
import os
import pathlib
import random
import select
import signal
import subprocess
import sys
import time
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, faults
from support.program import SMALL, ProgramCase

PACKAGE = str(device.ROOT / "tools/python")
sys.path.insert(0, PACKAGE)
import gpumc  # noqa: E402
from gpumc import decoded, lazy  # noqa: E402

SECONDS = 60  # for a process of Python to begin and to read a file, on a busy machine too
AT_ONCE = 2  # seconds for a message about a file whose own marks say what is wrong
EACH = 16  # damaged files of a kind

# Reads the files named on its standard input, a line for each: how long it took and what came of it.
READER = """\
import hashlib, json, sys, time
sys.path.insert(0, sys.argv[1])
import gpumc
print("ready", flush=True)
for line in sys.stdin:
    begin = time.monotonic()
    try:
        found = gpumc.read(line.strip())
        what = hashlib.sha256(repr([(name, found.summary[name].tobytes()) for name in sorted(found.summary)]).encode()).hexdigest()
        kind = "read"
    except gpumc.ResultError as reason:
        kind, what = "refused", str(reason)
    except Exception as reason:
        kind, what = type(reason).__name__, str(reason)
    print(json.dumps([kind, what, time.monotonic() - begin]), flush=True)
"""

# Opens a file by a probe that sleeps where HDF5 would.
CALLER = """\
import sys
sys.path.insert(0, sys.argv[1])
import gpumc
asleep = "open('asleep', 'w').write(str(__import__('os').getpid())), __import__('time').sleep(600)"
gpumc.files._PROBE = gpumc.files._PROBE.replace(
    "import gpumc.probe;", f"import gpumc.probe; gpumc.files.unverified = lambda *_, **__: ({asleep});")
try:
    gpumc.read(sys.argv[2])
except gpumc.ResultError as reason:
    print(reason)
"""

DISKS = """\
gpumc: 1
seed: 5
model: {name: hard_disks, particles: 16, packing_fraction: 0.3}
algorithm: {name: mpmc, thermalization: 10, sweeps: 100, replicas: 2, configurations: {every: 10}}
output: disks.h5
"""


class Reading(ProgramCase):
    device = None

    def setUp(self):
        super().setUp()
        self.reader = None
        self.addCleanup(self.end)

    def end(self):
        if self.reader is not None:
            self.reader.kill()
            self.reader.communicate()
            self.reader = None

    def line(self):
        if not select.select([self.reader.stdout], [], [], SECONDS)[0]:
            self.end()
            self.fail(f"nothing was said within {SECONDS} s")
        return self.reader.stdout.readline()

    def read(self, name):
        """("read", digest, seconds), ("refused", message, seconds), or the name of another exception."""
        if self.reader is None:
            self.reader = subprocess.Popen([sys.executable, "-c", READER, PACKAGE], cwd=self.directory, bufsize=0,
                                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.assertEqual(self.line(), b"ready\n")
        self.reader.stdin.write(f"{name}\n".encode())
        return json.loads(self.line())

    def damage(self, name, good, seed, change):
        for number in cases.of(range(EACH)):
            data = bytearray(good)
            change(random.Random(f"{seed} {number}"), data)
            self.path(name).write_bytes(data)
            kind, what, seconds = self.read(name)
            self.assertIn(kind, ["read", "refused"], f"{number}: {what}")
            if kind == "refused":
                self.assertIn(name, what)
            yield kind, what, seconds


class Finished(Reading):
    def setUp(self):
        super().setUp()
        self.gpumc("run", self.write("c.yaml", SMALL))
        self.good = self.path("small.h5").read_bytes()
        self.right = self.read("small.h5")[1]

    def test_without_its_end(self):
        def cut(rng, data):
            del data[rng.randrange(100, len(data)):]

        for kind, what, seconds in self.damage("small.h5", self.good, 481, cut):
            self.assertEqual(kind, "refused")
            self.assertIn("damaged", what)
            self.assertIn("restore it from a copy", what)
            self.assertLess(seconds, AT_ONCE)

    def test_with_a_seal_over_damage(self):
        """As by a program that changed the file and sealed it. Raw numbers have no checksum of their own."""
        def flip(rng, data):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            self.path("sealing.h5").write_bytes(data)
            gpumc.seal(self.path("sealing.h5"))
            data[:] = self.path("sealing.h5").read_bytes()

        for _, _, seconds in self.damage("small.h5", self.good, 482, flip):
            self.assertLess(seconds, AT_ONCE)

    def test_marked_as_being_written(self):
        """Byte 11 has the marks of a writer; a sealed file has none."""
        for mark in (1, 5):
            data = bytearray(self.good)
            data[11] = mark
            self.path("small.h5").write_bytes(data)
            self.assertEqual(self.read("small.h5")[0], "refused")
            gpumc.seal(self.path("small.h5"))
            kind, what, seconds = self.read("small.h5")
            self.assertEqual(kind, "refused", what)
            self.assertLess(seconds, AT_ONCE)


class Live(Reading):
    """The working file of a killed run."""

    def setUp(self):
        super().setUp()
        faults.require(self)
        config = self.write("c.yaml", SMALL.replace("step: 0.05", "step: 0.005"))
        for _ in range(2):  # the second one begins with the rows of the first
            killed = self.start("run", config, "--device", "cpu", "--set", "checkpoint.every=1 ms",
                                env=faults.environment("rename:nth=25:path=.ckpt:action=kill"))
            killed.communicate(timeout=300)
            self.assertEqual(killed.returncode, -signal.SIGKILL)
        self.good = self.path("small.h5.partial").read_bytes()

    def test_is_read(self):
        self.assertEqual(self.read("small.h5.partial")[0], "read")
        self.assertGreater(len(gpumc.read(self.path("small.h5.partial")).runs[0]["beta"]), 10)

    def test_damaged(self):
        def change(rng, data):
            at = rng.randrange(len(data))
            if rng.random() < 0.5:
                del data[max(at, 100):]
            else:
                data[at] ^= 1 << rng.randrange(8)

        found = list(self.damage("small.h5.partial", self.good, 483, change))
        refused = [what for kind, what, _ in found if kind == "refused"]
        if len(found) == EACH:  # most bits that are flipped, which is every second damage, are of numbers: any few files may be read
            self.assertGreater(len(refused), EACH // 4)
        for what in refused:
            self.assertRegex(what, "'gpumc run' continues from its checkpoint|not an HDF5 file|not a result")

    def test_rows_beyond_the_end_are_no_zeros(self):
        """The last rows were written last, at the end of the file."""
        with h5py.File(self.path("small.h5.partial"), "r", swmr=True) as file:
            chunk = file["runs/0001/beta"].id.get_chunk_info(0)
        self.path("small.h5.partial").write_bytes(self.good[:chunk.byte_offset])
        kind, what, _ = self.read("small.h5.partial")
        self.assertEqual(kind, "refused")


class Probe(Reading):
    def setUp(self):
        super().setUp()
        with h5py.File(self.path("old.h5"), "w") as file:
            file.attrs["format"] = "gpumc-results"
        self.caller = subprocess.Popen([sys.executable, "-c", CALLER, PACKAGE, "old.h5"], cwd=self.directory, text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.stop_caller)
        self.probe = int(self.wait_for_the_probe())
        self.addCleanup(self.stop_probe)

    def stop_caller(self):
        self.caller.kill()
        self.caller.communicate()

    def stop_probe(self):
        if self.is_asleep():
            os.kill(self.probe, signal.SIGKILL)

    def wait_for_the_probe(self):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            if self.path("asleep").exists() and self.path("asleep").read_text():
                return self.path("asleep").read_text()
            time.sleep(0.01)
        self.fail("the probe does not begin")

    def is_asleep(self):
        try:
            return b"gpumc.probe" in pathlib.Path(f"/proc/{self.probe}/cmdline").read_bytes()
        except FileNotFoundError:
            return False

    def wait_for_its_end(self):
        end = time.monotonic() + 10
        while self.is_asleep() and time.monotonic() < end:
            time.sleep(0.01)
        self.assertFalse(self.is_asleep(), "the probe sleeps on")

    def test_that_sleeps_is_given_up(self):
        out, err = self.caller.communicate(timeout=20)
        self.assertIn("old.h5: it has no checksum, and the process that reads such files first got no further", out, err)
        self.wait_for_its_end()

    def test_ends_with_its_caller(self):
        self.caller.kill()
        self.wait_for_its_end()


class Lazily(Reading):
    def test_positions_that_cannot_be_read(self):
        """gpumc.open reads them when they are used (tools/python/tests/test_open.py)."""
        self.gpumc("run", self.write("c.yaml", DISKS))
        with h5py.File(self.path("disks.h5")) as file:
            place = file["configurations/bytes"].id.get_chunk_info(0).byte_offset
        data = bytearray(self.path("disks.h5").read_bytes())
        data[data.index(place.to_bytes(8, "little"))] ^= 1  # in the index of the chunks, which has a checksum
        self.path("disks.h5").write_bytes(data)
        gpumc.seal(self.path("disks.h5"))
        with gpumc.opened(self.path("disks.h5")) as file:
            stored = file["configurations/bytes"]
            for form in decoded.forms(json.loads(file["config/resolved"][()]), stored.shape[1]):
                read = lazy.Decoded(stored, np.arange(4), form.decode, form.shape, form.dtype)
                with self.assertRaisesRegex(gpumc.ResultError, "disks.h5: damaged: numbers of it cannot be read"):
                    read._read((slice(None),) * (1 + len(form.shape)))


if __name__ == "__main__":
    unittest.main()

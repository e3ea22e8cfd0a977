"""Finished results that are no longer what they were: whoever reads them refuses them with a message, or
finds the same numbers. Bits are flipped, blocks swapped, zeroed and doubled, ends cut off and added.

support/fuzz.py has the number of damaged files (a few by default) and the seed.

CTest: cases 4 s
"""
import json
import os
import pathlib
import subprocess
import sys
from unittest import mock
import zlib

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, fuzz
from support.edited_result import edited
from support.program import FAILURE, INVALID, OK, SMALL, ProgramCase

TOOLS = device.ROOT / "tools"
PACKAGE = str(TOOLS / "python")
sys.path.insert(0, PACKAGE)
import gpumc  # noqa: E402
from gpumc import files  # noqa: E402

FILES = fuzz.files(60)
ENOUGH = 16  # files of which more than half are refused: what is drawn leaves one in 20 as it was, and any few may be that
SEAL_BYTES = 32
TEMPERING = """\
gpumc: 1
seed: 5
model: {name: ea, shape: [2, 4]}
algorithm: {name: pt, beta: {values: [0.3, 0.5]}, samples: 8, sweeps: 320}
output: small.h5
"""


def flip(rng, data):
    for _ in range(rng.choice([1, 1, 2, 40])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def flip_at_the_end(rng, data):
    data[-1 - rng.randrange(SEAL_BYTES)] ^= 1 << rng.randrange(8)


def cut(rng, data):
    del data[rng.choice([rng.randrange(len(data)), len(data) - 1 - rng.randrange(2 * SEAL_BYTES)]):]


def swap(rng, data):
    size = rng.choice([8, 512, 4096])
    first, second = (rng.randrange(max(1, len(data) - size)) // 8 * 8 for _ in range(2))
    if abs(first - second) >= size:
        data[first:first + size], data[second:second + size] = data[second:second + size], data[first:first + size]


def overwrite(rng, data):
    size, at = rng.choice([8, 512, 4096]), rng.randrange(len(data))
    data[at:at + size] = bytes([rng.choice([0, 0xff])]) * len(data[at:at + size])


def double(rng, data):
    at, size = rng.randrange(len(data)), rng.choice([1, 512])
    data[at:at] = data[at:at + size]


def append(rng, data):
    data += bytes(rng.randrange(256) for _ in range(rng.choice([1, 32, 600])))


DAMAGES = [flip, flip, flip, flip_at_the_end, cut, swap, overwrite, double, append]


def same(one, other):
    return (one.keys() == other.keys()
            and all(np.array_equal(one[name], other[name], equal_nan=one[name].dtype.kind == "f") for name in one))


class Damaged(ProgramCase):
    def tool(self, name, *arguments):
        environment = dict(os.environ, MPLCONFIGDIR=str(self.directory))
        return subprocess.run([sys.executable, TOOLS / name, *map(str, arguments)], capture_output=True,
                              text=True, cwd=self.directory, env=environment)

    def assert_told(self, process, *texts):
        self.assertEqual(process.returncode, FAILURE, process.stdout + process.stderr)
        self.assertNotIn("Traceback", process.stderr)
        for text in texts:
            self.assertIn(text, process.stderr)

    def test_drawn_damage(self):
        config = self.write("c.yaml", SMALL)
        self.gpumc("run", config)
        good = self.path("small.h5").read_bytes()
        shown = self.gpumc("info", "small.h5", "--json").out
        read = gpumc.read(self.path("small.h5"))
        taken = refused = 0
        for number in cases.of(range(FILES), seconds=4):
            taken += 1
            rng = fuzz.generator(20261123, number)
            data = bytearray(good)
            damage = rng.choice(DAMAGES)
            damage(rng, data)
            self.path("small.h5").write_bytes(data)
            with self.subTest(number=number, damage=damage.__name__):
                refused += self.check(config, data == good, shown, read)
        if taken >= min(FILES, ENOUGH):
            self.assertGreater(refused, taken // 2)

    def check(self, config, unchanged, shown, read):
        """Whether the file is refused, by everything alike."""
        process = self.start("info", "small.h5", "--json")
        out, err = process.communicate(timeout=60)
        self.assertIn(process.returncode, [OK, FAILURE], err)
        self.assertEqual(out, shown if process.returncode == OK else "")
        try:
            found = gpumc.read(self.path("small.h5"))
            self.assertTrue(same(found.summary, read.summary) and found.config == read.config)
            self.assertEqual(process.returncode, OK)
        except gpumc.ResultError as reason:
            self.assertIn("small.h5", str(reason))
            self.assertEqual(process.returncode, FAILURE)
        if unchanged:
            return False
        run = self.start("run", config)
        _, message = run.communicate(timeout=60)
        self.assertIn(run.returncode, [FAILURE, INVALID], message)
        self.assertIn("small.h5", message)
        state = json.loads(self.gpumc("status", config, "--json").out)["tasks"][0]["state"]
        self.assertEqual(state, "failed" if run.returncode == FAILURE else "refused")
        if run.returncode == INVALID:  # its end is missing, so nothing shows that it was a result
            self.assertIn("it may be a damaged result", message)
            self.assertIn("move it away", message)
        return process.returncode == FAILURE

    def damage_a_number(self):
        """A result in which one number is another, which HDF5 cannot know."""
        data = bytearray(self.path("small.h5").read_bytes())
        with h5py.File(self.path("small.h5")) as file:
            at = data.find(file["summary/energy"][...].tobytes())
            self.assertGreater(at, 0)
        data[at + 6] ^= 1
        self.path("small.h5").write_bytes(data)

    def test_another_number_is_nobodys_result(self):
        config = self.write("c.yaml", TEMPERING)
        self.gpumc("run", config)
        good = self.path("small.h5").read_bytes()
        self.damage_a_number()
        told = "small.h5: is damaged: its contents do not match the checksum at its end"
        self.assertIn(told, self.gpumc("info", "small.h5", code=FAILURE).err)
        message = self.gpumc("run", config, code=FAILURE).err
        self.assertIn(told, message)
        self.assertIn("restore it from a copy, or replace it with --fresh", message)
        self.assert_told(self.tool("plot", "small.h5"), "small.h5: damaged", "restore it from a copy", "--fresh")
        self.assertIn(told, self.gpumc("merge", "merged.h5", "small.h5", code=FAILURE).err)
        self.assertFalse(self.path("merged.h5").exists())
        self.gpumc("run", config, "--quiet", "--fresh")
        fresh = gpumc.read(self.path("small.h5"))
        self.path("small.h5").write_bytes(good)
        self.assertTrue(same(fresh.summary, gpumc.read(self.path("small.h5")).summary))

    def test_a_result_without_its_checksum(self):
        """As HDF5 leaves a file that was opened for writing."""
        config = self.write("c.yaml", SMALL)
        self.gpumc("run", config)
        with h5py.File(self.path("small.h5"), "r+") as file:
            file["summary"].attrs["note"] = "mine"
        told = "its checksum, the last 32 bytes, is missing"
        self.assertIn(told, self.gpumc("info", "small.h5", code=FAILURE).err)
        self.assertIn(told, self.gpumc("run", config, code=FAILURE).err)
        with self.assertRaisesRegex(gpumc.ResultError, told):
            gpumc.read(self.path("small.h5"))
        gpumc.seal(self.path("small.h5"))
        self.assertEqual(gpumc.read(self.path("small.h5")).remarks["note"], "mine")
        self.assertIn("checksum: verified", self.gpumc("info", "small.h5").out)
        self.assertIn("already complete", self.gpumc("run", config).err)

    def test_results_of_version_1_have_none(self):
        config = self.write("c.yaml", SMALL)
        self.gpumc("run", config)
        with h5py.File(self.path("small.h5"), "r+") as file:
            file.attrs["format_version"] = np.int64(1)
        self.assertIn("checksum: none", self.gpumc("info", "small.h5").out)
        self.assertIn("already complete", self.gpumc("run", config).err)
        self.assertEqual(gpumc.read(self.path("small.h5")).format_version, 1)

    def test_the_checksum_is_as_documented(self):
        self.gpumc("run", self.write("c.yaml", TEMPERING))
        self.gpumc("merge", "merged.h5", "small.h5")
        for name in "small.h5", "merged.h5":
            data = self.path(name).read_bytes()
            contents, seal = data[:-SEAL_BYTES], data[-SEAL_BYTES:]
            self.assertEqual(seal[:16], b"gpumc-sealed-1\0\0")
            self.assertEqual(int.from_bytes(seal[16:24], "little"), len(contents))
            self.assertEqual(int.from_bytes(seal[24:28], "little"), zlib.crc32(contents))
            self.assertEqual(int.from_bytes(seal[28:], "little"), zlib.crc32(seal[:28]))
            self.assertIn("checksum: verified", self.gpumc("info", name).out)

    def test_numbers_that_stand_elsewhere(self):
        """Whoever makes such a result can seal it, too."""
        self.gpumc("run", self.write("c.yaml", SMALL))
        good = self.path("small.h5").read_bytes()
        layout = h5py.VirtualLayout(shape=(11,), dtype="f8")
        layout[:] = h5py.VirtualSource("absent.h5", "energy", shape=(11,))
        changes = {
            "virtual dataset": lambda group: group.create_virtual_dataset("energy", layout),
            "external storage": lambda group: group.create_dataset(
                "energy", (11,), "f8", external=[(b"absent.bin", 0, h5py.h5f.UNLIMITED)]),
        }
        for told, change in changes.items():
            with self.subTest(told):
                self.path("small.h5").write_bytes(good)
                with edited(self.path("small.h5"), libver=("v110", "v110")) as file:
                    del file["summary/energy"]
                    change(file["summary"])
                self.assertIn(told, self.gpumc("info", "small.h5", code=FAILURE).err)
                self.assert_told(self.tool("plot", "small.h5"), "small.h5", told)

    def test_what_crashes_hdf5_does_not_crash_the_reader(self):
        """A file of version 1, which nothing vouches for: it is tried in another process."""
        crashing = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
        with h5py.File(self.path("x.h5"), "w") as file:
            file.attrs["format"] = "gpumc-results"
        with mock.patch.object(files, "_PROBE", crashing), \
                self.assertRaisesRegex(gpumc.ResultError, r"HDF5 crashes when it reads it \(signal 11\)"):
            gpumc.read(self.path("x.h5"))

    def test_results_of_another_structure(self):
        """Whole files, and not as gpumc writes them: no tool ends with a traceback."""
        def shorter_error(file):
            values = file["summary/energy_error"][:3]
            del file["summary/energy_error"]
            file["summary/energy_error"] = values

        def text_for_numbers(file):
            del file["summary/energy"]
            file["summary/energy"] = b"x"

        def list_for_configuration(file):
            del file["config/resolved"]
            file["config/resolved"] = "[]"

        self.gpumc("run", self.write("c.yaml", SMALL))
        good = self.path("small.h5").read_bytes()
        for change, told in ((shorter_error, "differs in shape"), (text_for_numbers, "no numbers"),
                             (list_for_configuration, "not a configuration")):
            with self.subTest(change.__name__):
                self.path("small.h5").write_bytes(good)
                with edited(self.path("small.h5")) as file:
                    change(file)
                self.assert_told(self.tool("plot", "small.h5"), "small.h5: not in the form that gpumc writes", told)
        self.path("small.h5").write_bytes(good)
        with edited(self.path("small.h5")) as file:
            del file["samples" if "samples" in file else "summary/beta"]
        self.assertIn("small.h5: holds no summary/beta", self.gpumc("merge", "merged.h5", "small.h5", code=FAILURE).err)
        self.assertEqual(self.names("merged*"), [])

    def test_an_axis_that_was_deleted(self):
        """HDF5's own iteration over the scales of a dataset crashes then."""
        self.gpumc("run", self.write("c.yaml", SMALL))
        with edited(self.path("small.h5")) as file:
            del file["summary/beta"]
        code = f"import sys; sys.path.insert(0, {PACKAGE!r}); import gpumc; " \
               "print(gpumc.read('small.h5').labels['energy'].axes)"
        process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=self.directory)
        self.assertEqual((process.returncode, process.stdout), (0, "('',)\n"), process.stderr)

    def test_texts_of_a_file_are_no_commands_of_a_terminal(self):
        self.gpumc("run", self.write("c.yaml", SMALL))
        with edited(self.path("small.h5")) as file:
            file["summary"].attrs["odd_warning"] = "\x1b]0;title\x07 \u202e"
        shown = self.tool("plot", "small.h5").stderr
        self.assertIn("\\x1b]0;title\\x07 \\u202e", shown)
        self.assertNotIn("\x1b", shown)
        self.assertEqual(gpumc.printable("β = 1\n\udcff"), "β = 1\\n\\udcff")


if __name__ == "__main__":
    cases.main()

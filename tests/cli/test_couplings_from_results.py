"""Couplings from results of gpumc: taken as they were written, or refused where the result is no longer what it was.

support/fuzz.py has the number of damaged files."""
import os
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, fuzz
from support.edited_result import edited
from support.program import INVALID, OK, ProgramCase

FILES = fuzz.files(60)
SEAL = 32
CONFIG = """\
gpumc: 1
seed: 3
model: {{name: ea, shape: [4, 4, 4], write_couplings: true, {model}}}
algorithm: {{name: pa, population: 32, sweeps: 1, beta: {{to: 0.1, step: 0.1}}}}
output: {output}
"""


class Source(ProgramCase):
    def setUp(self):
        super().setUp()
        self.gpumc("run", self.write("source.yaml", CONFIG.format(model="disorder_seed: 2", output="c.h5")), "--quiet")
        self.config = self.write("c.yaml", CONFIG.format(model="couplings: file, file: c.h5", output="out.h5"))
        self.good = self.path("c.h5").read_bytes()
        with h5py.File(self.path("c.h5")) as file:
            self.couplings = file["disorder/couplings"][...]

    def simulated(self):
        """The couplings that a run took, or None, and the message."""
        process = self.start("run", self.config, "--quiet", "--fresh")
        out, err = process.communicate(timeout=60)
        self.assertIn(process.returncode, [OK, INVALID], f"{out}{err}")
        if process.returncode == INVALID:
            return None, err
        with h5py.File(self.path("out.h5")) as file:
            return file["disorder/couplings"][...], err

    def refused(self, data, why):
        self.path("c.h5").write_bytes(data)
        found, message = self.simulated()
        self.assertIsNone(found)
        self.assertIn("c.h5: is ", message)
        self.assertIn(why, message)
        self.assertIn(why, self.gpumc("validate", self.config, code=INVALID).err)

    def accepted(self):
        found, message = self.simulated()
        self.assertIsNotNone(found, message)
        self.assertTrue((found == self.couplings).all())

    def test_whole(self):
        self.accepted()

    def test_sign_of_a_coupling(self):
        at = self.good.index(self.couplings.tobytes())
        data = bytearray(self.good)
        data[at + 7] ^= 0x80
        self.refused(data, "is damaged: its contents do not match the checksum at its end")

    def test_without_its_checksum(self):
        missing = "is damaged: its checksum, the last 32 bytes, is missing"
        self.refused(self.good[:-SEAL], missing)
        self.refused(self.good[:-1], missing)
        self.refused(self.good[:-SEAL] + bytes(SEAL), missing)

    def test_changed_on_purpose(self):
        """Refused, until it is sealed again, or the couplings are in a file that claims to be nothing else."""
        with h5py.File(self.path("c.h5"), "r+") as file:
            file["disorder/couplings"][...] = -self.couplings
        self.assertIsNone(self.simulated()[0])
        self.couplings = -self.couplings
        with edited(self.path("c.h5")):
            pass
        self.accepted()
        with h5py.File(self.path("c.h5")) as file, h5py.File(self.path("mine.h5"), "w") as mine:
            file.copy("disorder", mine)
        os.replace(self.path("mine.h5"), self.path("c.h5"))
        self.accepted()

    def test_of_the_first_format(self):
        """It had no checksum."""
        with h5py.File(self.path("c.h5"), "r+") as file:
            file.attrs.modify("format_version", np.int64(1))
        self.accepted()

    def test_unfinished(self):
        with h5py.File(self.path("c.h5"), "r+") as file:
            file.attrs.modify("complete", np.int64(0))
        self.refused(self.path("c.h5").read_bytes(), "is an unfinished working file")

    def test_damaged(self):
        """Never other couplings than those that were written."""
        for number in cases.of(range(FILES)):
            rng = fuzz.generator(20261125, number)
            data = bytearray(self.good)
            kind = rng.randrange(3)
            if kind == 0:
                del data[rng.randrange(len(data)):]
            elif kind == 1:
                at = rng.randrange(len(data))
                data[at:at + 16] = bytes(len(data[at:at + 16]))
            else:
                for _ in range(rng.choice([1, 1, 3])):
                    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            with self.subTest(number=number, kind=kind):
                self.path("c.h5").write_bytes(data)
                found, message = self.simulated()
                if data == self.good:
                    self.assertIsNotNone(found, message)
                else:
                    self.assertIsNone(found)
                    self.assertIn("c.h5", message)


if __name__ == "__main__":
    unittest.main()

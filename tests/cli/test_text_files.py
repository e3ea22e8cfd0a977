"""One reader for all text files of users: configurations, couplings, positions of disks, densities of states.

Each is read with a byte-order mark and with any ends of lines; bytes that no text has are refused with their place
and the remedy; HDF5 files are recognised after a user block, as MATLAB writes them."""
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.program import INVALID, OK, ProgramCase

RUN = "gpumc: 1\nseed: 3\noutput: r.h5\n"
CANONICAL = "algorithm: {name: canonical, beta: {values: [0.3]}, thermalization: 2, sweeps: 20}\n"
DISKS = "algorithm: {name: mpmc, thermalization: 2, sweeps: 20}\n"

# What names a text file, and such a file. {} is a place in a comment, <> one between words, [] one in a word.
FILES = {
    "config": (None, RUN + "# {}\nmodel: {name: ising2d, shape: [4,<> 4]} # a comment\n" + CANONICAL.replace("[0.3]", "[0.3[]]")),
    "couplings": (RUN + "model: {name: ea, shape: [4, 4], couplings: file, file: t.in}\n" + CANONICAL,
                  "# {}\nshape 4 4 # sides\ncouplings<>\n" + "1.0 -1.0\n" * 15 + "1.0[] -1.0\n"),
    "positions": (RUN + "model: {name: hard_disks, particles: 3, box: [5, 5], start: file, file: t.in}\n" + DISKS,
                  "# {}\n0.5 0.5 # the first\n2.5<> 0.5\n0.5[] 2.5\n"),
    "density of states": (RUN + "model: {name: ising2d, shape: [4, 4]}\nalgorithm: {name: muca, beta: {values: [0.3]}, "
                          "iteration: {start: file, file: t.in}}\n", "# {}\n-32 0.693 # least\n-24<> 3.46\n-20[] 4.15\n"),
}
PLACES = ["{}", "<>", "[]"]


def filled(text, place=None, by=b""):
    """The file's bytes, with `by` at a place, and the line of that place."""
    made = text.encode()
    line = None if place is None else made[:made.index(place.encode())].count(b"\n") + 1
    for other in PLACES:
        made = made.replace(other.encode(), by if other == place else b"")
    return made, line


class TextFiles(ProgramCase):
    def config(self, kind, content):
        config = FILES[kind][0]
        if config is None:
            self.path("t.in").write_bytes(content)
            return "t.in"
        self.path("t.in").write_bytes(content)
        return self.write("c.yaml", config)

    def refused(self, kind, content, *says):
        err = self.gpumc("validate", self.config(kind, content), code=INVALID).err
        for words in says:
            self.assertIn(words, err)
        return err

    def test_marks_and_ends_of_lines(self):
        for mark in b"", b"\xef\xbb\xbf":
            for end in b"\n", b"\r\n", b"\r":
                for kind, (_, text) in FILES.items():
                    with self.subTest(kind, mark=mark, end=end):
                        self.gpumc("validate", self.config(kind, mark + filled(text)[0].replace(b"\n", end)), code=OK)

    def test_bytes_that_no_text_has(self):
        for by, says in ((b"\0", "a zero byte: this is not a text file"), (b"Gr\xf6\xdfe", "not UTF-8: byte 0xf6; save the text as UTF-8 (from Latin-1: iconv"),
                         (b"\x1b[31m", "the character U+001B is not allowed"), (b"\xef\xbb\xbf", "a byte-order mark"),
                         (b"\x0c", "the character U+000C is not allowed")):
            for place in PLACES:
                for kind, (_, text) in FILES.items():
                    with self.subTest(kind, by=by, place=place):
                        content, line = filled(text, place, by)
                        self.assertRegex(self.refused(kind, content, says), rf"t\.in:{line}:\d+: ")

    def test_other_encodings(self):
        for kind, (_, text) in FILES.items():
            with self.subTest(kind):
                self.refused(kind, filled(text)[0].decode().encode("utf-16"), "t.in:1:1: UTF-16, not UTF-8; save the file as UTF-8")

    def test_lines_of_words_that_are_too_long(self):
        for kind, (config, text) in FILES.items():
            with self.subTest(kind):
                content, line = filled(text, "[]", b"0" * 5000)
                if config is not None:
                    self.refused(kind, content, f"t.in:{line}: a word of more than 4095 bytes")

    def test_hdf5_files_in_place_of_text(self):
        for block in 0, 512, 4096:
            with h5py.File(self.path("h.h5"), "w", userblock_size=block) as file:
                file["x"] = [1.0]
            content = self.path("h.h5").read_bytes()
            self.refused("positions", content, "t.in: an HDF5 file, but a text file is expected")
            self.refused("config", content, "t.in: an HDF5 file, such as a result, not a configuration")

    def test_couplings_after_a_user_block(self):
        """MATLAB 7.3 begins its files with 512 bytes of text."""
        for block in 512, 1024, 8192:
            with self.subTest(block):
                with h5py.File(self.path("t.in"), "w", userblock_size=block) as file:
                    file["shape"] = [4.0, 4.0]
                    file["couplings"] = np.ones((1, 16, 2))
                text = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, HDF5 schema 1.00 .".ljust(block)
                with open(self.path("t.in"), "r+b") as file:
                    file.write(text)
                self.gpumc("run", self.write("c.yaml", FILES["couplings"][0]), "--quiet", "--fresh")

    def test_a_density_of_states_after_a_user_block(self):
        """No result of gpumc has one."""
        config = self.write("c.yaml", RUN + "model: {name: ising2d, shape: [4, 4]}\nalgorithm: {name: muca, beta: {values: [0.3]}}\n")
        self.gpumc("run", config, "--quiet", "-o", "first.h5")
        with h5py.File(self.path("first.h5")) as first, h5py.File(self.path("t.in"), "w", userblock_size=512) as file:
            for name in first:
                first.copy(name, file)
            for name, value in first.attrs.items():
                file.attrs[name] = value
        err = self.gpumc("validate", self.write("c.yaml", FILES["density of states"][0]), code=INVALID).err
        self.assertIn("t.in: is an HDF5 file, but not a result of gpumc", err)


if __name__ == "__main__":
    unittest.main()

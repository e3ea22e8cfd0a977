"""A file that a task reads is never one that this task, or another of the campaign, would replace or remove."""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.program import INVALID, OK, ProgramCase

SUFFIXES = [".partial", ".partial.new", ".ckpt", ".ckpt.new", ".log", ".log.new", ".status", ".status.new", ".lock"]
DRAWN = """\
gpumc: 1
seed: 3
model: {name: ea, shape: [4, 4], write_couplings: true}
algorithm: {name: pa, population: 32, sweeps: 1, beta: {to: 0.1, step: 0.1}}
output: source.h5
"""
READ = DRAWN.replace("write_couplings: true", "couplings: file, file: source.h5").replace("output: source.h5", "output: X")


class Inputs(ProgramCase):
    def setUp(self):
        super().setUp()
        self.gpumc("run", self.write("drawn.yaml", DRAWN), "--quiet")
        self.before = self.path("source.h5").read_bytes()
        self.config = self.write("c.yaml", READ)
        self.all = self.names()

    def refused(self, says, *arguments):
        for command in [["validate"], ["run"], ["run", "--fresh"]]:
            process = self.gpumc(command[0], self.config, *command[1:], *arguments, code=INVALID)
            self.assertIn(says, process.err)
            self.assertIn("would be lost", process.err)
        self.assertEqual(self.path("source.h5").read_bytes(), self.before)
        self.assertEqual(self.names(), self.all)

    def test_output(self):
        self.path("sub").mkdir()
        self.path("link").symlink_to("source.h5")
        os.link(self.path("source.h5"), self.path("second"))
        self.all = self.names()
        for name in ["source.h5", "./source.h5", "sub/../source.h5", str(self.path("source.h5")), "link", "second"]:
            with self.subTest(name):
                self.refused("is the file 'source.h5' that model.file names", "--set", f"output={name}")

    def test_input_by_another_name(self):
        self.path("link").symlink_to("source.h5")
        self.all = self.names()
        self.refused("is the file 'link' that model.file names", "--set", "output=source.h5", "--set", "model.file=link")

    def test_beside_the_result(self):
        for suffix in SUFFIXES:
            with self.subTest(suffix):
                name = "X" + suffix
                os.link(self.path("source.h5"), self.path(name))
                self.all = self.names()
                self.refused(f"'X{suffix}' is the file '{name}'", "--set", f"model.file={name}")
                self.path(name).unlink()

    def test_of_another_task(self):
        self.path("r0.h5").write_bytes(self.before)
        self.config = self.write("c.yaml", READ.replace("output: X", "output: 'r{seed}.h5'").replace(
            "file: source.h5", "file: r0.h5") + "campaign: {seed: [0, 1]}\n")
        self.all = self.names()
        self.refused("is the file 'r0.h5' that ")
        self.config = self.write("c.yaml", READ.replace("output: X", "output: 'q/{model.file}'")
                                 + "campaign: {model.file: [source.h5, q/source.h5]}\n")
        self.path("q").mkdir()
        self.path("q/source.h5").write_bytes(self.before)
        self.all = self.names()
        self.refused("'q/source.h5', a file of task 0 (model.file=source.h5), is the file 'q/source.h5' that task 1")

    def test_others_are_no_obstacle(self):
        for name in ["other.h5", "source.h5.h5"]:
            self.gpumc("run", self.config, "--quiet", "--set", f"output={name}", code=OK)


class Lengths(ProgramCase):
    def test_names_that_leave_no_room(self):
        config = self.write("c.yaml", DRAWN)
        for length, code in [(243, OK), (244, INVALID), (250, INVALID)]:
            process = self.gpumc("run", config, "--quiet", "-o", "n" * length, code=code)
            if code != OK:
                self.assertIn(f"is {length} bytes long; files next to it need names that are up to 12 bytes longer, and the limit is 255",
                              process.err)


if __name__ == "__main__":
    unittest.main()

"""One bound on threads, whoever asks for them: a message and exit code 2 before there are any."""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.program import INVALID, OK, SMALL, ProgramCase

TAKEN = ["1", "2", "4,2", " 3 , 1 ", "", "  "]
REFUSED = ["100000", "20000", "4097", "4,20000", "-1", "0", "x", "4,", ",4", "4;2", "99999999999999999999"]


class Threads(ProgramCase):
    device = "cpu"

    def setUp(self):
        super().setUp()
        self.config = self.write("c.yaml", SMALL)

    def with_variable(self, value, *words, code):
        return self.gpumc(*words, code=code, env={**os.environ, "OMP_NUM_THREADS": value})

    def test_the_variable(self):
        for value in TAKEN:
            with self.subTest(value=value):
                self.with_variable(value, "run", self.config, "--fresh", "--quiet", code=OK)
        self.path("small.h5").unlink()
        for value in REFUSED:
            for command in ["run", self.config], ["plan", self.config], ["bench", "--device", "cpu"]:
                with self.subTest(value=value, command=command[0]):
                    process = self.with_variable(value, *command, code=INVALID)
                    self.assertIn("OMP_NUM_THREADS is", process.err)
                    self.assertIn("from 1 to 4096", process.err)
        self.assertFalse(self.path("small.h5").exists())

    def test_the_option_comes_first(self):
        for value in REFUSED:
            self.with_variable(value, "run", self.config, "--fresh", "--quiet", "--threads", 2, code=OK)

    def test_the_option(self):
        for value in "100000", "20000", "4097", "-1", "0", "x", "4,2", "":
            for command in "run", "plan":
                with self.subTest(value=value, command=command):
                    process = self.gpumc(command, self.config, f"--threads={value}", code=INVALID)
                    self.assertIn("--threads must be an integer from 1 to 4096", process.err)

    def test_commands_without_threads_do_not_mind(self):
        for value in "100000", "x":
            self.with_variable(value, "validate", self.config, code=OK)
            self.assertIn("OMP_NUM_THREADS is", self.with_variable(value, "doctor", code=OK).out)

    def test_other_variables(self):
        for name, value in (("OMP_THREAD_LIMIT", "1"), ("OMP_THREAD_LIMIT", "x"), ("OMP_DYNAMIC", "true")):
            self.gpumc("run", self.config, "--fresh", "--quiet", code=OK, env={**os.environ, name: value})


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""The Python package: its own tests (tools/python/tests, with pytest) in the environment build/python, into which
tools/quickstart has installed it with pip.

CTest: release (a tool of Python alone), cases 10 s
"""
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device  # noqa: E402

PACKAGE = device.ROOT / "tools/python"
ENVIRONMENT = device.ROOT / "build/python"


class Package(unittest.TestCase):
    def setUp(self):
        if not (ENVIRONMENT / ".installed").exists():
            self.skipTest("no environment build/python; tools/quickstart install --tests makes it where pip has an index")

    def run_python(self, *arguments, **environment):
        return subprocess.run([ENVIRONMENT / "bin/python", *arguments], cwd=ENVIRONMENT, capture_output=True, text=True,
                              env={**os.environ, **environment})

    def test_its_tests(self):
        for file in cases.of(sorted((PACKAGE / "tests").glob("test_*.py"))):
            with self.subTest(file=file.name):
                done = self.run_python("-m", "pytest", "-q", "-p", "no:cacheprovider", file, PYTHONPATH=str(PACKAGE), GPUMC_PROGRAM=str(device.PROGRAM))
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertRegex(done.stdout, r"\d+ passed")

    def test_it_is_installed(self):
        done = self.run_python("-c", "import gpumc; print(gpumc.__file__)", PYTHONPATH="")
        self.assertIn(str(ENVIRONMENT), done.stdout, done.stderr)


if __name__ == "__main__":
    unittest.main()

"""Runs the program from tests: a temporary directory, a small configuration, exit codes."""
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from support import device
from support.device import PROGRAM

OK, FAILURE, INVALID, DEVICE, STOPPED = 0, 1, 2, 3, 75

SMALL = """\
gpumc: 1
title: a small run
seed: 11
model:
  name: ising2d
  shape: [8, 8]
algorithm:
  name: pa
  population: 200
  sweeps: 2
  beta: {from: 0.0, to: 0.5, step: 0.05}
  runs: 2
output: small.h5
"""

CAMPAIGN = SMALL.replace("small.h5", "out/{seed}.h5") + "campaign:\n  seed: [1, 2, 3]\n"

# Has thousands of short units: many seconds if left alone, and quick to stop.
LONG = (SMALL.replace("step: 0.05", "step: 0.0005").replace("population: 200", "population: 2000")
        .replace("sweeps: 2", "sweeps: 200").replace("[8, 8]", "[16, 16]"))


# Commands that work on a device.
WORKING = ["run", "plan"]


class ProgramCase(unittest.TestCase):
    """A test in its own empty directory."""

    device = device.NAME  # for all jobs that do not name another; None: the configuration's

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="gpumc-test-")
        self.addCleanup(holder.cleanup)
        self.directory = pathlib.Path(holder.name)

    def path(self, name):
        return self.directory / name

    def write(self, name, text):
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def start(self, *arguments, **options):
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        words = self.with_device([str(argument) for argument in arguments])
        return subprocess.Popen([PROGRAM, *words], cwd=self.directory, text=True, **options)

    def with_device(self, words):
        said = any(word == "--device" or word.startswith("kernel.device=") for word in words)
        if self.device is None or said or not words or words[0] not in WORKING:
            return words
        return [words[0], "--device", self.device, *words[1:]]

    def gpumc(self, *arguments, code=OK, timeout=300, **options):
        """Runs to the end and checks the exit code; the result has stdout and stderr."""
        process = self.start(*arguments, **options)
        process.out, process.err = process.communicate(timeout=timeout)
        self.assertEqual(process.returncode, code,
                         f"gpumc {' '.join(map(str, arguments))}\n{process.out}\n{process.err}")
        return process

    def one_unit(self, config, *options):
        """Runs until a unit ends; returns whether it was not the last."""
        process = self.start("run", config, "--max-time", "1 ms", *options)
        _, messages = process.communicate(timeout=300)
        self.assertIn(process.returncode, [OK, STOPPED], messages)
        return process.returncode == STOPPED

    def names(self, pattern="*"):
        return sorted(str(p.relative_to(self.directory)) for p in self.directory.rglob(pattern))


def wait_for(path, process, seconds=60):
    """Waits until the file is there; returns false if the process ended first."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if path.exists():
            return True
        if process.poll() is not None:
            return path.exists()
        time.sleep(0.002)
    raise TimeoutError(f"{path} did not appear")


def stop(process, number=signal.SIGTERM):
    """Signals the process, waits, and returns its output."""
    process.send_signal(number)
    process.out, process.err = process.communicate(timeout=120)
    return process

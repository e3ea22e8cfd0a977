"""The program that measures messages between processes says what it is to say: alone, and under each MPI there is."""
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import mpi

DRIVER = pathlib.Path(os.environ.get("GPUMC_BUILD", "build/release")).resolve() / "tests/gpumc_times_program"
LINE = re.compile(r"(largest|sum|gather|pass on) +(\d+) bytes +([\d.]+) us +([\d.]+) GB/s")


class MessageTimes(unittest.TestCase):
    def check(self, command, head):
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=mpi.environment(), check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = done.stdout.splitlines()
        self.assertTrue(lines[0].startswith(head), lines[0])
        found = [LINE.fullmatch(line) for line in lines[1:]]
        self.assertNotIn(None, found)
        self.assertEqual([(line[1], int(line[2])) for line in found],
                         [("largest", 16), ("sum", 8), ("sum", 2400), ("sum", 1 << 18), ("gather", 16), ("pass on", 16),
                          ("pass on", 1 << 17), ("pass on", 1 << 24)])
        return [float(line[3]) for line in found]

    def test_alone(self):
        self.check([DRIVER, "3"], "1 processes")

    def test_two_processes(self):
        for kind in mpi.LAUNCHERS:
            times = self.check(mpi.command(kind, 2, DRIVER, 1), f"2 processes, {kind}")
            self.assertGreater(times[-1], 100)  # us: 16 MiB at less than 160 GB/s

    def test_rounds_are_needed(self):
        self.assertNotEqual(subprocess.run([DRIVER, "0"], capture_output=True, check=False).returncode, 0)


if __name__ == "__main__":
    unittest.main()

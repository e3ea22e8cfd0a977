"""Series of a run that is killed before every single write, fsync, rename and cut of its files end up as those of an
undisturbed one; and failures are reported.

CTest: long, methods 5 s
"""
import os
import pathlib
import random
import sys
import tempfile
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, files_program

ROWS = 150
KILLED = -9


def run(fault=None):
    return files_program.run("series", "x.h5", ROWS, fault=fault)


class SeriesLog(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(directory.name)

    def assert_whole(self):
        """Only the result is left, with every row of every table."""
        with h5py.File("x.h5") as file:
            self.assertEqual(file.attrs["complete"], 1)
            for group, rows in (("series/0000", np.arange(ROWS)),
                                ("series/0001", np.arange(0, ROWS, 3)),
                                ("runs/0000", np.arange(ROWS))):
                energy = -2 + 0.001 * rows
                np.testing.assert_array_equal(file[group]["beta"], 0.01 * rows)
                np.testing.assert_array_equal(file[group]["energy"], energy)
                np.testing.assert_array_equal(file[group]["population"], 1000 + rows)
                for block in range(4):
                    np.testing.assert_array_equal(file[group]["block_energy"][:, block],
                                                  energy + 0.1 * block)
                self.assertEqual(file[group]["energy"].dims[0]["beta"], file[group]["beta"])
        # Files that were about to be renamed may stay when a process is killed.
        self.assertEqual([name for name in sorted(os.listdir()) if not name.endswith(".new")],
                         ["x.h5"])
        for name in os.listdir():
            os.unlink(name)

    def go_on(self):
        done = run()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_whole()

    def kill_at_each(self, call, path):
        """Killed before the nth call, and the one that continues before some call of its own."""
        nth = 1
        choice = random.Random(f"{call} {path}")
        while (done := run(f"{call}:nth={nth}:path={path}:action=kill")).returncode == KILLED:
            again = run(f"{call}:nth={choice.randint(1, 8)}:path={path}:action=kill")
            self.assertIn(again.returncode, (0, KILLED), again.stderr)
            self.go_on()
            nth += 1
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_whole()
        return nth - 1

    def test_undisturbed(self):
        self.go_on()

    def test_killed_at_each_access_of_the_log(self):
        # At least its header and two records for each of 10 flushes, 3 checkpoints and the end.
        self.assertGreater(self.kill_at_each("write", ".log"), 20)
        self.assertGreater(self.kill_at_each("fsync", ".log"), 3)
        self.assertEqual(self.kill_at_each("rename", ".log"), 1)

    def test_killed_at_each_cut_of_the_log(self):
        run("write:nth=20:path=.log:action=kill")
        self.assertEqual(run("ftruncate:nth=1:path=.log:action=kill").returncode, KILLED)
        self.go_on()

    def test_killed_at_each_step_of_checkpoint_and_result(self):
        self.assertEqual(self.kill_at_each("rename", ".ckpt"), 3)
        self.assertGreater(self.kill_at_each("fsync", ".ckpt"), 2)
        self.assertGreater(self.kill_at_each("rename", ".partial"), 1)
        self.assertGreater(self.kill_at_each("fsync", ".partial"), 0)

    def test_killed_somewhere_in_the_working_file(self):
        for nth in range(1, 400, 29):
            run(f"write:nth={nth}:path=.partial:action=kill")
            self.go_on()

    def test_failures_are_told_and_mended(self):
        for call, nth in (("write", 1), ("write", 2), ("write", 12), ("fsync", 1), ("fsync", 2),
                          ("rename", 1), ("open", 1)):
            with self.subTest(call=call, nth=nth):
                done = run(f"{call}:nth={nth}:path=.log:errno=EIO")
                self.assertEqual(done.returncode, 1)
                self.assertIn("x.h5.log", done.stderr)
                self.assertIn("Input/output error", done.stderr)
                self.go_on()

    def test_full_disk_while_the_log_grows(self):
        for size in range(0, 8000, 611):
            with self.subTest(size=size):
                done = run(f"write:after_bytes={size}:path=.log")
                self.assertEqual(done.returncode, 1)
                self.assertIn("No space left on device", done.stderr)
                self.go_on()

    def test_memory_runs_out(self):
        """Wherever it fails, there is an ordinary error, and the next run continues."""
        nth = 1
        while (done := run(f"malloc:nth={nth}")).returncode != 0:
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("memory", done.stderr)
            self.go_on()
            nth += 5


if __name__ == "__main__":
    cases.main()

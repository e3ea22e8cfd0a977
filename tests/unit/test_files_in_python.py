"""Files as people read them: h5py and xarray on results, live working files and damaged runs."""
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import h5py
import numpy as np
import xarray

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, faults
from support.attributes import attributes
from support.files_program import PROGRAM, run

KILLS = 50


class Files(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(directory.name)

    def succeed(self, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_result_in_h5py(self):
        self.succeed("result", "x.h5", 700)
        with h5py.File("x.h5") as file:
            root, provenance = attributes(file), attributes(file["provenance"])
            self.assertEqual(root["format"], "gpumc-results")
            self.assertEqual(root["format_version"], 3)
            self.assertEqual(root["complete"], 1)
            self.assertEqual(root["title"], "a test β")
            self.assertEqual(file["config/source"].asstr()[()], "gpumc: 1\n")
            self.assertEqual(file["config/resolved"].asstr()[()], '{"gpumc":1}')
            self.assertEqual(provenance["host"], "nowhere")
            self.assertEqual(provenance["update_rate"], 0.1)
            self.assertEqual(provenance["resumes"], 2)
            self.assertIn("@article", provenance["citations"])
            energy = file["runs/0000/energy"]
            self.assertEqual(energy.dims[0].keys(), ["beta"])
            self.assertEqual(energy.dims[0]["beta"], file["runs/0000/beta"])
            np.testing.assert_array_equal(energy, -2 + 0.001 * np.arange(700))
            self.assertEqual(file["runs/0000/population"].dtype, np.int64)
            self.assertEqual([d.keys() for d in file["runs/0000/block_energy"].dims],
                             [["beta"], ["block"]])
            for group in ("runs/0000", "summary"):
                for name, dataset in file[group].items():
                    for key in ("long_name", "units", "symbol"):
                        self.assert_fixed(dataset, key)

    def assert_fixed(self, item, name):
        kind = h5py.check_string_dtype(item.attrs.get_id(name).dtype)
        self.assertEqual((kind.encoding, kind.length), ("utf-8", max(1, len(item.attrs[name]))),
                         f"{item.name}: {name}")

    def test_result_in_xarray(self):
        self.succeed("result", "x.h5", 30)
        with xarray.open_dataset("x.h5", group="summary", engine="h5netcdf") as summary:
            self.assertEqual(summary.energy.dims, ("beta",))
            self.assertEqual(summary.energy_error.dims, ("beta",))
            self.assertEqual(summary.energy.attrs["units"], "J")
            self.assertEqual(summary.sites.item(), 64)
            self.assertEqual(summary.attrs["warnings"], "none")
            self.assertAlmostEqual(float(summary.energy.sel(beta=0.1)), -1.99)
        with xarray.open_dataset("x.h5", group="runs/0000", engine="h5netcdf") as rows:
            self.assertEqual(rows.block_energy.dims, ("beta", "block"))
            self.assertEqual(list(rows.block), [0, 1, 2, 3])

    def test_checkpoint_in_h5py(self):
        self.succeed("checkpoint", "x.ckpt", 3)
        with h5py.File("x.ckpt") as file:
            self.assertEqual(file.userblock_size, 512)
            self.assertTrue((file["values"][:] == 3).all())

    def start_growing(self):
        child = subprocess.Popen([PROGRAM, "grow", "x.h5"], stderr=subprocess.PIPE)
        self.addCleanup(child.stderr.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        while not os.path.exists("x.h5.partial") and child.poll() is None:
            time.sleep(0.005)
        return child

    def open_live(self):
        """The writer opens the file for appending an instant after it gets its name."""
        for _ in range(200):
            try:
                return h5py.File("x.h5.partial", "r", swmr=True)
            except OSError:
                time.sleep(0.01)
        return h5py.File("x.h5.partial", "r", swmr=True)

    def test_rows_are_seen_while_they_come(self):
        child = self.start_growing()
        with self.open_live() as file:
            self.assertEqual(file.attrs["complete"], 0)
            beta, energy = file["runs/0000/beta"], file["runs/0000/energy"]
            lengths = []
            deadline = time.time() + 30
            while len(set(lengths)) < 10 and time.time() < deadline:
                beta.refresh()
                length = beta.shape[0]
                energy.refresh()
                self.assertGreaterEqual(energy.shape[0], length)
                np.testing.assert_array_equal(energy[:length], -2 + 0.001 * np.arange(length))
                lengths.append(length)
                time.sleep(0.02)
            self.assertGreaterEqual(len(set(lengths)), 10)
            self.assertEqual(lengths, sorted(lengths))
        self.assertIsNone(child.poll())

    def test_writer_that_begins_between_the_look_and_the_opening(self):
        self.succeed("result", "x.h5", 9)
        child = subprocess.Popen([PROGRAM, "info", "x.h5"], stdout=subprocess.PIPE, text=True,
                                 stderr=subprocess.PIPE,
                                 env=faults.environment("open_read:nth=3:path=x.h5:action=stop"))
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        self.assertTrue(os.WIFSTOPPED(os.waitpid(child.pid, os.WUNTRACED)[1]))
        with h5py.File("x.h5", "r+", libver="latest") as file:
            file.swmr_mode = True
            child.send_signal(signal.SIGCONT)
            out, err = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 0, err)
        self.assertIn("complete 1", out)

    def test_working_file_can_be_read_after_any_kill(self):
        kills = rows = 0
        for number in cases.of(range(KILLS)):
            kills += 1
            child = self.start_growing()
            time.sleep(random.Random(number).uniform(0, 0.15))
            child.send_signal(signal.SIGKILL)
            child.wait()
            with h5py.File("x.h5.partial", "r", swmr=True) as file:
                length = file["runs/0000/beta"].shape[0]
                np.testing.assert_array_equal(file["runs/0000/energy"][:length],
                                              -2 + 0.001 * np.arange(length))
                rows += length
            self.assertIn("complete 0", self.succeed("info", "x.h5.partial"))
            os.remove("x.h5.partial")
        if kills >= 5:  # before the first row there is a moment in which one kill may fall, or two
            self.assertGreater(rows, 0)

    def refused(self, fault, text, *arguments):
        done = run(*arguments, fault=fault)
        self.assertEqual(done.returncode, 1, f"{fault}: {done.stderr}")
        self.assertIn(text, done.stderr, fault)

    def test_full_disk(self):
        self.succeed("checkpoint", "x.ckpt", 1)
        for limit in (0, 100, 5000, 100000, 160000):
            self.refused(f"write:after_bytes={limit}", "No space left on device",
                         "checkpoint", "x.ckpt", 2)
            self.assertEqual(self.succeed("verify", "x.ckpt"), "1\n")
            self.assertEqual(os.listdir("."), ["x.ckpt"])
        for limit in (0, 600, 5000, 20000, 40000):
            self.refused(f"write:after_bytes={limit}", "No space left on device",
                         "result", "x.h5", 500)
            self.assertFalse(os.path.exists("x.h5"))

    def test_failing_calls(self):
        self.succeed("checkpoint", "x.ckpt", 1)
        for call in ("rename", "fsync", "open"):
            self.refused(f"{call}:nth=1:errno=EIO", "Input/output error", "checkpoint", "x.ckpt", 2)
            self.assertEqual(self.succeed("verify", "x.ckpt"), "1\n")
        for fault in ("rename:nth=1", "rename:nth=2", "fsync:nth=2", "open:nth=1", "open:nth=2"):
            self.refused(f"{fault}:errno=EDQUOT", "Disk quota exceeded", "result", "x.h5", 9)
            self.assertFalse(os.path.exists("x.h5"))

    def test_kill_at_every_call(self):
        self.succeed("checkpoint", "x.ckpt", 1)
        for call in ("write", "fsync", "rename", "ftruncate"):
            for n in range(1, 12):
                run("checkpoint", "x.ckpt", 1, fault=f"{call}:nth={n}:action=kill")
                self.assertEqual(self.succeed("verify", "x.ckpt"), "1\n")

    def test_no_memory(self):
        """Our own allocations: the program ends normally, whichever fails."""
        for arguments in (("checkpoint", "x.ckpt", 1), ("verify", "x.ckpt"),
                          ("result", "x.h5", 50), ("info", "x.h5")):
            def alone():
                if arguments[0] == "result":  # it replaces none
                    pathlib.Path("x.h5").unlink(missing_ok=True)
            for n in range(1, 60):
                alone()
                done = run(*arguments, fault=f"malloc:nth={n}")
                self.assertIn(done.returncode, (0, 1), f"{arguments} {n}: {done.stderr}")
            alone()
            self.succeed(*arguments)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

"""`algorithm.tune` chooses the kernel's keys by the autocorrelation time, in seconds, of the slowest observable that is
watched.

A bad size of moves, half a cell, with one trial per cell is replaced by better ones, by more than the errors; the table
of all candidates is in the result. The run itself is that of a configuration with the recorded keys, bit for bit, and
remains so if it is stopped, while it tunes or later: the choice, which depends on the clock, is in the checkpoint, and
interrupted tuning begins anew. Too little time changes nothing, and the program says so.

Timing is judged only in ways that hold on busy machines, too: no time is short enough there, and none long enough.

CTest: validate (cli_test_hard_disks_keys, resume_test_resume_hard_disks)
"""
import pathlib
import sys
import time
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases  # noqa: E402
from support.program import INVALID, STOPPED, ProgramCase, stop  # noqa: E402
from support.sanitizers import SANITIZED  # noqa: E402

CONFIG = """\
gpumc: 1
seed: 20131240
model: {{name: hard_disks, particles: {particles}, packing_fraction: 0.62}}
algorithm: {{name: mpmc, thermalization: 500, sweeps: {sweeps}, interval: 4, replicas: 1, series: true{tune}}}
kernel: {{device: cpu, variant: {variant}{kernel}}}
output: {output}
checkpoint: {{every: 200 ms}}
"""
BAD = ", move_size: 0.49"
# A fifth as fast as the best, so that the choice does not depend on what else the machine does.
WORSE = BAD + ", moves_per_cell: 1"


class Tune(ProgramCase):
    def config(self, output, tune=None, kernel=BAD, variant="checkerboard", sweeps=4000, particles=200):
        tune = f", tune: {tune}" if tune else ""
        return self.write(output + ".yaml", CONFIG.format(output=output, tune=tune, kernel=kernel, variant=variant, sweeps=sweeps,
                                                          particles=particles))

    def tuning(self, output):
        with h5py.File(self.path(output)) as file:
            group = file["provenance/tuning"]
            return ({name: value[()] for name, value in group.items()}, dict(group.attrs),
                    file["provenance"].attrs["tuned"].decode())

    def numbers(self, output):
        """Returns everything that the configuration decides."""
        found = {}
        with h5py.File(self.path(output)) as file:
            file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset)
                            and name.startswith(("runs", "summary")) else None)
        return found

    def assert_same_numbers(self, one, other):
        one, other = self.numbers(one), self.numbers(other)
        self.assertEqual(one.keys(), other.keys())
        self.assertIn("runs/0000/contact", one)
        for name in one:
            np.testing.assert_array_equal(one[name], other[name], err_msg=name)

    def reproduce(self, output, **more):
        """Runs with the keys that the result records."""
        keys = [word for pair in self.tuning(output)[2].split() for word in ("--set", pair)]
        self.gpumc("run", "--fresh", self.config("keys.h5", **more), *keys)

    def run_tuned(self, times, **more):
        """Tunes for the first of these times, in seconds, in which it finds something: busy machines need more. Returns
        that time."""
        for seconds in times:
            ran = self.gpumc("run", "--fresh", self.config("r.h5", tune=f"{seconds} s", **more), timeout=800)
            if "tuning found nothing" not in ran.err:
                self.assertRegex(ran.err, r"tuned: kernel\.move_size=0\.\d+ kernel\.moves_per_cell=\d+, with an autocorrelation time of")
                return seconds
        return self.fail(f"nothing was found in {seconds} s:\n{ran.err}")

    @unittest.skipIf(SANITIZED, "sanitizers take their time where they like; what runs is that of the tests below")
    def test_a_bad_step_is_left_for_a_better_one(self):
        given = self.run_tuned((12, 48, 144), kernel=WORSE, particles=64)
        table, attributes, tuned = self.tuning("r.h5")
        chosen, seconds, error = attributes["chosen"], table["autocorrelation_seconds"], table["autocorrelation_seconds_error"]
        self.assertEqual(len(table["candidate"]), 21)
        self.assertEqual((table["move_size"][0], table["moves_per_cell"][0]), (0.49, 1))
        self.assertGreater(chosen, 0)
        # So slow that its time may not be known at all.
        self.assertFalse(seconds[0] - seconds[chosen] <= np.hypot(error[0], error[chosen]))
        self.assertEqual(seconds[chosen], np.nanmin(seconds))
        self.assertEqual(tuned, f"kernel.move_size={table['move_size'][chosen]:.15g} "
                                f"kernel.moves_per_cell={table['moves_per_cell'][chosen]:.15g}")
        # All shares of it were used up.
        self.assertGreaterEqual(attributes["seconds"], 0.999 * given)
        with h5py.File(self.path("r.h5")) as file:
            self.assertEqual(file["summary/move_size"][()], table["move_size"][chosen])
        np.testing.assert_allclose(seconds, table["autocorrelation_time"] * table["seconds_per_sweep"])
        self.reproduce("r.h5", particles=64)
        self.assert_same_numbers("r.h5", "keys.h5")
        self.gpumc("run", "--fresh", self.config("given.h5", kernel=WORSE, particles=64))
        self.assertFalse(np.array_equal(self.numbers("given.h5")["runs/0000/contact"], self.numbers("r.h5")["runs/0000/contact"]))

    def tried(self):
        """From the checkpoint: each candidate without its values, and the seconds of this tuning and of earlier
        ones."""
        with h5py.File(self.path("r.h5.ckpt")) as file:
            return file["mpmc/tuning/candidates"][:, 4:], file["mpmc/tuning/seconds"][()].ravel()

    def stop_while_tuning(self, config):
        """Stops it once it has tried something, as the checkpoints that it writes show."""
        process, checkpoint = self.start("run", config), self.path("r.h5.ckpt")
        while process.poll() is None and not (checkpoint.exists() and self.tried()[0].any()):
            time.sleep(0.05)
        stop(process)
        self.assertEqual(process.returncode, STOPPED, process.err)
        self.assertNotIn("tun", process.err)

    def stop_when_tuned(self, config):
        """Stops it when it says what it has chosen."""
        process = self.start("run", config)
        for line in process.stderr:
            if "tuned: " in line or "tuning found nothing" in line:
                break
        stop(process)
        self.assertEqual(process.returncode, STOPPED, process.err)

    def rows(self):
        with h5py.File(self.path("r.h5.partial")) as file:
            return len(file["runs/0000/contact"])

    def test_stops_change_nothing(self):
        sweeps = 100000 if SANITIZED else 200000  # some units, even of the fastest candidate
        config = self.config("r.h5", tune="8 s", sweeps=sweeps)
        self.stop_while_tuning(config)
        tried, (seconds, before) = self.tried()
        self.assertTrue(tried.any())
        self.assertEqual(before, 0)
        # One unit, in which the states relax: only its time is left of earlier tuning.
        limited = self.gpumc("run", config, "--max-time", "1 ms", code=STOPPED)
        self.assertIn("tuning would be cut off, and start over when the run is resumed", limited.err)
        tried, (_, before) = self.tried()
        np.testing.assert_array_equal(tried, 0)
        self.assertEqual(before, seconds)
        self.stop_when_tuned(config)
        while self.rows() == 0:
            later = self.gpumc("run", config, "--max-time", "1 ms", code=STOPPED)
            self.assertNotIn("tun", later.err)
        resumed = self.gpumc("run", config)
        self.assertNotIn("tun", resumed.err)
        self.reproduce("r.h5", sweeps=sweeps)
        self.assert_same_numbers("r.h5", "keys.h5")

    def test_serial_has_a_step_only(self):
        self.gpumc("run", self.config("r.h5", tune="3 s", variant="serial"))
        table, _, tuned = self.tuning("r.h5")
        self.assertNotIn("moves_per_cell", table)
        self.assertRegex(tuned, r"^kernel\.move_size=0\.\d+$")

    def test_too_little_time(self):
        ran = self.gpumc("run", self.config("r.h5", tune="10 ms", particles=2000, sweeps=400))
        self.assertIn("tuning found nothing: it was too short", ran.err)
        self.gpumc("run", self.config("given.h5", particles=2000, sweeps=400))
        self.assert_same_numbers("r.h5", "given.h5")

    def test_only_of_hard_particles(self):
        text = CONFIG.format(output="i.h5", tune=", tune: 1 s", kernel="", variant="auto", sweeps=400, particles=2)
        text = text.replace("hard_disks, particles: 2, packing_fraction: 0.62", "ising2d, shape: [8, 8]").replace("mpmc", "canonical")
        self.assertIn("tune", self.gpumc("validate", self.write("i.yaml", text), code=INVALID).err)


if __name__ == "__main__":
    cases.main()

"""Runs that are killed or stopped and still end with the numbers of the uninterrupted run."""
import random
import signal
import time

import h5py

from support import files_program
from support.program import OK, STOPPED, ProgramCase
from support.results import assert_same_numbers, numbers

KILLS_IN_A_ROW = 4
STOPS_IN_A_ROW = 8


class ResumeCase(ProgramCase):
    """Every test compares with one uninterrupted run of its configuration, made once. Configurations write run.h5.

    Cases are what a test gives cases.of(): runs that are killed, each of them several times in a row, so that a killed
    run is one that was continued; and places in a run where it is stopped after some units."""

    wholes = {}  # by configuration: bytes and seconds
    KILLED = range(7)  # runs
    PLACES = range(8)  # of a run, at equal times

    def use(self, text):
        self.config = self.write("c.yaml", text)
        if text not in self.wholes:
            begin = time.monotonic()
            self.gpumc("run", self.config, "-o", "whole.h5", "--fresh", "--set",
                       "checkpoint.every=10 min")
            self.wholes[text] = self.path("whole.h5").read_bytes(), time.monotonic() - begin
        content, self.duration = self.wholes[text]
        self.path("whole.h5").write_bytes(content)
        self.reference = numbers(self.path("whole.h5"))

    def finish(self, *options):
        """Runs to the end; only the result is left, with the reference's numbers."""
        process = self.gpumc("run", self.config, *options)
        self.assertEqual(self.names("run.h5*"), ["run.h5"])
        assert_same_numbers(self, self.reference, self.path("run.h5"))
        return process

    def change(self, name, index, value):
        """Changes one number of the checkpoint, which stays valid; None: to its present value."""
        with h5py.File(self.path("run.h5.ckpt"), "r+") as file:
            before = file[name][index]
            file[name][index] = before if value is None else value
        self.seal()

    def seal(self):
        """Makes a changed checkpoint valid again."""
        files_program.run("seal", self.path("run.h5.ckpt")).check_returncode()

    def tell_another_seed_apart(self):
        """Checks, as a control, that the comparison fails with another seed."""
        self.clear()
        self.gpumc("run", self.config, "--set", "seed=7")
        with self.assertRaises(AssertionError):
            assert_same_numbers(self, self.reference, self.path("run.h5"))

    def clear(self):
        """Removes what a run that failed has left."""
        for path in self.directory.glob("run.h5*"):
            path.unlink()

    def kill_at_random_instants(self, seed, starts=(0,), sets=()):
        """Kills a run KILLS_IN_A_ROW times, each time some time after one of the times `starts`, in seconds; it begins
        again if it was complete. Each process has its own number of threads and one of the instruction sets `sets`, if
        there are any."""
        choose = random.Random(f"kills {seed}")
        self.clear()
        kills = 0
        while kills < KILLS_IN_A_ROW:
            options = ["--threads", choose.choice([1, 2])]
            if sets:
                options += ["--set", f"kernel.isa={choose.choice(sets)}"]
            process = self.start("run", self.config, *options)
            time.sleep(choose.choice(starts) + choose.uniform(0, 0.5 * self.duration))
            process.kill()
            process.communicate()
            kills += process.returncode == -signal.SIGKILL
            if self.path("run.h5").exists():
                self.finish()
                self.path("run.h5").unlink()
        self.finish()
        self.path("run.h5").unlink()

    def stop_at(self, place, least, *options):
        """Stops the run at a place, and then after each of STOPS_IN_A_ROW units or until it is complete; at the first
        place `least` times or more, as far as these go."""
        self.clear()
        stops, code, milliseconds = 0, STOPPED, 1000 * self.duration * place / len(self.PLACES)
        if place > 0:
            while (code := self.part(f"{max(1, round(milliseconds))} ms", 1 + place % 2, *options)) == OK and milliseconds > 1:
                milliseconds /= 2  # it is faster than the run that was measured
                self.clear()
            stops += code == STOPPED
        while code == STOPPED and stops < STOPS_IN_A_ROW:
            code = self.part("1 ms", 1 + stops % 2, *options)
            stops += code == STOPPED
        self.finish()
        self.path("run.h5").unlink()
        self.assertGreaterEqual(stops, min(least, STOPS_IN_A_ROW) if place == 0 else 1)

    def stop_after_units(self, places, least, *options):
        """Stops the run at these places and, if they are all there are, after every unit: `least` times or more."""
        stopped = 0
        for place in places:
            self.stop_at(place, least, *options)
            stopped += 1
        if stopped == len(self.PLACES):
            self.stop_after_every_unit(least, *options)

    def part(self, time_of_a_part, threads, *options):
        """Performs a part of the run; returns the exit code."""
        process = self.start("run", self.config, "--max-time", time_of_a_part, "--threads", threads, *options)
        process.communicate(timeout=300)
        self.assertIn(process.returncode, [OK, STOPPED])
        return process.returncode

    def stop_after_every_unit(self, least, *options):
        """Stops the run after every unit until it is complete: `least` times or more."""
        self.clear()
        for stops in range(1000):
            if self.part("1 ms", 1 + stops % 2, *options) == OK:
                break
        assert_same_numbers(self, self.reference, self.path("run.h5"))
        self.path("run.h5").unlink()
        self.assertGreaterEqual(stops, least)

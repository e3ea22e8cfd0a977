"""Runs that are killed or stopped and end with the numbers of the uninterrupted run.

With a share of the cases (support/share.py) there are fewer kills, and stops after some units instead of each.
"""
import random
import signal
import time

import h5py

from support import files_program, share
from support.program import OK, STOPPED, ProgramCase
from support.results import assert_same_numbers, numbers


class ResumeCase(ProgramCase):
    """Every test compares with one uninterrupted run of its configuration, which is made once.
    Configurations write run.h5."""

    wholes = {}  # by configuration: bytes and seconds
    kills = 25  # at random instants

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
        """Run to the end; only the result is left, and it has the reference's numbers."""
        process = self.gpumc("run", self.config, *options)
        self.assertEqual(self.names("run.h5*"), ["run.h5"])
        assert_same_numbers(self, self.reference, self.path("run.h5"))
        return process

    def change(self, name, index, value):
        """One number of the checkpoint, which stays whole; None: that which is there."""
        with h5py.File(self.path("run.h5.ckpt"), "r+") as file:
            before = file[name][index]
            file[name][index] = before if value is None else value
        self.seal()

    def seal(self):
        """A checkpoint that was changed is whole again."""
        files_program.run("seal", self.path("run.h5.ckpt")).check_returncode()

    def tell_another_seed_apart(self):
        """The control: with another seed the comparison fails."""
        self.gpumc("run", self.config, "--set", "seed=7")
        with self.assertRaises(AssertionError):
            assert_same_numbers(self, self.reference, self.path("run.h5"))

    def kill_at_random_instants(self, starts=(0,), most=None, sets=()):
        """Some time after one of the instants `starts`, in seconds; `most` times, or a share of `kills`. Each process has
        its own number of threads and one of the instruction sets `sets`, if there are any."""
        choose = random.Random(1)
        kills, most = 0, most or share.count(self.kills)
        while kills < most:
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

    def stop_after_every_unit(self, least, *options):
        """There are so many stops, or their share, until the run is complete."""
        after = f"{share.ONE_IN} ms"
        for stops in range(1000):
            process = self.start("run", self.config, "--max-time", after, "--threads",
                                 1 + stops % 2, *options)
            process.communicate(timeout=300)
            if process.returncode == OK:
                break
            self.assertEqual(process.returncode, STOPPED)
        assert_same_numbers(self, self.reference, self.path("run.h5"))
        self.path("run.h5").unlink()
        self.assertGreaterEqual(stops, share.count(least))

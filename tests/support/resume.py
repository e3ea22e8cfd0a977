"""Runs that are killed or stopped and still end with the numbers of the uninterrupted run.

With a share of the cases (support/share.py) there are fewer kills, and stops after some units instead of every one.
"""
import random
import signal
import time

import h5py

from support import files_program, share
from support.program import OK, STOPPED, ProgramCase
from support.results import assert_same_numbers, numbers


class ResumeCase(ProgramCase):
    """Every test compares with one uninterrupted run of its configuration, made once. Configurations write run.h5."""

    wholes = {}  # by configuration: bytes and seconds
    kills = 25  # at random times

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
        self.gpumc("run", self.config, "--set", "seed=7")
        with self.assertRaises(AssertionError):
            assert_same_numbers(self, self.reference, self.path("run.h5"))

    def kill_at_random_instants(self, starts=(0,), most=None, sets=()):
        """Kills some time after one of the times `starts`, in seconds; `most` times, or a share of `kills`. Each
        process has its own number of threads and one of the instruction sets `sets`, if there are any."""
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
        """Stops the run after every unit until it is complete: `least` times or more, or its share."""
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

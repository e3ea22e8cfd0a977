"""SIGKILL a hundred times, to any one of several processes of Open MPI at a random instant, then resumed, some of them
killed again while they resume: the numbers are those of one uninterrupted process. Skipped without Open MPI.

CTest: validate (resume_test_resume_processes)
"""
import collections
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, mpi, process_runs
from support.mpi_case import MpiCase
from support.program import OK
from support.resume import ResumeCase
from support.results import assert_same_numbers

MPI = "Open MPI"
PROCESSES = [2, 3, 4]
KILLS = 100  # that interrupt a run
OF_EACH = -(-KILLS // len(process_runs.ALL))  # per configuration
ATTEMPTS = 5  # runs per required kill: some kills come when the work is done


class Killed(MpiCase, ResumeCase):
    def find_lifetimes(self):
        """Measures the seconds from the start of all processes to their end, by their number."""
        self.lifetimes = {}
        for processes in PROCESSES:
            process = self.begin(MPI, processes, "run", self.config, "--threads", 1)
            self.wait_for_ranks(processes)
            begin = time.monotonic()
            self.end(process)
            self.lifetimes[processes] = time.monotonic() - begin
            self.compare()

    def compare(self):
        self.assertEqual(self.names("run.h5*"), ["run.h5"])
        assert_same_numbers(self, self.reference, self.path("run.h5"))
        self.path("run.h5").unlink()

    def has_checkpoint(self):
        return self.path("run.h5.ckpt").exists()

    def kill(self, choose, tally):
        """Returns whether that interrupted the run; otherwise it was complete."""
        processes = choose.choice(PROCESSES)
        rank, after = choose.randrange(processes), choose.uniform(0, self.lifetimes[processes])
        had_checkpoint = self.has_checkpoint()
        process = self.begin(MPI, processes, "run", self.config, "--threads", 1)
        killed = self.signal_rank(processes, rank, after=after)
        self.end(process, None if killed else OK)
        self.wait_until_gone()
        if self.path("run.h5").exists():
            return False
        self.assertTrue(killed)
        self.assertNotEqual(process.returncode, OK, process.err)
        tally.update(["kills", f"rank {rank}"] + ["again"] * had_checkpoint)
        return True

    def kill_and_finish(self, choose, tally):
        """Interrupts a run, some runs more than once, and finishes it with any number of processes."""
        attempts = range(choose.choice([1, 1, 2, 3]))
        if all(self.kill(choose, tally) for _ in attempts):
            had_checkpoint = self.has_checkpoint()
            process = self.mpirun(MPI, choose.choice([1, *PROCESSES]), "run", self.config, "--threads", 1)
            self.assertEqual("run.h5: resuming at " in process.err, had_checkpoint, process.err)
            tally["resumed"] += had_checkpoint
        else:  # files beside the result are cleared away
            self.mpirun(MPI, 2, "run", self.config, "--threads", 1)
        tally["runs"] += 1
        self.compare()

    def kill_often(self, name, text):
        """Everything that was killed is finished."""
        choose, tally = random.Random(name), collections.Counter()
        self.use(text)
        self.find_lifetimes()
        begin = time.monotonic()
        while tally["kills"] < OF_EACH:
            self.assertLess(tally["runs"], ATTEMPTS * OF_EACH, tally)
            self.kill_and_finish(choose, tally)
        self.path("whole.h5").unlink()
        print(f"{name}: {dict(sorted(tally.items()))}, {time.monotonic() - begin:.0f} s", flush=True)
        return tally

    def test_hundred_kills(self):
        tally = collections.Counter()
        for name, text in process_runs.ALL.items():
            with self.subTest(name):
                tally += self.kill_often(name, text)
        print(f"all: {dict(sorted(tally.items()))}", flush=True)
        self.assertGreaterEqual(tally["kills"], KILLS)
        # Any one of them: rank 0 is hit by more than a third of the kills on average, rank 3 by a twelfth.
        for rank in range(max(PROCESSES)):
            self.assertGreaterEqual(tally[f"rank {rank}"], KILLS // 50)
        # Runs that continued from a checkpoint, to their end or to the next kill.
        self.assertGreaterEqual(tally["resumed"], KILLS // 10)
        self.assertGreaterEqual(tally["again"], KILLS // 10)

    def test_control(self):
        """Numbers of another seed are recognised as different, for every configuration."""
        for name, text in process_runs.ALL.items():
            with self.subTest(name):
                self.use(text)
                self.tell_another_seed_apart()
                self.path("run.h5").unlink()


if __name__ == "__main__":
    mpi.require(MPI)
    cases.main()

"""Runs of several processes that are stopped or killed, each of them in turn, and continued with another number of
them: the numbers are those of the uninterrupted run. Skipped without MPI.

CTest: crowded, methods 6 s
"""
import itertools
import pathlib
import random
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, mpi
from support.mpi_case import MpiCase
from support.process_runs import CHAINS, DISKS, PARTS, PLACES, SECONDS, TABLES, TEMPERING
from support.program import LONG, OK, STOPPED, wait_for
from support.resume import KILLS_IN_A_ROW, ResumeCase
from support.results import assert_same_numbers

LONGER = LONG.replace("sweeps: 200", "sweeps: 2000")  # so that a GPU has not ended it before the launcher passes a signal on
# With four replicas of each value, a process's own replicas have separate generators; their states belong to a checkpoint.
GENERATORS = CHAINS + "kernel: {variant: tiled, tile: 8, hits: 2, generator: lcg64}\n"
KILLED = {"pa": SECONDS, "canonical": CHAINS, "mpmc": DISKS, "pt": TEMPERING, "pa_places": PLACES, "muca": TABLES}
# What is continued, the fewest of six parts that are not the last one, and the time of a part.
CONTINUED = {
    "pa": (SECONDS, 4),
    "canonical": (CHAINS.replace("60000", "200000"), 1),
    "mpmc": (DISKS, 1),
    "pt": (TEMPERING, 4),
    "pa_places": (PLACES, 1),
    "muca": (TABLES, 4),
    "generators": (GENERATORS, 1),
    "parts_of_muca": (PARTS, 2, "200 ms"),
}


class Stopped(MpiCase):
    def stopped_by(self, number, rank):
        for kind in mpi.LAUNCHERS:
            config = self.write("c.yaml", LONGER)
            process = self.begin(kind, 3, "run", config, "--threads", 1)
            wait_for(self.path("small.h5.partial"), process)
            self.assertTrue(self.signal_rank(3, rank, number))
            self.end(process, STOPPED)
            self.assertEqual(process.err.count("checkpoint written"), 1, process.err)
            self.assertEqual(self.names("small.h5*"),
                             ["small.h5.ckpt", "small.h5.partial", "small.h5.status"])
            for name in self.names("small.h5*"):
                self.path(name).unlink()

    def test_by_a_signal_to_the_root(self):
        self.stopped_by(signal.SIGTERM, 0)

    def test_by_a_signal_to_another(self):
        self.stopped_by(signal.SIGTERM, 2)

    def test_by_user_signals(self):
        self.stopped_by(signal.SIGUSR1, 1)
        self.stopped_by(signal.SIGUSR2, 0)

    def test_by_a_user_signal_to_the_launcher(self):
        """The launcher of MPICH 4.0 returns 0 after one in twenty of such signals, whatever its processes return."""
        kinds = [kind for kind in mpi.LAUNCHERS if mpi.passes_user_signals(kind)]
        if not kinds:
            self.skipTest("no launcher here passes SIGUSR1 on")
        for kind in kinds:
            config = self.write("c.yaml", LONGER)
            process = self.begin(kind, 3, "run", config, "--threads", 1)
            wait_for(self.path("small.h5.partial"), process)
            process.send_signal(signal.SIGUSR1)
            self.end(process, None)
            self.assertIn(process.returncode, [STOPPED, OK] if kind == "MPICH" else [STOPPED], process.err)
            self.assertEqual(process.err.count("checkpoint written"), 1, process.err)
            self.assertEqual(self.names("small.h5*"), ["small.h5.ckpt", "small.h5.partial", "small.h5.status"])
            for name in self.names("small.h5*"):
                self.path(name).unlink()

    def test_by_the_time(self):
        for kind in mpi.LAUNCHERS:
            done = self.mpirun(kind, 2, "run", self.write("c.yaml", LONGER), "--max-time", "500 ms", code=STOPPED)
            self.assertEqual(done.err.count("checkpoint written"), 1, done.err)
            for name in self.names("small.h5*"):
                self.path(name).unlink()


class Killed(MpiCase, ResumeCase):
    def test_any_rank(self):
        """At random instants, with any number of processes of any MPI; one process finishes."""
        for name, run in cases.of(itertools.product(KILLED, range(12))):
            with self.subTest(name, run=run):
                self.use(KILLED[name])
                self.clear()
                self.kill_in_a_row(random.Random(f"3 {run}"))
                self.finish()

    def kill_in_a_row(self, choose):
        for _ in range(KILLS_IN_A_ROW):
            kind, processes = choose.choice(sorted(mpi.LAUNCHERS)), choose.choice([2, 3, 4])
            after, rank = choose.uniform(0, 0.5 * self.duration), choose.randrange(processes)
            process = self.begin(kind, processes, "run", self.config, "--threads", 1)
            if self.signal_rank(processes, rank, after=after):
                self.end(process, None)
                if not self.path("run.h5").exists():  # it may have ended just before
                    self.assertNotEqual(process.returncode, OK, process.err)
            else:
                self.end(process, OK)
            if self.path("run.h5").exists():
                assert_same_numbers(self, self.reference, self.path("run.h5"))
                self.path("run.h5").unlink()


class Continued(MpiCase, ResumeCase):
    def some_time(self, kind, processes, time_of_a_part="30 ms"):
        """Performs a part of the run; returns whether it was not the last one."""
        done = self.mpirun(kind, processes, "run", self.config, "--threads", 1, "--max-time", time_of_a_part, code=None)
        self.assertIn(done.returncode, [OK, STOPPED], done.err)
        return done.returncode == STOPPED

    def test_with_other_numbers_of_processes(self):
        for (name, (text, least, *time_of_a_part)), kind in cases.of(itertools.product(CONTINUED.items(), mpi.LAUNCHERS)):
            with self.subTest(name, kind=kind):
                self.use(text)
                numbers = itertools.cycle([2, 4, 1, 3])
                parts = (self.some_time(kind, next(numbers), *time_of_a_part) for _ in range(6))
                stops = sum(1 for _ in itertools.takewhile(bool, parts))
                self.mpirun(kind, 2, "run", self.config)
                assert_same_numbers(self, self.reference, self.path("run.h5"))
                self.path("run.h5").unlink()
                self.assertGreaterEqual(stops, least)


if __name__ == "__main__":
    mpi.require()
    device.require()
    cases.main()

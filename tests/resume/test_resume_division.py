"""A checkpoint has as many runs of pa in progress as processes had side by side; any other number of processes
continues them. Skipped without MPI.

CTest: crowded, cases 1 s, methods 6 s
"""
import itertools
import json
import pathlib
import random
import resource
import sys

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, mpi
from support.large_runs import large_runs
from support.mpi_case import MpiCase
from support.program import FAILURE, OK, STOPPED
from support.resume import ResumeCase
from support.results import assert_same_numbers

RUNS = 4
TEXT = large_runs(RUNS, "beta: {from: 0.0, to: 0.1, step: 0.01}")
SHORT = large_runs(5, "beta: {from: 0.0, to: 0.04, step: 0.02}")
ADAPTIVE = large_runs(9, "beta: {from: 0.0, to: 0.03, overlap: 0.4}")


KINDS = sorted(mpi.LAUNCHERS)


class Division(MpiCase, ResumeCase):
    KILLED = range(2)

    def run_for(self, kind, processes, time):
        """Performs a part of the run that is not the last one."""
        words = "run", self.config, "--threads", 1, "--max-time", time
        done = self.gpumc(*words, code=STOPPED) if processes == 1 else self.mpirun(kind, processes, *words, code=STOPPED)
        return done.err

    def finish_with(self, kind, processes):
        words = "run", self.config, "--threads", 1
        done = self.gpumc(*words) if processes == 1 else self.mpirun(kind, processes, *words, GPUMC_PROCESSES_CHECK="1")
        self.assertEqual(self.names("run.h5*"), ["run.h5"])
        assert_same_numbers(self, self.reference, self.path("run.h5"))
        self.path("run.h5").unlink()
        return done.err

    def under_way(self):
        """Returns the runs of the checkpoint's batch, and the next row."""
        with h5py.File(self.path("run.h5.ckpt"), "r") as file:
            first, count, row = (int(x) for x in file["pa/counters"][:, 0])
            self.assertTrue(row == 0 or file["ensemble/sizes"].shape[0] == count)
        return first, count, row

    def continue_from(self, kind, *processes):
        """The batch is that of the first of these numbers of processes, and all others continue it."""
        self.use(TEXT)
        self.run_for(kind, processes[0], "20 ms")
        first, count, row = self.under_way()
        self.assertEqual((first, count), (0, min(processes[0], RUNS)))
        self.assertLess(0, row)
        for number in processes[1:-1]:
            self.run_for(kind, number, "1 ms")
            self.assertEqual(self.under_way()[:2], (first, count))
        self.assertRegex(self.finish_with(kind, processes[-1]), r"resuming at \d+ %")

    def test_one_process_continues_three(self):
        self.continue_from(KINDS[0], 3, 1)

    def test_two_continue_three(self):
        self.continue_from(KINDS[-1], 3, 2)

    def test_three_continue_one(self):
        self.continue_from(KINDS[0], 1, 3)

    def test_more_than_runs_continue_two(self):
        self.continue_from(KINDS[-1], 2, RUNS + 1)

    def test_one_after_the_other(self):
        self.continue_from(KINDS[0], 4, 1, 2, 3, 2)

    def stop_after_units(self, kind, text, most):
        """After each of them, with one number of processes after the other, between batches too; one process
        finishes."""
        self.use(text)
        found = []
        for processes in itertools.islice(itertools.cycle([3, 1, 2]), most):
            done = self.mpirun(kind, processes, "run", self.config, "--threads", 1, "--max-time", "1 ms", code=None)
            self.assertIn(done.returncode, [OK, STOPPED], done.err)
            if done.returncode == OK:
                assert_same_numbers(self, self.reference, self.path("run.h5"))
                return found
            found.append(self.under_way())
        self.finish_with(kind, 1)
        return found

    def test_stops(self):
        found = self.stop_after_units(KINDS[0], SHORT, 9)
        self.assertEqual(found, [(0, 3, 1), (0, 3, 2), (3, 2, 0), (3, 2, 1), (3, 2, 2)])

    def test_stops_of_adaptive_runs(self):
        found = self.stop_after_units(KINDS[-1], ADAPTIVE, 5)
        self.assertEqual(found[0], (0, 1, 1))
        self.assertGreater(found[-1][0], 0)

    def test_kills(self):
        """Kills any process, at random instants."""
        self.use(TEXT.replace("10 min", "200 ms"))
        for run in cases.of(self.KILLED):
            self.clear()
            self.kill_twice(random.Random(f"3 {run}"))
            self.finish()

    def kill_twice(self, choose):
        for _ in range(2):
            kind, processes = choose.choice(KINDS), choose.choice([2, 3, 4])
            after, rank = choose.uniform(0, 0.5 * self.duration), choose.randrange(processes)
            process = self.begin(kind, processes, "run", self.config, "--threads", 1)
            killed = self.signal_rank(processes, rank, after=after)
            self.end(process, None if killed else OK)
            if self.path("run.h5").exists():
                assert_same_numbers(self, self.reference, self.path("run.h5"))
                self.path("run.h5").unlink()

    def test_control(self):
        self.use(TEXT)
        self.tell_another_seed_apart()


class NoRoom(MpiCase, ResumeCase):
    """One process has memory for two of the three runs in the checkpoint."""

    device = "cpu"  # a GPU's driver needs more address space than the limit leaves

    def bytes_of(self, runs):
        """For this many runs at once, found by a single run as many times larger."""
        done = self.gpumc("plan", self.config, "--json", "--threads", 1, "--set", f"algorithm.population={runs * 720}")
        return json.loads(done.out)["tasks"][0]["host_bytes"]

    def limited(self, limit, *words, code):
        return self.gpumc(*words, "--threads", 1, code=code,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))

    def available(self, limit):
        done = self.limited(limit, "plan", self.config, "--json", code=OK)
        return json.loads(done.out)["tasks"][0]["available_bytes"]

    def test_enough_processes_are_named(self):
        self.use(TEXT)
        self.mpirun(KINDS[0], 3, "run", self.config, "--threads", 1, "--max-time", "20 ms", code=STOPPED)
        large = 1 << 32
        if self.available(2 * large) < large:
            self.skipTest("less than 4 GiB of memory are available")
        limit = int(large - self.available(large) + (self.bytes_of(2) + self.bytes_of(3)) / 2)
        before = {name: self.path(name).read_bytes() for name in ["run.h5.ckpt", "run.h5.partial"]}
        done = self.limited(limit, "run", self.config, code=FAILURE)
        line, = self.lines(done)
        self.assertRegex(line, r"^gpumc: error: not enough memory: \d+ replicas \(3 runs side by side, as in the checkpoint\) need "
                               r"\d.*, and \d.* is available; 2 processes with as much memory each would be enough$")
        self.assertEqual(before, {name: self.path(name).read_bytes() for name in before})
        self.assertIn("resuming", self.limited(limit + self.bytes_of(1), "run", self.config, code=OK).err)
        assert_same_numbers(self, self.reference, self.path("run.h5"))


if __name__ == "__main__":
    mpi.require()
    device.require()
    cases.main()

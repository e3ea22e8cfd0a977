"""Independent runs of pa are divided among processes before places are, whatever their size. Skipped without MPI.

The runs are large (support/large_runs.py): one of them is all that a process takes at a time, so that there are as many
side by side as processes have runs of their own.

CTest: crowded, methods 6 s
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, mpi
from support.large_runs import large_runs
from support.process_comparison import REPLICAS, RUNS, ProcessComparison
from support.results import assert_same_numbers, numbers

ADAPTIVE = "beta: {from: 0.0, to: 0.03, overlap: 0.4}"
ROUNDS = 4  # that others have at least where they wait for the first run of an adaptive schedule


class Division(ProcessComparison):
    def messages(self, found):
        """Seconds in messages of resampling, of which runs by themselves have none."""
        return found["seconds_communication_resample"] + found["seconds_communication_gather"]

    def check_division(self, text, divisions, each_has=1):
        found = self.compare_text(text, divisions, sorted(divisions), each_has)
        for processes, division in divisions.items():
            if processes in found and division == RUNS:
                self.assertEqual(self.messages(found[processes]), 0)
            elif processes in found:
                self.assertGreater(self.messages(found[processes]), 0)

    def test_a_run_each(self):
        self.check_division(large_runs(3), {2: RUNS, 3: RUNS})

    def test_places_where_there_are_fewer_runs(self):
        self.check_division(large_runs(2), {2: RUNS, 3: REPLICAS}, each_has=2)

    def test_adaptive(self):
        """With three processes two of them would wait for the first run for too long a time."""
        self.check_division(large_runs(2 * ROUNDS + 1, ADAPTIVE), {2: RUNS, 3: REPLICAS}, each_has=2)

    def test_control(self):
        config = self.write("c.yaml", large_runs(3))
        self.gpumc("run", config, "-o", "one.h5")
        self.mpirun(next(iter(mpi.LAUNCHERS)), 3, "run", config, "--set", "seed=6")
        with self.assertRaises(AssertionError):
            assert_same_numbers(self, numbers(self.path("one.h5")), self.path("run.h5"))


class Plan(ProcessComparison):
    device = None

    def task(self, text, processes, gpu=None):
        config = self.write("c.yaml", text)
        where = ["--gpu", gpu] if gpu else ["--device", "cpu"]
        return json.loads(self.gpumc("plan", config, *where, "--json", "--processes", processes, "--threads", 1).out)["tasks"][0]

    def test_runs_at_once(self):
        for runs, processes, at_once, division in ((9, 1, 1, None), (9, 2, 2, "runs"), (9, 9, 9, "runs"),
                                                   (9, 10, 9, "parts of every run"), (1, 2, 1, "parts of every run")):
            with self.subTest(runs=runs, processes=processes):
                task = self.task(large_runs(runs), processes, gpu="H200")
                self.assertEqual(task["runs_at_once"], at_once)
                self.assertEqual(task.get("processes", {}).get("division"), division)

    def test_adaptive(self):
        for runs, at_once in ((2 * ROUNDS, 1), (2 * ROUNDS + 1, 2)):
            self.assertEqual(self.task(large_runs(runs, ADAPTIVE), 2)["runs_at_once"], at_once)

    def test_configurations(self):
        """They are written batch by batch, an order that the number of processes must not change."""
        text = large_runs(9).replace("runs: 9", "runs: 9, configurations: {every: 5}")
        task = self.task(text, 2)
        self.assertEqual((task["runs_at_once"], task["processes"]["division"]), (1, "parts of every run"))

    def test_memory_is_that_of_a_run(self):
        """Of each process; what it has of the others is small."""
        one = self.task(large_runs(9), 1, gpu="H200")
        for processes in 2, 9:
            each = self.task(large_runs(9), processes, gpu="H200")
            self.assertEqual(each["ensemble_bytes"], one["ensemble_bytes"])
            self.assertEqual(each["host_bytes"], processes * each["processes"]["host_bytes"])
            self.assertLess(each["processes"]["host_bytes"], 1.02 * one["host_bytes"])

    def test_time_is_that_of_the_rounds(self):
        """Of nine runs two processes have two, two, ..., one: five rounds."""
        one, two, nine = (self.task(large_runs(9), n, gpu="H200")["gpu"]["least_seconds"] for n in (1, 2, 9))
        self.assertAlmostEqual(two / one, 5 / 9)
        self.assertAlmostEqual(nine / one, 1 / 9)

    def test_what_fits_by_places_only(self):
        """Where there is no room for a run in each process, all have a part of one. Each process has a GPU."""
        population, text = 72000, large_runs(4).replace("720,", "72000,")
        each = self.task(text, 4, gpu="H200")
        self.assertEqual(each["runs_at_once"], 4)
        for room, at_once, division in (0.8, 4, "runs"), (1.2, 1, "parts of every run"):
            some = int(room * population * each["gpu"]["bytes"] / each["device_bytes"])
            task = self.task(text.replace("72000", str(some)), 4, gpu="H200")
            self.assertEqual((task["gpu"]["fits"], task["runs_at_once"], task["processes"]["division"]),
                             (True, at_once, division))


if __name__ == "__main__":
    mpi.require()
    device.require()
    cases.main()

"""Plans for several processes: what each has of the work, and what it needs. No MPI takes part."""
import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.program import FAILURE, INVALID, ProgramCase

PA = """\
gpumc: 1
seed: 5
model: {name: ising2d, shape: [32, 32]}
algorithm: {name: pa, population: 2000, sweeps: 5, beta: {from: 0.0, to: 0.5, step: 0.05}, runs: 5}
output: t.h5
"""
LADDER = PA.replace("{name: pa, population: 2000, sweeps: 5, beta: {from: 0.0, to: 0.5, step: 0.05}, runs: 5}",
                    "{name: canonical, beta: {from: 0.1, to: 0.5, count: 20}, thermalization: 100, sweeps: 2000, replicas: 64}")
PT = PA.replace("{name: pa, population: 2000, sweeps: 5, beta: {from: 0.0, to: 0.5, step: 0.05}, runs: 5}",
                "{name: pt, beta: {from: 0.1, to: 0.5, count: 5}, sweeps: 64}")
SAMPLES = PT.replace("count: 5}, sweeps: 64", "count: 5}, samples: 225, sweeps: 64").replace("name: ising2d", "name: ea")
MUCA = PA.replace("{name: pa, population: 2000, sweeps: 5, beta: {from: 0.0, to: 0.5, step: 0.05}, runs: 5}",
                  "{name: muca, walkers: 250, beta: {from: 0.2, to: 0.5, step: 0.1}}").replace("[32, 32]", "[6, 6]")
PROCESSORS = len(os.sched_getaffinity(0))


class PlanProcesses(ProgramCase):
    device = None  # cpu unless it says otherwise

    def task(self, text, *words, **more):
        config = self.write("t.yaml", text)
        return json.loads(self.gpumc("plan", config, "--device", "cpu", "--json", *words, **more).out)["tasks"][0]

    def test_parts(self):
        """What is divided, and what the processes with least and most have of it."""
        for text, processes, division, unit, least, most, words in (
                (PA, 3, "runs", "runs", 1, 2, "by runs or values, 5 at once: 1, 2, 2"),
                (PA, 5, "runs", "runs", 1, 1, "by runs or values, 5 at once: 1, 1, 1, 1, 1"),
                (PA, 7, "parts of every run", "replicas", 272, 288, "by replicas of every run, 5 with 2000 each: "
                                                                    "288, 288, 288, 288, 288, 288, 272"),
                (PA.replace("runs: 5", "runs: 1"), 2, "parts of every run", "replicas", 992, 1008,
                 "by replicas, 2000 in all: 992, 1008"),
                (LADDER, 3, "runs", "runs", 6, 7, "by runs or values, 20 at once: 6, 7, 7"),
                (LADDER, 20, "runs", "runs", 1, 1, "by runs or values, 20 at once: 1 each"),
                (LADDER, 40, "runs or parts of one", "replicas", 32, 32, "by replicas of single runs or values, 20 with 64 each: 32 each"),
                (PT, 4, "runs", "runs", 1, 2, "by runs or values, 5 at once: 1, 1, 1, 2"),
                (SAMPLES, 2, "parts of every run", "samples", 97, 128, "by samples of every run, 10 with 225 each: 128, 97"),
                (MUCA, 3, "parts of every run", "walkers", 64, 96, "by walkers, 250 in all: 64, 96, 90")):
            with self.subTest(text=text, processes=processes):
                found = self.task(text, "--processes", processes)["processes"]
                self.assertEqual((found["processes"], found["per_host"], found["divided"]), (processes, processes, True))
                self.assertEqual((found["division"], found["unit"], found["least"], found["most"], found["division_text"]),
                                 (division, unit, least, most, words))
        self.assertNotIn("processes", self.task(PA))
        self.assertNotIn("processes", self.task(PA, "--processes", 1))

    def test_memory(self):
        """Replicas go by runs; what a process has beside them is its own, and a host has all of its processes."""
        one, three = self.task(PA, "--threads", 1), self.task(PA, "--threads", 1, "--processes", 3)
        self.assertAlmostEqual(three["ensemble_bytes"] / one["ensemble_bytes"], 2 / 5, delta=0.01)
        found = three["processes"]
        self.assertEqual(found["host_bytes"] * 3, three["host_bytes"])
        self.assertGreater(found["host_bytes"], three["ensemble_bytes"])
        self.assertLess(found["host_bytes"], one["host_bytes"])
        spread = self.task(PA, "--threads", 1, "--processes", 3, "--per-host", 1)
        self.assertEqual(spread["host_bytes"], found["host_bytes"])

    def test_threads(self):
        self.assertEqual(self.task(PA)["threads"], PROCESSORS)
        for processes, per_host in (2, 2), (3, 3), (4, 1), (40, 40):
            found = self.task(LADDER, "--processes", processes, "--per-host", per_host)["threads"]
            self.assertEqual(found, max(1, -(-PROCESSORS // per_host)))
        self.assertEqual(self.task(PA, "--processes", 2, "--threads", 1)["threads"], 1)

    def test_time(self):
        """With one thread each, so that times are those of the same work: of 20 values each of four processes has a quarter."""
        one, four = (min(self.task(LADDER, "--processes", n, "--threads", 1)["estimated_seconds"] for _ in range(2)) for n in (1, 4))
        self.assertLess(four, 0.5 * one)
        self.assertGreater(four, 0.1 * one)

    def test_too_many_processes(self):
        """Refused as a run refuses them."""
        for text, processes, said in (
                (PA, 2001, "2001 processes, but 5 runs of 2000 replicas, in groups of "),
                (LADDER, 41, "41 processes, but 20 runs of 64 replicas, in groups of 32, can be divided among at most 40; start fewer"),
                (PT, 6, "6 processes, but 5 runs of 1 replicas, in groups of ")):
            config = self.write("t.yaml", text)
            for words in ([], ["--json"], ["--gpu", "H200"]):
                if "--gpu" in words and text is not LADDER:
                    continue
                done = self.gpumc("plan", config, *words, "--processes", processes, code=INVALID)
                self.assertIn("gpumc: error: " + said, done.err)
                self.assertEqual(done.out, "")

    def test_text(self):
        text = self.gpumc("plan", self.write("t.yaml", PA), "--processes", 3, "--per-host", 2, "--device", "cpu").out
        self.assertRegex(text, r"\nprocesses   3, 2 per host; divided by runs or values, 5 at once: 1, 2, 2\n"
                               r"            each with \d+ threads? and .* of host memory\n"
                               r"memory      .* per process: replicas .*, work arrays .*; .* on a host; .* available\n")
        text = self.gpumc("plan", self.write("t.yaml", LADDER), "--processes", 12, "--device", "cpu").out
        self.assertIn("; divided by runs or values, 20 at once: 1 or 2 each\n", text)

    def test_a_gpu_that_is_not_here(self):
        """Each process has one of its own."""
        config = self.write("t.yaml", LADDER)
        one, ten = (json.loads(self.gpumc("plan", config, "--gpu", "H200", "--json", "--processes", n).out)["tasks"][0] for n in (1, 10))
        self.assertLess(ten["ensemble_bytes"] * 5, one["ensemble_bytes"])  # kernels have a part that is not divided
        self.assertLess(ten["device_bytes"], one["device_bytes"])
        self.assertEqual(ten["gpu"]["needed_bytes"], ten["device_bytes"])
        self.assertEqual(ten["processes"]["device_bytes"], ten["device_bytes"])
        self.assertAlmostEqual(ten["gpu"]["least_seconds"] * 10, one["gpu"]["least_seconds"])
        self.assertEqual(ten["processes"]["on_a_gpu"], 1)
        self.assertRegex(ten["processes"]["transfers"], "^(NCCL, or host copies where processes share a GPU|host copies)$")
        text = self.gpumc("plan", config, "--gpu", "H200", "--processes", 10).out
        self.assertIn(f"            data moves between GPUs by {ten['processes']['transfers']}\n", text)

    def test_what_fits_divided_only(self):
        """A ladder whose replicas are three quarters of the memory there is, by the plan's own count, times four."""
        free = self.task(LADDER)["available_bytes"]
        bytes_each = self.task(LADDER)["ensemble_bytes"] / 64
        replicas = int(4 * 0.75 * free / bytes_each) // 64 * 64
        config = self.write("t.yaml", LADDER.replace("replicas: 64", f"replicas: {replicas}"))
        words = ("plan", config, "--device", "cpu", "--json")
        self.gpumc(*words, code=FAILURE)
        done = self.gpumc(*words, "--processes", 20, "--per-host", 20, code=FAILURE)
        self.assertIn("not enough memory", done.err)
        task = json.loads(self.gpumc(*words, "--processes", 20, "--per-host", 1, "--threads", 1).out)["tasks"][0]
        self.assertTrue(task["fits"])

    def test_usage(self):
        config = self.write("t.yaml", PA)
        for words, said in ((["--processes", 0], "--processes must be an integer from 1 to "), (["--processes", "x"], "--processes must be"),
                            (["--processes", 2, "--per-host", 3], "--per-host 3 exceeds the number of processes (--processes)"),
                            (["--per-host", 2], "--per-host 2 exceeds the number of processes (--processes)")):
            self.assertIn(said, self.gpumc("plan", config, *words, code=INVALID).err)


if __name__ == "__main__":
    unittest.main()

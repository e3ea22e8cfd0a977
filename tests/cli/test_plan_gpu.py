"""Plans: for a GPU that is not here, how many lattices there are, and what beside sweeps takes time."""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.program import FAILURE, INVALID, ProgramCase

CONFIG = """\
gpumc: 1
seed: 5
model: {name: ea, shape: [8, 8, 8]}
algorithm: {name: pt, beta: {from: 0.5, to: 1.2, count: 16}, samples: 4096, replicas: 2, sweeps: 1000, exchange_every: 10}
kernel: {device: cuda}
output: t.h5
"""


class PlanCase(ProgramCase):
    def task(self, config, *words):
        return json.loads(self.gpumc("plan", config, "--json", *words).out)["tasks"][0]


class PlanForAGpu(PlanCase):
    def test_needs_none(self):
        config = self.write("t.yaml", CONFIG)
        for words in (["--gpu", "H200"], ["--gpu", "h200", "--device", "cuda"],
                      ["--device", "cuda:1", "--gpu", "H200"]):
            task = self.task(config, *words)
            self.assertEqual(task["gpu"]["name"], "H200")
            self.assertEqual(task["gpu"]["bytes"], 141e9)
            self.assertTrue(task["gpu"]["fits"])
            # A bit a spin of 131072 lattices, and the arrays of exchanges and sums beside them.
            self.assertGreater(task["gpu"]["needed_bytes"], 131072 * 512 / 8)
            self.assertLess(task["gpu"]["needed_bytes"], 1e9)
            # 6.7e10 updates at no more than 4000 in a nanosecond.
            self.assertAlmostEqual(task["gpu"]["least_seconds"], task["updates"] / 4e12, delta=1e-3)
        self.assertNotIn("least_seconds", self.task(config, "--gpu", "80 GiB")["gpu"])
        text = self.gpumc("plan", config, "--gpu", "80 GiB").out
        self.assertRegex(text, r"gpu +80 GiB with 80 GiB: about .* needed, fits; time unknown")

    def test_that_is_too_small(self):
        process = self.gpumc("plan", self.write("t.yaml", CONFIG), "--gpu", "1 MiB", code=FAILURE)
        self.assertIn("task 0: it does not fit into the memory of 1 MiB", process.err)

    def test_that_nobody_knows(self):
        config = self.write("t.yaml", CONFIG)
        for gpu in ("nix", "", "80", "-1 GiB", "nan GiB", "inf GiB", "80 GiBs", "9" * 60 + " GiB"):
            process = self.gpumc("plan", config, "--gpu", gpu, code=INVALID)
            self.assertIn("--gpu: expected H200, ", process.err)


class Plan(PlanCase):
    def test_says_how_many_lattices_there_are(self):
        config = self.write("t.yaml", CONFIG)
        text = self.gpumc("plan", config, "--device", "cpu").out
        self.assertIn("replicas    4096 in each of 32 runs at once: 131072 lattices; room", text)

    def test_counts_what_comes_beside_sweeps(self):
        """The same sweeps with ten times the exchanges and measurements: these take more time than the sweeps."""
        config = self.write("t.yaml", CONFIG)
        often, seldom = (self.task(config, "--device", "cpu", "--set", f"algorithm.exchange_every={n}")
                         for n in (1, 10))
        self.assertEqual(often["updates"], seldom["updates"])
        beside = [task["estimated_seconds"] - task["updates"] / task["estimated_updates_per_second"]
                  for task in (often, seldom)]
        self.assertGreater(beside[1], 0)
        self.assertGreater(beside[0], 3 * beside[1])  # 10 but for what the timings scatter


if __name__ == "__main__":
    unittest.main()

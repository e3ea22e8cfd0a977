"""Plans: for a GPU that is not here, how many lattices there are, and what beside sweeps takes time.

CTest: methods 6 s
"""
import json
import os
import pathlib
import sys

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases
from support.device import without_gpus
from support.program import DEVICE, FAILURE, INVALID, ProgramCase
from support.sanitizers import SANITIZED

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
    device = None  # that of the configuration

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
            # 6.7e10 updates at no more than the 3107 in a nanosecond that were measured.
            self.assertAlmostEqual(task["gpu"]["least_seconds"], task["updates"] / 3107e9, delta=1e-6)
            self.assertEqual((task["kernel"], task["device"], task["device_is_here"]), ("multispin", "cuda", False))
        self.assertNotIn("least_seconds", self.task(config, "--gpu", "80 GiB")["gpu"])
        text = self.gpumc("plan", config, "--gpu", "80 GiB").out
        self.assertRegex(text, r"gpu +80 GiB: about .* needed, fits\n")
        self.assertEqual(text.count("time "), 1)
        self.assertRegex(text, r"(?m)^time +unknown: never measured with this card")

    def test_knows_names_as_drivers_give_them(self):
        config = self.write("t.yaml", CONFIG)
        for text, name in (("NVIDIA H200", "H200"), ("NVIDIA H100 80GB HBM3", "H100"), ("nvidia a100-sxm4-40gb", "A100-40GB"),
                           ("A100-80GB", "A100"), ("80gb", "80gb")):
            self.assertEqual(self.task(config, "--gpu", text)["gpu"]["name"], name)

    def test_is_refused_beside_the_cpu(self):
        config = self.write("t.yaml", CONFIG)
        for words in (["--gpu", "H200", "--device", "cpu"], ["--device", "cpu", "--gpu", "H200"]):
            process = self.gpumc("plan", config, *words, code=INVALID)
            self.assertIn("--gpu plans for a GPU, but --device cpu selects the CPU", process.err)
        # A configuration for a laptop, planned for a card.
        self.assertTrue(self.task(config, "--gpu", "H200", "--set", "kernel.device=cpu")["gpu"]["fits"])

    def test_knows_rates_that_were_measured_only(self):
        """By card, kernel, couplings and dimension."""
        config = self.write("t.yaml", CONFIG)
        for card, sets, rate in (("H200", ["model.couplings=gaussian"], 487), ("H200", ["kernel.variant=spin"], 458),
                                 ("H100", [], None), ("H200", ["model.shape=[64,64]"], 3663),
                                 ("H200", ["model.shape=[64,64]", "model.couplings=gaussian"], None)):
            task = self.task(config, "--gpu", card, *(word for item in sets for word in ("--set", item)))
            with self.subTest(card=card, sets=sets):
                if rate is None:
                    self.assertNotIn("least_seconds", task["gpu"])
                else:
                    self.assertAlmostEqual(task["gpu"]["least_seconds"] * rate * 1e9, task["updates"], delta=1)

    def test_memory_has_the_disorder(self):
        """A set of couplings a replica of one temperature, for the couplings' own kernel: one sample for all takes less."""
        def needed(couplings, key):
            config = self.write(f"{key}.yaml", CONFIG[:CONFIG.index("algorithm:")] + (
                f"algorithm: {{name: canonical, beta: {{values: [0.5]}}, {key}: 4096, thermalization: 0, sweeps: 8}}\n"
                "output: t.h5\n"))
            return self.task(config, "--gpu", "H200", "--set", f"model.couplings={couplings}")["gpu"]["needed_bytes"]

        sites = 4096 * 512
        for couplings, least in (("bimodal", 3 / 8), ("gaussian", 3 * 4)):  # bytes of three bonds a site
            with self.subTest(couplings=couplings):
                self.assertGreater(needed(couplings, "samples") - needed(couplings, "replicas"), least * sites)

    def test_is_a_row_of_campaigns(self):
        words = ("--set", "campaign.seed=[1, 2]", "--set", "output=t{seed}.h5", "--gpu", "H200")
        config = self.write("t.yaml", CONFIG)
        self.assertRegex(self.gpumc("plan", config, *words).out,
                         r"(?s)0 +seed=1 +multispin on cuda .* at least .*\ngpu +H200 with 131 GiB: about .* needed, fits\n"
                         r"time +at least .* fully used card")
        tasks = json.loads(self.gpumc("plan", config, *words, "--json").out)["tasks"]
        self.assertEqual([task["gpu"]["fits"] for task in tasks], [True, True])

    def test_that_is_too_small(self):
        process = self.gpumc("plan", self.write("t.yaml", CONFIG), "--gpu", "1 MiB", code=FAILURE)
        self.assertIn("task 0: it does not fit into the memory of 1 MiB", process.err)

    def test_that_nobody_knows(self):
        config = self.write("t.yaml", CONFIG)
        for gpu in ("nix", "", "80", "-1 GiB", "nan GiB", "inf GiB", "80 GiBs", "9" * 60 + " GiB", "0x10GB", " 80 GiB", "1e9 GB", "NVIDIA"):
            process = self.gpumc("plan", config, "--gpu", gpu, code=INVALID)
            self.assertIn("--gpu: expected H200, ", process.err)


class Plan(PlanCase):
    def test_says_how_many_lattices_there_are(self):
        config = self.write("t.yaml", CONFIG)
        text = self.gpumc("plan", config, "--device", "cpu").out
        self.assertIn("replicas    4096 in each of 32 runs at once: 131072 in all; room", text)

    def test_times_a_few_replicas_of_a_large_lattice(self):
        """Of replicas that are large, one word or, where a kernel keeps them apart, one: 64 took 1.6 and 4 GiB here."""
        for variant, mebibytes in (("multispin", 1200), ("spin", 400)):
            config = self.write("t.yaml", "gpumc: 1\nseed: 1\nmodel: {name: ising2d, shape: [8192, 8192]}\nalgorithm: {name: canonical, "
                                "beta: {values: [0.4]}, replicas: 128, thermalization: 0, sweeps: 100}\n"
                                f"kernel: {{variant: {variant}}}\noutput: t.h5\n")
            with self.start("plan", config, "--device", "cpu", "--threads", "2") as process:
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 0)
            with self.subTest(variant=variant, mebibytes=used.ru_maxrss / 1024, seconds=used.ru_utime):
                self.assertLess(used.ru_maxrss / 1024, mebibytes * (1.5 if SANITIZED else 1))

    def test_counts_samples_that_are_written(self):
        """For every algorithm; what they take is in the result that was planned, to the estimate's own part."""
        for algorithm in ("pt, beta: {values: [0.3, 0.5]}, samples: 4000, replicas: 2, sweeps: 20",
                          "canonical, beta: {values: [0.3]}, samples: 200, thermalization: 0, sweeps: 64",
                          "pa, population: 100, sweeps: 1, beta: {to: 0.2, step: 0.1}, runs: 2"):
            config = self.write("t.yaml", "gpumc: 1\nseed: 1\nmodel: {name: ea, shape: [8, 8, 8], write_couplings: true}\n"
                                f"algorithm: {{name: {algorithm}}}\noutput: t.h5\n")
            with self.subTest(algorithm=algorithm):
                task = self.task(config)
                self.path("t.h5").unlink(missing_ok=True)
                self.gpumc("run", config, "--quiet")
                with h5py.File(self.path("t.h5")) as file:
                    written = file["disorder/couplings"]
                    self.assertEqual(task["disorder_bytes"], written.size * 8)
                    self.assertGreater(task["result_bytes"], written.size * 8)
                self.assertLess(self.path("t.h5").stat().st_size, task["result_bytes"])
                self.assertNotIn("disorder_bytes", self.task(config, "--set", "model.write_couplings=false"))

    def test_counts_what_comes_beside_sweeps(self):
        """The same sweeps with ten times the exchanges and measurements."""
        config = self.write("t.yaml", CONFIG)
        often, seldom = (self.task(config, "--device", "cpu", "--set", f"algorithm.exchange_every={n}")
                         for n in (1, 10))
        self.assertEqual(often["updates"], seldom["updates"])
        sites = 131072 * 512
        for task, every in ((often, 1), (seldom, 10)):
            rounds = task["updates"] / sites / every
            self.assertEqual(task["beside_updates"]["measured_sites"], rounds * sites)
            self.assertEqual(task["beside_updates"]["exchanged_sites"], rounds * sites)
        # Two copies are compared wherever both are measured, after thermalization.
        compared = [task["beside_updates"]["compared_sites"] for task in (often, seldom)]
        self.assertAlmostEqual(compared[0] / compared[1], 10, delta=0.5)
        self.assertLessEqual(compared[0], often["updates"] / 2)


class PlanWithoutAGpu(PlanCase):
    """A machine on which CUDA shows none, or a program without it."""
    device = None  # that of the configuration

    def plan(self, *words, code=0):
        return self.gpumc("plan", self.write("t.yaml", CONFIG), *words, code=code, env=without_gpus())

    def test_has_all_but_what_needs_the_card(self):
        for words in ([], ["--device", "cuda"], ["--device", "cuda:1"], ["--set", "campaign.seed=[1, 2]", "--set", "output=t{seed}.h5"]):
            with self.subTest(words=words):
                text = self.plan(*words).out
                for part in ("multispin on cuda", "this machine has no GPU", "MiB", "disk", "time", "unknown",
                             "this machine has no GPU: --gpu NAME|SIZE plans memory and time for a card"):
                    self.assertIn(part, text)
                for task in json.loads(self.plan(*words, "--json").out)["tasks"]:
                    self.assertEqual(task["device"], "cuda")
                    self.assertFalse(task["device_is_here"])
                    self.assertGreater(task["device_bytes"], 131072 * 512 / 8)
                    self.assertGreater(task["updates"], 1e10)
                    for key in ("gpu", "fits", "estimated_seconds", "device_available_bytes"):
                        self.assertNotIn(key, task)

    def test_does_not_run(self):
        process = self.gpumc("run", self.write("t.yaml", CONFIG), code=DEVICE, env=without_gpus())
        self.assertIn("device cuda: ", process.err)


if __name__ == "__main__":
    cases.main()

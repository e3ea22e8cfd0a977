"""plan, list, describe, schema, info and status: what they print, also as JSON.

CTest: long, cases 3 s
"""
import json
import os
import pathlib
import subprocess
import sys

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases
from support.attributes import attributes
from support.device import MISSING
from support.edited_result import edited
from support.program import (CAMPAIGN, DEVICE, FAILURE, INVALID, LONG, SMALL, STOPPED,
                             ProgramCase, wait_for)

SAMPLES = """\
gpumc: 1
seed: 1
model: {name: ea, shape: [4, 4, 4], disorder_seed: 1}
algorithm: {name: pt, beta: {values: [0.3, 0.5]}, samples: 32, sweeps: 640}
kernel: {device: cpu}
output: "{seed}-{model.shape}-{model.sample}.h5"
campaign: {model.sample: [0, 32]}
"""
MOST_BUSY = 8  # loops that a test starts beside the program


class Plan(ProgramCase):
    def test_single_run(self):
        text = self.gpumc("plan", self.write("c.yaml", SMALL), "--device", "cpu").out
        for words in ["ising2d, 64 sites", "multispin on cpu", "expected to be the fastest", "replicas",
                      "available", "updates     5.12e+05", "estimate", "small.h5"]:
            self.assertIn(words, text)
        self.assertEqual(self.names(), ["c.yaml"], "a plan writes nothing")

    def test_campaign_is_a_table_with_totals(self):
        text = self.gpumc("plan", self.write("c.yaml", CAMPAIGN)).out
        self.assertIn("out/3.h5", text)
        self.assertIn("3 tasks, 1.536e+06 updates", text)

    def test_json(self):
        config = self.write("c.yaml", CAMPAIGN)
        tasks = json.loads(self.gpumc("plan", config, "--json").out)["tasks"]
        self.assertEqual([task["output"] for task in tasks], ["out/1.h5", "out/2.h5", "out/3.h5"])
        self.assertEqual(tasks[0]["replicas"], 200)
        self.assertEqual(tasks[0]["updates"], 512000)
        self.assertTrue(tasks[0]["fits"])
        self.assertGreater(tasks[0]["estimated_seconds"], 0)

    def test_memory_of_a_checkpoint(self):
        """A replica of 32 MiB is there a second time while it goes to the checkpoint."""
        config = self.write("c.yaml", "gpumc: 1\nseed: 1\nmodel: {name: ising2d, shape: [16384, 16384]}\n"
                            "algorithm: {name: canonical, beta: {values: [0.4]}, replicas: 1, thermalization: 0, sweeps: 2}\n"
                            "kernel: {device: cpu, variant: packed}\noutput: c.h5\n")
        self.assertRegex(self.gpumc("plan", config).out, r"memory      64\.\d MiB: replicas 32\.\d MiB, work arrays 32 MiB; ")

    def test_size_of_configurations(self):
        text = SMALL[:SMALL.index("algorithm:")] + (
            "algorithm: {name: canonical, beta: {values: [0.3, 0.4]}, replicas: 512, thermalization: 0, sweeps: 1024, "
            "configurations: {every: 2, temperatures: [1]}}\noutput: small.h5\n")
        config = self.write("c.yaml", text)
        self.assertRegex(self.gpumc("plan", config).out,
                         r"result      about 1\d\.\d MiB, 10 MiB of it configurations\n"
                         r"disk        about 2\d(\.\d)? MiB while it runs, 3\d\.\d MiB when it resumes; a checkpoint takes \d+ KiB, twice that while")
        task, = json.loads(self.gpumc("plan", config, "--json").out)["tasks"]
        self.assertEqual(task["configuration_bytes"], 512 * 512 * (8 + 4 * 8))
        self.gpumc("run", config, "--quiet")
        with h5py.File(self.path("small.h5")) as file:
            stored = sum(item.size * item.dtype.itemsize for item in file["configurations"].values())
        self.assertEqual(stored, task["configuration_bytes"])

    def test_size_of_configurations_of_a_campaign(self):
        """A column and the sum, where tasks have them."""
        text = SMALL[:SMALL.index("algorithm:")] + (
            "algorithm: {name: canonical, beta: {values: [0.4]}, replicas: 512, thermalization: 0, sweeps: 512, "
            "configurations: {every: 512}}\noutput: '{algorithm.sweeps}.h5'\ncampaign: {algorithm.sweeps: [512, 1024]}\n")
        text = self.gpumc("plan", self.write("c.yaml", text)).out
        self.assertRegex(text, r"memory +configurations +updates")
        self.assertRegex(text, r"iB +20 KiB +\S+e\+")
        self.assertRegex(text, r"iB +40 KiB +\S+e\+")
        self.assertIn("memory at once; 60 KiB of configurations\n", text)
        self.assertNotIn("configurations", self.gpumc("plan", self.write("without.yaml", CAMPAIGN)).out)

    def test_remarks_on_samples_that_cannot_be_merged(self):
        """Samples in common of tasks that differ in nothing else, and temperatures of every task's own."""
        config = self.write("c.yaml", SAMPLES)

        def remarks(*sets):
            words = [word for item in sets for word in ("--set", item)]
            found = json.loads(self.gpumc("plan", config, "--json", *words).out)["remarks"]
            if found or not sets:  # a plan takes its time
                text = self.gpumc("plan", config, *words).out
                self.assertEqual([line[8:] for line in text.splitlines() if line.startswith("remark: ")], found)
            return found

        common = ": their results cannot be merged; increase model.sample in steps of 32"
        self.assertEqual(remarks(), [])
        self.assertEqual(remarks("campaign.model.sample=[0, 47, 16]"),
                         ["tasks 0 and 2 have samples 16 to 31 of the disorder in common (and 1 more with another task)" + common])
        self.assertEqual(remarks("campaign.model.sample=[31, 0]"),
                         ["tasks 1 and 0 have sample 31 of the disorder in common" + common])
        self.assertEqual(remarks("campaign.model.sample=[0, 16]", "algorithm.samples=16"), [])
        self.assertEqual(remarks("campaign={seed: [1, 2]}"), [])
        self.assertEqual(remarks("campaign={seed: [1, 2], model.sample: [0, 32]}"), [])
        self.assertEqual(remarks("campaign={model.shape: [[4, 4, 4], [6, 6, 6]]}", "algorithm.tune={sweeps: 800}"), [])
        tuned, = remarks("algorithm.tune={sweeps: 800}")
        self.assertEqual(tuned, "results of other samples cannot be merged: tuned temperatures differ from run to run; "
                         "give all runs those of one as beta.values")
        self.assertEqual(remarks("campaign.model.sample=[0, 16]", "algorithm={name: canonical, beta: {values: [0.4]}, "
                                 "samples: 32, thermalization: 0, sweeps: 8}"), [])  # no tool merges these
        self.assertEqual(len(remarks("campaign.model.sample=[0, 8]", "algorithm.tune={sweeps: 800}")), 2)
        self.assertEqual(json.loads(self.gpumc("plan", self.write("d.yaml", SMALL), "--json").out)["remarks"], [])

    def test_size_of_populations(self):
        """Those of steps that are known are counted, and of systematic resampling they are as large as planned."""
        text = SMALL.replace("  runs: 2\n", "  runs: 2\n  resampling: systematic\n  configurations: {betas: [0, 0.5]}\n")
        config = self.write("c.yaml", text)
        task, = json.loads(self.gpumc("plan", config, "--json").out)["tasks"]
        self.gpumc("run", config, "--quiet")
        with h5py.File(self.path("small.h5")) as file:
            stored = sum(item.size * item.dtype.itemsize for item in file["configurations"].values())
        self.assertEqual(stored, task["configuration_bytes"])
        text = self.gpumc("plan", config, "--set", "algorithm.beta={to: 0.5, overlap: 0.8}").out
        self.assertIn(" of it configurations, with steps chosen during the run\n", text)

    def test_rate_does_not_depend_on_what_else_runs(self):
        """A tiny job beside busy loops, one for each processor: the estimate of an idle machine, but for a factor of 10."""
        if os.cpu_count() > MOST_BUSY:
            self.skipTest(f"{os.cpu_count()} processors are too many to keep busy")
        config = self.write("c.yaml", SMALL)

        def rate():
            task, = json.loads(self.gpumc("plan", config, "--json").out)["tasks"]
            return task["estimated_updates_per_second"]

        idle = max(rate() for _ in range(3))
        for _ in range(os.cpu_count()):
            busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            self.addCleanup(busy.wait)
            self.addCleanup(busy.kill)
        for _ in range(3):
            self.assertGreater(rate(), idle / 10)

    def test_variant_asked_for(self):
        config = self.write("c.yaml", SMALL)
        text = self.gpumc("plan", config, "--device", "cpu", "--set",
                          "kernel.variant=spin").out
        self.assertIn("spin on cpu (requested by kernel.variant)", text)

    def test_population_that_does_not_fit(self):
        process = self.gpumc("plan", self.write("c.yaml", SMALL), "--set", "model.shape=[64, 64]",
                             "--set", "algorithm.population=2147483647", code=FAILURE)
        self.assertIn("it does not fit", process.out)
        self.assertIn("not enough memory", process.err)

    def test_more_than_integers_of_64_bits_count(self):
        """2^36 sites 2^31 - 1 times: 2^64 bytes, one bit a spin."""
        text = ("gpumc: 1\nseed: 1\nmodel: {name: ising2d, shape: [262144, 262144]}\nalgorithm: {name: canonical, "
                "beta: {values: [0.4]}, replicas: 2147483647, thermalization: 0, sweeps: 4000000000, interval: 1, "
                "configurations: {every: 1}}\nkernel: {device: cpu, variant: packed}\noutput: c.h5\n")
        task, = json.loads(self.gpumc("plan", self.write("c.yaml", text), "--json", code=FAILURE).out)["tasks"]
        bits = (2 ** 31 - 1) * 2 ** 33
        self.assertLess(abs(task["host_bytes"] / bits - 1), 0.01)
        self.assertAlmostEqual(task["configuration_bytes"] / (4e9 * bits), 1, 6)

    def test_device_that_is_not_there(self):
        """Refused where there are other GPUs; planned for where there is none."""
        process = self.start("plan", self.write("c.yaml", SMALL), "--device", MISSING)
        out, err = process.communicate(timeout=300)
        if process.returncode == DEVICE:
            self.assertIn(f"device {MISSING}: this machine has no such GPU", err)
        else:
            self.assertEqual(process.returncode, 0, err)
            self.assertIn("this machine has no GPU: --gpu NAME|SIZE", out)


class Plugins(ProgramCase):
    def test_list(self):
        text = self.gpumc("list").out
        for words in ["ising2d", "pa", "multispin", "spin", "no: cannot copy replicas", "yes"]:
            self.assertIn(words, text)

    def test_list_json(self):
        lists = json.loads(self.gpumc("list", "--json").out)
        model = next(m for m in lists["models"] if m["name"] == "ising2d")
        self.assertIn("multispin", [k["variant"] for k in model["kernels"]])
        for kernel in model["kernels"]:
            self.assertEqual(kernel["algorithms"]["pa"]["serves"],
                             kernel["algorithms"]["pa"]["missing"] == "")

    def test_describe_a_model(self):
        text = self.gpumc("describe", "ising2d").out
        for words in ["ising2d (model)", "shape", "required", "Observables", "abs_magnetization",
                      "multispin on cpu", "Citation:", "@article"]:
            self.assertIn(words, text)

    def test_kernels_say_what_they_take_in_json_too(self):
        text = self.gpumc("describe", "ising2d").out
        kernels = json.loads(self.gpumc("describe", "ising2d", "--json").out)["kernels"]
        self.assertEqual([line.partition("accepts: ")[2] for line in text.splitlines() if "accepts: " in line],
                         [kernel.get("takes") for kernel in kernels])

    def test_describe_an_algorithm(self):
        text = self.gpumc("describe", "pa").out
        for words in ["pa (algorithm)", "population", "10 to 2147483647", "in replicas",
                      "give exactly one of step, overlap, values", "nearest_integer | systematic", "default 10"]:
            self.assertIn(words, text)

    def test_describe_blocks_of_the_file(self):
        self.assertIn("seed", self.gpumc("describe", "config").out)
        self.assertIn("variant", self.gpumc("describe", "kernel").out)

    def test_describe_json(self):
        model = json.loads(self.gpumc("describe", "ising2d", "--json").out)
        self.assertIn("shape", [key["name"] for key in model["keys"]])
        algorithm = json.loads(self.gpumc("describe", "pa", "--json").out)
        beta = next(key for key in algorithm["keys"] if key["name"] == "beta")
        self.assertIn("overlap", [key["name"] for key in beta["children"]])

    def test_describe_an_unknown_name(self):
        process = self.gpumc("describe", "isng2d", code=INVALID)
        self.assertIn("did you mean 'ising2d'?", process.err)
        self.assertIn("known names: ", self.gpumc("describe", "qqqqqq", code=INVALID).err)

    def test_reference_page(self):
        text = self.gpumc("describe", "--markdown").out
        self.assertTrue(text.startswith("#"))
        self.assertIn("population", text)

    def test_schema(self):
        schema = json.loads(self.gpumc("schema").out)
        self.assertIn("draft-07", schema["$schema"])


class Info(ProgramCase):
    def test_of_a_result(self):
        self.gpumc("run", self.write("c.yaml", SMALL))
        text = self.gpumc("info", "small.h5").out
        for words in ["complete", "a small run", "population", "provenance", "git_commit",
                      "summary", "  beta  energy ", "in parentheses"]:
            self.assertIn(words, text)

    def test_json(self):
        self.gpumc("run", self.write("c.yaml", SMALL))
        info = json.loads(self.gpumc("info", "small.h5", "--json").out)
        self.assertTrue(info["complete"])
        self.assertEqual(info["config"]["algorithm"]["population"], 200)
        self.assertEqual(info["provenance"]["resumes"], 0)
        summary = info["summary"]
        self.assertEqual(len(summary["energy"]["values"]), len(summary["energy_error"]["values"]))

    def test_json_keeps_the_types_of_attributes(self):
        """Texts that begin like numbers: versions, dates, perhaps the commit."""
        self.gpumc("run", self.write("c.yaml", SMALL))
        with edited(self.path("small.h5"), libver="latest") as file:
            file["provenance"].attrs["git_commit"] = "7e4aec1"
            file["provenance"].attrs["big"] = np.int64(2**53 + 1)
            file["provenance"].attrs["none"] = float("nan")
            expected = attributes(file["provenance"])
        shown = json.loads(self.gpumc("info", "small.h5", "--json").out)["provenance"]
        self.assertIsNone(shown.pop("none"))
        self.assertEqual(shown.pop("git_commit"), "7e4aec1")
        self.assertEqual(shown.pop("big"), 2**53 + 1)
        for name, value in shown.items():
            self.assertEqual(value, expected[name])
            self.assertIs(type(value), type(expected[name]), name)

    def test_unknown_numbers_and_errors_are_question_marks(self):
        """NaN, which is what the file holds there, is a word of programmers."""
        self.gpumc("run", self.write("c.yaml", SMALL))
        with edited(self.path("small.h5")) as file:
            for name in "energy", "specific_heat_error":
                file[f"summary/{name}"][1] = np.copysign(np.nan, -1)
        text = self.gpumc("info", "small.h5").out
        self.assertRegex(text, r" \? ")
        self.assertIn("(?)", text)
        self.assertIn("? if unknown", text)
        _, heading, summary = text.partition("\nsummary")
        self.assertTrue(heading)
        self.assertNotIn("nan", summary)

    def test_thinned_table_says_so(self):
        self.gpumc("run", self.write("c.yaml", SMALL.replace("step: 0.05", "step: 0.01")))
        self.assertIn("(1 in 3 of 51 rows; --json shows all of them)",
                      self.gpumc("info", "small.h5").out)

    def test_of_an_unfinished_run(self):
        config = self.write("c.yaml", SMALL)
        self.gpumc("run", config, "--max-time", "1 ms", "--threads", 1, code=STOPPED)
        text = self.gpumc("info", "small.h5.partial").out
        for words in ["unfinished", "a small run", "host", "git_commit", "command_line", "start",
                      "device", "threads            1", "progress (rows so far"]:
            self.assertIn(words, text)
        self.assertNotIn("update_rate", text)
        self.assertRegex(text, r"(?m)^  run   rows +beta +energy")
        self.assertRegex(text, r"(?m)^  0000 +\d+  0[ .]")
        self.assertRegex(text, r"(?m)^  0001 +\d+  0[ .]")  # side by side with the first
        info = json.loads(self.gpumc("info", "small.h5.partial", "--json").out)
        self.assertFalse(info["complete"])
        self.assertEqual(info["provenance"]["threads"], 1)
        self.assertIn("--max-time", info["provenance"]["command_line"])
        first, second = info["progress"]
        self.assertGreater(first["rows"], 0)
        self.assertIn("energy", first["last_row"])
        self.assertEqual((second["run"], second["rows"]), ("0001", first["rows"]))
        self.assertIn("energy", second["last_row"])

    def test_of_a_run_that_has_not_begun(self):
        """With adaptive steps the first run is alone until all temperatures are known."""
        config = self.write("c.yaml", SMALL.replace("step: 0.05", "overlap: 0.8"))
        self.gpumc("run", config, "--max-time", "1 ms", code=STOPPED)
        self.assertRegex(self.gpumc("info", "small.h5.partial").out, r"(?m)^  0001 +0 +- +-")
        info = json.loads(self.gpumc("info", "small.h5.partial", "--json").out)
        first, second = info["progress"]
        self.assertGreater(first["rows"], 0)
        self.assertEqual((second["run"], second["rows"], second["last_row"]), ("0001", 0, {}))

    def test_of_a_run_that_goes_on(self):
        process = self.start("run", self.write("c.yaml", LONG))
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertTrue(wait_for(self.path("small.h5.partial"), process))
        info = json.loads(self.gpumc("info", "small.h5.partial", "--json").out)
        self.assertIn("host", info["provenance"])
        self.assertEqual(len(info["progress"]), 2)

    def test_of_what_is_no_result(self):
        self.write("thesis.txt", "no HDF5")
        self.assertIn("thesis.txt", self.gpumc("info", "thesis.txt", code=FAILURE).err)
        self.assertIn("missing.h5", self.gpumc("info", "missing.h5", code=FAILURE).err)


class Formats(ProgramCase):
    """docs/file-format.md names what is in the files."""

    def section(self, title):
        text = (pathlib.Path(__file__).resolve().parents[2] / "docs/file-format.md").read_text()
        return text.split(f"# {title}\n", 1)[1].split("\n#", 1)[0]

    def job(self, model, algorithm, kernel):
        return self.write("c.yaml", f"gpumc: 1\nseed: 3\nmodel: {{{model}}}\n"
                          f"algorithm: {{{algorithm}}}\nkernel: {{{kernel}}}\noutput: out.h5\n")

    def test_provenance(self):
        section = self.section("Provenance")
        self.write("couplings.txt", "shape 4 6 couplings " + "1 -1 " * 24)
        pa = "name: pa, population: 64, sweeps: 1, beta: {to: 0.2, step: 0.1}"
        canonical = "name: canonical, beta: {values: [0.4]}, sweeps: 640, thermalization: 64"
        for job in (("name: ea, shape: [4, 6], couplings: file, file: couplings.txt", pa, ""),
                    ("name: ising2d, shape: [64, 64]", canonical, "variant: tiled, generator: lcg32")):
            self.gpumc("run", self.job(*job), "--quiet", "--fresh")
            with h5py.File(self.path("out.h5")) as file:
                for name in file["provenance"].attrs:
                    self.assertIn(f"`{name}`", section)

    def test_checkpoint(self):
        section = self.section("The checkpoint")
        self.gpumc("run", self.write("c.yaml", LONG), "--max-time", "1 ms", code=STOPPED)
        begin = self.path("small.h5.ckpt").read_bytes()[:24]
        self.assertIn(f"| 16 | 4 | format version, {int.from_bytes(begin[16:20], 'little')};", section)
        with h5py.File(self.path("small.h5.ckpt")) as file:
            for name in file["run"]:
                self.assertIn(f"`run/{name}`", section)


class Status(ProgramCase):
    def states(self, config):
        report = json.loads(self.gpumc("status", config, "--json").out)
        return [task["state"] for task in report["tasks"]]

    def test_of_a_campaign(self):
        config = self.write("c.yaml", CAMPAIGN)
        self.assertEqual(self.states(config), ["not started"] * 3)
        self.gpumc("run", config, "--task", 0)
        self.gpumc("run", config, "--task", 1, "--max-time", "1 ms", code=STOPPED)
        self.write("out/3.h5.ckpt", "nonsense")
        self.gpumc("run", config, "--task", 2, code=FAILURE)
        self.assertEqual(self.states(config), ["done", "resumable", "failed"])
        text = self.gpumc("status", config).out
        self.assertIn("3 tasks: 1 done, 0 running, 1 resumable, 1 failed, 0 not started", text)
        self.assertIn("out/3.h5.ckpt", text)
        self.path("out/3.h5.ckpt").unlink()
        self.gpumc("run", config)
        self.assertEqual(self.states(config), ["done"] * 3)

    def test_of_a_running_task(self):
        config = self.write("c.yaml", LONG)
        process = self.start("run", config)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertTrue(wait_for(self.path("small.h5.partial"), process))
        self.assertEqual(self.states(config), ["running"])

    def test_of_a_killed_task(self):
        config = self.write("c.yaml", LONG)
        process = self.start("run", config, "--set", "checkpoint.every=1 ms")
        self.addCleanup(process.kill)
        self.assertTrue(wait_for(self.path("small.h5.ckpt"), process))
        process.kill()
        process.communicate()
        self.assertEqual(self.states(config), ["resumable"])


if __name__ == "__main__":
    cases.main()

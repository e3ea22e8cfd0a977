"""gpumc init: every pair of a model and an algorithm gets a configuration that is valid as it is and with any of its lines
that begin with # and a key; some are run; pairs that do not go together are refused, and no file is ever replaced.

CTest: methods 5 s
"""
import json
import os
import pathlib
import re
import sys

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases
from support.program import FAILURE, INVALID, ProgramCase

# Kernels whose lattices are larger than the examples, or whose keys of a pair cannot be at their defaults.
LARGER = {"packed": {"ising2d": "[64, 64]", "ising3d": "[64, 4, 4]"}}
OFFERED = re.compile(r"^( *)#([\w.]+: .*)$")


def pairs(program):
    """(model, algorithm, kernels of the CPU that serve the pair) of all pairs that some kernel serves."""
    listed = json.loads(program("list", "--json").out)
    for model in listed["models"]:
        for algorithm in listed["algorithms"]:
            kernels = [kernel["variant"] for kernel in model["kernels"]
                       if kernel["device"] == "cpu" and kernel["algorithms"][algorithm["name"]]["serves"]]
            if kernels:
                yield model["name"], algorithm["name"], kernels


class Init(ProgramCase):
    def example(self, *words):
        return self.gpumc("init", *words, "-o", "-").out

    def test_every_pair_and_kernel_is_valid(self):
        files = []
        for model, algorithm, kernels in pairs(self.gpumc):
            for kernel in ["auto", *kernels]:
                words = ["--set", f"kernel.variant={kernel}"]
                shape = LARGER.get(kernel, {}).get(model)
                if shape is not None:
                    words += ["--set", f"model.shape={shape}"]
                text = self.example(model, algorithm, *words)
                values = yaml.safe_load(text)
                self.assertEqual(values["model"]["name"], model)
                self.assertEqual(values["algorithm"]["name"], algorithm)
                self.assertEqual(values["kernel"]["variant"], kernel)
                files.append(self.write(f"{model}-{algorithm}-{kernel}.yaml", text))
        self.assertGreater(len(files), 20)
        self.gpumc("validate", *files)

    def test_every_line_may_lose_its_number_sign(self):
        files = []
        for model, algorithm, _ in pairs(self.gpumc):
            lines = self.example(model, algorithm).splitlines()
            offered = [i for i, line in enumerate(lines) if OFFERED.match(line)]
            self.assertGreater(len(offered), 5, f"{model} {algorithm}")
            for i in offered:
                changed = [OFFERED.sub(r"\1\2", line) if i == k else line for k, line in enumerate(lines)]
                files.append(self.write(f"{model}-{algorithm}-{i}.yaml", "\n".join(changed) + "\n"))
        self.gpumc("validate", *files)

    def test_what_is_explained(self):
        text = self.example("ising2d", "pa")
        for words in ["# Target size R of the population. Unit: replicas.\n  population: ",
                      "# Magnetic field. Unit: energy.\n  #h: 0.0\n", "  #reweight: {from: ", "#campaign: {seed: [1, 2, 3]}\n"]:
            self.assertIn(words, text)
        self.assertLessEqual(max(map(len, re.findall(r"(?m)^ *# .*$", text))), 120)

    def test_a_model_without_a_temperature_moves_its_pressure(self):
        control = yaml.safe_load(self.example("hard_disks", "pt"))["algorithm"]["control"]
        self.assertEqual(control["name"], "beta_pressure")
        self.assertNotIn("beta", control)

    def test_another_control_in_place_of_the_temperature(self):
        for algorithm in ["pa", "pt", "canonical", "muca"]:
            text = self.example("ising2d", algorithm, "--set", "algorithm.control.name=h")
            block = yaml.safe_load(text)["algorithm"]
            self.assertEqual(block["control"]["name"], "h")
            self.assertNotIn("beta", block)

    def test_first_pair_by_default(self):
        process = self.gpumc("init")
        name, = self.names()
        self.assertRegex(name, r"^ising2d-pa\.yaml$")
        self.assertEqual(process.out, "")
        self.assertIn(f"`gpumc run {name}`", process.err)
        self.assertEqual(self.path(name).read_text(), self.example("ising2d", "pa"))

    def test_some_run_and_give_a_result(self):
        for pair in ["ising2d pa", "ea pt", "hard_disks mpmc", "heisenberg canonical"]:
            with self.subTest(pair=pair):
                self.gpumc("init", *pair.split(), "-o", "c.yaml")
                self.gpumc("run", "c.yaml", "--quiet")
                result = self.path(f"results/{pair.replace(' ', '-')}-1.h5")
                self.assertTrue(json.loads(self.gpumc("info", result, "--json").out)["complete"])
                self.path("c.yaml").unlink()

    def test_values_that_are_set(self):
        text = self.example("ea", "pt", "--set", "model.shape=[8, 8]", "--set", "algorithm.replicas=4",
                            "--set", "algorithm.tune.sweeps=4000", "--set", "seed=7")
        values = yaml.safe_load(text)
        self.assertEqual(values["model"]["shape"], [8, 8])
        self.assertEqual((values["seed"], values["algorithm"]["replicas"]), (7, 4))
        self.assertEqual(values["algorithm"]["tune"]["sweeps"], 4000)


    def test_keys_that_are_left_out(self):
        text = self.example("ising2d", "pa", "--set", "algorithm.reweight=null", "--set", "kernel=null", "--set", "title=")
        values = yaml.safe_load(text)
        self.assertNotIn("kernel", values)
        self.assertNotIn("reweight:", text)
        self.assertEqual(values["title"], "")
        self.gpumc("validate", self.write("c.yaml", text))

    def test_temperatures_in_place_of_inverse_ones(self):
        for algorithm in ["pa", "pt", "canonical", "muca"]:
            for value in "temperature={values: [2.5, 2]}", "temperature.values=[2.5, 2]", "beta.values=[0.4, 0.5]":
                with self.subTest(algorithm=algorithm, value=value):
                    text = self.example("ising2d", algorithm, "--set", f"algorithm.{value}")
                    key = value.split("=")[0].split(".")[0]
                    block = yaml.safe_load(text)["algorithm"]
                    self.assertEqual({"beta", "temperature"} & set(block), {key})
                    self.assertEqual(len(block[key]["values"]), 2)
                    self.gpumc("validate", self.write("c.yaml", text))
        control = yaml.safe_load(self.example("ising2d", "pt", "--set", "algorithm.control.name=h",
                                              "--set", "algorithm.control.temperature=2.5"))["algorithm"]["control"]
        self.assertEqual(control["temperature"], 2.5)
        self.assertNotIn("beta", control)


class Refusals(ProgramCase):
    def refused(self, *words, says, code=INVALID):
        process = self.gpumc("init", *words, code=code)
        self.assertIn(says, process.err)
        self.assertEqual((process.out, self.names()), ("", []))

    def test_pairs_that_do_not_go_together_name_those_that_do(self):
        self.refused("ising2d", "mpmc", says="it runs with pa, canonical, pt, muca; mpmc runs hard_disks")
        self.refused("hard_disks", "muca", says="it runs with pa, canonical, mpmc, pt; muca runs ising2d, ")
        allowed = {(model, algorithm) for model, algorithm, _ in pairs(self.gpumc)}
        listed = json.loads(self.gpumc("list", "--json").out)
        for model in listed["models"]:
            for algorithm in listed["algorithms"]:
                pair = model["name"], algorithm["name"]
                if pair not in allowed:
                    self.gpumc("init", *pair, "-o", "-", code=INVALID)

    def test_names(self):
        self.refused("isng2d", "pa", says="unknown model 'isng2d'; did you mean 'ising2d'?")
        self.refused("ising2d", "canonicl", says="did you mean 'canonical'?")
        self.refused("xyzzy", "pa", says="unknown model 'xyzzy'; choose one of ising2d, ")
        self.refused("ising2d", says="no algorithm given; model ising2d runs with pa, ")
        self.refused("ising2d", "pa", "pt", says="not 'pt' as well")

    def test_values_that_are_wrong(self):
        self.refused("ising2d", "pa", "--set", "model.shape=[3, 3]", says="--set model.shape=[3, 3]:")
        self.refused("ising2d", "pa", "--set", "model.shpe=[4, 4]", says="unknown key 'model.shpe'")
        self.refused("ising2d", "pa", "--set", "kernel.variant=double", says="double")
        for assignment, says in [("model.shape=[3,", "not valid YAML"), ("title=a: b", "in quotes or braces"),
                                 ("seed=null", "the key is required"), ("algorithm.beta=null", "missing key 'beta' or 'temperature' in algorithm"),
                                 ("model.h=x", "expected a number")]:
            self.refused("ising2d", "pa", "--set", assignment, says=f"--set {assignment}:")
            self.refused("ising2d", "pa", "--set", assignment, says=says)
        self.refused("ising2d", "pa", "--set", "algorithm.beta={to: 1, step: 0.1}", "--set", "algorithm.beta.to=2",
                     says="--set algorithm.beta.to=2: 'algorithm.beta' is set as a whole as well")

    def test_a_file_is_never_replaced(self):
        self.write("c.yaml", "mine\n")
        process = self.gpumc("init", "ising2d", "pa", "-o", "c.yaml", code=FAILURE)
        self.assertIn("c.yaml: already exists", process.err)
        self.assertEqual(self.path("c.yaml").read_text(), "mine\n")
        os.symlink("nowhere", self.path("link.yaml"))
        self.gpumc("init", "ising2d", "pa", "-o", "link.yaml", code=FAILURE)
        self.assertFalse(self.path("nowhere").exists())

    def test_what_is_no_regular_file(self):
        os.mkfifo(self.path("fifo"))
        self.assertIn("not a regular file but a FIFO", self.gpumc("init", "ising2d", "pa", "-o", "fifo", code=FAILURE).err)

    def test_a_folder_that_cannot_be_made(self):
        self.write("file", "")
        self.assertIn("file", self.gpumc("init", "ising2d", "pa", "-o", "file/c.yaml", code=FAILURE).err)


if __name__ == "__main__":
    cases.main()

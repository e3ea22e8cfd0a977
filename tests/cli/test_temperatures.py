"""Temperatures take the place of inverse temperatures: in every algorithm and every form, with the same bits.

CTest: methods 6 s
"""
import json
import pathlib
import sys

import h5py
import jsonschema
import numpy as np
import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases
from support.gpumc_program import numeric_datasets, resolved, run_config, summary
from support.program import INVALID, LONG, ProgramCase

HEAD = """\
gpumc: 1
seed: 5
model: {model}
algorithm: {{{algorithm}}}
output: {output}
"""
ISING, DISKS = "{name: ising2d, shape: [8, 8]}", "{name: hard_disks, lattice: [6, 6], packing_fraction: 0.3}"
CANONICAL = "name: canonical, thermalization: 20, sweeps: 200, replicas: 32"
PT = "name: pt, samples: 8, sweeps: 200"
PA = "name: pa, population: 200, sweeps: 2"
MUCA = "name: muca, walkers: 64, production: {updates: 20000}"
H = "name: h, from: -0.5, to: 0.5, count: 3"


def inverse(*temperatures):
    """A list of 1/T as YAML has it, each in the digits that give it back."""
    return "[" + ", ".join(repr(1 / t) for t in temperatures) + "]"


# (temperatures, the same as inverse temperatures): two configurations of which every number is the same.
SAME = [
    (f"{CANONICAL}, temperature: {{values: 2.0}}", f"{CANONICAL}, beta: {{values: 0.5}}"),
    (f"{CANONICAL}, temperature: {{values: [3.3, 2.269, 1.7]}}", f"{CANONICAL}, beta: {{values: {inverse(3.3, 2.269, 1.7)}}}"),
    (f"{CANONICAL}, temperature: {{values: [1.7, 2.269, 3.3]}}", f"{CANONICAL}, beta: {{values: {inverse(3.3, 2.269, 1.7)}}}"),
    (f"{CANONICAL}, temperature: {{from: 4, to: 1.6, count: 4}}", f"{CANONICAL}, beta: {{from: 0.25, to: 0.625, count: 4}}"),
    (f"{CANONICAL}, temperature: {{from: 1.6, to: 4, count: 4, spacing: geometric}}",
     f"{CANONICAL}, beta: {{from: 0.25, to: 0.625, count: 4, spacing: geometric}}"),
    (f"{CANONICAL}, temperature: {{from: 3, to: 1, count: 5, spacing: linear}}",
     f"{CANONICAL}, beta: {{values: {inverse(3, 2.5, 2, 1.5, 1)}}}"),
    (f"{CANONICAL}, temperature: {{from: 3, to: 1.4, step: 0.5}}", f"{CANONICAL}, beta: {{values: {inverse(3, 2.5, 2, 1.5)}}}"),
    (f"{CANONICAL}, temperature: {{from: 1.4, to: 3, step: 0.5}}",
     f"{CANONICAL}, beta: {{values: {inverse(1.4 + 1.5, 1.4 + 1, 1.4 + 0.5, 1.4)}}}"),
    (f"{CANONICAL}, temperature: {{values: [2.5, 2]}}, reweight_temperature: {{from: 2.5, to: 2, step: 0.25}}",
     f"{CANONICAL}, beta: {{values: [0.4, 0.5]}}, reweight: {{values: {inverse(2.5, 2.25, 2)}}}"),
    (f"{CANONICAL}, temperature: {{values: [2.5, 2]}}, reweight_temperature: {{values: [2.1, 2.3]}}",
     f"{CANONICAL}, beta: {{values: [0.4, 0.5]}}, reweight: {{values: {inverse(2.3, 2.1)}}}"),
    (f"{CANONICAL}, control: {{{H}, temperature: 3.0}}", f"{CANONICAL}, control: {{{H}, beta: {1 / 3.0!r}}}"),
    (f"{CANONICAL}, update: heat_bath, temperature: {{values: [.inf, 2]}}", f"{CANONICAL}, update: heat_bath, beta: {{values: [0, 0.5]}}"),
    (f"{PT}, temperature: {{values: [4, 3, 2]}}", f"{PT}, beta: {{values: {inverse(4, 3, 2)}}}"),
    (f"{PT}, temperature: {{from: 4, to: 2, count: 4}}", f"{PT}, beta: {{from: 0.25, to: 0.5, count: 4}}"),
    (f"{PT}, temperature: {{from: 4, to: 2, step: 0.5}}", f"{PT}, beta: {{values: {inverse(4, 3.5, 3, 2.5, 2)}}}"),
    (f"{PT}, control: {{{H}, temperature: 3.0}}", f"{PT}, control: {{{H}, beta: {1 / 3.0!r}}}"),
    (f"{PA}, temperature: {{values: [4, 3, 2]}}", f"{PA}, beta: {{values: {inverse(4, 3, 2)}}}"),
    (f"{PA}, temperature: {{from: 4, to: 1.9, step: 0.5}}", f"{PA}, beta: {{values: {inverse(4, 3.5, 3, 2.5, 2, 1.9)}}}"),
    (f"{PA}, temperature: {{from: 4, to: 2, overlap: 0.7}}", f"{PA}, beta: {{from: 0.25, to: 0.5, overlap: 0.7}}"),
    (f"{PA}, temperature: {{to: 2, overlap: 0.7}}", f"{PA}, beta: {{to: 0.5, overlap: 0.7}}"),
    (f"{PA}, temperature: {{from: .inf, to: 2, overlap: 0.7}}", f"{PA}, beta: {{from: 0, to: 0.5, overlap: 0.7}}"),
    (f"{PA}, temperature: {{values: [4, 2]}}, reweight_temperature: {{from: 4, to: 2, step: 1}}, configurations: {{temperatures: [4, 2]}}",
     f"{PA}, beta: {{values: [0.25, 0.5]}}, reweight: {{values: {inverse(4, 3, 2)}}}, configurations: {{betas: [0.25, 0.5]}}"),
    (f"{PA}, control: {{{H.replace('count: 3', 'step: 0.25')}, thermalization: 5, temperature: 3.0}}",
     f"{PA}, control: {{{H.replace('count: 3', 'step: 0.25')}, thermalization: 5, beta: {1 / 3.0!r}}}"),
    (f"{MUCA}, temperature: {{from: 3, to: 2, step: 0.5}}", f"{MUCA}, beta: {{values: {inverse(3, 2.5, 2)}}}"),
    (f"{MUCA}, temperature: {{values: [2, 3]}}", f"{MUCA}, beta: {{values: {inverse(3, 2)}}}"),
    (f"{MUCA}, control: {{name: h, from: -0.5, to: 0.5, step: 0.5, temperature: 3.0}}",
     f"{MUCA}, control: {{name: h, from: -0.5, to: 0.5, step: 0.5, beta: {1 / 3.0!r}}}"),
]

# (what the message says, where it stands in the line of the algorithm, the algorithm's block).
MISTAKES = [
    ("'beta' and 'temperature' in algorithm exclude each other: leave out one of them", "temperature:",
     f"{CANONICAL}, beta: {{values: 0.5}}, temperature: {{values: 2}}"),
    ("'beta' and 'temperature' in algorithm.control exclude each other", "temperature:",
     f"{CANONICAL}, control: {{{H}, beta: 0.5, temperature: 2}}"),
    ("'reweight' and 'reweight_temperature' in algorithm exclude each other", "reweight_temperature:",
     f"{CANONICAL}, beta: {{values: 0.5}}, reweight: {{values: 0.5}}, reweight_temperature: {{values: 2}}"),
    ("'betas' and 'temperatures' in algorithm.configurations exclude each other", "temperatures:",
     f"{PA}, beta: {{values: 0.5}}, configurations: {{betas: 0.5, temperatures: 2}}"),
    ("algorithm.temperature.values: expected a list of 1 to 65535 ascending or descending values, each a number of at least "
     "1e-06, or .inf, found the number 0", "0}", f"{CANONICAL}, temperature: {{values: 0}}"),
    ("algorithm.temperature.from: expected a number of at least 1e-06, or .inf, found the number -2", "-2", f"{CANONICAL}, temperature: {{from: -2, to: 1, count: 3}}"),
    ("algorithm.temperature.values: expected descending values, but 3 is not below 2", "3]", f"{CANONICAL}, temperature: {{values: [4, 2, 3]}}"),
    ("algorithm.temperature, as beta = 1/T: at beta = 0 Metropolis", "[.inf", f"{CANONICAL}, temperature: {{values: [.inf, 3]}}"),
    ("algorithm.control.temperature: expected a number of at least 1e-06, found .inf, which is not a finite number", ".inf", f"{CANONICAL}, control: {{{H}, temperature: .inf}}"),
    ("temperature.from = 2 must differ from temperature.to = 2", "2, to", f"{CANONICAL}, temperature: {{from: 2, to: 2, count: 3}}"),
    ("temperature.count needs both temperature.from and temperature.to", "3}", f"{CANONICAL}, temperature: {{from: 2, count: 3}}"),
    ("temperature.from: temperature.count needs a finite temperature", ".inf", f"{CANONICAL}, temperature: {{from: .inf, to: 2, count: 3}}"),
    ("temperature.spacing: temperature.step makes equal steps; leave out temperature.spacing", "linear",
     f"{CANONICAL}, temperature: {{from: 2, to: 1, step: 0.1, spacing: linear}}"),
    ("temperature.from: temperature.values holds all temperatures; leave out temperature.from", "5}", f"{CANONICAL}, temperature: {{values: 2, from: 5}}"),
    ("temperature.step gives 1000000001 temperatures, and at most 65535 are possible", "1.0e-9", f"{CANONICAL}, temperature: {{from: 2, to: 1, step: 1.0e-9}}"),
    ("temperature.step gives 1 temperature, and at least 2 are needed", "0.2", f"{PT}, temperature: {{from: 2, to: 1.9, step: 0.2}}"),
    ("algorithm.temperature.step: expected a number greater than 0, found the number -0.1", "-0.1", f"{CANONICAL}, temperature: {{from: 2, to: 1, step: -0.1}}"),
    ("algorithm.temperature: expected a block of keys, found the number 2", "2", "name: canonical, thermalization: 0, sweeps: 100, temperature: 2"),
    ("unknown key 'temprature' in algorithm; did you mean 'temperature'?", "temprature", f"{CANONICAL}, temprature: {{values: 2}}"),
    ("unknown key 'value' in algorithm.temperature; did you mean 'values'?", "value:", f"{CANONICAL}, temperature: {{value: 2}}"),
    ("'temperature' and 'control' exclude each other", "{name: h", f"{CANONICAL}, temperature: {{values: 2}}, control: {{{H}, beta: 2}}"),
    ("algorithm.configurations.temperatures, as beta = 1/T: 0.4 is not one of the 3 inverse temperatures", "2.5",
     f"{PA}, temperature: {{values: [4, 2]}}, configurations: {{temperatures: 2.5}}"),
    ("algorithm.reweight_temperature, as beta = 1/T: the grid 0.25 .. 1 must ascend and end at or below", "{from: 1",
     f"{PA}, temperature: {{values: [4, 2]}}, reweight_temperature: {{from: 1, to: 4, step: 1}}"),
    ("temperature.step needs both temperature.from and temperature.to", "0.5}", f"{PA}, temperature: {{to: 2, step: 0.5}}"),
    ("algorithm.temperature.to: expected a number of at least 1e-06, found .inf, which is not a finite number", ".inf", f"{PA}, temperature: {{to: .inf, overlap: 0.5}}"),
    ("missing key 'to' in algorithm.temperature", "temperature:", f"{MUCA}, temperature: {{from: 1, step: 0.5}}"),
    ("give exactly one of 'step', 'values' in algorithm.temperature", "temperature:", f"{MUCA}, temperature: {{from: 1, to: 2}}"),
    ("temperature: neighbours near T = 1.9999999999999996 have the same inverse", "[1.9",
     f"{CANONICAL}, temperature: {{values: [1.9999999999999998, 1.9999999999999996]}}"),
]


CAMPAIGN = f"""\
{HEAD.format(model=ISING, algorithm=PA + ", beta: {to: 1, step: 0.1}", output='"r-{algorithm.beta.to}-{seed}.h5"')}campaign:
  algorithm.beta.to: [0.5, 0.4]
  seed: [1, 2]
"""


class Labels(ProgramCase):
    """The names of tasks in `gpumc plan` and `gpumc status`, as inverse temperatures and with -T."""

    def labels(self, command, config, *options):
        return [task["label"] for task in json.loads(self.gpumc(command, config, "--json", *options).out)["tasks"]]

    def test_labels(self):
        config = self.write("c.yaml", CAMPAIGN)
        for command in "plan", "status":
            with self.subTest(command):
                self.assertEqual(self.labels(command, config), [f"algorithm.beta.to={beta} seed={seed}" for beta in ("0.5", "0.4") for seed in (1, 2)])
                self.assertEqual(self.labels(command, config, "-T"),
                                 [f"algorithm.temperature.to={t} seed={seed}" for t in ("2", "2.5") for seed in (1, 2)])
                self.assertIn("algorithm.temperature.to=2.5 seed=1", self.gpumc(command, config, "--temperature").out)

    def test_lists_and_what_is_no_temperature(self):
        ladder = HEAD.format(model=ISING, algorithm=f"{CANONICAL}, update: heat_bath, HERE", output='"{seed}.h5"')
        for block, key, values, label in (
                ("beta: {values: [1]}", "beta.values", "[[0.25, 0.5], [0, 0.5]]", ["temperature.values=[4,2]", "temperature.values=[.inf,2]"]),
                ("beta: {from: 0.1, to: 1, step: 0.1}", "beta.step", "[0.1, 0.2]", ["beta.step=0.1", "beta.step=0.2"]),
                ("temperature: {from: 2, to: 1, count: 3}", "temperature.to", "[1, 0.5]", ["temperature.to=1", "temperature.to=0.5"]),
                (f"control: {{{H}, beta: 0.5}}", "control.beta", "[0.5, 0.25]", ["control.temperature=2", "control.temperature=4"]),
                (f"control: {{{H}, beta: 0.5}}", "control.count", "[3, 4]", ["control.count=3", "control.count=4"])):
            with self.subTest(key):
                text = ladder.replace("HERE", block).replace("{seed}.h5", "{algorithm." + key + "}.h5")
                config = self.write("c.yaml", f"{text}campaign:\n  algorithm.{key}: {values}\n")
                self.assertEqual(self.labels("status", config, "-T"), [f"algorithm.{one}" for one in label])


class Temperatures(ProgramCase):
    def run_one(self, name, algorithm, model=ISING):
        path = self.path(f"{name}.h5")
        run_config(HEAD.format(model=model, algorithm=algorithm, output=path), self.directory)
        return path

    def test_same_numbers(self):
        """Results do not tell which way temperatures were given, but for the text of the configuration."""
        for i, (temperature, beta) in cases.of(enumerate(SAME)):
            with self.subTest(temperature=temperature):
                one, other = self.run_one(f"t{i}", temperature), self.run_one(f"b{i}", beta)
                mine, its = resolved(one), resolved(other)
                mine.pop("output"), its.pop("output")
                self.assertEqual(json.dumps(mine), json.dumps(its))
                self.assertNotIn("temperature", mine["algorithm"])
                mine, its = numeric_datasets(one), numeric_datasets(other)
                self.assertEqual(mine, its)
                self.assertGreater(len(mine), 5)

    def test_another_temperature_is_seen(self):
        """The control: a temperature that differs in its last digit changes what is compared above."""
        one = self.run_one("t", f"{CANONICAL}, temperature: {{values: 2.0000000000000004}}")
        other = self.run_one("b", f"{CANONICAL}, beta: {{values: 0.5}}")
        self.assertNotEqual(summary(one)["beta"][0], summary(other)["beta"][0])

    def test_the_source_stays(self):
        path = self.run_one("t", SAME[0][0])
        with h5py.File(path) as file:
            self.assertIn("temperature: {values: 2.0}", file["config/source"].asstr()[()])

    def test_every_inverse_is_rounded_once(self):
        """Of many temperatures, each inverse temperature is 1/T as doubles have it."""
        temperatures = sorted(float(t) for t in np.random.default_rng(3).uniform(0.5, 9, 300))
        path = self.run_one("t", "name: canonical, thermalization: 0, sweeps: 16, replicas: 1, temperature: {values: %s}" % temperatures)
        self.assertEqual(summary(path)["beta"].tolist(), [1 / t for t in temperatures[::-1]])

    def test_whole_steps_end_at_to(self):
        """Whatever the rounding of the steps, so that a grid to reweight to may have the ends of the run's temperatures."""
        for step in (0.1, 0.3, 0.05, 0.75, 0.015):
            grid = f"{{from: 4, to: 1, step: {step}}}"
            beta = summary(self.run_one(f"c{step}", f"{CANONICAL}, temperature: {grid}"))["beta"]
            self.assertEqual((beta[0], beta[-1], len(beta)), (0.25, 1.0, round(3 / step) + 1))
            path = self.write("pa.yaml", HEAD.format(model=ISING, output="pa.h5",
                                                     algorithm=f"{PA}, temperature: {grid}, reweight_temperature: {grid}"))
            self.gpumc("validate", path)

    def test_mistakes(self):
        for words, place, algorithm in MISTAKES:
            with self.subTest(algorithm=algorithm):
                line = f"algorithm: {{{algorithm}}}"
                text = HEAD.format(model=ISING, algorithm=algorithm, output="x.h5")
                process = self.gpumc("validate", self.write("c.yaml", text), code=INVALID)
                self.assertIn(words, process.err)
                self.assertEqual(process.err.count("c.yaml:"), 1, process.err)
                column = int(process.err.split("c.yaml:")[1].split(":")[1])
                self.assertEqual(process.err.split("c.yaml:")[1].split(":")[0], "4")
                self.assertTrue(line[column - 1:].startswith(place), f"{line[column - 1:]}\n{process.err}")

    def test_models_without_temperature(self):
        text = HEAD.format(model=DISKS, algorithm=f"{CANONICAL}, temperature: {{values: 2}}", output="x.h5")
        process = self.gpumc("validate", self.write("c.yaml", text), code=INVALID)
        self.assertIn("model hard_disks has no temperature: use control", process.err)

    def test_campaigns(self):
        """Temperatures are axes of campaigns: in labels, in the names of files, and in --set."""
        text = HEAD.format(model=ISING, algorithm=CANONICAL, output="'{algorithm.temperature.values}.h5'")
        config = self.write("c.yaml", text + "campaign:\n  algorithm.temperature.values: [[3, 2], 2.5]\n")
        process = self.gpumc("plan", config)
        self.assertIn("algorithm.temperature.values=[3,2]", process.out)
        self.gpumc("run", config, "--quiet")
        self.assertEqual(self.names("*.h5"), ["2.5.h5", "3x2.h5"])
        self.assertEqual(summary(self.path("3x2.h5"))["beta"].tolist(), [1 / 3, 1 / 2])
        self.assertEqual(summary(self.path("2.5.h5"))["beta"].tolist(), [1 / 2.5])
        self.assertIn("algorithm.temperature.values", self.gpumc("status", config).out)
        process = self.gpumc("plan", config, "--set", "algorithm.beta.values=2", code=INVALID)
        self.assertIn("'beta' and 'temperature' in algorithm exclude each other", process.err)
        text = HEAD.format(model=ISING, algorithm=f"{CANONICAL}, control: {{{H}}}", output="'{algorithm.control.temperature}.h5'")
        config = self.write("d.yaml", text + "campaign:\n  algorithm.control.temperature: [3, 2]\n")
        self.gpumc("run", config, "--quiet")
        self.assertEqual([resolved(self.path(f"{t}.h5"))["algorithm"]["control"]["beta"] for t in (3, 2)], [1 / 3, 0.5])
        text = HEAD.format(model=ISING, algorithm=f"{CANONICAL}, temperature: {{from: 3, to: 1}}", output="'{algorithm.temperature.to}.h5'")
        config = self.write("e.yaml", text + "campaign:\n  algorithm.temperature.count: 3\n  algorithm.temperature.to: [1.5, 1]\n")
        self.gpumc("run", config, "--quiet")
        self.assertEqual(summary(self.path("1.5.h5"))["beta"].tolist()[-1], 1 / 1.5)

    def test_resumed_either_way(self):
        """A run that began with temperatures goes on with inverse ones, since the numbers are the same."""
        long = "name: canonical, thermalization: 100, sweeps: 200000, replicas: 32, %s"
        config = self.write("c.yaml", HEAD.format(model=ISING, algorithm=long % "temperature: {values: 2}", output="x.h5"))
        other = self.write("d.yaml", HEAD.format(model=ISING, algorithm=long % "beta: {values: 0.5}", output="x.h5"))
        self.assertTrue(self.one_unit(config))
        self.gpumc("run", other, "--quiet")
        self.assertIn("complete", self.gpumc("run", config).err)

    def test_info(self):
        """Tables show temperatures on request, of finished results and of working files."""
        path = self.run_one("t", f"{CANONICAL}, temperature: {{values: [2.5, 2]}}, reweight_temperature: {{values: [2.4, 2.1]}}")
        plain = json.loads(self.gpumc("info", path, "--json").out)["summary"]
        found = json.loads(self.gpumc("info", path, "--json", "-T").out)["summary"]
        self.assertEqual(found["temperature"]["values"], [1 / 0.4, 2])
        self.assertEqual(found["temperature"]["units"], "J")
        self.assertEqual(found["reweighted/from_temperature"]["values"], [2.5, 2])
        names = [name.replace("temperature", "beta") for name in found]
        self.assertEqual(names, list(plain))
        self.assertEqual(found["energy"], plain["energy"])
        self.assertNotIn("temperature", plain)
        lines = self.gpumc("info", path, "--temperature").out.splitlines()
        self.assertTrue(any(line.split()[:3] == ["temperature", "energy", "specific_heat"] for line in lines))
        self.assertTrue(any(line.split()[:1] == ["2.5"] for line in lines))
        config = self.write("c.yaml", LONG)
        self.assertTrue(self.one_unit(config))
        run = json.loads(self.gpumc("info", "small.h5.partial", "--json", "-T").out)["progress"][0]
        self.assertEqual(run["columns"][0]["name"], "temperature")
        self.assertIn("temperature", run["last_row"])
        self.assertNotIn("beta", run["last_row"])

    def test_described(self):
        out = self.gpumc("describe", "canonical").out
        self.assertIn("temperature  (block)", out)
        self.assertIn("equal steps of T (linear)", out)
        validator = jsonschema.Draft7Validator(json.loads(self.gpumc("schema").out))
        for algorithms, right in (([t for pair in SAME for t in pair], True),
                                  ([m[2] for m in MISTAKES[:6]], False)):
            for algorithm in algorithms:
                config = yaml.safe_load(HEAD.format(model=ISING, algorithm=algorithm, output="x.h5"))
                errors = [e.message for e in validator.iter_errors(config)]
                self.assertEqual(not errors, right, (algorithm, errors))


if __name__ == "__main__":
    cases.main()

"""The command line itself: help, version, mistakes, exit code 2 and the nearest name.

CTest: first
"""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.program import INVALID, SMALL, ProgramCase

COMMANDS = ["init", "run", "validate", "plan", "list", "describe", "schema", "merge", "info", "status", "submit",
            "bench", "doctor", "completion", "man"]

HUGE = """\
gpumc: 1
seed: 1
model: {name: ising2d, shape: [131072, 131072]}
algorithm: {name: canonical, thermalization: 2, sweeps: 8, beta: {values: [0.1]}}
kernel: {device: cpu, variant: packed}
output: huge.h5
"""


class Help(ProgramCase):
    def test_program_help_lists_every_command(self):
        text = self.gpumc("--help").out
        for command in COMMANDS:
            self.assertRegex(text, rf"\n  {command} +\w")

    def test_every_command_has_help_with_an_example(self):
        for command in COMMANDS:
            with self.subTest(command=command):
                process = self.gpumc(command, "--help")
                self.assertIn(f"Usage: gpumc {command}", process.out)
                self.assertIn("Example", process.out)
                self.assertEqual(process.err, "")

    def test_help_of_a_command_by_the_word(self):
        self.assertEqual(self.gpumc("help").out, self.gpumc("--help").out)
        for command in COMMANDS:
            self.assertEqual(self.gpumc("help", command).out, self.gpumc(command, "--help").out)
        self.assertIn("did you mean 'run'?", self.gpumc("help", "rnu", code=INVALID).err)

    def test_version(self):
        self.assertRegex(self.gpumc("--version").out, r"^gpumc \d+\.\d+\.\d+ \(.*HDF5 \d")


class Mistakes(ProgramCase):
    def check(self, *arguments, says):
        process = self.gpumc(*arguments, code=INVALID)
        self.assertTrue(process.err.startswith("gpumc: error: "), process.err)
        self.assertIn(says, process.err)
        self.assertEqual(process.out, "")

    def test_no_command(self):
        self.check(says="no command given")

    def test_unknown_command_names_the_nearest(self):
        self.check("rnu", says="unknown command 'rnu'; did you mean 'run'?")
        self.check("frobnicate", says="unknown command 'frobnicate'")

    def test_unknown_global_option(self):
        self.check("--versoin", says="unknown option '--versoin'; did you mean '--version'?")

    def test_unknown_option_names_the_nearest(self):
        config = self.write("c.yaml", SMALL)
        self.check("run", config, "--frehs", says="unknown option '--frehs'; did you mean '--fresh'?")
        self.check("run", config, "-x", says="unknown option '-x'")

    def test_option_without_its_value(self):
        self.check("run", "c.yaml", "--set", says="option '--set' needs a value (KEY=VALUE)")
        self.check("run", "c.yaml", "-o", says="option '-o' needs a value (FILE)")

    def test_option_with_a_value_it_does_not_take(self):
        self.check("run", "c.yaml", "--fresh=yes", says="option '--fresh' takes no value")

    def test_missing_arguments(self):
        for command in ["run", "plan", "status", "validate"]:
            self.check(command, says="no configuration file given")
        self.check("info", says="no result file given")
        self.check("describe", says="no name given")

    def test_too_many_arguments(self):
        self.check("run", "a.yaml", "b.yaml", says="one configuration at a time")
        self.check("list", "all", says="unexpected argument")
        self.check("schema", "all", says="unexpected argument")
        self.check("bench", "all", says="unexpected argument")
        self.check("doctor", "all", says="unexpected argument")

    def test_values_that_are_none(self):
        self.check("run", "c.yaml", "--threads", "many", says="--threads must be an integer")
        self.check("run", "c.yaml", "--threads", "0", says="--threads must be an integer from 1")
        self.check("run", "c.yaml", "--max-time", "11", says="--max-time must be a duration")
        self.check("run", "c.yaml", "--task", "-1", says="--task must be a non-negative integer")
        self.check("run", "c.yaml", "--set", "seed", says="--set must be KEY=VALUE")

    def test_hint_at_help(self):
        self.assertIn("Try 'gpumc run --help'.", self.gpumc("run", code=INVALID).err)


class Validate(ProgramCase):
    def test_good_files(self):
        one, three = self.write("a.yaml", SMALL), self.write(
            "b.yaml", SMALL.replace("small.h5", "out/{seed}.h5") + "campaign: {seed: [1, 2, 3]}\n")
        process = self.gpumc("validate", one, three)
        self.assertEqual(process.out, f"{one}: ok (1 task)\n{three}: ok (3 tasks)\n")
        self.assertEqual(process.err, "")

    def test_all_mistakes_of_all_files(self):
        good = self.write("good.yaml", SMALL)
        bad = self.write("bad.yaml", SMALL.replace("population: 200", "popluation: 200")
                         .replace("sweeps: 2", "sweeps: -2"))
        worse = self.write("worse.yaml", SMALL.replace("ising2d", "isng2d"))
        process = self.gpumc("validate", bad, good, worse, code=INVALID)
        self.assertEqual(process.out, f"{good}: ok (1 task)\n")
        lines = process.err.splitlines()
        self.assertTrue(any(line.startswith(f"{bad}:9:3: ") and "population" in line
                            for line in lines), process.err)
        self.assertTrue(any(line.startswith(f"{bad}:10:") for line in lines), process.err)
        self.assertTrue(any(line.startswith(f"{worse}:5:") and "ising2d" in line
                            for line in lines), process.err)

    def test_overrides_are_checked(self):
        config = self.write("c.yaml", SMALL)
        process = self.gpumc("validate", config, "--set", "algorithm.population=0", code=INVALID)
        self.assertIn("--set algorithm.population=0", process.err)

    def test_what_only_an_instance_of_the_model_tells(self):
        reweight = "  reweight: {from: 0.1, to: 0.5, step: 0.1}\n"
        field = self.write("field.yaml", SMALL.replace("[8, 8]", "[8, 8]\n  h: 0.123456789")
                           .replace("  runs: 2\n", "  runs: 2\n" + reweight))
        process = self.gpumc("validate", field, code=INVALID)
        self.assertRegex(process.err, rf"^{field}:14:13: reweight needs a model with a discrete")
        self.assertEqual(len(process.err.splitlines()), 1, process.err)
        self.gpumc("validate", field, "--set", "algorithm.reweight=null")
        self.gpumc("validate", field, "--set", "model.h=null")
        large = self.write("large.yaml", SMALL.replace("[8, 8]", "[65536, 65536]"))
        process = self.gpumc("validate", large, code=INVALID)
        self.assertRegex(process.err, rf"^{large}:9:15: 200 replicas of 4294967296 sites are too "
                         "many")

    def test_huge_lattices(self):
        huge = self.write("huge.yaml", HUGE)
        self.gpumc("validate", huge)
        process = self.gpumc("validate", huge, "--set", "kernel.variant=multispin", code=INVALID)
        self.assertIn("there are more than 2^32", process.err)
        process = self.gpumc("validate", huge, "--set", "model.shape=[1048576, 1048576]",
                             code=INVALID)
        self.assertIn("lattices must have fewer than 2^37", process.err)

    def test_what_a_campaign_makes_impossible_is_told_once(self):
        config = self.write("c.yaml", SMALL.replace("[8, 8]", "[16384, 16384]")
                            .replace("small.h5", "o-{seed}-{algorithm.population}.h5")
                            + "campaign:\n  seed: [1, 2]\n  algorithm.population: [10, 32768]\n")
        process = self.gpumc("validate", config, code=INVALID)
        self.assertRegex(process.err, rf"^{config}:16:30: 32768 replicas")
        self.assertEqual(len(process.err.splitlines()), 1, process.err)

    def test_mistakes_of_different_blocks_at_once(self):
        config = self.write("c.yaml", SMALL.replace("seed: 11", "seed: 0x10")
                            .replace("from: 0.0, to: 0.5", "from: 2, to: 1")
                            .replace("small.h5", "o{foo}.h5"))
        places = [line.split(": ")[0].removeprefix(config)
                  for line in self.gpumc("validate", config, code=INVALID).err.splitlines()]
        self.assertEqual(places, [":3:7", ":11:16", ":13:9"])

    def test_a_byte_order_mark_is_no_mistake(self):
        self.gpumc("validate", self.write("c.yaml", "\ufeff" + SMALL))

    def test_a_file_that_is_not_there(self):
        process = self.gpumc("validate", "missing.yaml", code=1)
        self.assertIn("missing.yaml", process.err)
        self.assertIn("No such file", process.err)

    def test_json(self):
        good = self.write("good.yaml", SMALL)
        bad = self.write("bad.yaml", SMALL.replace("seed: 11", "seed: -11"))
        process = self.gpumc("validate", good, bad, "--json", code=INVALID)
        first, second = json.loads(process.out)
        self.assertEqual((first["file"], first["valid"], first["tasks"]), (good, True, 1))
        self.assertFalse(second["valid"])
        self.assertEqual(len(second["mistakes"]), 1)


if __name__ == "__main__":
    unittest.main()

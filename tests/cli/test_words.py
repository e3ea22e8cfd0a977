"""Messages in the user's words: what a value is, what stands in braces, and names that no terminal obeys."""
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.device import PROGRAM
from support.program import FAILURE, INVALID, OK, SMALL, ProgramCase

CANONICAL = """\
gpumc: 1
seed: 1
model: {name: ising2d, shape: [8, 8], h: 0}
algorithm: {name: canonical, beta: {values: [0.1]}, thermalization: 10, sweeps: 100}
output: a.h5
"""
GLASS = """\
gpumc: 1
seed: 1
model: {name: ea, shape: [4, 4], couplings: file, file: FILE}
algorithm: {name: canonical, beta: {values: [0.1]}, thermalization: 10, sweeps: 100}
output: OUTPUT
"""
NAMES = ["a\nb", "a\r\x1b[31mb\x07", "a\tb\u0085c", "\n", "a\x7f\u009bb"]


class Values(ProgramCase):
    def refused(self, text, says, *options):
        err = self.gpumc("validate", self.write("c.yaml", text), *options, code=INVALID).err
        self.assertIn(says, err)
        return err

    def test_numbers_that_are_not_finite(self):
        for word in "-.inf", "-.Inf", "-.INF", ".nan", ".NaN", ".NAN", ".inf", "+.inf":
            for text, key in (("h: 0", "model.h: expected a number"), ("sweeps: 100", "algorithm.sweeps: expected an integer"),
                              ("values: [0.1]", "algorithm.beta.values: expected a number")):
                with self.subTest(word=word, key=key):
                    made = CANONICAL.replace(text, f"{text.split(': ')[0]}: {word}" if "[" not in text else f"values: [{word}]")
                    err = self.refused(made, key)
                    self.assertIn(f"found {word}, which is not a finite number", err)
                    self.assertNotIn("text", err)
        self.assertIn("found text '.nan' in quotes", self.refused(CANONICAL.replace("h: 0", "h: '.nan'"), "model.h"))

    def test_the_output_in_its_own_name(self):
        err = self.refused(CANONICAL.replace("a.h5", "out/{output}.h5"), "{output} stands for the output itself")
        self.assertNotIn("did you mean", err)

    def test_a_key_that_cannot_be_varied(self):
        """Is not to be set to a list in the same breath."""
        config = CANONICAL + "campaign: {output: [a.h5, b.h5]}\n"
        for options in [], ["--set", "output=c.h5"]:
            self.assertNotIn("set 'campaign.output'", self.refused(config, "'output' cannot be varied in a campaign", *options))
        self.refused(CANONICAL.replace("a.h5", "'{model.h}.h5'") + "campaign: {model.h: [1, 2]}\n", "set 'campaign.model.h' to a list", "--set", "model.h=1")

    def test_values_that_lead_out_of_the_folder(self):
        self.write("c/t.in", "shape 4 4\ncouplings " + "1 " * 32)
        for output in "out/{model.file}.h5", "{model.file}.h5", "out/x-{model.file}":
            for file in "../c/t.in", "c/../../c/t.in", "./.././c/t.in":
                config = GLASS.replace("FILE", file).replace("OUTPUT", f'"{output}"')
                self.path("d/c").mkdir(parents=True, exist_ok=True)
                process = subprocess.run([PROGRAM, "validate", self.write("d/c.yaml", config)], cwd=self.path("d"), capture_output=True, text=True)
                self.assertEqual(process.returncode, INVALID)
                self.assertIn("leads out of the output's folder; omit {model.file}", process.stderr)
            for file in "c/t.in", "c/../c/t.in":
                self.gpumc("validate", self.write("c.yaml", GLASS.replace("FILE", file).replace("OUTPUT", f'"{output}"')), code=OK)


class Names(ProgramCase):
    def assert_tame(self, words):
        """Nothing but ends of lines in it would move a terminal's cursor or change its colours."""
        self.assertEqual([character for character in words if character != "\n" and not character.isprintable()], [])

    def commands(self, name):
        return [["merge", "out.h5", name, name + "2"], ["info", name], ["validate", name], ["run", name],
                ["plan", name], ["status", name], ["compare", name, "b"], ["export", name], ["init", "ising2d", name], ["init", name, "pa"],
                ["describe", name], ["submit", name, "--slurm"], [name], ["help", name], ["man", name], ["completion", name],
                ["completion", "bash", "-o", f"/proc/{name}"], ["man", "-d", f"/proc/{name}"], ["bench", "--model", name],
                ["run", "c.yaml", "--set", f"{name}=1"], ["run", "c.yaml", "--set", f"seed={name}"], ["run", "c.yaml", "--device", name],
                ["run", "c.yaml", "-o", f"/proc/{name}"], ["plan", "c.yaml", "--gpu", name]]

    def test_no_name_reaches_the_terminal_as_it_is(self):
        self.write("c.yaml", SMALL)
        self.device = None
        for name in NAMES:
            for command in self.commands(name):
                with self.subTest(command):
                    process = self.start(*command, errors="surrogateescape")
                    out, err = process.communicate(timeout=60)
                    self.assertNotEqual(process.returncode, 0)
                    self.assert_tame(out + err)
                    self.assertLessEqual(err.count("\n"), 3)
                    self.assertIn("\\x", err)

    def test_what_is_done_with_such_files(self):
        name = "a\nb\x1b[1m.h5"
        config = self.write("c.yaml", SMALL)
        self.gpumc("run", config, "--quiet")
        self.gpumc("run", config, "--quiet", "-o", name, "--set", "seed=12")
        for command in (["merge", "all\n.h5", "small.h5", name], ["status", config, "-o", name], ["info", name], ["plan", config, "-o", name],
                        ["run", config, "-o", name, "--set", "seed=12"], ["export", name, "-o", "d\ne"], ["merge", "x.h5", name, name],
                        ["merge", "x.h5", name, self.write("not\na result", "x")]):
            with self.subTest(command):
                process = self.start(*command)
                out, err = process.communicate(timeout=60)
                self.assert_tame(err + (out if command[0] != "info" else ""))
                self.assertNotIn("a\nb", out + err)
                self.assertNotIn("all\n.h5", out + err)
                self.assertNotIn("d\ne", out + err)

    def test_outputs_of_configurations(self):
        config = self.write("c.yaml", SMALL.replace("output: small.h5", 'output: "a\\tb.h5"'))
        for command in ["validate"], ["plan"], ["status"], ["run"], ["run"]:
            process = self.gpumc(*command, config)
            self.assert_tame(process.out + process.err)


class Cluster(ProgramCase):
    def test_a_folder_of_the_path_that_cannot_be_searched(self):
        locked = self.path("locked")
        locked.mkdir(mode=0)
        self.path("squeue").mkdir()
        folder = self.path("work")
        folder.mkdir()
        os.chmod(self.directory, 0o755)
        os.chmod(folder, 0o777)
        config = self.write("work/c.yaml", SMALL)
        other = {"user": 65534} if os.geteuid() == 0 else {}
        for path in f"{locked}", f"{self.directory}", f"{config}:{locked}":
            environment = {**os.environ, "PATH": path, "SLURM_JOB_ID": "1"}
            environment.pop("SLURM_JOB_END_TIME", None)
            process = subprocess.run([PROGRAM, "run", config, "--max-time", "job", "--quiet", "--device", "cpu"], cwd=folder, env=environment,
                                     capture_output=True, text=True, **other)
            self.assertIn("squeue is not on the PATH", process.stderr)
            self.assertNotIn("Permission denied", process.stderr)


if __name__ == "__main__":
    unittest.main()

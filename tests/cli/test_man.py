"""Manual pages: one for the program, each command and the language, without a warning of groff and mandoc, and with every
option of the help and every key of the reference page."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.program import FAILURE, INVALID, ProgramCase


def plain(roff):
    """The words of a page, as they are read."""
    for escape, character in [("\\-", "-"), ("\\(aq", "'"), ("\\(ga", "`"), ("\\(ha", "^"), ("\\(ti", "~"), ("\\&", ""), ("\\e", "\\")]:
        roff = roff.replace(escape, character)
    return re.sub(r"\\f[BIR]", "", roff)


class Pages(ProgramCase):
    def setUp(self):
        super().setUp()
        self.gpumc("man", "--directory", "man")
        self.pages = sorted(self.path("man").rglob("gpumc*"))
        self.commands = re.findall(r"(?m)^  (\w+) {2,}", self.gpumc("--help").out.split("Options")[0])

    def test_there_is_a_page_of_everything(self):
        names = {str(page.relative_to(self.path("man"))) for page in self.pages}
        self.assertEqual(names, {"man1/gpumc.1", "man5/gpumc.yaml.5"} | {f"man1/gpumc-{name}.1" for name in self.commands})
        self.assertEqual(self.path("man/man1/gpumc.1").read_text(), self.gpumc("man").out)
        self.assertEqual(self.path("man/man1/gpumc-run.1").read_text(), self.gpumc("man", "run").out)
        self.assertEqual(self.path("man/man5/gpumc.yaml.5").read_text(), self.gpumc("man", "gpumc.yaml").out)
        os.mkfifo(self.path("man/man1/fifo"))
        self.path("man/man1/gpumc.1").unlink()
        self.path("man/man1/fifo").rename(self.path("man/man1/gpumc.1"))
        self.assertIn("not a regular file but a FIFO", self.gpumc("man", "-d", "man", code=FAILURE).err)
        self.assertIn("there is no page for 'rnu': name a command, or gpumc.yaml", self.gpumc("man", "rnu", code=INVALID).err)

    def test_the_page_of_the_keys_is_listed(self):
        self.assertIn("gpumc man gpumc.yaml", self.gpumc("man", "--help").out)
        self.assertIn("gpumc man gpumc.yaml", plain(self.gpumc("man", "man").out))
        self.assertIn("gpumc.yaml (5)", plain(self.gpumc("man").out))

    def check(self, command):
        program = shutil.which(command[0]) or self.skipTest(f"no {command[0]}")
        for page in self.pages:
            done = subprocess.run([program, *command[1:], page], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), f"{page}\n{done.stdout[:1000]}")
            yield page, done.stdout

    def test_groff_has_nothing_to_say(self):
        for page, text in self.check(["groff", "-man", "-ww", "-rCHECKSTYLE=2", "-Tutf8"]):
            self.assertGreater(len(text), 500)

    def test_mandoc_has_nothing_to_say(self):
        for page, text in self.check(["mandoc", "-Tlint", "-Wwarning"]):
            self.assertEqual(text, "")

    def test_lint_finds_mistakes(self):
        """The control of the two tests before."""
        self.write("man/man1/gpumc-bad.1", ".SH NAME\n.PP\nbad \\- words\n.NOSUCH\n")
        self.pages = [self.path("man/man1/gpumc-bad.1")]
        for command in ["groff", "-man", "-ww", "-Tutf8"], ["mandoc", "-Tlint", "-Wwarning"]:
            if shutil.which(command[0]):
                with self.assertRaises(AssertionError):
                    for _, text in self.check(command):
                        self.assertEqual(text, "")

    def test_every_option_and_example_of_the_help(self):
        for command in self.commands:
            help_text = self.gpumc(command, "--help").out
            page = plain(self.path(f"man/man1/gpumc-{command}.1").read_text())
            for option in re.findall(r"(?m)^ {2}(?:-\w, | {4})(--[\w-]+)", help_text):
                self.assertIn(f"{option}", page)
            for example in re.findall(r"(?m)^  ((?:gpumc|mpirun) .*)$", help_text):
                self.assertIn(example, page)

    def test_exit_codes_of_their_own(self):
        pages = {name: plain(self.path(f"man/man1/gpumc-{name}.1").read_text()).split(".SH EXIT STATUS")[1]
                 for name in ["compare", "status", "run"]}
        self.assertIn("1\nthe results are not compatible\n", pages["compare"])
        self.assertNotIn("failure at run time", pages["compare"])
        self.assertIn("with --watch also if a task has failed or was refused", pages["status"])
        self.assertIn("75\n", pages["run"])

    def test_every_key_of_the_language(self):
        page = plain(self.path("man/man5/gpumc.yaml.5").read_text())
        keys = re.findall(r"(?m)^\| `([\w.]+)` \| [^|]+ \| [^|]* \| [^|]+ \| (?:yes)? ?\|", self.gpumc("describe", "--markdown").out)
        self.assertGreater(len(set(keys)), 80)
        for key in keys:
            self.assertIn(f".TP\n{key}\n", page)
        for name in [plugin["name"] for kind in ["models", "algorithms"] for plugin in json.loads(self.gpumc("list", "--json").out)[kind]]:
            self.assertRegex(page, rf"(?m)^\.SS (model|algorithm) {name}$")
        self.assertIn("gpumc: 1\n", page)


if __name__ == "__main__":
    unittest.main()

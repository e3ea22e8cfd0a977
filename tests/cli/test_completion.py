"""Completion of shells: what bash, zsh and fish offer at a place of the command line, in these shells themselves.

Bash is asked twice: its function with the words that bash makes of a line, and a terminal in which the line is typed. Zsh
and fish are skipped where they are not installed."""
import json
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.program import INVALID, SMALL, ProgramCase

# Splits a line as bash does for completion, at blanks and at = and :, and prints the answers, one a line.
ASK_BASH = r"""
source "$1"
COMP_LINE=$2 COMP_POINT=${#2}
COMP_WORDS=() rest=$2
while [[ -n $rest ]]; do
  if [[ $rest =~ ^[[:blank:]]+ ]]; then rest=${rest:${#BASH_REMATCH}}; [[ -n $rest ]] || COMP_WORDS+=(""); continue; fi
  [[ $rest =~ ^[=:]+ || $rest =~ ^[^[:blank:]=:]+ ]]
  COMP_WORDS+=("$BASH_REMATCH"); rest=${rest:${#BASH_REMATCH}}
done
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_gpumc
printf '%s\n' "${COMPREPLY[@]}"
"""

class Scripts(ProgramCase):
    def setUp(self):
        super().setUp()
        for name in ["a.yaml", "b.yml", "result.h5", "notes.txt"]:
            self.write(name, "")
        self.path("folder").mkdir()
        listed = json.loads(self.gpumc("list", "--json").out)
        self.models = {model["name"] for model in listed["models"]}
        self.algorithms = {algorithm["name"] for algorithm in listed["algorithms"]}

    def script(self, shell, name):
        self.gpumc("completion", shell, "-o", name)
        self.assertEqual(self.path(name).read_text(), self.gpumc("completion", shell).out)
        return str(self.path(name))


    def typed(self, shell, setup, line, word):
        """What a shell on a terminal shows when a line is typed with a tab at its end, and then return. The line is for a function
        gpumc that prints its words in brackets; `word` is waited for, half a minute at most."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.directory)
            os.execvpe(shell[0], shell, {**os.environ, "PS1": "> ", "TERM": "dumb", "INPUTRC": "/dev/null", "HISTFILE": ""})
        text = ""

        def until(wanted):
            nonlocal text
            end = time.monotonic() + 30
            while wanted not in text and time.monotonic() < end and select.select([terminal], [], [], 30)[0]:
                try:
                    text += os.read(terminal, 4096).decode(errors="replace")
                except OSError:
                    return

        os.write(terminal, f"{setup}; gpumc() {{ printf '<%s>' \"$@\"; echo; }}; echo READ''Y\n".encode())
        until("READY")
        text = ""
        os.write(terminal, f"{line}\t".encode())
        until(word)
        os.write(terminal, b"\n")
        until(">\r\n")
        os.write(terminal, b"exit\n")
        until("never said")
        os.close(terminal)
        os.waitpid(pid, 0)
        return text


class Bash(Scripts):
    def setUp(self):
        super().setUp()
        self.completion = self.script("bash", "gpumc.bash")

    def offers(self, line):
        done = subprocess.run(["bash", "--norc", "-c", ASK_BASH, "ask", self.completion, line], cwd=self.directory, text=True,
                              capture_output=True, check=True)
        self.assertEqual(done.stderr, "")
        return set(done.stdout.split())

    def test_the_script_is_good_bash(self):
        subprocess.run(["bash", "-n", self.completion], check=True)
        if shutil.which("shellcheck"):
            subprocess.run(["shellcheck", "--severity=warning", "--shell=bash", self.completion], check=True)

    def test_commands(self):
        every = self.offers("gpumc ")
        for command in re.findall(r"(?m)^  (\w+) {2,}", self.gpumc("--help").out.split("Options")[0]):
            self.assertIn(command, every)
        self.assertEqual(self.offers("gpumc val"), {"validate"})
        self.assertEqual(self.offers("gpumc help st"), {"status"})
        self.assertEqual(self.offers("gpumc --v"), {"--version"})

    def test_options_are_those_of_the_help(self):
        for command in ["run", "status", "bench", "merge", "init", "list"]:
            of_help = set(re.findall(r"(?m)^ {2}(?:-\w, | {4})(--[\w-]+)", self.gpumc(command, "--help").out))
            self.assertGreater(len(of_help), 3)
            self.assertEqual({word for word in self.offers(f"gpumc {command} -") if word.startswith("--")}, of_help)
        self.assertEqual(self.offers("gpumc run a.yaml --fr"), {"--fresh"})

    def test_files(self):
        self.assertEqual(self.offers("gpumc run "), {"a.yaml", "b.yml", "folder"})
        self.assertEqual(self.offers("gpumc run a.yaml -o n"), {"notes.txt"})
        self.assertEqual(self.offers("gpumc run a.yaml --output=n"), {"notes.txt"})
        self.assertEqual(self.offers("gpumc validate a.yaml b"), {"b.yml"})

    def test_names_of_plugins(self):
        self.assertEqual(self.offers("gpumc describe "), {"config", "kernel"} | self.models | self.algorithms)
        self.assertEqual(self.offers("gpumc init "), self.models)
        self.assertEqual(self.offers("gpumc init ising2d "), self.algorithms)
        self.assertEqual(self.offers("gpumc bench --model ising"), {"ising2d", "ising3d"})

    def test_devices_and_words(self):
        self.assertEqual(self.offers("gpumc run --device "), {"auto", "cpu", "cuda"})
        self.assertEqual(self.offers("gpumc list --color=a"), {"auto", "always"})
        self.assertEqual(self.offers("gpumc completion z"), {"zsh"})
        self.assertEqual(self.offers("gpumc run --threads "), set())
        self.assertEqual(self.offers("gpumc man gp"), {"gpumc.yaml"})
        self.assertEqual(self.offers("gpumc man mer"), {"merge"})

    def test_keys_and_their_choices(self):
        self.assertEqual(self.offers("gpumc run a.yaml --set model.sh"), {"model.shape="})
        self.assertEqual(self.offers("gpumc run --set algorithm.beta.t"), {"algorithm.beta.to="})
        # Bash replaces what follows the last = alone.
        self.assertEqual(self.offers("gpumc run --set rng="), {"philox4x32-10", "philox4x32-7"})
        self.assertEqual(self.offers("gpumc run --set rng=philox4x32-7"), {"philox4x32-7"})
        self.assertEqual(self.offers("gpumc run --set=algorithm.resampling=s"), {"systematic"})
        self.assertEqual(self.offers("gpumc plan --set model.write_couplings=t"), {"true"})
        self.assertEqual(self.offers("gpumc plan --set seed="), set())

    def test_names_devices_kernels_and_what_a_campaign_varies(self):
        self.assertEqual(self.offers("gpumc run --set model.name="), self.models)
        self.assertEqual(self.offers("gpumc run --set algorithm.name=mu"), {"muca"})
        self.assertEqual(self.offers("gpumc run --set kernel.device="), {"auto", "cpu", "cuda"})
        variants = {kernel["variant"] for model in json.loads(self.gpumc("list", "--json").out)["models"] for kernel in model["kernels"]}
        self.assertEqual(self.offers("gpumc run --set kernel.variant="), {"auto"} | variants)
        self.assertEqual(self.offers("gpumc run --set campaign.algorithm.res"), {"campaign.algorithm.resampling="})
        self.assertEqual(self.offers("gpumc run --set campaign.algorithm.resampling=s"), {"systematic"})
        self.assertEqual(self.offers("gpumc run --set campaign.kernel.variant=ti"), {"tiled"})
        # A key that no campaign varies is not offered for one.
        self.assertEqual(self.offers("gpumc run --set campaign.title"), set())
        self.assertEqual(self.offers("gpumc run --set title"), {"title="})

    def test_values_that_are_offered_are_valid(self):
        """Of those for keys of a small configuration, in place of its own and in a campaign."""
        config = self.write("small.yaml", SMALL)
        self.assertEqual(self.offers("gpumc run --set campaign.rng="), set())
        for key in "algorithm.resampling", "kernel.device", "rng", "kernel.variant", "algorithm.name", "model.name":
            for varied in key, f"campaign.{key}":
                for value in self.offers(f"gpumc run --set {varied}="):
                    with self.subTest(f"{varied}={value}"):
                        said = self.start("validate", config, "--set", f"{varied}={value}").communicate()[1]
                        self.assertNotRegex(said, rf"unknown key '{varied}'|{key}: expected|cannot be varied|no model has a kernel variant")
                with self.subTest(f"{varied}: the control"):
                    said = self.start("validate", config, "--set", f"{varied}=nothing").communicate()[1]
                    self.assertRegex(said, rf"unknown key '{varied}'|{key}: expected|cannot be varied|kernel variant 'nothing'")

    def test_all_keys_of_the_schema_are_offered(self):
        offered = self.offers("gpumc run --set ")
        schema = json.loads(self.gpumc("schema").out)
        for key, value in schema["properties"].items():
            if key not in ["model", "algorithm", "kernel", "checkpoint", "campaign"]:
                self.assertIn(f"{key}=", offered)
        for name in self.models:
            for key, value in schema["definitions"][f"model-{name}"]["properties"].items():
                if key != "name" and "properties" not in value:
                    self.assertIn(f"model.{key}=", offered)

    def test_typed_into_a_terminal(self):
        def typed(line, word):
            return self.typed(["bash", "--norc", "--noprofile", "-i"], f"source {self.completion}", line, word)
        self.assertIn("<run><a.yaml><--set><algorithm.resampling=systematic>",
                      typed("gpumc run a.yaml --set algorithm.resampling=sys", "=systematic"))
        self.assertIn("<describe><heisenberg>", typed("gpumc describe hei", "heisenberg"))


class Zsh(Scripts):
    def setUp(self):
        super().setUp()
        self.zsh = shutil.which("zsh") or self.skipTest("no zsh")
        self.path("functions").mkdir()
        self.script("zsh", "functions/_gpumc")

    def test_the_script_is_good_zsh(self):
        subprocess.run([self.zsh, "-n", self.path("functions/_gpumc")], check=True)

    def completed(self, line, word):
        return self.typed([self.zsh, "-f", "-i"], f"fpath=({self.path('functions')} $fpath); autoload -Uz compinit; compinit -u -D; "
                          "unsetopt beep", line, word)

    def test_typed_into_a_terminal(self):
        for line, result in [("gpumc val", "<validate>"), ("gpumc run a.yaml --fre", "<run><a.yaml><--fresh>"),
                             ("gpumc describe hei", "<describe><heisenberg>"), ("gpumc run b", "<run><b.yml>"),
                             ("gpumc run --set model.sh", "<run><--set><model.shape=>"),
                             ("gpumc run --set algorithm.resampling=sy", "<run><--set><algorithm.resampling=systematic>"),
                             ("gpumc run --set algorithm.name=mu", "<run><--set><algorithm.name=muca>"),
                             ("gpumc run --set campaign.kernel.variant=ti", "<run><--set><campaign.kernel.variant=tiled>"),
                             ("gpumc init ising2d mu", "<init><ising2d><muca>")]:
            with self.subTest(line=line):
                self.assertIn(result, self.completed(line, result.split("<")[-1].strip("<>")))


class Fish(Scripts):
    def setUp(self):
        super().setUp()
        self.fish = shutil.which("fish") or self.skipTest("no fish")
        self.completion = self.script("fish", "gpumc.fish")

    def offers(self, line):
        done = subprocess.run([self.fish, "--no-config", "-c", f"source {self.completion}; complete -C '{line}'"], text=True,
                              cwd=self.directory, capture_output=True, check=True, env={**os.environ, "HOME": str(self.directory)})
        self.assertEqual(done.stderr, "")
        return {entry.split("\t")[0] for entry in done.stdout.splitlines()}

    def test_what_is_offered(self):
        self.assertEqual(self.offers("gpumc val"), {"validate"})
        self.assertIn("--fresh", self.offers("gpumc run --"))
        self.assertEqual(self.offers("gpumc describe hei"), {"heisenberg"})
        self.assertEqual(self.offers("gpumc run --device c"), {"cpu", "cuda"})
        self.assertEqual(self.offers("gpumc run --set model.sh"), {"model.shape="})
        self.assertEqual(self.offers("gpumc run --set algorithm.resampling=s"), {"algorithm.resampling=systematic"})
        self.assertEqual(self.offers("gpumc run --set algorithm.name=mu"), {"algorithm.name=muca"})
        self.assertEqual(self.offers("gpumc run --set campaign.kernel.variant=ti"), {"campaign.kernel.variant=tiled"})
        self.assertEqual(self.offers("gpumc run --set campaign.title"), set())
        self.assertIn("a.yaml", self.offers("gpumc run a"))
        self.assertEqual(self.offers("gpumc help st"), {"status"})


class Mistakes(ProgramCase):
    def test_shells(self):
        self.assertIn("bash, zsh or fish", self.gpumc("completion", code=INVALID).err)
        self.assertIn("unknown shell 'tcsh'", self.gpumc("completion", "tcsh", code=INVALID).err)


if __name__ == "__main__":
    unittest.main()

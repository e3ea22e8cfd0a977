"""Colours: on a terminal, and nowhere else: not in files and pipes, not with NO_COLOR or TERM=dumb; --color decides."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.device import PROGRAM
from support.program import CAMPAIGN, INVALID, SMALL, ProgramCase
from support.terminal import Terminal

ESCAPE, RED, YELLOW, GREEN, BOLD, PLAIN = "\033", "\033[1;31m", "\033[33m", "\033[32m", "\033[1m", "\033[0m"
UNSAFE = SMALL.replace("name: pa", "name: canonical\n  thermalization: 1\n  sweeps: 4").replace(
    "  population: 200\n  sweeps: 2\n", "").replace("from: 0.0, to: 0.5, step: 0.05", "values: [0.2]").replace(
    "  runs: 2\n", "") + "kernel: {variant: tiled, generator: lcg32}\n"


class Colors(ProgramCase):
    def on_terminal(self, *words, code=0, **environment):
        terminal = Terminal([PROGRAM, *words], self.directory, **environment)
        text = terminal.end().replace("\r\n", "\n")
        self.assertEqual(terminal.process.returncode, code, text)
        return text

    def test_errors_are_red(self):
        self.assertTrue(self.on_terminal("run", code=INVALID).startswith(f"gpumc: {RED}error:{PLAIN} no configuration file given"))

    def test_warnings_are_yellow(self):
        self.write("c.yaml", UNSAFE)
        self.assertIn(f"c.yaml: {YELLOW}warning:{PLAIN} ", self.on_terminal("validate", "c.yaml"))

    def test_states_of_tasks(self):
        self.write("c.yaml", CAMPAIGN)
        self.gpumc("run", "c.yaml", "--task", "0")
        text = self.on_terminal("status", "c.yaml")
        self.assertIn(f"{GREEN}done{PLAIN}       ", text)  # as wide as without colour
        self.assertIn("not started  ", text)
        self.assertEqual(text.replace(GREEN, "").replace(PLAIN, ""), self.gpumc("status", "c.yaml").out)
        self.assertNotIn(ESCAPE, self.on_terminal("status", "c.yaml", NO_COLOR="1"))

    def test_headings_of_help(self):
        for words in ["--help"], ["run", "-h"], ["help", "run"]:
            text = self.on_terminal(*words)
            self.assertTrue(text.startswith(f"{BOLD}Usage:{PLAIN} gpumc "), text)
            self.assertIn(f"\n{BOLD}Examples:{PLAIN}\n", text)
            self.assertEqual(text.replace(BOLD, "").replace(PLAIN, ""), self.gpumc(*words).out)

    def test_none_elsewhere(self):
        self.write("c.yaml", UNSAFE)
        for words, code in [(["--help"], 0), (["run", "-h"], 0), (["run"], INVALID), (["validate", "c.yaml"], 0)]:
            process = self.gpumc(*words, code=code)
            self.assertNotIn(ESCAPE, process.out + process.err)
            self.assertIn(ESCAPE, self.on_terminal(*words, code=code))  # the control
            self.assertNotIn(ESCAPE, self.on_terminal(*words, code=code, NO_COLOR="1"))
            self.assertNotIn(ESCAPE, self.on_terminal(*words, code=code, TERM="dumb"))

    def test_an_empty_NO_COLOR_is_none(self):
        self.assertIn(ESCAPE, self.on_terminal("--help", NO_COLOR=""))

    def test_option(self):
        self.assertIn(BOLD, self.gpumc("run", "--color=always", "--help").out)
        self.assertIn(BOLD, self.on_terminal("run", "--color", "always", "-h", NO_COLOR="1"))
        self.assertNotIn(ESCAPE, self.on_terminal("run", "--color=never", "-h"))
        self.assertIn(BOLD, self.on_terminal("run", "--color=auto", "-h"))
        self.assertIn("--color must be auto, always or never, not 'blue'", self.gpumc("list", "--color=blue", code=INVALID).err)


class Short(ProgramCase):
    def test_help_and_version(self):
        for command in ["init", "run", "validate", "plan", "list", "describe", "schema", "merge", "info", "status", "submit",
                        "bench", "doctor", "completion", "man"]:
            text = self.gpumc(command, "--help").out
            self.assertIn("  -h, --help ", text)
            for word in ["-h", "-?"]:
                self.assertEqual(self.gpumc(command, word).out, text)
            self.assertIn(f"Usage: gpumc {command} ", self.gpumc(command, "--usage").out)
        self.assertEqual(self.gpumc("-h").out, self.gpumc("--help").out)
        self.assertEqual(self.gpumc("-V").out, self.gpumc("--version").out)
        self.assertEqual(self.gpumc("run", "-qh").out, self.gpumc("run", "--help").out)


if __name__ == "__main__":
    unittest.main()

"""Examples of the documents in Python: after the command of their section they print what the page shows, digit by digit.

Control: after the same command with another seed they do not.

CTest: release (a tool of Python alone)
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from support import device  # noqa: E402

EXAMPLES = [("docs/analysis.md", "## Reweighting")]  # sections of a `gpumc run`, a program and its output, in this order


def parts_of(page, heading):
    """The command's arguments, the program and its output."""
    text = (ROOT / page).read_text(encoding="utf-8").partition(f"\n{heading}\n")[2].partition("\n## ")[0]
    return [re.search(rf"^```{language}\n(.*?)^```$", text, re.M | re.S).group(1) for language in ("sh", "python", "text")]


class Examples(unittest.TestCase):
    def output(self, command, code, *more):
        words = command.split()
        self.assertEqual(words[:2], ["gpumc", "run"])
        with tempfile.TemporaryDirectory(prefix="gpumc-test-") as folder:
            for line in ([device.PROGRAM, "run", ROOT / words[2], *words[3:], "--quiet", "--device", "cpu", *more], [sys.executable, "-c", code]):
                done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False,
                                      env={**os.environ, "PYTHONPATH": str(ROOT / "tools/python")})
                self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_they_print_what_the_page_shows(self):
        for page, heading in EXAMPLES:
            with self.subTest(page=page, section=heading):
                command, code, shown = parts_of(page, heading)
                self.assertEqual(self.output(command, code), shown)
                self.assertNotEqual(self.output(command, code, "--set", "seed=1"), shown)


if __name__ == "__main__":
    device.require()
    unittest.main(verbosity=2)

"""tests/same_texts.py finds a word that changed, and nothing where nothing did."""
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import same_texts
from support.program import PROGRAM as GPUMC, ProgramCase

# Runs the program and changes a word of what it says.
REWORDED = """\
#!/bin/sh
"PROGRAM" "$@" | sed 's/Kernels (variant/Kernels (variants/; s/"sweepable":.true/"sweepable": false/'
"""


class SameTexts(ProgramCase):
    def compare(self, other):
        return subprocess.run([sys.executable, same_texts.__file__, "--base", GPUMC, "--program", other,
                               "--only", "^(list|describe (ea|pa))"], capture_output=True, text=True)

    def test_one_program_twice(self):
        done = self.compare(GPUMC)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("all the same", done.stdout)

    def test_other_words_are_found_in_text_and_in_json(self):
        path = self.path("reworded")
        path.write_text(REWORDED.replace("PROGRAM", GPUMC))
        os.chmod(path, 0o755)
        done = self.compare(path)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        for words in "gpumc describe ea\n", "gpumc describe ea --json\n", "sweepable: True and False":
            self.assertIn(words, done.stdout)


if __name__ == "__main__":
    unittest.main()

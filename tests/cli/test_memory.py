"""Memory that runs out for good, at every allocation of a command: there is a message, and nothing crashes."""
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import faults, sanitizers
from support.program import FAILURE, INVALID, OK, SMALL, ProgramCase

SAID = re.compile("^gpumc: error: .*memory", re.I | re.M)


@unittest.skipIf(sanitizers.SANITIZED, "there the allocations of the sanitizer do not fail")
class Memory(ProgramCase):
    def setUp(self):
        super().setUp()
        faults.require(self)

    def until_it_suffices(self, expected, *words):
        """Returns at how many allocations it did not suffice. Steps grow, to end soon."""
        n = failed = 1
        while True:
            for path in self.directory.glob("*.h5*"):
                path.unlink()
            process = self.start(*words, env=faults.environment(f"malloc:from={n}"))
            _, messages = process.communicate(timeout=60)
            if process.returncode == expected and not SAID.search(messages):
                return failed
            with self.subTest(n=n, words=words):
                self.assertEqual(process.returncode, FAILURE, messages)
                self.assertRegex(messages, SAID)
            failed += 1
            n += 1 + n // 60

    def test_run(self):
        config = self.write("c.yaml", SMALL)
        self.assertGreater(self.until_it_suffices(OK, "run", config, "--device", "cpu", "--threads", 1, "--quiet"), 100)

    def test_mistakes(self):
        config = self.write("c.yaml", SMALL.replace("population: 200", "population: none, popluation: 3"))
        self.assertGreater(self.until_it_suffices(INVALID, "run", config), 30)


if __name__ == "__main__":
    unittest.main()

"""Counters to which several threads add, proposals of a run and visits of a walk, are added to atomically, as the thread
sanitizer sees it. Control: it sees where they are not.

CTest: release
"""
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ["src/core/simulation/steps.h", "src/models/lattice/walk.c"]


class SharedCounters(unittest.TestCase):
    def run_with(self, change):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, "src")
            for source in SOURCES:
                to = pathlib.Path(folder, source)
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_text(change((ROOT / source).read_text()))
            program = pathlib.Path(folder, "counters")
            # Functions that are not called, and what they call, are left out.
            made = subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", "-O1", "-g", "-fopenmp", "-fsanitize=thread", "-ffunction-sections",
                                   "-I", copy, "-I", ROOT / "src", "-Wl,--gc-sections", ROOT / "tests/support/shared_counters.c",
                                   pathlib.Path(folder, SOURCES[1]), "-o", program, "-Wl,--unresolved-symbols=ignore-all"],
                                  capture_output=True, text=True)
            if "tsan" in made.stderr:
                self.skipTest("no thread sanitizer")
            self.assertEqual(made.returncode, 0, made.stderr)
            process = subprocess.run([program], capture_output=True, text=True)
            if "unexpected memory mapping" in process.stderr:
                self.skipTest("the thread sanitizer does not know the addresses of this kernel")
            return process

    def test_additions_are_atomic(self):
        process = self.run_with(lambda text: text)
        self.assertEqual((process.returncode, process.stdout), (0, "2000 4000 8000\n"), process.stderr)

    def test_others_are_seen(self):
        process = self.run_with(lambda text: re.sub(r"#pragma omp atomic\n", "", text))
        for function in "gpumc_steps_count", "gpumc_steps_propose", "lattice_walk_flush":
            self.assertRegex(process.stderr, f"data race.* in {function}")


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""What gpumc opens, in HDF5 and of files, it lets go of, also where files are damaged; and nothing of ours leaks through HDF5.

CTest: methods 5 s
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, faults
from support.program import FAILURE, INVALID, OK, SMALL, STOPPED, ProgramCase
from support.sanitizers import SANITIZED

LIBRARY = faults.TESTS / "libgpumc_handles.so"
LEAKING = faults.TESTS / "gpumc_leaking_program"
LOGGED = SMALL.replace("  runs: 2\n", "  runs: 2\n  configurations: {betas: [0, 0.2]}\n")
GLASS = """\
gpumc: 1
seed: 3
model: {name: ea, shape: [4, 4], couplings: file, file: c.h5, write_couplings: true}
algorithm: {name: pa, population: 32, sweeps: 1, beta: {to: 0.5, step: 0.1}}
output: glass.h5
"""


class Handles(ProgramCase):
    def counted(self, *arguments, code=OK, **variables):
        """What is open at the end, by kind."""
        options = {"LD_PRELOAD": str(LIBRARY), "GPUMC_HANDLES": str(self.path("handles")),
                   "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0:" + os.environ.get("ASAN_OPTIONS", "")}
        self.gpumc(*arguments, code=code, env={**os.environ, **options, **variables})
        counts = dict(line.rsplit(" ", 1) for line in self.path("handles").read_text().splitlines())
        self.path("handles").unlink()
        return {kind: int(count) for kind, count in counts.items()}

    def setUp(self):
        super().setUp()
        if not LIBRARY.exists():
            self.skipTest(f"{LIBRARY} was not built")
        self.none = self.counted("list")

    def lets_go(self, *arguments, code=OK):
        with self.subTest(arguments=arguments):
            self.assertEqual(self.counted(*arguments, code=code), self.none)

    def test_of_runs_and_what_reads_their_files(self):
        config = self.write("c.yaml", LOGGED)
        self.lets_go("run", config, "--max-time", "1 ms", code=STOPPED)
        self.lets_go("info", "small.h5.partial")
        self.lets_go("status", config)
        self.lets_go("run", config)
        for words in ["status", config], ["info", "small.h5"], ["info", "small.h5", "--json"], ["run", config]:
            self.lets_go(*words)
        self.lets_go("run", config, "--set", "seed=12", code=INVALID)
        self.lets_go("run", config, "--fresh")

    def test_of_many_runs(self):
        """Their axes are written in parts: more datasets come to axes that there are."""
        self.lets_go("run", self.write("c.yaml", SMALL.replace("runs: 2", "runs: 200")))

    def test_of_several_results(self):
        config = self.write("c.yaml", SMALL)
        for seed in 1, 2:
            self.gpumc("run", config, "--quiet", "--set", f"seed={seed}", "-o", f"{seed}.h5")
        self.lets_go("merge", "both.h5", "1.h5", "2.h5")
        self.lets_go("compare", "1.h5", "2.h5")
        self.lets_go("export", "both.h5")

    def test_of_couplings(self):
        config = self.write("c.yaml", GLASS)
        with h5py.File(self.path("c.h5"), "w") as file:
            file["shape"], file["couplings"] = [4, 4], np.ones((3, 16, 2))
        for words in ["validate", config], ["plan", config], ["run", config], ["status", config]:
            self.lets_go(*words)
        self.path("glass.h5").rename(self.path("c.h5"))
        self.lets_go("run", config)

    def test_of_damaged_files(self):
        config = self.write("c.yaml", SMALL)
        self.gpumc("run", config, "--max-time", "1 ms", code=STOPPED)
        checkpoint = self.path("small.h5.ckpt").read_bytes()
        self.gpumc("run", config, "--quiet")
        result = self.path("small.h5").read_bytes()
        for end in 200, len(result) // 2, len(result) - 32:
            self.path("small.h5").write_bytes(result[:end])
            self.lets_go("info", "small.h5", code=FAILURE)
        self.path("small.h5").unlink()
        for at in range(1024, len(checkpoint), len(checkpoint) // 7):
            self.path("small.h5.ckpt").write_bytes(checkpoint[:at] + bytes([checkpoint[at] ^ 1]) + checkpoint[at + 1:])
            self.lets_go("status", config)
            self.lets_go("run", config, code=FAILURE)
        self.path("small.h5.ckpt").write_bytes(checkpoint)
        self.lets_go("run", config)

    def test_forgotten_handles_are_counted(self):
        config = self.write("c.yaml", SMALL)
        self.gpumc("run", config, "--quiet")
        found = self.counted("info", "small.h5", GPUMC_HANDLES_KEPT="1")
        for kind in "dataspaces", "datatypes", "lists", "descriptors":
            self.assertGreater(found[kind], self.none[kind])


@unittest.skipUnless(SANITIZED, "only sanitizers see leaks")
class Leaks(unittest.TestCase):
    """Also with what is left out of the search for HDF5's own sake."""

    def code(self, what, **options):
        suppressions = pathlib.Path(__file__).resolve().parents[1] / "support" / "leaks_of_libraries.txt"
        environment = {**os.environ, "LSAN_OPTIONS": f"suppressions={suppressions}:print_suppressions=0",
                       "ASAN_OPTIONS": "fast_unwind_on_malloc=0:detect_leaks=1"}
        return subprocess.run([LEAKING, "leaking.h5", what], env=environment, capture_output=True, text=True,
                              timeout=60, **options)

    def test_are_seen(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.code("nothing", cwd=folder).returncode, 0)
            for what, size in ("text", 200), ("callback", 12345):
                process = self.code(what, cwd=folder)
                self.assertNotEqual(process.returncode, 0, what)
                self.assertIn(f"leak of {size} byte(s)", process.stderr)


if __name__ == "__main__":
    cases.main()

"""Processes of one run of which one runs out of memory: the run ends with a message, and never hangs."""
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import faults, mpi, sanitizers
from support.device import PROGRAM
from support.program import OK, SMALL, ProgramCase

SECONDS = 100  # a process whose MPI is silent is waited for 60 s
# Only in the second process: its address space, or its allocations.
LIMITED = """\
if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then %s fi
exec "$@"
"""


class Memory(ProgramCase):
    def setUp(self):
        super().setUp()
        self.config = self.write("c.yaml", SMALL)

    def ended(self, kind, limit, config=None):
        script = self.write("limited.sh", LIMITED % limit)
        words = mpi.command(kind, 2, "sh", script, PROGRAM, "run", config or self.config, "--device", "cpu", "--threads", 1,
                            "--set", "checkpoint.every=1 ms", "--quiet")
        process = subprocess.Popen(words, cwd=self.directory, env=mpi.environment(), text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        try:
            process.out, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.communicate()
            self.fail(f"{kind}, {limit}: it hangs")
        return process

    @unittest.skipIf(sanitizers.SANITIZED, "sanitizers need all of the address space")
    def test_too_little_from_the_start(self):
        large = self.write("large.yaml", SMALL.replace("population: 200", "population: 2000000").replace("[8, 8]", "[64, 64]"))
        for kind in mpi.LAUNCHERS:
            with self.subTest(kind):
                process = self.ended(kind, f"ulimit -v {400 * 1024};", large)
                self.assertNotEqual(process.returncode, OK)
                self.assertRegex(process.out, "gpumc: error: process 1 of 2 on .*: (not enough|out of) memory")

    def test_allocations_that_fail_later(self):
        """The n-th of the program's own allocations and all later ones: it says so, whichever it is."""
        faults.require(self)
        for kind in mpi.LAUNCHERS:
            n, failed, code = 1, 0, None
            while code != OK:  # until n is more than the run needs
                limit = f"export LD_PRELOAD={faults.LIBRARY} GPUMC_FAULT=malloc:from={n};"
                with self.subTest(kind, n=n):
                    process = self.ended(kind, limit)
                    code = process.returncode
                    self.assertNotIn("(null)", process.out)
                    if code != OK:
                        self.assertRegex(process.out, "(?im)^gpumc: error: .*memory")
                        failed += 1
                n += 1 + n // 2
            self.assertGreater(failed, 8, kind)


if __name__ == "__main__":
    mpi.require()
    unittest.main()

"""One bound on threads, whoever asks for them: a message and exit code 2 before there are any."""
import os
import pathlib
import resource
import signal
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.program import FAILURE, INVALID, LONG, OK, SMALL, STOPPED, ProgramCase, stop, wait_for
from support.sanitizers import SANITIZED

PROCESSORS = len(os.sched_getaffinity(0))
MOST = 32 * PROCESSORS

TAKEN = ["1", "2", "4,2", " 3 , 1 ", "", "  "]
REFUSED = ["100000", "20000", "4097", "4,20000", "-1", "0", "x", "4,", ",4", "4;2", "99999999999999999999"]


class Threads(ProgramCase):
    device = "cpu"

    def setUp(self):
        super().setUp()
        self.config = self.write("c.yaml", SMALL)

    def with_variable(self, value, *words, code):
        return self.gpumc(*words, code=code, env={**os.environ, "OMP_NUM_THREADS": value})

    def test_the_variable(self):
        for value in TAKEN:
            with self.subTest(value=value):
                self.with_variable(value, "run", self.config, "--fresh", "--quiet", code=OK)
        self.path("small.h5").unlink()
        for value in REFUSED:
            for command in ["run", self.config], ["plan", self.config], ["bench", "--device", "cpu"]:
                with self.subTest(value=value, command=command[0]):
                    process = self.with_variable(value, *command, code=INVALID)
                    self.assertIn("OMP_NUM_THREADS is", process.err)
                    self.assertIn("from 1 to 4096", process.err)
        self.assertFalse(self.path("small.h5").exists())

    def test_blank_is_unset(self):
        """Also for libgomp, which would complain."""
        for value in "", "  ", " \t":
            process = self.with_variable(value, "run", self.config, "--fresh", "--quiet", code=OK)
            self.assertNotIn("libgomp", process.err)

    @unittest.skipIf(MOST >= 4096, "as many as are taken anywhere")
    def test_more_than_the_machine_is_good_for(self):
        for words in ["run", self.config], ["plan", self.config]:
            process = self.gpumc(*words, "--threads", MOST + 1, code=INVALID)
            self.assertIn(f"{MOST + 1} threads requested (--threads), but gpumc uses at most {MOST} on "
                          f"{PROCESSORS} processor", process.err)
            process = self.with_variable(str(MOST + 1), *words, code=INVALID)
            self.assertIn(f"{MOST + 1} threads requested (OMP_NUM_THREADS)", process.err)
        self.gpumc("run", self.config, "--quiet", "--threads", MOST, code=OK)

    def cannot_start(self, **options):
        """A message of gpumc, none of libgomp, and nothing left but the record of the failure."""
        for words in ["run", self.config], ["plan", self.config]:
            process = self.gpumc(*words, "--threads", 8, code=FAILURE, **options)
            self.assertIn("gpumc: error: cannot start 8 threads, only ", process.err)
            self.assertIn("use fewer (--threads)", process.err)
            self.assertNotIn("libgomp", process.err)
        self.assertEqual(self.names(), ["c.yaml", "small.h5.status"])

    def test_that_cannot_be_started(self):
        """Stacks larger than any address space, as libgomp would ask for them."""
        for value in "200000G", " 204800000 m ", "209715200000":
            self.cannot_start(env={**os.environ, "OMP_STACKSIZE": value})

    @unittest.skipIf(SANITIZED, "sanitizers need more address space than the limit")
    def test_for_which_memory_is_too_short(self):
        limit = 260 << 20
        self.cannot_start(env={**os.environ, "OMP_STACKSIZE": "100M"},
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))

    def test_signals_are_answered(self):
        """By as many as are taken, of which each processor has 32."""
        config = self.write("long.yaml", LONG)
        process = self.start("run", config, "--threads", min(MOST, 64))
        self.addCleanup(process.kill)
        self.assertTrue(wait_for(self.path("small.h5.partial"), process))
        time.sleep(0.3)
        begun = time.monotonic()
        stop(process, signal.SIGTERM)
        self.assertEqual(process.returncode, STOPPED, process.err)
        self.assertLess(time.monotonic() - begun, 10)

    def test_the_option_comes_first(self):
        for value in REFUSED:
            self.with_variable(value, "run", self.config, "--fresh", "--quiet", "--threads", 2, code=OK)

    def test_the_option(self):
        for value in "100000", "20000", "4097", "-1", "0", "x", "4,2", "":
            for command in "run", "plan":
                with self.subTest(value=value, command=command):
                    process = self.gpumc(command, self.config, f"--threads={value}", code=INVALID)
                    self.assertIn("--threads must be an integer from 1 to 4096", process.err)

    def test_commands_without_threads_do_not_mind(self):
        for value in "100000", "x":
            self.with_variable(value, "validate", self.config, code=OK)
            self.assertIn("OMP_NUM_THREADS is", self.with_variable(value, "doctor", code=OK).out)

    def test_other_variables(self):
        for name, value in (("OMP_THREAD_LIMIT", "1"), ("OMP_THREAD_LIMIT", "x"), ("OMP_DYNAMIC", "true")):
            self.gpumc("run", self.config, "--fresh", "--quiet", code=OK, env={**os.environ, name: value})


if __name__ == "__main__":
    unittest.main(verbosity=2)

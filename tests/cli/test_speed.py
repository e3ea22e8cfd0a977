"""Speeds that must stand in proportion on any machine. Bounds lie between what is measured and what was measured
before; of three attempts one is enough, for the sake of busy machines.
"""
import json
import pathlib
import resource
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.program import ProgramCase
from support.sanitizers import SANITIZED

ATTEMPTS = 3
SWEEPS = 400_000
CANONICAL = f"""\
gpumc: 1
seed: 5
model: {{name: ising2d, shape: [32, 32]}}
algorithm: {{name: canonical, beta: {{values: [0.43]}}, thermalization: 0, sweeps: {SWEEPS}, replicas: 1}}
kernel: {{variant: spin}}
output: c.h5
"""


@unittest.skipIf(SANITIZED, "sanitizers take their time where they like")
class Proportions(ProgramCase):
    device = "cpu"

    def rate(self, model, shape, kernel):
        """Flips per nanosecond of one thread at the highest level."""
        words = ["--device", "cpu", "--threads", 1, "--population", 1, "--seconds", 0.1]
        report = json.loads(self.gpumc("bench", *words, "--model", model, "--shape", shape,
                                       "--kernel", kernel, "--json").out)
        return report["rates"][-1]["flips_per_ns"]

    def cpu_seconds(self, *words):
        def used():
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            return usage.ru_utime + usage.ru_stime
        before = used()
        self.gpumc(*words)
        return used() - before

    def expect(self, what, below):
        """`what`() is below a bound, at least once."""
        seen = []
        while not seen or (min(seen) >= below and len(seen) < ATTEMPTS):
            seen.append(what())
        self.assertLess(min(seen), below, seen)

    def test_short_rows_of_packed(self):
        """One word a row: 0.9 to 1.3 times the time of 16 words; row by row it was 5 times."""
        def ratio():
            return self.rate("ising2d", "1024x1024", "packed") / self.rate("ising3d", "64x64x64", "packed")
        self.expect(ratio, 2.5)

    def test_a_measurement_after_every_sweep(self):
        """A small lattice, swept and measured: 2.1 times the time of the sweeps alone; with a team of threads
        and the temperature's thresholds made anew for each sweep it was 3.4 to 4.7 times."""
        config = self.write("c.yaml", CANONICAL)

        def ratio():
            often, once = (self.cpu_seconds("run", config, "--threads", 1, "--fresh", "--set",
                                            f"algorithm.interval={interval}") for interval in (1, SWEEPS))
            return often / once
        self.expect(ratio, 2.8)


if __name__ == "__main__":
    unittest.main()

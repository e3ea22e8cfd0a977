"""A checkpoint whose rows of configurations are not those of its instant is refused, although it is complete and agrees
with its log: the result would lack some of them, or have some twice.

CTest: long, methods 6 s
"""
import pathlib
import sys

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases
from support.program import FAILURE, STOPPED
from support.resume import ResumeCase
from support.sanitizers import SANITIZED

CONFIG = """\
gpumc: 1
seed: 20170802
model: {{name: ising2d, shape: [16, 16]}}
algorithm: {{name: {algorithm}}}
output: run.h5
checkpoint: {{every: 10 min}}
"""
REPLICAS = 400 if SANITIZED else 2000  # under sanitizers a sweep takes ten times as long
ALGORITHMS = {
    "pa": "pa, population: {replicas}, sweeps: 50, beta: {{to: 0.5, step: 0.02}}, configurations: {{every: {every}}}",
    "pt": "pt, beta: {{from: 0.2, to: 0.4, count: 4}}, samples: {replicas}, sweeps: 4000, exchange_every: 10, "
          "configurations: {{every: {every}00}}",
    "canonical": "canonical, beta: {{values: [0.2, 0.4]}}, replicas: {replicas}, thermalization: 0, sweeps: 4000, interval: 20, "
                 "configurations: {{every: {every}00}}",
}


class Contradictory(ResumeCase):
    def use_rows(self, algorithm, every):
        self.use(CONFIG.format(algorithm=ALGORITHMS[algorithm].format(every=every, replicas=REPLICAS)))

    def stop_amid(self):
        """After the first configurations, and before the last; returns how many there are."""
        for _ in range(1000):
            self.gpumc("run", self.config, "--max-time", "1 ms", code=STOPPED)
            with h5py.File(self.path("run.h5.ckpt")) as file:
                tables = [table for name, table in file["recorder"].items() if name.isdecimal()]
                count, = (int(table["count"][0, 0]) for table in tables
                          if b" configurations " in table["layout"][()])
            if count > 0:
                return count
        return self.fail("no configurations")

    def configuration(self):
        """Returns what the checkpoint says of it."""
        with h5py.File(self.path("run.h5.ckpt")) as file:
            return {name: file["run"][name][()] for name in ("identity", "trajectory")}

    def refuse_other_rows(self, algorithm):
        self.use_rows(algorithm, 4)
        few = self.stop_amid()
        foreign = self.configuration()
        for path in self.directory.glob("run.h5*"):
            path.unlink()
        self.use_rows(algorithm, 2)
        while self.stop_amid() < few:
            pass
        own = self.configuration()
        self.assertNotEqual(own, foreign)
        self.use_rows(algorithm, 4)
        self.say(foreign)
        message = self.gpumc("run", self.config, code=FAILURE).err
        self.assertIn("are inconsistent", message)
        self.assertEqual(message.count("--fresh"), 1, message)
        self.use_rows(algorithm, 2)
        self.say(own)
        self.assertRegex(self.finish().err, r"resuming at \d+ %")

    def say(self, configuration):
        with h5py.File(self.path("run.h5.ckpt"), "r+") as file:
            for name, text in configuration.items():
                del file["run"][name]
                file["run"][name] = text
        self.seal()

    def test_pa(self):
        self.refuse_other_rows("pa")

    def test_pt(self):
        self.refuse_other_rows("pt")

    def test_canonical(self):
        self.refuse_other_rows("canonical")


if __name__ == "__main__":
    cases.main()

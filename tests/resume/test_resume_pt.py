"""Parallel tempering that is killed or stopped at any instant ends with the numbers of the uninterrupted run:
temperatures, walkers, half-filled sums, histograms and configurations are restored.

CTest: long, methods 6 s
"""
import itertools
import pathlib
import sys

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device
from support.program import FAILURE, STOPPED
from support.resume import ResumeCase
from support.sanitizers import SANITIZED

CONFIG = """\
gpumc: 1
seed: 20260301
model: {{{model}}}
algorithm: {{name: pt, {algorithm}}}
output: run.h5
checkpoint: {{every: 20 ms}}
"""

# Errors from blocks of time; from samples, the last word of which is not full, in units that end within a bin of time.
# Rounds that are longer than units. All with tuning. Sanitizers, under which a sweep takes ten times as long, have fewer words of samples.
SAMPLES = (75, 35, 32) if SANITIZED else (525, 70, 512)
CASES = {
    "few samples": ("name: ising2d, shape: [12, 10]",
                    "beta: {from: 0.3, to: 0.6, count: 5}, tune: {sweeps: 3000}, samples: 3, "
                    "replicas: 2, sweeps: 9600, thermalization: 777, exchange_every: 3, "
                    "measure_every: 6, structure_factor: true"),
    "spin glass": ("name: ea, shape: [4, 4, 4], disorder_seed: 5",
                   "beta: {from: 0.3, to: 1.2, count: 6}, tune: {sweeps: 1000, iterations: 3}, "
                   f"samples: {SAMPLES[0]}, sweeps: 16000, exchange_every: 5, measure_every: 20, "
                   "update: heat_bath, configurations: {every: 2015, temperatures: [0, 4, 5]}"),
    "clusters": ("name: ea, shape: [8, 6], disorder_seed: 9",
                 "beta: {from: 0.3, to: 2, count: 6}, tune: {sweeps: 500, iterations: 2}, "
                 f"samples: {SAMPLES[1]}, replicas: 3, "
                 "sweeps: 9600, thermalization: 130, exchange_every: 5, measure_every: 10, "
                 "cluster_exchange: {kind: joerg, every: 3, max_temperature: 2}"),
    "in a field": ("name: ising2d, shape: [8, 8]",
                   "control: {name: h, beta: 0.4, from: -0.4, to: 0.4, count: 6}, tune: {sweeps: 1000, iterations: 2}, "
                   f"samples: {SAMPLES[1]}, replicas: 2, sweeps: 16000, exchange_every: 5, "
                   "configurations: {every: 4000, temperatures: [0, 5]}"),
    "long rounds": ("name: ising2d, shape: [32, 32]",
                    "beta: {from: 0.3, to: 0.6, count: 4}, tune: {sweeps: 8000, iterations: 1}, "
                    f"samples: {SAMPLES[2]}, sweeps: 16000, exchange_every: 4000, "
                    "configurations: {times: [4000, 12000, 16000]}"),
}


class Resume(ResumeCase):
    def use_case(self, case):
        model, algorithm = CASES[case]
        self.use(CONFIG.format(model=model, algorithm=algorithm))

    def test_killed_at_random_instants(self):
        for case, run in cases.of(itertools.product(CASES, self.KILLED)):
            with self.subTest(case=case, run=run):
                self.use_case(case)
                self.kill_at_random_instants(run)

    def test_stopped_after_every_unit(self):
        """After some units from each of several places on and, if all these cases are taken, after every unit."""
        stopped = 0
        for case, place in cases.of(itertools.product(CASES, self.PLACES)):
            stopped += 1
            with self.subTest(case=case, place=place):
                self.use_case(case)
                self.stop_at(place, 6)
        if stopped < len(CASES) * len(self.PLACES):
            return
        for case in CASES:
            with self.subTest(case=case):
                self.use_case(case)
                self.stop_after_every_unit(6)

    def test_configurations_are_there(self):
        for case, times in ("spin glass", [2015 * (i + 1) for i in range(7)]), ("long rounds", [4000, 12000, 16000]):
            self.use_case(case)
            with h5py.File(self.path("whole.h5")) as file:
                self.assertEqual(sorted(set(file["configurations/sweep"][:])), times)

    def test_log_is_needed(self):
        """Configurations are in the log; if it is missing, or has more of them, nothing is lost silently."""
        self.use_case("spin glass")
        for _ in range(5):
            self.gpumc("run", self.config, "--max-time", "1 ms", code=STOPPED)
        content = self.path("run.h5.log").read_bytes()
        self.path("run.h5.log").unlink()
        self.assertIn("run.h5.log", self.gpumc("run", self.config, code=FAILURE).err)
        self.path("run.h5.log").write_bytes(content + b"more")
        self.finish()

    def test_tells_another_run_apart(self):
        self.use_case("few samples")
        self.tell_another_seed_apart()


if __name__ == "__main__":
    device.require()
    cases.main()

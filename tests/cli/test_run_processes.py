"""`mpirun -n P gpumc run`: the file of one process for every algorithm, and the times of its messages. Skipped without MPI.

The processes as one job: test_run_job.py.

CTest: crowded, cases 2 s, methods 6 s
"""
import itertools
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, mpi
from support.device import PROGRAM
from support.process_comparison import PROCESSES, REPLICAS, RUNS, ProcessComparison, launches
from support.program import FAILURE, INVALID, OK
from support.results import assert_same_numbers, numbers

HEAD = "gpumc: 1\nseed: 5\noutput: run.h5\n"
LADDER = "beta: {from: 0.2, to: 0.5, count: 4}"
ALGORITHMS = {
    "pa_systematic": HEAD + "model: {name: ising2d, shape: [8, 8]}\n"
          "algorithm: {name: pa, population: 151, sweeps: 2, beta: {from: 0.0, to: 0.5, overlap: 0.8}, runs: 7, "
          "resampling: systematic}\n",
    "canonical_heisenberg": HEAD + "model: {name: heisenberg, shape: [4, 4, 4]}\n"
                 "algorithm: {name: canonical, beta: {from: 0.2, to: 1.5, count: 5}, thermalization: 100, sweeps: 100, "
                 "replicas: 3, series: true, configurations: {every: 20}}\n",
    "canonical_improved": HEAD + "model: {name: heisenberg, shape: [6, 4]}\n"
                 f"algorithm: {{name: canonical, {LADDER}, thermalization: 40, sweeps: 40, replicas: 3, update: swendsen_wang, "
                 "structure_factor: true, improved_estimators: true}\n",
    "canonical_tiled": HEAD + "model: {name: ising2d, shape: [16, 16]}\n"
                 f"algorithm: {{name: canonical, {LADDER}, thermalization: 20, sweeps: 40, interval: 2, replicas: 2}}\n"
                 "kernel: {variant: tiled, tile: 8, hits: 2, generator: lcg64}\n",
    "canonical_samples": HEAD + "model: {name: ea, shape: [6, 6]}\n"
                 f"algorithm: {{name: canonical, {LADDER}, thermalization: 20, sweeps: 40, samples: 45}}\n",
    "pa": HEAD + "model: {name: ising2d, shape: [8, 8]}\n"
          "algorithm: {name: pa, population: 231, sweeps: 2, beta: {from: 0.0, to: 0.5, step: 0.05}, runs: 3}\n",
    "pa_runs": HEAD + "model: {name: ising2d, shape: [8, 8]}\n"
          "algorithm: {name: pa, population: 201, sweeps: 2, beta: {from: 0.0, to: 0.5, step: 0.05}, runs: 11, "
          "configurations: {every: 4}, reweight: {from: 0.1, to: 0.4, step: 0.1}}\n",
    "pa_runs_steps": HEAD + "model: {name: heisenberg, shape: [4, 4, 4]}\n"
          "algorithm: {name: pa, population: 101, sweeps: 4, beta: {from: 0.0, to: 1.0, overlap: 0.8}, runs: 8}\n",
    # Populations of which each process has some places: one run, or fewer runs than processes.
    "pa_places": HEAD + "model: {name: ising2d, shape: [8, 8]}\n"
          "algorithm: {name: pa, population: 1501, sweeps: 2, beta: {from: 0.0, to: 0.5, step: 0.05}, runs: 1, "
          "configurations: {every: 4}, reweight: {from: 0.1, to: 0.4, step: 0.1}}\n",
    "pa_places_systematic": HEAD + "model: {name: ising3d, shape: [4, 4, 4]}\n"
          "algorithm: {name: pa, population: 1501, sweeps: 1, beta: {from: 0.0, to: 0.4, step: 0.04}, runs: 3, "
          "resampling: systematic, configurations: {betas: [0.2]}, reweight: {from: 0.1, to: 0.3, step: 0.1}}\n",
    "pa_places_few_families": HEAD + "model: {name: ising2d, shape: [16, 16]}\n"
          "algorithm: {name: pa, population: 301, sweeps: 1, beta: {from: 0.0, to: 1.0, step: 0.1}, runs: 1}\n",
    "pa_places_adaptive": HEAD + "model: {name: ea, shape: [4, 4, 4]}\n"
          "algorithm: {name: pa, population: 301, sweeps: 2, beta: {from: 0.0, to: 2.0, overlap: 0.8}, runs: 3}\n",
    "pa_places_adaptive_systematic": HEAD + "model: {name: ea, shape: [6, 6]}\n"
          "algorithm: {name: pa, population: 301, sweeps: 2, beta: {from: 0.0, to: 2.0, overlap: 0.85}, runs: 1, "
          "resampling: systematic}\n",
    "pa_places_field": HEAD + "model: {name: ising2d, shape: [8, 8]}\n"
          "algorithm: {name: pa, population: 301, sweeps: 2, control: {name: h, from: -0.4, to: 0.2, step: 0.1, "
          "thermalization: 20, beta: 0.3}, runs: 1}\n",
    "pa_places_heisenberg": HEAD + "model: {name: heisenberg, shape: [4, 4, 4]}\n"
          "algorithm: {name: pa, population: 301, sweeps: 5, beta: {from: 0.0, to: 1.0, step: 0.2}, runs: 1, "
          "configurations: {every: 3}}\n",
    "pa_places_hard_disks": HEAD + "model: {name: hard_disks, particles: 16, packing_fraction: 0.5}\n"
          "algorithm: {name: pa, population: 301, sweeps: 3, control: {name: beta_pressure, from: 3, to: 6, overlap: 0.8, "
          "thermalization: 20}, runs: 1}\n",
    "canonical": HEAD + "model: {name: ising2d, shape: [8, 8]}\n"
                 f"algorithm: {{name: canonical, {LADDER}, thermalization: 20, sweeps: 200, replicas: 40}}\n",
    "canonical_one_value": HEAD + "model: {name: heisenberg, shape: [4, 4, 4]}\n"
                 "algorithm: {name: canonical, beta: {values: [0.8]}, thermalization: 100, sweeps: 100, update: metropolis, "
                 "replicas: 9, series: true, configurations: {every: 20}}\n",
    "canonical_pressure": HEAD + "model: {name: hard_disks, particles: 16, packing_fraction: 0.3}\n"
                 "algorithm: {name: canonical, control: {name: beta_pressure, values: [1.0, 2.0]}, replicas: 5, "
                 "thermalization: 64, sweeps: 64}\n",
    "pt": HEAD + "model: {name: ea, shape: [6, 6]}\n"
          f"algorithm: {{name: pt, {LADDER}, samples: 3, sweeps: 64}}\n",
    "pt_samples": HEAD + "model: {name: ea, shape: [6, 6], couplings: gaussian, write_couplings: true}\n"
          "algorithm: {name: pt, beta: {from: 0.2, to: 1.5, count: 5}, samples: 225, sweeps: 128, thermalization: 30, "
          "tune: {sweeps: 100, iterations: 3}, configurations: {times: [64, 128], temperatures: [0, 3]}}\n",
    "pt_clusters": HEAD + "model: {name: ea, shape: [6, 6], couplings: gaussian}\n"
          "algorithm: {name: pt, beta: {from: 0.2, to: 1.5, count: 5}, samples: 45, replicas: 3, sweeps: 128, "
          "cluster_exchange: {kind: joerg, every: 2}}\n",
    # Sums of so many samples are a message for each average.
    "pt_many_samples": HEAD + "model: {name: ea, shape: [4, 4]}\n"
          "algorithm: {name: pt, beta: {from: 0.2, to: 1.0, count: 5}, samples: 30017, sweeps: 10}\n",
    "pt_samples_or_runs": HEAD + "model: {name: ea, shape: [6, 6]}\n"
          "algorithm: {name: pt, beta: {from: 0.2, to: 1.5, count: 5}, samples: 45, replicas: 3, sweeps: 128, "
          "thermalization: 30, tune: {sweeps: 60, iterations: 2}, measure_every: 4, configurations: {every: 64}}\n",
    "pt_heisenberg": HEAD + "model: {name: heisenberg, shape: [4, 4, 4], couplings: gaussian}\n"
          "algorithm: {name: pt, beta: {from: 0.3, to: 3, count: 4}, samples: 7, sweeps: 64, thermalization: 100, "
          "tune: {sweeps: 40, iterations: 2}, configurations: {every: 32}}\n",
    "pt_temperatures": HEAD + "model: {name: ising2d, shape: [8, 8]}\n"
          "algorithm: {name: pt, beta: {from: 0.2, to: 0.6, count: 16}, samples: 1, sweeps: 256, thermalization: 40, "
          "tune: {sweeps: 40, iterations: 2}, configurations: {every: 128}}\n",
    "pt_pressure": HEAD + "model: {name: hard_disks, particles: 16, packing_fraction: 0.3}\n"
          "algorithm: {name: pt, control: {name: beta_pressure, from: 1, to: 3, count: 8}, samples: 3, sweeps: 64, "
          "thermalization: 100}\n",
    "muca": HEAD + "model: {name: ising2d, shape: [6, 6]}\n"
            "algorithm: {name: muca, walkers: 250, beta: {from: 0.2, to: 0.5, step: 0.1}}\n",
    "mpmc": HEAD + "model: {name: hard_disks, particles: 16, packing_fraction: 0.3}\n"
            "algorithm: {name: mpmc, replicas: 9, thermalization: 20, sweeps: 40, configurations: {every: 20}}\n",
}
# By the number of processes, /provenance/division.
DIVISIONS = {
    "muca": dict.fromkeys(PROCESSES, REPLICAS),
    "pt_many_samples": {2: REPLICAS, 3: REPLICAS, 4: REPLICAS, 7: REPLICAS},
    "pt_samples": {2: REPLICAS, 3: REPLICAS, 4: REPLICAS, 7: REPLICAS},
    "pt_samples_or_runs": {2: REPLICAS, 3: RUNS, 4: RUNS, 7: RUNS},
    "pt_clusters": {2: REPLICAS, 3: REPLICAS, 4: REPLICAS, 7: REPLICAS},
    "pt_heisenberg": {2: REPLICAS, 3: REPLICAS, 4: REPLICAS, 7: REPLICAS},
    "pt_temperatures": {2: RUNS, 3: RUNS, 4: RUNS, 7: RUNS},
    "pt_pressure": {2: REPLICAS, 3: REPLICAS, 4: RUNS, 7: RUNS},
}


def muca(keys, model="name: ising2d, shape: [6, 6]", divergence="1.0e-2", iteration="", measurements=100, updates=3e4):
    return HEAD + f"model: {{{model}}}\n" \
        f"algorithm:\n  name: muca\n  walkers: 250\n  {keys}\n" \
        f"  iteration: {{divergence: {divergence}{iteration}, write_weights: true}}\n" \
        f"  production: {{measurements: {measurements}, updates: {updates}}}\n"


GRID = "beta: {from: 0.2, to: 0.5, step: 0.1}"
GLASS = "name: ea, shape: [8, 8]"
WINDOWS = "windows: {count: 2, overlap: 0.4}"
# Jackknife parts are groups of walkers, or of several groups that two processes have; walkers that come into a range; those that
# do not, but keep their stripes, become copies of others; windows that wait for each other; windows without states; samples;
# bins.
MUCA = {
    "parts": muca(f"structure_factor: true\n  {GRID}").replace("250", "700"),
    "large_parts": muca(GRID, updates=1e4).replace("250", "4807"),
    "range": muca(f"range: {{from: -1.9, to: -0.1}}\n  {GRID}", "name: ising2d, shape: [8, 8]"),
    "stripes": muca("range: {from: -2, to: -1.7}\n  beta: {from: 0.5, to: 0.8, step: 0.1}",
                    "name: ising2d, shape: [12, 12]").replace("250", "2500"),
    "windows": muca(f"windows: {{count: 4, overlap: 0.3}}\n  {GRID}", "name: ising2d, shape: [8, 8]"),
    "wang_landau": muca(GRID, iteration=", start: wang_landau, thermalization: 60"),
    "samples": muca(f"samples: 3\n  range: {{from: -1.0, to: 0.5}}\n  {WINDOWS}\n  {GRID}", GLASS),
    "empty": muca(f"samples: 2\n  bin: 1\n  windows: {{count: 6}}\n  {GRID}", "name: ea, shape: [4, 4], couplings: gaussian"),
    "field": muca("control: {name: h, beta: 0.3, from: -0.1, to: 0.1, step: 0.1}"),
    "heisenberg": muca(f"range: {{from: -1.6, to: 0.2}}\n  bin: 1\n  {WINDOWS}\n  {GRID}", "name: heisenberg, shape: [4, 4]"),
}


class SameFile(ProcessComparison):
    def test_algorithms(self):
        for name, (kind, processes) in cases.of(itertools.product(ALGORITHMS, launches())):
            with self.subTest(algorithm=name, mpi=kind, processes=processes):
                self.compare_alone(ALGORITHMS[name], kind, processes, DIVISIONS.get(name))

    def test_control(self):
        config = self.write("c.yaml", ALGORITHMS["pa"])
        self.gpumc("run", config, "-o", "one.h5")
        self.mpirun(next(iter(mpi.LAUNCHERS)), 2, "run", config, "--set", "seed=6")
        with self.assertRaises(AssertionError):
            assert_same_numbers(self, numbers(self.path("one.h5")), self.path("run.h5"))

    def test_all_places_of_a_process_are_lost(self):
        """In some steps, by the last one: of 65 replicas it has one, at first."""
        text = ALGORITHMS["pa_places"].replace("1501", "65")
        self.compare_text(text, {3: REPLICAS}, [3])


class TimesOfMessages(ProcessComparison):
    """By stages, of which each algorithm has its own."""

    TEXTS = {
        "pa_places": (ALGORITHMS["pa_places"], ["resample", "gather", "sweep", "tally", "other"]),
        "pt_temperatures": (ALGORITHMS["pt_temperatures"], ["sweep", "tally", "exchange", "other"]),
        "pt_many_samples": (ALGORITHMS["pt_many_samples"], ["sweep", "tally", "exchange", "other"]),
        "canonical": (ALGORITHMS["canonical"], ["sweep", "look", "tally", "other"]),
        "muca": (ALGORITHMS["muca"], ["iteration", "production", "other"]),
        "mpmc": (ALGORITHMS["mpmc"], ["sweep", "look", "tally", "other"]),
    }
    # Where each of them tells the others what decides.
    NEVER_NONE = {"pa_places": "resample", "pt_temperatures": "exchange", "pt_many_samples": "tally", "canonical": "sweep", "muca": "iteration",
                  "mpmc": "sweep"}
    PREFIX = "seconds_communication_"

    def communication(self, name):
        return {key: value for key, value in self.provenance(name).items() if "communication" in key}

    def check(self, found, stages, never_none):
        total, share = found.pop("seconds_communication"), found.pop("communication_share")
        self.assertEqual(sorted(found), sorted(self.PREFIX + stage for stage in stages))
        self.assertGreaterEqual(min(found.values()), 0)
        self.assertAlmostEqual(sum(found.values()), total, delta=1e-12 * total)
        for stage in never_none, "other":
            self.assertGreater(found[self.PREFIX + stage], 0)
        self.assertGreater(share, 0)
        self.assertLess(share, 1)

    def test_add_up(self):
        for name, (text, stages) in self.TEXTS.items():
            config = self.write("c.yaml", text)
            for kind in mpi.LAUNCHERS:
                self.mpirun(kind, 2, "run", config, "--threads", 1, "--fresh")
                self.check(self.communication("run.h5"), stages, self.NEVER_NONE[name])

    def test_one_process_has_none(self):
        for text, _ in self.TEXTS.values():
            self.gpumc("run", self.write("c.yaml", text), "--threads", 1, "--fresh")
            self.assertEqual(self.communication("run.h5"), {})

    def test_tasks_of_a_campaign(self):
        """Each has its own times: the second one takes less than messages of the first."""
        text = ALGORITHMS["pt_temperatures"].replace("run.h5", "'{algorithm.sweeps}.h5'").replace("samples", "exchange_every: 1, samples")
        config = self.write("c.yaml", text + "campaign: {algorithm.sweeps: [12800, 256]}\n")
        for kind in mpi.LAUNCHERS:
            self.mpirun(kind, 2, "run", config, "--threads", 1, "--fresh")
            first, second = (self.provenance(name) for name in ["12800.h5", "256.h5"])
            self.assertGreater(first["seconds_communication"], second["seconds_communication"])
            self.assertLess(second["seconds_communication"], second["seconds"])


class WalkersOfMuca(ProcessComparison):
    # Refused by the root, with the lock held.
    REFUSED = ["run.h5.status"]

    def test_muca(self):
        for name, (kind, processes) in cases.of(itertools.product(MUCA, launches(each_has=2))):
            with self.subTest(name, mpi=kind, processes=processes):
                self.compare_alone(MUCA[name], kind, processes)

    def test_from_a_file(self):
        """Weights of a result of fewer walkers."""
        few = ALGORITHMS["muca"].replace("250", "45")
        self.gpumc("run", self.write("first.yaml", few), "-o", "first.h5")
        self.compare_text(muca(GRID, iteration=", start: file, file: first.h5"), each_has=2)

    def test_two_groups(self):
        """Of 32 walkers and 13, of which each process has one at least."""
        few = ALGORITHMS["muca"].replace("250", "45")
        self.compare_text(few, numbers_of_processes=[2])
        self.path("one.h5").unlink()
        for kind in mpi.LAUNCHERS:
            done = self.mpirun(kind, 3, "run", self.write("c.yaml", few), code=INVALID)
            self.assertEqual(done.err.count("gpumc: error: 3 processes, but 1 runs of 45 replicas, in groups of 32, can be "
                                            "divided among at most 2"), 1, done.err)
        self.assertEqual(self.names("*.h5*"), self.REFUSED)

    def test_where_no_walker_comes_in(self):
        """All find it out, and it is said once."""
        config = self.write("c.yaml", muca(f"range: {{from: -2, to: -1.7}}\n  {GRID}", "name: ea, shape: [6, 6]"))
        for kind in mpi.LAUNCHERS:
            done = self.mpirun(kind, 3, "run", config, "--threads", 1, code=FAILURE, GPUMC_PROCESSES_CHECK="1")
            line, = (line for line in self.lines(done) if "warning:" not in line)  # of a GPU that they share
            self.assertIn("gpumc: error: 0 of 250 walkers reached the range", line)
            for name in self.names("*.h5*"):
                self.path(name).unlink()

    def test_numbers_of_threads(self):
        """Units of the curves end with those of the root, whose number of threads is another one."""
        text = ALGORITHMS["muca"].replace("step: 0.1", "step: 1.0e-5")
        config = self.write("c.yaml", text)
        self.gpumc("run", config, "-o", "one.h5", "--threads", 1)
        for kind in mpi.LAUNCHERS:
            words = [mpi.LAUNCHERS[kind]]
            for threads in 1, 2:
                words += ["-n", "1", PROGRAM, "run", config, "--threads", str(threads), ":"]
            done = subprocess.run(words[:-1], cwd=self.directory, capture_output=True, text=True, timeout=120,
                                  env=mpi.environment(GPUMC_PROCESSES_CHECK="1"), check=False)
            self.assertEqual(done.returncode, OK, done.stderr)
            assert_same_numbers(self, numbers(self.path("one.h5")), self.path("run.h5"))
            self.path("run.h5").unlink()


if __name__ == "__main__":
    mpi.require()
    device.require()
    cases.main()

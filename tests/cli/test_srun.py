"""Processes that srun has started, by each way that it reaches an MPI of this build, work on one run: the numbers of a single
process. Without such a way they are refused in one line each. A Slurm of one node; skipped with a reason where it cannot be
started."""
import pathlib
import sys

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, mpi, slurm
from support.device import PROGRAM
from support.program import INVALID, OK, ProgramCase
from support.results import assert_same_numbers, numbers

RUN = """\
gpumc: 1
seed: 5
model: {name: ea, shape: [4, 4, 4]}
algorithm: {name: pa, population: 301, sweeps: 2, beta: {from: 0.0, to: 2.0, overlap: 0.8}, runs: RUNS}
output: OUTPUT
"""
WAYS = {"pmi2": "MPICH", "pmix": "Open MPI"}


class Srun(ProgramCase):
    def setUp(self):
        super().setUp()
        try:
            self.slurm = self.enterContext(slurm.Slurm(processors=4))
        except slurm.Unavailable as reason:
            self.skipTest(reason)
        self.slurm.environment.update(mpi.environment(SLURM_CONF=self.slurm.environment["SLURM_CONF"]))

    def srun(self, way, processes, *words, code=OK):
        done = self.slurm.run("srun", "-n", processes, f"--mpi={way}", *words, cwd=self.directory)
        self.assertEqual(done.returncode, code, f"{way}: {done.stdout}{done.stderr}")
        return done.stderr

    def config(self, name, runs):
        return self.write(f"{name}.yaml", RUN.replace("RUNS", str(runs)).replace("OUTPUT", f"{name}.h5"))

    def test_a_run_of_several_processes(self):
        there = {way: kind for way, kind in WAYS.items() if mpi.module(kind).exists()}
        for runs in (1, 3):  # places of one population, and whole runs
            self.gpumc("run", self.config("one", runs), "--threads", 1)
            reference = numbers(self.path("one.h5"))
            for way, kind in there.items():
                self.srun(way, 3, PROGRAM, "run", self.config(way, runs), "--threads", 1, "-q")
                assert_same_numbers(self, reference, self.path(f"{way}.h5"))
                with h5py.File(self.path(f"{way}.h5")) as file:
                    found = dict(file["provenance"].attrs)
                self.assertEqual(found["processes"], 3)
                self.assertTrue(found["mpi"].decode().startswith(kind), found["mpi"])
                self.path(f"{way}.h5").unlink()
            self.path("one.h5").unlink()

    def test_without_a_way(self):
        said = self.srun("none", 2, PROGRAM, "run", self.config("none", 1), code=INVALID)
        self.assertIn("srun started 2 processes that no MPI can connect: use srun --mpi=pmix or --mpi=pmi2", said)
        self.assertEqual(said.count("gpumc: error:"), 1, said)


if __name__ == "__main__":
    mpi.require()
    cases.main()

"""The processes of `mpirun -n P gpumc run` as one job: errors and endings are reported once, a host's processors are shared out, what
differs between processes is found. Skipped without MPI.

Their numbers are those of one process: test_run_processes.py.

CTest: crowded, methods 6 s
"""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, faults, mpi
from support.attributes import attributes
from support.device import PROGRAM
from support.mpi_case import MpiCase
from support.program import CAMPAIGN, FAILURE, INVALID, LONG, OK, SMALL

HEAD = "gpumc: 1\nseed: 5\noutput: run.h5\n"
CHAINS = "algorithm: {name: canonical, beta: {from: 0.2, to: 0.5, count: 4}, thermalization: 20, sweeps: 40}\n"
ISING = HEAD + "model: {name: ising2d, shape: [8, 8]}\n" + CHAINS


class SaidOnce(MpiCase):
    def errors(self, words, code, *, once, **more):
        for kind in mpi.LAUNCHERS:
            done = self.mpirun(kind, 3, *words, code=code, **more)
            self.assertEqual(done.err.count(once), 1, done.err)

    def test_usage(self):
        self.errors(["run"], INVALID, once="gpumc: error: no configuration file given")
        self.errors(["run", "--nonsense"], INVALID, once="unknown option '--nonsense'")

    def test_configuration(self):
        config = self.write("c.yaml", SMALL.replace("population", "populaton"))
        self.errors(["run", config], INVALID, once="unknown key 'populaton'")
        self.errors(["run", "missing.yaml"], FAILURE, once="missing.yaml")

    def test_task(self):
        config = self.write("c.yaml", CAMPAIGN)
        self.errors(["run", config, "--task", 3], INVALID, once="gpumc: error: --task 3: ")

    def test_no_module(self):
        config = self.write("c.yaml", SMALL)
        self.path("empty").mkdir()
        for kind in mpi.LAUNCHERS:
            done = self.mpirun(kind, 3, "run", config, code=INVALID, GPUMC_MPI_MODULES=str(self.path("empty")))
            line, = self.lines(done)
            self.assertIn(f"gpumc: error: started as 3 processes by {kind}, but this gpumc has modules for neither", line)
        self.assertEqual(self.names("*.h5*"), [])

    def test_a_library_that_is_missing(self):
        config = self.write("c.yaml", SMALL)
        for kind in mpi.LAUNCHERS:
            self.path(mpi.MODULES[kind]).write_text("no module\n")
            done = self.mpirun(kind, 3, "run", config, code=FAILURE, GPUMC_MPI_MODULES=str(self.directory))
            self.assertEqual(done.err.count("cannot load MPI: "), 1, done.err)

    def test_a_file_of_somebody(self):
        config = self.write("c.yaml", SMALL)
        self.path("small.h5").write_text("somebody's\n")
        self.errors(["run", config], INVALID, once="gpumc: error: ")
        self.assertEqual(self.path("small.h5").read_text(), "somebody's\n")

    def test_another_configuration_in_the_way(self):
        config = self.write("c.yaml", SMALL)
        self.gpumc("run", config)
        self.errors(["run", config, "--set", "seed=12"], INVALID, once="gpumc: error: ")

    def test_complete(self):
        config = self.write("c.yaml", SMALL)
        self.gpumc("run", config)
        self.errors(["run", config], OK, once="already complete")


class OneHost(MpiCase):
    """Processes of a host share out its processors; a test has no GPUs to share (tests/unit/test_device.c)."""

    PROCESSORS = len(os.sched_getaffinity(0))

    def provenance(self, text, kind, processes, **more):
        self.path("run.h5").unlink(missing_ok=True)
        self.mpirun(kind, processes, "run", self.write("c.yaml", text), **more)
        with h5py.File(self.path("run.h5"), "r") as file:
            return attributes(file["provenance"])

    def unbound(self, processes):
        return max(1, -(-self.PROCESSORS // processes))

    def test_threads(self):
        for kind in mpi.LAUNCHERS:
            for processes in 2, 3:
                found = self.provenance(ISING, kind, processes)
                self.assertEqual(found["threads"], self.unbound(processes))
            self.assertEqual(self.provenance(ISING, kind, 2, OMP_NUM_THREADS="3")["threads"], 3)

    def test_processors_that_they_are_bound_to(self):
        first = min(os.sched_getaffinity(0))
        for kind in mpi.LAUNCHERS:
            words = mpi.command(kind, 2, "taskset", "-c", first, PROGRAM, "run", self.write("c.yaml", ISING), "--fresh")
            subprocess.run(words, cwd=self.directory, check=True, env=mpi.environment(), capture_output=True)
            with h5py.File(self.path("run.h5"), "r") as file:
                self.assertEqual(file["provenance"].attrs["threads"], 1)
        if self.PROCESSORS > 1 and "Open MPI" in mpi.LAUNCHERS:
            found = self.provenance(ISING, "Open MPI", 2, OMPI_MCA_hwloc_base_binding_policy="core")
            self.assertEqual(found["threads"], 1)

    def test_devices(self):
        """A line for each process; CPUs are shared without a warning."""
        for kind in mpi.LAUNCHERS:
            done = self.mpirun(kind, 3, "run", self.write("c.yaml", ISING), "--fresh")
            self.assertNotIn("share", done.err)
            with h5py.File(self.path("run.h5"), "r") as file:
                lines = attributes(file["provenance"])["devices"].split("\n")
                self.assertEqual(attributes(file["provenance"])["device"], lines[0].split(": ", 1)[1])
            self.assertEqual(len(lines), 3)
            for line in lines:
                self.assertRegex(line, rf"^{re.escape(socket.gethostname())} cpu: .*, \d+ threads?$")


class OneHostOfSeveral(MpiCase):
    """What one host lacks; hosts are made up here, by the variables of launchers."""

    def test_a_module(self):
        config = self.write("c.yaml", SMALL)
        self.path("empty").mkdir()
        lacks = ["env", f"GPUMC_MPI_MODULES={self.path('empty')}"]
        run = [PROGRAM, "run", str(config)]
        first = {"Open MPI": "OMPI_COMM_WORLD_LOCAL_RANK=0", "MPICH": "MPI_LOCALRANKID=0"}
        for kind in mpi.LAUNCHERS:
            words = [mpi.LAUNCHERS[kind], "-n", "1", *run, ":", "-n", "1", *lacks, first[kind], *run, ":", "-n", "1", *lacks, *run]
            done = subprocess.run(words, cwd=self.directory, capture_output=True, text=True, timeout=120, env=mpi.environment(),
                                  check=False)
            self.assertEqual(done.returncode, INVALID, done.stderr)
            line, = [line for line in done.stderr.splitlines() if line.startswith("gpumc:")]
            self.assertRegex(line, rf"^gpumc: error: process 1 of 3 on \S+: started as 3 processes by {kind}, but this gpumc has "
                                   "modules for neither Open MPI nor MPICH: ")
        self.assertEqual(self.names("*.h5*"), [])


class TheJob(MpiCase):
    def test_only_the_root_asks_for_its_end(self):
        config = self.write("c.yaml", SMALL)
        squeue = pathlib.Path(self.write("bin/squeue", "#!/bin/sh\necho asked >> ../asked\necho 30:00\n".replace("..", str(self.directory))))
        squeue.chmod(0o755)
        for kind in mpi.LAUNCHERS:
            words = ["env", "SLURM_JOB_ID=1", f"PATH={squeue.parent}:{os.environ['PATH']}", PROGRAM, "run", config, "--max-time", "job",
                     "--fresh"]
            subprocess.run(mpi.command(kind, 3, *words), cwd=self.directory, check=True, env=mpi.environment(), capture_output=True)
            self.assertEqual(self.path("asked").read_text(), "asked\n")
            self.path("asked").unlink()

    def test_there_is_none(self):
        config = self.write("c.yaml", SMALL)
        for kind in mpi.LAUNCHERS:
            done = self.mpirun(kind, 3, "run", config, "--max-time", "job", code=INVALID)
            self.assertEqual(done.err.count("--max-time job: this is not a Slurm job"), 1)


class FullDisk(MpiCase):
    """Of a run that all processes work on: only the root writes, and only the root's writes fail."""

    CONFIG = LONG.replace("small.h5", "run.h5")

    def fails(self, setting, where, *words):
        faults.require(self)
        config = self.write("c.yaml", self.CONFIG)
        for kind in mpi.LAUNCHERS:
            fault = {name: value for name, value in faults.environment(setting).items()
                     if name in ["LD_PRELOAD", "GPUMC_FAULT"]}
            done = self.mpirun(kind, 3, "run", config, "--threads", 1, *words, code=FAILURE, **fault)
            line, = [line for line in self.lines(done) if "error" in line]
            self.assertRegex(line, where)
            self.assertIn("No space left on device", line)
            for name in self.names("run.h5*"):
                self.path(name).unlink()

    def test_at_a_checkpoint(self):
        self.fails("write:path=.ckpt:after_bytes=10000", r"^gpumc: error: .*run\.h5\.ckpt", "--max-time", "300 ms")

    def test_in_a_unit(self):
        self.fails("write:path=.partial:after_bytes=50000", r"^gpumc: error: process 0 of 3 on \S+: .*run\.h5\.partial")

    def test_at_the_start(self):
        self.fails("write:path=.partial:after_bytes=1000", r"^gpumc: error: .*run\.h5\.partial")


class Mixed(MpiCase):
    """Two programs, or two configurations, in one job."""

    def mixed(self, kind, first, second, code=INVALID):
        words = [mpi.LAUNCHERS[kind], "-n", "1", *map(str, first), ":", "-n", "2", *map(str, second)]
        done = subprocess.run(words, cwd=self.directory, capture_output=True, text=True, timeout=120,
                              env=mpi.environment(), check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        line, = [line for line in done.stderr.splitlines() if line.startswith("gpumc:")]
        return line

    def test_configurations(self):
        one, other = self.write("c.yaml", SMALL), self.write("d.yaml", SMALL.replace("seed: 11", "seed: 12"))
        for kind in mpi.LAUNCHERS:
            line = self.mixed(kind, [PROGRAM, "run", one], [PROGRAM, "run", other])
            self.assertRegex(line, r"^gpumc: error: process 1 of 3 on \S+: the configuration differs: '.*12.*', but process 0 "
                                   r"has '.*11.*'; start all processes with the same program and the same configuration$")
        self.assertEqual(self.names("*.h5*"), [])

    def test_couplings(self):
        """Each process reads them where it works."""
        text = HEAD + "model: {name: ea, shape: [6, 6], couplings: file, file: couplings.h5}\n" + CHAINS
        drawn = text.replace("couplings: file, file: couplings.h5", "couplings: gaussian, write_couplings: true")
        folders = []
        for seed in 1, 2:
            self.gpumc("run", self.write(f"{seed}/c.yaml", drawn), "--set", f"model.disorder_seed={seed}", "-q", "-o",
                       self.path(f"{seed}/couplings.h5"))
            self.write(f"{seed}/c.yaml", text)
            folders.append(["sh", "-c", f"cd {self.path(str(seed))} && exec {PROGRAM} run c.yaml"])
        for kind in mpi.LAUNCHERS:
            line = self.mixed(kind, *folders)
            self.assertRegex(line, r"^gpumc: error: process 1 of 3 on \S+: what is read from files differs: ")
        self.assertEqual(self.names("*/run.h5"), [])

    def test_kernels(self):
        """Of one trajectory. The variant belongs to the configuration; a device of another kind would differ as the kernel."""
        config = self.write("c.yaml", ISING)
        one, other = ([PROGRAM, "run", config, "--set", f"kernel.variant={variant}"] for variant in ("spin", "walker"))
        for kind in mpi.LAUNCHERS:
            line = self.mixed(kind, one, other)
            self.assertRegex(line, r"process 1 of 3 on \S+: the configuration differs: '.*walker.*', but process 0 has '.*spin")

    def test_numbers_of_tasks(self):
        one, other = self.write("c.yaml", SMALL), self.write("d.yaml", CAMPAIGN)
        for kind in mpi.LAUNCHERS:
            line = self.mixed(kind, [PROGRAM, "run", one], [PROGRAM, "run", other])
            self.assertIn("the number of tasks differs: '3', but process 0 has '1'", line)

    def test_a_configuration_that_one_cannot_read(self):
        one = self.write("c.yaml", SMALL)
        for kind in mpi.LAUNCHERS:
            line = self.mixed(kind, [PROGRAM, "run", one], [PROGRAM, "run", "missing.yaml"], code=FAILURE)
            self.assertRegex(line, r"^gpumc: error: process 1 of 3 on \S+: .*missing\.yaml")

    def test_programs(self):
        commit = json.loads(self.gpumc("doctor", "--json").out)["program"]["commit"].encode()
        program = pathlib.Path(PROGRAM).read_bytes()
        self.assertIn(b", commit " + commit, program)
        other = self.path("gpumc")
        other.write_bytes(program.replace(b", commit " + commit, b", commit " + b"x" * len(commit)))
        other.chmod(0o755)
        config = self.write("c.yaml", SMALL)
        for kind in mpi.LAUNCHERS:
            shutil.copy(mpi.module(kind), self.path(mpi.MODULES[kind]))
            line = self.mixed(kind, [PROGRAM, "run", config], [other, "run", config])
            self.assertRegex(line, r"process 1 of 3 on \S+: the program differs: '.*commit x+', but process 0 has ")


class Campaign(MpiCase):
    def test_all_tasks(self):
        config = self.write("c.yaml", CAMPAIGN)
        for kind in mpi.LAUNCHERS:
            done = self.mpirun(kind, 3, "run", config)
            self.assertEqual(self.names("out/*"), ["out/1.h5", "out/2.h5", "out/3.h5"])
            for task in range(3):
                self.assertEqual(done.err.count(f"task {task}: out/{task + 1}.h5: complete"), 1)
            shutil.rmtree(self.path("out"))

    def test_alone_each_takes_tasks(self):
        config = self.write("c.yaml", CAMPAIGN)
        for kind in mpi.LAUNCHERS:
            self.mpirun(kind, 2, "run", "--alone", config)
            self.assertEqual(self.names("out/*"), ["out/1.h5", "out/2.h5", "out/3.h5"])
            with h5py.File(self.path("out/1.h5"), "r") as file:
                self.assertEqual(file["provenance"].attrs["processes"], 1)
            shutil.rmtree(self.path("out"))


if __name__ == "__main__":
    mpi.require()
    cases.main()

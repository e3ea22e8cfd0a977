"""Processes that mpirun has started reach each other, under each MPI there is: every operation, agreement, and how
gpumc refuses what it cannot do. Skipped without MPI.

CTest: crowded, methods 6 s
"""
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, mpi
from support.device import PROGRAM
from support.program import DEVICE, FAILURE, INVALID, OK, SMALL, STOPPED, ProgramCase

DRIVER = pathlib.Path(os.environ.get("GPUMC_BUILD", "build/release")).resolve() / "tests/gpumc_processes_program"
TRANSFER = DRIVER.parent / "gpumc_transfer_program"
TRANSFERS = ["host copies", "NCCL, or host copies where processes share a GPU"]
NUMBERS = [1, 2, 3, 4, 7]


class ProcessesCase(ProgramCase):
    def launch(self, kind, processes, *words, code=OK, **more):
        """The finished launcher; its exit code is that of the processes."""
        done = subprocess.run(mpi.command(kind, processes, *words), cwd=self.directory, capture_output=True, text=True,
                              timeout=120, env=mpi.environment(**more), check=False)
        self.assertEqual(done.returncode, code, f"{kind}, {processes} processes: {done.stdout}{done.stderr}")
        return done

    def drive(self, kind, processes, *words, **more):
        return self.launch(kind, processes, DRIVER, *words, **more)


class Operations(ProcessesCase):
    def test_of_any_number_of_processes(self):
        for kind in mpi.LAUNCHERS:
            for processes in NUMBERS:
                done = self.drive(kind, processes, "operations", 0)
                self.assertIn(f"{processes} processes, {kind if processes > 1 else ''}", done.stdout)

    def test_in_messages_of_a_few_bytes(self):
        for kind in mpi.LAUNCHERS:
            self.drive(kind, 3, "operations", 7)

    def test_in_step(self):
        for kind in mpi.LAUNCHERS:
            self.drive(kind, 3, "operations", 0, GPUMC_PROCESSES_CHECK="1")

    def test_out_of_step(self):
        for kind in mpi.LAUNCHERS:
            done = self.drive(kind, 3, "step", 1, code=FAILURE, GPUMC_PROCESSES_CHECK="1")
            self.assertIn("processes are out of step, this one at '", done.stderr)


class Transfers(ProcessesCase):
    """Of device memory: by way of the host, or by NCCL where each process has a GPU of its own."""

    def test_of_any_number_of_processes(self):
        for kind in mpi.LAUNCHERS:
            for processes in NUMBERS:
                done = self.launch(kind, processes, TRANSFER, device.NAME)
                self.assertRegex(done.stdout, rf"{processes} processes, (host copies|NCCL 2\.)")

    def test_by_way_of_the_host(self):
        for kind in mpi.LAUNCHERS:
            done = self.launch(kind, 2, TRANSFER, device.NAME, GPUMC_TRANSFERS="host")
            why = "" if device.NAME == "cpu" else ": (requested by GPUMC_TRANSFERS|processes share a GPU)"
            self.assertRegex(done.stdout, rf"^2 processes, host copies{why}\n")

    def test_a_way_that_there_is_not(self):
        for kind in mpi.LAUNCHERS:
            done = self.launch(kind, 2, TRANSFER, device.NAME, code=FAILURE, GPUMC_TRANSFERS="wire")
            self.assertIn("GPUMC_TRANSFERS is 'wire' in the environment: use host or nccl", done.stderr)


class Agreement(ProcessesCase):
    def test_all_are_well(self):
        for kind in mpi.LAUNCHERS:
            self.assertIn("good", self.drive(kind, 3, "agree", 5, 1).stdout)

    def test_the_lowest_error_counts(self):
        for kind in mpi.LAUNCHERS:
            done = self.drive(kind, 4, "agree", 2, DEVICE, 3, INVALID, code=DEVICE)
            self.assertRegex(done.stdout, r"^error: process 2 of 4 on \S+: it was told to\n$")

    def test_the_root_is_not_named(self):
        for kind in mpi.LAUNCHERS:
            done = self.drive(kind, 4, "agree", 0, DEVICE, 3, DEVICE, code=DEVICE)
            self.assertEqual(done.stdout, "error: it was told to\n")

    def test_errors_before_stops(self):
        for kind in mpi.LAUNCHERS:
            done = self.drive(kind, 3, "agree", 0, STOPPED, 2, FAILURE, code=FAILURE)
            self.assertRegex(done.stdout, r"^error: process 2 of 3 on ")
            self.drive(kind, 3, "agree", 1, STOPPED, code=STOPPED)

    def test_other_texts(self):
        for kind in mpi.LAUNCHERS:
            done = self.drive(kind, 3, "same", 1, code=INVALID)
            self.assertRegex(done.stdout, r"process 1 of 3 on \S+: the text differs: '\.\.\..*: B', "
                                          r"but process 0 has '\.\.\..*: A'; start all processes ")
            self.assertIn("good", self.drive(kind, 3, "same", 3).stdout)

    def test_one_ends_all(self):
        for kind in mpi.LAUNCHERS:
            done = self.drive(kind, 3, "abandon", 2, code=DEVICE)
            self.assertRegex(done.stderr, r"gpumc: error: process 2 of 3 on \S+: the device is gone\n")


class Modules(ProcessesCase):
    """What is refused is said once."""

    def folder(self, **files):
        """A folder of modules: its names, and of which MPI they are."""
        folder = self.path("modules")
        folder.mkdir(exist_ok=True)
        for name, kind in files.items():
            shutil.copy(mpi.module(kind), folder / f"{name}.so")
        return str(folder)

    def refused(self, kind, words, **more):
        done = self.drive(kind, 3, "agree", 9, 1, code=INVALID, **more)
        self.assertEqual(done.stdout.count("error: "), 1, done.stdout)
        self.assertIn(words, done.stdout)

    def test_none(self):
        for kind in mpi.LAUNCHERS:
            self.refused(kind, f"started as 3 processes by {kind}, but this gpumc has modules for neither Open MPI nor "
                               "MPICH: gpumc doctor says how to make one, or start one process",
                         GPUMC_MPI_MODULES=self.folder())

    def test_that_of_the_other_mpi(self):
        if len(mpi.LAUNCHERS) < 2:
            self.skipTest("one MPI only")
        self.refused("Open MPI", "started as 3 processes by Open MPI, but this gpumc has modules for MPICH only",
                     GPUMC_MPI_MODULES=self.folder(gpumc_mpich="MPICH"))

    def test_another_mpi_than_the_launchers(self):
        if len(mpi.LAUNCHERS) < 2:
            self.skipTest("one MPI only")
        done = self.drive("Open MPI", 3, "agree", 9, 1, code=INVALID,
                          GPUMC_MPI_MODULES=self.folder(gpumc_openmpi="MPICH"))
        self.assertRegex(done.stdout, r"^error: started as 3 processes by Open MPI, but MPICH [\d.]+ finds 1: the launcher "
                                      r"belongs to a different MPI from the one that this gpumc was built with\n$")

    def test_a_module_that_is_none(self):
        for kind in mpi.LAUNCHERS:
            folder = pathlib.Path(self.folder())
            (folder / mpi.MODULES[kind]).write_text("no module\n")
            done = self.drive(kind, 3, "agree", 9, 1, code=FAILURE, GPUMC_MPI_MODULES=str(folder))
            self.assertIn("error: cannot load MPI: ", done.stdout)
            self.assertIn("not a module of gpumc: not a shared object", done.stdout)

    def test_nothing_of_a_foreign_module_runs(self):
        """It is refused by its note, before its constructors."""
        (source := self.path("loud.c")).write_text('#include <stdio.h>\n__attribute__((constructor)) static void shout(void) '
                                                   f'{{ FILE *f = fopen("{self.path("it-ran")}", "w"); if (f) fclose(f); }}\n')
        for kind in mpi.LAUNCHERS:
            folder = pathlib.Path(self.folder())
            subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / mpi.MODULES[kind], source], check=True)
            done = self.drive(kind, 2, "agree", 9, 1, code=FAILURE, GPUMC_MPI_MODULES=str(folder))
            self.assertIn("belongs to another version of gpumc", done.stdout)
            self.gpumc("doctor", env=mpi.environment(GPUMC_MPI_MODULES=str(folder)))
            self.assertFalse(self.path("it-ran").exists())

    def test_a_folder_of_modules_that_everyone_can_write_to(self):
        for kind in mpi.LAUNCHERS:
            folder = self.folder(**{mpi.MODULES[kind].removesuffix(".so"): kind})
            os.chmod(folder, 0o777)
            self.assertIn("everyone can write to", self.drive(kind, 2, "agree", 9, 1, code=FAILURE, GPUMC_MPI_MODULES=folder).stdout)
            os.chmod(folder, 0o755)
            self.assertIn("good", self.drive(kind, 2, "agree", 5, 1, GPUMC_MPI_MODULES=folder).stdout)

    def test_two_programs_of_which_one_has_no_module(self):
        """Whichever process lacks it says so."""
        bare = self.path("bare/gpumc")
        bare.parent.mkdir()
        shutil.copy(PROGRAM, bare)
        config = self.write("c.yaml", SMALL)
        several = [PROGRAM, bare], [bare, PROGRAM], [PROGRAM, PROGRAM, PROGRAM, bare]
        for kind, programs in cases.of(itertools.product(mpi.LAUNCHERS, several)):
            words = []
            for program in programs:
                words += [":"] * bool(words) + ["-n", "1", str(program), "run", config, "--device", "cpu", "--threads", "1"]
            with self.subTest(kind=kind, programs=programs):
                done = subprocess.run([mpi.LAUNCHERS[kind], *words], cwd=self.directory, env=mpi.environment(), capture_output=True,
                                      text=True, timeout=120)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("modules for neither Open MPI nor MPICH", done.stdout + done.stderr)
                self.assertEqual(self.names("small.h5"), [])


class Doctor(ProcessesCase):
    device = None

    def findings(self, **more):
        process = self.start("doctor", "--json", env=mpi.environment(**more))
        out, _ = process.communicate(timeout=60)
        return json.loads(out)["processes"]

    def test_modules(self):
        found = self.findings()
        self.assertEqual([m["mpi"] for m in found["modules"]],
                         [kind for kind in mpi.MODULES if mpi.module(kind).exists()])
        self.assertEqual([m.get("refusal") for m in found["modules"]], [None] * len(found["modules"]))
        self.assertEqual(found["size"], 1)
        self.assertIn(found["transfers"], TRANSFERS)
        # Open MPI 4 knows by how it was built, and others when they are started; the driver has it then.
        self.assertEqual({m["mpi"]: type(m.get("cuda")) for m in found["modules"] if m["mpi"] == "MPICH"},
                         {"MPICH": type(None)} if mpi.module("MPICH").exists() else {})
        self.assertNotIn("launcher", found)

    def test_a_broken_module(self):
        kind = next(iter(mpi.LAUNCHERS))
        self.path(mpi.MODULES[kind]).write_text("no module\n")
        found, = self.findings(GPUMC_MPI_MODULES=str(self.directory))["modules"]
        self.assertEqual(found["mpi"], kind)
        self.assertIn(mpi.MODULES[kind], found["refusal"])

    def test_text(self):
        text = self.gpumc("doctor").out
        self.assertRegex(text, r"\nprocesses   started alone; mpirun of (Open MPI|MPICH)")
        empty = self.gpumc("doctor", env=mpi.environment(GPUMC_MPI_MODULES=str(self.directory))).out
        self.assertIn("\nprocesses   started alone; no module for MPI: build with -DGPUMC_MPI=ON\n", empty)
        self.assertRegex(text, r"\ntransfers   between processes by " + "(" + "|".join(TRANSFERS) + ")" + r"; (Open MPI|MPICH) (supports CUDA|does not support "
                               r"CUDA|reports CUDA support only once it is started)[,\n]")
        self.assertNotIn("transfers", empty)

    def test_launchers(self):
        for kind in mpi.LAUNCHERS:
            done = self.launch(kind, 2, PROGRAM, "doctor", "--json")
            self.assertEqual(done.stdout.count('"launcher":\t"' + kind), 2)
            self.assertEqual(done.stdout.count('"size":\t2'), 2)


if __name__ == "__main__":
    mpi.require()
    cases.main()

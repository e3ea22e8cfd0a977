"""Compares results of several processes, which must equal those of one, and how the processes divided the work."""
import h5py

from support import device, mpi, share
from support.attributes import attributes
from support.mpi_case import MpiCase
from support.results import assert_same_numbers, numbers

PROCESSES = [2, 3, 4, 7] if device.NAME == "cpu" else [2, 3]  # each has to open a GPU
TRANSFERS = "^host copies$" if device.NAME == "cpu" else "^(NCCL|host copies)"
# In /provenance/division.
RUNS, REPLICAS = ("each process has some of the " + what for what in ["runs or values", "replicas or samples of every run"])


class ProcessComparison(MpiCase):
    def provenance(self, name):
        with h5py.File(self.path(name), "r") as file:
            return attributes(file["provenance"])

    def compare_text(self, text, divisions=None, numbers_of_processes=PROCESSES, each_has=share.ONE_IN):
        """Compares the runs and returns the provenance for each number of processes. `divisions`: by number of
        processes. `each_has`: which of these numbers each MPI implementation runs, 1: all, 2: every second one."""
        config = self.write("c.yaml", text)
        self.gpumc("run", config, "-o", "one.h5", "--threads", 1)
        reference = numbers(self.path("one.h5"))
        self.assertEqual(self.provenance("one.h5")["processes"], 1)
        self.assertNotIn("mpi", self.provenance("one.h5"))
        all_found = {}
        for first, kind in enumerate(mpi.LAUNCHERS):
            for processes in numbers_of_processes[first % each_has::each_has]:
                self.mpirun(kind, processes, "run", config, "--threads", 1, GPUMC_PROCESSES_CHECK="1")
                assert_same_numbers(self, reference, self.path("run.h5"))
                self.assertEqual(self.names("run.h5*"), ["run.h5"])
                found = all_found[processes] = self.provenance("run.h5")
                self.assertEqual(found["processes"], processes)
                self.assertTrue(found["mpi"].startswith(kind))
                self.assertRegex(found["transfers"], TRANSFERS)
                self.assertIn(found["mpi_supports_cuda"], ["yes", "no"])
                self.assertGreater(found["seconds_communication"], 0)
                if divisions:
                    self.assertEqual(found["division"], divisions[processes])
                self.path("run.h5").unlink()
        return all_found

"""Compares results of several processes, which must equal those of one, and how the processes divided the work."""
import h5py

from support import device, mpi
from support.attributes import attributes
from support.mpi_case import MpiCase
from support.results import assert_same_numbers, numbers

PROCESSES = [2, 3, 4, 7] if device.NAME == "cpu" else [2, 3]  # each has to open a GPU
TRANSFERS = "^host copies$" if device.NAME == "cpu" else "^(NCCL|host copies)"
# In /provenance/division.
RUNS, REPLICAS = ("each process has some of the " + what for what in ["runs or values", "replicas or samples of every run"])


def launches(numbers_of_processes=PROCESSES, each_has=1):
    """Returns pairs of an MPI implementation and a number of processes. `each_has`: which of these numbers each
    implementation runs, 1: all, 2: every second one."""
    return [(kind, processes) for first, kind in enumerate(mpi.LAUNCHERS)
            for processes in numbers_of_processes[first % each_has::each_has]]


class ProcessComparison(MpiCase):
    def setUp(self):
        super().setUp()
        self.references = {}  # by configuration, the numbers of one process

    def provenance(self, name):
        with h5py.File(self.path(name), "r") as file:
            return attributes(file["provenance"])

    def compare_text(self, text, divisions=None, numbers_of_processes=PROCESSES, each_has=1):
        """Compares the runs and returns the provenance for each number of processes. `divisions`: by number of
        processes. `each_has`: as in launches()."""
        return {processes: self.compare_run(text, kind, processes, divisions)
                for kind, processes in launches(numbers_of_processes, each_has)}

    def compare_alone(self, text, kind, processes, divisions=None):
        """Compares a run with which nothing interferes that others left behind."""
        for name in self.names("*.h5*"):
            self.path(name).unlink()
        self.compare_run(text, kind, processes, divisions)

    def compare_run(self, text, kind, processes, divisions):
        config = self.write("c.yaml", text)
        reference = self.reference(config, text)
        self.mpirun(kind, processes, "run", config, "--threads", 1, GPUMC_PROCESSES_CHECK="1")
        assert_same_numbers(self, reference, self.path("run.h5"))
        self.assertEqual(self.names("run.h5*"), ["run.h5"])
        found = self.provenance("run.h5")
        self.assertEqual(found["processes"], processes)
        self.assertTrue(found["mpi"].startswith(kind))
        self.assertRegex(found["transfers"], TRANSFERS)
        self.assertIn(found["mpi_supports_cuda"], ["yes", "no"])
        self.assertGreater(found["seconds_communication"], 0)
        if divisions:
            self.assertEqual(found["division"], divisions[processes])
        self.path("run.h5").unlink()
        return found

    def reference(self, config, text):
        if text not in self.references:
            self.gpumc("run", config, "-o", "one.h5", "--threads", 1)
            self.references[text] = numbers(self.path("one.h5"))
            self.assertEqual(self.provenance("one.h5")["processes"], 1)
            self.assertNotIn("mpi", self.provenance("one.h5"))
        return self.references[text]

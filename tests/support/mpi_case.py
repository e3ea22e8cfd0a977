"""Tests that start gpumc with mpirun: each rank can be found and signalled individually."""
import os
import pathlib
import signal
import subprocess
import time

from support import mpi
from support.device import PROGRAM
from support.program import OK, ProgramCase

RANKS = ["OMPI_COMM_WORLD_RANK", "PMI_RANK"]


class MpiCase(ProgramCase):
    def begin(self, kind, processes, *words, **more):
        """Returns a started launcher of gpumc, which has its own process group."""
        words = self.with_device(list(map(str, words)))
        return subprocess.Popen(mpi.command(kind, processes, PROGRAM, *words), cwd=self.directory, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=mpi.environment(**more),
                                start_new_session=True)

    def end(self, process, code=OK, timeout=300):
        """Ends the process; `code` None: one of its ranks was killed."""
        try:
            process.out, process.err = process.communicate(timeout=60 if code is None else timeout)
        except subprocess.TimeoutExpired:
            # mpirun of Open MPI 4.1 may hang in PMIx_server_finalize once all ranks have ended this way.
            if code is not None or self.ranks():
                raise
            process.kill()
            process.out, process.err = process.communicate()
        if code is not None:
            self.assertEqual(process.returncode, code, f"{process.out}\n{process.err}")
        return process

    def mpirun(self, kind, processes, *words, code=OK, **more):
        """Runs to the end; `out` and `err` hold the output of all ranks."""
        return self.end(self.begin(kind, processes, *words, **more), code)

    def ranks(self):
        """Returns {rank: process number} of the gpumc processes that run in the test's directory."""
        found = {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(folder / "exe") != os.path.realpath(PROGRAM) or \
                        os.readlink(folder / "cwd") != os.path.realpath(self.directory):
                    continue
                words = dict(word.split("=", 1) for word in (folder / "environ").read_text().split("\0") if "=" in word)
            except (OSError, UnicodeDecodeError):
                continue
            for name in RANKS:
                if name in words:
                    found[int(words[name])] = int(folder.name)
                    break
        return found

    def wait_for_ranks(self, processes, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.ranks()
            if len(found) == processes:
                return found
            time.sleep(0.002)
        raise TimeoutError(f"{processes} processes did not start")

    def wait_until_gone(self, seconds=20):
        """Waits for all ranks to end: a launcher does not wait for the processes it kills."""
        begin = time.monotonic()
        while found := self.ranks():
            if time.monotonic() - begin > seconds:
                raise TimeoutError(f"processes {found} have not ended")
            time.sleep(0.002)

    def signal_rank(self, processes, rank, number=signal.SIGKILL, after=0):
        """Signals that rank, the given number of seconds after all are there; returns false if it has ended already."""
        try:
            descriptor = os.pidfd_open(self.wait_for_ranks(processes)[rank])
        except ProcessLookupError:
            return False
        try:
            time.sleep(after)
            signal.pidfd_send_signal(descriptor, number)
        except ProcessLookupError:
            return False
        finally:
            os.close(descriptor)
        return True

    def lines(self, process):
        """Returns gpumc's own messages, without what its launcher adds."""
        return [line for line in process.err.splitlines() if line.startswith("gpumc:")]

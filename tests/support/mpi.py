"""Launchers of the MPI implementations that gpumc was built with.

`LAUNCHERS` has those with both a module next to the program and a launcher. Without any, a test ends as skipped, with
the reason: `require()`.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from support.device import PROGRAM

MODULES = {"Open MPI": "gpumc_openmpi.so", "MPICH": "gpumc_mpich.so"}
# Allows more processes than cores, root in containers, and processors shared with other tests.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
               "OMPI_MCA_btl_base_warn_component_unused": "0", "PSM3_HAL": "loopback",
               # All processes are on this host; without this, some builds of Open MPI require an ssh that is not there.
               "OMPI_MCA_plm_rsh_agent": "/bin/true"}


def is_of(command, kind):
    """Returns whether a launcher belongs to this MPI."""
    said = subprocess.run([command, "--version"], capture_output=True, text=True, check=False).stdout
    return ("Open MPI" in said or "OpenRTE" in said) if kind == "Open MPI" else "HYDRA" in said or "mpich" in said.lower()


def launcher(kind):
    """Returns the path of its launcher; None: there is none."""
    suffix = "openmpi" if kind == "Open MPI" else "mpich"
    for name in [f"mpirun.{suffix}", "mpirun"]:
        found = shutil.which(name)
        if found and is_of(found, kind):
            return found
    return None


def module(kind):
    return pathlib.Path(PROGRAM).resolve().parent / MODULES[kind]


LAUNCHERS = {kind: launcher(kind) for kind in MODULES if module(kind).exists() and launcher(kind)}


def command(kind, processes, *words):
    return [LAUNCHERS[kind], "-n", str(processes), *map(str, words)]


def environment(**more):
    """Returns a launcher's environment without that of a launcher that may have started the test itself."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("OMPI_", "PMI_", "PMIX_", "SLURM_"))}
    # MPI libraries leave memory behind, which a sanitizer would report.
    kept["ASAN_OPTIONS"] = ":".join(filter(None, [kept.get("ASAN_OPTIONS"), "detect_leaks=0"]))
    return {**kept, **ENVIRONMENT, **more}


def passes_user_signals(kind):
    """Returns whether the launcher passes SIGUSR1 on to its processes, as most builds do."""
    with tempfile.TemporaryDirectory(prefix="gpumc-test-") as folder:
        begun = pathlib.Path(folder) / "begun"
        process = subprocess.Popen(command(kind, 1, "sh", "-c", "trap 'exit 75' USR1; : > begun; while :; do sleep 0.05; done"), cwd=folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment(), start_new_session=True)
        try:
            end = time.monotonic() + 60
            while not begun.exists() and time.monotonic() < end:
                time.sleep(0.01)
            process.send_signal(signal.SIGUSR1)
            process.wait(10)
            return begun.exists()
        except subprocess.TimeoutExpired:
            return False
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def require(kind=None):
    if not LAUNCHERS or (kind and kind not in LAUNCHERS):
        print(f"skipped: there is no {kind or 'MPI'} that has both a module of this build and a launcher (mpirun)")
        sys.exit(77)

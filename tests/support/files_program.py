"""The program that writes gpumc files without a model (programs/files_program.c)."""
import subprocess

from support import faults

PROGRAM = faults.TESTS / "gpumc_files_program"


def run(*arguments, fault=None):
    """Returns the finished process, with output and errors as text."""
    return subprocess.run([PROGRAM, *map(str, arguments)], timeout=120, capture_output=True, text=True,
                          env=None if fault is None else faults.environment(fault))

"""The program that writes files of gpumc without any model (programs/files_program.c)."""
import subprocess

from support import faults

PROGRAM = faults.TESTS / "gpumc_files_program"


def run(*arguments, fault=None):
    """The finished process; output and error as text."""
    return subprocess.run([PROGRAM, *map(str, arguments)], timeout=120, capture_output=True, text=True,
                          env=None if fault is None else faults.environment(fault))

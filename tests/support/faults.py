"""Calls that fail on command, through support/fault_injection.c."""
import os
import pathlib

TESTS = (pathlib.Path(os.environ.get("GPUMC_BUILD", "build/release")) / "tests").resolve()
LIBRARY = TESTS / "libgpumc_faults.so"


def environment(setting):
    """Returns the environment of a process with these faults. Sanitizers ask to be loaded first, but need not be."""
    return dict(os.environ, LD_PRELOAD=str(LIBRARY), GPUMC_FAULT=setting,
                ASAN_OPTIONS="verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", ""))


def require(case):
    if not LIBRARY.exists():
        case.skipTest(f"{LIBRARY} was not built")

"""Calls that fail on command, as support/fault_injection.c has it."""
import os
import pathlib

TESTS = (pathlib.Path(os.environ.get("GPUMC_BUILD", "build/release")) / "tests").resolve()
LIBRARY = TESTS / "libgpumc_faults.so"


def environment(setting):
    """Of a process that meets these faults. The sanitizers want to be loaded first, and need not be."""
    return dict(os.environ, LD_PRELOAD=str(LIBRARY), GPUMC_FAULT=setting,
                ASAN_OPTIONS="verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", ""))


def require(case):
    if not LIBRARY.exists():
        case.skipTest(f"{LIBRARY} was not built")

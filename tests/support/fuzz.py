"""How much a test with drawn files draws, and from which seed.

GPUMC_FUZZ_FILES: how many files, in place of those of a quick test; GPUMC_FUZZ_SEED: other files than those it always draws."""
import os
import random


def files(quick):
    return int(os.environ.get("GPUMC_FUZZ_FILES", quick))


def generator(seed):
    return random.Random(int(os.environ.get("GPUMC_FUZZ_SEED", seed)))

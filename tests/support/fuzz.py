"""How many files a test with random files generates, and from which seed.

GPUMC_FUZZ_FILES: the number of files, instead of a test's own number.
GPUMC_FUZZ_SEED: generates other files than the usual ones."""
import os
import random


def files(number):
    """Returns how many files there are; a test takes as many as fit into its time (support/cases.py)."""
    return int(os.environ.get("GPUMC_FUZZ_FILES", number))


def generator(seed, number):
    """Returns the generator of one file, which does not depend on those before it."""
    return random.Random(f"{int(os.environ.get('GPUMC_FUZZ_SEED', seed))} {number}")

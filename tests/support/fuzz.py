"""How many files a test with random files generates, and from which seed.

GPUMC_FUZZ_FILES: the number of files, instead of a test's own number and its share of that (support/share.py).
GPUMC_FUZZ_SEED: generates other files than the usual ones."""
import os
import random

from support import share


def files(number):
    return int(os.environ.get("GPUMC_FUZZ_FILES", share.count(number)))


def generator(seed):
    return random.Random(int(os.environ.get("GPUMC_FUZZ_SEED", seed)))

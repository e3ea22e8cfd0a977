"""How much a test with drawn files draws, and from which seed.

GPUMC_FUZZ_FILES: how many files, in place of a test's own number and of the share of it that it would take
(support/share.py); GPUMC_FUZZ_SEED: other files than those it always draws."""
import os
import random

from support import share


def files(number):
    return int(os.environ.get("GPUMC_FUZZ_FILES", share.count(number)))


def generator(seed):
    return random.Random(int(os.environ.get("GPUMC_FUZZ_SEED", seed)))

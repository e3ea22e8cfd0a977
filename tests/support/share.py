"""The share of its cases that a test takes: all of them, or with GPUMC_SHARE=k one in k.

tests/validate.cmake sets it for quick tests; each of them is there again with all cases, under the label validate.
"""
import os

ONE_IN = int(os.environ.get("GPUMC_SHARE", "1"))


def of(cases):
    """Every k-th case, the first among them."""
    return list(cases)[::ONE_IN]


def count(number):
    """How many that is of so many cases."""
    return -(-number // ONE_IN)

"""The share of its cases that a test runs: all, or one in k with GPUMC_SHARE=k.

tests/validate.cmake sets it for quick tests; each of them also exists with all cases, under the label validate.
"""
import os

ONE_IN = int(os.environ.get("GPUMC_SHARE") or 1)


def of(cases):
    """Returns every k-th case, including the first."""
    return list(cases)[::ONE_IN]


def count(number):
    """Returns the share's size for this many cases."""
    return -(-number // ONE_IN)

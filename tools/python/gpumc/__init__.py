"""Results of gpumc, a Monte Carlo engine for statistical physics, in Python.

    import gpumc

    tree = gpumc.open("results/ising2d-first.h5")       # an xarray DataTree
    summary = tree["summary"]
    summary.energy, summary.energy_error

    result = gpumc.read("results/ising2d-first.h5")     # plain numpy arrays
    result.summary["energy"]
"""
from .spin_configurations import configurations
from .files import ResultError, attributes, opened, printable, reading, seal
from .reader import Label, Result, read
from .tree import open  # noqa: A004

from .version import __version__
__all__ = ["Label", "Result", "ResultError", "attributes", "configurations", "open", "opened", "printable", "read",
           "reading", "seal"]

"""Results of gpumc, Monte Carlo simulations for statistical physics, in Python.

    import gpumc

    gpumc.validate("configs/ising2d/first.yaml")            # warnings; mistakes are a ConfigError
    job = gpumc.run("configs/ising2d/first.yaml")           # calls the program, with its progress in a notebook
    tree = gpumc.open("results/ising2d-first.h5")           # an xarray DataTree
    tree["summary"].energy, tree["summary"].energy_error

    table = gpumc.open_campaign("configs/ising2d/pa-campaign.yaml")     # one Dataset over sizes and seeds
    table.energy.sel(L=32, seed=1).plot()
    gpumc.to_pandas(table)

    result = gpumc.read("results/ising2d-first.h5")         # plain numpy arrays, without xarray
    result.summary["energy"]
"""
from . import hard_disks, measured
from .campaign import open_campaign, to_pandas
from .comparison import Comparison, compare
from .files import ResultError, attributes, opened, printable, reading, seal
from .program import ConfigError, Job, Mistake, ProgramError, describe, find, plan, run, status, validate
from .reader import Label, Result, read
from .spin_configurations import configurations
from .tree import open  # noqa: A004
from .version import __version__

__all__ = ["Comparison", "ConfigError", "Job", "Label", "Mistake", "ProgramError", "Result", "ResultError", "__version__", "attributes", "compare",
           "configurations", "describe", "find", "hard_disks", "measured", "open", "open_campaign", "opened", "plan", "printable", "read", "reading", "run",
           "seal", "status", "to_pandas", "validate"]

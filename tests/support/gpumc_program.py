"""Runs the program from a test and reads its files; exact references for small and large lattices.

GPUMC_PROGRAM: path of the program under test. Tests run from the root of the source tree.
"""
import importlib.util
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from support import device
from support.attributes import attributes  # noqa: F401
from support.device import PROGRAM, ROOT


def exact():
    """Returns the module gpumc.ising2d_exact."""
    spec = importlib.util.spec_from_file_location("ising2d_exact", ROOT / "tools/python/gpumc/ising2d_exact.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["ising2d_exact"] = module
    spec.loader.exec_module(module)
    return module


def run(*arguments, timeout=600, env=None):
    """Returns the finished process, with output and errors as text."""
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          timeout=timeout, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL)


def run_config(text, folder, *arguments, expect=0, timeout=600):
    """Writes `text` to folder/config.yaml, runs it and checks the exit code. Returns the process."""
    path = pathlib.Path(folder) / "config.yaml"
    path.write_text(text)
    done = run("run", path, "--quiet", "--threads", 1, "--device", device.NAME, *arguments,
               timeout=timeout)
    if done.returncode != expect:
        raise AssertionError(f"exit {done.returncode}, expected {expect}:\n{done.stderr}")
    return done


def folder():
    """Returns a temporary folder as a context manager."""
    return tempfile.TemporaryDirectory(prefix="gpumc-test-")


def summary(path, group="summary"):
    """Returns the datasets of a summary group as a dict of arrays."""
    with h5py.File(path, "r") as file:
        return {name: item[...] for name, item in file[group].items()
                if isinstance(item, h5py.Dataset)}


def in_errors(found, name, exact, at=slice(None)):
    """Returns how far the summary's values at places `at` are from the exact ones, in errors."""
    return (found[name] - exact)[at] / found[name + "_error"][at]


def resolved(path):
    """Returns the configuration of a result, with every default."""
    with h5py.File(path, "r") as file:
        return json.loads(file["config/resolved"].asstr()[()])


def numeric_datasets(path):
    """Returns every numeric dataset of a file by path, except timings, as raw bytes with type and shape; all NaNs count
    as equal."""
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset) and item.dtype.kind in "iuf" and not name.startswith("provenance/"):
            values = item[...]
            if item.dtype.kind == "f":
                values[np.isnan(values)] = np.nan
            found[name] = (str(item.dtype), item.shape, values.tobytes())

    with h5py.File(path, "r") as file:
        file.visititems(visit)
    return found


def enumerate_ising(rows, columns, field, beta, coupling=1.0):
    """Returns ln Z/N, e, C, <|m|>, <m^2>, <m^4> at each beta by summing over all states (up to 20 sites)."""
    sites = rows * columns
    states = np.arange(2 ** sites, dtype=np.int64)
    spin = (1 - 2 * ((states[:, None] >> np.arange(sites)) & 1)).astype(np.int8)
    spin = spin.reshape(-1, rows, columns)
    bonds = sum((spin.astype(np.int64) * np.roll(spin, 1, axis)).sum((1, 2)) for axis in (1, 2))
    m = spin.sum((1, 2), dtype=np.int64)
    energy = -coupling * bonds - field * m
    out = []
    for b in np.atleast_1d(beta):
        exponent = -b * (energy - energy.min())
        weight = np.exp(exponent)
        z = weight.sum()
        mean = lambda x: (weight * x).sum() / z
        e = mean(energy)
        out.append((math.log(z) / sites - b * energy.min() / sites, e / sites,
                    b * b * (mean(energy ** 2) - e * e) / sites, mean(np.abs(m)) / sites,
                    mean(m ** 2) / sites ** 2, mean(m.astype(float) ** 4) / sites ** 4))
    return np.array(out).T


def chi_square_bounds(freedom, deviations):
    """Returns two-sided bounds of chi^2/freedom at the given number of standard deviations (Wilson and Hilferty)."""
    spread = math.sqrt(2 / (9 * freedom))
    middle = 1 - 2 / (9 * freedom)
    return (middle - deviations * spread) ** 3, (middle + deviations * spread) ** 3

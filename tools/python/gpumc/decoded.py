"""Configurations of a file as spins, vectors and positions.

Configurations are stored as bytes, a row for each replica (docs/file-format.md#configurations):

    model                            variable     axes after those of the rows
    ising2d, ising3d, ea             spins        [(z,) y, x], int8, +1 and -1
    heisenberg                       vectors      [(z,) y, x, component]
    hard_disks                       positions    [disk, xy] in diameters, and `box` [xy]

Rows of `canonical`, `mpmc` and `pt` make a grid: [sweep, beta, replica] or [sweep, beta, copy, sample], with the name of another control
in place of beta where one is moved, and without that axis where there is none. Those of `pa`, whose populations differ in size, are one axis, `configuration`, with the coordinates step, run, replica and family.
"""
from __future__ import annotations

import collections.abc
import dataclasses
import math

import numpy

from .files import ResultError

HEAD = 4  # doubles in front of the positions of disks: sides of the box, corner of the grid of cells


def read_rows(dataset, rows):
    """Those rows, in that order; neighbours are read at once."""
    found = numpy.empty((len(rows),) + dataset.shape[1:], dataset.dtype)
    ends = numpy.flatnonzero(numpy.diff(rows) != 1) + 1
    for part in numpy.split(numpy.arange(len(rows)), ends):
        if len(part):
            found[part[0]:part[-1] + 1] = dataset[rows[part[0]]:rows[part[-1]] + 1]
    return found


# --- rows -----------------------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Grid:
    """Configurations of the same replicas at every time: `shape` [time, temperature, replicas...], by the names `dims`.
    `sweeps` are the times, `temperatures` the numbers of the temperatures, from 0, the hottest, and `values` those of
    their control, named `control`; None where there is none."""
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    sweeps: numpy.ndarray
    temperatures: list[int]
    control: str | None
    values: numpy.ndarray | None


def grid(file, config):
    """The Grid of a file of `canonical`, `mpmc` or `pt`; times that a stopped run has not completed are left out."""
    group, algorithm = file["configurations"], config["algorithm"]
    control = "beta" if "beta" in algorithm else algorithm.get("control", {}).get("name")
    if "runs" not in file or not len(file["runs"]):
        raise ResultError(f"{file.filename}: no configurations yet: the run has just begun")
    values = _values(file, control)
    if algorithm["name"] == "pt":
        count = len(values) if values is not None else _length(file["runs/0000"], "temperature", "value")
        replicas, dims = (algorithm["replicas"], algorithm["samples"]), ("copy", "sample")
    else:
        count = len(file["runs"])
        replicas, dims = (max(algorithm["replicas"], algorithm.get("samples", 1)),), ("replica",)
        if algorithm.get("samples", 1) > 1:
            dims = ("sample",)
    chosen = algorithm["configurations"].get("temperatures", list(range(count)))
    per_time = len(chosen) * math.prod(replicas)
    rows = len(group["configuration"])  # the axis: the other datasets have as many rows at least
    sweeps = group["sweep"][:rows - rows % per_time:per_time]
    return Grid(("time", "temperature") + dims, (len(sweeps), len(chosen)) + replicas, sweeps, chosen, control,
                None if values is None else values[chosen])


def _length(group, *names):
    return next(len(group[name]) for name in names if name in group)


def _values(file, control):
    """Of all temperatures: a finished file has them in its summary; runs of chains have one each. None where neither is there."""
    if control and f"summary/{control}" in file and file[f"summary/{control}"].ndim == 1:
        return file[f"summary/{control}"][()]
    runs = [run for _, run in sorted(file["runs"].items())]
    return numpy.array([run.attrs[control] for run in runs]) if control and all(control in run.attrs for run in runs) else None


def axes(of):
    """Of the array of a Grid: the numbers of its rows, the names of its axes, and their coordinates."""
    rows, coordinates = numpy.arange(math.prod(of.shape)).reshape(of.shape), {"sweep": of.sweeps}
    if of.control is None and of.shape[1] == 1:
        return rows[:, 0], ("sweep",) + of.dims[2:], coordinates
    if of.values is None:
        return rows, ("sweep", "temperature") + of.dims[2:], {**coordinates, "temperature": of.temperatures}
    coordinates.update({of.control: of.values, "temperature": (of.control, of.temperatures)})
    return rows, ("sweep", of.control) + of.dims[2:], coordinates


# --- contents -------------------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Form:
    """How one row of bytes is read: `decode(rows)` gives an array [row, axes]."""
    name: str
    long_name: str
    units: str
    decode: collections.abc.Callable[[numpy.ndarray], numpy.ndarray]
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str


def forms(config, width):
    """The forms of a row of `width` bytes; none where the model's form is not known."""
    model = config["model"]
    shape = tuple(reversed(model.get("shape", ())))
    sites = math.prod(shape)
    axes = ("z", "y", "x")[-len(shape):] if 0 < len(shape) <= 3 else None
    if model["name"] == "hard_disks" and width % 16 == 0 and width > 8 * HEAD:
        count = width // 16 - HEAD // 2
        return [Form("positions", "position in the box", "diameters", disks, ("disk", "xy"), (count, 2), "f8"),
                Form("box", "side of the box", "diameters", box, ("xy",), (2,), "f8")]
    if axes and width == (sites + 7) // 8:
        return [Form("spins", "spin", "1", lambda rows: bits(rows, shape), axes, shape, "i1")]
    for size in (8, 4):  # double, or single precision
        components = width // (size * sites) if sites else 0
        if axes and components > 1 and width == components * size * sites:
            inner = shape + (components,)
            return [Form("vectors", "spin", "1", lambda rows, size=size: numpy.ascontiguousarray(rows).view(
                f"<f{size}").reshape((len(rows),) + inner), axes + ("component",), inner, f"f{size}")]
    return []


def bits(rows, shape):
    """Ising spins, int8, of rows of one bit a site."""
    found = numpy.unpackbits(rows, axis=1, bitorder="little", count=math.prod(shape))
    return (2 * found.view(numpy.int8) - 1).reshape((len(rows),) + tuple(shape))


def disks(rows):
    return numpy.ascontiguousarray(rows).view("<f8")[:, HEAD:].reshape(len(rows), -1, 2)


def box(rows):
    return numpy.ascontiguousarray(rows).view("<f8")[:, :2]

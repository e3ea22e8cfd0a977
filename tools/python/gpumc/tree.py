"""open(): a result file as an xarray DataTree, numbers read when they are used."""
from __future__ import annotations

import os
import typing

import h5py
import numpy

from . import files, reader

if typing.TYPE_CHECKING:
    import xarray


def open(path: str | os.PathLike[str]) -> xarray.DataTree:  # noqa: A001 - gpumc.open, as xarray.open_dataset
    """The groups of a result file as an xarray.DataTree: `summary`, `runs/0000`, ..., and what else it has.

    Numbers are read when they are used. Every quantity has its error beside it (`energy`, `energy_error`), and its unit,
    name and symbol as attributes (`units`, `long_name`, `symbol`); axes are coordinates. The attributes of the group
    `summary` say whether the result is trusted (`trusted`, `..._warning`), those of `provenance` how it was made, and
    `config/resolved` holds the configuration with every default (JSON).

    A group whose axis has another grid than the axis of that name above it, as that of `summary/reweighted`, stands at
    the root of the tree: `tree["reweighted"]`. The group `configurations` has `spins`, `vectors` or `positions` in place
    of bytes (decoded.py).

    The working file of a run, OUTPUT.partial, opens as well, with the rows that it has at that moment; its summary is
    made at the end. Close the tree when it is no longer needed: `with gpumc.open(path) as tree:`.

    Raises ResultError if the file is damaged or not a result of gpumc, and ImportError where xarray is older than 2024.10
    (read() needs none).
    """
    import xarray

    if not hasattr(xarray, "DataTree"):
        raise ImportError(f"gpumc.open needs xarray 2024.10 or newer, and this is {xarray.__version__}; "
                          "gpumc.read works without it")
    with files.reading(path):
        file = files.verified(path, ["everything"])
        try:
            scales = reader.Scales(file)
            groups = {name: _dataset(name, file[name], scales) for name in _names(file)}
            tree = xarray.DataTree.from_dict(_placed({name: _complete_rows(groups, name) for name in groups}))
        except BaseException:
            file.close()
            raise
    tree.set_close(file.close)
    return tree


def _names(file):
    found = ["/"]
    file.visititems(lambda name, item: found.append("/" + name) if isinstance(item, h5py.Group) else None)
    return found


def _dataset(place, group, scales):
    """One group, which is at `place`, as an xarray.Dataset, without the groups below it."""
    import xarray

    from . import lazy

    attributes = files.attributes(group)
    if place == "/configurations":
        variables, coordinates = lazy.configurations(group) if len(group.file.get("runs", ())) else ({}, {})
    else:
        members = {name: item for name, item in group.items() if isinstance(item, h5py.Dataset)}
        axes = {name: (name,) if h5py.h5ds.is_scale(item.id) else scales.axes(place, item) for name, item in members.items()}
        variables = {name: _variable(name, item, axes[name]) for name, item in members.items()}
        coordinates = _coordinates(group, axes, variables)
    for name in coordinates:
        variables.pop(name, None)
    return xarray.Dataset(variables, coordinates, attributes)


def _variable(name, item, axes):
    import xarray

    from . import lazy

    if h5py.check_string_dtype(item.dtype):
        return xarray.Variable((), files.text_of(item[()]))
    attributes = {name: value for name, value in files.attributes(item).items() if name in ("long_name", "units", "symbol")}
    if not item.shape:
        return xarray.Variable((), item[()], attributes)
    dims = tuple(axis.rsplit("/")[-1] or f"{name}_{k}" for k, axis in enumerate(axes))
    return xarray.Variable(dims, lazy.lazily(lazy.Stored(item)), attributes)


def _coordinates(group, axes, variables):
    """The scales of a group's datasets, which may stand in another group; each is read now, since xarray indexes it."""
    import xarray

    found = {}
    for axis in dict.fromkeys(axis for one in axes.values() for axis in one if axis):
        own = axis.rsplit("/")[-1]
        if own not in found:
            found[own] = xarray.Variable((own,), group[axis][()], _variable(own, group[axis], (own,)).attrs)
    return {axis: variable for axis, variable in found.items()
            if all(axis not in other.dims or other.sizes[axis] <= variable.size for other in variables.values())}


def _complete_rows(groups, name):
    """The rows that all of a line of groups have: a run that is writing adds them dataset after dataset."""
    def is_of_line(other):
        return (other + "/").startswith(name + "/") or (name + "/").startswith(other + "/")

    own = groups[name]
    line = [dataset for other, dataset in groups.items() if is_of_line(other)]
    shortest = {dim: min(dataset.sizes[dim] for dataset in line if dim in dataset.sizes and _grows(own, dataset, dim))
                for dim in own.sizes}
    return own.isel({dim: slice(size) for dim, size in shortest.items() if size < own.sizes[dim]})


def _grows(first, second, dim):
    """Whether one has the first rows of the other, as far as they are known."""
    if dim not in first.coords or dim not in second.coords:
        return True
    size = min(first.sizes[dim], second.sizes[dim])
    return numpy.array_equal(first[dim].values[:size], second[dim].values[:size])


def _placed(groups):
    """The groups by their place in the tree, where coordinates are passed on to the groups below."""
    placed = {}
    for name, dataset in groups.items():
        above = [groups[other] for other in groups if other != name and (name + "/").startswith(other.rstrip("/") + "/")]
        fits = all(numpy.array_equal(dataset[dim], other[dim]) for other in above for dim in dataset.coords
                   if dim in other.coords)
        placed[name if fits else _at_the_root(name)] = dataset
    return placed


def _at_the_root(name):
    """/summary/reweighted -> /reweighted, /runs/0001/bins -> /bins/0001"""
    parent, own = name.rsplit("/")[-2:]
    return f"/{own}/{parent}" if parent.isdigit() else f"/{own}"

"""open_campaign(): the results of a campaign as one xarray.Dataset over its axes."""
from __future__ import annotations

import dataclasses
import glob
import json
import os
import pathlib
import typing

import numpy

from . import files, program, reader

if typing.TYPE_CHECKING:
    import collections.abc

    import pandas
    import xarray


@dataclasses.dataclass(frozen=True)
class Task:
    """A finished result, with the keys and values by which it differs from the others."""
    path: str
    point: dict[str, typing.Any]
    result: reader.Result


def open_campaign(source: str | os.PathLike[str] | collections.abc.Iterable[str | os.PathLike[str]], group: str = "summary",
                  **options: typing.Any) -> xarray.Dataset:
    """One xarray.Dataset of many results: the quantities of their summary over the axes of the campaign.

    source   a configuration with a block `campaign` (the program is asked for its outputs; `options` as of run(), such
             as program=), a pattern as "results/*.h5", or a list of files
    group    what of each result: "summary", or a group below it, as "summary/reweighted"

    Axes are named by the last part of the key that is varied (`seed` of `seed`, `population` of `algorithm.population`);
    model.shape becomes `L` where all lattices have equal sides, else `shape`, texts as "16x8". Axes of the results, such
    as beta, follow; where they differ between the files (adaptive steps), the union of their points is taken and what a
    file lacks is NaN. `complete` says which tasks are there (those that are not are NaN, and named in the attribute
    `missing`), `trusted` which results may be believed, and other numbers that the summary has as attributes
    are variables as well.

    The numbers are in memory. Raises ResultError for a damaged file, and where the files are not of one campaign.
    """
    tasks, missing = _tasks(source, options)
    if not tasks:
        raise files.ResultError(f"{source}: no finished result" + (f"; missing: {', '.join(missing[:4])}" if missing else ""))
    axes = _axes(tasks)
    tables = [_table(task, axes, group) for task in tasks]
    joined = _joined(tables, axes)
    joined.attrs = {"missing": missing, "results": [task.path for task in tasks]}
    return joined


def to_pandas(source: xarray.Dataset | xarray.DataTree | str | os.PathLike[str], group: str = "summary") -> pandas.DataFrame:
    """A pandas.DataFrame, a row for each point: of an xarray Dataset, a DataTree (its `group`), or the path of a result.

    Columns are the axes and the quantities, each beside its error. Quantities over other axes than most of the others (levels
    of a density of states among curves over beta) are left out: give the group, or the quantities, `dataset[["log_dos"]]`.
    """
    import pandas
    import xarray

    if isinstance(source, (str, os.PathLike)):
        from .tree import open as open_tree
        with open_tree(source) as tree:
            return to_pandas(tree, group)
    if isinstance(source, xarray.DataTree):
        moved = group.removeprefix("summary/")  # to the root of the tree, where its axes are others than the summary's
        dataset = source[group if f"/{group}" in source.groups else moved].to_dataset()
    else:
        dataset = source
    shapes = [variable.dims for variable in dataset.data_vars.values()]
    most = max(shapes, key=lambda dims: (shapes.count(dims), len(dims)), default=())
    kept = dataset[[name for name, variable in dataset.data_vars.items() if set(variable.dims) <= set(most)]]
    return kept.to_dataframe().reset_index() if most else pandas.Series(kept.to_pandas()).to_frame().T


# --- the tasks ------------------------------------------------------------------------------------

def _tasks(source, options):
    """The finished results, and the outputs that are not there."""
    paths = _paths(source, options)
    found, missing = [], []
    for path in paths:
        if not os.path.exists(path):
            missing.append(path)
            continue
        result = reader.read(path)
        if result.is_complete:
            found.append((path, result))
        else:
            missing.append(path)
    points = _points([result for _, result in found])
    return [Task(path, point, result) for (path, result), point in zip(found, points)], missing


def _paths(source, options):
    if not isinstance(source, (str, os.PathLike)):
        return [os.fspath(path) for path in source]
    text = os.fspath(source)
    if pathlib.Path(text).suffix in (".yaml", ".yml"):
        return [task["output"] for task in program.plan(text, **options)["tasks"]]
    if options:
        raise TypeError(f"{', '.join(options)}: only of a configuration, not of {text}")
    found = sorted(glob.glob(text, recursive=True))
    if not found:
        raise files.ResultError(f"{text}: no such file")
    return found


def _points(results):
    """By which keys the configurations differ, and their values: those of the campaign where one file says what it varies,
    otherwise all, less those that follow from an earlier one (sweeps that are set by the size)."""
    flat = [_flat({key: value for key, value in result.config.items() if key not in ("output", "title", "campaign")})
            for result in results]
    keys = list(dict.fromkeys(key for one in flat for key in one))
    differing = [key for key in keys if len({_text(one.get(key)) for one in flat}) > 1]
    chosen = []
    for key in sorted(differing, key=lambda key: (key != "model.shape", key != "seed" and differing.index(key))):
        known = {}
        follows = chosen and all(known.setdefault(tuple(_text(one.get(other)) for other in chosen), _text(one.get(key)))
                                 == _text(one.get(key)) for one in flat)
        if not follows:
            chosen.append(key)
    points = [{key: one.get(key) for key in chosen} for one in flat]
    if len({_text(point) for point in points}) < len(points):
        raise files.ResultError("two results of one configuration: " + _text(points[-1]) if chosen else
                                "results of one configuration; gpumc merge makes one of them")
    return points


def _flat(value, key=""):
    if not isinstance(value, dict):
        return {key: value}
    return {name: item for own, inner in value.items() for name, item in _flat(inner, f"{key}.{own}".lstrip(".")).items()}


def _text(value):
    return json.dumps(value, sort_keys=True)


# --- the axes -------------------------------------------------------------------------------------

def _axes(tasks):
    """Key -> (name, value of a task -> coordinate)."""
    keys = list(tasks[0].point)
    last = [key.rsplit(".")[-1] for key in keys]
    axes = {}
    for key, name in zip(keys, last):
        values = [task.point[key] for task in tasks]
        if key == "model.shape" and all(len(set(sides)) == 1 for sides in values):
            axes[key] = ("L", lambda sides: sides[0])
        elif any(isinstance(value, (list, dict)) for value in values):
            axes[key] = (name, lambda value: "x".join(map(str, value)) if isinstance(value, list) else _text(value))
        else:
            axes[key] = (name if last.count(name) == 1 else key, lambda value: value)
    return axes


def _table(task, axes, group):
    """The summary of one task as a Dataset whose campaign axes have length 1."""
    import xarray

    prefix = group.removeprefix("summary").strip("/")
    result = task.result
    names = {name: name[len(prefix) + 1:] if prefix else name for name in result.summary
             if (name.startswith(prefix + "/") if prefix else "/" not in name)}
    scales = {axis for name in names for axis in result.labels[name].axes}
    variables, coordinates = {}, {}
    for name, own in names.items():
        label = result.labels[name]
        attributes = {"long_name": label.long_name, "units": label.units, "symbol": label.symbol}
        if name in scales or (numpy.ndim(result.summary[name]) == 1 and not label.axes):
            coordinates[own] = ((own,), result.summary[name], attributes)
        else:
            dims = tuple(axis.rsplit("/")[-1] or f"{own}_{k}" for k, axis in enumerate(label.axes))
            variables[own] = (dims, result.summary[name], attributes)
    if not prefix:
        variables.update({name: ((), value) for name, value in result.remarks.items()
                          if isinstance(value, (int, float)) and name not in variables})
    variables["complete"] = ((), True)
    table = xarray.Dataset(variables, coordinates)
    point = {name: coordinate(task.point[key]) for key, (name, coordinate) in axes.items()}
    return table.expand_dims({name: [value] for name, value in point.items()})


def _joined(tables, axes):
    import xarray

    if not axes:
        return tables[0]
    joined = xarray.combine_by_coords(tables, join="outer", combine_attrs="drop_conflicts",
                                      coords="minimal", compat="no_conflicts", data_vars="all")
    if joined.complete.dtype != bool:
        joined["complete"] = joined.complete.fillna(0).astype(bool)
    return joined

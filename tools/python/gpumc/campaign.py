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

SEEDS = "seed", "model.disorder_seed", "model.sample"  # axes only where nothing else tells results apart
SAME = 1e-12  # relative distance of two coordinates that are one, as 0.1 + 0.2 and 0.3


@dataclasses.dataclass(frozen=True)
class Task:
    """A task by the keys and values in which it differs from the others; without a result while it is not finished."""
    path: str
    point: dict[str, typing.Any]
    result: reader.Result | None


def open_campaign(source: str | os.PathLike[str] | collections.abc.Iterable[str | os.PathLike[str]], group: str = "summary",
                  **options: typing.Any) -> xarray.Dataset:
    """One xarray.Dataset of many results: the quantities of their summary over the axes of the campaign.

    source   a configuration with a block `campaign` (the program is asked for its outputs; `options` as of run(), such
             as program=), a pattern as "results/*.h5", or a list of files
    group    what of each result: "summary", or a group below it, as "summary/reweighted"

    Axes are named by the last part of the key that is varied (`seed`, `population` of `algorithm.population`); model.shape
    becomes `L` where all lattices are squares or cubes of one dimension, else `shape`, texts as "16x8". Of files, the axes are the
    keys in which their configurations differ; a key that follows from another one (sweeps that are set by the size, or a seed for
    each size) is a coordinate along it. Axes of the results, such as beta, come last; where they differ between the files, the
    union of their points is taken, and what a file lacks is NaN.

    `complete` says which tasks are there: numbers of the others are NaN, and the attribute `missing` names their outputs. `trusted`
    and the other numbers that a summary has as attributes are variables as well.

    The numbers are in memory. Raises ResultError for a damaged file, and for files that are not of one campaign.
    """
    tasks = _tasks(source, options)
    missing = [task.path for task in tasks if task.result is None]
    if len(missing) == len(tasks):
        raise files.ResultError(f"{source}: no result is finished" + (f"; {missing[0]} is missing" if missing else ""))
    axes, others = _axes(tasks, is_product=_is_configuration(source))
    dataset = _dataset(tasks, axes, others, group)
    dataset.attrs = {"missing": missing, "results": [task.path for task in tasks if task.result is not None]}
    return dataset


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
        found = next((name for name in (group, moved) if f"/{name}" in source.groups), None)
        if found is None:
            raise files.ResultError(f"no group {group!r}; choose from: {', '.join(name[1:] for name in source.groups if name != '/')}"
                                    + ("" if source.attrs.get("complete", 1) else "; the summary is written at the end of a run"))
        dataset = source[found].to_dataset()
    else:
        dataset = source
    shapes = [variable.dims for variable in dataset.data_vars.values()]
    most = max(shapes, key=lambda dims: (shapes.count(dims), len(dims)), default=())
    kept = dataset[[name for name, variable in dataset.data_vars.items() if set(variable.dims) <= set(most)]]
    return kept.to_dataframe().reset_index() if most else pandas.Series(kept.to_pandas()).to_frame().T


# --- the tasks ------------------------------------------------------------------------------------

def _tasks(source, options):
    if _is_configuration(source):
        planned = program.plan(source, **options)["tasks"]
        points = [_point_of_label(task["label"]) for task in planned]
        return [Task(task["output"], point, _finished(task["output"])) for task, point in zip(planned, points)]
    if options:
        raise TypeError(f"{', '.join(options)}: allowed only with a configuration, not with {source}")
    paths = _found(source)
    results = [_finished(path) for path in paths]
    points = iter(_points([result for result in results if result is not None]))
    return [Task(path, next(points) if result is not None else {}, result) for path, result in zip(paths, results)]


def _is_configuration(source):
    return isinstance(source, (str, os.PathLike)) and pathlib.Path(source).suffix in (".yaml", ".yml")


def _found(source):
    if not isinstance(source, (str, os.PathLike)):
        return [os.fspath(path) for path in source]
    found = sorted(glob.glob(os.fspath(source), recursive=True))
    if not found:
        raise files.ResultError(f"{source}: no such file")
    return found


def _finished(path):
    """The result without its runs; None where it is not finished."""
    if not os.path.exists(path):
        return None
    result = reader.read(path, only_summary=True)
    return result if result.is_complete else None


def _point_of_label(label):
    """{"model.shape": [16, 16], "seed": 1} of "model.shape=[16,16] seed=1"."""
    point, decoder = {}, json.JSONDecoder()
    while label:
        key, _, label = label.partition("=")
        try:
            point[key], end = decoder.raw_decode(label)
        except json.JSONDecodeError:
            end = len(label.partition(" ")[0])
            point[key] = label[:end]
        label = label[end:].lstrip()
    return point


def _points(results):
    """All keys in which the configurations differ, seeds last, with their values."""
    flat = [_flat({key: value for key, value in result.config.items() if key not in ("output", "title", "campaign")})
            for result in results]
    names = {one.get("model.name") for one in flat} | {one.get("algorithm.name") for one in flat}
    if len(names) > 2:
        raise files.ResultError(f"results of different models or algorithms: {', '.join(sorted(map(str, names)))}")
    keys = list(dict.fromkeys(key for one in flat for key in one))
    differing = [key for key in keys if len({_text(one.get(key)) for one in flat}) > 1]
    differing.sort(key=lambda key: (key in SEEDS, key != "model.shape"))
    points = [{key: one.get(key) for key in differing} for one in flat]
    if len({_text(point) for point in points}) < len(points):
        raise files.ResultError("two results of one configuration; gpumc merge combines several with different seeds")
    return points


def _flat(value, key=""):
    if not isinstance(value, dict):
        return {key: value}
    return {name: item for own, inner in value.items() for name, item in _flat(inner, f"{key}.{own}".lstrip(".")).items()}


def _word(value):
    """A value as names of files have it: [4, 6] is 4x6, and a turn of a move, {"metropolis": 2}, is metropolis-2."""
    if isinstance(value, dict):
        return "-".join(map(str, *value.items()))
    if isinstance(value, list):
        return "x".join(map(_word, value))
    return value if isinstance(value, str) else _text(value)


def _text(value):
    return json.dumps(value, sort_keys=True)


# --- the axes -------------------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Axis:
    """A key as an axis: `place` of the text of a value among the `values`."""
    key: str
    name: str
    values: list
    place: dict


def _axes(tasks, is_product):
    """Axes: keys of which none follows from those before, or all of a product. The others, as {key: (Axis, axes that it follows
    from)}."""
    known = [task for task in tasks if task.point or task.result is not None]
    keys = list(dict.fromkeys(key for task in known for key in task.point))
    last = [key.rsplit(".")[-1] for key in keys]
    axes, others = [], {}
    for key, name in zip(keys, last):
        before = None if is_product else next(([axis] for axis in axes if _follows(known, key, [axis.key])), None)
        if before is None and axes and not is_product and _follows(known, key, [axis.key for axis in axes]):
            before = axes
        axis = _axis(known, key, name if last.count(name) == 1 else key)
        if before is None:
            axes.append(axis)
        else:
            others[key] = (axis, before)
    return axes, others


def _follows(tasks, key, from_keys):
    values = {}
    return all(values.setdefault(tuple(_text(task.point.get(other)) for other in from_keys), _text(task.point.get(key)))
               == _text(task.point.get(key)) for task in tasks)


def _axis(tasks, key, name):
    given = list({_text(task.point.get(key)): task.point.get(key) for task in tasks}.values())
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in given):
        given.sort()
    values = given
    if key == "model.shape" and _are_cubes(given):
        name, given = "L", sorted(given)
        values = [sides[0] for sides in given]
    elif any(not isinstance(value, (int, float, str)) for value in given):
        values = [_word(value) for value in given]
    return Axis(key, name, values, {_text(value): place for place, value in enumerate(given)})


def _are_cubes(shapes):
    return all(isinstance(sides, list) and len(set(sides)) == 1 for sides in shapes) and len({len(sides) for sides in shapes}) == 1


# --- the numbers ----------------------------------------------------------------------------------

def _dataset(tasks, axes, others, group):
    import xarray

    outer = tuple(axis.name for axis in axes)
    sizes = tuple(len(axis.values) for axis in axes)
    there = [task for task in tasks if task.result is not None]
    tables = [_table(task.result, group) for task in there]
    if not any(tables):
        raise files.ResultError(f"no group {group!r} in {there[0].path}")
    grids = _grids(tables)
    variables = {}
    for name in dict.fromkeys(name for table in tables for name in table if name not in grids):
        first = next(table[name] for table in tables if name in table)
        shape = sizes + tuple(len(grids[dim].values) for dim in first.dims)
        whole = numpy.full(shape, numpy.nan)
        for task, table in zip(there, tables):
            if name in table:
                _put(whole, [axis.place[_text(task.point[axis.key])] for axis in axes], table, name, grids)
        variables[name] = (outer + first.dims, _as_before(whole, [table.get(name) for table in tables]), first.attributes)
    complete = numpy.zeros(sizes, bool)
    for task in there:
        complete[tuple(axis.place[_text(task.point[axis.key])] for axis in axes)] = True
    variables["complete"] = (outer, complete)
    coordinates = {axis.name: axis.values for axis in axes}
    coordinates.update({dim: (dim, grid.values, grid.attributes) for dim, grid in grids.items() if grid.is_known})
    coordinates.update({axis.name: _along(tasks, axis, before) for axis, before in others.values()})
    return xarray.Dataset(variables, coordinates)


@dataclasses.dataclass(frozen=True)
class Column:
    """A quantity of one result."""
    dims: tuple
    values: numpy.ndarray
    attributes: dict


@dataclasses.dataclass(frozen=True)
class Points:
    """The points of an axis of all results."""
    values: numpy.ndarray
    attributes: dict
    is_known: bool  # False: numbered only


def _table(result, group):
    """The quantities and axes of one summary, or of a group in it, by name."""
    prefix = group.removeprefix("summary").strip("/")
    table = {}
    for name, values in result.summary.items():
        if not (name.startswith(prefix + "/") if prefix else "/" not in name):
            continue
        own, label = name[len(prefix) + 1 if prefix else 0:], result.labels[name]
        dims = tuple(axis.rsplit("/")[-1] or f"{own}_{k}" for k, axis in enumerate(label.axes))
        if numpy.ndim(values) == 1 and not dims:
            dims = (own,)  # an axis itself
        table[own] = Column(dims, numpy.asarray(values), {"long_name": label.long_name, "units": label.units, "symbol": label.symbol})
    if not prefix:
        table.update({name: Column((), numpy.asarray(value), {}) for name, value in result.remarks.items()
                      if isinstance(value, (int, float)) and name not in table})
    return table


def _grids(tables):
    """{name: Points} of the axes, each the union of what the results have."""
    grids = {}
    for dim in dict.fromkeys(dim for table in tables for column in table.values() for dim in column.dims):
        scales = [table[dim] for table in tables if dim in table]
        if scales:
            values = numpy.sort(numpy.concatenate([scale.values for scale in scales]))
            kept = numpy.append(True, numpy.diff(values) > SAME * numpy.abs(values[1:])) if len(values) else []
            grids[dim] = Points(values[kept], scales[0].attributes, True)
        else:
            longest = max(column.values.shape[column.dims.index(dim)] for table in tables for column in table.values() if dim in column.dims)
            grids[dim] = Points(numpy.arange(longest), {}, False)
    return grids


def _put(whole, place, table, name, grids):
    """Writes a quantity of one result to its place in the array of all."""
    column = table[name]
    where = [[position] for position in place]
    for dim, size in zip(column.dims, column.values.shape):
        if dim in table:
            middle = table[dim].values * (1 - SAME * numpy.sign(table[dim].values))
            where.append(numpy.minimum(numpy.searchsorted(grids[dim].values, middle), len(grids[dim].values) - 1))
        else:
            where.append(numpy.arange(size))
    whole[numpy.ix_(*where) if where else ()] = column.values


def _as_before(whole, columns):
    """As integers where all results have integers and none is missing."""
    integers = all(column is not None and column.values.dtype.kind in "iu" for column in columns)
    return whole.astype(columns[0].values.dtype) if integers and not numpy.isnan(whole).any() else whole


def _along(tasks, axis, before):
    """A key that follows from others, over them."""
    values = numpy.full(tuple(len(other.values) for other in before), None, object)
    for task in tasks:
        if all(other.key in task.point for other in before):
            values[tuple(other.place[_text(task.point[other.key])] for other in before)] = axis.values[axis.place[_text(task.point.get(axis.key))]]
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values.ravel()):
        values = values.astype(float if any(isinstance(value, float) for value in values.ravel()) else int)
    return tuple(other.name for other in before), values

"""read(): all of a result file but its configurations, in memory."""
from __future__ import annotations

import dataclasses
import json
import os
import typing

import h5py
import numpy

from .files import attributes, printable, reading, scalar_text, text_of, verified


@dataclasses.dataclass(frozen=True)
class Label:
    """What a dataset says of itself. `axes`: names in the same table, one for each dimension."""
    long_name: str
    units: str
    symbol: str
    axes: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Result:
    """A result file in memory.

    `summary` and each of `runs` map names to arrays; what stands in a group below the summary has the
    group's name in front: "reweighted/energy". `labels` are those of the summary, `run_labels` those of
    each run. `remarks`: what the summary says beside its curves (`trusted`, `warning`, `rho_t_maximum`
    for pa). `samples` is what stands in the group of that name; it and `config` are empty where the
    file holds none.
    """
    path: str
    title: str
    is_complete: bool
    format_version: int
    summary: dict[str, numpy.ndarray]
    labels: dict[str, Label]
    remarks: dict[str, typing.Any]
    runs: list[dict[str, numpy.ndarray]]
    run_labels: list[dict[str, Label]]
    samples: dict[str, numpy.ndarray]
    config: dict[str, typing.Any]
    source: str
    provenance: dict[str, typing.Any]

    def quantities(self) -> list[str]:
        """Names in the summary that are neither an axis nor the error of another."""
        axes = {axis for label in self.labels.values() for axis in label.axes}
        return [name for name in self.summary
                if name not in axes and not (name.endswith("_error") and name[:-6] in self.summary)]


def read(path: str | os.PathLike[str], only_summary: bool = False) -> Result:
    """The result at `path` as a Result; ResultError if it is none. `only_summary`: runs and samples are left out."""
    with verified(path, ["read"]) as file, reading(path):
        config = json.loads(scalar_text(file, "config/resolved") or "{}")
        scales = Scales(file)
        summary, labels = _table(file.get("summary"), scales)
        _check_structure(config, summary)
        runs = [] if only_summary else [_table(group, scales) for _, group in sorted(file.get("runs", {}).items())]
        return Result(
            path=str(path),
            title=printable(text_of(file.attrs.get("title", ""))),
            is_complete=bool(file.attrs.get("complete", 0)),
            format_version=int(file.attrs["format_version"]),
            summary=summary,
            labels=labels,
            remarks=attributes(file.get("summary")),
            runs=[arrays for arrays, _ in runs],
            run_labels=[run_labels for _, run_labels in runs],
            samples={} if only_summary else _table(file.get("samples"), scales)[0],
            config=config,
            source=scalar_text(file, "config/source"),
            provenance=attributes(file.get("provenance")))


def _check_structure(config, summary):
    """What those who draw and average a result rely on."""
    if not isinstance(config, dict) or not all(isinstance(config.get(key, {}), dict)
                                               for key in ("model", "algorithm", "kernel")):
        raise ValueError("config/resolved is not a configuration")
    for name, values in summary.items():
        if numpy.asarray(values).dtype.kind not in "fiu":
            raise ValueError(f"summary/{name} holds no numbers")
        if name + "_error" in summary and numpy.shape(summary[name + "_error"]) != numpy.shape(values):
            raise ValueError(f"summary/{name}_error differs in shape from summary/{name}")


def _table(group, scales):
    """All datasets below a group by relative name: their arrays, and their labels."""
    arrays, labels = {}, {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset):
            arrays[name] = item[()]
            labels[name] = Label(*(printable(text_of(item.attrs.get(key, "")))
                                   for key in ("long_name", "units", "symbol")),
                                 axes=scales.axes(place, item))

    if group is not None:
        place = group.name
        group.visititems(visit)
    return arrays, labels


class Scales:
    """Where the axes of a file are, by their addresses: HDF5 itself would search the file for the name of each."""

    def __init__(self, file):
        self._file, self._places = file, {}

        def visit(name, item):
            if isinstance(item, h5py.Dataset) and h5py.h5ds.is_scale(item.id):
                self._places[h5py.h5o.get_info(item.id).addr] = "/" + name

        file.visititems(visit)

    def axes(self, place, dataset):
        """The axes of a dataset, each relative to the group at `place` if it is below it; none of an axis itself."""
        if h5py.h5ds.is_scale(dataset.id):
            return ()
        prefix = place.rstrip("/") + "/"
        names = [self._place(references) for references in dataset.attrs.get("DIMENSION_LIST", [()] * dataset.ndim)]
        return tuple(name[len(prefix):] if name.startswith(prefix) else name for name in names)

    def _place(self, references):
        """Where the scale of a dimension is; "" without one, and where it was deleted."""
        try:
            return self._places.get(h5py.h5o.get_info(self._file[references[0]].id).addr, "") if len(references) else ""
        except (KeyError, OSError, ValueError):
            return ""

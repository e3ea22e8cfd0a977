"""Timings of population annealing over variant, length, population and sweeps a step: derived
quantities, the text table, and the HDF5 file."""
import dataclasses
import itertools
import math
import os
import warnings

import h5py
import numpy as np

import gpumc
import pa_published

FORMAT = "gpumc-pa-timings"
FORMAT_VERSION = 1

# Name: long_name, units, symbol.
AXES = {
    "variant": ("variant of the kernel", "1", "variant"),
    "length": ("side of the square lattice", "1", "L"),
    "population": ("target size of the population", "1", "R"),
    "theta": ("sweeps at each temperature", "1", "theta"),
}
REPEAT = ("index of the repeat", "1", "repeat")
# A stage of the run: what it is called, and where the result file has its time.
STAGES = {
    "sweep": ("sweep", "seconds_sweep"),
    "tally": ("measure", "seconds_tally"),
    "resample": ("resample", "seconds_resample"),
    "gather": ("copy", "seconds_gather"),
}
SAMPLED = {
    "updates": ("attempted spin flips", "1", "N_flips"),
    "seconds_units": ("time from the first temperature to the last, from /provenance", "s",
                      "t_units"),
    "seconds": ("time of the whole run, from /provenance", "s", "t_run"),
    "wall_seconds": ("time from the start of the process to its exit", "s", "t_wall"),
    **{key: (f"time of the stage: {name}", "s", "t_" + stage)
       for stage, (name, key) in STAGES.items()},
}
KNOWN_ONCE = {"bytes_per_replica": ("memory of the ensemble over target population", "B", "b")}
TEXTS = {
    "device": ("device that the point ran on", "1", "device"),
    "remark": ("why a point has no timings", "1", "remark"),
}
DERIVED = {
    "t_sf": ("time per spin flip (eq. 11), median of the repeats", "ps", "t_SF"),
    "t_sf_spread": ("largest minus smallest time per spin flip of the repeats", "ps", "dt_SF"),
    "t_sf_wall": ("time per spin flip from the process's life, median", "ps", "t_SF,wall"),
    "flips_per_ns": ("spin flips per nanosecond, from the median time", "1/ns", "1/t_SF"),
    **{f"share_{stage}": (f"share of the run: {name}, median", "%", f"p_{stage}")
       for stage, (name, _) in STAGES.items()},
    "share_rest": ("share of the run: all else, median", "%", "p_rest"),
}


class FileError(Exception):
    """The file holds no timings; the message says why."""


@dataclasses.dataclass
class Timings:
    """`axes`: the values along each. `samples`: arrays over axes and repeat. `once` and `texts`:
    arrays over the axes. `attributes`: what holds for all points."""
    axes: dict
    samples: dict
    once: dict
    texts: dict
    attributes: dict

    def points(self):
        """(index, (variant, length, population, theta)) of every point, in order of the axes."""
        return zip(itertools.product(*(range(len(values)) for values in self.axes.values())),
                   itertools.product(*(values.tolist() for values in self.axes.values())))

    def devices(self):
        """Device -> the variants that ran on it, of the points that were measured."""
        found = {}
        for index, point in self.points():
            if self.texts["device"][index]:
                found.setdefault(self.texts["device"][index], {})[point[0]] = True
        return {device: list(variants) for device, variants in found.items()}


def empty(variants, lengths, populations, thetas, repeats, attributes):
    axes = dict(zip(AXES, (np.array(variants, dtype=object), np.array(lengths),
                           np.array(populations), np.array(thetas))))
    shape = tuple(map(len, axes.values()))
    return Timings(axes=axes,
                   samples={name: np.full((*shape, repeats), math.nan) for name in SAMPLED},
                   once={name: np.full(shape, math.nan) for name in KNOWN_ONCE},
                   texts={name: np.full(shape, "", dtype=object) for name in TEXTS},
                   attributes=attributes)


def derive(timings):
    """The arrays that DERIVED names, over the axes; NaN where not measured."""
    samples = timings.samples
    t_sf = 1e12 * samples["seconds_units"] / samples["updates"]
    shares = {f"share_{stage}": 100 * samples[key] / samples["seconds_units"]
              for stage, (_, key) in STAGES.items()}
    repeated = {"t_sf": t_sf, "t_sf_wall": 1e12 * samples["wall_seconds"] / samples["updates"],
                **shares, "share_rest": 100 - sum(shares.values())}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of medians where all repeats are NaN
        derived = {name: np.nanmedian(values, axis=-1) for name, values in repeated.items()}
        spread = np.nanmax(t_sf, axis=-1) - np.nanmin(t_sf, axis=-1)
    several = np.isfinite(t_sf).sum(axis=-1) > 1
    return {**derived, "t_sf_spread": np.where(several, spread, math.nan),
            "flips_per_ns": 1e3 / derived["t_sf"]}


# --- table ----------------------------------------------------------------------------------------

def table(timings):
    """One line a point; what could not be measured says why."""
    derived = derive(timings)
    heads = [("", "variant"), ("", "L"), ("", "R"), ("", "theta"), ("t_SF", "[ps]"),
             ("spread", "[ps]"), ("wall", "[ps]"), ("rate", "[1/ns]"),
             *((name, "[%]") for name, _ in STAGES.values()), ("rest", "[%]"), ("memory", "[B/R]"),
             ("H200 (1)", "[ps]"), ("K80 (2)", "[ps]"), ("sweep (3)", "[%]")]
    rows, remarks = [], []
    for index, point in timings.points():
        references = (pa_published.measured(*point), pa_published.published(*point),
                      pa_published.published_sweep_share(*point))
        rows.append([*map(str, point), *(_number(derived[name][index], digits) for name, digits in (
            ("t_sf", 4), ("t_sf_spread", 2), ("t_sf_wall", 4), ("flips_per_ns", 4))),
            *(_share(derived[f"share_{stage}"][index]) for stage in (*STAGES, "rest")),
            _number(timings.once["bytes_per_replica"][index], 5),
            *map(_number, references[:2], (4, 4)), _share(references[2])])
        remarks.append(timings.texts["remark"][index])
    lines = [[head[0] for head in heads], [head[1] for head in heads], *rows]
    widths = [max(map(len, column)) for column in zip(*lines)]
    text = [_line(line, widths) for line in lines[:2]]
    for row, remark in zip(rows, remarks):
        line = _line(row, widths)
        text.append(f"{line}  {remark}" if remark else line)
    notes = [f"({number}) {note}" for number, note in enumerate(pa_published.NOTES, 1)]
    return "\n".join([*_heading(timings), "", *text, "", *notes])


def _heading(timings):
    told = timings.attributes
    yield (f"gpumc {told.get('program_version', '?')} ({told.get('git_commit', '?')}), "
           f"steps of {told['step']:g} in beta, {told['rng']}, "
           f"median of {timings.samples['seconds'].shape[-1]}")
    for device, variants in timings.devices().items():
        yield f"{device}: {', '.join(variants)}"


def _line(cells, widths):
    first = cells[0].ljust(widths[0])
    return "  ".join([first, *(cell.rjust(width) for cell, width in zip(cells[1:], widths[1:]))])


def _number(value, digits):
    if not math.isfinite(value):
        return "-"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value)))) if value else digits - 1
    return f"{value:.{min(places, 4)}f}"


def _share(value):
    return f"{value:.1f}" if math.isfinite(value) else "-"


# --- file -----------------------------------------------------------------------------------------

def write(path, timings):
    """Replaces `path` at once: a reader sees the old file or the new one."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with h5py.File(path + ".new", "w") as file:
        file.attrs.update({"format": FORMAT, "format_version": FORMAT_VERSION,
                       "title": "Timings of population annealing",
                       **timings.attributes, "device": "; ".join(timings.devices())})
        repeats = np.arange(timings.samples["seconds"].shape[-1])
        for name, values, label in ((*((name, timings.axes[name], AXES[name]) for name in AXES),
                                 ("repeat", repeats, REPEAT))):
            _label(file.create_dataset(name, data=values, dtype=_type(values)), label)
            file[name].make_scale(name)
        for arrays, labels in ((derive(timings), DERIVED), (timings.once, KNOWN_ONCE),
                           (timings.samples, SAMPLED), (timings.texts, TEXTS)):
            for name, label in labels.items():
                _add(file, name, arrays[name], label)
    os.replace(path + ".new", path)


def read(path):
    """The timings at `path`; FileError if it holds none."""
    try:
        with gpumc.opened(path, result=False) as file, gpumc.reading(path):
            return _read(path, file)
    except gpumc.ResultError as reason:
        raise FileError(str(reason)) from None


def _read(path, file):
    attributes = dict(file.attrs)
    if attributes.get("format") != FORMAT or attributes.get("format_version") != FORMAT_VERSION:
        raise FileError(f"{path}: holds no timings of population annealing in a known format")
    return Timings(axes={name: _values(file[name]) for name in AXES},
                   samples={name: file[name][()] for name in SAMPLED},
                   once={name: file[name][()] for name in KNOWN_ONCE},
                   texts={name: _values(file[name]) for name in TEXTS},
                   attributes={name: value.item() if isinstance(value, np.generic) else value
                               for name, value in attributes.items()})


def _add(file, name, values, label):
    dataset = _label(file.create_dataset(name, data=values, dtype=_type(values)), label)
    for dimension, axis in zip(dataset.dims, (*AXES, "repeat")):
        dimension.attach_scale(file[axis])


def _label(dataset, label):
    dataset.attrs.update(dict(zip(("long_name", "units", "symbol"), label)))
    return dataset


def _type(values):
    return h5py.string_dtype() if values.dtype == object else values.dtype


def _values(dataset):
    return dataset.asstr()[()] if h5py.check_string_dtype(dataset.dtype) else dataset[()]

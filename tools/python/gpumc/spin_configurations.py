"""Configurations of Ising spins in a result file."""
from __future__ import annotations

import json
import math
import os
import typing

import numpy

from . import decoded
from .files import ResultError, reading, scalar_text, verified


def configurations(path: str | os.PathLike[str], sweep: int | None = None, temperature: int | None = None, beta: float | None = None,
                   run: int | None = None) -> tuple[typing.Any, ...]:
    """The configurations that a run has written (its key `configurations`), Ising spins as int8, +1 and -1;
    other models have other portable forms, which are refused.

    Of `canonical` and `pt`: `sweeps`, when they were taken, counted from the end of the thermalization, and
    `spins`, an array: spins[k] is of sweeps[k]. Its axes are

        canonical   [time, temperature, replica, (z,) y, x]
        pt          [time, temperature, copy, sample, (z,) y, x], after the exchange at that time

    with temperatures, replicas and samples as everywhere else in the file; where another control than beta is
    moved (algorithm.control), its values stand for temperatures and for `betas`. Where the configuration names
    `temperatures`, the file has those alone, in that order.

    Of `pa`: `betas`, `spins` and `families`, where spins[k][m] is the population of run m at the inverse
    temperature betas[k], an array [replica, (z,) y, x], and families[k][m] are the initial replicas from which
    its replicas descend. Populations differ in size. The number of a replica is its place: it says nothing of
    its place at another temperature.

    Large files can be read in parts: of canonical and pt `sweep`, only those of that time, and `temperature`, only
    those of the temperature with that number, from 0, the hottest; of pa `beta`, only those of that inverse
    temperature, and `run`, only those of that run, which is spins[k][0] then. What a stopped run has not written
    at all temperatures of a time, or of all of a population, is left out.
    """
    chosen = [None if value is None else float(value) for value in (sweep, temperature, beta, run)]
    with verified(path, ["configurations", json.dumps(chosen)]) as file, reading(path):
        if "configurations" not in file:
            raise ResultError(f"{path}: no configurations; request them with algorithm.configurations (gpumc merge leaves "
                              "them in the files that it merges)")
        config = json.loads(scalar_text(file, "config/resolved"))
        _check_bits(path, file["configurations/bytes"], config["model"])
        if config["algorithm"]["name"] == "pa":
            if sweep is not None or temperature is not None:
                raise ResultError(f"{path}: populations of pa are chosen by beta and run, not by sweep and temperature")
            return _populations(path, file, config, beta, run)
        if beta is not None or run is not None:
            raise ResultError(f"{path}: only populations of pa are chosen by beta and run; choose these by sweep and temperature")
        return _grid(path, file, config, sweep, temperature)


def _check_bits(path, portable, model):
    sites = math.prod(model.get("shape", ()))
    if "shape" not in model or portable.shape[1] != (sites + 7) // 8:
        raise ResultError(f"{path}: replicas of model {model['name']} are not stored as one bit per site; read "
                          "configurations/bytes, whose form is in docs/file-format.md")


def _populations(path, file, config, beta, run):
    """A row for each replica, population after population, in batches of runs."""
    group = file["configurations"]
    count = len(group["configuration"])  # the axis: the other datasets have as many rows at least
    first = numpy.flatnonzero(group["replica"][:count] == 0)
    end = numpy.append(first[1:], count)[:len(first)]
    moved = config["algorithm"].get("control", {}).get("name", "beta")
    steps, betas, runs = (group[name][:count][first] for name in ("step", moved, "run"))
    chosen = numpy.ones(len(first), bool)
    if not file.attrs["complete"]:
        chosen[-1:] = False  # may be a part of a population
    if beta is not None:
        chosen &= numpy.isclose(betas, beta, rtol=1e-9, atol=0)
    if run is not None:
        chosen &= runs == run
    if (beta is not None or run is not None) and not chosen.any():
        wanted = " and ".join(f"{name} {value}" for name, value in ((moved, beta), ("run", run))
                              if value is not None)
        raise ResultError(f"{path}: no configurations of {wanted}; the file has those of {moved} "
                          f"{_some(numpy.unique(betas))} and run {_some(numpy.unique(runs))}")
    shape = tuple(reversed(config["model"]["shape"]))
    spins, families, found = [], [], []
    for p in sorted(numpy.flatnonzero(chosen), key=lambda p: (steps[p], runs[p])):
        if not found or betas[p] != found[-1]:
            found.append(betas[p])
            spins.append([])
            families.append([])
        spins[-1].append(decoded.bits(group["bytes"][first[p]:end[p]], shape))
        families[-1].append(group["family"][first[p]:end[p]])
    return numpy.array(found), spins, families


def _grid(path, file, config, sweep, temperature):
    """Configurations of the same replicas at every time: a row for each time, temperature and replica, and
    the replicas copy by copy where there are any."""
    stored, of = file["configurations/bytes"], decoded.grid(file, config)
    times, lattice = numpy.arange(len(of.sweeps)), tuple(reversed(config["model"]["shape"]))
    if sweep is not None:
        times = numpy.flatnonzero(of.sweeps == sweep)
        if len(times) == 0:
            raise ResultError(f"{path}: no configurations of sweep {sweep}; the file has those of {_some(of.sweeps)}")
    chosen = slice(None)
    if temperature is not None:
        if temperature not in of.temperatures:
            raise ResultError(f"{path}: no configurations of temperature {temperature}; the file has those of "
                              f"{_some(of.temperatures)}")
        chosen = slice(of.temperatures.index(temperature), of.temperatures.index(temperature) + 1)
    rows = numpy.arange(math.prod(of.shape)).reshape(of.shape)[:, chosen]
    spins = numpy.empty((len(times),) + rows.shape[1:] + lattice, numpy.int8)
    for k, time in enumerate(times):
        spins[k] = decoded.bits(decoded.read_rows(stored, rows[time].ravel()), lattice).reshape(spins[k].shape)
    return of.sweeps[times], spins


def _some(values):
    """A few of them, for a message."""
    shown = [f"{value:.9g}" for value in values[:8]]
    return ", ".join(shown + ["..."] * (len(values) > 8)) or "none"

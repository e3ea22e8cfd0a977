"""Configurations of hard disks from result files, their local order psi_6, and the loop in the equation of state. Pictures of
both are gpumc.plot.disks.

    from gpumc import hard_disks

    disks = hard_disks.read("results/hard-disks.h5")     # a run with the key `configurations`
    disks.positions[-1, 0]                                # the last time, replica 0: [N, 2], in diameters
    psi = hard_disks.local_order(disks.positions[-1, 0], disks.box[-1, 0])
"""
from __future__ import annotations

import dataclasses
import json
import math
import os

import numpy as np

from . import decoded, files, measured
from .decoded import HEAD

FINE = 400  # volumes and pressures at which a loop is looked at
DEVIATES = 100
LOOP_POINTS = 4  # of a curve in which a loop is looked for
BORDER = 4  # spacings of disks: of copies around a box, at first


class NotDisks(Exception):
    """The files hold something else; the message says what."""


@dataclasses.dataclass(frozen=True)
class Disks:
    """Configurations by time and replica, in diameters. `corner`: of the cell (0, 0) of the kernel's grid. The order of
    disks is that of the cells, another one at every time."""
    sweeps: np.ndarray     # [time], from the end of the thermalization
    box: np.ndarray        # [time, replica, 2]
    corner: np.ndarray     # [time, replica, 2]
    positions: np.ndarray  # [time, replica, N, 2], 0 <= x < Lx


def read(path: str | os.PathLike[str], sweep: int | None = None) -> Disks:
    """The configurations of a result of hard disks, or those of one time, as Disks. What a stopped run has not written
    of all replicas is left out. ResultError where there are none."""
    with files.opened(path) as file, files.reading(path):
        config = json.loads(file["config/resolved"][()])
        if config["model"]["name"] != "hard_disks":
            raise files.ResultError(f"{path}: no hard disks, but model {config['model']['name']}")
        if "configurations" not in file:
            raise files.ResultError(f"{path}: no configurations; request them with algorithm.configurations")
        of, stored = decoded.grid(file, config), file["configurations/bytes"]
        chosen = np.arange(len(of.sweeps)) if sweep is None else np.flatnonzero(of.sweeps == sweep)
        if len(chosen) == 0:
            raise files.ResultError(f"{path}: no configurations of sweep {sweep}" if len(of.sweeps)
                                    else f"{path}: no configurations yet")
        rows = np.arange(math.prod(of.shape)).reshape(len(of.sweeps), -1)[chosen]
        numbers = decoded.read_rows(stored, rows.ravel()).view("<f8").reshape(len(chosen), rows.shape[1], -1)
    corner = np.floor(numbers[..., 2:HEAD] * 2**23) / 2**23  # less what it says of the last move of the volume
    return Disks(of.sweeps[chosen], numbers[..., :2], corner,
                 numbers[..., HEAD:].reshape(len(chosen), rows.shape[1], -1, 2))


def centred(positions: np.ndarray, box: np.ndarray) -> np.ndarray:
    """Positions in a box around the origin, -L/2 <= x < L/2 with the box in single precision, as they are: places that
    would be rounded to L/2 become -L/2, where their image is."""
    places, half = (np.asarray(positions) - np.asarray(box) / 2).astype(np.float32), np.asarray(box, np.float32) / 2
    return np.where(places >= half, -half, places)


def cells_of(positions, box, corner):
    """The cell of each disk, row by row, in the grid of the kernel `checkerboard`, which has the largest even numbers of
    cells that are not narrower than a diameter (docs/kernels/checkerboard.md)."""
    cells = 2 * (np.asarray(box) // 2).astype(int)
    place = np.minimum(((positions - corner) % box * (cells / box)).astype(int), cells - 1)
    return place[:, 1] * cells[0] + place[:, 0]


def occupied_cells(positions, box, corner):
    """How many cells have disks: those make trials."""
    return len(np.unique(cells_of(positions, box, corner)))


def triangulated(positions, box, border):
    """The Delaunay triangulation of the disks and their copies up to `border` beyond each side; of its points the places
    and the disks that they are."""
    from matplotlib.tri import Triangulation
    place, index = positions, np.arange(len(positions))
    for d in range(2):
        low, high = place[:, d] < border[d], place[:, d] >= box[d] - border[d]
        shift = np.eye(2)[d] * box
        place = np.concatenate([place, place[low] + shift, place[high] - shift])
        index = np.concatenate([index, index[low], index[high]])
    return Triangulation(*place.T), place, index


def circles(triangles, place):
    """Centres of the circumscribed circles, which are corners of Voronoi cells, and their radii."""
    first = place[triangles[:, 0]]
    one, other = place[triangles[:, 1]] - first, place[triangles[:, 2]] - first
    area2 = one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0]
    x = other[:, 1] * (one**2).sum(1) - one[:, 1] * (other**2).sum(1)
    y = one[:, 0] * (other**2).sum(1) - other[:, 0] * (one**2).sum(1)
    with np.errstate(divide="ignore", invalid="ignore"):  # flat ones, at the rim of all points
        away = np.column_stack([x, y]) / (2 * area2[:, None])
    return first + away, np.hypot(*away.T)


def neighbours(positions, box):
    """Pairs (i, j) of Voronoi neighbours in a periodic box, each in both directions, and the vectors from i to j. Copies of
    a disk, its own too, are neighbours by themselves; cells that touch in a point alone are not."""
    positions, box = np.asarray(positions), np.asarray(box)
    count = len(positions)
    border = np.minimum(BORDER * math.sqrt(box.prod() / count), box) if count >= BORDER**2 else box
    while True:
        found, place, index = triangulated(positions, box, border)
        corners, radii = circles(found.triangles, place)
        # A neighbour is no farther than twice the radius, or than a box. Disks on the rim lack some.
        own = found.triangles < count
        on_rim = (own | np.roll(own, -1, axis=1))[found.neighbors < 0].any()
        if np.all((border >= 2 * radii[own.any(axis=1)].max()) & (not on_rim) | (border >= box)):
            break
        border = np.minimum(2 * border, box)
    edges = []
    for k in range(3):  # from corner k to the next, with the triangle beyond
        beyond = found.neighbors[:, k]
        apart = np.hypot(*(corners - corners[beyond]).T) > 1e-9 * radii
        edges.append(found.triangles[(beyond >= 0) & apart][:, [k, (k + 1) % 3]])
    edges = np.concatenate(edges)  # each in both directions
    edges = edges[edges[:, 0] < count]
    return index[edges], place[edges[:, 1]] - place[edges[:, 0]]


def local_order(positions: np.ndarray, box: np.ndarray) -> np.ndarray:
    """psi_6 of each disk: the mean of exp(6 i theta) over its Voronoi neighbours, complex."""
    pairs, away = neighbours(positions, box)
    number = np.bincount(pairs[:, 0], minlength=len(positions))
    turned = ((away[:, 0] + 1j * away[:, 1]) / np.hypot(*away.T)) ** 6
    real, imaginary = (np.bincount(pairs[:, 0], part, len(positions)) for part in (turned.real, turned.imag))
    return (real + 1j * imaginary) / number


# --- the loop of a finite system ------------------------------------------------------------------

def equal_areas(fraction, pressure):
    """Maxwell's construction on straight lines between the points: the pressure at which the loop of P*(v), v = pi/(4 phi)
    being the volume of a disk in sigma^2, has equal areas on both sides; that area in kT: what coexistence in the box costs,
    for each disk; and the packing fractions between which the line of that pressure cuts the loop. NaN without a loop."""
    volume = np.linspace(math.pi / 4 / fraction[-1], math.pi / 4 / fraction[0], FINE)
    curve = np.interp(volume, math.pi / 4 / fraction[::-1], pressure[::-1])
    step = volume[1] - volume[0]
    best = (math.inf, *4 * (math.nan,))
    for level in np.linspace(curve.min(), curve.max(), FINE):
        places = np.flatnonzero(np.diff(np.sign(curve - level)))
        if len(places) >= 3:  # above, below, above and below the level as the volume grows
            above = (curve - level)[places[0]:places[-1] + 1]
            ends = math.pi / 4 / volume[[places[-1], places[0]]]
            best = min(best, (abs(above.sum()) * step, level, np.clip(above, 0, None).sum() * step, *ends))
    return best[1:]


def loop(number, fraction, pressure, error):
    """What equal_areas() finds for so many disks, and the errors of that from normal deviates of the pressures; None where
    they resolve no loop."""
    found = np.array(equal_areas(fraction, pressure))
    random = np.random.default_rng(number)
    others = np.array([equal_areas(fraction, pressure + error * random.standard_normal(len(error)))
                       for _ in range(DEVIATES)])
    if np.isnan(found).any() or np.isnan(others).any(axis=1).mean() > 0.1:
        return None
    return found, np.nanstd(others, axis=0)


def loop_line(number, found):
    """What loop() has found, in words."""
    if found is None:
        return f"N = {number}: no loop resolved"
    (level, area, *_), (level_error, area_error, *_) = found
    return (f"N = {number}: equal areas at P* = {measured.text(level, level_error)}, each "
            f"{measured.text(number * area, number * area_error)} kT in all")


# --- several results -------------------------------------------------------------------------------

def pressures(results):
    """{N: [packing fraction, pressure, error, trusted], [.., fraction]} by N, in the order of packing fractions."""
    found = {}
    for result in results:
        if result.config["model"]["name"] != "hard_disks" or "pressure" not in result.summary:
            raise NotDisks(f"{result.path}: --equation-of-state requires results of hard disks at constant volume")
        found.setdefault(number_of(result), []).append(
            (fraction_of(result), *(float(result.summary[name]) for name in ("pressure", "pressure_error")),
             float(result.remarks["trusted"])))
    return {number: np.array(sorted(found[number])).T for number in sorted(found)}


def loops(found):
    """loop() of each number of disks in `found`, what pressures() gives, that has enough points for one."""
    return {number: loop(number, *points[:3]) for number, points in found.items() if points.shape[1] >= LOOP_POINTS}


def number_of(result):
    model = result.config["model"]
    return model["particles"] if "particles" in model else math.prod(model["lattice"])


def fraction_of(result):
    model = result.config["model"]
    if "packing_fraction" in model:
        return float(model["packing_fraction"])
    return math.pi / 4 * number_of(result) / math.prod(model["box"])

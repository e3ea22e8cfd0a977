"""Helicity modulus of square XY models against the temperature, for several sizes, with the line 2 T/pi from which it
jumps to 0 at the Kosterlitz-Thouless transition (Nelson and Kosterlitz, Phys. Rev. Lett. 39, 1201 (1977)), and where that
is, by the corrections of Weber and Minnhagen, Phys. Rev. B 37, 5986 (1988)."""
import dataclasses

import numpy as np

from .. import measured
from . import transition

FINE = 4001  # temperatures between the first and the last at which curves are looked at


@dataclasses.dataclass(frozen=True)
class Size:
    """Y and its error at `temperature`, and on the finer `grid` between."""
    side: int
    temperature: np.ndarray
    values: np.ndarray
    errors: np.ndarray
    grid: np.ndarray
    smooth: np.ndarray
    smooth_errors: np.ndarray


def sizes(results):
    """In their order. Refuses what is no square XY model or has no helicity modulus."""
    found = []
    for result in results:
        model = result.config["model"]
        if model["name"] != "heisenberg" or model["components"] != 2 or len(model["shape"]) != 2:
            raise transition.NotComparable(f"{result.path}: --helicity requires square XY models: model.name: heisenberg, "
                                           "components: 2, shape: [L, L]")
        if "helicity_modulus" not in result.summary:
            raise transition.NotComparable(f"{result.path}: no helicity modulus: set algorithm.helicity_modulus: true")
        found.append(size_of(result))
    return sorted(found, key=lambda size: size.side)


def size_of(result):
    """Temperature and Y in units of |J|."""
    side, coupling = transition.side_of(result), abs(result.config["model"]["J"])
    beta = coupling * result.summary["beta"]
    values, errors = (result.summary[name] / coupling for name in ("helicity_modulus", "helicity_modulus_error"))
    grid = np.linspace(1 / beta[-1], 1 / beta[0], FINE)
    weights = np.array([transition.lagrange(beta, 1 / place, min(4, len(beta))) for place in grid])
    return Size(side, 1 / beta, values, errors, grid, weights @ values, np.sqrt(weights ** 2 @ errors ** 2))


def zero(grid, values, errors):
    """Where values go from above 0 to below with the temperature, for the last time, and the error; NaN: nowhere."""
    falls = np.flatnonzero((values[:-1] > 0) & (values[1:] <= 0))
    if len(falls) == 0:
        return np.nan, np.nan
    at = falls[-1]
    slope = (values[at + 1] - values[at]) / (grid[at + 1] - grid[at])
    return grid[at] - values[at] / slope, errors[at] / abs(slope)


def meeting(size):
    """Temperature where Y is 2 T/pi, above T_KT, and its error."""
    return zero(size.grid, size.smooth - 2 * size.grid / np.pi, size.smooth_errors)


def correction(size):
    """C of Y = (2 T/pi) (1 + 1/(2 (ln L + C))) on the grid, and its error; NaN where Y is below the line."""
    excess = np.pi * size.smooth / (2 * size.grid) - 1
    excess = np.where(excess > 0, excess, np.nan)
    return 1 / (2 * excess) - np.log(size.side), np.pi * size.smooth_errors / (4 * size.grid * excess ** 2)


def transition_of(small, large):
    """Temperature where both have the same C, T_KT up to further corrections, and its error."""
    low, high = max(small.grid[0], large.grid[0]), min(small.grid[-1], large.grid[-1])
    grid = np.linspace(low, high, FINE)
    of = [[np.interp(grid, size.grid, numbers) for numbers in correction(size)] for size in (small, large)]
    known = np.isfinite(of[0][0]) & np.isfinite(of[1][0])
    return zero(grid[known], (of[0][0] - of[1][0])[known], np.hypot(of[0][1], of[1][1])[known])


def table(found):
    lines = []
    for size in found:
        place = meeting(size)
        lines.append(f"L = {size.side}: Y = 2 T/pi at T = {measured.text(*place)}" if np.isfinite(place[0])
                     else f"L = {size.side}: Y does not reach 2 T/pi within these temperatures")
    for small, large in zip(found, found[1:]):
        place = transition_of(small, large)
        lines.append(f"L = {small.side} and {large.side}, logarithmic corrections, error of the noise alone: "
                     + (f"T_KT = {measured.text(*place)}" if np.isfinite(place[0]) else "no transition resolved"))
    return "\n".join(lines)

"""Critical slowing down: integrated autocorrelation times of several sizes at one temperature, and the dynamic exponents z of
tau ~ L^z by which they grow, move by move. The errors of z hold corrections to the power, of a size that is not known (extrapolation.growth()); what a
plain fit of the power tells beside it is the noise.

    for growth in gpumc.analysis.slowing.growths(results, "energy"):
        print(growth.text())

Times are the program's own, with its errors (docs/statistics.md), in updates of a site: where a sweep flips more or fewer spins
than there are sites, as Wolff's clusters do, sweeps are multiplied by the share that it flips.
"""
from __future__ import annotations

import dataclasses

import numpy as np

from .. import measured
from . import transition

LEAST_SIZES = 3  # for a fit of two parameters
# What is expected of the square Ising model at its critical point: exponent, and who found it.
NIGHTINGALE = (2.1667, "Nightingale and Blöte (2000)")  # Phys. Rev. B 62, 1089
BAILLIE = (0.25, "Baillie and Coddington (1991)")  # Phys. Rev. B 43, 10617; a logarithm fits as well
PUBLISHED = {"metropolis": NIGHTINGALE, "heat_bath": NIGHTINGALE, "swendsen_wang": BAILLIE, "wolff": BAILLIE}


def autocovariances(deviation):
    """Gamma(t) of each column of [time, replica], values less their mean, at all lags t, by Fourier transforms."""
    rows = len(deviation)
    size = 1 << (2 * rows - 1).bit_length()
    spectrum = np.fft.rfft(deviation, size, axis=0)
    return np.fft.irfft(np.abs(spectrum) ** 2, size, axis=0)[:rows] / np.arange(rows, 0, -1)[:, None]


@dataclasses.dataclass(frozen=True)
class Fit:
    """Two parameters by weighted least squares: of tau = a L^z the values are (ln a, z), of tau = a + b ln L they are (a, b)."""
    values: np.ndarray
    errors: np.ndarray
    chi2: float
    freedom: int

    def quality(self):
        return f"chi^2/dof = {self.chi2:.3g}/{self.freedom}"


@dataclasses.dataclass(frozen=True)
class Growth:
    """Autocorrelation times of one observable under one move, `times` [size] in updates of a site. `exponent`: z and its error, with corrections. The
    fits, of powers and logarithms without corrections, have errors of the noise alone. All three are None of fewer than LEAST_SIZES sizes."""
    move: str
    quantity: str
    sides: np.ndarray
    times: np.ndarray
    errors: np.ndarray
    converged: np.ndarray
    power: Fit | None
    logarithm: Fit | None
    published: tuple[float, str] | None
    exponent: tuple[float, float] | None

    def text(self):
        """The times, a line each, and what the fits say."""
        lines = [f"{self.move}, {self.quantity}, L = {side}: tau = {measured.text(time, error)}" + ("" if enough else " (not converged)")
                 for side, time, error, enough in zip(self.sides, self.times, self.errors, self.converged)]
        if self.power:
            told = f" ({self.published[1]}: {self.published[0]:g})" if self.published else ""
            lines += [f"{self.move}, {self.quantity}: tau ~ L^z with z = {measured.text(*self.exponent)}{told}; "
                      f"without corrections to the power {measured.text(self.power.values[1], self.power.errors[1])}, {self.power.quality()}",
                      f"{self.move}, {self.quantity}: tau = a + b ln L with a = "
                      f"{measured.text(self.logarithm.values[0], self.logarithm.errors[0])} and b = "
                      f"{measured.text(self.logarithm.values[1], self.logarithm.errors[1])}; {self.logarithm.quality()}"]
        return "\n".join(lines)


def growths(results, quantity="energy"):
    """A Growth for each move among the results, in the order of the moves' first files. Refuses results at different temperatures, of
    different lattices, or without the time of this observable."""
    together(results)
    by_move = {}
    for result in results:
        by_move.setdefault(move_of(result), []).append(result)
    return [growth_of(move, sorted(of, key=side_of), quantity) for move, of in by_move.items()]


def together(results):
    for result in results:
        if len(result.summary.get("autocorrelation_time/beta", ())) != 1:
            raise transition.NotComparable(f"{result.path}: --slowing-down requires results of canonical runs at one temperature")
        if len(set(result.config["model"].get("shape", ()))) != 1:
            raise transition.NotComparable(f"{result.path}: --slowing-down requires lattices of equal sides")
    betas = {float(result.summary["autocorrelation_time/beta"][0]) for result in results}
    if len(betas) > 1:
        raise transition.NotComparable(f"the results are at different temperatures: beta = {', '.join(f'{b:.10g}' for b in sorted(betas))}")
    models = {(result.config["model"]["name"], len(result.config["model"]["shape"])) for result in results}
    if len(models) > 1:
        raise transition.NotComparable("the results are of different models or dimensions")


def side_of(result):
    return result.config["model"]["shape"][0]


def move_of(result):
    """Its name, or those of moves that take turns."""
    update = result.config["algorithm"].get("update", "")
    return update if isinstance(update, str) else " + ".join(f"{sweeps} {move}" for turn in update for move, sweeps in turn.items())


def growth_of(move, results, quantity):
    name = f"autocorrelation_time/{quantity}"
    for result in results:
        if name not in result.summary:
            known = sorted(key.split("/")[1] for key in result.summary
                           if key.startswith("autocorrelation_time/") and not key.endswith(("_error", "/beta")))
            raise transition.NotComparable(f"{result.path}: no autocorrelation time of {quantity!r}; choose from: {', '.join(known)}")
    sides = np.array([side_of(result) for result in results])
    if len(set(sides)) < len(sides):
        raise transition.NotComparable(f"{move}: two results of one size; give one file for each size and move")
    share = np.array([float(result.summary.get("updated", [1.0])[0]) for result in results])
    times, errors = (share * [float(result.summary[key][0]) for result in results] for key in (name, f"{name}_error"))
    converged = np.array([bool(result.summary["converged"][0]) for result in results])
    model = results[0].config["model"]
    square = model["name"] == "ising2d" and quantity in ("energy", "magnetization2", "abs_magnetization")
    return Growth(move, quantity, sides, times, errors, converged, *fits(sides, times, errors), PUBLISHED.get(move) if square else None,
                  exponent_of(sides, times, errors))


def fits(sides, times, errors):
    """By a power and by a logarithm of L."""
    known = np.isfinite(errors) & (errors > 0)
    if known.sum() < LEAST_SIZES:
        return None, None
    sides, times, errors = sides[known], times[known], errors[known]
    return line(np.log(sides), np.log(times), errors / times), line(np.log(sides), times, errors)


def exponent_of(sides, times, errors):
    """z and its error, with corrections of unknown size."""
    known = np.isfinite(errors) & (errors > 0)
    if known.sum() < LEAST_SIZES:
        return None
    from . import extrapolation  # needs scipy, which time series do not

    found = extrapolation.growth(sides[known], np.log(times[known]), errors[known] / times[known])
    return found.value, found.error


def line(x, y, errors):
    """y = a + b x."""
    design = np.column_stack([np.ones(len(x)), x]) / errors[:, None]
    covariance = np.linalg.inv(design.T @ design)
    values = covariance @ design.T @ (y / errors)
    return Fit(values, np.sqrt(np.diag(covariance)), float(np.sum((y / errors - design @ values) ** 2)), len(x) - 2)


def at(growth, sides):
    """tau of the fit by a power at these sizes."""
    return np.exp(growth.power.values[0]) * np.power(np.asarray(sides, dtype=float), growth.power.values[1])


def table(found):
    return "\n".join(growth.text() for growth in found)



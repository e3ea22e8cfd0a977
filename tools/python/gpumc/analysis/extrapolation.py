"""From finite sizes to an infinite one: v(L) = v + a L^-e, for crossings, exponents of quotients, and T_c of collapses.

    gpumc.analysis.extrapolate([8, 16, 32], values, errors, exponent=3)          # e known
    gpumc.analysis.extrapolate([8, 16, 32, 64], values, errors)                  # e fitted
    gpumc.analysis.extrapolate(gpumc.analysis.quotients(results), exponent=3)    # of crossings, what they share included
    averaged(gpumc.analysis.quotients(results), "beta/nu", omegas)               # e not known: an average over several
"""
import dataclasses

import numpy as np

from .. import measured
from . import corrected, correlation, smoothing

EXPONENTS = np.geomspace(0.2, 8.0, 160)  # that are tried
MOST_FOUND = 0.9  # share of the replicates of a quotient that have a crossing, at least, of one that takes part
REPLICATES = 1000
FEW = 8  # replicates for each value, at least, so that their covariance is one


@dataclasses.dataclass(frozen=True)
class Extrapolation:
    """`value` of the infinite size with its error, or from `lower` to `upper` where the exponent was fitted: 68 %, infinite where the values
    set no limit. `amplitude` a and `exponent` e. `quality` of the fit."""
    value: float
    error: float
    lower: float
    upper: float
    amplitude: float
    amplitude_error: float
    exponent: float
    exponent_range: tuple
    quality: smoothing.Quality
    sides: tuple

    def text(self):
        known = (measured.text(self.value, self.error) if np.isfinite(self.error) else
                 f"{self.value:.6g} ({self.lower:.6g} to {self.upper:.6g})")
        return f"{known}, from L = {', '.join(map(str, self.sides))} with L^-{self.exponent:.3g}; {self.quality.text()}"


def crossing_shift(side, ratio, nu, omega):
    """How far the crossing of L and ratio L is from T_c, up to a factor: L^(-1/nu - omega) (1 - ratio^-omega)/(ratio^(1/nu) - 1)
    (Binder, Z. Phys. B 43, 119 (1981); Ferrenberg and Landau, Phys. Rev. B 44, 5081 (1991)). For pairs of different ratios."""
    side, ratio = np.asarray(side, float), np.asarray(ratio, float)
    return side ** (-1 / nu - omega) * (1 - ratio ** -omega) / (ratio ** (1 / nu) - 1)


def extrapolate(sides, values=None, errors=None, *, name: str = "temperature", exponent: float | None = None,
                exponent_error: float = 0.0, covariance=None, shifts=None, smallest: int = 0) -> Extrapolation:
    """The value of an infinite size, by least squares, as an Extrapolation.

    `sides`: sizes L with `values` and `errors`, or with `covariance` [L, L] in place of errors; or a list of Quotients, of which the crossing
    temperatures or the exponent `name` are used, with the covariance of the bootstrap: pairs that share a size are not independent.
    `exponent`: e, with `exponent_error` if it is not exact (that error is part of the value's); None: fitted, which needs three sizes, and four
    for a quality of the fit. The interval is then that of chi^2 at most 1 above the least (profile likelihood).
    `shifts`: numbers in place of L^-e, such as crossing_shift(); `exponent` is not used then. `smallest`: leaves out smaller sizes.

    Raises ValueError for fewer sizes than numbers that are fitted."""
    if values is None:
        sides, values, covariance = _of_quotients(sides, name)
    sides, values = np.asarray(sides, float), np.asarray(values, float)
    covariance = np.diag(np.asarray(errors, float) ** 2) if covariance is None else np.asarray(covariance, float)
    shifts = None if shifts is None else np.asarray(shifts, float)
    used = np.flatnonzero(np.isfinite(values) & np.isfinite(np.diag(covariance)) & (sides >= smallest))
    sides, values, covariance = sides[used], values[used], covariance[np.ix_(used, used)]
    fitted = 2 if exponent is not None or shifts is not None else 3
    if len(used) < fitted:
        raise ValueError(f"{len(used)} sizes are too few to fit {fitted} numbers")
    names = tuple(int(side) for side in sides)
    if fitted == 3:
        return _with_exponent(sides, values, covariance, names)
    if shifts is not None:
        power, unit, e = shifts[used], 1.0, float("nan")
    else:
        e = float(exponent or 0.0)
        power, unit = (sides / sides.min()) ** -e, sides.min() ** e
    if exponent_error > 0:
        slope = _line(power, values, covariance)[0][1] * np.log(sides / sides.min()) * power
        covariance = covariance + exponent_error ** 2 * np.outer(slope, slope)
    numbers, spread, chi2 = _line(power, values, covariance)
    error = float(np.sqrt(spread[0, 0]))
    return Extrapolation(float(numbers[0]), error, float(numbers[0] - error), float(numbers[0] + error), float(numbers[1] * unit),
                         float(np.sqrt(spread[1, 1]) * unit), e, (e, e), smoothing.chi2_quality(chi2, len(used) - 2), names)


def _of_quotients(quotients, name):
    """Smaller sides, values and covariance."""
    drawn = np.array([found.replicates[name] for found in quotients])
    values = [found.temperature if name == "temperature" else found.exponents[name][0] for found in quotients]
    complete = drawn[:, np.all(np.isfinite(drawn) | ~np.isfinite(values)[:, None], axis=0)]
    if complete.shape[1] < FEW * len(values):
        raise ValueError(f"too few replicates for a covariance of {len(values)} values; give quotients() more")
    return [found.sides[0] for found in quotients], values, np.atleast_2d(np.cov(complete))


@dataclasses.dataclass(frozen=True)
class Averaged:
    """`value` with its `error`; `replicates` [count] scatter as much as it is unknown, of which `noise` [count] is that of the values."""
    value: float
    error: float
    replicates: np.ndarray
    noise: np.ndarray


def averaged(quotients, name, omegas=corrected.OMEGAS, seed=1):
    """Exponent `name` of Quotients for infinite sizes, or None of fewer than two pairs: v + (A L^-omega (1 - s^-omega) + B L^-omega' (1 - s^-omega'))/ln s,
    omega' = omega + 1, an average over the omegas and over the sizes that A and B are expected to have, as of a collapse (corrected.py)."""
    drawn = np.array([found.replicates[name] for found in quotients])
    values = np.array([found.exponents[name][0] for found in quotients])
    used = np.isfinite(values) & (np.mean(np.isfinite(drawn), axis=1) > MOST_FOUND)
    if used.sum() < 2:
        return None
    values, drawn = values[used], drawn[used]
    drawn = np.where(np.isfinite(drawn), drawn, values[:, None])
    small, large = np.array([found.sides for found in quotients], float)[used].T
    unit = 2.0 if name.startswith("gamma") else 1.0  # as of corrected.Problem
    return over_corrections(np.ones((len(values), 1)), values, drawn,
                            lambda e: unit * (small ** -e - large ** -e) / np.log(large / small), omegas, [seed, *name.encode()])


def growth(sides, logs, errors, omegas=corrected.OMEGAS, seed=1):
    """z of values ~ L^z (1 + A L^-omega + B L^-(omega + 1)) for infinite sizes, from their `logs` with `errors`: likewise."""
    sides, logs = np.asarray(sides, float), np.asarray(logs, float)
    drawn = logs[:, None] + np.asarray(errors, float)[:, None] * np.random.default_rng(seed).normal(size=(len(logs), REPLICATES))
    return over_corrections(np.column_stack([np.ones_like(sides), np.log(sides)]), logs, drawn, lambda e: sides ** -e, omegas, [seed, 2])


def over_corrections(columns, values, drawn, shape, omegas, seed):
    """The coefficient of the last of `columns` [value, column], by least squares with corrections A shape(omega) + B shape(omega + 1) of unknown size."""
    covariance, count = np.atleast_2d(np.cov(drawn)), drawn.shape[1]
    means, logs, roots, weights = [], [], [], []
    for omega in omegas:
        for part in corrected.PARTS:
            expected = part ** 2 * sum(size ** 2 * np.outer(shape(e), shape(e)) for size, e in ((1.0, omega), (corrected.SECOND, omega + corrected.HIGHER)))
            solved = smoothing.solve(covariance + expected, columns, values)
            inverse = np.linalg.inv(covariance + expected)
            weights.append(np.linalg.solve(columns.T @ inverse @ columns, columns.T @ inverse)[-1])
            means.append(weights[-1] @ values)
            logs.append(-0.5 * solved.deviance[0])
            roots.append(correlation.root(expected))
    shares = np.exp(np.array(logs) - max(logs))
    shares /= shares.sum()
    random = np.random.default_rng(seed)
    which = random.choice(len(shares), p=shares, size=count)
    unknown = np.einsum("rij,rj->ri", np.array(roots)[which], random.normal(size=(count, len(values))))
    replicates = np.sum(np.array(weights)[which] * (drawn.T + unknown), axis=1)
    return Averaged(float(shares @ np.array(means)), float(np.std(replicates, ddof=1)), replicates, weights[int(np.argmax(shares))] @ drawn)


def _line(power, values, covariance):
    """Least squares of v + a power: the two numbers, their covariance, chi^2."""
    root = np.linalg.cholesky(covariance)
    columns = np.linalg.solve(root, np.column_stack([np.ones_like(power), power]))
    scaled = np.linalg.solve(root, values)
    numbers = np.linalg.lstsq(columns, scaled, rcond=None)[0]
    return numbers, np.linalg.inv(columns.T @ columns), float(np.sum((scaled - columns @ numbers) ** 2))


def _with_exponent(sides, values, covariance, names):
    """The exponent is fitted too: of all exponents that chi^2 allows, all values that it allows."""
    fits = [_line((sides / sides.min()) ** -e, values, covariance) for e in EXPONENTS]
    chi2 = np.array([fit[2] for fit in fits])
    best = int(np.argmin(chi2))
    numbers, spread, least = fits[best]
    lower, upper = np.inf, -np.inf
    for (found, own, value) in fits:
        if value - least <= 1:
            half = np.sqrt((1 - (value - least)) * own[0, 0])
            lower, upper = min(lower, found[0] - half), max(upper, found[0] + half)
    allowed = EXPONENTS[chi2 - least <= 1]
    if allowed[0] == EXPONENTS[0]:  # any slower decay, and so any value beyond
        lower, upper = (lower, np.inf) if numbers[1] < 0 else (-np.inf, upper)
    error = max(upper - numbers[0], numbers[0] - lower)
    return Extrapolation(float(numbers[0]), float(error), float(lower), float(upper), float(numbers[1] * sides.min() ** EXPONENTS[best]),
                         float(np.sqrt(spread[1, 1]) * sides.min() ** EXPONENTS[best]), float(EXPONENTS[best]),
                         (float(allowed[0]), float(allowed[-1])), smoothing.chi2_quality(least, len(values) - 3), names)



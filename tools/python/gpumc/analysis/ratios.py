"""Exponents from two sizes L and s L at the temperature where their curves of xi/L, or of the Binder parameter, cross: quotients.

    for found in gpumc.analysis.quotients(results):
        found.sides, found.temperature, found.exponents["beta/nu"], found.exponents["1/nu"]

At the crossing the scaled temperature of both sizes is the same, so that O(sL)/O(L) = s^kappa (1 + corrections L^-omega), without T_c and
nu (Nightingale, Physica A 83, 561 (1976); Ballesteros, Fernandez, Martin-Mayor and Munoz Sudupe, Phys. Lett. B 378, 207 (1996)). The slope
of the crossing curve itself has kappa = 1/nu.
"""
import dataclasses

import numpy as np

from .. import measured
from . import crossing as crossing_module
from . import curves as curves_module
from . import smoothing, transition

REPLICATES = 400
FINE = 161  # places between the first and the last temperature that both have
LEAST_POINTS = 5
MOST_LOST = 0.02  # of the replicates, without a crossing
CROSSING = ("xi/L", "xi_overlap/L", "binder_parameter", "binder_overlap")
OBSERVABLES = ("abs_magnetization", "susceptibility", "abs_overlap", "chi_overlap")


@dataclasses.dataclass(frozen=True)
class Quotient:
    """Of two sizes. `temperature` of their crossing, `value` of the curves there, and `exponents` by name ("1/nu", "beta/nu",
    "gamma/nu"), each a pair (number, error). `replicates` by the same names, and "temperature": the bootstrap's numbers, NaN in those
    that do not cross. `remarks`: what is not to be trusted. Without a crossing all numbers are NaN."""
    crossing: str
    sides: tuple
    temperature: float
    temperature_error: float
    value: float
    value_error: float
    exponents: dict
    replicates: dict
    remarks: tuple

    def text(self):
        said = [f"T = {measured.text(self.temperature, self.temperature_error)}"]
        said += [f"{name} = {measured.text(*found)}" for name, found in self.exponents.items()]
        return f"L = {self.sides[0]} and {self.sides[1]}: {', '.join(said)}"


def quotients(results, crossing: str | None = None, observables: list[str] | None = None, *, ratio: int | None = None,
              replicates: int = REPLICATES, seed: int = 1) -> list[Quotient]:
    """The Quotients of pairs of sizes.

    `results`: one for each size: Results, paths or Curves. `crossing`: "xi/L", "binder_parameter", or these of overlaps; None: the first
    of CROSSING that all have. `observables`: names as for collapse(); None: those of OBSERVABLES that all have. `ratio`: pairs L and
    ratio L; None: 2 if there are such pairs, or else neighbouring sizes.

    Curves between the temperatures are Gaussian processes (smoothing.smooth()). Errors: standard deviations over a bootstrap
    (curves.Curves.replicates()), in which crossing, slopes and observables of a replicate belong together, and in which each curve is
    drawn anew from what is unknown between the temperatures. Pairs that share a size share its replicates.

    Raises transition.NotComparable if results do not belong together or have no such curves."""
    sizes, crossing, observables = _read(results, crossing, observables)
    sides = [size.side for size in sizes]
    pairs = _pairs(sides, ratio)
    if not pairs:
        raise transition.NotComparable(f"no two sizes with the ratio {ratio} among L = {', '.join(map(str, sides))}")
    return [_of_pair(sizes[first], sizes[second], crossing, observables, replicates, seed) for first, second in pairs]


def _read(results, crossing, observables):
    from .points import read_if_path

    opened = [item if isinstance(item, curves_module.Curves) else read_if_path([item])[0] for item in results]

    def all_have(name):
        return all(name in item.values if isinstance(item, curves_module.Curves) else
                   transition.has(item, curves_module.quantity_of(name, 2).dataset) for item in opened)

    crossing = crossing or next(filter(all_have, CROSSING), None)
    if crossing is None:
        raise transition.NotComparable("no Binder parameter or correlation length that all files have")
    observables = list(filter(all_have, OBSERVABLES)) if observables is None else list(observables)
    return curves_module.read_all(opened, [crossing, *observables]), crossing, observables


def _pairs(sides, ratio):
    def of(number):
        return [(k, sides.index(number * side)) for k, side in enumerate(sides) if number * side in sides]

    if ratio is not None:
        return of(ratio)
    return of(2) or [(k, k + 1) for k in range(len(sides) - 1)]


def _of_pair(small, large, crossing, observables, count, seed):
    low, high = (edge(small.beta[small.known(crossing)], large.beta[large.known(crossing)])
                 for edge in (lambda a, b: max(a[0], b[0]), lambda a, b: min(a[-1], b[-1])))
    if not low < high:
        raise transition.NotComparable(f"{crossing}: L = {small.side} and L = {large.side} have no temperatures in common")
    at = np.linspace(low, high, FINE)
    remarks = []
    pair = [_drawn(size, crossing, at, count, seed, remarks) for size in (small, large)]
    apart = pair[1] - pair[0]
    errors = np.maximum(np.std(apart[1:], axis=0), transition.ROUNDING)
    middle = crossing_module.cold_side(crossing_module.Curve(0, at, apart[0], errors))
    places = np.array([_zero(at, row, at[min(middle, FINE - 1)]) for row in apart])
    log_ratio = np.log(large.side / small.side)
    slopes = [_at(places, at, np.gradient(curves, at, axis=1)) for curves in pair]
    with np.errstate(invalid="ignore"):
        found = {"1/nu": np.log(slopes[1] / slopes[0]) / log_ratio}
    for name in observables:
        kind = curves_module.quantity_of(name, small.dimension)
        logs = [_at(places, at, _drawn(size, name, at, count, seed, remarks, is_log=True)) for size in (small, large)]
        found[kind.exponent] = kind.sign * (logs[1] - logs[0]) / log_ratio
    lost = np.mean(~np.isfinite(places[1:]))
    if not np.isfinite(places[0]):
        remarks.append("no crossing within the temperatures")
    elif lost > MOST_LOST:
        remarks.append(f"{100 * lost:.0f} % of the replicates have no crossing: errors are too small")
    values = _at(places, at, pair[0])
    return Quotient(crossing, (small.side, large.side), *_number(1 / places), *_number(values),
                    {name: _number(numbers) for name, numbers in found.items()},
                    {"temperature": 1 / places[1:], **{name: numbers[1:] for name, numbers in found.items()}}, tuple(remarks))


def _number(numbers):
    """That of the values, and its error."""
    known = numbers[1:][np.isfinite(numbers[1:])]
    return float(numbers[0]), float(np.std(known, ddof=1)) if len(known) > 1 and np.isfinite(numbers[0]) else float("nan")


def _drawn(size, name, at, count, seed, remarks, is_log=False):
    """The curve at the places `at`, [1 + count, at]: that of the values, and those of the replicates."""
    known = size.known(name)
    if len(known) < LEAST_POINTS:
        raise transition.NotComparable(f"{name}: L = {size.side} has fewer than {LEAST_POINTS} temperatures")
    values, covariance = size.values[name][known], size.covariance(name)[np.ix_(known, known)]
    other = size.replicates(name, count, seed)[:, known]
    if is_log:
        covariance, other = covariance / np.outer(values, values), np.log(values) + (other - values) / values
        values = np.log(values)
    curve = smoothing.smooth(size.beta[known], values, covariance, at)
    if curve.quality.p < 1e-3:
        remarks.append(f"{name} of L = {size.side} is not smooth within its errors ({curve.quality.text()})")
    random = np.random.default_rng([seed, size.side, *name.encode(), 1])
    unknown = random.normal(size=(count, len(at))) @ curve.root
    return np.vstack([curve.weights @ values, other @ curve.weights.T + unknown])


def _zero(at, values, near):
    """Where the values go from below 0 to above, the nearest such place; NaN: nowhere."""
    rises = np.flatnonzero((values[:-1] < 0) & (values[1:] >= 0))
    if len(rises) == 0:
        return np.nan
    zeros = at[rises] - values[rises] * (at[rises + 1] - at[rises]) / (values[rises + 1] - values[rises])
    return zeros[np.argmin(np.abs(zeros - near))]


def _at(places, at, curves):
    """Each curve at its own place."""
    return np.array([np.interp(place, at, curve) if np.isfinite(place) else np.nan for place, curve in zip(places, curves)])

"""Binder parameter and correlation length over L against the temperature, for several sizes of one
model, and where the curves of neighbouring sizes cross."""
import dataclasses
import statistics

import numpy as np

from . import crossing as crossing_of
from .correlation import correlation
from .crossing import Curve

# Of the overlap where the files have it, else of the magnetization.
BINDER = ("binder_overlap", "binder_parameter")
LENGTH = ("correlation_length_overlap", "correlation_length")

# Of differences of Binder parameters and of lengths over L, which are of order 1.
ROUNDING = 1e-12

# Inverse temperatures that are no farther apart are one.
SAME = 1e-9

# Standard errors at which an interval has to be closed on both sides to be said.
CLOSED = 2.0

# Probability that the difference at any of all temperatures is beyond what a limit of one side is made with.
CHANCE = 0.01

# Of the model: what the sizes may differ in.
OF_ONE_SIZE = ("shape", "disorder_seed", "sample", "file")


class NotComparable(Exception):
    """The files have no such curves in common; the message says why."""


@dataclasses.dataclass(frozen=True)
class Panel:
    """`label` of the values, whose curves are in the order of the sizes."""
    title: str
    label: str
    curves: list


@dataclasses.dataclass(frozen=True)
class Crossing:
    """Temperature where the curves of two sizes cross, and the interval `lower` to `upper` that holds the
    true one with a probability of 68 %, or its one limit with `level` percent. 0 is below all temperatures of the
    files, infinity above. `gap`: the temperatures round the crossing where they are too far apart for what the errors
    could tell."""
    sides: tuple
    temperature: float
    lower: float
    upper: float
    gap: tuple = ()
    level: int = 68


def panels(results):
    """What all files have of the two."""
    if len(results) < 2:
        raise NotComparable("one file does not show a transition; give one for each size, of two sizes or more")
    for result in results[1:]:
        refuse_other_model(results[0], result)
    sides = [side_of(result) for result in results]
    if len(set(sides)) < len(sides):
        raise NotComparable("two files of the same size; give one file for each size")
    ordered = [result for _, result in sorted(zip(sides, results), key=lambda pair: pair[0])]
    found = []
    for names, title, symbol in ((BINDER, "Binder parameter", ""),
                                 (LENGTH, "correlation length over L", "/L")):
        name = next((name for name in names if all(has(result, name) for result in ordered)), None)
        if name is not None:
            label = ordered[0].labels[name]
            found.append(Panel(title, label.symbol + symbol, [curve(result, name, bool(symbol))
                                                              for result in ordered]))
    if not found:
        raise NotComparable("no Binder parameter or correlation length that all files have")
    for panel in found:
        refuse_strangers(panel)
    return found


def refuse_other_model(first, other):
    """A crossing is one of sizes of the same model."""
    models = [result.config["model"] for result in (first, other)]
    for key in sorted({*models[0], *models[1]} - {*OF_ONE_SIZE}, key=lambda key: (key != "name", key)):
        values = [model.get(key) for model in models]
        if values[0] != values[1]:
            raise NotComparable(f"{first.path} and {other.path} are of different models: model.{key} is "
                                f"{shown(values[0])} and {shown(values[1])}")


def shown(value):
    return "not set" if value is None else value


def refuse_strangers(panel):
    """Sizes whose curves are known nowhere at the same temperature."""
    for small, large in zip(panel.curves, panel.curves[1:]):
        if len(difference(small, large).beta) == 0:
            raise NotComparable(f"{panel.title}: L = {small.side} ({span(small)}) and L = {large.side} "
                                f"({span(large)}) have no common temperature with known values")


def span(curve):
    known = curve.beta[np.isfinite(curve.values) & np.isfinite(curve.errors)]
    return f"beta from {known[0]:g} to {known[-1]:g}" if len(known) else "no known values"


def side_of(result):
    if "control" in result.config.get("algorithm", {}):
        raise NotComparable(f"{result.path}: --transition requires curves over beta")
    shape = result.config["model"]["shape"]
    if len(set(shape)) > 1:
        raise NotComparable(f"{result.path}: --transition requires lattices of equal sides, not {shape}")
    return shape[0]


def has(result, name):
    return name in result.summary and name + "_error" in result.summary


def curve(result, name, is_length):
    side = side_of(result)
    scale = 1 / side if is_length else 1.0
    return Curve(side, result.summary["beta"], scale * result.summary[name],
                 scale * result.summary[name + "_error"], correlation(result, name))


# --- crossings ------------------------------------------------------------------------------------

def crossings(panel, errors=1):
    """Those of neighbouring sizes, with intervals of so many standard errors."""
    return [crossing(small, large, errors) for small, large in zip(panel.curves, panel.curves[1:])]


def crossing(small, large, errors=1):
    """Where the large size, below the small one on the hot side, comes out above it on the cold side.

    The interval is that of the temperatures at which the difference of the curves is 0 within its own
    error (Fieller, J. R. Stat. Soc. B 16, 175 (1954)), as tools/crossing.py estimates it between the temperatures
    of the files. The difference is nearly Gaussian, however curved or flat the curves are; its zero is not, and the
    error over the slope there would be too small where noise moves the zero to a place with a steeper slope.

    Both curves become one again far from the crossing, on either side, with a difference that is 0 within its
    error or has the wrong sign there too. So all temperatures together decide which are the hot side and which
    the cold one, the crossing is between the two, and for the interval only the temperatures between the
    places count where the difference is the most certain: below 0 on the hot side, above it on the cold one.
    Without a place where it is so beyond its error, that end is open.
    """
    apart = difference(small, large)
    return crossing_of_difference((small.side, large.side), apart, crossing_of.estimate(apart), errors)


def crossing_of_difference(sides, apart, known, errors):
    """The same from the difference and its estimate."""
    margin = errors * known.errors
    cold = crossing_of.cold_side(known)
    temperature = zero_after(cold - 1, known.beta, known.values) if cold > 0 else np.inf
    is_hot = apart.beta < (known.beta[cold] if cold < len(known.beta) else np.inf)
    sure = np.abs(apart.values) > errors * apart.errors
    closed = [np.any(sure & ~is_hot & (apart.values > 0)), np.any(sure & is_hot & (apart.values < 0))]
    return Crossing(sides, temperature, cold_end(known, margin, cold) if closed[0] else 0.0,
                    hot_end(known, margin, cold) if closed[1] else np.inf,
                    gap_at(temperature, known, apart.beta))


def statements(panel):
    """What is said of the crossings of neighbouring sizes."""
    return [statement(small, large) for small, large in zip(panel.curves, panel.curves[1:])]


def statement(small, large):
    """The crossing with the interval, or the limit, that is said of it."""
    apart = difference(small, large)
    known = crossing_of.estimate(apart)
    return what_is_said([crossing_of_difference((small.side, large.side), apart, known, errors)
                         for errors in error_levels(len(apart.beta))])


def error_levels(count):
    """Standard errors of what_is_said()'s three crossings, of so many temperatures."""
    return 1, CLOSED, statistics.NormalDist().inv_cdf(1 - CHANCE / count)


def what_is_said(crossings):
    """The first, with its interval of one error, if that of CLOSED errors is closed on both sides: of intervals that
    noise has closed fewer hold the crossing than 68 %. Else the last, whose limits are those of a level of 95 % even
    though they are made where the difference is the most certain of all temperatures (Bonferroni)."""
    one, closed, limits = crossings
    if is_inside(closed.lower) and is_inside(closed.upper):
        return one
    return dataclasses.replace(limits, level=95)


def gap_at(temperature, known, beta):
    """Temperatures of the files on either side of the crossing, where most of the error is of what is unknown
    between them; else none."""
    if not is_inside(temperature):
        return ()
    at = min(int(np.searchsorted(known.beta, 1 / temperature)), len(known.beta) - 1)
    if 2 * known.unknown[at] ** 2 <= known.errors[at] ** 2:
        return ()
    cold = min(max(int(np.searchsorted(beta, 1 / temperature)), 1), len(beta) - 1)
    return 1 / beta[cold], 1 / beta[cold - 1]


def difference(small, large):
    """The large size less the small one, where both are known. Where both have an error of 0, as at low
    temperatures, that of rounding remains."""
    small, large = (size.at(np.isfinite(size.values) & np.isfinite(size.errors)) for size in (small, large))
    if len(large.beta) == 0:
        return small.at(slice(0))
    inside = (small.beta >= large.beta[0] - SAME) & (small.beta <= large.beta[-1] + SAME)
    small = small.at(inside)
    weights, missing = interpolation(large.beta, small.beta, large.values)
    values = weights @ large.values - small.values
    errors = np.sqrt(small.errors ** 2 + (np.abs(weights) @ large.errors) ** 2 + missing ** 2)
    if small.correlation is None or large.correlation is None:
        return Curve(large.side, small.beta, values, np.maximum(errors, ROUNDING))
    own = np.diag(missing ** 2 + ROUNDING ** 2)
    return crossing_of.from_covariance(large.side, small.beta, values, small.covariance() + own
                                       + weights @ large.covariance() @ weights.T)


def interpolation(beta, at, values):
    """Weights [at, beta] of the cubic through the four nearest temperatures, and its error: what the next two would
    change. Where a temperature is one of `beta`, it is that."""
    weights, missing = np.zeros((len(at), len(beta))), np.zeros(len(at))
    for row, place in enumerate(at):
        nearest = int(np.argmin(np.abs(beta - place)))
        if abs(beta[nearest] - place) <= SAME:
            weights[row, nearest] = 1
            continue
        weights[row] = lagrange(beta, place, 4)
        missing[row] = abs((lagrange(beta, place, 6) - weights[row]) @ values)
    return weights, missing


def lagrange(beta, place, count):
    """Weights of the polynomial through the `count` temperatures round a place."""
    first = int(np.clip(np.searchsorted(beta, place) - count // 2, 0, max(len(beta) - count, 0)))
    nodes = beta[first:first + count]
    weights = np.zeros(len(beta))
    for k, node in enumerate(nodes):
        others = np.delete(nodes, k)
        weights[first + k] = np.prod((place - others) / (node - others))
    return weights


def leading(are_so):
    """How many are true before the first that is not."""
    return len(are_so) if are_so.all() else int(np.argmin(are_so))


def last_rise(beta, values):
    """Temperature below which the values, linear between those of beta, stay above 0."""
    below = np.flatnonzero(~(values > 0))
    if len(below) == 0:
        return np.inf
    return zero_after(below[-1], beta, values)


def cold_end(apart, margin, cold):
    """Of the interval: hotter than all that is above the margin next to the most certain place among the
    temperatures from number `cold` on; 0 where none is above it."""
    sure = cold + crossing_of.most_certain(apart.values[cold:], apart.errors[cold:])
    if sure == len(apart.beta) or apart.values[sure] <= margin[sure]:
        return 0.0
    return last_rise(apart.beta[:sure + 1], (apart.values - margin)[:sure + 1])


def hot_end(apart, margin, cold):
    """The same of what is below the margin among the temperatures before `cold`; else infinity."""
    sure = crossing_of.most_certain(-apart.values[:cold], apart.errors[:cold])
    if sure == cold or apart.values[sure] >= -margin[sure]:
        return np.inf
    beyond = leading((apart.values + margin)[sure:] <= 0)
    return zero_after(sure + beyond - 1, apart.beta, apart.values + margin)


def zero_after(at, beta, values):
    if at + 1 >= len(beta):
        return 0.0
    step = values[at + 1] - values[at]
    return 1 / (beta[at] - values[at] / step * (beta[at + 1] - beta[at]))


def is_inside(temperature):
    return bool(0 < temperature < np.inf)


# --- all pairs together ---------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Common(Crossing):
    """One temperature for the crossings of all pairs. `agree`: whether their differences allow that there is one."""
    agree: bool = True


def common(found):
    """What is said of one crossing of all pairs of all panels, the temperature at which the squares of their
    differences, in standard errors, are the least, with the interval in which they are at most 1 more.

    Neighbouring pairs of a panel share a size, and so part of their errors, with opposite signs. The panels are of the
    same simulations: their squares are averaged, as if one told no more than the other, which errs on the safe side.
    A pair says no more beyond the places where its difference is the most certain than at these.

    A pair that crosses nowhere takes part as well: its difference excludes temperatures, and to leave out those
    whose zero noise has moved beyond the temperatures would be a choice by the result. But such pairs alone make no
    crossing, and nor does a least value at the end of the temperatures.
    """
    apart = [[difference(*pair) for pair in zip(panel.curves, panel.curves[1:])] for panel in found]
    known = [[crossing_of.estimate(pair) for pair in panel] for panel in apart]
    pairs = [pair for panel in known for pair in panel]
    beta = np.linspace(min(pair.beta[0] for pair in pairs), max(pair.beta[-1] for pair in pairs), 4001)
    crossed = [crossings(panel) for panel in found]
    total = np.mean([squares_at(beta, panel.curves, *of_panel)
                     for panel, *of_panel in zip(found, known, crossed)], axis=0)
    is_any = any(is_inside(pair.temperature) for panel in crossed for pair in panel)
    freedom = len(pairs) - 1
    agree = total.min() * len(found) <= freedom + 2 * np.sqrt(2 * freedom)
    sides = tuple(size.side for size in found[0].curves)
    levels = error_levels(max(len(pair.beta) for panel in apart for pair in panel))
    return what_is_said([Common(sides, least_at(beta, total) if is_any else np.inf, *ends_of(beta, total, errors),
                                agree=bool(agree)) for errors in levels])


def least_at(beta, squares):
    """Temperature of the least of them; 0 and infinity at the ends."""
    best = int(np.argmin(squares))
    if best + 1 == len(beta):
        return 0.0
    return 1 / beta[best] if best > 0 else np.inf


def ends_of(beta, squares, errors):
    """Temperatures within which the squares are above the least by no more than so many errors are."""
    inside = np.flatnonzero(squares <= squares.min() + errors ** 2)
    return (1 / beta[inside[-1]] if inside[-1] + 1 < len(beta) else 0.0,
            1 / beta[inside[0]] if inside[0] > 0 else np.inf)


def squares_at(beta, curves, pairs, crossings):
    """Sum of squares of the differences of one panel at each of `beta`. What neighbouring pairs share is taken from
    where they cross, or from the middle of the temperatures."""
    in_errors = np.stack([np.interp(beta, pair.beta, pair.values / pair.errors) for pair in pairs])
    together = np.eye(len(pairs))
    for k, (small, shared, large) in enumerate(zip(curves, curves[1:], curves[2:])):
        places = [1 / pair.temperature for pair in crossings[k:k + 2] if is_inside(pair.temperature)]
        at = np.mean(places or [np.mean(shared.beta)])
        first, middle, last = (error_at(size, at) for size in (small, shared, large))
        together[k, k + 1] = together[k + 1, k] = -middle ** 2 / (np.hypot(first, middle) *
                                                                  np.hypot(middle, last))
    return np.sum(in_errors * np.linalg.solve(together, in_errors), axis=0)


def error_at(size, beta):
    known = size.at(np.isfinite(size.errors))
    return max(np.interp(beta, known.beta, known.errors), ROUNDING)


# --- in words -------------------------------------------------------------------------------------

def is_resolved(crossing):
    return is_inside(crossing.temperature) and (is_inside(crossing.lower) or is_inside(crossing.upper))


def place(crossing):
    """The temperature and its interval, in words."""
    lower, upper = is_inside(crossing.lower), is_inside(crossing.upper)
    digits = 3
    if lower and upper:
        digits = int(np.clip(np.ceil(1 - np.log10(max(crossing.upper - crossing.lower, 1e-9))), 3, 8))
    known = f"T = {crossing.temperature:.{digits}f}"
    if lower and upper and is_resolved(crossing):
        return f"{known} ({crossing.lower:.{digits}f} to {crossing.upper:.{digits}f})"
    if lower and upper:
        return "no crossing resolved"
    limits = [f"T > {crossing.lower:.{digits}f}"] * int(lower) + [f"T < {crossing.upper:.{digits}f}"] * int(upper)
    if is_resolved(crossing):
        return f"{known} ({limits[0]} at {crossing.level} %)"
    return "; ".join(["no crossing resolved", *(f"{limit} at {crossing.level} %" for limit in limits)])


def table(found):
    """A line for each panel and crossing, one for all of them together, and what is to be said of them."""
    lines, gaps = [], []
    for panel in found:
        for crossing in statements(panel):
            cross = " cross at " if is_resolved(crossing) else ": "
            lines.append(f"{panel.title}: L = {crossing.sides[0]} and {crossing.sides[1]}{cross}"
                         f"{place(crossing)}")
            if crossing.gap:
                gaps.append("too few temperatures between T = {:.4g} and {:.4g} for the precision that the errors allow ("
                            .format(*crossing.gap) + "{}, L = {} and {}): add some".format(
                                panel.title, *crossing.sides))
    if len(lines) > 1:
        whole = common(found)
        if is_resolved(whole) and not whole.agree:
            lines.append(f"all pairs together: {place(whole).partition(' (')[0]}, without an interval, since the pairs differ by more "
                         "than their errors: crossings drift with the size, and those of the largest sizes are the nearest to T_c "
                         "(gpumc-critical takes the drift into account)")
        else:
            lines.append(f"all pairs together: {place(whole)}")
    return "\n".join(lines + gaps)

"""Binder parameter and correlation length over L against the temperature, for several sizes of one
model, and where the curves of neighbouring sizes cross."""
import dataclasses

import numpy as np

# Of the overlap where the files have it, else of the magnetization.
BINDER = ("binder_overlap", "binder_parameter")
LENGTH = ("correlation_length_overlap", "correlation_length")

# Of differences of Binder parameters and of lengths over L, which are of order 1.
ROUNDING = 1e-12

# Of the model: what the sizes may differ in.
OF_ONE_SIZE = ("shape", "disorder_seed", "sample", "file")

MARKS = {"marker": "o", "markersize": 3, "linewidth": 1, "elinewidth": 0.9}


class NotComparable(Exception):
    """The files have no such curves in common; the message says why."""


@dataclasses.dataclass(frozen=True)
class Curve:
    """`values` with `errors` at ascending inverse temperatures: of the size `side`, or of the difference
    of two sizes."""
    side: int
    beta: np.ndarray
    values: np.ndarray
    errors: np.ndarray


@dataclasses.dataclass(frozen=True)
class Panel:
    """`label` of the values, whose curves are in the order of the sizes."""
    title: str
    label: str
    curves: list


@dataclasses.dataclass(frozen=True)
class Crossing:
    """Temperature where the curves of two sizes cross, and the interval `lower` to `upper` that holds the
    true one with a probability of 68 %. 0 is below all temperatures of the files, infinity above."""
    sides: tuple
    temperature: float
    lower: float
    upper: float


def panels(results):
    """What all files have of the two."""
    if len(results) < 2:
        raise NotComparable("one file makes no transition; give one for each size, of two sizes or more")
    for result in results[1:]:
        refuse_other_model(results[0], result)
    sides = [side_of(result) for result in results]
    if len(set(sides)) < len(sides):
        raise NotComparable("two files of the same size; one file for each size makes a transition")
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
        raise NotComparable("no Binder parameter, nor correlation length, that all files have")
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
                                f"({span(large)}) are known at no common temperature")


def span(curve):
    known = curve.beta[np.isfinite(curve.values) & np.isfinite(curve.errors)]
    return f"beta from {known[0]:g} to {known[-1]:g}" if len(known) else "no known values"


def side_of(result):
    shape = result.config["model"]["shape"]
    if len(set(shape)) > 1:
        raise NotComparable(f"{result.path}: --transition takes lattices of equal sides, not {shape}")
    return shape[0]


def has(result, name):
    return name in result.summary and name + "_error" in result.summary


def curve(result, name, is_length):
    side = side_of(result)
    scale = 1 / side if is_length else 1.0
    return Curve(side, result.summary["beta"], scale * result.summary[name],
                 scale * result.summary[name + "_error"])


# --- crossings ------------------------------------------------------------------------------------

def crossings(panel, errors=1):
    """Those of neighbouring sizes, with intervals of so many standard errors."""
    return [crossing(small, large, errors) for small, large in zip(panel.curves, panel.curves[1:])]


def crossing(small, large, errors=1):
    """Where the large size, below the small one on the hot side, comes out above it on the cold side.

    The interval is that of the temperatures at which the difference of the curves is 0 within its own
    error (Fieller, J. R. Stat. Soc. B 16, 175 (1954)). At a given temperature the two sizes are independent
    and the difference nearly Gaussian, however curved or flat the curves are and however the temperatures of
    one size depend on each other; its zero is not, and the error over the slope there would be too small
    where noise moves the zero to a place with a steeper slope.

    Both curves become one again far from the crossing, on either side, with a difference that is 0 within its
    error or has the wrong sign there too. So all temperatures together decide which are the hot side and which
    the cold one, the crossing is between the two, and for the interval only the temperatures between the
    places count where the difference is the most certain: below 0 on the hot side, above it on the cold one.
    Without a place where it is so beyond its error, that end is open.
    """
    apart = difference(small, large)
    margin = errors * apart.errors
    cold = cold_side(apart)
    temperature = zero_after(cold - 1, apart.beta, apart.values) if cold > 0 else np.inf
    return Crossing((small.side, large.side), temperature, cold_end(apart, margin, cold),
                    hot_end(apart, margin, cold))


def difference(small, large):
    """The large size less the small one, where both are known. Where both have an error of 0, as at low
    temperatures, that of rounding remains."""
    inside = (small.beta >= large.beta[0]) & (small.beta <= large.beta[-1])
    beta = small.beta[inside]
    values = np.interp(beta, large.beta, large.values) - small.values[inside]
    errors = np.hypot(np.interp(beta, large.beta, large.errors), small.errors[inside])
    errors = np.maximum(errors, ROUNDING)
    known = np.isfinite(values) & np.isfinite(errors)
    return Curve(large.side, beta[known], values[known], errors[known])


def cold_side(apart):
    """Number of the first temperature on the cold side of the crossing, that of all if there is none: the most
    likely one, given a difference below 0 before it and above 0 from it on. There the sum of squares of the
    differences of the wrong sign, in errors, is the smallest, and so is the sum of the squares with their
    signs over the temperatures before it. Of equal ones the coldest."""
    in_errors = apart.values / apart.errors
    sums = np.cumsum([0.0, *(in_errors * np.abs(in_errors))])
    return len(sums) - 1 - int(np.argmin(sums[::-1]))


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
    sure = cold + most_certain(apart.values[cold:], apart.errors[cold:])
    if sure == len(apart.beta) or apart.values[sure] <= margin[sure]:
        return 0.0
    return last_rise(apart.beta[:sure + 1], (apart.values - margin)[:sure + 1])


def hot_end(apart, margin, cold):
    """The same of what is below the margin among the temperatures before `cold`; else infinity."""
    sure = most_certain(-apart.values[:cold], apart.errors[:cold])
    if sure == cold or apart.values[sure] >= -margin[sure]:
        return np.inf
    beyond = leading((apart.values + margin)[sure:] <= 0)
    return zero_after(sure + beyond - 1, apart.beta, apart.values + margin)


def most_certain(values, errors):
    """Number of the greatest value in errors; 0 of none."""
    return int(np.argmax(values / errors)) if len(values) else 0


def zero_after(at, beta, values):
    if at + 1 >= len(beta):
        return 0.0
    step = values[at + 1] - values[at]
    return 1 / (beta[at] - values[at] / step * (beta[at + 1] - beta[at]))


def is_inside(temperature):
    return 0 < temperature < np.inf


def place(crossing):
    """The temperature and its interval, in words."""
    known = f"T = {crossing.temperature:.3f}" if is_inside(crossing.temperature) else "unknown T"
    lower, upper = is_inside(crossing.lower), is_inside(crossing.upper)
    if lower and upper:
        return f"{known} ({crossing.lower:.3f} to {crossing.upper:.3f})"
    if lower:
        return f"{known} (above {crossing.lower:.3f})"
    return known + (f" (below {crossing.upper:.3f})" if upper else " (error unknown)")


def table(found):
    """A line for each panel and crossing."""
    return "\n".join(f"{panel.title}: L = {crossing.sides[0]} and {crossing.sides[1]} cross at "
                     f"{place(crossing)}" for panel in found for crossing in crossings(panel))


# --- drawing --------------------------------------------------------------------------------------

def draw(plt, found, title):
    """A panel of whole curves, and to its right the differences of neighbouring sizes, where the
    crossings are seen."""
    figure, axes = plt.subplots(len(found), 2, layout="constrained", squeeze=False,
                                figsize=(8.4, 3.4 * len(found) + 0.5))
    figure.suptitle(title, fontsize=12)
    for (left, right), panel in zip(axes, found):
        for number, size in enumerate(panel.curves):
            left.errorbar(1 / size.beta, size.values, yerr=size.errors, label=f"L = {size.side}",
                          color=f"C{number}", **MARKS)
            if number > 0:
                draw_difference(right, panel.curves[number - 1], size, f"C{number}")
        finish(left, right, panel)
    return figure


def draw_difference(axes, small, large, colour):
    """With a band where the two cross."""
    apart, found = difference(small, large), crossing(small, large)
    coldest, hottest = 1 / apart.beta[-1], 1 / apart.beta[0]
    if is_inside(found.lower) or is_inside(found.upper):
        axes.axvspan(max(found.lower, coldest), min(found.upper, hottest), color=colour, alpha=0.2,
                     linewidth=0)
    if is_inside(found.temperature):
        axes.axvline(found.temperature, color=colour, linewidth=0.8, linestyle="--")
    axes.errorbar(1 / apart.beta, apart.values, yerr=apart.errors, color=colour,
                  label=f"L = {large.side} minus L = {small.side}:\n{place(found)}", **MARKS)


def finish(left, right, panel):
    for axes in (left, right):
        axes.set_xlabel("temperature T")
        axes.margins(x=0.02)
    left.set_ylabel(panel.label)
    left.set_title(panel.title, loc="left")
    left.legend()
    right.axhline(0, color="0.25", linewidth=0.8)
    right.set_title("difference of neighbouring sizes, and where it is 0", loc="left")
    right.legend(fontsize=7.5, loc="upper right", frameon=True, framealpha=0.9, edgecolor="none")

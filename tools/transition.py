"""Binder parameter and correlation length over L against the temperature, for several sizes of one
model, and where the curves of neighbouring sizes cross."""
import dataclasses

import numpy as np

import pt_quantities

BLOCKS = 64  # of samples, for the jackknife of a crossing

# Of the overlap where the files have it, else of the magnetization.
BINDER = ("binder_overlap", "binder_parameter")
LENGTH = ("correlation_length_overlap", "correlation_length")

MARKS = {"marker": "o", "markersize": 3, "linewidth": 1, "elinewidth": 0.9}


class NotComparable(Exception):
    """The files have no such curves in common; the message says why."""


@dataclasses.dataclass(frozen=True)
class Curve:
    """One size: `values` with `errors` at ascending inverse temperatures. `left_out`: the values without
    each block of samples in turn, None where the file has no samples."""
    side: int
    beta: np.ndarray
    values: np.ndarray
    errors: np.ndarray
    left_out: np.ndarray | None


@dataclasses.dataclass(frozen=True)
class Panel:
    """`label` of the values, whose curves are in the order of the sizes."""
    title: str
    label: str
    curves: list


@dataclasses.dataclass(frozen=True)
class Crossing:
    """Temperature where the curves of two sizes cross; `error` is NaN where the files do not tell."""
    sides: tuple
    temperature: float
    error: float


def panels(results):
    """What all files have of the two."""
    sides = [side_of(result) for result in results]
    if len(set(sides)) < len(sides):
        raise NotComparable("two files of the same size; one file for each size makes a transition")
    ordered = [result for _, result in sorted(zip(sides, results), key=lambda pair: pair[0])]
    found = []
    for names, title, symbol in ((BINDER, "Binder parameter", ""), (LENGTH, "correlation length", "/L")):
        name = next((name for name in names if all(has(result, name) for result in ordered)), None)
        if name is not None:
            label = ordered[0].labels[name]
            found.append(Panel(title, label.symbol + symbol, [curve(result, name, bool(symbol))
                                                              for result in ordered]))
    if not found:
        raise NotComparable("no Binder parameter, nor correlation length, that all files have")
    return found


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
    left_out = without_blocks(result, name)
    return Curve(side, result.summary["beta"], scale * result.summary[name],
                 scale * result.summary[name + "_error"],
                 None if left_out is None else scale * left_out)


def without_blocks(result, name):
    """[block, beta] from the averages of the samples, with one block of them left out each time."""
    own = {key: values for key, values in result.samples.items()
           if values.ndim == 2 and np.isfinite(values).all()}
    if not own or result.remarks.get("errors_from") != "samples":
        return None
    count = len(next(iter(own.values())))
    blocks = min(BLOCKS, count)
    of = np.arange(count) * blocks // count
    kept = [count - np.count_nonzero(of == block) for block in range(blocks)]
    averages = {key: np.array([(values.sum(0) - values[of == block].sum(0)) / kept[block]
                               for block in range(blocks)]) for key, values in own.items()}
    averages["variance"] = averages["energy2"] - averages["energy"] ** 2
    sites = int(result.remarks["sites"])
    return pt_quantities.all_of(averages, result.samples["beta"], sites, result.config).get(name)


# --- crossings ------------------------------------------------------------------------------------

def crossings(panel):
    """Those of neighbouring sizes, as far as they are within the temperatures."""
    found = []
    for small, large in zip(panel.curves, panel.curves[1:]):
        temperature = crossing_temperature(small, large, small.values, large.values)
        if np.isfinite(temperature):
            found.append(Crossing((small.side, large.side), temperature, error_of(small, large)))
    return found


def crossing_temperature(small, large, small_values, large_values):
    """Where the large size first comes out on top on the way to low temperatures and stays there; the
    difference is taken as linear between the temperatures. NaN where it does not."""
    beta = small.beta
    inside = (beta >= large.beta[0]) & (beta <= large.beta[-1])
    beta = beta[inside]
    difference = np.interp(beta, large.beta, large_values) - small_values[inside]
    below = np.flatnonzero(~(difference > 0))
    if len(below) == 0 or below[-1] + 1 >= len(beta):
        return np.nan
    last = below[-1]
    step = difference[last + 1] - difference[last]
    return 1 / (beta[last] - difference[last] / step * (beta[last + 1] - beta[last]))


def error_of(small, large):
    """Jackknife over the samples of either size, which are independent."""
    if small.left_out is None or large.left_out is None:
        return np.nan
    variance = 0.0
    for moved in ([(row, large.values) for row in small.left_out],
                  [(small.values, row) for row in large.left_out]):
        without = np.array([crossing_temperature(small, large, *pair) for pair in moved])
        variance += (len(without) - 1) * np.mean((without - without.mean()) ** 2)
    return np.sqrt(variance)


def table(found):
    """A line for each panel and crossing."""
    lines = []
    for panel in found:
        for crossing in crossings(panel):
            error = f" +- {crossing.error:.3f}" if np.isfinite(crossing.error) else ""
            lines.append(f"{panel.title}: L = {crossing.sides[0]} and {crossing.sides[1]} cross at "
                         f"T = {crossing.temperature:.3f}{error}")
    return "\n".join(lines)


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
    inside = (small.beta >= large.beta[0]) & (small.beta <= large.beta[-1])
    beta = small.beta[inside]
    values = np.interp(beta, large.beta, large.values) - small.values[inside]
    errors = np.hypot(np.interp(beta, large.beta, large.errors), small.errors[inside])
    name = f"L = {large.side} minus L = {small.side}" + draw_crossing(axes, small, large, colour)
    axes.errorbar(1 / beta, values, yerr=errors, color=colour, label=name, **MARKS)


def draw_crossing(axes, small, large, colour):
    """A band where the two cross, and its place in words."""
    temperature = crossing_temperature(small, large, small.values, large.values)
    if not np.isfinite(temperature):
        return ""
    error = error_of(small, large)
    if np.isfinite(error):
        axes.axvspan(temperature - error, temperature + error, color=colour, alpha=0.2, linewidth=0)
    axes.axvline(temperature, color=colour, linewidth=0.8, linestyle="--")
    text = f"±{error:.3f}" if np.isfinite(error) else ""
    return f":\nT = {temperature:.3f}{text}"


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

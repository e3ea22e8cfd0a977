"""Helicity modulus of square XY models with the line 2 T/pi, and the constant of the logarithmic corrections, whose curves cross
at the Kosterlitz-Thouless transition (gpumc.analysis.helicity)."""
import numpy as np

from ..analysis import helicity
from ..reader import Label
from . import axes as view, style

SURE = 0.25  # errors of C up to which it is drawn: nearer to the line they grow without bound


def draw(results, options=view.Options()):
    """Left Y and the line; right C by size, with bands where neighbouring sizes have the same."""
    found = helicity.sizes(results)
    figure = view.figure(options, results, 8.4, 3.8)
    left, right = figure.subplots(1, 2)
    colours = style.colours(len(found))
    for colour, size in zip(colours, found):
        x = on_axis(size.temperature, options)
        style.points(left, x, size.values, size.errors, colour, f"$L = {size.side}$")
        style.curve(left, on_axis(size.grid, options), size.smooth, colour=colour, linewidth=0.9)
        middle, error = helicity.correction(size)
        sure = error < SURE
        style.curve(right, on_axis(size.grid[sure], options), middle[sure], error[sure], colour, f"$L = {size.side}$")
    line = found[0].grid
    left.plot(on_axis(line, options), 2 * line / np.pi, color=style.EXACT_COLOUR, linestyle="--", linewidth=1, label=r"$2T/\pi$")
    for colour, small, large in zip(colours[1:], found, found[1:]):
        temperature, error = helicity.transition_of(small, large)
        if np.isfinite(temperature):
            right.axvspan(*on_axis(np.array([temperature - error, temperature + error]), options), color=colour, alpha=0.3,
                          linewidth=0)
    finish(left, right, options)
    return figure


def words(results):
    """Where the curves meet the line, and the transition of neighbouring sizes, a line each."""
    return helicity.table(helicity.sizes(results))


def on_axis(temperatures, options):
    return view.over(1 / temperatures, "beta", options, "T")


def finish(left, right, options):
    left.set_ylabel(r"helicity modulus $\Upsilon$ [$J$]")
    left.set_title("helicity modulus and its jump", loc="left")
    right.set_ylabel(r"$C$ of $\Upsilon = (2T/\pi)\,[1 + 1/(2\,(\ln L + C))]$")
    right.set_title(r"logarithmic corrections: the same $C$ at $T_\mathrm{KT}$", loc="left")
    left.set_ylim(bottom=0)
    for axes in (left, right):
        axes.set_xlabel(view.label_of(Label("inverse temperature", "1/J", "β", ()), "beta", options, "T"))
        view.finish(axes, options, temperature=view.is_temperature("beta", options, "T"))
        style.legend(axes)

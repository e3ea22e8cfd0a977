"""Autocorrelation times over L, and the powers by which they grow beside published ones (gpumc.analysis.slowing)."""
import numpy as np

from .. import measured
from ..analysis import slowing
from . import axes as view, labels, style

QUANTITIES = ["energy", "magnetization2"]


def draw(results, options=view.Options()):
    """A panel for each observable, a curve for each move."""
    quantities = options.quantities or QUANTITIES
    found = [slowing.growths(results, quantity) for quantity in quantities]
    figure = view.figure(options, results, 4.2 * len(quantities), 3.8)
    for axes, growths in zip(figure.subplots(1, len(quantities), squeeze=False)[0], found):
        for colour, growth in zip(style.colours(len(growths)), growths):
            draw_growth(axes, growth, colour)
        finish(axes, growths, results[0].labels[f"autocorrelation_time/{growths[0].quantity}"], options)
    return figure


def words(results, options):
    """The times and the fits, a line each."""
    return "\n".join(slowing.table(slowing.growths(results, quantity)) for quantity in options.quantities or QUANTITIES)


def draw_growth(axes, growth, colour):
    """The power fitted to the points, a dashed line of the published power through its middle, and the points."""
    said = labels.drawable(growth.move)
    if growth.power:
        ends = np.geomspace(growth.sides[0], growth.sides[-1], 50)
        style.curve(axes, ends, slowing.at(growth, ends), colour=colour)
        said += f": $z = {measured.text(*growth.exponent)}$"
    if growth.power and growth.published:
        middle = np.sqrt(ends[0] * ends[-1])
        axes.plot(ends, slowing.at(growth, [middle]) * (ends / middle) ** growth.published[0], color=colour,
                  linestyle=(0, (4, 3)), linewidth=0.9, zorder=1.5)
    style.points(axes, growth.sides, growth.times, growth.errors, colour, said)


def finish(axes, growths, label, options):
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    sides = sorted({side for growth in growths for side in growth.sides})
    axes.set_xticks(sides, [f"{side}" for side in sides])
    axes.minorticks_off()
    low, high = axes.get_ylim()
    ticks = [digit * 10.0 ** power for power in range(-3, 10) for digit in ((1, 1.5, 2, 3, 5, 7) if high < 30 * low else (1,))]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_ylim(low, high)
    told = sorted({growth.published for growth in growths if growth.published})
    for z, source in told:
        axes.plot([], [], color=style.GUIDE_COLOUR, linestyle=(0, (4, 3)), linewidth=0.9, label=f"$z = {z:g}$, {source}")
    axes.set_title(labels.heading(label), loc="left")
    axes.set_xlabel("$L$")
    axes.set_ylabel(r"$\tau$ [updates of a site]")
    view.finish(axes, options)
    style.legend(axes)

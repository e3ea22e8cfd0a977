"""Binder parameter and correlation length over L of several sizes, and the differences of neighbouring sizes, whose zeros are
the crossings of gpumc.analysis.transition."""
import numpy as np

from ..analysis import crossing as crossing_of
from ..analysis import transition
from ..reader import Label
from . import axes as view, labels, style


def draw(results, options=view.Options()):
    """A row for each of the two: the curves, and to the right the differences, with bands where they may be 0."""
    panels = transition.panels(results)
    figure = view.figure(options, results, 8.6, 3.3 * len(panels) + 0.5)
    grid = figure.subplots(len(panels), 2, squeeze=False)
    energy = results[0].labels["beta"].units
    for (left, right), panel in zip(grid, panels):
        colours = style.colours(len(panel.curves))
        for number, size in enumerate(panel.curves):
            style.points(left, view.over(size.beta, "beta", options, "T"), size.values, size.errors, colours[number],
                         f"$L = {size.side}$", joined=True)
            if number > 0:
                draw_difference(right, panel.curves[number - 1], size, colours[number], options)
        finish(left, right, panel, energy, options)
    return figure


def words(results):
    """The crossings, a line each."""
    return transition.table(transition.panels(results))


def draw_difference(axes, small, large, colour, options):
    """With a band where the two sizes cross."""
    apart, found = transition.difference(small, large), transition.statement(small, large)
    coldest, hottest = 1 / apart.beta[-1], 1 / apart.beta[0]

    def on_axis(temperatures):
        return view.over([1 / temperature for temperature in temperatures], "beta", options, "T")

    if transition.is_inside(found.lower) or transition.is_inside(found.upper):
        axes.axvspan(*on_axis((max(found.lower, coldest), min(found.upper, hottest))), color=colour, alpha=0.2, linewidth=0)
    if transition.is_inside(found.temperature):
        axes.axvline(on_axis([found.temperature])[0], color=colour, linewidth=0.9, linestyle="--")
    style.points(axes, view.over(apart.beta, "beta", options, "T"), apart.values, apart.errors, colour,
                 f"$L = {large.side}$ minus $L = {small.side}$:\n{place(found)}")
    for number, (beta, values) in enumerate(curve_and_ends(apart)):
        style.curve(axes, view.over(beta, "beta", options, "T"), values, colour=colour, linewidth=0.9 if number else 1.3)


def curve_and_ends(apart):
    """(beta, values): the smooth curve that the crossing is taken from, which ends where the difference is the most certain, and from there the
    values to either end, to be joined by lines."""
    known = crossing_of.estimate(apart)
    beyond = [apart.beta < known.beta[0], apart.beta > known.beta[-1]]
    hot, cold = ((apart.beta[side], apart.values[side]) for side in beyond)
    ends = [(np.append(hot[0], known.beta[0]), np.append(hot[1], known.values[0])),
            (np.append(known.beta[-1], cold[0]), np.append(known.values[-1], cold[1]))]
    return [(known.beta, known.values), *(end for end in ends if len(end[0]) > 1)]


def place(found):
    """The crossing in words, the temperature set as mathematics."""
    return transition.place(found).replace("T = ", "$T$ = ").replace("T > ", "$T$ > ").replace("T < ", "$T$ < ")


def finish(left, right, panel, energy, options):
    beta = Label("inverse temperature", energy, "β", ())
    for axes in (left, right):
        axes.set_xlabel(view.label_of(beta, "beta", options, "T"))
    left.set_ylabel(math_of(panel))
    left.set_title(panel.title.replace("over L", "over $L$"), loc="left")
    right.axhline(0, color=style.EXACT_COLOUR, linewidth=0.8)
    right.set_title("difference of neighbouring sizes", loc="left")
    for axes in (left, right):
        view.finish(axes, options, temperature=view.is_temperature("beta", options, "T"))
    style.legend(left)
    style.legend(right, outside=True)


def math_of(panel):
    """The panel's symbol: U_4, or xi/L."""
    return labels.symbol(panel.label)

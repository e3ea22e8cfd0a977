"""Hard disks: configurations coloured by the bond order psi_6, and the equation of state of several results."""
import math

import numpy as np

from .. import hard_disks, measured, papers_published
from . import axes as view, style

MOST_COLUMNS = 4


def draw_order(results, options=view.Options()):
    """A configuration of each result, each disk coloured by the phase of its psi_6. options.sweep and options.replica choose it;
    the last time and replica 0 without."""
    columns = min(len(results), MOST_COLUMNS)
    rows = math.ceil(len(results) / columns)
    states = [ordered_state(result, options) for result in results]
    tall = min(max(box[1] / box[0] for _, box, *_ in states), 2.5)
    figure = view.figure(options, results, 3.5 * columns + 1.4, 3.5 * rows * tall + 0.8)
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(results):]:
        axes.set_visible(False)
    discs = None
    for axes, (places, box, psi, _) in zip(grid.flat, states):
        discs = add_disks(axes, places, box, psi)
        axes.set(xlabel=r"$x/\sigma$", ylabel=r"$y/\sigma$")
        fraction = math.pi / 4 * len(places) / np.prod(box)
        axes.set_title(rf"$N = {len(places)}$, $\phi = {fraction:.3f}$, $|\Psi_6| = {abs(psi.mean()):.2f}$", loc="left")
    bar = figure.colorbar(discs, ax=grid, shrink=0.9, ticks=range(-180, 181, 60))
    bar.set_label(r"phase of $\psi_6$ of each disk [degrees]")
    return figure


def order_words(results, options=view.Options()):
    """A line about the order of each configuration."""
    lines = []
    for result in results:
        _, _, psi, sweep = ordered_state(result, options)
        lines.append(f"{result.path}: sweep {sweep}, replica {options.replica}: |psi_6| = {abs(psi.mean()):.4f} of all "
                     f"disks, {np.abs(psi).mean():.4f} locally")
    return "\n".join(lines)


def ordered_state(result, options):
    """Places, box, psi_6 of each disk, and the sweep."""
    disks = hard_disks.read(result.path, options.sweep)
    places, box = disks.positions[-1, options.replica], disks.box[-1, options.replica]
    return places, box, hard_disks.local_order(places, box), disks.sweeps[-1]


def add_disks(axes, places, box, psi):
    """Disks to scale, with their images across the borders, on a wheel of colours: the phase has no ends."""
    from matplotlib.collections import EllipseCollection
    where, index = with_images(places, box)
    ones = np.ones(len(where))
    discs = EllipseCollection(ones, ones, 0 * ones, units="xy", offsets=where, offset_transform=axes.transData,
                              array=np.angle(psi, deg=True)[index], cmap=style.wheel_map(), clim=(-180, 180), linewidth=0)
    axes.add_collection(discs)
    axes.set(xlim=(0, box[0]), ylim=(0, box[1]), aspect="equal")
    axes.grid(False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)
    return discs


def with_images(places, box):
    """Disks and those of their periodic images that reach into the box, and the number of the disk of each."""
    where, index = places, np.arange(len(places))
    for d in range(2):
        shift = np.eye(2)[d] * box
        low, high = where[:, d] < 0.5, where[:, d] > box[d] - 0.5
        where = np.concatenate([where, where[low] + shift, where[high] - shift])
        index = np.concatenate([index, index[low], index[high]])
    return where, index


# --- the equation of state ----------------------------------------------------------------------------

def draw_equation_of_state(results, options=view.Options()):
    """P*(phi) by N, with lines of equal areas where there is a loop, and the largest systems of Anderson et al. (2013)."""
    figure = view.figure(options, results, 6, 4.2)
    axes = figure.subplots()
    found = hard_disks.pressures(results)
    loops = hard_disks.loops(found)
    colours = dict(zip(found, style.colours(len(found))))
    for number, points in found.items():
        draw_pressures(axes, points, number, colours[number])
        if loops.get(number) is not None:
            level, _, *ends = loops[number][0]
            axes.hlines(level, *ends, color=colours[number], linestyle="--", linewidth=1, zorder=3)
    largest = max(papers_published.ANDERSON_TABLE_2)
    paper = papers_published.ANDERSON_TABLE_2[largest]
    axes.plot(list(paper), [value for value, _ in paper.values()], "s-", color="0.5", markersize=3.5,
              linewidth=0.8, label=f"$N = {largest}$, Anderson et al. (2013)")
    axes.set_xlabel(r"packing fraction $\phi$")
    axes.locator_params(axis="x", nbins=6)
    axes.set_ylabel(r"pressure $P^{*} = P\sigma^2/k_\mathrm{B}T$")
    if any((points[3] == 0).any() for points in found.values()):
        axes.plot([], [], "o", markersize=3.5, color="0.25", markerfacecolor="white", label="not trusted")
    if any(loop is not None for loop in loops.values()):
        axes.plot([], [], "--", color="0.25", linewidth=1, label=r"equal areas of $P^{*}$ against $1/\phi$")
    view.finish(axes, options)
    handles, texts = axes.get_legend_handles_labels()
    sizes = [f"$N = {number}$" for number in found]
    order = sorted(range(len(texts)), key=lambda k: texts[k] not in sizes)  # sizes first
    style.legend(axes, [handles[k] for k in order], [texts[k] for k in order])
    return figure


def draw_pressures(axes, points, number, colour):
    """Points of hard_disks.pressures() of N disks with a line through them, open where results are not trusted."""
    fraction, pressure, error, trusted = points
    axes.errorbar(fraction, pressure, error, fmt="o-", markersize=3.5, capsize=2, linewidth=0.9, color=colour,
                  label=f"$N = {number}$")
    doubtful = trusted == 0
    axes.plot(fraction[doubtful], pressure[doubtful], "o", markersize=3.5, color=colour, markerfacecolor="white",
              zorder=2.5)


def pressure_words(results):
    """The pressures and what is said of their loops, a line each."""
    found = hard_disks.pressures(results)
    loops, lines = hard_disks.loops(found), []
    for number, points in found.items():
        lines += [f"N = {number}, phi = {x:g}: P* = {measured.text(y, dy)}{'' if trusted else ', not trusted'}"
                  for x, y, dy, trusted in points.T]
        if number in loops:
            lines.append(hard_disks.loop_line(number, loops[number]))
    return "\n".join(lines)

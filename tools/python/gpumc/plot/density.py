"""Density of states: ln Omega over the levels of the energy, or bins of it, with its errors, and what follows from it at every temperature."""
import numpy as np

from . import axes as view, curves, labels, style
from .refusal import Refusal

CANONICAL = ["specific_heat", "energy"]


def applies(result):
    return any(name.rsplit("/")[-1] == "log_dos" and np.ndim(values) == 1 for name, values in result.summary.items())


def dataset(result):
    """Name of ln Omega in the summary, that of muca or that of reweighted histograms, and of its levels."""
    name = next(name for name, values in result.summary.items() if name.rsplit("/")[-1] == "log_dos" and np.ndim(values) == 1)
    return name, result.labels[name].axes[0]


def draw(results, options=view.Options()):
    """ln Omega, its errors (with options.exact, its deviations from exact), and C and e over T, which follow from it. The limits and
    the part that is shown larger are those of the panels over temperature."""
    for result in results:
        if not applies(result):
            raise Refusal(f"{result.path}: no density of states: muca writes one, and so does pa with algorithm.reweight")
    quantities = [name for name in options.quantities or CANONICAL if any(twin(result, name) for result in results)]
    figure = view.figure(options, results, 4.3 * (1 + bool(quantities)), 2.55 * max(len(quantities), 1) + 1.6)
    grid = figure.add_gridspec(1, 1 + bool(quantities), width_ratios=[1.1, 1][:1 + bool(quantities)])
    levels = grid[0].subgridspec(2, 1, height_ratios=[2.6, 1], hspace=0.04)
    upper = figure.add_subplot(levels[0])
    lower = figure.add_subplot(levels[1], sharex=upper)
    names = labels.of_files(results) if len(results) > 1 else [""]
    colours = style.colours(len(results))
    exact = [curves.exact_curves(result) if options.exact else {} for result in results]
    for result, name, colour, known in zip(results, names, colours, exact):
        draw_levels(upper, lower, result, name, colour, known.get("log_dos"))
    finish_levels(upper, lower, results, any("log_dos" in known for known in exact))
    if quantities:
        panels = grid[1].subgridspec(len(quantities), 1)
        for number, quantity in enumerate(quantities):
            axes = figure.add_subplot(panels[number])
            draw_canonical(axes, results, quantity, names, colours, exact, options)
    style.legend(upper)
    return figure


def draw_levels(upper, lower, result, name, colour, exact):
    dos, level = dataset(result)
    x, y = view.level_values(result, level), result.summary[dos]
    error = result.summary.get(dos + "_error", np.full(len(y), np.nan))
    style.points(upper, x, y, error, colour, name or ("simulation" if exact else None))
    if exact is None:
        lower.plot(x, error, ".", color=colour, markersize=2.5)
        return
    upper.plot(x, exact(x), color=style.EXACT_COLOUR, linewidth=0.9, zorder=4, label="exact")
    known = np.flatnonzero(error > 0)
    lower.plot(x[known], (y[known] - exact(x[known])) / error[known], ".", color=colour, markersize=2.5)


def finish_levels(upper, lower, results, with_exact):
    dos, level = dataset(results[0])
    upper.set_title("density of states", loc="left")
    upper.set_ylabel(labels.quantity(results[0].labels[dos]))
    upper.tick_params(labelbottom=False)
    lower.set_xlabel(labels.axis(results[0].labels[level]))
    if with_exact:
        lower.axhspan(-1, 1, color=style.SHADE, linewidth=0)
        lower.axhline(0, color=style.EXACT_COLOUR, linewidth=0.8)
        lower.set_ylabel("dev./err.", fontsize=7)
    else:
        lower.set_ylabel(r"error of $\ln\,\Omega$", fontsize=8)
        lower.set_ylim(bottom=0)
    upper.margins(x=0.02)


def twin(result, quantity):
    """The dataset of a canonical quantity that follows from this density of states: in the same group of the summary."""
    group = dataset(result)[0].rpartition("/")[0]
    name = f"{group}/{quantity}" if group else quantity
    return name if name in result.summary and np.ndim(result.summary[name]) == 1 else None


def draw_canonical(axes, results, quantity, names, colours, exact, options):
    described = False
    for result, name, colour, known in zip(results, names, colours, exact):
        own = twin(result, quantity)
        if own is None:
            continue
        x_name = result.labels[own].axes[0]
        betas = result.summary[x_name]
        x = view.over(betas, x_name, options, "T")
        style.curve(axes, x, result.summary[own], result.summary.get(own + "_error"), colour, name or None)
        if quantity in known:
            axes.plot(x, known[quantity](betas), color=style.EXACT_COLOUR, linewidth=0.9, linestyle="--", zorder=4, label="exact")
        if not described:
            axes.set_title(labels.heading(result.labels[own]), loc="left")
            axes.set_ylabel(labels.quantity(result.labels[own]))
            axes.set_xlabel(view.label_of(result.labels[x_name], x_name, options, "T"))
            described = True
    view.finish(axes, options, temperature=view.is_temperature("beta", options, "T"))

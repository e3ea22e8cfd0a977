"""Population annealing: families, that is, replicas that descend from one initial replica. Their sizes say how far a population
can be trusted (W. Wang, J. Machta, H. G. Katzgraber, Phys. Rev. E 92, 063307 (2015))."""
import numpy as np

from ..reader import Label
from . import axes as view, labels, style
from .refusal import lacking

TRUSTED_FAMILIES = 100  # effective families of all runs together that a trusted result has (docs/statistics.md)
NEEDED = ("rho_t", "families", "population")


def applies(result):
    return result.config.get("algorithm", {}).get("name") == "pa" and any(is_known(run) for run in result.runs)


def is_known(run):
    return all(len(run.get(name, ())) > 1 for name in NEEDED)


def draw(results, options=view.Options()):
    """Sizes of families with the size up to which the result is trusted; families that are left; the overlap of neighbouring
    temperatures; the population. Of a file that is being written, as far as it is."""
    for result in results:
        if not applies(result):
            raise lacking(result, "no families: only population annealing has them (algorithm.name: pa)", "pa")
    figure = view.figure(options, results, 8.4, 6.0)
    grid = figure.subplots(2, 2)
    names = labels.of_files(results) if len(results) > 1 else [""]
    for result, name, colour in zip(results, names, style.colours(len(results))):
        draw_result(grid, result, name, colour if len(results) > 1 else None, options)
    finish(grid, results, options)
    return figure


def draw_result(grid, result, name, colour, options):
    sizes, left, overlaps, populations = grid.flat
    for number, run in enumerate(runs := [run for run in result.runs if is_known(run)]):
        x = on_axis(run, result, options)
        known = {key: values[:len(x)] for key, values in run.items() if np.ndim(values) == 1}
        first = number == 0
        own = colour or style.COLOURS[0]
        other = colour or style.COLOURS[1]
        line = {"linewidth": 1.1, "alpha": 1.0 if len(runs) <= 4 else 0.6}
        style.curve(sizes, x, known["rho_t"], colour=own, label=(name or r"$\rho_t$") if first else None, **line)
        if "rho_s" in known:
            style.curve(sizes, x, known["rho_s"], colour=other, label=None if name or not first else r"$\rho_s$",
                        linestyle="--" if colour else "-", **line)
        style.curve(left, x, known["families"], colour=own, linestyle="-", label=(name or "families") if first else None, **line)
        style.curve(left, x, known["population"] / known["rho_t"], colour=other, linestyle="--" if colour else "-",
                    label=None if name or not first else r"$R/\rho_t$", **line)
        if "rho_s" in known:
            style.curve(left, x, known["population"] / known["rho_s"], colour=colour or style.COLOURS[2],
                        linestyle=":" if colour else "-", label=None if name or not first else r"$\exp(S_f) = R/\rho_s$", **line)
        if "overlap" in known:
            style.curve(overlaps, x[1:], known["overlap"][1:], colour=own, label=name or None if first else None, **line)
        style.curve(populations, x, known["population"], colour=own, label=name or None if first else None, **line)
    if result.is_complete and "effective_families" in result.summary:
        x = view.over(result.summary[view.moved(result)], view.moved(result), options)
        style.curve(left, x, result.summary["effective_families"], colour=colour or style.EXACT_COLOUR, linewidth=1.8,
                    label=None if name else "effective families, all runs")


def on_axis(run, result, options):
    """Places of the rows that all datasets of a run have."""
    rows = min(len(run[key]) for key in (*NEEDED, "rho_s", "overlap", view.moved(result)) if key in run)
    return view.over(run[view.moved(result)][:rows], view.moved(result), options)


def largest_trusted(result):
    """Mean square family size at which the effective families of all runs are TRUSTED_FAMILIES."""
    return sum(run["population"][0] for run in result.runs if is_known(run)) / TRUSTED_FAMILIES


def finish(grid, results, options):
    sizes, left, overlaps, populations = grid.flat
    name = view.moved(results[0])
    known = next(number for number, run in enumerate(results[0].runs) if is_known(run))
    label = results[0].run_labels[known].get(name, Label("inverse temperature", "1/J", "β", ()))
    sizes.set(title="size of families", ylabel=r"$\rho_t,\ \rho_s$", yscale="log")
    limits = {largest_trusted(result) for result in results}
    if len(limits) == 1:
        limit = limits.pop()
        style.guide(sizes, limit, f"trusted below: {TRUSTED_FAMILIES} effective families", where=0.01)
    else:
        limit = 0
    style.guide(left, TRUSTED_FAMILIES, "trusted above", where=0.01)
    left.set(title="families that are left", ylabel="number", yscale="log")
    overlaps.set(title="energy histograms of neighbouring temperatures", ylabel=r"overlap $\alpha$")
    populations.set(title="population", ylabel="replicas $R$")
    for axes in grid.flat:
        axes.set_xlabel(view.label_of(label, name, options))
        view.finish(axes, options, temperature=view.is_temperature(name, options), height=(0, 1.02) if axes is overlaps else None)
    if options.ylim is None:  # thresholds are seen, wherever the curves are
        sizes.set_ylim(top=max(2.5 * limit, sizes.get_ylim()[1]))
        left.set_ylim(bottom=min(0.7 * TRUSTED_FAMILIES, left.get_ylim()[0]))
    if len(results) > 1:
        sizes.set_title(r"size of families: $\rho_t$ solid, $\rho_s$ dashed", loc="left")
        left.set_title(r"families solid, $R/\rho_t$ dashed, $R/\rho_s$ dotted", loc="left")
    for axes in (sizes, left) if len(results) == 1 else (left,):
        style.legend(axes)

"""Parallel tempering: how readily neighbouring temperatures exchange replicas, how walkers flow between the ends, and how often
each has been to both (H. G. Katzgraber, S. Trebst, D. A. Huse, M. Troyer, J. Stat. Mech. P03018 (2006))."""
import numpy as np

from ..reader import Label
from . import axes as view, labels, style
from .refusal import lacking

TRUSTED_TRIPS = 1  # round trips of a walker, on average, that a trusted result has (docs/statistics.md)


def applies(result):
    return (result.config.get("algorithm", {}).get("name") == "pt" and bool(result.runs) and
            (len(temperatures(result)) > 1) and (has_bins(result) or "tuning/acceptance" in result.runs[0] or "flow" in result.summary))


def has_bins(result):
    return len(result.runs[0].get("acceptance", ())) > 0


def temperatures(result):
    """Values of the control, the hottest first: those of the summary; else the last of the tuning, or those of the configuration."""
    name, run = view.moved(result), result.runs[0] if result.runs else {}
    if name in result.summary:
        return result.summary[name]
    tuned = run.get("tuning/" + name, np.empty((0, 0)))
    if len(tuned):
        return tuned[-1]
    block = result.config["algorithm"].get("control" if name != "beta" else "beta", {})
    if "values" in block:
        return np.array(block["values"], dtype=float)
    if {"from", "to", "count"} <= set(block):
        if block.get("spacing") == "geometric":
            return np.geomspace(block["from"], block["to"], block["count"])
        return np.linspace(block["from"], block["to"], block["count"])
    if {"from", "to", "step"} <= set(block):
        return np.arange(block["from"], block["to"] + block["step"] / 2, block["step"])
    return np.empty(0)


def draw(results, options=view.Options()):
    """Acceptance of exchanges, flow, round trips by sample, and how the temperatures were tuned. Of a file that is being written,
    acceptance and tuning so far."""
    for result in results:
        if not applies(result):
            raise lacking(result, "no exchanges: only parallel tempering of two temperatures or more has them (algorithm.name: pt)", "pt")
    parts = [draw_acceptance]
    if any("flow" in result.summary for result in results):
        parts.append(draw_flow)
    if any("round_trips" in result.samples for result in results):
        parts.append(draw_trips)
    if any(len(result.runs[0].get("tuning/iteration", ())) > 1 for result in results):
        parts.append(draw_tuning)
    columns = min(len(parts), 2)
    rows = -(-len(parts) // columns)
    figure = view.figure(options, results, 4.2 * columns + 0.2, 2.9 * rows + 0.5)
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(parts):]:
        axes.set_visible(False)
    names = labels.of_files(results) if len(results) > 1 else [""]
    for axes, part in zip(grid.flat, parts):
        part(axes, results, names, style.colours(len(results)), options)
    return figure


def label_of(result):
    name = view.moved(result)
    return result.labels.get(name) or Label(*{"beta": ("inverse temperature", "1/J", "β")}.get(name, (name, "", "")), ())


def of(results):
    """What is exchanged."""
    return "temperature" if view.moved(results[0]) == "beta" else "value"


def first_of(results):
    return "hottest temperature" if view.moved(results[0]) == "beta" else "first value"


def ends(axes, results, options, height=None):
    name = view.moved(results[0])
    axes.set_xlabel(view.label_of(label_of(results[0]), name, options))
    view.finish(axes, options, temperature=view.is_temperature(name, options), height=height)


def draw_acceptance(axes, results, names, colours, options):
    """Drawn between the two temperatures that exchange."""
    for result, name, colour in zip(results, names, colours):
        where, run = temperatures(result), result.runs[0]
        share = (result.summary["acceptance"] if "acceptance" in result.summary else
                 run["acceptance"][-1] if has_bins(result) else run["tuning/acceptance"][-1])
        share = share[:len(where) - 1]
        middle = (where[1:] + where[:-1]) / 2
        style.points(axes, view.over(middle[:len(share)], view.moved(result), options), share, None, colour, name or None,
                     joined=True)
    axes.set(title=f"exchanges with the next {of(results)}", ylabel="share accepted $A$")
    ends(axes, results, options, height=(0, 1.02))
    if options.xlim is None and not view.is_temperature(view.moved(results[0]), options):
        low, high = (end(map(end, map(temperatures, results))) for end in (min, max))
        axes.set_xlim(low - 0.02 * (high - low), high + 0.02 * (high - low))
    style.legend(axes)


def draw_flow(axes, results, names, colours, options):
    """The best set of temperatures has the same step of the flow between all neighbours."""
    straight = True
    for result, name, colour in zip(results, names, colours):
        if "flow" not in result.summary:
            continue
        where = temperatures(result)
        x = view.over(where, view.moved(result), options)
        style.points(axes, x, result.summary["flow"], None, colour, name or "measured", joined=True)
        axes.plot(x, np.linspace(1, 0, len(x)), color=colour if name else style.GUIDE_COLOUR, linestyle=":", linewidth=1.1,
                  label="equal steps" if straight else None, zorder=1.5)
        straight = False
    axes.set(title=f"walkers that come from the {first_of(results)}", ylabel="share $f$")
    ends(axes, results, options, height=(-0.02, 1.02))
    style.legend(axes)


def draw_trips(axes, results, names, colours, options):
    """How many samples have had so many round trips of a walker, on average over its walkers."""
    trips = [trips_by_walker(result) for result in results]
    largest = max([found.max() for found in trips if len(found)] + [2 * TRUSTED_TRIPS])
    edges = np.linspace(0, 1.02 * largest, 26)
    for found, name, colour in zip(trips, names, colours):
        if len(found):
            axes.hist(found, edges, color=style.tint(colour, 0.55), edgecolor=colour, linewidth=0.9, histtype="stepfilled",
                      alpha=0.8, label=name or None)
            style.guide(axes, found.mean(), f"mean {found.mean():.3g} " if not name else "", along="y", colour=colour,
                        flip=found.mean() > largest / 2)
    style.guide(axes, TRUSTED_TRIPS, "trusted above", along="y", where=0.86)
    axes.set(title="round trips between the ends", xlabel="round trips of a walker, by sample", ylabel="samples")
    view.finish(axes, options, main=False)
    axes.margins(x=0)
    style.legend(axes)


def trips_by_walker(result):
    """Round trips of each sample over its walkers."""
    algorithm = result.config["algorithm"]
    walkers = len(temperatures(result)) * algorithm.get("replicas", 1)
    return result.samples.get("round_trips", np.empty(0)) / walkers


def draw_tuning(axes, results, names, colours, options):
    """The temperatures that were used in each iteration of the tuning, and those that were found."""
    for result, colour in zip(results, colours):
        run, control = result.runs[0], view.moved(result)
        if "tuning/" + control not in run:
            continue
        rows = min(len(run["tuning/iteration"]), len(run["tuning/" + control]))
        tuned = run["tuning/" + control][:rows]
        steps = run["tuning/iteration"][:rows]
        if control in result.summary:
            tuned, steps = np.vstack([tuned, result.summary[control]]), np.append(steps, steps[-1] + 1)
        axes.plot(view.over(tuned, control, options), steps, color=colour, marker="o", markersize=2.6, linewidth=0.9)
    axes.set(title=f"tuning of the {of(results)}s", ylabel="iteration")
    axes.invert_yaxis()
    from matplotlib.ticker import MaxNLocator
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    ends(axes, results, options)

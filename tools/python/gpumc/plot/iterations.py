"""Multicanonical sampling: how the weights converged, and what the run with fixed weights made of them."""
import numpy as np

from . import axes as view, labels, style
from .refusal import lacking

TRUSTED_TRIPS = 100  # round trips of all walkers that a trusted result has (docs/statistics.md)
MOST_LINES = 12  # of windows and samples


def applies(result):
    return result.config.get("algorithm", {}).get("name") == "muca" and any(is_known(run) for run in result.runs)


def is_known(run):
    return len(run.get("iterations/kullback_leibler", ())) > 0


def draw(results, options=view.Options()):
    """By iteration the distance of the histogram from a flat one, the range that was seen and the updates; and of the finished
    run weights and histogram, and by window the round trips. Windows and samples of one result have a colour each."""
    for result in results:
        if not applies(result):
            raise lacking(result, "no iterations of weights: only multicanonical sampling has them (algorithm.name: muca)", "muca")
    finished = [result for result in results if "visits" in result.summary and "log_weight" in result.summary]
    windows = [result for result in results if "windows/round_trips" in result.summary]
    parts = [draw_flatness, draw_range, draw_updates]
    parts += [draw_weights, draw_histogram] if finished else []
    parts += [draw_trips, draw_tilts] if windows else []
    below = len(parts) - 3
    figure = view.figure(options, results, 11.0, 2.9 * (1 + bool(below)) + 0.5)
    rows = figure.add_gridspec(1 + bool(below), 1)
    lines = lines_of(results)
    for row, chosen in enumerate((parts[:3], parts[3:])):
        grid = rows[row].subgridspec(1, len(chosen)) if chosen else None
        for number, part in enumerate(chosen):
            part(figure.add_subplot(grid[number]), results, lines, options)
    return figure


def lines_of(results):
    """(result, run, name, colour) of all that is drawn by iteration: a line for each file, or for each window or sample of one."""
    known = [(result, run) for result in results for run in result.runs if is_known(run)]
    if len(results) > 1:
        names, colours = labels.of_files(results), style.colours(len(results))
        numbers = {id(result): number for number, result in enumerate(results)}
        return [(result, run, names[numbers[id(result)]], colours[numbers[id(result)]]) for result, run in known]
    what = "window" if "windows" in results[0].config["algorithm"] else "sample"
    known = known[:MOST_LINES]
    colours = style.ordered(len(known)) if len(known) > 1 else style.colours(1)
    return [(*pair, f"{what} {number}" if len(known) > 1 else "", colour)
            for number, (pair, colour) in enumerate(zip(known, colours))]


def rows_of(run):
    """The rows that all datasets of the iterations have."""
    own = {key.split("/", 1)[1]: values for key, values in run.items() if key.startswith("iterations/") and np.ndim(values) == 1}
    count = min(len(values) for values in own.values() if len(values)) if own else 0
    return {key: values[:count] for key, values in own.items()}


def draw_flatness(axes, results, lines, options):
    seen = set()
    for result, run, name, colour in lines:
        rows = rows_of(run)
        alone = len(lines) == 1
        style.curve(axes, rows["iteration"], rows["kullback_leibler"], colour=colour, linewidth=1.1,
                    label=r"Kullback–Leibler $d_k$" if alone else None if name in seen else name)
        if alone:
            style.curve(axes, rows["iteration"], rows["chebyshev"], colour=style.COLOURS[1], linewidth=1.1,
                        label="largest deviation $d_c$")
        seen.add(name)
    for value in {aim(result) for result in results} - {None}:
        style.guide(axes, value, "converged below", where=0.01)
    axes.set(title="histogram and a flat one", ylabel="distance" if len(lines) == 1 else r"$d_k$", yscale="log",
             xlabel="iteration of the weights")
    view.finish(axes, options, main=False)
    style.legend(axes, outside=len(lines) > 6)


def aim(result):
    """Divergence below which weights count as converged."""
    return result.config["algorithm"].get("iteration", {}).get("divergence")


def draw_range(axes, results, lines, options):
    """Levels between the lowest and the highest that were seen."""
    for result, run, name, colour in lines:
        rows = rows_of(run)
        if len(lines) <= 2:
            axes.fill_between(rows["iteration"], rows["lowest"], rows["highest"], color=style.tint(colour, 0.75),
                              linewidth=0)
        for key in ("lowest", "highest"):
            style.curve(axes, rows["iteration"], rows[key], colour=colour, linewidth=1.0)
    axes.set(title="levels that were seen", ylabel="energy $E$" if view.moved(results[0]) == "beta" else "level",
             xlabel="iteration of the weights")
    view.finish(axes, options, main=False)


def draw_updates(axes, results, lines, options):
    for result, run, name, colour in lines:
        rows = rows_of(run)
        style.curve(axes, rows["iteration"], np.maximum(rows["updates"], 1), colour=colour, linewidth=1.1,
                    label="counted" if len(lines) == 1 else None)
        if len(lines) == 1 and rows["thermalization"].any():
            style.curve(axes, rows["iteration"], np.where(rows["thermalization"] > 0, rows["thermalization"], np.nan),
                        colour=style.COLOURS[1], linewidth=1.1, label="before counting")
    axes.set(title="length of iterations", ylabel="updates of a walker", yscale="log", xlabel="iteration of the weights")
    view.finish(axes, options, main=False)
    style.legend(axes)


# --- with fixed weights -------------------------------------------------------------------------------

def level_axis(result):
    return next(name for name in result.summary if view.is_level(name) and "/" not in name)


def draw_weights(axes, results, lines, options):
    for result, name, colour in by_file(results, "log_weight"):
        level = level_axis(result)
        style.curve(axes, view.level_values(result, level), result.summary["log_weight"], colour=colour, label=name or None)
        axes.set_xlabel(labels.axis(result.labels[level]))
    axes.set(title="weights of the run with fixed weights", ylabel=r"$\ln W$")
    view.finish(axes, options, main=False)
    style.legend(axes)


def draw_histogram(axes, results, lines, options):
    """Visits of each level over their mean."""
    for result, name, colour in by_file(results, "visits"):
        level, visits = level_axis(result), result.summary["visits"].astype(float)
        style.points(axes, view.level_values(result, level), visits / visits.mean(), None, colour, name or None)
        axes.set_xlabel(labels.axis(result.labels[level]))
        if not name and "round_trips" in result.remarks:
            axes.set_title(trips_text(result), loc="right", fontsize=7.5, color=style.GUIDE_COLOUR)
    axes.axhline(1, color=style.EXACT_COLOUR, linewidth=0.8)
    axes.set(title="visits", ylabel="visits over their mean")
    axes.set_ylim(0, max(1.3, axes.get_ylim()[1]))
    view.finish(axes, options, main=False)


def trips_text(result):
    text = f"{result.remarks['round_trips']} round trips"
    time = result.remarks.get("tunnelling_time", np.nan)
    if not np.isfinite(time) or time <= 0:
        return text
    power = int(np.floor(np.log10(time)))
    return text + rf", $\tau_\mathrm{{tunnel}} = {time / 10 ** power:.1f} \times 10^{{{power}}}$"


def by_file(results, needed):
    names = labels.of_files(results) if len(results) > 1 else [""]
    return [(result, name, colour) for result, name, colour in zip(results, names, style.colours(len(results)))
            if needed in result.summary]


def draw_trips(axes, results, lines, options):
    for result, name, colour in by_file(results, "windows/round_trips"):
        trips = result.summary["windows/round_trips"]
        axes.bar(np.arange(len(trips)), trips, color=style.tint(colour, 0.4), edgecolor=colour, label=name or None)
    style.guide(axes, TRUSTED_TRIPS, "trusted above", where=0.01)
    axes.set(title="round trips in each window", xlabel="window", ylabel="round trips", yscale="log")
    view.finish(axes, options, main=False)


def draw_tilts(axes, results, lines, options):
    """How each window disagrees with the one before, in its errors."""
    for result, name, colour in by_file(results, "windows/tilt"):
        tilt, error = result.summary["windows/tilt"], result.summary["windows/tilt_error"]
        style.points(axes, np.arange(len(tilt)), tilt / np.where(error > 0, error, np.nan), np.ones(len(tilt)), colour, name or None)
    axes.axhline(0, color=style.EXACT_COLOUR, linewidth=0.8)
    axes.set(title="tilt against the window before", xlabel="window", ylabel="tilt in errors")
    view.finish(axes, options, main=False)

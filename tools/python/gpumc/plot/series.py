"""Time series: values with running means and the autocorrelation function; bins of time where a file has no more; and of parallel
tempering how averages approach those of the last bin."""
import numpy as np

from .. import measured
from ..analysis import slowing
from . import axes as view, labels, style
from .refusal import NotYet, Refusal

SHOWN = 1500  # places of a time series that a panel shows; of more it shows the range of each stretch
MOST_REPLICAS = 64  # whose running means are drawn
MOST_ROWS = 3  # observables
MOST_BINS = 6  # temperatures of parallel tempering
FIRST = ["energy", "magnetization", "psi6", "pressure", "contact", "abs_magnetization"]
TEMPERING = ["energy", "overlap2", "abs_magnetization", "link_overlap"]
NOISE = 2.0  # errors above 0 down to which the autocorrelation function is drawn
TIME = "time $t$ [sweeps]"
SETTLED = 0.05  # share of the time after which running means count for the limits of their panel
LEAST = 1e-3  # and its least value


def applies(result):
    name = result.config.get("algorithm", {}).get("name")
    if name == "pt":
        return bool(result.runs) and len(result.runs[0].get("sweep", ())) > 0
    return name in ("canonical", "mpmc") and any(has_series(run) or has_bins(run) for run in result.runs)


def has_series(run):
    return bool(series_names(run))


def series_names(run):
    """Datasets with a row for each measurement and a column for each replica, in the order in which they are drawn."""
    names = [name for name in run if "/" not in name and np.ndim(run[name]) == 2 and len(run[name]) > 1 and
             len(run.get("sweep", ())) > 1]
    return sorted(names, key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name))


def has_bins(run):
    return len(run.get("bins/sweep", ())) > 1


def draw(results, options=view.Options()):
    """Each result's time series at the temperature options.temperature, else at the one with the longest autocorrelation time."""
    for result in results:
        if not applies(result):
            if not result.is_complete and result.config.get("algorithm", {}).get("name") in ("canonical", "mpmc", "pt"):
                raise NotYet(f"{result.path}: no time series yet: those of algorithm.series and bins of pt grow once the run is thermalized; other "
                             "bins of time are written at its end")
            raise Refusal(f"{result.path}: no time series: canonical and mpmc have them (all measurements with "
                          "algorithm.series, else bins of time), and pt has bins of time")
    if all(result.config["algorithm"]["name"] == "pt" for result in results):
        return draw_tempering(results, options)
    chosen = [chosen_run(result, options) for result in results]
    if all(has_series(result.runs[number]) for result, number in zip(results, chosen)):
        return draw_series(results, chosen, options)
    return draw_bins(results, chosen, options)


def chosen_run(result, options):
    """Number of the run: the temperature that was asked for, else the slowest one."""
    if options.temperature is not None:
        if not 0 <= options.temperature < len(result.runs):
            raise Refusal(f"{result.path}: no temperature {options.temperature}; temperatures are numbered 0 to "
                          f"{len(result.runs) - 1}")
        return options.temperature
    known = [number for number, run in enumerate(result.runs) if has_series(run) or has_bins(run)]
    times = [values for name, values in result.summary.items() if name.startswith("autocorrelation_time/") and
             not name.endswith("_error") and np.shape(values) == (len(result.runs),) and
             name.rsplit("/")[-1] != view.moved(result)]
    if not times or len(result.runs) == 1:
        return known[len(known) // 2]
    return int(np.argmax(np.nan_to_num(np.max(times, axis=0))))


def wanted_of(names, options, results):
    if options.quantities is None:
        return names[:MOST_ROWS]
    for name in options.quantities:
        if name not in names:
            raise Refusal(f"{results[0].path}: no time series {name!r}; choose from: {', '.join(names)}")
    return options.quantities


def entry(result, number, names, index):
    """What the legend calls a result: what it differs in, else its temperature."""
    if names:
        return names[index]
    control = view.moved(result)
    values = result.summary.get(control)
    if values is None or np.ndim(values) != 1 or number >= len(values):
        return ""
    return f"{labels.symbol(result.labels[control].symbol) or control} = {values[number]:.5g}"


# --- every measurement ----------------------------------------------------------------------------------

def draw_series(results, chosen, options):
    first = results[0].runs[chosen[0]]
    common = [name for name in series_names(first)
              if all(name in result.runs[number] for result, number in zip(results, chosen))]
    wanted = wanted_of(common, options, results)
    figure = view.figure(options, results, 11.4, 2.5 * len(wanted) + 0.7)
    grid = figure.subplots(len(wanted), 3, squeeze=False)
    names = labels.of_files(results) if len(results) > 1 else []
    colours = style.colours(len(results))
    for (left, middle, right), name in zip(grid, wanted):
        label = results[0].run_labels[chosen[0]][name]
        for index, (result, number, colour) in enumerate(zip(results, chosen, colours)):
            run = result.runs[number]
            rows = min(len(run["sweep"]), len(run[name]))
            sweep, values = run["sweep"][:rows], run[name][:rows]
            text = entry(result, number, names, index)
            draw_envelope(left, sweep, values[:, min(options.replica, values.shape[1] - 1)], colour, names and text)
            draw_running(middle, sweep, values, colour, names and text)
            draw_autocorrelation(right, sweep, values, colour, summary_time(result, number, name),
                                 names and text or (label.symbol and labels.symbol(label.symbol)))
            size = summary_time(result, number, "abs_" + name)
            if not names and np.isfinite(size[0]):
                draw_autocorrelation(right, sweep, np.abs(values), style.COLOURS[1], size,
                                     labels.symbol(f"|{results[0].run_labels[number][name].symbol}|"))
        left.set(xlabel=TIME, ylabel=labels.quantity(label))
        middle.set(xlabel=TIME, ylabel=labels.quantity(label))
        middle.set_title("running means", loc="left")
        where = "" if names else entry(results[0], chosen[0], [], 0)
        left.set_title(labels.heading(label) + (f", {where}" if where else ""), loc="left")
        right.set(xlabel="distance in time [sweeps]", ylabel=r"autocorrelation $\Gamma(t)/\Gamma(0)$")
        right.set_title("autocorrelation function", loc="left")
        right.set_yscale("log")
        view.finish(left, options)
        view.finish(middle, options)
        if options.ylim is None:
            settled(middle)
        view.finish(right, options, main=False)
        style.legend(right)
        if middle.get_legend_handles_labels()[0]:
            is_high = middle.get_lines()[-1].get_ydata()[-1] > np.mean(middle.get_ylim())
            middle.legend(loc="lower right" if is_high else "upper right", frameon=True, framealpha=0.85, edgecolor="none")
    style.legend(grid[0, 0])
    return figure


def draw_running(axes, sweep, values, colour, text):
    """Running means of the replicas in light, and that of all of them with its error from their scatter."""
    count, replicas = values.shape
    x, means = thin(sweep), thin(np.cumsum(values, axis=0) / np.arange(1, count + 1)[:, None])
    if replicas == 1:
        style.curve(axes, x, means[:, 0], colour=colour, label=text or None)
        return
    if not text:
        axes.plot(x, means[:, :MOST_REPLICAS], color=style.tint(colour, 0.55), linewidth=0.5, zorder=1.5)
        axes.plot([], [], color=style.tint(colour, 0.55), linewidth=0.9, label="of each replica")
    error = means.std(axis=1, ddof=1) / np.sqrt(replicas)
    style.curve(axes, x, means.mean(axis=1), error, colour if text else style.EXACT_COLOUR, text or f"of all {replicas} replicas")


def settled(axes):
    """Limits that hold the means of all but the first times."""
    ends = [values for x, y in view.drawn(axes) if len(x) for values in [y[x > x.min() + SETTLED * np.ptp(x)]] if len(values)]
    values = np.concatenate(ends or [np.empty(0)])
    values = values[np.isfinite(values)]
    if len(values) and np.ptp(values) > 0:
        axes.set_ylim(values.min() - 0.15 * np.ptp(values), values.max() + 0.15 * np.ptp(values))


def draw_envelope(axes, sweep, own, colour, text):
    """The values of a replica, or, of more than a panel shows, the range of each stretch of them."""
    if len(own) <= SHOWN:
        axes.plot(sweep, own, color=colour, linewidth=0.6, zorder=1.5, label=text or None, alpha=0.8)
        return
    width = -(-len(own) // (SHOWN // 3))
    count = len(own) // width
    parts = own[:count * width].reshape(count, width)
    axes.fill_between(sweep[:count * width:width], parts.min(axis=1), parts.max(axis=1), color=style.tint(colour, 0.35), linewidth=0.3,
                      zorder=1.5, label=text or None)


def thin(values):
    """Some SHOWN of them."""
    return values[::-(-len(values) // SHOWN)]


def summary_time(result, number, name):
    """The integrated autocorrelation time of the summary with its error, in sweeps; NaN where it has none."""
    times = np.atleast_1d(result.summary.get("autocorrelation_time/" + name, np.nan))
    errors = np.atleast_1d(result.summary.get("autocorrelation_time/" + name + "_error", np.nan))
    return times[min(number, len(times) - 1)], errors[min(number, len(errors) - 1)]


def autocorrelation(values):
    """Autocorrelation function of each column of `values`, [time, replica], about the mean of all, averaged over the replicas, and
    its standard error from their scatter (0 of one): Gamma(t) = <(x(s) - <x>)(x(s + t) - <x>)>, over Gamma(0)."""
    rows = len(values)
    products = slowing.autocovariances(values - values.mean())
    variance = products[0].mean()
    if variance == 0:
        return np.full(rows, np.nan), np.full(rows, np.nan)
    error = products.std(axis=1, ddof=1) / np.sqrt(values.shape[1]) if values.shape[1] > 1 else np.zeros(rows)
    return products.mean(axis=1) / variance, error / variance


def draw_autocorrelation(axes, sweep, values, colour, known, text):
    """Down to where it is lost in noise; the integrated time of the summary says how long a measurement is remembered."""
    gamma, error = autocorrelation(values)
    rows = len(gamma) // 2
    lost = np.flatnonzero(~(gamma[:rows] > np.maximum(NOISE * error[:rows], LEAST)))
    end = max(lost[0] if len(lost) else rows, 2)
    lag = (sweep[:end] - sweep[0]).astype(float)
    said = rf"$\tau_\mathrm{{int}}$ = {measured.text(*known)} sweeps" if np.isfinite(known[0]) else ""
    lower = np.maximum(gamma[:end] - error[:end], LEAST / 2)
    axes.fill_between(lag, lower, gamma[:end] + error[:end], color=colour, alpha=0.25, linewidth=0)
    axes.plot(lag, gamma[:end], color=colour, linewidth=1.3, label=", ".join(part for part in (text, said) if part) or None)


# --- bins of time -----------------------------------------------------------------------------------------

def draw_bins(results, chosen, options):
    """Means of consecutive bins over all replicas, and their running mean."""
    first = results[0].runs[chosen[0]]
    names = [name[5:] for name in first if name.startswith("bins/") and np.ndim(first[name]) == 1 and name != "bins/sweep"]
    names.sort(key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name))
    if options.quantities is None:
        # Unless they are asked for, only what the summary reports: disks have histograms of ranges that it does not need.
        reported = [name for name in names if name in results[0].summary]
        names = [name for name in reported or names if name != "energy2"]
    wanted = wanted_of(names, options, results)
    figure = view.figure(options, results, 7.0, 2.4 * len(wanted) + 0.6)
    grid = figure.subplots(len(wanted), 1, squeeze=False)[:, 0]
    entries = labels.of_files(results) if len(results) > 1 else []
    for axes, name in zip(grid, wanted):
        for index, (result, number, colour) in enumerate(zip(results, chosen, style.colours(len(results)))):
            run = result.runs[number]
            if "bins/" + name not in run:
                continue
            rows = min(len(run["bins/sweep"]), len(run["bins/" + name]))
            sweep, values = run["bins/sweep"][:rows], run["bins/" + name][:rows]
            text = entry(result, number, entries, index) if entries else ""
            axes.plot(sweep, values, "o", color=style.tint(colour, 0.4), markersize=3, label=None if text else "means of bins")
            style.curve(axes, sweep, np.cumsum(values) / np.arange(1, rows + 1), colour=colour, label=text or "running mean")
        label = results[0].run_labels[chosen[0]]["bins/" + name]
        where = "" if entries else entry(results[0], chosen[0], [], 0)
        axes.set(xlabel=TIME, ylabel=labels.quantity(label))
        axes.set_title(labels.heading(label) + (f", {where}" if where else ""), loc="left")
        view.finish(axes, options)
    style.legend(grid[0])
    return figure


# --- parallel tempering -------------------------------------------------------------------------------------

def draw_tempering(results, options):
    """Averages in logarithmic bins of time less those of the last one, by temperature: equilibrated where they agree with 0."""
    if len(results) > 1:
        raise Refusal("time series of parallel tempering are drawn for one file at a time")
    result, run = results[0], results[0].runs[0]
    names = [name for name in run if name + "_error" in run and np.ndim(run[name]) == 2]
    names.sort(key=lambda name: (TEMPERING.index(name) if name in TEMPERING else len(TEMPERING), name))
    wanted = wanted_of(names, options, results)[:2 if options.quantities is None else None]
    figure = view.figure(options, results, 4.4 * len(wanted) + 1.0, 3.6)
    grid = figure.subplots(1, len(wanted), squeeze=False)[0]
    count = run[wanted[0]].shape[1]
    shown = ([options.temperature] if options.temperature is not None else
             sorted(set(np.linspace(0, count - 1, min(count, MOST_BINS)).astype(int))))
    if not 0 <= shown[-1] < count:
        raise Refusal(f"{result.path}: no temperature {shown[-1]}; temperatures are numbered 0 to {count - 1}")
    from .tempering import label_of, temperatures
    values_of_control, control = temperatures(result), label_of(result)
    for axes, name in zip(grid, wanted):
        rows = min(len(run[key]) for key in ("sweep", name, name + "_error"))
        sweep = run["sweep"][:rows].astype(float)
        for order, (number, colour) in enumerate(zip(shown, style.ordered(len(shown)))):
            away = run[name][:rows, number] - run[name][rows - 1, number]
            text = (f"{labels.symbol(control.symbol)} = {values_of_control[number]:.4g}" if number < len(values_of_control) else
                    f"temperature {number}")
            axes.plot(sweep * 1.06 ** (order - len(shown) / 2), away, color=style.tint(colour, 0.5), linewidth=0.7, zorder=1.5)
            style.points(axes, sweep * 1.06 ** (order - len(shown) / 2), away, run[name + "_error"][:rows, number], colour, text)
        axes.axhline(0, color=style.EXACT_COLOUR, linewidth=0.8)
        label = result.run_labels[0][name]
        axes.set(xlabel=f"{TIME}, end of the bin", xscale="log",
                 ylabel=f"{labels.symbol(label.symbol)} less that of the last bin"
                        + (f" [{labels.units(label)}]" if labels.units(label) else ""))
        axes.set_title(labels.heading(label), loc="left")
        view.finish(axes, options)
    style.legend(grid[-1], outside=True)
    return figure

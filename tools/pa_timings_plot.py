"""Draw timings of population annealing: a row of panels for each variant, time per spin flip
against sweeps and against population, and the shares of time of the stages."""
import matplotlib
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.legend import Legend  # noqa: E402

from gpumc.plot import style  # noqa: E402

import pa_published  # noqa: E402
import pa_timings  # noqa: E402

STAGE_COLOURS = {"sweep": style.COLOURS[0], "tally": style.COLOURS[5], "resample": style.COLOURS[4], "gather": style.COLOURS[1],
                 "rest": "0.75"}
REFERENCE_STYLES = [dict(color="0.35", linestyle=":", marker="s"),
                    dict(color="0.6", linestyle=":", marker="D")]
VARIANT, LENGTH, POPULATION, THETA = range(4)


def draw(timings):
    """The figure; ValueError where nothing was measured."""
    derived = pa_timings.derive(timings)
    if not np.isfinite(derived["t_sf"]).any():
        raise ValueError("nothing was measured")
    has_shares = np.isfinite(derived["share_rest"]).any()
    variants = [index for index in range(len(timings.axes["variant"]))
                if np.isfinite(derived["t_sf"][index]).any()]
    columns = 3 if has_shares else 2
    with plt.rc_context(style.settings()):
        figure = plt.figure(layout="constrained",
                            figsize=(4.3 * columns, 3.4 * len(variants) + 0.8))
        figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
        figure.suptitle(_title(timings), fontsize=10)
        grid = figure.add_gridspec(len(variants) + 1, columns,
                                   height_ratios=[1] * len(variants) + [0.08])
        curves = {}
        for row, variant in enumerate(variants):
            panels = [figure.add_subplot(grid[row, column]) for column in range(columns)]
            _against_theta(panels[0], timings, derived, variant)
            _against_population(panels[1], timings, derived, variant)
            if has_shares:
                _shares(panels[2], timings, derived, variant)
            curves.update(zip(*reversed(panels[0].get_legend_handles_labels())))
        strip = figure.add_subplot(grid[-1, :], frame_on=False, xticks=[], yticks=[])
        _legend(strip, curves)
    return figure


def _legend(strip, curves):
    """Our own curves in a line, those of PAising in the next."""
    for place, theirs in (("upper center", False), ("lower center", True)):
        labels = [label for label in curves if label.startswith("PAising") == theirs]
        strip.add_artist(Legend(strip, [curves[label] for label in labels], labels, loc=place,
                                ncol=max(1, len(labels)), borderaxespad=-0.6))


def _title(timings):
    told = timings.attributes
    return "Population annealing of the 2D Ising model: " + ", ".join(filter(None, (
        *timings.devices(), f"gpumc {told.get('program_version', '?')}",
        f"steps of {told['step']:g} in $\\beta$", told["rng"])))


def _fullest(measured, axis):
    """Where along an axis most points were measured, the last of several."""
    counts = np.isfinite(measured).sum(axis=tuple(i for i in range(measured.ndim) if i != axis))
    return len(counts) - 1 - int(np.argmax(counts[::-1]))


def _against_theta(panel, timings, derived, variant):
    times, spread = derived["t_sf"][variant], derived["t_sf_spread"][variant]
    column = _fullest(times, POPULATION - 1)
    thetas = timings.axes["theta"]
    lengths = timings.axes["length"]
    for number, (length, colour) in enumerate(zip(lengths, style.colours(len(lengths)))):
        _curve(panel, thetas, times[number, column], spread[number, column], color=colour,
               marker="o", label=f"$L = {length}$")
    name = timings.axes["variant"][variant]
    within = (thetas.min(), thetas.max())
    for look, (label, x, y) in zip(REFERENCE_STYLES, pa_published.curves(name)):
        shown = [(a, b) for a, b in zip(x, y) if within[0] <= a <= within[1]]
        if shown:
            panel.plot(*zip(*shown), label=label, linewidth=1, markersize=3, **look)
    panel.set_title(f"{name}, $R = {timings.axes['population'][column]}$", loc="left")
    _finish(panel, thetas, "sweeps at each temperature $\\theta$")


def _against_population(panel, timings, derived, variant):
    times, spread = derived["t_sf"][variant], derived["t_sf_spread"][variant]
    measured = np.flatnonzero(np.isfinite(times).any(axis=(0, 1)))
    thetas = [measured[0]] if len(measured) == 1 else [measured[0], measured[-1]]
    for number, colour in enumerate(style.colours(len(timings.axes["length"]))):
        for theta, line, fill in zip(thetas, ("-", "--"), (colour, "white")):
            _curve(panel, timings.axes["population"], times[number, :, theta],
                   spread[number, :, theta], color=colour, marker="o", linestyle=line,
                   markerfacecolor=fill)
    told = (f"$\\theta$ = {timings.axes['theta'][theta]} {marks}"
            for theta, marks in zip(thetas, ("(full)", "(open, dashed)")))
    panel.set_title(", ".join([str(timings.axes["variant"][variant]), *told]), loc="left")
    _finish(panel, timings.axes["population"], "population $R$")


def _curve(panel, x, y, spread, **look):
    known = np.isfinite(y)
    if known.any():
        panel.errorbar(x[known], y[known], yerr=np.nan_to_num(spread[known]) / 2, markersize=3.5,
                       linewidth=1.2, elinewidth=0.8, **look)


def _finish(panel, x, label):
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xticks(x, [f"{value}" for value in x], rotation=45 if len(x) > 5 else 0)
    panel.minorticks_off()
    low, high = panel.get_ylim()
    digits = (1, 2, 5) if high < 1e4 * low else (1,)
    ticks = [digit * 10.0 ** power for power in range(-4, 9) for digit in digits]
    panel.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    panel.set_ylim(low, high)
    panel.set_xlabel(label)
    panel.set_ylabel("time per spin flip $t_{\\mathrm{SF}}$ [ps]")


def _shares(panel, timings, derived, variant):
    """Bars by theta, in each a thin one for every length, at the fullest population."""
    column = _fullest(derived["share_rest"][variant], POPULATION - 1)
    lengths, thetas = timings.axes["length"], timings.axes["theta"]
    places = np.add.outer(np.arange(len(lengths)), np.arange(len(thetas)) * (len(lengths) + 0.8))
    bottom = np.zeros(places.shape)
    names = {**{stage: name for stage, (name, _) in pa_timings.STAGES.items()}, "rest": "rest"}
    for stage, name in names.items():
        heights = np.nan_to_num(derived[f"share_{stage}"][variant][:, column])
        panel.bar(places.ravel(), heights.ravel(), 0.9, bottom.ravel(), label=name,
                  color=STAGE_COLOURS[stage])
        bottom += heights
    panel.set_xticks(places.T.ravel(), list(map(str, lengths)) * len(thetas), rotation=90,
                     fontsize=6)
    groups = panel.secondary_xaxis(-0.11)
    groups.set_xticks(places.mean(axis=0), [f"$\\theta$ = {theta}" for theta in thetas])
    groups.tick_params(length=0)
    groups.spines["bottom"].set_visible(False)
    groups.set_xlabel("side $L$ (upright) and sweeps at each temperature $\\theta$")
    panel.grid(False, axis="x")
    panel.set_ylim(0, 100)
    panel.set_ylabel("share of the run [%]")
    panel.set_title(f"{timings.axes['variant'][variant]}, "
                    f"$R = {timings.axes['population'][column]}$", loc="left", pad=20)
    panel.legend(ncol=len(names), loc="lower center", bbox_to_anchor=(0.5, 0.985), columnspacing=1,
                 handlelength=1)

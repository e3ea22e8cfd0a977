"""Weigel (2012): generators, autocorrelation, times, and lengths of Heisenberg spins."""
import numpy as np

from gpumc import measured, papers_published
from paper_figures.common import deviations, finish, lengths, picoseconds, plain


def table1(campaigns, axes):
    """Deviations of energy and specific heat from exact, by generator."""
    rows, names, ours, theirs = [], [], [], []
    for generator, result in campaigns["table1"].results.items():
        own = [deviations(result, name)[1][0] for name in ("energy", "specific_heat")]
        paper = papers_published.WEIGEL_TABLE_1.get(generator)
        their_length, our_length = lengths(result, papers_published.WEIGEL_TABLE_1_LENGTH)
        for index, name in enumerate(("energy", "specific_heat")):
            value, error = (result.summary[key][0] for key in (name, name + "_error"))
            told = "-" if paper is None else f"{'-' if index == 0 else ''}{paper[2 * index]}"
            away = ("" if paper is None else
                    f" ({_sign(index) * paper[2 * index + 1]:+.2f}){their_length}")
            rows.append((f"{generator}, {name} (deviation from exact, in errors)", told + away,
                         f"{measured.text(value, error)} ({own[index]:+.2f}){our_length}"))
        names.append(generator)
        ours.append(own)
        theirs.append([np.nan, np.nan] if paper is None else [-paper[1], paper[3]])
    places = np.arange(len(names))
    for column, (name, colour) in enumerate((("energy", "C0"), ("specific heat", "C1"))):
        axes.plot(places - 0.1, np.array(ours)[:, column], "o", color=colour, label=f"{name}, ours")
        axes.plot(places + 0.1, np.array(theirs)[:, column], "s", color=colour, fillstyle="none",
                  label=f"{name}, paper")
    axes.set_yscale("symlog", linthresh=10)
    axes.axhspan(-3, 3, color="0.92", linewidth=0)
    axes.set_xticks(places, [name.replace("_", "\n") for name in names], fontsize=7)
    finish(axes, "table 1: generators", "", "deviation / error")
    return rows


def _sign(index):
    """The paper's energies are -e, and so are their deviations."""
    return -1 if index == 0 else 1


def autocorrelation(campaigns, axes):
    """Integrated autocorrelation times of the energy against beta; hollow at temperatures where a
    series, that of the energy or another one, is too short."""
    rows = []
    for hits in (1, 10, 100):
        for result in campaigns[f"autocorrelation-k{hits}"].results.values():
            beta = result.summary["autocorrelation_time/beta"]
            times = result.summary["autocorrelation_time/energy"]
            converged = result.summary["converged"] == 1
            line, = axes.plot(beta, times, "o-", markersize=4, label=f"k = {hits}")
            axes.plot(beta[~converged], times[~converged], "o", markersize=4,
                      markerfacecolor="white", color=line.get_color())
            rows += [(f"autocorrelation time of the energy, k = {hits}, beta = {b:g}", "-",
                      f"{time:.4g} sweeps{'' if enough else ' (some series not converged)'}")
                     for b, time, enough in zip(beta, times, converged)]
    axes.axvline(0.5 * np.log(1 + np.sqrt(2)), color="0.5", linewidth=0.8)
    axes.set_yscale("log")
    axes.locator_params(axis="x", nbins=6)
    finish(axes, "autocorrelation times of the energy", "beta", "integrated time [sweeps]")
    return rows


def _times(campaign, axes, of, title, label, key="seconds_sweep"):
    """Time per flip against what `of` tells of a result, as (curve, x)."""
    curves = {}
    for result in campaign.results.values():
        name, x = of(campaign, result)
        curves.setdefault(name, []).append((x, picoseconds(result, key)))
    rows = []
    for name, points in sorted(curves.items()):
        axes.plot(*zip(*sorted(points)), "o-", markersize=3, label=name or "ours")
        rows += [(", ".join(filter(None, (title, name, f"{label} = {x}"))), "-", f"{y:.4g} ps per flip")
                 for x, y in sorted(points)]
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter("{x:.0f}")
    finish(axes, title, label, "time per spin flip [ps]")
    low, high = axes.get_ylim()
    axes.set_ylim(low / 2, 2 * high)
    for place in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
        place(plain)
    return rows


def _by_hits(campaign, result):
    return f"k = {campaign.key(result, 'kernel.hits')}", campaign.key(result, "model.shape")[0]


def spin_times_2d(campaigns, axes):
    return _times(campaigns["spin-times-2d"], axes, _by_hits, "2D Ising, tiled", "L")


def spin_times_3d(campaigns, axes):
    return _times(campaigns["spin-times-3d"], axes, _by_hits, "3D Ising, tiled", "L")


def spin_glass_times(campaigns, axes):
    return _times(campaigns["spin-glass-times"], axes,
                  lambda campaign, result: ("", campaign.key(result, "algorithm.samples")),
                  "2D spin glass, multispin", "samples")


def tempering_times(campaigns, axes):
    def of(campaign, result):
        every = campaign.key(result, "algorithm.exchange_every")
        return f"exchange in {every} sweeps", campaign.key(result, "model.shape")[0]

    return _times(campaigns["tempering-times"], axes, of, "parallel tempering, exchanges included",
                  "L", "seconds_units")


def _by_precision(campaign, result):
    return campaign.key(result, "kernel.variant"), campaign.key(result, "model.shape")[0]


def heisenberg_times(campaigns, axes):
    """The table of section 4, and how times depend on the size."""
    rows = _times(campaigns["heisenberg-times"], axes, _by_precision, "2D Heisenberg, Metropolis", "L")
    for line in list(axes.get_lines()):
        variant, theirs = line.get_label(), 1000 * papers_published.WEIGEL_HEISENBERG_TIMES[line.get_label()][1]
        axes.axhline(theirs, color=line.get_color(), linewidth=0.8, linestyle="--", label=f"{variant}, paper (GTX 480)")
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, theirs / 2), max(high, 2 * theirs))
        rows.append((f"2D Heisenberg, Metropolis, {variant}, least", f"{theirs:g} ps per flip (GTX 480)",
                     f"{min(line.get_ydata()):.4g} ps per flip"))
    axes.legend(fontsize=7)
    return rows


MOVES = {"metropolis": "-", "metropolis_small": "--", "mixed": ":"}


def heisenberg_drift(campaigns, axes):
    """The largest ||S| - 1| of all replicas against the number of sweeps."""
    rows, campaign = [], campaigns["heisenberg-drift"]
    colour = {variant: f"C{number}" for number, variant in enumerate(("double", "fast", "float"))}
    for result in campaign.results.values():
        move, variant = (campaign.key(result, key) for key in ("algorithm.update", "kernel.variant"))
        series = result.runs[0]["norm_drift"]
        sweeps = campaign.key(result, "algorithm.interval") * np.arange(1, len(series) + 1)
        largest = series.max(axis=1)
        some = np.unique(np.geomspace(1, len(series), 60).astype(int)) - 1
        some = some[largest[some] > 0]
        axes.plot(sweeps[some], largest[some], MOVES[move], color=colour[variant], linewidth=1,
                  label=f"{variant}, {move}")
        rows.append((f"largest ||S| - 1|, {move}, {variant}", "-", f"{series.max():.2g} in {sweeps[-1]} sweeps"))
        for name in ("energy", "abs_magnetization", "specific_heat"):
            rows.append((f"{name.replace('_', ' ')}, {move}, {variant}", "-",
                         measured.text(result.summary[name][0], result.summary[name + "_error"][0])))
    axes.set_xscale("log")
    axes.set_yscale("log")
    finish(axes, "lengths of Heisenberg spins", "sweeps", r"largest $||S| - 1|$")
    return rows


# (campaigns that a panel reads, function that draws it)
PANELS = [(("table1",), table1),
          (("autocorrelation-k1", "autocorrelation-k10", "autocorrelation-k100"), autocorrelation),
          (("spin-times-2d",), spin_times_2d), (("spin-times-3d",), spin_times_3d),
          (("spin-glass-times",), spin_glass_times), (("tempering-times",), tempering_times),
          (("heisenberg-times",), heisenberg_times), (("heisenberg-drift",), heisenberg_drift)]

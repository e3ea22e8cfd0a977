"""What the campaigns under configs/papers give, as rows (what, paper, ours) and panels of a figure."""
import glob
import math
import os
import re

import numpy as np

import gpumc_reader
import hard_disks
import ising2d_exact
import measured
import papers_published

SETTLED = 10  # iterations after the last level was found: oscillations are what is left
ROWS = 5  # temperatures of an annealing that are shown in numbers


class Campaign:
    """Finished results of one campaign, by file name without suffix."""

    def __init__(self, folder, name):
        paths = [os.path.join(folder, name + ".h5"), *glob.glob(os.path.join(folder, name, "*.h5"))]
        results = ((path, gpumc_reader.read(path)) for path in sorted(paths)
                   if os.path.exists(path))
        self.results = {os.path.basename(path)[:-3]: result for path, result in results
                        if result.is_complete}

    def key(self, result, dotted):
        value = result.config
        for part in dotted.split("."):
            value = value[part]
        return value


def picoseconds(result, key="seconds_sweep"):
    """Device time of the sweeps, or another one, by attempted flips."""
    return 1e12 * result.provenance[key] / result.provenance["updates"]


def exact_of(result, betas):
    """energy, specific_heat, beta_free_energy and entropy of the finite lattice."""
    log_z, energy, heat = ising2d_exact.kaufman(*result.config["model"]["shape"], betas)
    return {"energy": energy, "specific_heat": heat, "beta_free_energy": -log_z,
            "entropy": betas * energy + log_z}


def lengths(result, papers):
    """What stands behind the paper's value and ours where lattices differ in size."""
    ours = result.config["model"]["shape"][0]
    return ("", "") if ours == papers else (f", L = {papers}", f", L = {ours}")


def deviations(result, name):
    """From exact in errors, where these are not 0."""
    betas = result.summary["beta"]
    difference = result.summary[name] - exact_of(result, betas)[name]
    error = result.summary[name + "_error"]
    known = error > 0
    return betas[known], difference[known] / error[known]


# --- Weigel (2012) --------------------------------------------------------------------------------

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
            rows.append((f"{generator}, {name} (from exact, in errors)", told + away,
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
    _finish(axes, "table 1: generators", "", "deviation / error")
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
    _finish(axes, "autocorrelation times of the energy", "beta", "integrated time [sweeps]")
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
        rows += [(", ".join(filter(None, (title, name, f"{label} = {x}"))), "-", f"{y:.4g} ps a flip")
                 for x, y in sorted(points)]
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter("{x:.0f}")
    _finish(axes, title, label, "time per spin flip [ps]")
    low, high = axes.get_ylim()
    axes.set_ylim(low / 2, 2 * high)
    for place in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
        place(_plain)
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
        rows.append((f"2D Heisenberg, Metropolis, {variant}, least", f"{theirs:g} ps a flip (GTX 480)",
                     f"{min(line.get_ydata()):.4g} ps a flip"))
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
    _finish(axes, "lengths of Heisenberg spins", "sweeps", r"largest $||S| - 1|$")
    return rows


# --- Barash et al. (2017) -------------------------------------------------------------------------

def example(campaigns, axes):
    """Deviations from exact, in errors, over all temperatures."""
    rows = []
    for result in campaigns["example"].results.values():
        for number, name in enumerate(("energy", "specific_heat", "beta_free_energy", "entropy")):
            beta, away = deviations(result, name)
            axes.plot(beta, away, ".", markersize=3, color=f"C{number}", label=name.replace("_", " "))
            exact = exact_of(result, result.summary["beta"])[name]
            ours = [result.summary[key] for key in (name, name + "_error")]
            for index in np.arange(1, ROWS + 1) * (len(exact) - 1) // ROWS:
                rows.append((f"{name}, beta = {result.summary['beta'][index]:g}", f"{exact[index]:.6f} (exact)",
                             measured.text(*(column[index] for column in ours))))
        rows.append(("|m| at the last temperature", "-", f"{result.summary['abs_magnetization'][-1]:.6f}"))
    axes.axhspan(-1, 1, color="0.9", linewidth=0)
    _finish(axes, "example beside exact (eqs. 3 to 5)", "beta", "deviation / error")
    return rows


def errors(campaigns, axes):
    """Relative error of the specific heat, and the ratio of variances of the two codings."""
    spread = {}
    for variant in ("spin", "multispin"):
        for result in campaigns[f"errors-{variant}"].results.values():
            heat, error = result.summary["specific_heat"], result.summary["specific_heat_error"]
            known = heat > 0
            spread[variant] = (error / np.where(known, heat, np.nan))[1:]
            axes.plot(result.summary["beta"][1:], spread[variant], linewidth=1, label=variant)
            their_length, our_length = lengths(result, papers_published.BARASH_TABLE_1_LENGTH)
    axes.set_yscale("log")
    _finish(axes, "errors by coding (figure 2)", "beta", "error / value of the specific heat")
    if len(spread) < 2:
        return []
    ratio = (spread["multispin"] / spread["spin"]) ** 2
    return [("ratio of variances, multispin to spin, median over beta",
             f"{papers_published.BARASH_VARIANCE_RATIO:g} (table 1){their_length}",
             f"{np.nanmedian(ratio):.2f}{our_length}")]


def families(campaigns, axes):
    """Mean square family size against beta."""
    rows = []
    for name, result in sorted(campaigns["families"].results.items(), key=_numbers):
        run = result.runs[0]
        axes.plot(run["beta"], run["rho_t"], linewidth=1, label=name.replace("-", ", "))
        rows.append((f"rho_t at the last temperature, {name}", "-", f"{run['rho_t'][-1]:.4g}"))
    axes.set_yscale("log")
    _finish(axes, "size of families", "beta", "rho_t")
    return rows


def _numbers(item):
    return [int(number) for number in re.findall(r"\d+", item[0])]


def resampling(campaigns, axes):
    """Fluctuation of the population, and the error of the free energy."""
    rows = []
    for name, result in campaigns["resampling"].results.items():
        beta, error = result.summary["beta"], result.summary["beta_free_energy_error"]
        axes.plot(beta[1:], error[1:], linewidth=1, label=name.replace("_", " "))
        target = result.config["algorithm"]["population"]
        away = max(np.abs(run["population"] / target - 1).max() for run in result.runs)
        rows.append((f"largest deviation of the population, {name}", "-", f"{100 * away:.2f} %"))
        rows.append((f"error of beta F/N at the last temperature, {name}", "-", f"{error[-1]:.3g}"))
    axes.set_yscale("log")
    _finish(axes, "resampling (eq. 2) and systematic", "beta", "error of beta F/N")
    return rows


# --- Gross et al. (2018) --------------------------------------------------------------------------

def length(result):
    return result.config["model"]["shape"][0]


def iteration_updates(result):
    """Of each walker, thermalization included."""
    run = result.runs[0]
    return float(np.sum(run["iterations/thermalization"] + run["iterations/updates"]))


def seconds(result, stage):
    """Device time of a stage; NaN where the run was resumed, as that of earlier invocations is not recorded."""
    return np.nan if result.provenance["resumes"] else result.provenance[f"seconds_{stage}"]


def iteration_seconds(result):
    return seconds(result, "iteration")


def production_nanoseconds(result):
    """Of an update under weights that stay: all updates but those of the iterations."""
    produced = result.provenance["updates"] - walkers(result) * iteration_updates(result)
    return 1e9 * seconds(result, "production") / produced


def walkers(result):
    return result.config["algorithm"]["walkers"]


def iteration_nanoseconds(result):
    return 1e9 * iteration_seconds(result) / (walkers(result) * iteration_updates(result))


def by_walkers(campaign, value):
    """{L: {W: values of the seeds}} of what has converged, where the value is known."""
    found = {}
    for result in campaign.results.values():
        if result.remarks["converged"] and not np.isnan(value(result)):
            found.setdefault(length(result), {}).setdefault(walkers(result), []).append(value(result))
    return {side: dict(sorted(found[side].items())) for side in sorted(found)}


def references(campaigns, value):
    """{L: values of the seeds} with the paper's number of walkers on a CPU."""
    found = by_walkers(campaigns["convergence-cpu"], value)
    return {side: values[papers_published.GROSS_CPU_WALKERS] for side, values in found.items()
            if papers_published.GROSS_CPU_WALKERS in values}


def mean(values):
    """With its standard error, NaN of one value."""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return np.mean(values), error


def colours(*found):
    """By L, the same in all the curves of a panel."""
    return {side: f"C{number}" for number, side in enumerate(sorted(set().union(*found)))}


def walker_axes(axes, title, y):
    axes.set_xscale("log")
    axes.set_yscale("log")
    _finish(axes, title, "walkers $W$", y)
    for axis, limits, change in ((axes.xaxis, axes.get_xlim, axes.set_xlim),
                                 (axes.yaxis, axes.get_ylim, axes.set_ylim)):
        low, high = limits()
        if high < 100 * low:  # else powers of ten are enough
            margin = 2 if high < 10 * low else 1.2
            change(low / margin, margin * high)
            axis.set_major_formatter(_plain)
        axis.set_minor_formatter(_plain if high < 100 * low else "")


def reference_key(axes):
    """What dashed lines are, for the legend."""
    axes.plot([], [], "--", color="0.5", linewidth=0.8, label=f"CPU, $W = {papers_published.GROSS_CPU_WALKERS}$")


def paper_points(axes, values):
    for name, value in values.items():
        axes.plot(papers_published.GROSS_WALKERS[name], value, papers_published.GROSS_MARKS[name], color="k",
                  fillstyle="none", label=f"paper, {name}")


def flip_times(campaigns, axes):
    """Figure 2: time per spin flip against the number of walkers."""
    ours = by_walkers(campaigns["spin-flip-times"], production_nanoseconds)
    reference = references(campaigns, iteration_nanoseconds)
    colour = colours(ours, reference)
    rows = []
    for side, times in ours.items():
        axes.plot(list(times), [np.mean(values) for values in times.values()], "o-", markersize=3,
                  color=colour[side], label=f"$L = {side}$")
        fastest = min(times, key=lambda w: np.mean(times[w]))
        rows.append((f"time per flip, L = {side}, least", "0.16 to 0.17 ns (Titan Black)",
                     f"{np.mean(times[fastest]):.3g} ns, W = {fastest}"))
    for side, values in reference.items():
        axes.axhline(np.mean(values), color=colour[side], linewidth=0.8, linestyle="--")
        rows.append((f"time per flip, L = {side}, CPU, W = {papers_published.GROSS_CPU_WALKERS}",
                     f"{papers_published.GROSS_CPU_TIME:g} ns (12 cores)", f"{np.mean(values):.3g} ns (1 thread)"))
    if reference:
        reference_key(axes)
    paper_points(axes, papers_published.GROSS_TIMES)
    walker_axes(axes, "figure 2: time per flip", "time per flip [ns]")
    return rows


def convergence(campaigns, axes, value):
    """Means over seeds by W, and the reference on a CPU as a dashed line; both as dictionaries."""
    ours, reference = by_walkers(campaigns["convergence"], value), references(campaigns, value)
    colour = colours(ours, reference)
    for side, values in ours.items():
        means = np.array([mean(seeds) for seeds in values.values()])
        axes.errorbar(list(values), means[:, 0], means[:, 1], fmt="o-", markersize=3, capsize=2,
                      color=colour[side], label=f"$L = {side}$")
    for side, seeds in reference.items():
        axes.axhline(np.mean(seeds), color=colour[side], linewidth=0.8, linestyle="--")
    if reference:
        reference_key(axes)
    return ours, reference


def iterations(campaigns, axes):
    """Figure 3: iterations until weights have converged."""
    ours, reference = convergence(campaigns, axes, lambda result: result.remarks["iterations"])
    walker_axes(axes, "figure 3: iterations until convergence", "iterations")
    axes.set_yscale("linear")
    axes.autoscale(axis="y")
    axes.set_ylim(bottom=0)
    return [(f"iterations, L = {side}, W = {w}", told, measured.text(*mean(seeds)))
            for side in sorted({*ours, *reference})
            for w, told, seeds in _ends(ours.get(side, {}), reference.get(side), "decrease mildly with W")]


def _ends(values, reference, told):
    """The reference and the fewest and most walkers, for rows."""
    if reference:
        yield papers_published.GROSS_CPU_WALKERS, "-", reference
    for w in dict.fromkeys([*list(values)[:1], *list(values)[-1:]]):
        yield w, told if w == max(values) else "-", values[w]


def convergence_times(campaigns, axes):
    """Figure 4: device time until weights have converged."""
    ours, reference = convergence(campaigns, axes, iteration_seconds)
    rows = []
    code = papers_published.CUDAMUCA_TIMES if _converged_as_theirs(campaigns["convergence"]) else {}
    for side in ours:
        if side in code:
            axes.axhline(code[side], color=f"C{sorted({*ours, *reference}).index(side)}", linewidth=1, linestyle=":")
    if {*code} & {*ours}:
        axes.plot([], [], ":", color="0.5", linewidth=1, label="paper's code, H200, best $W$")
    for side in sorted({*ours, *reference}):
        if side in reference:
            rows.append((f"time to converge, L = {side}, CPU, W = {papers_published.GROSS_CPU_WALKERS}", "-",
                         f"{measured.text(*mean(reference[side]))} s"))
        if side in ours:
            best = min(ours[side], key=lambda w: np.mean(ours[side][w]))
            theirs = code.get(side)
            rows.append((f"time to converge, L = {side}, best W",
                         f"{theirs:g} s (its code on an H200)" if theirs else "-",
                         f"{measured.text(*mean(ours[side][best]))} s, W = {best}"))
    walker_axes(axes, "figure 4: time until convergence", "time [s]")
    return rows


def _converged_as_theirs(campaign):
    return all(campaign.key(result, "algorithm.iteration.divergence") == papers_published.GROSS_DIVERGENCE
               for result in campaign.results.values())


def speedup(campaigns, axes):
    """Figure 5: time of 24 walkers on a CPU over that of W walkers."""
    paper_points(axes, papers_published.GROSS_SPEEDUPS)
    return _ratios(campaigns, axes, iteration_seconds,
                   "figure 5: speedup in time", "speedup over the CPU, $W = 24$",
                   "25 (Titan Black), 20 (K20m)")


def algorithmic_speedup(campaigns, axes):
    """Figure 6: updates of each of 24 walkers until convergence over those of each of W."""
    rows = _ratios(campaigns, axes, iteration_updates, "figure 6: speedup in updates of a walker",
                   "$N_{24} / N_W$", "near W/24, above it between")
    low, high = axes.get_xlim()
    line = np.array([low, high])
    axes.plot(line, line / papers_published.GROSS_CPU_WALKERS, "k--", linewidth=0.8, label="$W / 24$")
    axes.set_xlim(low, high)
    axes.legend(fontsize=7)
    return rows


def _ratios(campaigns, axes, value, title, y, told):
    """Median and central two thirds of the median reference over each seed's value."""
    ours, reference = by_walkers(campaigns["convergence"], value), references(campaigns, value)
    colour = colours(ours, reference)
    rows = []
    for side in sorted({*ours} & {*reference}):
        w = list(ours[side])
        thirds = np.array([np.quantile(np.median(reference[side]) / np.array(seeds), [1 / 6, 1 / 2, 5 / 6])
                           for seeds in ours[side].values()])
        axes.plot(w, thirds[:, 1], "o-", markersize=3, color=colour[side], label=f"$L = {side}$")
        axes.fill_between(w, thirds[:, 0], thirds[:, 2], color=colour[side], alpha=0.2, linewidth=0)
        best = np.argmax(thirds[:, 1])
        rows.append((f"{title.partition(': ')[2]}, L = {side}, largest median", told,
                     "{1:.3g} ({0:.3g} to {2:.3g})".format(*thirds[best]) + f", W = {w[best]}"))
    walker_axes(axes, title, y)
    return rows


def exact_log_dos(result):
    """At the levels of a result."""
    return ising2d_exact.log_density(*result.config["model"]["shape"], result.summary["level_energy"])


def density(campaigns, axes):
    """Figure 7: ln Omega beside exact."""
    rows = []
    for number, result in enumerate(_by_length(campaigns["density"])):
        sites = np.prod(result.config["model"]["shape"])
        x, y, error = (result.summary[name] for name in ("level_energy", "log_dos", "log_dos_error"))
        exact = exact_log_dos(result)
        axes.plot(x / sites, exact, color="0.25", linewidth=0.8, label=None if number else "exact")
        some = np.unique(np.linspace(0, len(x) - 1, 30).astype(int))
        axes.errorbar(x[some] / sites, y[some], error[some], fmt="o", markersize=2.5, color=f"C{number}",
                      label=f"$L = {length(result)}$")
        away = (y - exact)[error > 0] / error[error > 0]
        within = [100 * np.mean(np.abs(away) < errors) for errors in (1, 2)]
        rows.append((f"ln Omega, L = {length(result)}, levels within 1 and 2 errors of exact", "agrees within errors",
                     f"{within[0]:.0f} % and {within[1]:.0f} % of {len(x)}"))
        rows.append((f"ln Omega of the ground states, L = {length(result)}", f"{math.log(2):.4f} (exact)",
                     measured.text(y[0], error[0])))
        heat = result.summary["specific_heat"]
        most = np.nanargmax(heat)
        rows.append((f"specific heat, L = {length(result)}, beta = {result.summary['beta'][most]:g}",
                     f"{exact_of(result, result.summary['beta'])['specific_heat'][most]:.4f} (exact)",
                     measured.text(heat[most], result.summary["specific_heat_error"][most])))
    axes.set_yscale("log")
    axes.set_ylim(bottom=0.5)
    _finish(axes, "figure 7: density of states", "$E / N$", r"$\ln\,\Omega(E)$")
    return rows


def density_errors(campaigns, axes):
    """The inset of figure 7: jackknife errors and deviations from exact."""
    rows = []
    for number, result in enumerate(_by_length(campaigns["density"])):
        sites = np.prod(result.config["model"]["shape"])
        x, error = result.summary["level_energy"] / sites, result.summary["log_dos_error"]
        away = np.abs(result.summary["log_dos"] - exact_log_dos(result))
        axes.plot(x, away, color=f"C{number}", linewidth=0.6, alpha=0.6)
        axes.plot(x, error, "--", color=f"C{number}", linewidth=1.2, label=f"$L = {length(result)}$")
        rows.append((f"error of ln Omega, L = {length(result)}, median over levels", "-", f"{np.median(error):.2g}"))
    axes.plot([], [], "--", color="0.5", label=r"error $\epsilon$")
    axes.plot([], [], color="0.5", linewidth=0.6, label=r"deviation $\Delta$")
    axes.set_yscale("log")
    _finish(axes, "figure 7, inset: errors and deviations", "$E / N$", r"$\epsilon$, $\Delta$ of $\ln\,\Omega$")
    return rows


def _by_length(campaign):
    return sorted(campaign.results.values(), key=length)


def divergence(campaigns, axes):
    """Figure A.1, top."""
    rows = _flatness(campaigns["thermalization"], axes, "kullback_leibler")
    axes.axhline(papers_published.GROSS_DIVERGENCE, color="0.25", linewidth=0.8, linestyle="--")
    _finish(axes, "figure A.1: Kullback-Leibler divergence", "iteration", "$d_k$")
    return rows


def chebyshev(campaigns, axes):
    """Figure A.1, bottom."""
    _flatness(campaigns["thermalization"], axes, "chebyshev")
    axes.axhline(papers_published.GROSS_CHEBYSHEV, color="0.25", linewidth=0.8, linestyle="--")
    _finish(axes, "figure A.1: Chebyshev distance", "iteration", "$d_c$")
    return []


def _flatness(campaign, axes, column):
    """By iteration, a curve for each f_therm; rows of the range and of convergence."""
    rows = []
    factor = {name: campaign.key(result, "algorithm.iteration.thermalization")
              for name, result in campaign.results.items()}
    for name in sorted(factor, key=factor.get):
        result = campaign.results[name]
        run = result.runs[0]
        levels = run["iterations/levels"]
        axes.plot(run["iterations/iteration"], run[f"iterations/{column}"], linewidth=1,
                  label=rf"$f_\mathrm{{therm}} = {factor[name]:g}$")
        side, covered = length(result), int(np.argmax(levels == levels[-1]))
        theirs = f"about 70, L = {papers_published.GROSS_THERMALIZATION_LENGTH}" if factor[name] == 30 else "-"
        rows.append((f"iterations to cover the range, f = {factor[name]:g}", theirs, f"{covered + 1}, L = {side}"))
        late = run["iterations/kullback_leibler"][covered + SETTLED:]
        rows.append((f"largest d_k {SETTLED} iterations later and after, f = {factor[name]:g}",
                     "oscillates where f is small" if factor[name] < 30 else "-",
                     f"{late.max():.2g}" if late.size else "-"))
    axes.set_yscale("log")
    return rows


# --- Anderson et al. (2013) -----------------------------------------------------------------------

def _pressure_row(what, known, number, fraction, result):
    """`known`: the paper's (P*, error), of as many disks, or None; then with our deviation from it in errors of both."""
    ours = [float(result.summary[key]) for key in ("pressure", "pressure_error")]
    away = "" if known is None else (f" ({(ours[0] - known[0]) / math.hypot(ours[1], known[1]):+.1f} errors from the "
                                     "paper)")
    short = "" if result.summary["converged"] else ", not converged"
    return (f"P*, {what}N = {number}, phi = {fraction:g}", "-" if known is None else measured.text(*known),
            measured.text(*ours) + away + short)


def equation_of_state(campaigns, axes):
    """Table 2."""
    rows, results = [], campaigns["equation-of-state"].results.values()
    for colour, (number, curve) in enumerate(papers_published.ANDERSON_TABLE_2.items()):
        axes.plot(list(curve), [value for value, _ in curve.values()], "s--", color=f"C{colour}", fillstyle="none",
                  markersize=4, linewidth=0.7, label=f"$N = {number}$, paper")
    for colour, (number, (fraction, value, error)) in enumerate(hard_disks.pressures(results).items(), 3):
        axes.errorbar(fraction, value, error, fmt="o-", markersize=3, capsize=2, color=f"C{colour}",
                      label=f"$N = {number}$")
    for result in sorted(results, key=lambda result: (hard_disks.number_of(result), hard_disks.fraction_of(result))):
        number, fraction = hard_disks.number_of(result), hard_disks.fraction_of(result)
        paper = papers_published.ANDERSON_TABLE_2.get(number, {}).get(fraction)
        rows.append(_pressure_row("", paper, number, fraction, result))
    axes.locator_params(axis="x", nbins=5)
    _finish(axes, "table 2: equation of state", r"packing fraction $\phi$", "$P^*$")
    return rows


def disk_shuffling(campaigns, axes):
    """Table 1: pressures without shuffling of the disks of a cell against those with it."""
    rows, campaign = [], campaigns["disk-shuffling"]
    found = {}
    for result in campaign.results.values():
        found[campaign.key(result, "kernel.shuffle"), hard_disks.fraction_of(result)] = result
    for (shuffle, fraction), result in sorted(found.items(), key=lambda item: (not item[0][0], item[0][1])):
        number, paper = hard_disks.number_of(result), papers_published.ANDERSON_TABLE_1[shuffle].get(fraction)
        if number != papers_published.ANDERSON_TABLE_1_DISKS:
            paper = None
        rows.append(_pressure_row(f"{'with' if shuffle else 'without'} shuffling, ", paper, number, fraction, result))
    differences = [(*_without(found, fraction), fraction) for shuffle, fraction in sorted(found)
                   if not shuffle and (True, fraction) in found]
    paper = {fraction: _difference(*(papers_published.ANDERSON_TABLE_1[shuffle][fraction] for shuffle in (False, True)))
             for fraction in papers_published.ANDERSON_TABLE_1[True]}
    for difference, error, fraction in differences:
        number = hard_disks.number_of(found[False, fraction])
        rows.append((f"P* without shuffling less P* with it, phi = {fraction:g}",
                     f"{measured.text(*paper[fraction])}, N = {papers_published.ANDERSON_TABLE_1_DISKS}"
                     if fraction in paper else "-", f"{measured.text(difference, error)}, N = {number}"))
    if differences:
        difference, error, fraction = zip(*differences)
        axes.errorbar(fraction, difference, error, fmt="o", markersize=4, capsize=2, label="ours")
    axes.errorbar(list(paper), *zip(*paper.values()), fmt="s", fillstyle="none", markersize=5, capsize=2, color="C1",
                  label=f"paper, $N = {papers_published.ANDERSON_TABLE_1_DISKS}$")
    axes.axhline(0, color="0.25", linewidth=0.8)
    axes.locator_params(axis="x", nbins=5)
    _finish(axes, "table 1: disks not shuffled", r"packing fraction $\phi$", r"$P^*$ without less with shuffling")
    return rows


def _without(found, fraction):
    return _difference(*((float(found[shuffle, fraction].summary["pressure"]),
                          float(found[shuffle, fraction].summary["pressure_error"])) for shuffle in (False, True)))


def _difference(one, other):
    return one[0] - other[0], math.hypot(one[1], other[1])


def trials_a_second(result):
    """Trial moves of the checkerboard: so many in each cell that has disks; their number is that of the last
    configuration."""
    disks = hard_disks.read(result.path)
    cells = np.mean([hard_disks.occupied_cells(disks.positions[-1, r], disks.box[-1, r], disks.corner[-1, r])
                     for r in range(disks.positions.shape[1])])
    a_sweep = result.config["kernel"]["moves_per_cell"] * cells / hard_disks.number_of(result)  # for each disk
    return a_sweep * result.provenance["updates"] / result.provenance["seconds_sweep"]


def trial_rates(campaigns, axes):
    """Figure 4 and table 4."""
    rows, paper = [], papers_published.ANDERSON_RATES
    for mark, (card, rates) in zip("sD^", paper.items()):
        axes.plot(*zip(*rates.items()), mark, color="0.4", fillstyle="none", markersize=5, label=f"{card}, paper")
    found = sorted((hard_disks.number_of(result), trials_a_second(result), result)
                   for result in campaigns["trial-rates"].results.values())
    axes.plot([number for number, *_ in found], [rate for _, rate, _ in found], "o-", markersize=4, label="ours")
    for number, rate, result in found:
        theirs = paper["Tesla K20"].get(number)
        rows.append((f"trial moves a second, N = {number}", f"{theirs:.3g} (Tesla K20)" if theirs else "-",
                     f"{rate:.3g} ({gpumc_reader.printable(result.provenance['device'])})"))
    axes.set_xscale("log")
    axes.set_yscale("log")
    _finish(axes, "figure 4: rates", "disks $N$", "trial moves a second")
    return rows


def _plain(value, _):
    """Labels of a logarithmic axis: 1, 2 and 5 of every decade."""
    text = f"{value:g}"
    return text if text.strip("0.") in ("1", "2", "5") else ""


def _finish(axes, title, x, y):
    axes.set_title(title, loc="left")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.margins(x=0.04)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=7)


# Paper -> panels: (campaigns that it reads, function).
PANELS = {
    "weigel2012": [(("table1",), table1),
                   (("autocorrelation-k1", "autocorrelation-k10", "autocorrelation-k100"),
                    autocorrelation),
                   (("spin-times-2d",), spin_times_2d), (("spin-times-3d",), spin_times_3d),
                   (("spin-glass-times",), spin_glass_times),
                   (("tempering-times",), tempering_times), (("heisenberg-times",), heisenberg_times),
                   (("heisenberg-drift",), heisenberg_drift)],
    "barash2017": [(("example",), example), (("errors-spin", "errors-multispin"), errors),
                   (("families",), families), (("resampling",), resampling)],
    "gross2018": [(("spin-flip-times", "convergence-cpu"), flip_times),
                  (("convergence", "convergence-cpu"), iterations),
                  (("convergence", "convergence-cpu"), convergence_times),
                  (("convergence", "convergence-cpu"), speedup),
                  (("convergence", "convergence-cpu"), algorithmic_speedup),
                  (("density",), density), (("density",), density_errors),
                  (("thermalization",), divergence), (("thermalization",), chebyshev)],
    "anderson2013": [(("equation-of-state",), equation_of_state), (("disk-shuffling",), disk_shuffling),
                     (("trial-rates",), trial_rates)],
}

"""Gross et al. (2018): times and convergence of multicanonical simulations, and densities of states."""
import math

import numpy as np

from gpumc import ising2d_exact, measured, papers_published
from paper_figures.common import exact_of, finish, plain

SETTLED = 10  # iterations after the last level was found: oscillations are what is left


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
    finish(axes, title, "walkers $W$", y)
    for axis, limits, change in ((axes.xaxis, axes.get_xlim, axes.set_xlim),
                                 (axes.yaxis, axes.get_ylim, axes.set_ylim)):
        low, high = limits()
        if high < 100 * low:  # else powers of ten are enough
            margin = 2 if high < 10 * low else 1.2
            change(low / margin, margin * high)
            axis.set_major_formatter(plain)
        axis.set_minor_formatter(plain if high < 100 * low else "")


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
    finish(axes, "figure 7: density of states", "$E / N$", r"$\ln\,\Omega(E)$")
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
    finish(axes, "figure 7, inset: errors and deviations", "$E / N$", r"$\epsilon$, $\Delta$ of $\ln\,\Omega$")
    return rows


def _by_length(campaign):
    return sorted(campaign.results.values(), key=length)


def divergence(campaigns, axes):
    """Figure A.1, top."""
    rows = _flatness(campaigns["thermalization"], axes, "kullback_leibler")
    axes.axhline(papers_published.GROSS_DIVERGENCE, color="0.25", linewidth=0.8, linestyle="--")
    finish(axes, "figure A.1: Kullback-Leibler divergence", "iteration", "$d_k$")
    return rows


def chebyshev(campaigns, axes):
    """Figure A.1, bottom."""
    _flatness(campaigns["thermalization"], axes, "chebyshev")
    axes.axhline(papers_published.GROSS_CHEBYSHEV, color="0.25", linewidth=0.8, linestyle="--")
    finish(axes, "figure A.1: Chebyshev distance", "iteration", "$d_c$")
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


# (campaigns that a panel reads, function that draws it)
PANELS = [(("spin-flip-times", "convergence-cpu"), flip_times), (("convergence", "convergence-cpu"), iterations),
          (("convergence", "convergence-cpu"), convergence_times), (("convergence", "convergence-cpu"), speedup),
          (("convergence", "convergence-cpu"), algorithmic_speedup), (("density",), density),
          (("density",), density_errors), (("thermalization",), divergence), (("thermalization",), chebyshev)]

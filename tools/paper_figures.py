"""What the campaigns under configs/papers give, as rows (what, paper, ours) and panels of a figure."""
import glob
import os
import re

import numpy as np

import gpumc_reader
import ising2d_exact
import measured
import papers_published

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
                   (("tempering-times",), tempering_times)],
    "barash2017": [(("example",), example), (("errors-spin", "errors-multispin"), errors),
                   (("families",), families), (("resampling",), resampling)],
}

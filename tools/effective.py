"""Effective samples of the squared magnetization a second, of several programs by one estimator: autocorrelation times of their time
series, extrapolation in the size of the lattice, the table, the file and the picture (tools/effective-samples)."""
import json
import math
import os

import numpy as np

from gpumc import measured
from gpumc.analysis import slowing

WINDOW = 6  # in tau, where the sum ends (Madras and Sokal, J. Stat. Phys. 50, 109 (1988))
ENOUGH = 200  # tau in a run, of all chains together, for a tau that is its own
LOCAL_EXPONENT = 2.1667  # of single flips: Nightingale and Bloete, Phys. Rev. B 62, 1089 (2000)
LOCAL = ("metropolis",)


def autocorrelation_time(series):
    """(tau, error) in measurements, of values [measurement, chain]: 1/2 + the sum of the autocorrelation function about the mean of
    all chains, up to WINDOW tau. (NaN, NaN) of a series that is too short to tell."""
    count, chains = series.shape
    if count < 8:
        return math.nan, math.nan
    covariance = slowing.autocovariances(series - series.mean())[:count // 2].mean(axis=1)
    if not covariance[0] > 0:
        return math.nan, math.nan
    covariance += covariance_of_mean(covariance, count * chains)
    sums = 0.5 + np.concatenate([[0], np.cumsum(covariance[1:] / covariance[0])])
    ends = np.flatnonzero(np.arange(len(sums)) >= WINDOW * np.maximum(sums, 0.5))
    if len(ends) == 0 or sums[ends[0]] <= 0:
        return math.nan, math.nan
    end, tau = int(ends[0]), float(sums[ends[0]])
    return tau, tau * math.sqrt(2 * (2 * end + 1) / (count * chains))


def covariance_of_mean(covariance, values):
    """The variance of the mean, which covariances about it lack at every lag."""
    sums = covariance[0] + 2 * np.cumsum(covariance[1:])
    ends = np.flatnonzero(np.arange(1, len(sums) + 1) >= WINDOW * np.maximum(sums / (2 * covariance[0]), 0.5))
    return max(float(sums[ends[0]]), 0.0) / values if len(ends) else 0.0


def row(sampler, length, chains, interval, series, sweeps, seconds, note="", in_equilibrium=True):
    """What is kept of a run: `sweeps` of each of `chains` took `seconds`; `series` [measurement, chain] is of m^2 after every
    `interval` sweeps, or of the mean of all chains. Only a series in equilibrium tells its autocorrelation time."""
    tau, error = (interval * value for value in autocorrelation_time(series))
    total = series.shape[0] * interval * chains
    known = in_equilibrium and math.isfinite(tau) and total >= ENOUGH * tau
    mean_error = math.sqrt(2 * tau / interval * series.var() / series.size) if known else math.nan
    return {"sampler": sampler, "length": length, "chains": chains, "interval": interval, "sweeps": sweeps, "seconds": seconds,
            "tau": tau if known else math.nan, "tau_error": error if known else math.nan, "mean": float(series.mean()),
            "mean_error": mean_error, "note": note}


def extrapolated(rows):
    """The rows with `tau_used`, `from_fit` and `rate`, effective samples a second: tau is that of the row, or the power of L of the
    sampler's other sizes; for single flips that power is LOCAL_EXPONENT."""
    found = []
    for entry in rows:
        tau, own = entry["tau"], math.isfinite(entry["tau"])
        if not own:
            tau = power(entry["sampler"], [other for other in rows if other["sampler"] == entry["sampler"] and
                                           math.isfinite(other["tau"])], entry["length"])
        found.append({**entry, "tau_used": tau, "from_fit": not own,
                      "rate": entry["chains"] * entry["sweeps"] / (2 * tau) / entry["seconds"]})
    return found


def power(sampler, known, length):
    """tau at a length by the weighted fit of a power to known ones; NaN without two of them, or one where the exponent is given."""
    local = sampler.split()[1] in LOCAL
    if len(known) < (1 if local else 2):
        return math.nan
    x = np.log([entry["length"] for entry in known])
    y = np.log([entry["tau"] for entry in known])
    weight = np.array([entry["tau"] / entry["tau_error"] for entry in known])
    if local:
        return float(np.exp(np.average(y - LOCAL_EXPONENT * x, weights=weight ** 2) + LOCAL_EXPONENT * math.log(length)))
    slope, start = np.polyfit(x, y, 1, w=weight)
    return float(np.exp(start + slope * math.log(length)))


# --- table, file and picture ------------------------------------------------------------------------

def table(report):
    """A line for each size and sampler, and by how much the best of gpumc exceeds the best of the others."""
    rows = extrapolated(report["rows"])
    lines = [f"{report['program']}; {report['device']}; {report['threads']} threads; {', '.join(report['others']) or 'alone'}",
             f"{'sampler':<24}{'L':>6}{'chains':>8}{'ns/site':>10}{'tau [sweeps]':>18}{'<m^2>':>18}{'N_eff/s':>12}"]
    for entry in rows:
        told = f"{entry['tau_used']:.4g} (fit)" if entry["from_fit"] else measured.text(entry["tau"], entry["tau_error"])
        site = 1e9 * entry["seconds"] / (entry["sweeps"] * entry["chains"] * entry["length"] ** 2)
        mean = measured.text(entry["mean"], entry["mean_error"]) if math.isfinite(entry["mean_error"]) else "-"
        lines.append(f"{entry['sampler']:<24}{entry['length']:>6}{entry['chains']:>8}{site:>10.4g}{told:>18}{mean:>18}"
                     f"{entry['rate']:>12.4g}{'  ' + entry['note'] if entry['note'] else ''}")
    return "\n".join([*lines, *comparison(rows)])


def comparison(rows):
    for length in sorted({entry["length"] for entry in rows}):
        best = {}
        for entry in rows:
            program = entry["sampler"].split()[0]
            if entry["length"] == length and entry["rate"] > best.get(program, {"rate": 0})["rate"]:
                best[program] = entry
        for program, entry in best.items():
            if program != "gpumc" and "gpumc" in best:
                yield (f"L = {length}: {best['gpumc']['sampler']} over {entry['sampler']}: "
                       f"{best['gpumc']['rate'] / entry['rate']:.3g}")


def write(path, report):
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1)
    os.replace(path + ".new", path)


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def draw(report):
    """N_eff/s over L, a curve for each sampler; hollow where tau is of a fit."""
    from gpumc.plot import style
    rows = extrapolated(report["rows"])
    names = list(dict.fromkeys(entry["sampler"] for entry in rows))
    with style.used():
        figure = style.figure(7.2, 4.6, f"Effective samples of $m^2$ at $T_\\mathrm{{c}}$: 2D Ising, {report['device']}")
        axes = figure.subplots()
        for name, colour in zip(names, style.colours(len(names))):
            of = sorted((entry for entry in rows if entry["sampler"] == name), key=lambda entry: entry["length"])
            look = {"gpumc": "-", "mcising": "--", "peapods": ":"}[name.split()[0]]
            axes.plot([entry["length"] for entry in of], [entry["rate"] for entry in of], look, color=colour, label=name, linewidth=1.2)
            for fitted in (False, True):
                points = [(entry["length"], entry["rate"]) for entry in of if entry["from_fit"] == fitted]
                axes.plot(*(zip(*points) if points else ([], [])), "o", color=colour, markersize=4,
                          markerfacecolor="white" if fitted else colour)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        sides = sorted({entry["length"] for entry in rows})
        axes.set_xticks(sides, [f"{side}" for side in sides])
        axes.minorticks_off()
        axes.set_xlabel("$L$")
        axes.set_ylabel("effective samples a second")
        style.legend(axes, outside=True)
    return figure

"""Barash et al. (2017): population annealing beside exact results, its errors and families."""
import re

import numpy as np

from gpumc import measured, papers_published
from paper_figures.common import deviations, exact_of, finish, lengths

ROWS = 5  # temperatures of an annealing that are shown in numbers


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
    finish(axes, "example beside exact (eqs. 3 to 5)", "beta", "deviation / error")
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
    finish(axes, "errors by coding (figure 2)", "beta", "error / value of the specific heat")
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
    finish(axes, "size of families", "beta", "rho_t")
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
    finish(axes, "resampling (eq. 2) and systematic", "beta", "error of beta F/N")
    return rows


# (campaigns that a panel reads, function that draws it)
PANELS = [(("example",), example), (("errors-spin", "errors-multispin"), errors), (("families",), families),
          (("resampling",), resampling)]

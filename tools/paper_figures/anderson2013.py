"""Anderson et al. (2013): equation of state of hard disks, and rates."""
import math

import gpumc
from gpumc import hard_disks, measured, papers_published
from gpumc.plot import disks
from paper_figures.common import finish


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
    for colour, (number, points) in enumerate(hard_disks.pressures(results).items(), 3):
        disks.draw_pressures(axes, points, number, f"C{colour}")
    for result in sorted(results, key=lambda result: (hard_disks.number_of(result), hard_disks.fraction_of(result))):
        number, fraction = hard_disks.number_of(result), hard_disks.fraction_of(result)
        paper = papers_published.ANDERSON_TABLE_2.get(number, {}).get(fraction)
        rows.append(_pressure_row("", paper, number, fraction, result))
    axes.locator_params(axis="x", nbins=5)
    finish(axes, "table 2: equation of state (open circles: not trusted)", r"packing fraction $\phi$", "$P^*$")
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
        rows.append((f"P* without shuffling minus P* with it, phi = {fraction:g}",
                     f"{measured.text(*paper[fraction])}, N = {papers_published.ANDERSON_TABLE_1_DISKS}"
                     if fraction in paper else "-", f"{measured.text(difference, error)}, N = {number}"))
    if differences:
        difference, error, fraction = zip(*differences)
        axes.errorbar(fraction, difference, error, fmt="o", markersize=4, capsize=2, label="ours")
    axes.errorbar(list(paper), *zip(*paper.values()), fmt="s", fillstyle="none", markersize=5, capsize=2, color="C1",
                  label=f"paper, $N = {papers_published.ANDERSON_TABLE_1_DISKS}$")
    axes.axhline(0, color="0.25", linewidth=0.8)
    axes.locator_params(axis="x", nbins=5)
    finish(axes, "table 1: disks not shuffled", r"packing fraction $\phi$", r"$P^*$ without less with shuffling")
    return rows


def _without(found, fraction):
    return _difference(*((float(found[shuffle, fraction].summary["pressure"]),
                          float(found[shuffle, fraction].summary["pressure_error"])) for shuffle in (False, True)))


def _difference(one, other):
    return one[0] - other[0], math.hypot(one[1], other[1])


def trials_a_second(result):
    """Trial moves of the checkerboard, which the program has counted."""
    return result.provenance["updates"] / result.provenance["seconds_sweep"]


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
        rows.append((f"trial moves per second, N = {number}", f"{theirs:.3g} (Tesla K20)" if theirs else "-",
                     f"{rate:.3g} ({gpumc.printable(result.provenance['device'])})"))
    axes.set_xscale("log")
    axes.set_yscale("log")
    finish(axes, "figure 4: rates", "disks $N$", "trial moves a second")
    return rows


# (campaigns that a panel reads, function that draws it)
PANELS = [(("equation-of-state",), equation_of_state), (("disk-shuffling",), disk_shuffling),
          (("trial-rates",), trial_rates)]

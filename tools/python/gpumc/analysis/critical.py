"""The critical point from the results of several sizes, with what speaks against it: `gpumc-critical RESULT...`.

    found = gpumc.analysis.critical_point(results)
    found.text()
    found.best.t_c, found.exponents["beta/nu"].exponent

T_c and nu are those of the Binder parameter and of xi/L together; fits of each, with all sizes and without the smallest one, are compared with them. Exponents
are those of the collapses of other quantities with the same T_c and nu, and of quotients. All of them have corrections to scaling of unknown size, and where
it is not given of unknown exponent (corrected.py), which their errors contain. Those of exponents also contain what the estimates differ by.
"""
import argparse
import collections.abc
import dataclasses
import json
import pathlib
import sys

import numpy as np

from .. import files, measured, progress, written
from ..version import __version__
from . import corrected, extrapolation, ratios, scaling, transition
from . import curves as curves_module
from . import points

COLLAPSED = ("binder_parameter", "xi/L", "binder_overlap", "xi_overlap/L")
LEAST_P = 0.05  # of a fit without a remark
CALIBRATED = 0.005  # error of nu, as a part of it, below which they are too small; square Ising lattices of 8 to 64 gave 1.0100(36)
DRIFT = 2.0  # errors by which estimates may differ without a remark
ENOUGH_SIZES = 4  # with which corrections may show
ENOUGH_RATIO = 2.5  # of the largest size to the smallest, likewise
DETERMINED = 0.7  # weight of one exponent of the corrections, of those that are tried
LARGEST_SHARE = 0.5  # of a variance that is due to what is not known of corrections, without a remark
FIT = 58  # columns of a fit's name in the table
MARK = "written_by", "gpumc-critical"  # with which JSON begins
EARLIER_BEGINNINGS = b'{\n "t_c": {', b'{\n "doubts": ['  # of JSON that versions without a mark wrote
GLASSY = 0.11, 0.89  # shares of +J between which square +-J models do not order above T = 0 (the multicritical point is at 0.891)


@dataclasses.dataclass(frozen=True)
class Fit:
    """A collapse for T_c and nu. `drift`: the largest change of T_c and nu in errors when its smallest size is left out; NaN where no
    such fit was made."""
    found: scaling.Collapse
    drift: float

    def line(self):
        name = f"{self.found.quantity}, L = {', '.join(map(str, self.found.sides))}"
        drift = "" if not np.isfinite(self.drift) else f", drift {self.drift:.1f}"
        return (f"  {name:{FIT}s} T_c = {measured.text(self.found.t_c, self.found.t_c_error)}, "
                f"nu = {measured.text(self.found.nu, self.found.nu_error)}; {self.found.quality.text()}{drift}")

    def numbers(self):
        return {**_of_collapse(self.found), "drift": self.drift}


@dataclasses.dataclass(frozen=True)
class Estimate:
    """Of a number: `value`, and `replicates` [count] that scatter as much as it is unknown, of which those with `noise` hold the noise alone."""
    name: str
    value: float
    replicates: np.ndarray
    noise: np.ndarray

    @property
    def error(self):
        return float(np.std(self.replicates, ddof=1))


def combine(estimates):
    """One Estimate of several of the same quantity: their average, by their errors, with what they differ by beyond what is expected of them as a part of its
    error. Corrections to scaling make all of them wrong in the same way, so that the average is no better than they are."""
    values, errors = np.array([one.value for one in estimates]), np.maximum([one.error for one in estimates], 1e-150)
    weights = errors ** -2 / np.sum(errors ** -2)
    value, variance = float(weights @ values), (weights @ errors) ** 2
    # Estimates of the same data differ by the difference of their variances (Hausman, Econometrica 46, 1251 (1978)).
    beyond = max(weights @ (values - value) ** 2 - weights @ np.abs(errors ** 2 - variance), 0.0)
    drawn = weights @ np.array([one.replicates - np.mean(one.replicates) for one in estimates])
    return Estimate(estimates[0].name, value, value + drawn * np.sqrt(variance + beyond) / max(np.std(drawn, ddof=1), 1e-150), value + _noise(estimates, weights))


def _noise(estimates, weights):
    """Deviations of their average from its own, by noise alone."""
    count = min(len(one.noise) for one in estimates)
    return weights @ np.array([one.noise[:count] - np.mean(one.noise[:count]) for one in estimates])


@dataclasses.dataclass(frozen=True)
class CriticalPoint:
    """`best`: a Collapse with the T_c and nu that are found, `fits` those of each quantity, with all sizes and without the smallest one. `exponents`: Collapses by the name of the
    exponent, which is an average with that of quotients. `quotients`: ratios.Quotients of each pair, or (). `doubts`: what is not to be trusted, and
    what would help; `open_questions`: what these sizes cannot tell, which errors hold. `shares`: of each number's variance that is due to corrections."""
    best: scaling.Collapse
    fits: tuple
    exponents: dict
    quotients: tuple
    doubts: tuple
    open_questions: tuple
    shares: dict

    def warnings(self):
        """What is said before any number, a line each."""
        lines = []
        if self.doubts:
            lines += ["what is not to be trusted:", *("  " + doubt for doubt in self.doubts)]
        if self.open_questions:
            lines += ["what these sizes cannot tell (errors hold it):", *("  " + question for question in self.open_questions)]
        return lines or ["nothing speaks against these numbers"]

    def text(self) -> str:
        best = self.best
        lines = [*self.warnings(), "",
                 f"T_c  = {measured.text(best.t_c, best.t_c_error)}   beta_c = "
                 f"{measured.text(1 / best.t_c, best.t_c_error / best.t_c ** 2)}",
                 f"nu   = {measured.text(best.nu, best.nu_error)}   1/nu = {measured.text(1 / best.nu, best.nu_error / best.nu ** 2)}"]
        lines += [f"{name} = {measured.text(found.exponent, found.exponent_error)}   from {found.quantity}; {found.quality.text()}"
                  for name, found in self.exponents.items()]
        lines += [f"collapse of {best.quantity}: {best.of()}; {best.quality.text()}; errors by bootstrap over {best.groups}, with corrections "
                  + self.corrections(),
                  "", "fits of T_c and nu:", *(fit.line() for fit in self.fits)]
        if self.quotients:
            lines += ["", f"quotients at the crossing of {self.quotients[0].crossing}, not extrapolated:",
                      *("  " + found.text() for found in self.quotients)]
        return "\n".join(lines)

    def corrections(self):
        """Their exponents, in words."""
        omegas = self.best.corrections.omegas
        return f"L^-{omegas[0]:g}" if len(omegas) == 1 else f"L^-{omegas[0]:g} to L^-{omegas[-1]:g}"

    def numbers(self) -> dict:
        """What text() says as numbers with all their digits, for JSON: dictionaries, lists and numbers; None where one is not known."""
        best = self.best
        assert best.corrections is not None  # collapses with corrections have them
        return _plain({
            "doubts": self.doubts, "open_questions": self.open_questions,
            "t_c": _pair(best.t_c, best.t_c_error), "beta_c": _pair(1 / best.t_c, best.t_c_error / best.t_c ** 2),
            "nu": _pair(best.nu, best.nu_error), "1/nu": _pair(1 / best.nu, best.nu_error / best.nu ** 2),
            "exponents": {name: {**_pair(found.exponent, found.exponent_error), "collapse": _of_collapse(found)}
                          for name, found in self.exponents.items()},
            "shares_of_corrections": self.shares,
            "corrections": {"omegas": best.corrections.omegas, "weights": best.corrections.weights},
            "collapse": _of_collapse(best), "fits": [fit.numbers() for fit in self.fits],
            "quotients": [{"crossing": found.crossing, "sides": found.sides, "temperature": _pair(found.temperature, found.temperature_error),
                           "value": _pair(found.value, found.value_error),
                           "exponents": {name: _pair(*numbers) for name, numbers in found.exponents.items()}, "remarks": found.remarks}
                          for found in self.quotients]})


def _pair(value, error):
    return {"value": value, "error": error}


def _of_collapse(found):
    return {"quantity": found.quantity, "sides": found.sides, "analytic": found.analytic,
            "t_c": _pair(found.t_c, found.t_c_error), "nu": _pair(found.nu, found.nu_error), "bend": _pair(found.bend, found.bend_error),
            "x_range": found.x_range, "left_out": found.left_out, "groups": found.groups, "quality": dataclasses.asdict(found.quality),
            "remarks": found.remarks}


def _plain(item):
    """Of dictionaries, sequences and numbers of any kind."""
    if isinstance(item, dict):
        return {name: _plain(value) for name, value in item.items()}
    if isinstance(item, (tuple, list)):
        return [_plain(value) for value in item]
    if isinstance(item, (float, np.floating)):
        return float(item) if np.isfinite(item) else None
    return item


class _Steps:
    """Counts the fits and tells which one comes next."""
    def __init__(self, tell, count):
        self.tell, self.count, self.number = tell, count, 0

    def next(self, text):
        self.number += 1
        if self.tell:
            self.tell(f"{self.number} of {self.count}: {text}")


def critical_point(results, *, omega: float | None = None, x_max: float | None = None, smallest: int = 0,
                   replicates: int = scaling.REPLICATES, seed: int = 1,
                   tell: collections.abc.Callable[[str], object] | None = None) -> CriticalPoint:
    """The CriticalPoint of results of several sizes of one model, one result for each (Results, paths, or Curves of numbers from elsewhere).

    `omega`: exponent of the leading correction to scaling, if it is known (2D Ising: 7/4; 3D Ising: 0.83); None: an average over 0.5 to 2, in two
    dimensions over 0.8 to 2.
    All fits have the analytic corrections of scaling.collapse() as well.
    `x_max`, `smallest`, `replicates`, `seed`: as for collapse().
    `tell`: called with a line of text before each fit, which takes a second or more: "3 of 9: collapse of xi/L, L = 16, 32, 64".

    Of glasses only overlaps take part.

    Raises transition.NotComparable if results do not belong together, have neither quantity, or are of a model whose transition is not one of powers
    of the size."""
    opened = points.read_if_path(results)
    _refuse_other_transitions(opened)
    collapsed, observables = _quantities(opened)
    sizes = curves_module.read_all(opened, [*collapsed, *observables])
    sizes = [size for size in sizes if size.side >= smallest]
    if len(sizes) < 2:
        raise transition.NotComparable("one size does not give a critical point; give results of three sizes or more")
    options: dict = {"analytic": True, "x_max": x_max, "replicates": replicates, "seed": seed,
                     "omega": _omegas(sizes[0].dimension) if omega is None else (float(omega),)}
    subsets = [sizes, sizes[1:]] if len(sizes) > 3 else [sizes]
    steps = _Steps(tell, len(collapsed) * len(subsets) + len(observables) + 2)
    fits = [fit for name in collapsed for fit in _fits(subsets, name, options, steps)]
    if not fits:
        raise transition.NotComparable("these sizes do not collapse: give three sizes or more, at temperatures on both sides of T_c")
    average = _average(fits, seed)
    used = [size for size in sizes if size.side in average.sides]
    steps.next("collapse with the averages")
    best = scaling.collapse(used, average.quantity, given=average, **options)
    exponents = {}
    for name in observables:
        steps.next(f"exponent of {name}")
        found = scaling.collapse(used, name, given=best, **options)
        exponents[found.exponent_name] = found
    steps.next("quotients")
    quotients = _quotients(sizes, collapsed, observables, replicates, seed)
    estimates = {"T_c": _estimate("T_c", best, 0), "nu": _estimate("nu", best, 1)}
    for name, found in exponents.items():
        both = [_estimate(name, found, 3), *_of_quotients(quotients, name, options["omega"], seed)]
        estimates[name] = combine(both)
        exponents[name] = dataclasses.replace(found, exponent=estimates[name].value, exponent_error=estimates[name].error)
    shares = {name: max(0.0, 1 - float(np.var(one.noise, ddof=1)) / one.error ** 2) for name, one in estimates.items()}
    return CriticalPoint(best, tuple(fits), exponents, quotients, tuple(dict.fromkeys(_doubts(best, fits, exponents, quotients, opened))),
                         tuple(_open_questions(best, shares, omega)), shares)


def _omegas(dimension):
    return corrected.SQUARE_OMEGAS if dimension == 2 else corrected.OMEGAS


def _quantities(opened):
    """Names of those that collapse, and of those with exponents."""
    def all_have(name):
        return all(name in item.values if isinstance(item, curves_module.Curves) else
                   transition.has(item, curves_module.quantity_of(name, 2).dataset) for item in opened)

    collapsed, observables = list(filter(all_have, COLLAPSED)), list(filter(all_have, ratios.OBSERVABLES))
    if any("overlap" in name for name in collapsed):  # a glass orders in its overlaps, and its magnetization stays 0
        collapsed, observables = ([name for name in names if "overlap" in name] for names in (collapsed, observables))
    if not collapsed:
        raise transition.NotComparable("no Binder parameter or correlation length that all files have")
    return collapsed, observables


def _refuse_other_transitions(opened):
    """Models that have no transition, or one without powers of the size."""
    for result in opened:
        model = getattr(result, "config", {}).get("model", {})
        dimension, components = len(model.get("shape", ())), model.get("components", 3 if model.get("name") == "heisenberg" else 1)
        known = None
        if not model:
            continue
        if components == 2 and dimension == 2 and model.get("couplings", "uniform") == "uniform":
            known = ("square XY models have a Kosterlitz-Thouless transition, whose correlation length is no power of T - T_c, so that there is no nu, and "
                     "curves merge below it: tools/plot --helicity, or gpumc.analysis.helicity_transitions(), find T_KT (docs/tutorial-xy.md)")
        elif components > 1 and dimension <= 2:
            known = "spins with a continuous symmetry do not order above T = 0 in one or two dimensions (Mermin and Wagner 1966)"
        elif dimension == 1:
            known = "chains have no transition above T = 0"
        elif dimension == 2 and _is_glass(model):
            known = "Ising spin glasses in two dimensions have their transition at T = 0, which no collapse in T - T_c finds"
        if known:
            raise transition.NotComparable(f"{result.path}: {known}")


def _is_glass(model):
    """Whether it is known that couplings are as often negative as positive, or nearly so; those of a file may be any."""
    couplings = model.get("couplings", "bimodal")
    return model["name"] == "ea" and (couplings == "gaussian" or couplings == "bimodal" and GLASSY[0] < model.get("p", 0.5) < GLASSY[1])


def _fits(subsets, name, options, steps):
    found = []
    for sizes in subsets:
        steps.next(f"collapse of {name}, L = {', '.join(str(size.side) for size in sizes)}")
        try:
            found.append(scaling.collapse(sizes, name, **options))
        except (ValueError, np.linalg.LinAlgError):
            break
    return [Fit(fit, _drift(fit, found[number + 1]) if number + 1 < len(found) else float("nan")) for number, fit in enumerate(found)]


def _drift(fit, without):
    """The larger change of T_c and nu, in errors of the fit with fewer sizes."""
    return float(max(abs(without.t_c - fit.t_c) / without.t_c_error, abs(without.nu - fit.nu) / without.nu_error))


def _estimate(name, found, column):
    value = (found.t_c, found.nu, found.bend, found.exponent)[column]
    return Estimate(name, value, found.replicates[:, column], found.corrections.noise[:, column])


def _average(fits, seed):
    """The Collapse of all sizes with the smallest error, with T_c, nu and b of all quantities together."""
    most = max(len(fit.found.sides) for fit in fits)
    whole = [fit.found for fit in fits if len(fit.found.sides) == most]
    best = min(whole, key=lambda found: found.t_c_error)
    if len(whole) > 1:
        best = _together(whole, best, seed)
    return best


def _half_width(numbers):
    """Of the interval of 68 % of them, in which a few that are far away do not count."""
    low, high = np.quantile(numbers, [0.16, 0.84])
    return max((high - low) / 2, 1e-150)


def _together(whole, best, seed):
    """`best` with T_c, nu and b of all these collapses, of quantities whose power of the size is known."""
    problems = [corrected.Problem(curves_module.quantity_of(found.quantity, 2), None, found.analytic, found.corrections.omegas, (None,) * 3)
                for found in whole]
    place = np.array([best.t_c, 1 / best.nu, best.bend])
    numbers, weights, drawn = corrected.together(problems, [found.points for found in whole], place, len(best.replicates), [seed, len(whole)])
    replicates, noise = best.replicates.copy(), best.corrections.noise.copy()
    replicates[:, :3] = numbers[1:]
    # Corrections that are not independent, as of one irrelevant operator, shift T_c of all quantities alike: together they are no better than each is.
    errors = np.array([_half_width(found.replicates[:, 0]) for found in whole])
    least = np.sum(1 / errors) / np.sum(errors ** -2)  # the mean, by their precisions
    replicates[:, 0] = numbers[0, 0] + max(1.0, least / _half_width(replicates[:, 0])) * (replicates[:, 0] - numbers[0, 0])
    for column, name in enumerate(("T_c", "nu", "b")):
        own = [_estimate(name, found, column) for found in whole]
        precisions = np.array([max(one.error, 1e-150) ** -2 for one in own])
        noise[:, column] = numbers[0, column] + _noise(own, precisions / precisions.sum())
    return dataclasses.replace(best, t_c=numbers[0, 0], nu=numbers[0, 1], bend=numbers[0, 2], replicates=replicates,
                               curvature=(*np.std(replicates[:, :3], axis=0, ddof=1), 0.0),
                               corrections=dataclasses.replace(best.corrections, weights=weights, drawn=drawn, noise=noise))


def _quotients(sizes, collapsed, observables, replicates, seed):
    try:
        crossing = next((name for name in ratios.CROSSING if name in collapsed), collapsed[0])
        return tuple(ratios.quotients(sizes, crossing, observables, replicates=replicates, seed=seed))
    except transition.NotComparable:
        return ()


def _of_quotients(quotients, name, omegas, seed):
    found = extrapolation.averaged(quotients, name, omegas, seed) if len(quotients) > 1 else None
    return [] if found is None else [Estimate(name, found.value, found.replicates, found.noise)]


# --- what is said of them -------------------------------------------------------------------------

def _doubts(best, fits, exponents, quotients, results):
    numbers = ", ".join(("T_c", "nu", *exponents))
    sides = sorted({side for fit in fits for side in fit.found.sides})
    doubts = []
    if len(sides) < ENOUGH_SIZES or sides[-1] < ENOUGH_RATIO * sides[0]:
        doubts.append(f"{numbers}: L = {', '.join(map(str, sides))} cannot tell corrections to scaling from powers of the size. Errors rest on how large "
                      f"corrections usually are: add sizes, of {ENOUGH_SIZES} at least the largest {ENOUGH_RATIO:g} times the smallest")
    for fit in fits:
        name = f"T_c, nu, and exponents with them: {fit.found.quantity}, L = {', '.join(map(str, fit.found.sides))}"
        if fit.found.quality.p < LEAST_P:
            doubts.append(f"{name}: p = {fit.found.quality.p:.1g}, although corrections are part of the fit: leave out the smallest sizes (--smallest) or "
                          "temperatures far from T_c (--x-max)")
        if fit.drift > DRIFT:
            doubts.append(f"{name}: without the smallest size numbers differ by {fit.drift:.1f} errors: larger sizes are needed")
    whole = [fit.found for fit in fits if len(fit.found.sides) == len(sides)]
    for other in whole[1:]:
        for name, (value, error) in {"T_c": ("t_c", "t_c_error"), "nu": ("nu", "nu_error")}.items():
            apart = abs(getattr(other, value) - getattr(whole[0], value)) / np.hypot(getattr(other, error), getattr(whole[0], error))
            if apart > DRIFT:
                doubts.append(f"{name} by {whole[0].quantity} and by {other.quantity} differ by {apart:.1f} errors")
    if 0 < best.nu_error < CALIBRATED * best.nu:
        doubts.append(f"nu: errors below {100 * CALIBRATED:g} % are not calibrated, and have been up to three times too small (docs/analysis.md)")
    doubts += [f"T_c, nu: {remark}" for remark in best.remarks]
    for name, found in exponents.items():
        doubts += [f"{name}: {remark}" for remark in found.remarks if remark not in best.remarks]
    for found in quotients:
        doubts += [f"exponents: quotient of L = {found.sides[0]} and {found.sides[1]}: {remark}" for remark in found.remarks]
    models = [getattr(result, "config", {}).get("model", {}) for result in results]
    if any(model.get("name") == "ea" and model["couplings"] == "file" and len(model["shape"]) == 2 for model in models):
        doubts.append(f"{numbers}: couplings are not known here, since they are from files. If both signs are about as frequent, the transition is at T = 0, "
                      "and these numbers mean nothing")
    doubts += [f"{numbers}: {result.path} is not trusted: {result.remarks.get('warning') or 'see gpumc info'}"
               for result in results if not getattr(result, "remarks", {}).get("trusted", 1)]
    return doubts


def _open_questions(best, shares, omega):
    questions = []
    if omega is None and max(best.corrections.weights) < DETERMINED:
        omegas = best.corrections.omegas
        questions.append(f"the exponent omega of the corrections: {', '.join(shares)} are averages over omega = {omegas[0]:g} to {omegas[-1]:g}. "
                         "Give --omega if it is known")
    large = [f"{name} ({100 * share:.0f} %)" for name, share in shares.items() if share > LARGEST_SHARE]
    if large:
        questions.append(f"corrections to scaling from powers of the size: they are most of the variance of {', '.join(large)}. Larger sizes would help, longer "
                         "runs would not")
    return questions


# --- the program ----------------------------------------------------------------------------------

def main(arguments: list[str] | None = None) -> int:
    """gpumc-critical; returns the exit code: 0, 1 where results cannot be used or files not be written, 2 for wrong arguments."""
    parser = _make_parser()
    options = parser.parse_args(arguments)
    if options.style and not options.output:
        parser.error("--style is one of the picture: add -o FIGURE")
    refused: tuple = files.ResultError, transition.NotComparable, ValueError, OSError
    if options.output:
        from .. import plot  # needs Matplotlib

        refused += (plot.Refusal,)
    try:
        if options.json:
            written.check(options.json, _is_json)  # what cannot be written is refused before the fits
        if options.output:
            plot.style.check(options.output)  # likewise
            with plot.used(options.style):
                pass
        with progress.told() as tell:
            found = critical_point(options.results, omega=options.omega, x_max=options.x_max, smallest=options.smallest, tell=tell)
        print(found.text())
        if options.json:
            text = json.dumps({MARK[0]: f"{MARK[1]} {__version__}", **found.numbers()}, indent=1, allow_nan=False)
            with written.whole(options.json, _is_json) as unfinished:
                pathlib.Path(unfinished).write_text(text + "\n", encoding="utf-8")
        if options.output:
            plot.collapse.save(found, options.output, options.style)
    except refused as reason:
        print(f"gpumc-critical: {files.printable(reason)}", file=sys.stderr)
        return 1
    paths = list(filter(None, (options.json, options.output)))
    if paths:
        print("", *paths, sep="\n")
    return 0


def _is_json(content):
    """Whether the contents of a file are numbers that this program wrote."""
    return (content.startswith(f'{{\n "{MARK[0]}": "{MARK[1]} '.encode())
            or content.startswith(EARLIER_BEGINNINGS) and b'\n "beta_c": {' in content)


def _make_parser():
    parser = argparse.ArgumentParser(prog="gpumc-critical", description="T_c, nu and exponents from results of several sizes, one for each, "
                                     "by finite-size scaling, with their errors and what is not to be trusted.")
    parser.add_argument("results", nargs="+", metavar="RESULT")
    parser.add_argument("--omega", type=float, help="exponent of the corrections to scaling, if it is known (else 0.5 to 2, on square lattices 0.8 to 2)")
    parser.add_argument("--x-max", type=float, metavar="X", help="leave out values with (1 - T_c/T) L^(1/nu) beyond X")
    parser.add_argument("--smallest", type=int, default=0, metavar="L", help="leave out smaller sizes")
    parser.add_argument("--json", metavar="FILE", help="write all numbers that are printed, with all their digits, as JSON")
    parser.add_argument("-o", "--output", metavar="FIGURE", help="draw the collapse (PNG, PDF or SVG)")
    parser.add_argument("--style", metavar="STYLE", help="of the picture: a style of Matplotlib by name, or the path of a style sheet "
                        "(.mplstyle), on top of gpumc's own")
    return parser

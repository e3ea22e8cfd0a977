"""The critical point from the results of several sizes, with what speaks against it: `gpumc-critical RESULT...`.

    found = gpumc.analysis.critical_point(results, omega=1.75)
    found.text()
    found.best.t_c, found.exponents["beta/nu"].exponent

T_c and nu are those of the collapse of the Binder parameter or of xi/L (scaling.py), exponents those of the collapse of other quantities
with the same T_c and nu. All sizes take part unless they do not fit.
"""
import argparse
import collections.abc
import dataclasses
import json
import pathlib
import sys

import numpy as np

from .. import files, measured, progress
from . import curves as curves_module
from . import points, ratios, scaling, transition

COLLAPSED = ("binder_parameter", "xi/L", "binder_overlap", "xi_overlap/L")
LEAST_P = 0.05  # of a fit that is taken
DRIFT = 2.0  # errors by which a fit may move when the smallest size is left out
LEAST_SIZES = 3  # of a fit that is taken
UNKNOWN_OMEGA = 1.0, 2.0  # corrections that are tried where omega is not known
FIT = 66  # columns of a fit's name in the table


@dataclasses.dataclass(frozen=True)
class Fit:
    """A collapse for T_c and nu. `drift`: the largest change of T_c and nu in errors when its smallest size is left out; NaN where no
    such fit was made."""
    found: scaling.Collapse
    drift: float

    def is_good(self):
        return self.found.quality.p >= LEAST_P and not self.drift > DRIFT

    def line(self):
        corrections = "" if self.found.omega is None else f", with L^-{self.found.omega:g}"
        name = f"{self.found.quantity}, L = {', '.join(map(str, self.found.sides))}{corrections}"
        drift = "" if not np.isfinite(self.drift) else f", drift {self.drift:.1f}"
        return (f"  {name:{FIT}s} T_c = {measured.text(self.found.t_c, self.found.t_c_error)}, "
                f"nu = {measured.text(self.found.nu, self.found.nu_error)}; {self.found.quality.text()}{drift}")

    def numbers(self):
        return {**_of_collapse(self.found), "drift": self.drift}


@dataclasses.dataclass(frozen=True)
class CriticalPoint:
    """`best`: the Collapse that T_c and nu are from, `fits` all that were made. `exponents`: Collapses by the name of the exponent.
    `quotients`: ratios.Quotients of each pair, or (). `doubts`: what is not to be trusted, and what would help."""
    best: scaling.Collapse
    fits: tuple
    exponents: dict
    quotients: tuple
    doubts: tuple

    def text(self) -> str:
        best = self.best
        lines = [f"T_c  = {measured.text(best.t_c, best.t_c_error)}   beta_c = "
                 f"{measured.text(1 / best.t_c, best.t_c_error / best.t_c ** 2)}",
                 f"nu   = {measured.text(best.nu, best.nu_error)}   1/nu = {measured.text(1 / best.nu, best.nu_error / best.nu ** 2)}"]
        lines += [f"{name} = {measured.text(found.exponent, found.exponent_error)}   from {found.quantity}; {found.quality.text()}"
                  for name, found in self.exponents.items()]
        lines += [f"collapse of {best.quantity}: {best.of()}; {best.quality.text()}; errors by bootstrap over {best.groups}",
                  "", "fits of T_c and nu:", *(fit.line() for fit in self.fits)]
        if self.quotients:
            lines += ["", f"quotients at the crossing of {self.quotients[0].crossing}:",
                      *("  " + found.text() for found in self.quotients)]
        lines += ["", "what is not to be trusted:" if self.doubts else "nothing speaks against it",
                  *("  " + doubt for doubt in self.doubts)]
        return "\n".join(lines)

    def numbers(self) -> dict:
        """What text() says as numbers with all their digits, for JSON: dictionaries, lists and numbers; None where one is not known."""
        best = self.best
        return _plain({
            "t_c": _pair(best.t_c, best.t_c_error), "beta_c": _pair(1 / best.t_c, best.t_c_error / best.t_c ** 2),
            "nu": _pair(best.nu, best.nu_error), "1/nu": _pair(1 / best.nu, best.nu_error / best.nu ** 2),
            "exponents": {name: {**_pair(found.exponent, found.exponent_error), "collapse": _of_collapse(found)}
                          for name, found in self.exponents.items()},
            "collapse": _of_collapse(best), "fits": [fit.numbers() for fit in self.fits],
            "quotients": [{"crossing": found.crossing, "sides": found.sides, "temperature": _pair(found.temperature, found.temperature_error),
                           "value": _pair(found.value, found.value_error),
                           "exponents": {name: _pair(*numbers) for name, numbers in found.exponents.items()}, "remarks": found.remarks}
                          for found in self.quotients],
            "doubts": self.doubts})


def _pair(value, error):
    return {"value": value, "error": error}


def _of_collapse(found):
    return {"quantity": found.quantity, "sides": found.sides, "omega": found.omega, "analytic": found.analytic,
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
    """The CriticalPoint of results of several sizes of one model, one result for each (Results or paths).

    `omega`: exponent of the leading correction to scaling, if it is known (2D Ising: 7/4; 3D Ising: 0.83). Fits have that correction then; else
    those with omega = 1 and 2 are made for comparison. All fits have the analytic corrections of scaling.collapse().
    `x_max`, `smallest`, `replicates`, `seed`: as for collapse().
    `tell`: called with a line of text before each fit, which takes a second or more: "3 of 19: collapse of xi/L, L = 16, 32, 64".

    From all sizes on, the smallest one is left out until a fit has p of at least 5 % and T_c and nu stay within two errors (of the change) when
    one more size is left out. If there is none, the best p of those with three sizes is taken, and said to be so.

    Of glasses only overlaps take part.

    Raises transition.NotComparable if results do not belong together or have neither quantity."""
    opened = points.read_if_path(results)
    dimension = len(opened[0].config["model"]["shape"])

    def all_have(name):
        return all(transition.has(result, curves_module.quantity_of(name, dimension).dataset) for result in opened)

    collapsed, observables = list(filter(all_have, COLLAPSED)), list(filter(all_have, ratios.OBSERVABLES))
    if any("overlap" in name for name in collapsed):  # a glass orders in its overlaps, and its magnetization stays 0
        collapsed, observables = ([name for name in names if "overlap" in name] for names in (collapsed, observables))
    if not collapsed:
        raise transition.NotComparable("no Binder parameter or correlation length that all files have")
    sizes = curves_module.read_all(opened, [*collapsed, *observables])
    sizes = [size for size in sizes if size.side >= smallest]
    if len(sizes) < 2:
        raise transition.NotComparable("one size does not give a critical point; give results of three sizes or more")
    options: dict = {"analytic": True, "x_max": x_max, "replicates": replicates, "seed": seed}
    unknown = UNKNOWN_OMEGA if omega is None else ()
    steps = _Steps(tell, len(collapsed) * (len(sizes) - 1 + len(unknown)) + len(observables) + 1)
    fits, others = [], []
    for name in collapsed:
        fits += _fits(sizes, name, {**options, "omega": omega}, steps)
        others += list(filter(None, (_with_omega(sizes, name, other, options, steps) for other in unknown)))
    if not fits:
        raise transition.NotComparable("these sizes do not collapse: give three sizes or more, at temperatures on both sides of T_c")
    best, doubts = _best(fits, collapsed)
    used = [size for size in sizes if size.side >= best.found.sides[0]]
    exponents = {}
    for name in observables:
        steps.next(f"exponent of {name}")
        found = scaling.collapse(used, name, given=best.found, **{**options, "omega": omega})
        exponents[found.exponent_name] = found
    steps.next("quotients")
    quotients = _quotients(sizes, collapsed, observables, seed)
    return CriticalPoint(best.found, (*fits, *others), exponents, quotients,
                         tuple(dict.fromkeys(doubts + _doubts(best, fits, others, exponents, opened))))


def _with_omega(sizes, name, omega, options, steps):
    """A fit for comparison; None where these sizes do not allow it."""
    steps.next(f"collapse of {name} with L^-{omega:g}")
    try:
        return Fit(scaling.collapse(sizes, name, **{**options, "omega": omega}), float("nan"))
    except (ValueError, np.linalg.LinAlgError):
        return None


def _fits(sizes, name, options, steps):
    """With all sizes, and without the smallest ones, down to two."""
    found = []
    for first in range(len(sizes) - 1):
        steps.next(f"collapse of {name}, L = {', '.join(str(size.side) for size in sizes[first:])}")
        try:
            found.append(scaling.collapse(sizes[first:], name, **options))
        except (ValueError, np.linalg.LinAlgError):
            break
    return [Fit(fit, _drift(fit, found[number + 1]) if number + 1 < len(found) else float("nan")) for number, fit in enumerate(found)]


def _drift(fit, without):
    """Change of T_c and nu in errors of the change: the fit with fewer values has the larger error, of which the other is a part (Hausman,
    Econometrica 46, 1251 (1978))."""
    changes = []
    for name in ("t_c", "nu"):
        own, other = getattr(fit, name + "_error"), getattr(without, name + "_error")
        changes.append(abs(getattr(without, name) - getattr(fit, name)) / max(np.sqrt(abs(other ** 2 - own ** 2)), 0.3 * other))
    return float(max(changes))


def _best(fits, names):
    """The first good fit of three sizes or more, and doubts."""
    for name in names:
        for fit in fits:
            if fit.found.quantity == name and len(fit.found.sides) >= LEAST_SIZES and fit.is_good():
                return fit, []
    enough = [fit for fit in fits if len(fit.found.sides) >= LEAST_SIZES]
    doubts = ["no fit is good (p of 5 % and no drift): larger sizes are needed, or temperatures nearer to T_c (--x-max), or the exponent of "
              "the corrections (--omega)"]
    if not enough:
        enough, doubts = fits, ["two sizes cannot show corrections to scaling: add a third one"]
    return max(enough, key=lambda fit: fit.found.quality.p), doubts


def _quotients(sizes, collapsed, observables, seed):
    try:
        return tuple(ratios.quotients(sizes, "xi/L" if "xi/L" in collapsed else collapsed[0], observables, seed=seed))
    except transition.NotComparable:
        return ()


def _doubts(best, fits, others, exponents, results):
    doubts = list(best.found.remarks)
    if not np.isfinite(best.drift):
        doubts.append("no size is left to check whether T_c and nu drift: add a larger one")
    for fit in others:
        apart = [abs(getattr(fit.found, name) - getattr(best.found, name)) / max(getattr(fit.found, name + "_error"),
                                                                               getattr(best.found, name + "_error"))
                 for name in ("t_c", "nu")]
        if fit.found.quality.p >= LEAST_P and max(apart) > DRIFT:
            doubts.append(f"corrections L^-{fit.found.omega:g} to {fit.found.quantity} would make T_c = "
                          f"{measured.text(fit.found.t_c, fit.found.t_c_error)} and nu = {measured.text(fit.found.nu, fit.found.nu_error)}")
    rivals = [fit for fit in fits if fit.found.quantity != best.found.quantity and len(fit.found.sides) >= LEAST_SIZES and fit.is_good()]
    for fit in rivals[:1]:
        apart = abs(fit.found.t_c - best.found.t_c) / np.hypot(fit.found.t_c_error, best.found.t_c_error)
        if apart > DRIFT:
            doubts.append(f"{fit.found.quantity} has a different T_c, by {apart:.1f} errors")
    for name, found in exponents.items():
        doubts += [f"{name}: {remark}" for remark in found.remarks]
    doubts += [f"{result.path} is not trusted: {result.remarks.get('warning') or 'see gpumc info'}"
               for result in results if not result.remarks.get("trusted", 1)]
    return doubts


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
        if options.output:
            with plot.used(options.style):
                pass  # a style that does not exist is refused before the fits
        with progress.told() as tell:
            found = critical_point(options.results, omega=options.omega, x_max=options.x_max, smallest=options.smallest, tell=tell)
        print(found.text())
        if options.json:
            text = json.dumps(found.numbers(), indent=1, allow_nan=False)
            pathlib.Path(options.json).write_text(text + "\n", encoding="utf-8")
        if options.output:
            plot.collapse.save(found, options.output, options.style)
    except refused as reason:
        print(f"gpumc-critical: {files.printable(reason)}", file=sys.stderr)
        return 1
    written = list(filter(None, (options.json, options.output)))
    if written:
        print("", *written, sep="\n")
    return 0


def _make_parser():
    parser = argparse.ArgumentParser(prog="gpumc-critical", description="T_c, nu and exponents from results of several sizes, one for each, "
                                     "by finite-size scaling, with their errors and what is not to be trusted.")
    parser.add_argument("results", nargs="+", metavar="RESULT")
    parser.add_argument("--omega", type=float, help="exponent of the corrections to scaling, if it is known")
    parser.add_argument("--x-max", type=float, metavar="X", help="leave out values with (1 - T_c/T) L^(1/nu) beyond X")
    parser.add_argument("--smallest", type=int, default=0, metavar="L", help="leave out smaller sizes")
    parser.add_argument("--json", metavar="FILE", help="write all numbers that are printed, with all their digits, as JSON")
    parser.add_argument("-o", "--output", metavar="FIGURE", help="draw the collapse (PNG, PDF or SVG)")
    parser.add_argument("--style", metavar="STYLE", help="of the picture: a style of Matplotlib by name, or the path of a style sheet "
                        "(.mplstyle), on top of gpumc's own")
    return parser

"""What can be drawn of a result, by kind: the list that reports and programs go through."""
from __future__ import annotations

import dataclasses
import math
import typing

from ..reader import Result
from . import axes as view, configurations, curves, density, disks, families, helicity, iterations, profiles, series
from . import slowing, style, tempering, transition
from .refusal import NotYet, Refusal

if typing.TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of pictures. draw(results, options) gives the figure; words(results, options) the lines that a program prints with
    it; applies(result) says whether one file is enough, and has what is drawn."""
    name: str
    title: str
    draw: typing.Callable
    applies: typing.Callable = lambda result: False
    caption: typing.Callable = lambda result: ""
    words: typing.Callable | None = None
    needs_summary: bool = True  # made at the end of a run


class Picture(typing.NamedTuple):
    """A picture that can be drawn of a result: make() gives the matplotlib Figure."""
    kind: str
    title: str
    caption: str
    make: typing.Callable


def has_curves(result):
    return bool(result.summary) and bool(curves.curves(result))


def is_disks(result):
    return (result.config.get("model", {}).get("name") == "hard_disks" and
            "configurations" in result.config.get("algorithm", {}))


# --- captions -----------------------------------------------------------------------------------------

def of_summary(result):
    text = "Averages of the summary with one standard error"
    if any(name.startswith("reweighted/") for name in result.summary):
        text += "; lines with bands are reweighted between the points"
    return text + "."


def of_series(result):
    if result.config["algorithm"]["name"] == "pt":
        return ("Averages in bins of time, each twice as long as the one before, minus those of the last bin. A run is in "
                "equilibrium where they agree with 0 within their errors.")
    return ("Light: the measurements. Lines: running means of one replica and of all. The autocorrelation function shows "
            "after how many sweeps a measurement is forgotten.")


def of_families(result):
    return (f"Replicas that descend from one initial replica are not independent. The result is trusted while its runs have more "
            f"than {families.TRUSTED_FAMILIES} effective families together, R divided by the mean square family size.")


def of_tempering(result):
    return ("Share of exchanges that were accepted, share of walkers that come from the hottest temperature, and round trips "
            "between the ends. The result is trusted if each walker makes at least one round trip on average.")


def of_iterations(result):
    return ("How far the histogram of each iteration was from a flat one, the levels that were seen, and the updates that it took; "
            "then the run with fixed weights.")


def of_density(result):
    return "Logarithm of the number of states by energy with its standard error, and what follows from it at every temperature."


def of_configurations(result):
    lattice = len(result.config["model"].get("shape", ())) == 3
    return "Configurations from the hottest to the coldest temperature" + (", a plane of the lattice" if lattice else "") + "."


def of_disks(result):
    return ("The last configuration; colours are the phase of the bond order psi_6 of each disk, the same where the lattice has "
            "the same orientation.")


KINDS = {kind.name: kind for kind in [
    Kind("summary", "Averages", curves.draw, has_curves, of_summary),
    Kind("transition", "Crossings of sizes", transition.draw, words=lambda results, options: transition.words(results)),
    Kind("helicity", "Helicity modulus", helicity.draw, words=lambda results, options: helicity.words(results)),
    Kind("slowing-down", "Critical slowing down", slowing.draw, words=lambda results, options: slowing.words(results, options)),
    Kind("series", "Time series", series.draw, series.applies, of_series, needs_summary=False),
    Kind("families", "Families of the population", families.draw, families.applies, of_families, needs_summary=False),
    Kind("tempering", "Exchanges of temperatures", tempering.draw, tempering.applies, of_tempering, needs_summary=False),
    Kind("iterations", "Weights by iteration", iterations.draw, iterations.applies, of_iterations, needs_summary=False),
    Kind("density", "Density of states", density.draw, density.applies, of_density),
    Kind("profiles", "Profiles and distributions", profiles.draw, profiles.applies,
         lambda result: "Quantities over an axis of their own, at several temperatures, with one standard error."),
    Kind("configurations", "Configurations", configurations.draw, configurations.applies, of_configurations, needs_summary=False),
    Kind("bond-order", "Bond order of hard disks", disks.draw_order, is_disks, of_disks, disks.order_words, needs_summary=False),
    Kind("equation-of-state", "Equation of state of hard disks", disks.draw_equation_of_state,
         words=lambda results, options: disks.pressure_words(results)),
]}


def catalogue(result: Result, user_style: str | None = None, **options: typing.Any) -> list[Picture]:
    """What can be drawn of one result, read with gpumc.read(), as a list of Pictures (kind, title, caption, make). Of a file that
    is being written (OUTPUT.partial) those that need no summary, as far as the run is. `options` are those of Options;
    `user_style` a style of Matplotlib or a style sheet."""
    chosen = view.Options(**{"exact": False, **options})
    pictures = []
    for kind in KINDS.values():
        if kind.needs_summary and not result.is_complete:
            continue
        if is_drawable(kind, result):
            pictures.append(Picture(kind.name, kind.title, kind.caption(result), maker(kind, [result], chosen, user_style)))
    return pictures


def is_drawable(kind, result):
    try:
        return kind.applies(result)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):  # a file that another program has changed
        return False


def maker(kind, results, options, user_style):
    def make():
        with style.used(user_style):
            figure = kind.draw(by_size(results), options)
            view.zoom_all(figure, options)
            return figure
    return make


def by_size(results):
    """In the order of the sizes of lattices, whatever that of the files; as they are given where sizes do not differ."""
    return sorted(results, key=lambda result: math.prod(result.config.get("model", {}).get("shape", ())))


def draw(kind: str, results: Result | typing.Sequence[Result], user_style: str | None = None, **options: typing.Any) -> Figure:
    """The Figure of this kind (a key of KINDS) of one result or several. Refusal if it cannot be drawn of these, with the reason."""
    if kind not in KINDS:
        raise Refusal(f"no kind of picture {kind!r}; choose from: {', '.join(KINDS)}")
    results = [results] if isinstance(results, Result) else list(results)
    for result in results:
        if KINDS[kind].needs_summary and not result.is_complete:
            raise NotYet(incomplete(result))
    return maker(KINDS[kind], results, view.Options(**options), user_style)()


def incomplete(result):
    ready = [picture.kind for picture in catalogue(result)]
    return (f"{result.path}: the run is not complete, and the curves are written at its end; 'gpumc info {result.path}' shows "
            "its progress" + (f"; --kind {' or '.join(ready)} draws what there is so far" if ready else ""))

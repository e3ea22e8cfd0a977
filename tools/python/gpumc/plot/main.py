"""Draw results of gpumc for talks and papers: averages with error bars, crossings, time series, families, densities of states,
configurations. Several files, or a configuration for all its results, overlay in one picture."""
import argparse
import os
import sys
import time

from .. import files, hard_disks
from ..analysis import transition
from . import kinds, sources, style
from .axes import Options
from .refusal import NotYet, Refusal

EPILOG = """\
examples:
  %(prog)s results/ising2d-first.h5 --exact
  %(prog)s results/ising2d-first.h5 --quantities specific_heat --x T --zoom 2.2,2.4 -o C.pdf
  %(prog)s configs/ising2d/pa-campaign.yaml --quantities energy,specific_heat
  %(prog)s --transition results/spin-glass/*.h5 -o crossing.svg
  %(prog)s results/long.h5 --watch 10

Each kind of pictures is shown in docs/pictures.md."""
REFUSED = (Refusal, files.ResultError, transition.NotComparable, hard_disks.NotDisks)
SHORT = {"transition": "one file for each size: Binder parameter and correlation length over L against the temperature, and where "
                       "neighbouring sizes cross",
         "helicity": "square XY models, one file for each size: helicity modulus against the temperature, the line 2 T/pi, and "
                     "where the Kosterlitz-Thouless transition is",
         "slowing-down": "canonical runs at one temperature, one file for each size and move: autocorrelation times over L, and their "
                         "dynamic exponents",
         "equation-of-state": "hard disks, one file for each packing fraction and number: the pressure, beside that of the largest "
                              "systems of Anderson et al. (2013)",
         "bond-order": "hard disks with `configurations`: the last one of each file, replica 0, coloured by the phase of psi_6 of "
                       "each disk"}


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit code: 0 if the picture was written."""
    parser = make_parser()
    chosen = parser.parse_args(arguments)
    try:
        if chosen.list:
            return show_list(chosen)
        if chosen.watch is not None:
            return watch(chosen)
        words = make(chosen, sources.load(chosen.results, say))
    except REFUSED as refusal:
        say(refusal)
        return 1
    if words:
        print(words)
    print(output_of(chosen))
    return 0


def say(text):
    print(files.printable(f"plot: {text}"), file=sys.stderr)


def make(chosen, results):
    """Draws and writes the picture; returns what is printed with it."""
    kind = kind_of(chosen, results)
    with style.used(chosen.style):
        figure = kinds.draw(kind, results, chosen.style, **options_of(chosen, kind))
        style.save(figure, output_of(chosen), chosen.dpi)
    words = kinds.KINDS[kind].words
    return words(results, Options(**options_of(chosen, kind))) if words else ""


def kind_of(chosen, results):
    """The kind that was asked for; without, the summary, and of a running file the first that there is."""
    if chosen.kind:
        return chosen.kind
    if len(results) == 1 and not results[0].is_complete and chosen.watch is not None:
        ready = [picture.kind for picture in kinds.catalogue(results[0])]
        if not ready:
            raise NotYet(f"{results[0].path}: nothing to draw yet")
        preferred = [kind for kind in ("families", "iterations", "tempering", "series") if kind in ready]
        return (preferred or ready)[0]
    return "summary"


def options_of(chosen, kind):
    names = ("x", "log_x", "log_y", "xlim", "ylim", "zoom", "quantities", "exact", "temperature", "sweep", "replica", "title",
             "size")
    options = {name: getattr(chosen, name) for name in names}
    return {**options, "replica": options["replica"] or 0}


def output_of(chosen):
    """-o, else the first file with .png in place of its suffix."""
    return chosen.output or os.path.splitext(chosen.results[0].removesuffix(".partial"))[0] + ".png"


def show_list(chosen):
    for result in sources.load(chosen.results, say):
        print(files.printable(result.path))
        for picture in kinds.catalogue(result):
            print(f"  --kind {picture.kind:<20} {picture.title}: {picture.caption}")
    return 0


def watch(chosen):
    """Draws again every so many seconds, until all files are finished or Ctrl-C."""
    said = set()
    try:
        while True:
            finished = False
            try:
                results = sources.load(chosen.results)
                finished = all(result.is_complete for result in results)
                make(chosen, results)
                told = output_of(chosen)
            except NotYet as reason:
                told = f"{reason}; waiting"
            if told not in said:
                print(told, flush=True)
                said.add(told)
            if finished:
                return 0
            time.sleep(chosen.watch)
    except KeyboardInterrupt:
        return 0


# --- the command line ---------------------------------------------------------------------------------------

def make_parser():
    parser = argparse.ArgumentParser(prog=os.environ.get("GPUMC_PROG", "gpumc-plot"), description=__doc__, epilog=EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", metavar="RESULT.h5", help="result files, finished or running (OUTPUT.partial), "
                                                                        "or a configuration (.yaml) for all its results")
    parser.add_argument("-o", "--output", metavar="FILE",
                        help="picture to write, in the format of its suffix: png, svg, pdf and others (RESULT.png)")
    what = parser.add_argument_group("what is drawn")
    kind = what.add_mutually_exclusive_group()
    kind.add_argument("--kind", choices=list(kinds.KINDS), help="kind of picture (summary)")
    for name, text in SHORT.items():
        kind.add_argument(f"--{name}", dest="kind", action="store_const", const=name, help=text)
    what.add_argument("--list", action="store_true", help="list the kinds of pictures available for each file, and draw none")
    what.add_argument("--quantities", metavar="NAME,...", type=lambda text: text.split(","),
                      help="what to draw (the curves of the summary, and others that have errors)")
    what.add_argument("--exact", action="store_true",
                      help="ising2d without a field: add the exact curves of the finite lattice, its density of states where it "
                           "has up to 32 x 32 sites, and the deviations from them in error bars")
    what.add_argument("--temperature", metavar="K", type=int, help="for time series and configurations: the temperature with "
                                                                   "this number, 0 for the hottest")
    what.add_argument("--sweep", metavar="N", type=int, help="configurations at this time (the last)")
    what.add_argument("--replica", metavar="R", type=int, help="configurations and series of this replica or sample (0)")
    add_axes(parser.add_argument_group("axes"))
    look = parser.add_argument_group("look")
    look.add_argument("--style", metavar="STYLE", help="a style of Matplotlib by name, or the path of a style sheet (.mplstyle), on "
                      "top of gpumc's own")
    look.add_argument("--title", metavar="TEXT", help="title in place of that of the configuration; '' for none")
    look.add_argument("--size", metavar="W,H", type=numbers(2), help="size of the picture in inches")
    look.add_argument("--dpi", metavar="N", type=float, help="pixels per inch (150)")
    parser.add_argument("--watch", metavar="SECONDS", type=positive, help="draw again at this interval until the runs are finished")
    return parser


def add_axes(group):
    group.add_argument("--x", choices=["beta", "T"], help="inverse temperatures or temperatures on the horizontal axis")
    group.add_argument("--log-x", action="store_true", help="a logarithmic horizontal axis")
    group.add_argument("--log-y", action="store_true", help="a logarithmic vertical axis")
    group.add_argument("--xlim", metavar="LOW,HIGH", type=limits, help="ends of the horizontal axis; either may be left out: 0.4,")
    group.add_argument("--ylim", metavar="LOW,HIGH", type=limits, help="ends of the vertical axis")
    group.add_argument("--zoom", metavar="X0,X1[,Y0,Y1]", type=numbers(2, 4), help="enlarge this part in a corner of each panel")


def numbers(*counts):
    def read(text):
        try:
            values = tuple(float(part) for part in text.split(","))
        except ValueError:
            values = ()
        if len(values) not in counts or any(value != value for value in values):
            raise argparse.ArgumentTypeError(f"{text!r} is not {' or '.join(map(str, counts))} numbers separated by commas")
        return values
    return read


def limits(text):
    try:
        low, high = (float(part) if part.strip() else None for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not LOW,HIGH, of which either may be left out") from None
    if None not in (low, high) and not low < high:
        raise argparse.ArgumentTypeError(f"{text!r}: the first must be the smaller one")
    return low, high


def positive(text):
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return value


if __name__ == "__main__":
    sys.exit(main())

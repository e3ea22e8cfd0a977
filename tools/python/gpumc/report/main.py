"""One self-contained HTML page about results of gpumc: what ran, whether it is trusted and why, pictures, tables, provenance and
works to cite. It can be sent by mail, read on a phone and printed."""
from __future__ import annotations

import argparse
import io
import os
import sys
import time
import typing

import numpy

from .. import files, reader, written
from ..version import __version__
from . import content, page, trust

PANEL = 4.2, 3.1  # inches


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit code: 0 if the page was written."""
    parser = argparse.ArgumentParser(prog=os.environ.get("GPUMC_PROG", "gpumc-report"), description=__doc__)
    parser.add_argument("results", nargs="+", metavar="RESULT.h5", help="result files, finished or running (OUTPUT.partial), "
                                                                        "or a configuration (.yaml) for all its results")
    parser.add_argument("-o", "--output", metavar="FILE", help="page to write (RESULT.html beside the first one)")
    parser.add_argument("--title", help="title of the page")
    parser.add_argument("--style", metavar="STYLE", help="style of Matplotlib for the pictures, by name or path")
    parser.add_argument("--no-figures", action="store_true", help="leave pictures out")
    options = parser.parse_args(arguments)
    try:
        results = load(options.results)
        output = options.output or page_beside(options.results[0])
        write(results, output, title=options.title, style=options.style, figures=not options.no_figures)
    except (files.ResultError, refusal()) as reason:
        return say(reason)
    except OSError as reason:
        return say(f"{reason.filename or output}: {reason.strerror}")
    print(output)
    return 0


def say(text):
    print(files.printable(f"report: {text}"), file=sys.stderr)
    return 1


def page_beside(path):
    for suffix in (".partial", ".h5", ".yaml", ".yml"):
        path = path.removesuffix(suffix)
    return path + ".html"


def write(results: typing.Iterable[reader.Result | str | os.PathLike[str]], output: str | os.PathLike[str], title: str | None = None,
          style: typing.Any = None, figures: bool = True) -> None:
    """Writes the page of these results (from gpumc.read(), or paths) to `output`.

    The page stands at its name when it is whole. Raises ResultError for a file that is none, OSError where it cannot be written
    (gpumc.written.Taken where another file has its name).
    """
    written.check(output, is_page)
    results = [result if isinstance(result, reader.Result) else reader.read(result) for result in results]
    text = document(results, title, style, figures)
    with written.whole(output, is_page) as unfinished, open(unfinished, "w", encoding="utf-8") as file:
        file.write(text)


def is_page(content):
    """Whether the contents of a file are a page of this program."""
    begin = content[:1024].decode(errors="replace")
    return begin.startswith(page.START) and page.GENERATOR in begin


def load(paths):
    from ..plot import sources
    return sources.load(paths, lambda text: None)


def refusal():
    from ..plot.refusal import Refusal
    return Refusal


# --- the page -------------------------------------------------------------------------------------------------

def document(results, title, style, figures):
    title = title or next((result.title for result in results if result.title), "") or os.path.basename(results[0].path)
    names = names_of(results)
    draw = Figures(style) if figures else None
    parts = [f"<h1>{page.prose(title)}</h1>"]
    if len(results) > 1:
        parts += [overview(results, names), together(results, draw)]
    for number, (result, name) in enumerate(zip(results, names), 1):
        parts.append(one(result, number, name if len(results) > 1 else None, draw))
    works = content.works(results)
    parts += ["<h2 id=\"works\">Please cite</h2>", works] if works else []
    foot = f"Made by gpumc-report {page.text(__version__)} on {time.strftime('%Y-%m-%d')}."
    return page.document(title, "\n".join(filter(None, parts)), foot)


def names_of(results):
    """A short name of each: what its file is called, with its folder where files of one name differ in it."""
    short = [os.path.basename(result.path).removesuffix(".partial").removesuffix(".h5") for result in results]
    return short if len(set(short)) == len(short) else [result.path for result in results]


def overview(results, names):
    """A table of all results, linked to their parts."""
    rows = []
    for number, (result, name) in enumerate(zip(results, names), 1):
        kind, headline, _ = trust.verdict(result)
        rows.append((f'<a href="#result-{number}">{page.text(name)}</a>', page.text(sides(result)),
                     f'<span class="{kind}"><b>{headline}</b></span>', page.text(content.time(result.provenance.get("seconds", 0)))))
    verdicts = [trust.verdict(result)[0] for result in results]
    words = f"{len(results)} results: {verdicts.count('good')} trusted" + "".join(
        f", {verdicts.count(kind)} {what}" for kind, what in (("bad", "not trusted"), ("open", "open")) if verdicts.count(kind))
    return f"<p>{words}.</p>" + page.table("Results", ["result", "system", "verdict", "time"], rows)


def sides(result):
    model = result.config.get("model", {})
    return "x".join(map(str, model["shape"])) if "shape" in model else f"{model.get('particles') or numpy.prod(model.get('lattice', [0]))} disks"


def together(results, draw):
    """Pictures of all results at once, as far as they can be drawn together."""
    if draw is None:
        return ""
    found = [draw.of_all(results, kind) for kind in ("transition", "helicity", "equation-of-state", "summary")]
    found = list(filter(None, found))
    return "<h2 id=\"together\">All results together</h2>" + "".join(found) if found else ""


def one(result, number, name, draw):
    level = "h3" if name else "h2"
    parts = [f'<h2 id="result-{number}">{page.text(name)}</h2>'] if name else []
    parts += [content.is_it_trusted(result), f"<{level}>What ran</{level}>", content.what_ran(result)]
    pictures = draw.of_one(result) if draw else ""
    parts += [f"<{level}>Pictures</{level}>", pictures] if pictures else []
    tables = content.numbers(result) if result.is_complete else ""
    parts += [f"<{level}>Numbers</{level}>", tables] if tables else []
    parts += [page.folded("Provenance", content.provenance(result)) if name else
              f"<{level}>Provenance</{level}>" + content.provenance(result)]
    return "\n".join(parts)


class Figures:
    """Draws pictures and counts them."""

    def __init__(self, style):
        self.style, self.count = style, 0

    def of_one(self, result):
        from .. import plot
        parts = []
        for picture in plot.catalogue(result, user_style=self.style, title=""):
            try:
                panels = self.panels(result) if picture.kind == "summary" else [(drawn(picture.make), picture.title)]
            except (refusal(), files.ResultError) as reason:  # nothing of this kind yet
                parts.append(f'<p class="soft">{page.text(picture.title)}: {page.text(str(reason).removeprefix(result.path + ": "))}.</p>')
            else:
                parts.append(self.figure(panels, picture.title, picture.caption))
        return "".join(parts)

    def panels(self, result):
        """The averages, a picture for each."""
        from .. import plot
        from ..plot import curves
        return [(drawn(lambda name=name: plot.draw("summary", [result], self.style, quantities=[name], size=PANEL, title="")), name)
                for name in sorted(curves.curves(result), key=content.place) if name not in content.BOOKKEEPING]

    def of_all(self, results, kind):
        """The picture of this kind, or nothing where these results make none."""
        from .. import plot
        from ..analysis import transition
        from ..hard_disks import NotDisks
        try:
            svg = drawn(lambda: plot.draw(kind, results, self.style, title=""))
        except (refusal(), transition.NotComparable, NotDisks, files.ResultError):
            return ""
        title = plot.KINDS[kind].title
        return self.figure([(svg, title)], title, "One curve for each result." if kind == "summary" else "")

    def figure(self, panels, title, caption):
        self.count += 1
        return page.figure(self.count, panels, title, caption)


def drawn(make):
    """The SVG of a figure."""
    import matplotlib.pyplot as plt

    figure, out = make(), io.BytesIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    plt.close(figure)
    return out.getvalue()

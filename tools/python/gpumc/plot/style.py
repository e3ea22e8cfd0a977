"""How pictures look: colours, points with errors, legends that hide nothing, and files that are the same at every drawing.

Figures are made without pyplot, so that drawing them changes nothing in a notebook or another program.
"""
from __future__ import annotations

import contextlib
import os
import typing

import numpy as np

from .. import written
from .refusal import Refusal

if typing.TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours, in an order in which neighbours differ in lightness, without the yellow that a projector loses
# (M. Okabe, K. Ito, Color Universal Design, 2008). tests/cli/test_pictures.py looks at them with the eyes of the colour-blind.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
MADE_BY = "Drawn by gpumc-plot"  # in the metadata of each picture
EXACT_COLOUR = "0.15"
GUIDE_COLOUR = "0.45"
SHADE = "0.92"
BASE = {"font.size": 9, "axes.grid": True, "grid.color": "0.92", "grid.linewidth": 0.6, "axes.spines.top": False,
        "axes.spines.right": False, "axes.axisbelow": True, "axes.edgecolor": "0.3", "axes.linewidth": 0.7,
        "xtick.color": "0.3", "ytick.color": "0.3", "xtick.labelcolor": "0.1", "ytick.labelcolor": "0.1",
        "legend.frameon": False, "legend.fontsize": 8, "legend.handlelength": 1.6, "figure.dpi": 150, "savefig.dpi": 150,
        "axes.titlesize": 9.5, "axes.titlelocation": "left", "axes.formatter.useoffset": False,
        "axes.formatter.use_mathtext": True, "axes.formatter.limits": (-5, 7), "figure.titlesize": 11.5,
        "svg.hashsalt": "gpumc", "svg.fonttype": "path", "pdf.fonttype": 42, "mathtext.fontset": "dejavusans"}
POINT_SIZES = {60: (3.4, 0.5), 200: (2.6, 0.4), np.inf: (1.8, 0.0)}  # of up to so many points: size of marker and width of its edge
LEGEND_PLACES = ["upper right", "upper left", "lower right", "lower left", "center right", "center left", "upper center",
                 "lower center"]


@contextlib.contextmanager
def used(style: str | os.PathLike | None = None) -> typing.Iterator[None]:
    """Within the block figures are drawn in gpumc's style, with `style` on top: the name of a style of Matplotlib, or the path of
    a style sheet (.mplstyle). Refusal where there is none."""
    import matplotlib
    import matplotlib.style
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(settings())
        if style:
            try:
                matplotlib.style.use(os.fspath(style))
            except (OSError, ValueError) as reason:
                raise Refusal(f"no style {style!r}: neither a style of Matplotlib nor a file that holds one "
                              f"({str(reason).splitlines()[0]})") from None
        yield


def settings():
    """gpumc's style as settings of Matplotlib (rcParams)."""
    import matplotlib
    return {**BASE, "axes.prop_cycle": matplotlib.cycler(color=COLOURS)}


def figure(width, height, title=""):
    """An empty figure of this size in inches, with room kept for labels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    made = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(made)
    made.get_layout_engine().set(w_pad=0.06, h_pad=0.06)
    if title:
        made.suptitle(title)
    return made


def save(made: Figure, path: str | os.PathLike, dpi: float | None = None) -> None:
    """Writes the figure, its kind by the suffix: PNG, SVG, PDF and what else Matplotlib has. The same figure makes the same
    bytes. Written beside the name and renamed, so that a viewer that watches the file never sees half of it. A file of that name
    is replaced if it is a picture that this function wrote, which PNG, SVG, PDF and PostScript say."""
    suffix = os.path.splitext(path)[1].lower().lstrip(".") or "png"
    metadata = {"svg": {"Date": None, "Creator": MADE_BY}, "pdf": {"CreationDate": None, "Creator": MADE_BY}, "png": {"Software": MADE_BY},
                "ps": {"Creator": MADE_BY}, "eps": {"Creator": MADE_BY}}.get(suffix)
    try:
        with written.whole(path, is_picture) as unfinished:
            made.savefig(unfinished, format=suffix, metadata=metadata, dpi=dpi)
    except OSError as reason:
        raise Refusal(f"{path}: {reason.strerror}") from None
    except ValueError as reason:
        raise Refusal(f"{path}: {reason}") from None


def check(path):
    """Refuses a name that another file has, before a picture is drawn."""
    try:
        written.check(path, is_picture)
    except OSError as reason:
        raise Refusal(f"{path}: {reason.strerror}") from None


def is_picture(content):
    """Whether the contents of a file are a picture that save() wrote."""
    return MADE_BY.encode() in content


# --- colours ----------------------------------------------------------------------------------------

def colours(count):
    """So many colours: those of the style; of more curves than it has, from dark to light, which every eye and every printer
    keeps in order."""
    import matplotlib
    cycle = matplotlib.rcParams["axes.prop_cycle"].by_key().get("color", COLOURS)
    return list(cycle[:count]) if count <= len(cycle) else ordered(count)


def ordered(count):
    """So many colours for values that have an order, such as temperatures: from blue over green to a yellow that paper shows."""
    import matplotlib
    return [tuple(matplotlib.colormaps["viridis"](x)[:3]) for x in np.linspace(0.0, 0.88, max(count, 1))]


def tint(colour, share=0.65):
    """`colour` with so much white."""
    from matplotlib.colors import to_rgb
    return tuple((1 - share) * np.array(to_rgb(colour)) + share)


def wheel(angle):
    """RGB of an angle in turns, on a wheel without ends of about the same saturation: a circle in the space CIE L*a*b*, tilted so that
    opposite directions differ in lightness, too, which the colour-blind and printers keep."""
    turn = 2 * np.pi * np.asarray(angle, dtype=float)
    lightness = 66 + 14 * np.cos(turn - 1.9)
    f_y = (lightness + 16) / 116
    f = np.stack([f_y + 48 * np.cos(turn + 0.5) / 500, f_y, f_y - 48 * np.sin(turn + 0.5) / 200], -1)
    xyz = np.where(f > 6 / 29, f ** 3, 3 * (6 / 29) ** 2 * (f - 4 / 29)) * np.array([0.9505, 1.0, 1.0890])
    linear = xyz @ np.array([[3.2406, -0.9689, 0.0557], [-1.5372, 1.8758, -0.2040], [-0.4986, 0.0415, 1.0570]])
    linear = np.clip(linear, 0, 1)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def wheel_map():
    """wheel() as a colour map of Matplotlib."""
    from matplotlib.colors import ListedColormap
    return ListedColormap(wheel(np.linspace(0, 1, 256, endpoint=False)), "wheel")


# --- points and curves ------------------------------------------------------------------------------

def points(axes, x, y, error=None, colour=None, label=None, marker="o", joined=False):
    """Values with their errors. The bars are drawn over light markers, so that one shorter than its marker is seen, too; an
    unknown error (NaN) has none."""
    x, y = np.atleast_1d(x), np.atleast_1d(y)
    size, edge = next(look for most, look in POINT_SIZES.items() if len(x) <= most)
    colour = colour or colours(1)[0]
    bars = None if error is None else np.where(np.isfinite(error), error, 0)
    return axes.errorbar(x, y, yerr=bars, fmt=marker + ("-" if joined else ""), color=colour, ecolor=colour, label=label,
                         markersize=size, markerfacecolor=tint(colour, 0.65 if edge else 0.35), markeredgecolor=tint(colour, 0.25),
                         markeredgewidth=edge, elinewidth=1.0, linewidth=0.9, barsabove=True, zorder=2)


def curve(axes, x, y, error=None, colour=None, label=None, **more):
    """A line above all points, with a band of its error."""
    more = {"linewidth": 1.3, "zorder": 3, **more}
    line, = axes.plot(x, y, color=colour, label=label, **more)
    if error is not None:
        axes.fill_between(x, y - error, y + error, color=line.get_color(), alpha=0.25, linewidth=0, zorder=more["zorder"] - 0.1)
    return line


def guide(axes, value, text="", along="x", colour=GUIDE_COLOUR, where=0.99, flip=False):
    """A dashed line at a value with what it says, such as a threshold: across the axes, or upright with along="y", the text to its
    left with `flip`."""
    line = axes.axhline if along == "x" else axes.axvline
    line(value, color=colour, linestyle=(0, (4, 3)), linewidth=0.9, zorder=1.5)
    if text and along == "x":
        said = axes.annotate(text, (where, value), xycoords=("axes fraction", "data"), xytext=(0, 2), textcoords="offset points",
                             ha="right" if where > 0.5 else "left", va="bottom", fontsize=7.5, color=colour)
        said.set(annotation_clip=True, in_layout=False)
    elif text:
        axes.annotate(text, (value, where), xycoords=("data", "axes fraction"), xytext=(-3 if flip else 3, 0),
                      textcoords="offset points", ha="right" if flip else "left", va="top", fontsize=7.5, color=colour)


# --- legends ----------------------------------------------------------------------------------------

def legend(axes, handles=None, labels=None, outside=False, **more):
    """A legend in a corner where nothing lies, or to the right of the axes where there is no such corner."""
    if handles is None:
        handles, labels = entries(axes)
    if not handles:
        return None
    chosen = None if outside else free_place(axes, handles, labels, **more)
    if chosen is None:
        return beside(axes, handles, labels, **{**more, "ncol": 1})
    made = axes.legend(handles, labels, loc=chosen, **more)
    made.set_in_layout(False)
    return made


def beside(axes, handles, labels, **more):
    """A legend at the right edge of the figure, as high as the axes; the figure grows by its width, and panels keep theirs."""
    from matplotlib.transforms import blended_transform_factory
    figure = axes.figure
    width = getattr(figure, "panels_width", figure.get_figwidth())
    figure.panels_width = width
    made = axes.legend(handles, labels, loc="upper left", bbox_to_anchor=(width, 1.0), borderaxespad=0.0,
                       bbox_transform=blended_transform_factory(figure.dpi_scale_trans, axes.transAxes), **more)
    made.set_in_layout(False)
    figure.draw_without_rendering()
    for other in getattr(figure, "legends_beside", []):  # of another panel of the row: one below the other
        if made.get_window_extent().overlaps(other.get_window_extent()):
            below = axes.transAxes.inverted().transform((0, other.get_window_extent().y0 - 6))[1]
            made.set_bbox_to_anchor((width, below), blended_transform_factory(figure.dpi_scale_trans, axes.transAxes))
            figure.draw_without_rendering()
    figure.legends_beside = [*getattr(figure, "legends_beside", []), made]
    whole = max(figure.get_figwidth(), width + made.get_window_extent().width / figure.dpi + 0.1)
    figure.set_figwidth(whole)
    figure.get_layout_engine().set(rect=(0, 0, width / whole, 1))
    return made


def entries(axes):
    """Handles and labels of the legend, points before curves, what is exact last."""
    pairs = sorted(zip(*axes.get_legend_handles_labels()), key=lambda pair: (pair[1] == "exact", not hasattr(pair[0], "has_yerr")))
    return [handle for handle, _ in pairs], [label for _, label in pairs]


def free_place(axes, handles, labels, **more):
    """The first of LEGEND_PLACES at which such a legend covers no data; None if there is none."""
    made = axes.legend(handles, labels, loc="upper right", **more)
    made.set_in_layout(False)
    axes.figure.draw_without_rendering()
    box, frame = made.get_window_extent(), axes.get_window_extent()
    made.remove()
    pad = 6 * axes.figure.dpi / 100
    occupied = occupied_places(axes)
    for name in LEGEND_PLACES:
        x0, y0 = corner(name, frame, box.width, box.height, pad)
        if box.width > 0.8 * frame.width or box.height > 0.8 * frame.height:
            return None
        near = ((occupied[:, 0] > x0 - pad / 2) & (occupied[:, 0] < x0 + box.width + pad / 2) &
                (occupied[:, 1] > y0 - pad / 2) & (occupied[:, 1] < y0 + box.height + pad / 2))
        if not near.any():
            return name
    return None


def corner(name, frame, width, height, pad):
    """The lower left corner of a box of this size at a place of `frame`, in pixels."""
    x = (frame.x0 + pad if "left" in name else frame.x1 - pad - width if "right" in name else
         (frame.x0 + frame.x1 - width) / 2)
    y = (frame.y0 + pad if "lower" in name else frame.y1 - pad - height if "upper" in name else
         (frame.y0 + frame.y1 - height) / 2)
    return x, y


def occupied_places(axes):
    """Pixels through which lines, error bars, bands and texts of the axes pass, [n, 2]."""
    found = [np.empty((0, 2))]
    for line in axes.get_lines():
        path = np.column_stack([np.ravel(np.ma.filled(np.ma.asarray(part, dtype=float), np.nan))
                                for part in line.get_data()])
        found.append(dense(line.get_transform().transform(path), line.get_linestyle() not in ("None", "none", "", " ")))
    for collection in axes.collections:
        offsets = collection.get_offset_transform().transform(np.ma.filled(np.ma.asarray(collection.get_offsets(), float),
                                                                          np.nan).reshape(-1, 2))
        if collection.get_paths() and len(offsets) <= 1:
            for path in collection.get_paths():
                found.append(dense(collection.get_transform().transform(path.vertices), True))
        else:
            found.append(offsets)
    for patch in axes.patches:
        found.append(dense(patch.get_transform().transform(patch.get_path().vertices), True))
    for text in [*axes.texts, *([axes.get_legend()] if axes.get_legend() else [])]:
        box = text.get_window_extent()
        found.append(np.array([[x, y] for x in np.arange(box.x0, box.x1, 4.0)
                               for y in np.arange(box.y0, box.y1, 4.0)]))
    return np.concatenate([places[np.isfinite(places).all(axis=1)] for places in found])


def dense(places, joined, step=4.0):
    """With places between neighbours, no farther apart than `step` pixels."""
    if not joined or len(places) < 2:
        return places
    places = np.clip(places, -1e5, 1e5)
    pieces = [places]
    for one, other in zip(places, places[1:]):
        if np.isfinite(one).all() and np.isfinite(other).all():
            count = int(min(np.hypot(*(other - one)) // step, 500))
            pieces.append(one + (other - one) * np.linspace(0, 1, count + 2)[:, None])
    return np.concatenate(pieces)

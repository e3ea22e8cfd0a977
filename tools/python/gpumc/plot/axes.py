"""What a user chooses of a picture's axes: beta or T, logarithms, limits, and a part that is shown larger."""
from __future__ import annotations

import dataclasses

import numpy as np
from matplotlib.ticker import LogFormatter

from ..reader import Label
from . import labels, style
from .refusal import Refusal

T_RANGE = 5.0  # without limits, temperatures up to so many times the lowest are drawn: those near beta = 0 run to infinity
ROOM = 0.05  # of the height, above and below curves
MAIN = "main"  # label of axes that finish() has ended, whose horizontal axis is the one that the options speak of
INSET = 0.4, 0.42  # width and height of the part that is shown larger, of its panel


@dataclasses.dataclass(frozen=True)
class Options:
    """Choices that all kinds of pictures share; each takes those that mean something to it.

    x: "beta" or "T", None as the kind draws by itself. xlim, ylim: (low, high), each a number or None. zoom: (x0, x1) or
    (x0, x1, y0, y1), drawn larger in a corner. quantities: names, None for all. exact: beside exact curves. temperature: index
    in the file, 0 the hottest, sweep and replica: which configuration, or series. title: in place of the file's.
    size: of the whole picture in inches.
    """
    x: str | None = None
    log_x: bool = False
    log_y: bool = False
    xlim: tuple | None = None
    ylim: tuple | None = None
    zoom: tuple | None = None
    quantities: list | None = None
    exact: bool = False
    temperature: int | None = None
    sweep: int | None = None
    replica: int = 0
    title: str | None = None
    size: tuple | None = None


def figure(options, results, width, height):
    """An empty figure for results, of this size unless the options have another."""
    title = labels.title_of(results) if options.title is None else labels.drawable(options.title)
    return style.figure(*(options.size or (width, height)), title)


# --- the horizontal axis ------------------------------------------------------------------------------

def is_beta(name):
    return name.rsplit("/")[-1] == "beta"


def moved(result):
    """Name of the control that is moved, the axis of the summary: "beta" as a rule, "h" or "beta_pressure" with `control`."""
    return result.config.get("algorithm", {}).get("control", {}).get("name", "beta")


def is_level(name):
    """Whether an axis is that of a density of states: levels, or bins of values."""
    own = name.rsplit("/")[-1]
    return own.startswith("level_") or own.endswith("_bin")


def level_values(result, level):
    """Where to draw what belongs to levels: bins are at the mean of their values, or in the middle where none was measured."""
    values, mean = result.summary[level], result.summary.get(level + "_mean")
    return values if mean is None else np.where(np.isfinite(mean), mean, values)


def over(values, name, options, otherwise="beta"):
    """Places on the horizontal axis of values of `name`: temperatures where those are asked for and the values are inverse ones,
    with NaN at beta = 0."""
    values = np.asarray(values, dtype=float)
    if not is_beta(name) or (options.x or otherwise) != "T":
        return values
    with np.errstate(divide="ignore"):
        return np.where(values > 0, 1 / np.where(values > 0, values, 1), np.nan)


def label_of(label, name, options, otherwise="beta"):
    """What the horizontal axis is called."""
    if not is_beta(name) or (options.x or otherwise) != "T":
        return labels.axis(label)
    own = {"1/J": "J", "1/energy": "energy", "": "", "1": ""}.get(label.units, f"1/({label.units})")
    return labels.axis(Label("temperature", own, "T", ()))


def is_temperature(name, options, otherwise="beta"):
    return is_beta(name) and (options.x or otherwise) == "T"


# --- the end of a panel -----------------------------------------------------------------------------

def finish(axes, options, temperature=False, main=True, height=None):
    """Logarithms and limits, once all is drawn. `main`: the horizontal axis is the one that the options speak of; `temperature`:
    it is T; `height`: vertical limits unless the options have some."""
    if main and options.log_x:
        axes.set_xscale("log")
        for formatter in (axes.xaxis.set_major_formatter, axes.xaxis.set_minor_formatter):
            formatter(PlainLog())
    if options.log_y and main:
        refuse_log(axes)
        if any(end is not None and end <= 0 for end in options.ylim or ()):
            raise Refusal("--log-y: an end of --ylim is not above 0")
        axes.set_yscale("log")
    axes.margins(x=0.02)
    if not main:
        return
    limits = list(options.xlim or (None, None))
    if temperature and options.xlim is None:
        limits = temperature_limits(axes)
    if limits != [None, None]:
        axes.set_xlim(*limits)
        if options.ylim is None:
            fit_height(axes)
    if options.ylim is not None or height is not None:
        axes.set_ylim(*(options.ylim or height))
    axes.set_label(MAIN)


class PlainLog(LogFormatter):
    """Numbers of a logarithmic axis as they are spoken, 0.5 and 2 rather than powers of ten, within 1/1000 to 10000."""

    def __call__(self, value, position=None):
        shown = super().__call__(value, position)
        return shown if shown == "" or not 1e-3 <= abs(value) < 1e5 else f"{value:g}"


def refuse_log(axes):
    values = [y for _, y in drawn(axes)]
    if values and not any((y > 0).any() for y in values):
        raise Refusal(f"--log-y: no value of {axes.get_title(loc='left') or axes.get_ylabel()!r} is above 0")


def temperature_limits(axes):
    known = np.concatenate([x[np.isfinite(x) & (x > 0)] for x, _ in drawn(axes)] or [np.empty(0)])
    if len(known) == 0 or known.max() <= T_RANGE * known.min():
        return [None, None]
    return [known.min() * (1 - 0.02 * (T_RANGE - 1)), known.min() * T_RANGE]


def drawn(axes):
    """(x, y) of all lines that are data, and of the ends of their error bars."""
    found = []
    for line in axes.get_lines():
        x, y = (np.ravel(np.ma.filled(np.ma.asarray(part, dtype=float), np.nan)) for part in line.get_data())
        if line.get_transform() is axes.transData and len(x) == len(y):  # others are guides across the axes
            found.append((x, y))
    for collection in axes.collections:
        for path in collection.get_paths():
            if len(path.vertices):
                found.append(tuple(path.vertices.T.astype(float)))
    return found


def fit_height(axes):
    """The vertical limits that hold what lies between the horizontal ones."""
    low, high = sorted(axes.get_xlim())
    inside = [y[(x >= low) & (x <= high) & np.isfinite(y)] for x, y in drawn(axes)]
    values = np.concatenate(inside or [np.empty(0)])
    if axes.get_yscale() == "log":
        values = values[values > 0]
    if len(values) == 0:
        return
    ends = np.array([values.min(), values.max()])
    if axes.get_yscale() == "log":
        axes.set_ylim(*(ends * (ends[1] / ends[0] or 1) ** np.array([-ROOM, ROOM])))
    elif ends[1] > ends[0]:
        axes.set_ylim(*(ends + np.ptp(ends) * np.array([-ROOM, ROOM])))


# --- a part, larger -----------------------------------------------------------------------------------

def zoom_all(figure, options):
    """The part options.zoom of all panels over the main axis, once everything else is drawn."""
    for axes in figure.axes if options.zoom is not None else []:
        if axes.get_label() == MAIN:
            zoom(axes, options.zoom)


def zoom(axes, window):
    """The part `window` of the axes, larger, in a corner where nothing lies, else right of the axes. Nothing if no data are there."""
    low, high = window[:2]
    if not any(((x >= low) & (x <= high) & np.isfinite(y)).any() for x, y in drawn(axes)):
        return None
    inset = axes.inset_axes(place_for_inset(axes))
    copy(axes, inset)
    inset.set_xlim(low, high)
    if len(window) == 4:
        inset.set_ylim(*window[2:])
    else:
        fit_height(inset)
    inset.tick_params(labelsize=7)
    inset.grid(False)
    for side in ("top", "right"):
        inset.spines[side].set_visible(True)
    axes.indicate_inset_zoom(inset, edgecolor="0.4", alpha=0.9)
    return inset


def place_for_inset(axes):
    """Bounds of an inset in the corner with the fewest data, in units of the axes."""
    axes.figure.draw_without_rendering()
    frame, occupied = axes.get_window_extent(), style.occupied_places(axes)
    width, height = INSET
    x = (occupied[:, 0] - frame.x0) / frame.width
    y = (occupied[:, 1] - frame.y0) / frame.height
    corners = [(left, bottom) for left in (0.98 - width, 0.1) for bottom in (0.97 - height, 0.1)]

    def covered(corner):
        left, bottom = corner
        return np.count_nonzero((x > left - 0.06) & (x < left + width) & (y > bottom - 0.06) & (y < bottom + height))

    best = min(corners, key=covered)
    return [*best, width, height]


def copy(axes, inset):
    """The lines, error bars and bands of `axes` once more."""
    from matplotlib.collections import LineCollection, PolyCollection
    for line in axes.get_lines():
        if line.get_transform() is axes.transData:
            inset.plot(*line.get_data(), color=line.get_color(), linestyle=line.get_linestyle(), linewidth=line.get_linewidth(),
                       marker=line.get_marker(), markersize=line.get_markersize(), zorder=line.get_zorder(),
                       markerfacecolor=line.get_markerfacecolor(), markeredgecolor=line.get_markeredgecolor(),
                       markeredgewidth=line.get_markeredgewidth())
    for collection in axes.collections:
        paths = [path.vertices for path in collection.get_paths() if len(path.vertices)]
        if not paths:
            continue
        kind = LineCollection if isinstance(collection, LineCollection) else PolyCollection
        inset.add_collection(kind(paths, edgecolors=collection.get_edgecolor(), facecolors=collection.get_facecolor(),
                                  linewidths=collection.get_linewidth(), zorder=collection.get_zorder()))
    inset.set_xscale(axes.get_xscale())
    inset.set_yscale(axes.get_yscale())

"""Configurations of spins: maps of Ising spins, XY and Heisenberg spins as colours, and a plane of three-dimensional lattices."""
import dataclasses
import json
import math

import numpy as np

from .. import decoded, files
from . import axes as view, labels, style
from .refusal import Refusal

MOST = 4  # configurations of a file in a picture
DOWN, UP = "#0072B2", "#F5EBDD"  # Ising spins -1 and +1


@dataclasses.dataclass(frozen=True)
class State:
    """A configuration: `spins` [(z,) y, x] of Ising spins, [(z,) y, x, components] of others; `control` is the value of beta, or of
    what else was moved, NaN without; `time` in sweeps, -1 of a population."""
    spins: np.ndarray
    control: float
    time: int


def applies(result):
    return "configurations" in result.config.get("algorithm", {}) and "shape" in result.config.get("model", {})


def draw(results, options=view.Options()):
    """Some temperatures of each file, a row for each file: options.temperature, .sweep and .replica choose; without, temperatures
    between the hottest and the coldest at the last time, replica 0."""
    found = [(result, states_of(result, options)) for result in results]
    columns = max(len(states) for _, states in found)
    tall = max(ratio(states[0].spins, is_vector(result)) for result, states in found)
    figure = view.figure(options, results, 2.6 * columns + 1.2, 2.75 * len(found) * min(tall, 2.5) + 0.5)
    grid = figure.subplots(len(found), columns, squeeze=False)
    names = labels.of_files(results) if len(results) > 1 else [labels.size_of(results[0])]
    for row, (result, states), name in zip(grid, found, names):
        for axes in row[len(states):]:
            axes.set_visible(False)
        for number, (axes, state) in enumerate(zip(row, states)):
            draw_state(axes, result, state, options)
            if number == 0:
                axes.set_ylabel(name)
    add_key(figure, grid, found[0][1][0].spins, found[0][0])
    return figure


def draw_state(axes, result, state, options):
    plane, of = middle_plane(state.spins, is_vector(result))
    axes.imshow(colours_of(plane, is_vector(result)), origin="lower", interpolation="nearest", aspect="equal")
    axes.set(xticks=[], yticks=[])
    axes.grid(False)
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(True)
    axes.set_title(title_of(result, state, options) + (f", $z = {of}$" if of is not None else ""), loc="left")


def title_of(result, state, options):
    name = view.moved(result)
    if not math.isfinite(state.control):
        return f"sweep {state.time}"
    if view.is_temperature(name, options):
        return f"$T = {1 / state.control:.4g}$" if state.control > 0 else r"$T = \infty$"
    label = result.labels.get(name)
    symbol = labels.symbol(label.symbol) if label else r"$\beta$" if name == "beta" else labels.drawable(name)
    return f"{symbol} = {state.control:.4g}"


def ratio(spins, vector):
    """Height over width of the plane that is shown."""
    rows, columns = middle_plane(spins, vector)[0].shape[:2]
    return max(rows / columns, 0.2)


def is_vector(result):
    return result.config["model"]["name"] == "heisenberg"


def middle_plane(spins, vector):
    """The plane z = Lz/2 of three dimensions and its number; two dimensions as they are; a chain as one row."""
    dimensions = spins.ndim - bool(vector)
    if dimensions == 3:
        return spins[len(spins) // 2], len(spins) // 2
    return (spins[None] if dimensions == 1 else spins), None


# --- colours --------------------------------------------------------------------------------------------

def colours_of(plane, vector):
    """RGB of each site."""
    from matplotlib.colors import to_rgb
    if not vector:
        return np.where((plane > 0)[..., None], np.array(to_rgb(UP)), np.array(to_rgb(DOWN)))
    if plane.shape[-1] > 3:
        raise Refusal("spins of more than three components have no colours")
    angle = np.arctan2(plane[..., 1], plane[..., 0]) / (2 * np.pi) % 1 if plane.shape[-1] > 1 else (plane[..., 0] < 0) / 2
    height = plane[..., 2] if plane.shape[-1] == 3 else np.zeros(angle.shape)
    return hue(angle, height)


def hue(angle, height):
    """The wheel of colours over `angle` in turns, dark towards a `height` of -1, light towards 1."""
    above, below = (0.9 * np.clip(part, 0, 1)[..., None] ** 2 for part in (height, -height))
    return (style.wheel(angle) * (1 - above) + above) * (1 - below)


def add_key(figure, grid, spins, result):
    """What the colours mean: a legend of two, or a wheel."""
    if not is_vector(result):
        from matplotlib.patches import Patch
        handles = [Patch(facecolor=UP, edgecolor="0.4", linewidth=0.6), Patch(facecolor=DOWN, edgecolor="0.4", linewidth=0.6)]
        last = grid[0, [axes.get_visible() for axes in grid[0]].count(True) - 1]
        style.legend(last, handles, ["+1", "–1"], outside=True)
        return
    last = grid[0, [axes.get_visible() for axes in grid[0]].count(True) - 1]
    wheel = last.inset_axes([1.08, 0.62, 0.34, 0.34])
    y, x = np.mgrid[-1:1:129j, -1:1:129j]
    radius = np.hypot(x, y)
    planar = spins.shape[-1] == 2
    height = np.zeros(x.shape) if planar else np.cos(np.pi * np.clip(radius, 0, 1))
    colours = hue(np.arctan2(y, x) / (2 * np.pi) % 1, height)
    seen = (radius <= 1) & ((radius >= 0.45) | (not planar))
    wheel.imshow(np.concatenate([colours, seen[..., None].astype(float)], -1), origin="lower", extent=(-1, 1, -1, 1))
    wheel.set_axis_off()
    wheel.annotate("direction in\nthe plane" if planar else "direction:\ncentre $+z$,\nrim $-z$", (0.5, -0.05), xycoords="axes fraction",
                   ha="center", va="top", fontsize=7.5)


# --- reading ----------------------------------------------------------------------------------------------

def states_of(result, options):
    """Some configurations of the file as States, from hot to cold; Refusal or ResultError where there are none."""
    if not applies(result):
        raise Refusal(f"{result.path}: no configurations of spins; request them with algorithm.configurations")
    with files.opened(result.path) as file, files.reading(result.path):
        if "configurations" not in file or len(file["configurations/configuration"]) == 0:
            raise files.ResultError(f"{result.path}: no configurations yet; gpumc merge leaves them in the files that it merges")
        group = file["configurations"]
        count = len(group["configuration"])
        columns = {name: group[name][:count] for name in group if name not in ("bytes", "configuration")}
        rows = chosen_rows(result, columns, options)
        config = json.loads(files.scalar_text(file, "config/resolved"))
        return [State(unpacked(group["bytes"][row], config), *place_of(result, columns, row)) for row in rows]


def chosen_rows(result, columns, options):
    """Rows of the file: of the last time, or that of options.sweep, and of the replica, at some temperatures, or one."""
    chosen = np.ones(len(next(iter(columns.values()))), bool)
    algorithm = result.config["algorithm"]["name"]
    if "sweep" in columns:
        times = np.unique(columns["sweep"])
        complete = times[-1] if result.is_complete or len(times) == 1 else times[-2]
        wanted = complete if options.sweep is None else options.sweep
        chosen &= columns["sweep"] == wanted
        if not chosen.any():
            raise Refusal(f"{result.path}: no configurations of sweep {wanted}; the file has those of "
                          + ", ".join(f"{time}" for time in times[:8]) + (", ..." if len(times) > 8 else ""))
    key = "sample" if algorithm == "pt" else "replica"
    replicas = np.unique(columns[key][chosen])
    if options.replica >= len(replicas):
        raise Refusal(f"{result.path}: no replica {options.replica}; replicas are numbered 0 to {len(replicas) - 1}")
    chosen &= columns[key] == replicas[options.replica]
    if "copy" in columns:
        chosen &= columns["copy"] == 0
    if algorithm == "pa":
        chosen &= columns["run"] == columns["run"][chosen][0]
    by = {"pa": "step", "pt": "temperature", "canonical": "run"}.get(algorithm)
    rows = np.flatnonzero(chosen)
    if by is None or by not in columns:
        return rows[-1:]
    rows = rows[np.argsort(columns[by][rows], kind="stable")]
    if options.temperature is not None:
        rows = rows[columns[by][rows] == options.temperature]
        if len(rows) == 0:
            raise Refusal(f"{result.path}: no configurations of temperature {options.temperature}; the file has those of "
                          + ", ".join(map(str, np.unique(columns[by][chosen])[:12])))
        return rows[:1]
    return rows[sorted(set(np.linspace(0, len(rows) - 1, min(len(rows), MOST)).astype(int)))]


def place_of(result, columns, row):
    """The control and the time of a row."""
    name = view.moved(result)
    time = int(columns["sweep"][row]) if "sweep" in columns else -1
    if name in columns:
        return float(columns[name][row]), time
    number = int(columns["temperature" if "temperature" in columns else "run"][row])
    from .tempering import temperatures
    values = temperatures(result)
    return (float(values[number]) if number < len(values) else math.nan), time


def unpacked(row, config):
    """A replica in portable form (docs/file-format.md) as an array [(z,) y, x], with the components of a spin last."""
    form = next((form for form in decoded.forms(config, len(row)) if form.name in ("spins", "vectors")), None)
    if form is None:
        raise Refusal(f"replicas of model {config['model']['name']} cannot be drawn")
    return form.decode(row[None])[0]

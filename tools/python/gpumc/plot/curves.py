"""The summary: a panel for each quantity over the control that was moved, with errors, reweighted curves and exact ones."""
import math

import numpy as np

from .. import ising2d_exact
from . import axes as view, labels, style
from .refusal import Refusal

# Drawn first and in this order where a file has them; the rest follows by name.
PREFERRED = ["energy", "specific_heat", "abs_magnetization", "magnetization2", "magnetization4",
             "binder_parameter", "beta_free_energy", "entropy", "log_dos"]
DENSITY_SITES = 32 * 32  # of lattices whose exact density of states takes no longer than a second or two
EXACT_PLACES = 400


# --- what to draw -----------------------------------------------------------------------------------

def curves(result):
    """Panel name -> dataset names: a quantity, and its reweighted twin from a group below."""
    found = {}
    for name in result.quantities():
        if result.summary[name].ndim == 1 and result.labels[name].axes != ("",):
            found.setdefault(panel_of(result, name), []).append(name)
    return found


def panel_of(result, name):
    """The name without its group, unless the summary has something else of that name, or the same over another axis."""
    own = name.rsplit("/")[-1]
    others = [own] if own in result.labels else [other for other in result.labels if other.rsplit("/")[-1] == own]
    twins = all(result.labels[other].long_name == result.labels[name].long_name and
                axis_of(result.labels[other]) == axis_of(result.labels[name]) for other in others)
    return own if twins else name


def axis_of(label):
    return label.axes[0].rsplit("/")[-1]


def is_drawn_unasked(result, names):
    """Flags, what groups below the summary have without errors, what was given and is the same everywhere, and the means of
    bins are drawn on request only."""
    return any(result.summary[name].dtype.kind == "f" and not is_flat(result, name) and not name.endswith("_bin_mean") and
               ("/" not in name or name + "_error" in result.summary) for name in names)


def is_flat(result, name):
    """One value everywhere, without an error that is known."""
    values, errors = result.summary[name], result.summary.get(name + "_error")
    return len(values) > 1 and (values == values[0]).all() and (errors is None or np.isnan(errors).all())


def choose_panels(results, wanted=None):
    """Names of the panels of results: those in `wanted`, or all that are drawn unasked. Refusal where there are none."""
    found = [curves(result) for result in results]
    everything = {name for panels in found for name in panels}
    unasked = {name for result, panels in zip(results, found) for name, names in panels.items()
               if is_drawn_unasked(result, names)}
    for result in results:
        if not curves(result):
            raise Refusal(without_curves(result))
    if wanted is None:
        unasked = unasked or everything
        return sorted(unasked, key=lambda name: (PREFERRED.index(name) if name in PREFERRED
                                              else len(PREFERRED), name))
    for name in wanted:
        if name not in everything:
            raise Refusal(f"{results[0].path}: no curve {name!r} in the summary; choose from: "
                          + ", ".join(sorted(everything)))
    return wanted


def without_curves(result):
    """What can be done with a result of single numbers."""
    text = f"{result.path}: the summary holds no curve, only single numbers, which 'gpumc info' prints"
    if result.config.get("model", {}).get("name") != "hard_disks":
        return text
    return text + ("; --equation-of-state draws pressures of several files against the packing fraction, --bond-order the last "
                   "configuration" + ("" if "configurations" in result.config["algorithm"] else
                                      ", of runs with algorithm.configurations"))


def exact_curves(result):
    """Quantity -> function of the array of inverse temperatures, or of energies. Refusal where nothing is known."""
    model = result.config.get("model", {})
    is_moved = "control" in result.config.get("algorithm", {})
    if model.get("name") != "ising2d" or model.get("h", 0.0) != 0.0 or is_moved:
        raise Refusal(f"{result.path}: --exact supports only ising2d with h = 0")
    rows, columns = model["shape"]
    if rows % 2 or columns % 2:
        raise Refusal(f"{result.path}: --exact needs even sides, not {rows} x {columns}")
    known = {}

    def at(betas):
        key = betas.tobytes()
        if key not in known:
            log_z, energy, heat = ising2d_exact.kaufman(rows, columns, betas, model.get("J", 1.0))
            known[key] = {"energy": energy, "specific_heat": heat, "beta_free_energy": -log_z,
                          "entropy": betas * energy + log_z}
        return known[key]

    found = {name: lambda betas, name=name: at(np.asarray(betas, dtype=float))[name]
             for name in ("energy", "specific_heat", "beta_free_energy", "entropy")}
    algorithm = result.config.get("algorithm", {})
    levels = [name for name in ("level_energy", "reweighted/level_energy") if name in result.summary]
    if levels and "bin" not in algorithm and rows * columns <= DENSITY_SITES:
        energies = result.summary[levels[0]]
        log_dos = ising2d_exact.log_density(rows, columns, energies / abs(model.get("J", 1.0)))
        if "range" in algorithm:  # weights of the levels add up to 1
            log_dos -= np.logaddexp.reduce(log_dos)
        found["log_dos"] = lambda where: np.interp(where, energies, log_dos)
    return found


def has_exact(result):
    try:
        return bool(exact_curves(result))
    except (Refusal, KeyError, ValueError):
        return False


# --- drawing ------------------------------------------------------------------------------------------

def draw(results, options=view.Options()):
    """The figure of one result or several, a panel for each of options.quantities or of all curves."""
    panels = choose_panels(results, options.quantities)
    exact = [exact_curves(result) for result in results] if options.exact else [{}] * len(results)
    columns = min(len(panels), 3 if len(panels) != 4 else 2)
    rows = math.ceil(len(panels) / columns)
    figure = view.figure(options, results, 3.7 * columns + 0.5, 2.9 * rows + 0.6)
    names = labels.of_files(results) if len(results) > 1 else [""]
    colours = style.colours(len(results))
    grid = figure.add_gridspec(rows, columns)
    drawn = []
    for position, name in enumerate(panels):
        with_exact = any(name in known for known in exact)
        cell = grid[divmod(position, columns)]
        parts = cell.subgridspec(2, 1, hspace=0.03, height_ratios=[3.2, 1]) if with_exact else [cell]
        upper = figure.add_subplot(parts[0])
        lower = figure.add_subplot(parts[1], sharex=upper) if with_exact else None
        drawn.append((upper, lower, name))
        for result, known, text, colour in zip(results, exact, names, colours):
            datasets = curves(result).get(name, [])
            for dataset in datasets:
                beside = None if dataset != name and len(datasets) > 1 else known.get(name)
                draw_curve(upper, lower, result, dataset, dataset != name, beside, colour, text, options)
    for upper, lower, name in drawn:
        finish_panel(upper, lower, results, name, options)
    add_legend(drawn, columns, options)
    return figure


def add_legend(drawn, columns, options):
    """One for all panels: in the first panel that has room, or right of the last of the first row, as beside larger parts."""
    handles = {}
    for upper, *_ in drawn:
        for handle, text in zip(*style.entries(upper)):
            handles.setdefault(text, handle)
    if len(handles) < 2:
        return
    whole = [upper for upper, *_ in drawn if len(upper.get_legend_handles_labels()[0]) == len(handles)]
    for upper in whole if options.zoom is None else []:
        if style.free_place(upper, list(handles.values()), list(handles)):
            style.legend(upper, list(handles.values()), list(handles))
            return
    last = drawn[min(columns, len(drawn)) - 1][0]
    style.legend(last, list(handles.values()), list(handles), outside=True)


def draw_curve(upper, lower, result, dataset, is_twin, exact, colour, text, options):
    """`is_twin`: beside the dataset that the panel is named after, as a line."""
    x_name = result.labels[dataset].axes[0]
    values, y = result.summary[x_name], result.summary[dataset]
    x = view.over(values, x_name, options)
    error = result.summary.get(dataset + "_error")
    entry = " ".join(part for part in (text, dataset.rsplit("/", 1)[0] if is_twin else "") if part)
    if is_twin:
        style.curve(upper, x, y, error, colour, entry)
    else:
        style.points(upper, x, y, error, colour, entry or "simulation")
    if not upper.get_xlabel() and not (lower and lower.get_xlabel()):
        describe(upper, lower, result, dataset, x_name, options)
    if exact is None:
        return
    if len(values):
        fine = np.linspace(values.min(), values.max(), EXACT_PLACES)
        upper.plot(view.over(fine, x_name, options), exact(fine), color=style.EXACT_COLOUR, linewidth=0.9, zorder=4,
                   label="exact")
    if error is not None:
        known = np.flatnonzero(error > 0)
        lower.plot(x[known], (y[known] - exact(values[known])) / error[known], ".", color=colour, markersize=2.5)


def describe(upper, lower, result, dataset, x_name, options):
    label = result.labels[dataset]
    upper.set_title(labels.heading(label), loc="left")
    upper.set_ylabel(labels.quantity(label))
    (lower or upper).set_xlabel(view.label_of(result.labels[x_name], x_name, options))


def finish_panel(upper, lower, results, name, options):
    """Limits, and the band of one error round 0 under a panel with exact curves."""
    over = {axis_of(result.labels[dataset]) for result in results for dataset in curves(result).get(name, [])}
    is_main = bool(over & {view.moved(result) for result in results}) or len(choose_axes(results)) == 1
    view.finish(upper, options, temperature=any(view.is_temperature(axis, options) for axis in over), main=is_main)
    if lower is None:
        return
    upper.tick_params(labelbottom=False)
    lower.axhspan(-1, 1, color=style.SHADE, linewidth=0)
    lower.axhline(0, color=style.EXACT_COLOUR, linewidth=0.8)
    limit = max(3.5, 1.1 * max((np.abs(line.get_ydata()).max() for line in lower.get_lines()
                                if len(line.get_ydata())), default=0))
    lower.set_ylim(-limit, limit)
    lower.set_ylabel("dev./err.", fontsize=7)


def choose_axes(results):
    """Names of the axes of all curves of results."""
    return {axis_of(result.labels[dataset]) for result in results for names in curves(result).values() for dataset in names}

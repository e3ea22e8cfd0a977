"""Profiles and distributions: quantities over an axis of their own, such as P(q) of a spin glass or g(r) of hard disks, at several
temperatures."""
import numpy as np

from . import axes as view, labels, style
from .refusal import Refusal

MOST = 6  # temperatures
UNASKED = ("overlap_distribution/probability", "pair_correlation", "bond_order_correlation", "structure_factor")


def names_of(result):
    """Quantities of two axes, the control and their own, or of their own axis alone where no control is moved."""
    found = []
    for name in result.quantities():
        label, values = result.labels[name], result.summary[name]
        own = label.axes[-1].rsplit("/")[-1] if label.axes else ""
        is_own = own not in ("", view.moved(result), "window", "beta") and not view.is_level(own)
        if is_own and (np.ndim(values) == 2 or (np.ndim(values) == 1 and name.rsplit("/")[-1] in UNASKED)) and len(values) > 0:
            found.append(name)
    return sorted(found, key=lambda name: (UNASKED.index(name) if name in UNASKED else len(UNASKED), name))


def applies(result):
    return bool(names_of(result))


def draw(results, options=view.Options()):
    """A panel for each profile and file; a curve for each of some temperatures, or for that of options.temperature."""
    for result in results:
        if not applies(result):
            raise Refusal(f"{result.path}: no profiles or distributions: pt of disordered models has those of overlaps, and "
                          "hard disks have those that are requested (pair_correlation)")
    parts = [(result, name) for result in results for name in names_of(result)
             if options.quantities is None or name in options.quantities]
    if not parts:
        raise Refusal(f"{results[0].path}: no such profile; choose from: {', '.join(names_of(results[0]))}")
    columns = min(len(parts), 3 if len(parts) != 4 else 2)
    rows = -(-len(parts) // columns)
    figure = view.figure(options, results, 4.0 * columns + 1.2, 3.2 * rows + 0.5)
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(parts):]:
        axes.set_visible(False)
    names = dict(zip(map(id, results), labels.of_files(results))) if len(results) > 1 else {}
    for axes, (result, name) in zip(grid.flat, parts):
        draw_profile(axes, result, name, names.get(id(result), ""), options)
    style.legend(grid[0, min(columns, len(parts)) - 1], outside=True)
    return figure


def draw_profile(axes, result, name, of, options):
    label, values = result.labels[name], np.atleast_2d(result.summary[name])
    errors = result.summary.get(name + "_error")
    errors = np.full(values.shape, np.nan) if errors is None else np.atleast_2d(errors)
    x = result.summary[label.axes[-1]]
    chosen = chosen_rows(result, len(values), options)
    control = result.summary.get(view.moved(result), np.empty(0))
    symbol = labels.symbol(result.labels[view.moved(result)].symbol) if view.moved(result) in result.labels else ""
    for row, colour in zip(chosen, style.ordered(len(chosen)) if len(values) > 1 else style.colours(1)):
        text = f"{symbol} = {control[row]:.4g}" if row < len(control) and len(values) > 1 else None
        if np.all(np.diff(x) > 0):
            style.curve(axes, x, values[row], np.nan_to_num(errors[row]), colour, text, linewidth=1.1)
        else:  # several values at one place, as of wave vectors of the same length
            style.points(axes, x, values[row], errors[row], colour, text)
    title = labels.heading(label)
    axes.set_title(f"{title}, {of}" if of else title, loc="left")
    axes.set(xlabel=labels.axis(result.labels[label.axes[-1]]), ylabel=labels.quantity(label))
    view.finish(axes, options)


def chosen_rows(result, count, options):
    if options.temperature is None:
        return sorted(set(np.linspace(0, count - 1, min(count, MOST)).astype(int)))
    if not 0 <= options.temperature < count:
        raise Refusal(f"{result.path}: no temperature {options.temperature}; temperatures are numbered 0 to {count - 1}")
    return [options.temperature]

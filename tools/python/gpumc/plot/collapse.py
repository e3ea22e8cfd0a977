"""Data collapses (gpumc.analysis.collapse): values on their scaling function, and what the fit leaves of them in errors.

    from gpumc.plot import collapse, style
    figure = collapse.draw([found])             # Collapses, a column for each
    style.save(figure, "collapse.pdf")
"""
import textwrap

import numpy as np

from .. import measured
from . import style
from .axes import PlainLog

MARKERS = "osD^vP*"
MOST = 4.2  # errors that the lower panels reach to
WARNING_COLOUR = style.COLOURS[1]
LETTERS, LINE, MOST_LINES = 70, 0.17, 9  # of warnings: letters a column of the figure holds, a line's height in inches
POWERS = {"beta/nu": r"\,L^{\beta/\nu}", "gamma/nu": r"\,L^{-\gamma/\nu}"}
NAMES = {"beta/nu": r"\beta/\nu", "gamma/nu": r"\gamma/\nu"}


def draw(collapses, title="", warnings=()):
    """A figure with a column for each Collapse, below lines of `warnings`."""
    lines = _wrapped(warnings, LETTERS * len(collapses))
    figure = style.figure(4.0 * len(collapses) + 0.4, 4.6 + LINE * len(lines), title)
    if lines:
        figure.suptitle("\n".join([title] * bool(title) + lines), color=WARNING_COLOUR, fontsize="small", x=0.01, ha="left")
    axes = figure.subplots(2, len(collapses), squeeze=False, sharex="col", height_ratios=[3, 1])
    for (above, below), found in zip(axes.T, collapses):
        _draw(above, below, found)
    style.legend(axes[0, 0])
    return figure


def _wrapped(warnings, letters):
    """Lines no longer than the figure is wide, no more than MOST_LINES."""
    lines = [line for warning in warnings for line in textwrap.wrap(warning, letters, initial_indent=" " * (len(warning) - len(warning.lstrip())),
                                                                    subsequent_indent="    ")]
    return lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES - 1], "    and more, which gpumc-critical prints"]


def _draw(above, below, found):
    from ..analysis import likelihood  # needs scipy, which other pictures do not

    points = found.points
    x = likelihood.scaled(points, np.array([found.t_c, 1 / found.nu, found.bend]))
    errors = np.sqrt(np.diag(points.noise))
    at, mean, _ = found.scaling_function
    is_log = bool(found.exponent_name)
    shown = np.exp if is_log else np.asarray
    above.plot(at, shown(mean), color=style.GUIDE_COLOUR, linewidth=1.1, zorder=4)
    sides = np.unique(points.side)
    for number, (side, colour) in enumerate(zip(sides, style.colours(len(sides)))):
        of, marker = points.side == side, MARKERS[number % len(MARKERS)]
        y = shown(found.collapsed[of])
        style.points(above, x[of], y, y * errors[of] if is_log else errors[of], colour, f"$L = {side:.0f}$", marker)
        style.points(below, x[of], found.residuals[of], None, colour, None, marker)
    if is_log:
        above.set_yscale("log")
        for formatter in (above.yaxis.set_major_formatter, above.yaxis.set_minor_formatter):
            formatter(PlainLog(minor_thresholds=(2, 0.5)))  # numbers between powers of ten within two decades
    above.set_ylabel(_label(found))
    above.set_title(_numbers(found), loc="left")
    for level in (-1, 0, 1):
        below.axhline(level, color=style.GUIDE_COLOUR, linewidth=0.9 if level == 0 else 0.6, linestyle="-" if level == 0 else ":", zorder=1)
    below.set_ylabel("in errors")
    below.set_ylim(-max(MOST, 1.1 * np.max(np.abs(found.residuals))), max(MOST, 1.1 * np.max(np.abs(found.residuals))))
    field = r"(t + b\,t^2)" if found.analytic else "t"
    below.set_xlabel(rf"${field}\, L^{{1/\nu}},\quad t = 1 - T_\mathrm{{c}}/T$")


def _label(found):
    """The quantity times its power of L."""
    if not found.label.endswith("$"):
        return found.label
    power = POWERS.get(found.exponent_name, r"\,L^{-\kappa}") if found.exponent_name else ""
    return found.label[:-1] + power + "$"


def _numbers(found):
    if found.exponent_name:
        numbers = f"${NAMES.get(found.exponent_name, 'kappa')} = {measured.text(found.exponent, found.exponent_error)}$"
    else:
        numbers = (rf"$T_\mathrm{{c}} = {measured.text(found.t_c, found.t_c_error)}$, "
                   rf"$\nu = {measured.text(found.nu, found.nu_error)}$")
    before = "noise alone: " if found.corrections is None else ""
    return f"{before}{numbers}, $p = {found.quality.p:.2g}$"


def of(critical):
    """A figure with the collapses of a CriticalPoint, and what is to be known before their numbers."""
    return draw([critical.best, *critical.exponents.values()], warnings=critical.warnings() if critical.doubts or critical.open_questions else ())


def save(critical, path, user_style=None):
    """The collapses of a CriticalPoint as a picture; its format by the name's ending, `user_style` as of style.used(). Raises plot.Refusal if it
    cannot be written, or there is no such style."""
    with style.used(user_style):
        style.save(of(critical), path)

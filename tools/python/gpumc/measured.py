"""Numbers beside their standard errors: measured.text(-0.1363, 0.0791) is "-0.136(79)"."""
from __future__ import annotations

import math

DIGITS_MOST = 15
PLAIN_LEAST, PLAIN_MOST = -5, 7  # powers of ten of first digits that are written without an exponent
SCALED_LEAST = 1e-290  # smaller errors, and numbers beyond its reciprocal, are not scaled by powers of ten


def text(value: float, error: float) -> str:
    """A value rounded to two digits of its standard error, which follow in parentheses and count from the last digit:
    -0.136(79), 12.3(1.5), 1230(150), 1.2346(12)e-07. With an error of 0, or one that is unknown or infinite, the value
    has seven digits: 0.5(0), 0.5(?). An error below the last digit that the value can have stands in full: 1(1e-20). A
    value that is not a number is "?", one that is not finite "inf" or "-inf", whatever its error.

    The same text as gpumc_measured_text of src/core/base/text.c.
    """
    value, error = float(value), float(error)
    if not math.isfinite(value):
        return "?" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if not math.isfinite(error) or error <= 0:
        return f"{value + 0.0:.7g}({'0' if error == 0 else '?'})"
    larger = max(abs(value), error)
    if error < SCALED_LEAST or larger > 1 / SCALED_LEAST:
        return f"{value:.7g}({error:.2g})"
    last = _exponent(error, 1) - 1
    first = _exponent(larger, DIGITS_MOST)
    if first - last > DIGITS_MOST:  # no digit of a double would be left for the error
        return f"{value:.{DIGITS_MOST + 1}g}({error:.2g})"
    if _exponent(larger, max(first - last, 0)) > first:
        first += 1
    if PLAIN_LEAST <= first < PLAIN_MOST:
        return _in_units(value, error, 0, last)
    return f"{_in_units(value, error, first, last)}e{first:+03d}"


def _exponent(size, decimals):
    """The power of ten of the first digit of `size` > 0 once it is rounded to `decimals` in scientific notation."""
    return int(f"{size:.{decimals}e}".partition("e")[2])


def _in_units(value, error, exponent, last):
    """Both numbers in units of 10^`exponent`, whose last digit is 10^`last`, last <= exponent + 1."""
    decimals = max(exponent - last, 0)
    unit, grain = 10.0 ** exponent, 10.0 ** last
    rounded = _round(value / grain) * grain / unit
    digits = _round(error / grain)
    sign = "-" if value < 0 and rounded != 0 else ""
    if decimals > 0 and error < unit:
        return f"{sign}{abs(rounded):.{decimals}f}({digits:.0f})"
    return f"{sign}{abs(rounded):.{decimals}f}({digits * grain / unit:.{decimals}f})"


def _round(x):
    """The nearest whole number, halves away from 0 as C's round() has it."""
    whole = float(math.floor(abs(x)))
    return math.copysign(whole + (abs(x) - whole >= 0.5), x)

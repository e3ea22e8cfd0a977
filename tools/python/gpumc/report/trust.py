"""Whether a result is trusted, why, and what that rests on (docs/statistics.md)."""
from __future__ import annotations

import numpy

# Numbers that summaries have as attributes, and what they mean. The limits are applied by the program, whose verdict is
# `trusted` with its warnings.
MEANINGS = {
    "rho_t_maximum": "largest mean square family size of the runs: a population acts like population / rho_t independent replicas",
    "round_trips_per_walker": "round trips of a walker between the hottest and the coldest temperature, on average",
    "round_trips": "round trips between the ends, in all",
    "tunnelling_time": "updates for a round trip between the ends of the energies",
    "divergence": "how far the histogram of the last iteration was from flat (Kullback-Leibler)",
    "iterations": "iterations of the weights",
    "converged": "whether the weights have converged (1: yes)",
    "measurements": "measurements in the averages",
    "samples": "samples of the disorder",
    "replicas": "copies of each sample",
}
# Of each temperature 1 or 0.
EACH = {
    "converged": "where the time series is long compared with its autocorrelation time and shows no drift",
    "determined": "where the error can be estimated",
    "equilibrated": "where the last averages in time agree",
}


def verdict(result):
    """(class, headline, reasons)"""
    reasons = [str(text) for name, text in result.remarks.items() if name == "warning" or name.endswith("_warning")]
    if not result.is_complete:
        return "open", "Not finished", ["The run is not complete; pictures show what there is so far, and averages are formed "
                                        "at its end."]
    if result.remarks.get("trusted") == 1:
        return "good", "Trusted", reasons or ["Nothing speaks against the averages and their errors."]
    if "trusted" in result.remarks:
        return "bad", "Not trusted", reasons
    return "open", "No verdict", reasons or ["The file does not say whether it is trusted."]


def evidence(result):
    """[(name, value, meaning)] of what the verdict rests on."""
    rows = []
    for name, meaning in EACH.items():
        values = result.summary.get(name)
        if values is not None and numpy.size(values):
            values = numpy.atleast_1d(values)
            rows.append((name, f"{int((values != 0).sum())} of {values.size}", meaning))
    families = result.summary.get("effective_families")
    if families is not None and numpy.size(families):
        rows.append(("effective_families", f"{numpy.nanmin(families):.0f}", "independent families of all runs together, at "
                                                                            "the temperature with the fewest"))
    if "errors_from" in result.remarks:
        rows.append(("errors_from", str(result.remarks["errors_from"]), "whose scatter gives the errors"))
    known = {name for name, _, _ in rows}
    rows += [(name, f"{result.remarks[name]:.6g}", meaning) for name, meaning in MEANINGS.items()
             if name in result.remarks and name not in known and isinstance(result.remarks[name], (int, float))]
    return rows

"""Critical points, exponents and averages at other temperatures, from results of gpumc.

    from gpumc import analysis

    results = [gpumc.read(path) for path in paths]       # one for each size
    analysis.crossings(results)                          # where curves of neighbouring sizes cross
    analysis.collapse(results, "binder_parameter")       # T_c and nu by finite-size scaling
    analysis.quotients(results)                          # exponents of sizes L and sL at their crossing
    analysis.critical_point(results).text()              # all of it, and what is not to be trusted
    analysis.reweight("series.h5", temperatures)         # averages between and beyond the temperatures

docs/analysis.md says how each error is made. Functions are loaded when they are used: those of finite-size scaling need scipy.
"""
import importlib

_FUNCTIONS = {
    "Curves": "curves", "curves_of": "curves", "from_arrays": "curves",
    "crossings": "points", "helicity_transitions": "points",
    "Collapse": "scaling", "collapse": "scaling",
    "Quotient": "ratios", "quotients": "ratios",
    "Extrapolation": "extrapolation", "extrapolate": "extrapolation", "crossing_shift": "extrapolation",
    "Reweighted": "reweighting", "reweight": "reweighting",
    "CriticalPoint": "critical", "critical_point": "critical",
}

__all__ = sorted(_FUNCTIONS)


def __getattr__(name):
    if name not in _FUNCTIONS:
        raise AttributeError(f"module 'gpumc.analysis' has no attribute {name!r}")
    return getattr(importlib.import_module("." + _FUNCTIONS[name], __name__), name)

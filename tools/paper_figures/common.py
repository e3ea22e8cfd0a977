"""Results of campaigns, and what all panels share."""
import glob
import os

import gpumc
from gpumc import ising2d_exact


class Campaign:
    """Finished results of one campaign, by file name without suffix."""

    def __init__(self, folder, name):
        paths = [os.path.join(folder, name + ".h5"), *glob.glob(os.path.join(folder, name, "*.h5"))]
        results = ((path, gpumc.read(path)) for path in sorted(paths)
                   if os.path.exists(path))
        self.results = {os.path.basename(path)[:-3]: result for path, result in results
                        if result.is_complete}

    def key(self, result, dotted):
        value = result.config
        for part in dotted.split("."):
            value = value[part]
        return value


def picoseconds(result, key="seconds_sweep"):
    """Device time of the sweeps, or another one, by attempted flips."""
    return 1e12 * result.provenance[key] / result.provenance["updates"]


def exact_of(result, betas):
    """energy, specific_heat, beta_free_energy and entropy of the finite lattice."""
    log_z, energy, heat = ising2d_exact.kaufman(*result.config["model"]["shape"], betas)
    return {"energy": energy, "specific_heat": heat, "beta_free_energy": -log_z,
            "entropy": betas * energy + log_z}


def lengths(result, papers):
    """What stands behind the paper's value and ours where lattices differ in size."""
    ours = result.config["model"]["shape"][0]
    return ("", "") if ours == papers else (f", L = {papers}", f", L = {ours}")


def deviations(result, name):
    """From exact in errors, where these are not 0."""
    betas = result.summary["beta"]
    difference = result.summary[name] - exact_of(result, betas)[name]
    error = result.summary[name + "_error"]
    known = error > 0
    return betas[known], difference[known] / error[known]


def plain(value, _):
    """Labels of a logarithmic axis: 1, 2 and 5 of every decade."""
    text = f"{value:g}"
    return text if text.strip("0.") in ("1", "2", "5") else ""


def finish(axes, title, x, y):
    axes.set_title(title, loc="left")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.margins(x=0.04)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=7)

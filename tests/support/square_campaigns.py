"""Campaigns of configs/ising2d/critical.yaml with several seeds, reduced to curves: square_campaigns.json.

    square_campaigns.curves(square_campaigns.CAMPAIGNS["1"])      # Curves of L = 8 to 64

Of each size and temperature the file has the averages, their errors, and the correlation of each pair of quantities over the 64 replicas, of which
curves() makes 64 groups that have it. After `gpumc run configs/ising2d/critical.yaml --set seed=SEED --set "output=FOLDER/SEED/{model.shape}.h5"` for
several seeds,

    tests/support/square_campaigns.py FOLDER/SEED...

writes the file.
"""
import itertools
import json
import pathlib
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/python"))
from gpumc import analysis  # noqa: E402
from gpumc.analysis import curves as curves_module  # noqa: E402

PATH = ROOT / "tests/support/square_campaigns.json"
CAMPAIGNS = json.loads(PATH.read_text()) if PATH.exists() else {}
NAMES = "binder_parameter", "xi/L", "abs_magnetization", "susceptibility"
PAIRS = list(itertools.combinations(range(len(NAMES)), 2))
GROUPS = 64


def curves(campaign):
    """Curves of all sizes."""
    return [_curves(size, np.random.default_rng(size["side"])) for size in campaign]


def _curves(size, random):
    beta, groups = np.array(size["beta"]), np.empty((len(NAMES), GROUPS, len(size["beta"])))
    for place, correlations in enumerate(np.array(size["correlations"]).T):
        matrix = np.eye(len(NAMES))
        for (first, second), one in zip(PAIRS, correlations):
            matrix[first, second] = matrix[second, first] = one
        normal = random.normal(size=(GROUPS, len(NAMES)))
        groups[:, :, place] = np.linalg.cholesky(matrix) @ np.linalg.qr(normal - normal.mean(0))[0].T
    values, errors = ({name: np.array(size[key][name]) for name in NAMES} for key in ("values", "errors"))
    return analysis.Curves(size["side"], 2, beta, values, errors, "replicas", False, dict(zip(NAMES, groups)))


def reduced(found):
    """What the file has of one size, from its Curves."""
    unit = np.array([found.deviations[name] / np.sqrt(np.sum(found.deviations[name] ** 2, axis=0)) for name in NAMES])
    return {"side": found.side, "beta": _rounded(found.beta, 10),
            "values": {name: _rounded(found.values[name], 8) for name in NAMES},
            "errors": {name: _rounded(found.errors[name], 4) for name in NAMES},
            "correlations": [_rounded(np.sum(unit[first] * unit[second], axis=0), 5) for first, second in PAIRS]}


def _rounded(numbers, digits):
    return [float(f"{number:.{digits}g}") for number in numbers]


def main(folders):
    campaigns = {folder.name: [reduced(found) for found in curves_module.read_all(sorted(folder.glob("*.h5")), list(NAMES))] for folder in map(pathlib.Path, folders)}
    lines = (f'"{seed}": [\n' + ",\n".join(map(json.dumps, sizes)) + "]" for seed, sizes in campaigns.items())
    PATH.write_text("{" + ",\n".join(lines) + "}\n")


if __name__ == "__main__":
    main(sys.argv[1:])

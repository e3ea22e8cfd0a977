"""Whether reported errors are right: over 200 seeds, (value - exact)/error has variance 1, so the sum of squares lies
within bounds of 3.9 standard deviations (false alarm rate 1e-4 per comparison)."""
import os

import numpy as np

from support import gpumc_program as gpumc

SEEDS = 200
DEVIATIONS = 3.9


def repeat(config, group="summary", **values):
    """Returns the configuration's results for each seed, by name [seed, ...], where all have the same number of values.
    It has the placeholders `folder` and `seeds` besides `values`."""
    seeds = range(1, SEEDS + 1)
    with gpumc.folder() as folder:
        gpumc.run_config(config.format(folder=folder, seeds=", ".join(map(str, seeds)), **values),
                         folder)
        found = [gpumc.summary(os.path.join(folder, f"{seed}.h5"), group) for seed in seeds]
    return {name: np.array([f[name] for f in found]) for name in found[0]
            if len({f[name].shape for f in found}) == 1}


def mean_square(deviation):
    return float(np.mean(np.square(deviation)))


def largest_square():
    return gpumc.chi_square_bounds(SEEDS, DEVIATIONS)[1]


def expect_right(case, where, name, deviation):
    """Applies the gate."""
    low, high = gpumc.chi_square_bounds(SEEDS, DEVIATIONS)
    measured = mean_square(deviation)
    print(f"{where} {name:18s} <z^2> = {measured:.3f} in [{low:.3f}, {high:.3f}], "
          f"<z> = {np.mean(deviation):+.3f}")
    with case.subTest(where=where, name=name):
        case.assertGreater(measured, low)
        case.assertLess(measured, high)

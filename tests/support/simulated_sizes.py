"""Sizes of a model with known T_c, nu and beta/nu, for tests of finite-size scaling, and the gates of their errors."""
import numpy as np
from scipy import stats

from gpumc import analysis

SETS, GROUPS, FALSE_ALARM, EXTREME = 200, 64, 2e-3, 1e-3
TRUE = {"t_c": 2.27, "nu": 1.1, "exponent": 0.12}
BETA = np.linspace(0.425, 0.456, 12)


def binder(x):
    return (1 - np.tanh(0.9 * x + 0.4)) / 3


def magnetization(x):
    return np.exp(-0.36 * np.log1p(np.exp(1.5 * x)) + 0.05 * np.tanh(x))


def sizes(seed, sides=(8, 16, 32), noise=2e-3, bend=0.0, correction=0.0, is_joint=False, shared=0.8):
    """One set of Curves: a Binder parameter and a magnetization that follow their scaling functions of (t + bend t^2) L^(1/nu), with the noise of
    GROUPS groups, of which the quantities share a part. `correction`: of L^-2, at L = 8. `is_joint`: groups are the same at all temperatures."""
    random, found = np.random.default_rng(seed), []
    count = len(BETA)
    root = np.eye(count)
    if is_joint:
        root = np.linalg.cholesky(0.1 * np.eye(count) + 0.9 * np.exp(-((BETA[:, None] - BETA) / 0.01) ** 2)).T
    t = 1 - TRUE["t_c"] * BETA
    for side in sides:
        x = (t + bend * t ** 2) * side ** (1 / TRUE["nu"])
        small = correction * (side / 8.0) ** -2
        exact = {"binder_parameter": binder(x) + small * (0.3 - 0.1 * x),
                 "abs_magnetization": magnetization(x) * side ** -TRUE["exponent"] * (1 + bend * t) * (1 + small)}
        first, second = random.normal(size=(2, GROUPS, count)) @ root
        groups = {"binder_parameter": first, "abs_magnetization": shared * first + np.sqrt(1 - shared ** 2) * second}
        size = noise * np.sqrt(side / 8)
        errors = {"binder_parameter": np.full(count, size), "abs_magnetization": 2 * size * exact["abs_magnetization"]}
        values = {name: exact[name] + np.sqrt(GROUPS) * errors[name] * groups[name].mean(0) for name in exact}
        found.append(analysis.Curves(side, 2, BETA, values, errors, "groups", is_joint,
                                     {name: numbers - numbers.mean(0) for name, numbers in groups.items()}))
    return found


def covered(deviations):
    """How many are within one error, and within 1.96."""
    return int((np.abs(deviations) < 1).sum()), int((np.abs(deviations) < 1.959964).sum())


def bounds(share):
    """Numbers of sets that are no alarm."""
    return stats.binom.ppf(FALSE_ALARM / 2, SETS, share), stats.binom.isf(FALSE_ALARM / 2, SETS, share)


def is_right(counts):
    return all(low <= count <= high for count, (low, high) in zip(counts, (bounds(0.6827), bounds(0.95))))


def is_uniform(p):
    return stats.kstest(p, "uniform").pvalue > EXTREME

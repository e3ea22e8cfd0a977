"""Where the difference of two curves is zero, from its values with errors at a few temperatures.

Between the temperatures the difference is a Gaussian process (Rasmussen and Williams, Gaussian Processes for
Machine Learning, MIT Press 2006, chapters 2 and 5): a straight line, of which nothing is known beforehand, and smooth
deviations from it. Their size and length are averaged over, with the weights that the values give them. So the error of
the difference at any temperature has two parts: the noise of the values, and what is unknown between them.
"""
from __future__ import annotations

import dataclasses

import numpy as np

# Deviations from the line: their size in units of the root mean square of the values, and their length in halves of
# the range of temperatures that is looked at. Smaller and longer ones would round the bend off that these curves have
# at their crossing, between a steep side and a flat one: already a size of 1 moves the zero of exact curves by half
# an error where the noise is small.
SIZES = 3.0, 10.0
LENGTHS = 0.4, 0.57, 0.8

# Shares of the variance that all temperatures have in common, where it is not known how they depend on each other.
SHARED = 0.0, 0.3, 0.6, 0.8, 0.9, 0.95, 0.98, 1.0

# Of the values' root mean square: what the noise is at least, so that all matrices can be inverted.
LEAST_NOISE = 1e-5

# Temperatures on either side of the crossing that are looked at, at least, and at most in all.
SIDE, MOST = 5, 80

# Temperatures at which the difference is estimated.
FINE = 401


@dataclasses.dataclass(frozen=True)
class Curve:
    """`values` with `errors` at ascending inverse temperatures: of the size `side`, or of the difference of two
    sizes. `correlation` of the values, a matrix; None where it is not known."""
    side: int
    beta: np.ndarray
    values: np.ndarray
    errors: np.ndarray
    correlation: np.ndarray | None = None

    def covariance(self):
        return self.correlation * np.outer(self.errors, self.errors)

    def at(self, chosen):
        """The curve at some of its temperatures."""
        correlation = None if self.correlation is None else self.correlation[chosen][:, chosen]
        return Curve(self.side, self.beta[chosen], self.values[chosen], self.errors[chosen], correlation)


@dataclasses.dataclass(frozen=True)
class Estimate(Curve):
    """Of a difference at many temperatures; `unknown` is the part of the errors that is not the values' noise."""
    unknown: np.ndarray | None = None


def estimate(apart):
    """The difference `apart`, of one temperature or more, between the places where it is the most certain: below 0
    on the hot side of the crossing, above it on the cold one. Beyond these the curves may become one again."""
    cold = cold_side(apart)
    hot_place = most_certain(-apart.values[:cold], apart.errors[:cold])
    cold_place = min(cold + most_certain(apart.values[cold:], apart.errors[cold:]), len(apart.beta) - 1)
    hot_place = min(hot_place, cold_place)
    used = slice(max(min(hot_place, cold - SIDE), 0), max(cold_place + 1, cold + SIDE))
    fine = np.linspace(apart.beta[hot_place], apart.beta[cold_place], FINE)
    return regression(thinned(apart.at(used)), fine)


def cold_side(apart):
    """Number of the first temperature on the cold side of the crossing, that of all if there is none: the most
    likely one, given a difference below 0 before it and above 0 from it on. There the sum of squares of the
    differences of the wrong sign, in errors, is the smallest, and so is the sum of the squares with their
    signs over the temperatures before it. Of equal ones the coldest."""
    in_errors = apart.values / apart.errors
    sums = np.cumsum([0.0, *(in_errors * np.abs(in_errors))])
    return len(sums) - 1 - int(np.argmin(sums[::-1]))


def most_certain(values, errors):
    """Number of the greatest value in errors; 0 of none."""
    return int(np.argmax(values / errors)) if len(values) else 0


def thinned(apart):
    """With averages over neighbours where there are more temperatures than are needed."""
    count = len(apart.beta)
    step = -(-count // MOST)
    if step == 1:
        return apart
    groups = np.arange(count) // step
    average = (groups == np.arange(groups[-1] + 1)[:, None]).astype(float)
    average /= average.sum(1, keepdims=True)
    beta, values = average @ apart.beta, average @ apart.values
    if apart.correlation is None:
        return Curve(apart.side, beta, values, average @ apart.errors)
    return from_covariance(apart.side, beta, values, average @ apart.covariance() @ average.T)


def from_covariance(side, beta, values, covariance):
    errors = np.sqrt(np.diag(covariance))
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = np.where(np.outer(errors, errors) > 0, covariance / np.outer(errors, errors),
                               np.eye(len(errors)))
    return Curve(side, beta, values, errors, correlation)


def regression(apart, beta):
    """The Estimate at `beta`. All is done in units of the values' root mean square and of half the range."""
    middle, half = (apart.beta[0] + apart.beta[-1]) / 2, np.ptp(apart.beta) / 2 or 1.0
    scale = np.sqrt(np.mean(apart.values ** 2)) or 1.0
    x, at = (apart.beta - middle) / half, (beta - middle) / half
    scaled = Curve(apart.side, x, apart.values / scale, apart.errors / scale, apart.correlation)
    models = [model(noise, size, length, x, at, scaled.values)
              for noise in noises(scaled) for size in SIZES for length in LENGTHS]
    logs, means, noise_parts, unknown_parts = map(np.array, zip(*models))
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    mean = weights @ means
    unknown = weights @ (unknown_parts + (means - mean) ** 2)
    return Estimate(apart.side, beta, scale * mean, scale * np.sqrt(weights @ noise_parts + unknown),
                    unknown=scale * np.sqrt(unknown))


def noises(apart):
    """Covariances of the values that are possible."""
    count = len(apart.errors)
    shapes = ([apart.correlation] if apart.correlation is not None else
              [(1 - share) * np.eye(count) + share for share in SHARED])
    return [shape * np.outer(apart.errors, apart.errors) + LEAST_NOISE ** 2 * np.eye(count) for shape in shapes]


def model(noise, size, length, x, at, y):
    """Of one noise, size and length: the logarithm of the restricted likelihood, and at `at` the mean and its
    variance, by noise and by what is unknown. The mean is the best linear unbiased one, of weights that leave
    every line as it is."""
    line, line_at = (np.stack([np.ones_like(v), v], -1)[:, :len(x)] for v in (x, at))
    near, near_at = (size ** 2 * np.exp(-0.5 * ((v[:, None] - x) / length) ** 2) for v in (x, at))
    whole = noise + near
    solved = np.linalg.solve(whole, np.column_stack([y, line, near_at.T]))
    columns = line.shape[1]
    y_solved, line_solved, near_solved = solved[:, 0], solved[:, 1:1 + columns], solved[:, 1 + columns:]
    by_line = line.T @ line_solved
    rest = y_solved - line_solved @ np.linalg.solve(by_line, line.T @ y_solved)
    log = -0.5 * (np.linalg.slogdet(whole)[1] + np.linalg.slogdet(by_line)[1] + y @ rest)
    weights = near_solved + line_solved @ np.linalg.solve(by_line, line_at.T - line.T @ near_solved)
    unknown = size ** 2 + np.sum(weights * (near @ weights - 2 * near_at.T), 0)
    return log, weights.T @ y, np.sum(weights * (noise @ weights), 0), np.maximum(unknown, 0)

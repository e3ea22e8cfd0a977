"""Curves through values with errors of which nothing is known but that they are smooth: Gaussian processes with fixed effects.

Values y = X b + g(u) + noise: `X` are columns whose coefficients are free (a straight line, and what else a model adds), g deviates
smoothly from it with the covariance size^2 exp(-(u - u')^2 / (2 length^2)). (Rasmussen and Williams, Gaussian Processes for Machine
Learning, MIT Press 2006, chapters 2 and 5; of scaling functions Harada, Phys. Rev. E 84, 056704 (2011).) Sizes and lengths are
chosen by the restricted likelihood from a short list, so that nothing is tuned by hand.
"""
import dataclasses

import numpy as np
from scipy import linalg, special
from scipy.linalg import lapack

from . import correlation

# Size of g in units of the root mean square of what a straight line leaves of the values; its length in units of half the range.
SIZES = 1.0, 3.0, 10.0
LENGTHS = 0.15, 0.25, 0.4, 0.6, 0.9, 1.3

# Of single curves, in units of the values' standard deviation: smaller or longer ones would straighten bends that noise hides (crossing.py).
CURVE_SIZES = 3.0, 10.0
CURVE_LENGTHS = 0.4, 0.57, 0.8

# Of the values' spread: what the noise is at least, so that all matrices can be inverted.
LEAST_NOISE = 1e-7


def near(u, v, size, length):
    """Covariance of g at `u` with that at `v`, [u, v]."""
    return size ** 2 * np.exp(-0.5 * ((u[:, None] - v[None, :]) / length) ** 2)


@dataclasses.dataclass(frozen=True)
class Solved:
    """`deviance` is -2 ln of the restricted likelihood, up to a constant, of each column of values; `coefficients` of the fixed
    columns, [column, values]; `factor`, the lower Cholesky factor of the whole covariance."""
    deviance: np.ndarray
    coefficients: np.ndarray
    coefficient_covariance: np.ndarray
    factor: np.ndarray


def solve(whole, fixed, values):
    """Generalized least squares of the fixed columns with the covariance `whole`, noise and g together. `values`: [place] or
    [place, set]."""
    values = values.reshape(len(values), -1)
    factor, failed = lapack.dpotrf(whole, lower=1, clean=1)  # thousands of times: without the checks of scipy.linalg
    if failed:
        raise np.linalg.LinAlgError("covariance of values that is not positive")
    scaled, _ = lapack.dtrtrs(factor, np.concatenate([fixed, values], axis=1), lower=1)
    columns, rest = scaled[:, :fixed.shape[1]], scaled[:, fixed.shape[1]:]
    orthogonal, upper = np.linalg.qr(columns)
    along = orthogonal.T @ rest
    inverse, _ = lapack.dtrtrs(upper, np.eye(len(upper)))
    deviance = (2 * np.sum(np.log(np.diag(factor))) + 2 * np.sum(np.log(np.abs(np.diag(upper))))
                + np.sum(rest ** 2, axis=0) - np.sum(along ** 2, axis=0))
    return Solved(deviance, inverse @ along, inverse @ inverse.T, factor)


def smoother(whole, fixed, covariance):
    """Matrix H of the fitted values H y, of g's `covariance` among the places and the fixed columns."""
    factor = linalg.cho_factor(whole, lower=True, check_finite=False)
    solved = linalg.cho_solve(factor, np.column_stack([fixed, np.eye(len(whole))]), check_finite=False)
    columns, inverse = solved[:, :fixed.shape[1]], solved[:, fixed.shape[1]:]
    to_coefficients = np.linalg.pinv(fixed.T @ columns) @ columns.T
    rest = inverse - columns @ to_coefficients
    return fixed @ to_coefficients + covariance @ rest


@dataclasses.dataclass(frozen=True)
class Quality:
    """Of a fit: chi^2, its mean if all is right (`freedom`), and the probability to exceed it."""
    chi2: float
    freedom: float
    p: float

    @property
    def per_freedom(self):
        return self.chi2 / self.freedom if self.freedom > 0 else float("nan")

    def text(self):
        return f"chi2/dof = {self.chi2:.1f}/{self.freedom:.1f}, p = {self.p:.2g}"


def quality(values, noise, hat, deviations=None):
    """chi^2 = r^T noise^-1 r of the residuals r = (1 - hat) values. If the true curve is one that `hat` leaves as it is, that is a
    sum of squares of normal deviates with weights, the eigenvalues of (1 - hat)^T noise^-1 (1 - hat) noise; its distribution is
    taken to be that of a multiple of chi^2 with the same mean and variance (Satterthwaite, Biometrics Bull. 2, 110 (1946)).

    `deviations` [set, place]: of replicates from the values. They give mean and variance instead where `noise` is an estimate that few
    groups make, and so another one than that of the values."""
    rest = np.eye(len(values)) - hat
    inverse = np.linalg.inv(noise)

    def squares(rows):
        residuals = rows @ rest.T
        return np.sum(residuals @ inverse * residuals, axis=-1)

    operator = rest.T @ inverse @ rest @ noise
    mean, half_variance = np.trace(operator), np.sum(operator * operator.T)
    if deviations is not None:
        found = squares(deviations)
        mean, half_variance = np.mean(found), np.var(found) / 2
    chi2 = float(squares(values))
    if mean < 0.5:
        return Quality(chi2, float(mean), float("nan"))
    return Quality(chi2, float(mean), float(special.gammaincc(mean ** 2 / half_variance / 2, chi2 * mean / half_variance / 2)))


def chi2_quality(chi2, freedom):
    """Of an ordinary fit."""
    return Quality(float(chi2), float(freedom), float(special.gammaincc(freedom / 2, chi2 / 2)) if freedom > 0 else float("nan"))


# --- one curve ------------------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Smooth:
    """A curve at `beta`: `weights` [at, values] that make its mean from the values, and `root` [at, at], a symmetric matrix whose products with
    normal deviates are what may be added to it for what is unknown between the values. `quality` of the values' fit."""
    beta: np.ndarray
    weights: np.ndarray
    root: np.ndarray
    quality: Quality


def smooth(beta, values, covariance, at):
    """The smooth curve through values at ascending `beta`, at the places `at`: an average over the processes of CURVE_SIZES and CURVE_LENGTHS by
    their likelihood, whose differences are part of what is unknown."""
    middle, half = (beta[0] + beta[-1]) / 2, np.ptp(beta) / 2 or 1.0
    u, v = (beta - middle) / half, (at - middle) / half
    scale = np.std(values) or 1.0
    noise = covariance + (LEAST_NOISE * scale) ** 2 * np.eye(len(u))
    parts = [_curve(noise, values, u, v, size * scale, length) for size in CURVE_SIZES for length in CURVE_LENGTHS]
    deviances, weights, unknowns, hats = zip(*parts)
    shares = np.exp(-0.5 * (np.array(deviances) - min(deviances)))
    shares /= shares.sum()
    whole = np.einsum("p,pav->av", shares, np.array(weights))
    apart = (np.array(weights) - whole) @ values
    unknown = np.einsum("p,pab->ab", shares, np.array(unknowns)) + (shares * apart.T) @ apart
    return Smooth(at, whole, correlation.root(unknown), quality(values, noise, np.einsum("p,pab->ab", shares, np.array(hats))))


def _curve(noise, values, u, v, size, length):
    """Of one process: the deviance, the weights of the mean [at, values], the covariance of what is unknown [at, at], and the smoother of the
    values."""
    fixed, fixed_at = (np.column_stack([np.ones_like(w), w]) for w in (u, v))
    own, cross = near(u, u, size, length), near(v, u, size, length)
    factor = linalg.cho_factor(noise + own, lower=True)
    solved = linalg.cho_solve(factor, np.column_stack([fixed, cross.T]))
    columns, crossed = solved[:, :2], solved[:, 2:]
    weights = (crossed + columns @ np.linalg.solve(fixed.T @ columns, fixed_at.T - fixed.T @ crossed)).T
    unknown = near(v, v, size, length) - weights @ cross.T - cross @ weights.T + weights @ own @ weights.T
    return solve(noise + own, fixed, values).deviance[0], weights, unknown, smoother(noise + own, fixed, own)


def spread_of(fixed, values):
    """Root mean square of what the fixed columns leave of the values, and a little of the values' own."""
    rest = values - fixed @ np.linalg.lstsq(fixed, values, rcond=None)[0]
    return float(np.hypot(np.sqrt(np.mean(rest ** 2)), 1e-3 * np.std(values))) or 1.0

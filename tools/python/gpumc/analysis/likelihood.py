"""How likely T_c, nu and b are, given values of several sizes: the restricted likelihood of a Gaussian process of
x = (t + b t^2) L^(1/nu). Used by scaling.py, which says what the fit is.

A place is (T_c, 1/nu, b), as an array.
"""
import dataclasses

import numpy as np

from . import smoothing

T_C, NU, BEND = range(3)

# With corrections L^-omega: their size as a part of that of f at the smallest size.
CORRECTIONS = 0.03, 0.3, 1.0
# Where the search starts: places between the first and the last temperature, and values of 1/nu.
PLACES = 25
ONE_OVER_NU = np.geomspace(0.4, 2.5, 9)
# What b is expected to be before: 0 within this. It is of order 1 (0.3 of the square Ising model), and data within a few percent of T_c hardly
# tell it.
BEND_EXPECTED = 1.0
# Of the deviance, -2 ln likelihood: what a step of the finite differences changes it by.
RISE = 0.3, 3.0
# Polynomials of the likelihood: their order, the grid's end in errors, and how far beyond it minima may be.
ORDER, REACH, BEYOND = 4, 2.6, 1.4


@dataclasses.dataclass(frozen=True)
class Points:
    """Values at temperatures of several sizes, with their covariance; `replicates` [count, place]."""
    side: np.ndarray
    temperature: np.ndarray
    values: np.ndarray
    noise: np.ndarray
    replicates: np.ndarray

    def at(self, chosen):
        return Points(self.side[chosen], self.temperature[chosen], self.values[chosen], self.noise[np.ix_(chosen, chosen)],
                      self.replicates[:, chosen])


@dataclasses.dataclass(frozen=True)
class Process:
    """What f is expected to be: `size` and `length` of its deviations from a line, `correction` as a part of them, with L^-omega."""
    size: float
    length: float
    correction: float = 0.0


def scaled(points, place):
    """x = (t + b t^2) L^(1/nu), t = 1 - T_c/T."""
    t = 1 - place[T_C] / points.temperature
    return (t + place[BEND] * t ** 2) * points.side ** place[NU]


class Problem:
    """What is fitted. `kind`: a curves.Quantity; `exponent`: known, or None; `held`: the place's numbers that are known, else None.
    The first fixed column is that of the exponent if `sign` is not 0."""
    def __init__(self, kind, exponent, analytic, omega, held):
        self.kind, self.exponent, self.analytic, self.omega, self.held = kind, exponent, analytic, omega, held
        self.free = [k for k in range(3) if held[k] is None]
        self.sign = kind.sign if kind.exponent and exponent is None else 0
        self.has_factor = bool(kind.exponent) and analytic
        # T_c and nu of another fit have errors of their own, which chi^2 is not to count.
        self.fitted = self.free or [T_C, NU]
        self.constant_column = 1 if self.sign else 0
        self.factor_column = self.constant_column + 2

    def prepared(self, points, values):
        """Values [place] or [place, set] without the known exponent's power."""
        if not self.kind.exponent or self.exponent is None:
            return values
        power = self.kind.sign * self.exponent * np.log(points.side)
        return values - (power if values.ndim == 1 else power[:, None])

    @staticmethod
    def t(points, place):
        return 1 - place[T_C] / points.temperature

    def columns(self, points, place, u):
        fixed = [np.ones_like(u), u]
        if self.sign:
            fixed.insert(0, np.log(points.side / points.side.min()))
        if self.has_factor:
            fixed.append(self.t(points, place))
        if self.omega is not None:
            small = self.small(points)
            fixed += [small, small * u]
        return np.column_stack(fixed)

    def small(self, points):
        return (points.side / points.side.min()) ** -self.omega

    def covariance(self, points, u, process, other=None):
        """Of f and the corrections at places `u` of the points with that at places `other` of the same points."""
        found = smoothing.near(u, u if other is None else other, process.size, process.length)
        if self.omega is None:
            return found
        return found * (1 + process.correction ** 2 * np.outer(self.small(points), self.small(points)))

    @staticmethod
    def places(points, place):
        """x in units of the largest."""
        x = scaled(points, place)
        return x / np.max(np.abs(x))

    @staticmethod
    def noise(points, process):
        return points.noise + (smoothing.LEAST_NOISE * process.size) ** 2 * np.eye(len(points.values))

    def solved(self, points, place, process, values):
        u = self.places(points, place)
        return smoothing.solve(self.noise(points, process) + self.covariance(points, u, process), self.columns(points, place, u),
                               values)

    def expected(self, free, bends=0.0):
        """What is added to the deviance for what b is expected to be; `bends`: other expectations, of the bootstrap."""
        return ((free[self.free.index(BEND)] - bends) / BEND_EXPECTED) ** 2 if BEND in self.free else 0.0

    def whole(self, free):
        """The place, from its numbers that are free."""
        place = np.array([np.nan if value is None else value for value in self.held])
        place[self.free] = free
        return place

    def processes(self, points, place):
        """All of the list with their deviances, the most likely first."""
        y = self.prepared(points, points.values)
        scale = smoothing.spread_of(self.columns(points, place, self.places(points, place)), y)
        parts = (0.0,) if self.omega is None else CORRECTIONS
        found = [Process(size * scale, length, part)
                 for size in smoothing.SIZES for length in smoothing.LENGTHS for part in parts]
        return sorted(((self.solved(points, place, process, y).deviance[0], process) for process in found), key=lambda pair: pair[0])

    def process(self, points, place):
        """The most likely one of the list."""
        return self.processes(points, place)[0][1]

    def search(self, points, start=None):
        """The most likely place and process: in turn each with the other held."""
        y = self.prepared(points, points.values)

        def deviance(free, process):
            place = self.whole(free)
            if place[T_C] <= 0 or not 0.05 < place[NU] < 20 or abs(place[BEND]) > 20:
                return np.inf
            return self.solved(points, place, process, y).deviance[0] + self.expected(free)

        from scipy import optimize  # takes 0.2 s to import, and drawing a collapse does not need it

        if start is None:
            start = self.start(points, deviance)
        place = np.array(start, float)
        process = self.process(points, place)
        widths = np.array([np.ptp(points.temperature) / 20, 0.05, 0.3])
        for narrower in (1, 0.2, 0.2) if self.free else ():
            free = place[self.free]
            simplex = np.vstack([free, free + np.diag(narrower * widths[self.free])])
            found = optimize.minimize(deviance, free, args=(process,), method="Nelder-Mead",
                                      options={"initial_simplex": simplex, "xatol": 1e-8, "fatol": 1e-5, "maxiter": 600})
            place = self.whole(found.x)
            latest = self.process(points, place)
            if latest == process:
                break
            process = latest
        return place, process

    def typical(self, scale):
        """A process to begin with, of values with this scale."""
        return Process(3 * scale, 0.4, 0.3 if self.omega else 0.0)

    def start(self, points, deviance, places=PLACES, one_over_nu=ONE_OVER_NU):
        """The most likely place of a grid, without a bend."""
        low, high = points.temperature.min(), points.temperature.max()
        grids = [np.linspace(low, high, places + 2)[1:-1], one_over_nu, [0.0]]
        grids = [grids[k] if k in self.free else [self.held[k]] for k in range(3)]
        places = [np.array(place, float) for place in np.array(np.meshgrid(*grids)).reshape(3, -1).T]
        middle = places[len(places) // 2]
        y = self.prepared(points, points.values)
        scale = smoothing.spread_of(self.columns(points, middle, self.places(points, middle)), y)
        process = self.typical(scale)
        return min(places, key=lambda place: deviance(place[self.free], process))


# --- the likelihood's surface ---------------------------------------------------------------------

def second_derivatives(deviance, middle):
    """Of the deviance at `middle`, by finite differences with steps that change it by about 1."""
    least, count = deviance(middle), len(middle)
    axes = np.diag([_step(deviance, middle, k, least) for k in range(count)])
    found = np.empty((count, count))
    for i, first in enumerate(axes):
        found[i, i] = deviance(middle + first) + deviance(middle - first) - 2 * least
        for j, second in enumerate(axes[:i]):
            found[i, j] = found[j, i] = sum(a * b * deviance(middle + a * first + b * second) for a in (1, -1) for b in (1, -1)) / 4
    scale = np.diag(axes)
    return found / np.outer(scale, scale)


def _step(deviance, middle, k, least):
    step = 1e-3 * max(abs(middle[k]), 0.1)
    for _ in range(60):
        shift = step * np.eye(len(middle))[k]
        rise = (deviance(middle + shift) + deviance(middle - shift)) / 2 - least
        if RISE[0] <= rise <= RISE[1]:
            break
        step *= float(np.clip(np.sqrt(1 / rise), 0.1, 3)) if np.isfinite(rise) and rise > 0 else (3 if rise <= 0 else 0.3)
    return step


class Surface:
    """Functions of `count` numbers z, in errors, as polynomials of fourth order through their values on a grid: of the deviances of many sets of
    values at once, of which each evaluation on the grid is a single factorization."""
    def __init__(self, count):
        self.count = count
        axis = REACH * np.linspace(-1, 1, 5)
        grid = np.array(np.meshgrid(*[axis] * count)).reshape(count, -1).T
        self.grid = grid[np.sum(grid ** 2, axis=1) <= 1.6 * REACH ** 2]  # without its corners
        self.powers = np.array([power for power in np.ndindex(*[ORDER + 1] * count) if sum(power) <= ORDER])
        self.inverse = np.linalg.pinv(self._terms(self.grid))

    def _terms(self, z, derive=()):
        """[..., term]: the terms at z, or their derivatives by the numbers in `derive`."""
        powers, factor = self.powers.astype(float).copy(), np.ones(len(self.powers))
        for k in derive:
            factor = factor * powers[:, k]
            powers[:, k] = np.maximum(powers[:, k] - 1, 0)
        return factor * np.prod(np.asarray(z)[..., None, :] ** powers, axis=-1)

    def coefficients(self, values):
        """[term, set] from values [place of the grid, set]."""
        return self.inverse @ values

    def at(self, z, coefficients):
        """Each set's polynomial at its own z, [set, count]."""
        return np.sum(self._terms(z) * coefficients.T, axis=1)

    def slope(self, z, coefficients):
        """Its derivatives there, [set, k]."""
        return np.stack([np.sum(self._terms(z, (k,)) * coefficients.T, 1) for k in range(self.count)], -1)

    def second(self, z, coefficients):
        """Its second derivatives there, [set, k, k]."""
        return np.stack([np.stack([np.sum(self._terms(z, (j, k)) * coefficients.T, 1) for j in range(self.count)], -1)
                         for k in range(self.count)], -1)

    def minima(self, coefficients):
        """z of the minimum of each set's polynomial, within the grid and a little beyond: Newton's method with steps of one error at most."""
        z = np.zeros((coefficients.shape[1], self.count))
        for _ in range(25):
            gradient, second = self.slope(z, coefficients), self.second(z, coefficients)
            values, vectors = np.linalg.eigh(second)
            values = np.maximum(np.abs(values), 0.2)
            step = -np.einsum("sij,sj,skj,sk->si", vectors, 1 / values, vectors, gradient)
            length = np.linalg.norm(step, axis=1, keepdims=True)
            z = np.clip(z + step / np.maximum(length, 1), -BEYOND * REACH, BEYOND * REACH)
        return z

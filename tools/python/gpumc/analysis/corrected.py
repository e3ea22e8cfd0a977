"""Collapses with corrections to scaling whose size, shape and exponent are not known: what errors of T_c, nu and exponents must hold.

O = L^kappa [f(x) + A(x) L^-omega + B(x) L^-(omega + 1)] with smooth A and B, Gaussian processes as f is one (scaling.py), but with a size
that is expected: about `PART` of the values themselves (of ln O where there is an exponent), as it is known of the Ising, XY and Heisenberg models and,
`GLASS` times as large, of glasses (Pelissetto and Vicari, Phys. Rep. 368, 549 (2002); Hasenbusch, Phys. Rev. B 82, 174433 (2010); Baity-Jesi et al.,
Phys. Rev. B 88, 224416 (2013)). B stands for all that decays faster: omega_2, 2 omega, and the analytic background of susceptibilities, L^-(2 - eta).

Where L is larger than xi, corrections go with xi instead of L: A of xi/L may grow as (L/xi)^omega there, and is smooth in asinh(x / CROSSOVER), in which xi
changes by the same factor everywhere. As large and as smooth as at T_c it would leave the bend of xi/L far from T_c to b and nu: nu of the square Ising model
was up to five errors off.

T_c, nu, b, omega, the size of A and the length of f of each quantity are drawn from their probability given the values (posterior.py), of all quantities together.
A correction that looks like a shift of T_c leaves T_c as wide as that, although each fit nearby is narrow: averages of such fits had errors that were up to
six times too small. Small sizes need not be left out: what they do not tell of larger ones is what A and B are unknown by.
"""
import dataclasses

import numpy as np
from scipy import linalg

from . import likelihood, posterior, smoothing

OMEGAS = 0.5, 0.8, 1.1, 1.5, 2.0  # where omega is not known
SQUARE_OMEGAS = OMEGAS[1:]  # on square lattices, where no smaller ones are known: 4/5 (three-state Potts), 4/3 and 7/4 (Ising)
HIGHER = 1.0  # exponent of B beyond that of A
PART, WIDTH = 0.15, 0.5  # size of A, as a part of the values: the middle, and the width of its logarithm
PARTS = 0.05, 0.15, 0.5  # where a few must do
GLASS = 4.0  # how much larger they are in glasses
SECOND = 3.0  # size of B in sizes of A
CROSSOVER = 0.5  # |x| at which L is about xi, of square and cubic lattices, where xi is about |t|^-nu / 2
LEAST_LENGTH = 0.4  # of A and B, in units of the largest x
FAR_LENGTH = 1.0  # of those of xi/L, in asinh(x / CROSSOVER)
SIZE, LENGTH = 2.0, (0.2, 1.6)  # of f, in units of what a line leaves, and of the largest x
SIZES, LENGTHS = (1.0, 3.0), (0.25, 0.4, 0.6, 0.9, 1.3)  # where a few must do
LESS_LIKELY = 5.0  # deviance above the least of processes that do not take part
NU = 0.2, 5.0  # where nu may be
BEYOND = 0.3  # how far beyond the temperatures T_c may be, in units of their range
PLACES, ONE_OVER_NU = 15, np.geomspace(0.4, 2.5, 6)  # where the search starts
FOLLOWED, FOLLOWING = 4, 400  # places where walkers may begin that are followed to maxima, and by how many steps
MOVES, LEAST_MOVES = 1.0, 250  # of each walker, for each replicate, and at least
NOISE = 60  # replicates with noise alone
LARGEST = 0.999  # correlation of two quantities that is fitted
TAKEN = 20  # processes that are tried for the fitted curve
FARTHEST = 4.0  # errors from a fit that its replicates of noise may be


@dataclasses.dataclass(frozen=True)
class Process(likelihood.Process):
    """With corrections: `correction` is the size of A at T_c as a part of the values, with L^-omega. Those of xi/L decay with xi, as |x|^-`nu`, instead of
    L beyond `crossover`, in units of the largest x."""
    omega: float = 1.0
    nu: float = 1.0
    crossover: float = 0.2


@dataclasses.dataclass(frozen=True)
class Corrections:
    """What is found of the corrections: `omegas` that were tried with their `weights`; `drawn`, the omega of each replicate; `noise`
    [NOISE, (T_c, nu, b, exponent)], replicates of the likeliest fit with the noise of the values alone."""
    omegas: tuple
    weights: tuple
    drawn: np.ndarray
    noise: np.ndarray


class Problem(likelihood.Problem):
    """likelihood.Problem with A and B."""
    def __init__(self, kind, exponent, analytic, omegas, held):
        super().__init__(kind, exponent, analytic, None, held)
        self.omegas = tuple(omegas)
        self.taken = []
        self.is_length = kind.dataset == "correlation_length"  # not of overlaps, whose corrections are GLASS times as large at T_c already

    def covariance(self, points, u, process, other=None):
        """Of f, and A L^-omega + B L^-(omega + 1)."""
        v = u if other is None else other
        shape = smoothing.near(u, v, 1.0, process.length)
        if self.is_length:
            smooth = smoothing.near(np.arcsinh(u / process.crossover), np.arcsinh(v / process.crossover), 1.0, FAR_LENGTH)
        else:
            smooth = shape if process.length >= LEAST_LENGTH else smoothing.near(u, v, 1.0, LEAST_LENGTH)
        (first, second), (first_other, second_other) = (self.sizes(points, places, process) for places in (u, v))
        return process.size ** 2 * shape + smooth * (np.outer(first, first_other) + np.outer(second, second_other))

    def sizes(self, points, u, process):
        """Of A L^-omega and of B L^-(omega + 1) at each place."""
        glass = GLASS if "overlap" in self.kind.dataset else 1.0
        if self.is_length:
            unit, length = np.abs(points.values), points.side * (1 + (u / process.crossover) ** 2) ** (-process.nu / 2)  # of L and xi the smaller one
        elif self.kind.exponent:  # of logarithms; susceptibilities are squares of what orders, and have twice the corrections
            unit, length = 2.0 if self.kind.sign > 0 else 1.0, points.side
        else:
            unit, length = np.sqrt(np.mean(points.values ** 2)), points.side
        first = glass * process.correction * unit * length ** -process.omega
        return first, SECOND * length ** -HIGHER * first

    def processes(self, points, place, models=None):
        """All of the list with their deviances, the most likely first; `models`: pairs of omega and part, None: all."""
        y = self.prepared(points, points.values)
        scale = smoothing.spread_of(self.columns(points, place, self.places(points, place)), y)
        found = [Process(size * scale, length, part, omega, 1 / place[likelihood.NU], crossover(points, place)) for omega, part in models or self.models()
                 for size in SIZES for length in LENGTHS]
        return sorted(((self.solved(points, place, process, y).deviance[0], process) for process in found), key=lambda pair: pair[0])

    def typical(self, scale):
        return Process(scale, 0.6, PARTS[1], self.omegas[len(self.omegas) // 2])

    def search(self, points, start=None):
        """A likely place of a grid, and a process there: walkers find the others (posterior.py)."""
        def deviance(free, process):
            return self.solved(points, self.whole(free), process, y).deviance[0] + self.expected(free)

        y = self.prepared(points, points.values)
        place = np.array(self.start(points, deviance, PLACES, ONE_OVER_NU) if start is None else start, float)
        return place, self.typical(smoothing.spread_of(self.columns(points, place, self.places(points, place)), y))

    def process(self, points, place):
        """The most likely one of those that the average was made of."""
        y = self.prepared(points, points.values)
        return min(self.taken, key=lambda process: self.solved(points, place, process, y).deviance[0])

    def models(self):
        return [(omega, part) for omega in self.omegas for part in PARTS]


def crossover(points, place):
    """In units of the largest x."""
    return CROSSOVER / np.max(np.abs(likelihood.scaled(points, place)))


# --- what the numbers may be -----------------------------------------------------------------------

class Posterior:
    """Of T_c, 1/nu and b where they are free, of ln part and ln length of f of each quantity, and of omega where it is not known.

    Before the values are known T_c is anywhere between the temperatures or a little beyond, ln nu anywhere between those of NU, b 0 +- BEND_EXPECTED,
    ln part near that of PART, omega and the length anywhere in their ranges."""
    def __init__(self, problems, points, place):
        self.problems, self.points, self.first = problems, points, problems[0]
        values = [problem.prepared(own, own.values) for problem, own in zip(problems, points)]
        self.size = [SIZE * smoothing.spread_of(problem.columns(own, place, problem.places(own, place)), y)
                     for problem, own, y in zip(problems, points, values)]
        self.y, self.noise = np.concatenate(values), _common_noise(points)
        free, omegas, self.count = self.first.free, self.first.omegas, len(self.first.free)
        self.parts = self.count + 2 * np.arange(len(problems))  # columns of ln part, before those of ln length
        temperatures = np.concatenate([own.temperature for own in points])
        self.low, self.range = temperatures.min(), np.ptp(temperatures)
        own = [] if len(omegas) == 1 else [min(omegas)], [] if len(omegas) == 1 else [max(omegas)]
        self.lows = np.array([*np.array([self.low - BEYOND * self.range, 1 / NU[1], -20.0])[free], *np.log([PART / 30, LENGTH[0]] * len(problems)), *own[0]])
        self.highs = np.array([*np.array([self.low + (1 + BEYOND) * self.range, 1 / NU[0], 20.0])[free], *np.log([PART * 30, LENGTH[1]] * len(problems)), *own[1]])

    def process(self, numbers, which=0):
        part, length = np.exp(numbers[self.parts[which]:][:2])
        omegas, place = self.first.omegas, self.first.whole(numbers[:self.count])
        return Process(self.size[which], length, part, omegas[0] if len(omegas) == 1 else numbers[-1], 1 / place[likelihood.NU], crossover(self.points[which], place))

    def __call__(self, numbers):
        """ln of the probability."""
        if not np.all((numbers >= self.lows) & (numbers < self.highs)):
            return -np.inf
        free = numbers[:self.count]
        place = self.first.whole(free)
        deviance = self.first.expected(free) + np.sum(((numbers[self.parts] - np.log(PART)) / WIDTH) ** 2)
        try:
            deviance += self.solved(place, numbers).deviance[0]
        except np.linalg.LinAlgError:
            return -np.inf
        return -0.5 * deviance - (np.log(place[likelihood.NU]) if likelihood.NU in self.first.free else 0.0)

    def solved(self, place, numbers):
        """smoothing.Solved of the values of all quantities."""
        whole, columns, begin = self.noise.copy(), [], 0
        for which, (problem, points) in enumerate(zip(self.problems, self.points)):
            own = slice(begin, begin := begin + len(points.values))
            u, process = problem.places(points, place), self.process(numbers, which)
            whole[own, own] += problem.covariance(points, u, process) + (smoothing.LEAST_NOISE * process.size) ** 2 * np.eye(len(u))  # as Problem.noise()
            columns.append(problem.columns(points, place, u))
        return smoothing.solve(whole, linalg.block_diag(*columns), self.y)

    def places(self, place, random, count=posterior.PLACES):
        """Where it may be large: T_c and nu anywhere, or near `place`; all else near what is expected."""
        found = self.lows + (self.highs - self.lows) * random.random((count, len(self.lows)))
        found[:, self.parts] = np.log(PART) + WIDTH * random.normal(size=(count, len(self.parts)))
        free = self.first.free
        if likelihood.BEND in free:
            found[:, free.index(likelihood.BEND)] = 0.5 * random.normal(size=count)
        near = np.arange(count) % 2 == 0
        widths = np.array([self.range / 10, 0.2 * place[likelihood.NU], 0.3])[free]
        found[near, :self.count] = place[free] + widths * random.normal(size=(near.sum(), self.count))
        return found

    def followed(self, places):
        """With what the likeliest FOLLOWED of them lead to."""
        from scipy import optimize  # as in likelihood.py

        likeliest = sorted(places, key=self)[-FOLLOWED:]
        found = [optimize.minimize(lambda numbers: -self(numbers), start, method="Nelder-Mead", options={"maxfev": FOLLOWING}).x for start in likeliest]
        return np.vstack([places, found])

    def drawn(self, place, random, count):
        """[number drawn, parameter], more than ten times `count`, and which `count` of them are taken."""
        starts, logs = posterior.spread(self, self.followed(self.places(place, random)), random)
        found = posterior.sample(self, starts, logs, random, max(LEAST_MOVES, int(MOVES * count)))
        found = found.reshape(-1, found.shape[-1])
        return found, found[random.choice(len(found), count, replace=False)]

    def omegas(self, drawn):
        """Which of the listed omegas is the nearest, for each that was drawn."""
        listed = np.array(self.first.omegas)
        own = drawn[:, -1] if len(listed) > 1 else np.full(len(drawn), listed[0])
        return np.abs(own[:, None] - listed).argmin(1)


def _common_noise(points):
    """Covariance of the values of several quantities. Those of one simulation are correlated, those at different temperatures or of different simulations
    are not."""
    roots = [np.linalg.cholesky(own.noise + 1e-13 * np.trace(own.noise) * np.eye(len(own.noise))) for own in points]
    blocks = [[root @ (_correlation(own, another)[:, None] * other.T) for other, another in zip(roots, points)] for root, own in zip(roots, points)]
    return np.block(blocks)


def _correlation(points, others):
    """Of two quantities at each place, by their replicates: for each size a smooth function of the temperature (arctanh of it is quadratic)."""
    if points is others:
        return np.ones(len(points.side))
    found = np.zeros(len(points.side))
    if points.side.shape != others.side.shape or np.any(points.side != others.side) or np.any(points.temperature != others.temperature):
        return found
    first, second = (own.replicates - own.replicates.mean(0) for own in (points, others))
    scatter = np.sqrt(np.sum(first ** 2, 0) * np.sum(second ** 2, 0))
    raw = np.divide(np.sum(first * second, 0), scatter, out=np.zeros_like(scatter), where=scatter > 0)
    for side in np.unique(points.side):
        own = np.flatnonzero(points.side == side)
        t = points.temperature[own] - points.temperature[own].mean()
        bent = np.polynomial.Polynomial.fit(t, np.arctanh(np.clip(raw[own], -LARGEST, LARGEST)), 2)
        found[own] = np.tanh(bent(t))
    return found


def together(problems, points, place, count, seed):
    """T_c, nu and b that several quantities of the same simulations have in common, [1 + count, 3] as averaged() returns them for one; the weights of the
    omegas, and the omega of each replicate. Corrections of the quantities are independent, their noise is not."""
    random = np.random.default_rng(seed)
    density = Posterior(problems, points, place)
    drawn, chosen = density.drawn(place, random, count)
    numbers = np.vstack([drawn[:, :3].mean(0), chosen[:, :3]])
    numbers[1:, likelihood.NU] = 1 / numbers[1:, likelihood.NU]
    numbers[0, likelihood.NU] = np.mean(1 / drawn[:, likelihood.NU])
    return numbers, *_shares(density, drawn, chosen)


def _shares(density, drawn, chosen):
    """The weight of each omega, and the omegas of those that were chosen."""
    which = density.omegas(drawn)
    listed = np.array(density.first.omegas)
    return tuple(float(np.mean(which == k)) for k in range(len(listed))), listed[density.omegas(chosen)]


def averaged(problem, points, place, values, seed):
    """T_c, nu, b and the exponent of the values and of each replicate, [1 + count, 4], their errors, and the Corrections.

    `values` [point, 1 + count]: the values, and replicates of them, of which the first NOISE are fitted with the likeliest process. The replicates that
    are returned are drawn from what the numbers may be, given the values: they scatter as much as the numbers are unknown."""
    count = values.shape[1] - 1
    random = np.random.default_rng(seed)
    density = Posterior([problem], [points], place)
    drawn, chosen = density.drawn(place, random, count)
    processes = [density.process(row) for row in chosen]
    problem.taken = processes[:TAKEN]
    numbers = np.zeros((1 + count, 4))
    numbers[1:, :3] = [problem.whole(row[:density.count]) for row in chosen]
    middle = drawn[:, :density.count].mean(0)
    numbers[0, :3] = problem.whole(middle)
    numbers[:, likelihood.NU] = 1 / numbers[:, likelihood.NU]
    if likelihood.NU in problem.free:
        numbers[0, likelihood.NU] = np.mean(1 / drawn[:, problem.free.index(likelihood.NU)])
    numbers[:, 3] = problem.exponent or 0.0
    if problem.sign:
        numbers[1:, 3] = [_drawn_exponent(problem, points, problem.whole(row[:density.count]), process, values[:, 0], random)
                          for row, process in zip(chosen, processes)]
        numbers[0, 3] = numbers[1:, 3].mean()
    weights, omegas = _shares(density, drawn, chosen)
    noise = _noise(problem, points, density, chosen, values[:, :1 + NOISE])
    return numbers, tuple(map(float, np.std(numbers[1:], axis=0, ddof=1))), Corrections(problem.omegas, weights, omegas, noise)


def _noise(problem, points, density, chosen, values):
    """T_c, nu, b and the exponent of replicates with noise alone, [replicate, 4]: one of Newton's steps from the likeliest of the places that were
    drawn, with its process."""
    row = max(chosen, key=density)
    process, free = density.process(row), row[:density.count]
    numbers = np.zeros((values.shape[1], 4))
    places = np.tile(free, (values.shape[1], 1))
    if len(free):
        lows, highs = density.lows[:len(free)], density.highs[:len(free)]
        root = _root(problem, points, free, process, values)
        root *= min(1.0, np.min((highs - lows) / 4 / np.abs(root).max(1)))
        slope, second = stencil(problem, points, free, root, process, values)
        places = np.clip(free + newton(slope, second) @ root.T, lows, highs)
    numbers[:, :3] = [problem.whole(place) for place in places]
    numbers[:, 3] = problem.exponent or 0.0
    if problem.sign:
        numbers[:, 3] = [_exponent(problem, points, whole[:3], process, column) for whole, column in zip(numbers, values.T)]
    numbers[:, likelihood.NU] = 1 / numbers[:, likelihood.NU]
    return numbers[1:]


def _root(problem, points, free, process, values):
    """Steps of one error, [number, step]."""
    second = likelihood.second_derivatives(
        lambda numbers: problem.solved(points, problem.whole(numbers), process, values[:, 0]).deviance[0] + problem.expected(numbers), free)
    eigenvalues, vectors = np.linalg.eigh(second)
    positive = (vectors * np.maximum(np.abs(eigenvalues), 0.05 * np.max(np.abs(eigenvalues)))) @ vectors.T
    return np.linalg.cholesky(2 * np.linalg.inv(positive))


def stencil(problem, points, free, root, process, values):
    """Slopes [set, k] and second derivatives [set, k, k] along the steps of `root`, of all sets of values, by differences."""
    count = len(free)

    def at(z):
        numbers = free + root @ z
        return problem.solved(points, problem.whole(numbers), process, values).deviance + problem.expected(numbers)

    axes = np.eye(count)
    middle = at(np.zeros(count))
    up, down = ([at(sign * axis) for axis in axes] for sign in (1, -1))
    slope = (np.array(up) - np.array(down)).T / 2
    second = np.zeros((len(middle), count, count))
    for j in range(count):
        second[:, j, j] = up[j] + down[j] - 2 * middle
        for k in range(j):  # terms of third order cancel in this one
            mixed = (second[:, j, j] + second[:, k, k] + 2 * middle - at(axes[j] - axes[k]) - at(axes[k] - axes[j])) / 2
            second[:, j, k] = second[:, k, j] = mixed
    return slope, second


def newton(slope, second):
    """Steps to the minima, [set, k], no longer than FARTHEST."""
    values, vectors = np.linalg.eigh(second)
    values = np.maximum(np.abs(values), 0.2)
    steps = -np.einsum("sij,sj,skj,sk->si", vectors, 1 / values, vectors, slope)
    length = np.linalg.norm(steps, axis=1, keepdims=True)
    return steps * np.minimum(1, FARTHEST / np.maximum(length, 1e-9))


def _exponent(problem, points, place, process, column):
    return problem.sign * problem.solved(points, place, process, column).coefficients[0, 0]


def _drawn_exponent(problem, points, place, process, column, random):
    """As much as it is unknown, with the place and the process known."""
    solved = problem.solved(points, place, process, column)
    return problem.sign * solved.coefficients[0, 0] + np.sqrt(solved.coefficient_covariance[0, 0]) * random.normal()


def averaged_given(problem, points, values, given, seed):
    """As averaged(), with T_c, nu, b and omega of another collapse: each replicate with those of the same replicate."""
    numbers = np.vstack([[given.t_c, given.nu, given.bend, 0.0], given.replicates])
    numbers[:, 3] = problem.exponent or 0.0
    corrections = given.corrections
    if not problem.sign:
        problem.taken = [process for _, process in problem.processes(points, _place(numbers[0]))[:1]]
        return numbers, (*given.curvature[:3], 0.0), corrections
    random = np.random.default_rng(seed)
    problem.taken = []
    for omega in corrections.omegas:
        own = np.flatnonzero(corrections.drawn == omega) + 1
        if len(own) == 0:
            continue
        found = problem.processes(points, _place(numbers[own, :3].mean(0)), [(omega, part) for part in PARTS])
        found = [(deviance, process) for deviance, process in found if deviance < found[0][0] + LESS_LIKELY]
        shares = np.exp(-0.5 * (np.array([deviance for deviance, _ in found]) - found[0][0]))
        problem.taken.append(found[0][1])
        for row, which in zip(own, random.choice(len(found), p=shares / shares.sum(), size=len(own))):
            numbers[row, 3] = _drawn_exponent(problem, points, _place(numbers[row]), found[which][1], values[:, 0], random)
    numbers[0, 3] = numbers[1:, 3].mean()
    noise = corrections.noise.copy()
    process = problem.taken[int(np.argmax([weight for omega, weight in zip(corrections.omegas, corrections.weights) if np.any(corrections.drawn == omega)]))]
    noise[:, 3] = [_exponent(problem, points, _place(row), process, column) for row, column in zip(noise, values.T[1:])]
    return numbers, (*given.curvature[:3], float(np.std(numbers[1:, 3], ddof=1))), dataclasses.replace(corrections, noise=noise)


def _place(numbers):
    """(T_c, 1/nu, b) of (T_c, nu, b, ...)."""
    return np.array([numbers[0], 1 / numbers[1], numbers[2]])

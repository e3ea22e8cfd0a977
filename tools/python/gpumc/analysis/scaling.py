"""T_c, nu and the ratios of exponents by data collapse: O = L^kappa f(x) with a smooth f of which nothing else is known.

    found = gpumc.analysis.collapse(results, "binder_parameter", analytic=True)
    found.t_c, found.t_c_error, found.nu, found.nu_error
    found.quality.chi2, found.quality.freedom, found.quality.p
    gpumc.analysis.collapse(results, "abs_magnetization", given=found, analytic=True).exponent

x = (t + b t^2) L^(1/nu) with t = 1 - T_c/T = (beta_c - beta)/beta_c, which is above 0 in the disordered phase. b is 0 or, of `analytic`
fits, a parameter (the non-linear scaling field) that is expected to be 0 within 1; quantities with an exponent have a factor 1 + c t
then. Both are corrections that decay as L^(-1/nu) alone: in two dimensions more slowly than those by irrelevant fields, L^-omega, which
`omega` adds.

f is a Gaussian process (smoothing.py; Harada, Phys. Rev. E 84, 056704 (2011)), averaged over several sizes and lengths by their likelihood:
the most likely one alone would be too smooth, and errors too small. The alternative, local straight lines through the
neighbouring points of the other sizes (Houdayer and Hartmann, Phys. Rev. B 70, 014418 (2004)), has a bias where f bends between
points that are known well, and its sum of squares is of points that depend on each other, so that it is no chi^2 and gives neither
errors nor a probability. The restricted likelihood of the process has both, with the covariance of the values at different temperatures.

Quantities with an exponent are fitted as logarithms, in which kappa and c are linear and f bends little.
"""
import dataclasses

import numpy as np
from scipy import linalg

from .. import measured
from . import curves as curves_module
from . import corrected, likelihood, smoothing
from .likelihood import BEND, NU, T_C, scaled

REPLICATES = 200
LEAST_POINTS = 4  # of a size
LESS_LIKELY = 6.0  # deviance above the least of processes that do not take part


@dataclasses.dataclass(frozen=True)
class Collapse:
    """Result of collapse(). Numbers that were given, not fitted, have an error of 0 (of `given`: that one's).

    `exponent` is beta/nu, gamma/nu or kappa, as `exponent_name` says; "" and 0 of dimensionless quantities. `bend` is b. Errors are
    those of the bootstrap, standard deviations of `replicates` [count, (T_c, nu, b, exponent)]; `curvature` has those of the
    likelihood's curvature, in the same order. `x_range` is the range of x in use, `points` are the values in use, `collapsed` these
    without their powers of L, `residuals` what the fit leaves of them, in errors, and `left_out` how many were beyond `x_max`.
    `scaling_function`: x, mean and error of f (of ln f where there is an exponent). `groups`: what the bootstrap drew from. `remarks`:
    what is not to be trusted. `corrections`: what was found of them, None of fits whose errors are those of the noise alone.
    """
    quantity: str
    label: str
    exponent_name: str
    t_c: float
    t_c_error: float
    nu: float
    nu_error: float
    bend: float
    bend_error: float
    exponent: float
    exponent_error: float
    curvature: tuple
    replicates: np.ndarray
    quality: smoothing.Quality
    sides: tuple
    x_range: tuple
    points: likelihood.Points
    collapsed: np.ndarray
    residuals: np.ndarray
    left_out: int
    groups: str
    analytic: bool
    omega: float | tuple | None
    scaling_function: tuple
    remarks: tuple
    corrections: corrected.Corrections | None = None

    def text(self) -> str:
        """A line: the numbers with their errors and the quality of the fit."""
        said = [f"T_c = {measured.text(self.t_c, self.t_c_error)}", f"nu = {measured.text(self.nu, self.nu_error)}"]
        if self.exponent_name:
            said.append(f"{self.exponent_name} = {measured.text(self.exponent, self.exponent_error)}")
        return f"{self.assumed()}{', '.join(said)}; {self.quality.text()}; {self.of()}"

    def assumed(self):
        """What errors of noise alone rest on, in words before the numbers; "" where errors hold corrections of unknown size."""
        if self.corrections is not None:
            return ""
        return "if there are no corrections to scaling: " if self.omega is None else f"if corrections to scaling are L^-{self.omega:g} alone: "

    def of(self):
        """The sizes and the range of x."""
        return f"L = {', '.join(map(str, self.sides))}, x from {self.x_range[0]:.2g} to {self.x_range[1]:.2g}"


def collapse(results, quantity: str = "binder_parameter", *, t_c: float | None = None, nu: float | None = None,
             given: Collapse | None = None, exponent: float | None = None, analytic: bool = False,
             omega: float | tuple | None = None,
             x_max: float | None = None, smallest: int = 0, replicates: int = REPLICATES,
             seed: int = 1) -> Collapse:
    """Fits T_c, nu and the exponent of a quantity of several sizes; returns a Collapse.

    `results`: one for each size: Results, paths, or Curves (from_arrays() makes them of other numbers).
    `quantity`: "binder_parameter", "binder_overlap", "xi/L", "xi_overlap/L" (no exponent); "abs_magnetization", "abs_overlap" (beta/nu);
      "susceptibility", N <m^2>, and "chi_overlap" (gamma/nu); or a dataset of the summary above 0 (kappa of L^kappa).
    `t_c`, `nu`, `exponent`: values that are known; None: fitted. `given`: a Collapse of the same results, whose T_c, nu and b are used,
      with their errors: its replicates are of the same simulations (`replicates` and `seed` as for that one).
    `analytic`: fits b of the non-linear scaling field and, of quantities with an exponent, the factor 1 + c t.
    `omega`: None: no corrections to scaling; a number: a correction L^-omega g(x) with another smooth g, and no other; a tuple of numbers: corrections
      of unknown size with one of these exponents, an average over them, and others that decay faster (corrected.py). Only errors of the last kind hold what is
      not known of corrections, as those of critical_point() do.
    `x_max`: leaves out values with |x| above it, by a first fit to all of them. `smallest`: leaves out sizes below it.
    `replicates` and `seed` of the bootstrap.

    Raises transition.NotComparable if results do not belong together or lack the quantity, ValueError if fewer than two sizes (with
    `omega`, a number: three) have four temperatures or more."""
    sizes = [size for size in curves_module.read_all(results, [quantity]) if size.side >= smallest]
    if not sizes:
        raise ValueError(f"no size is {smallest} or larger")
    kind = curves_module.quantity_of(quantity, sizes[0].dimension)
    least = 3 if isinstance(omega, (int, float)) else 2
    points = _enough(points_of(sizes, quantity, kind, replicates, seed), least)
    held = (t_c, None if nu is None else 1 / nu, None if analytic else 0.0)
    if given is not None:
        held = given.t_c, 1 / given.nu, given.bend
    problem = (corrected.Problem(kind, exponent, analytic, omega, held) if isinstance(omega, tuple) else
               likelihood.Problem(kind, exponent, analytic, omega, held))
    place, process = problem.search(points)
    left_out = 0
    if x_max is not None:
        chosen = np.flatnonzero(np.abs(scaled(points, place)) <= x_max)
        left_out = len(points.values) - len(chosen)
        points = _enough(points.at(chosen), least)
        place, process = problem.search(points, place)
    return _finished(problem, points, place, process, given, quantity, kind, sizes, left_out)


def points_of(sizes, name, kind, count, seed):
    """The values of all sizes together; of quantities with an exponent their logarithms."""
    side, temperature, values, noises, drawn = [], [], [], [], []
    for size in sizes:
        known = size.known(name)
        if kind.exponent:
            known = known[size.values[name][known] > 0]
        y, noise = size.values[name][known], size.covariance(name)[np.ix_(known, known)]
        other = size.replicates(name, count, seed)[:, known]
        if kind.exponent:
            noise, other = noise / np.outer(y, y), (other - y) / y
            y = np.log(y) + np.diag(noise) / 2  # the mean of ln is below ln of the mean
            other = y + other
        side.append(np.full(len(known), float(size.side)))
        temperature.append(size.temperature[known])
        values.append(y)
        noises.append(noise)
        drawn.append(other)
    return likelihood.Points(*map(np.concatenate, (side, temperature, values)), linalg.block_diag(*noises),
                             np.concatenate(drawn, axis=1))


def _enough(points, least):
    """Without sizes of too few values; refuses what cannot be a collapse."""
    sides, counts = np.unique(points.side, return_counts=True)
    points = points.at(np.flatnonzero(np.isin(points.side, sides[counts >= LEAST_POINTS])))
    if len(np.unique(points.side)) < least:
        raise ValueError(f"a collapse needs {least} sizes or more of {LEAST_POINTS} temperatures each"
                         + (" with corrections L^-omega" if least > 2 else ""))
    return points


def _finished(problem, points, place, process, given, quantity, kind, sizes, left_out):
    values = np.column_stack([problem.prepared(points, points.values), problem.prepared(points, points.replicates.T)])
    corrections, remarks = None, []
    if isinstance(problem, corrected.Problem):
        seed = [values.shape[1], *quantity.encode()]
        numbers, curvature, corrections = (corrected.averaged(problem, points, place, values, seed) if given is None else
                                           corrected.averaged_given(problem, points, values, given, seed))
    else:
        numbers, curvature, remarks = (_bootstrap(problem, points, place, process, values) if given is None else
                                       _bootstrap_given(problem, points, place, values, given))
    place = np.array([numbers[0, T_C], 1 / numbers[0, NU], numbers[0, BEND]])
    process = problem.process(points, place)
    drawn, exponent = numbers[1:], float(numbers[0, 3])
    errors = np.where(np.ptp(drawn, axis=0) > 0, np.std(drawn, axis=0, ddof=1), 0.0)
    own = problem.solved(points, place, process, values[:, 0])
    deviations = (points.replicates - points.values) if any(size.is_joint for size in sizes) else None
    quality, function, residuals = _quality(problem, points, place, process, values[:, 0], own, deviations)
    x = scaled(points, place)
    return Collapse(quantity, kind.label, kind.exponent, float(place[T_C]), float(errors[0]), float(1 / place[NU]), float(errors[1]),
                    float(place[BEND]), float(errors[2]), exponent, float(errors[3]), tuple(map(float, curvature)), drawn,
                    quality, tuple(int(side) for side in np.unique(points.side)), (float(x.min()), float(x.max())), points,
                    _collapsed(problem, points, place, own, kind, exponent), residuals, left_out, _groups(sizes, quantity),
                    problem.analytic, problem.omega if corrections is None else problem.omegas, function, (*remarks, *_remarks(points, place, quality, sizes, quantity)), corrections)


def _collapsed(problem, points, place, solved, kind, exponent):
    """The values without their power of L and the factor 1 + c t: what lies on f."""
    values = points.values - kind.sign * exponent * np.log(points.side)
    if problem.has_factor:
        values = values - problem.t(points, place) * solved.coefficients[problem.factor_column, 0]
    return values


# --- errors ---------------------------------------------------------------------------------------

def _bootstrap(problem, points, place, process, values):
    """T_c, nu, b and the exponent of the values and of each replicate, [1 + count, 4], the errors by curvature, and remarks.

    Numbers of the values, and variances by curvature, are averages over the processes that f may be, by their likelihood; the processes'
    differences add to the variances. Each replicate has one of the processes, drawn by their likelihood. Its own likelihood is taken on a
    grid round the fit, as a polynomial of fourth order between."""
    free, count = np.array([place[k] for k in problem.free]), len(problem.free)
    likely = [(deviance, other) for deviance, other in problem.processes(points, place)]
    likely = [(deviance, other) for deviance, other in likely if deviance - likely[0][0] < LESS_LIKELY]
    root = np.empty((0, 0))
    if count:
        second = likelihood.second_derivatives(
            lambda numbers: problem.solved(points, problem.whole(numbers), process, values[:, 0]).deviance[0] + problem.expected(numbers), free)
        if not np.linalg.eigvalsh(second)[0] > 0:
            numbers = np.full((values.shape[1], 4), np.nan)
            numbers[0] = *_columns(problem, free[None], 0.0)[0, :3], problem.exponent or np.nan
            return numbers, (np.nan,) * 4, ["the likelihood has no maximum here: more sizes, or temperatures nearer to T_c, are needed"]
        root = np.linalg.cholesky(2 * np.linalg.inv(second))
    random = np.random.default_rng([values.shape[1], 1])
    # What is expected of b differs between replicates by its error, so that they scatter as much as b is unknown.
    bends = np.append(0.0, likelihood.BEND_EXPECTED * random.normal(size=values.shape[1] - 1))
    fits = [_of_process(problem, points, free, root, other, values, bends) for _, other in likely]
    weights = np.exp(-0.5 * (np.array([fit.deviance for fit in fits]) - min(fit.deviance for fit in fits)))
    weights /= weights.sum()
    first = np.array([fit.numbers[0] for fit in fits])
    drawn = random.choice(len(fits), p=weights, size=values.shape[1])
    numbers = np.array([fit.numbers for fit in fits])[drawn, np.arange(values.shape[1])]
    numbers[0] = first[0] + weights @ (first - first[0])  # what is held stays as it is
    variances = weights @ (np.array([fit.variances for fit in fits]) + (first - numbers[0]) ** 2)
    return numbers, np.sqrt(variances), []


@dataclasses.dataclass(frozen=True)
class _Fit:
    """With one process: the numbers of all sets [set, 4], the deviance of the first one, and its variances by curvature."""
    numbers: np.ndarray
    deviance: float
    variances: np.ndarray


def _of_process(problem, points, free, root, process, values, bends):
    count, sign = len(free), problem.sign
    if count == 0:
        solved = problem.solved(points, problem.whole(free), process, values)
        exponents = sign * solved.coefficients[0] if sign else np.full(values.shape[1], problem.exponent or 0.0)
        variance = solved.coefficient_covariance[0, 0] if sign else 0.0
        return _Fit(_columns(problem, np.empty((len(exponents), 0)), exponents), solved.deviance[0], np.array([0, 0, 0, variance]))
    surface = likelihood.Surface(count)
    places = [free + root @ z for z in surface.grid]
    found = [problem.solved(points, problem.whole(numbers), process, values) for numbers in places]
    deviances = surface.coefficients(np.array([solved.deviance + problem.expected(numbers, bends)
                                               for solved, numbers in zip(found, places)]))
    z = surface.minima(deviances)
    covariance = 2 * np.linalg.inv(surface.second(z[:1], deviances[:, :1])[0])
    spread = root @ covariance @ root.T
    variances = np.zeros(4)
    variances[problem.free] = np.diag(spread)
    numbers = free + z @ root.T
    if NU in problem.free:
        variances[NU] /= numbers[0, problem.free.index(NU)] ** 4
    exponents = np.full(len(z), problem.exponent or 0.0)
    if sign:
        linear = surface.coefficients(np.array([solved.coefficients[0] for solved in found]))
        exponents = sign * surface.at(z, linear)
        slope = surface.slope(z[:1], linear[:, :1])[0]
        own = problem.solved(points, problem.whole(numbers[0]), process, values[:, 0]).coefficient_covariance[0, 0]
        variances[3] = own + slope @ covariance @ slope
    return _Fit(_columns(problem, numbers, exponents), surface.at(z[:1], deviances[:, :1])[0], np.maximum(variances, 0))


def _columns(problem, free, exponents):
    """[count, (T_c, nu, b, exponent)]"""
    whole = np.empty((len(free), 4))
    for k in range(3):
        whole[:, k] = free[:, problem.free.index(k)] if k in problem.free else problem.held[k]
    whole[:, NU] = 1 / whole[:, NU]
    whole[:, 3] = exponents
    return whole


def _bootstrap_given(problem, points, place, values, given):
    """With T_c, nu and b of another collapse: each replicate with those of the same replicate, and one of the processes."""
    if len(given.replicates) != values.shape[1] - 1:
        raise ValueError(f"given has {len(given.replicates)} replicates, but {values.shape[1] - 1} were requested")
    numbers = np.vstack([[given.t_c, given.nu, given.bend, problem.exponent or 0.0], given.replicates])
    if not problem.sign:
        numbers[:, 3] = problem.exponent or 0.0
        return numbers, (*given.curvature[:3], 0.0), []

    def exponent(row, process, column):
        return problem.sign * problem.solved(points, (row[T_C], 1 / row[NU], row[BEND]), process, column).coefficients[0, 0]

    likely = problem.processes(points, place)
    likely = [(deviance, process) for deviance, process in likely if deviance - likely[0][0] < LESS_LIKELY]
    weights = np.exp(-0.5 * (np.array([deviance for deviance, _ in likely]) - likely[0][0]))
    weights /= weights.sum()
    drawn = np.random.default_rng([values.shape[1], 2]).choice(len(likely), p=weights, size=len(numbers))
    for row, number, column in zip(numbers[1:], drawn[1:], values.T[1:]):
        row[3] = exponent(row, likely[number][1], column)
    own = np.array([exponent(numbers[0], process, values[:, 0]) for _, process in likely])
    numbers[0, 3] = weights @ own
    best, spread = likely[0][1], np.cov(given.replicates[:, :3].T)
    slopes = np.zeros(3)
    for k in np.flatnonzero(np.diag(spread) > 0):
        step = np.append(np.sqrt(spread[k, k]) * np.eye(3)[k], 0.0)
        slopes[k] = (exponent(numbers[0] + step, best, values[:, 0]) - exponent(numbers[0] - step, best, values[:, 0])) / (2 * step[k])
    variance = (problem.solved(points, place, best, values[:, 0]).coefficient_covariance[0, 0] + slopes @ spread @ slopes
                + weights @ (own - numbers[0, 3]) ** 2)
    return numbers, (*given.curvature[:3], float(np.sqrt(variance))), []


def _quality(problem, points, place, process, y, solved, deviations):
    """chi^2 of the fit, where T_c, nu and b count as fitted unless they were known, the scaling function (x, mean and
    error), and the residuals in errors."""
    u, largest = problem.places(points, place), np.max(np.abs(scaled(points, place)))
    fixed, own = problem.columns(points, place, u), problem.covariance(points, u, process)
    noise = problem.noise(points, process)
    solution = linalg.cho_solve((solved.factor, True), y - fixed @ solved.coefficients[:, 0])

    def mean(other_place):
        at = scaled(points, other_place) / largest
        return (problem.columns(points, other_place, at) @ solved.coefficients[:, 0]
                + problem.covariance(points, at, process, u) @ solution)

    more = []
    for k in problem.fitted:
        step = 1e-4 * max(abs(place[k]), 0.1) * np.eye(3)[k]
        more.append(mean(tuple(place + step)) - mean(tuple(place - step)))
    columns = np.column_stack([fixed, *more])
    columns = columns / np.sqrt(np.sum(columns ** 2, axis=0))
    hat = smoothing.smoother(noise + own, columns, own)
    return (smoothing.quality(y, noise, hat, deviations), _function(problem, points, fixed, solved, process, y, u, largest),
            (y - hat @ y) / np.sqrt(np.diag(noise)))


def _function(problem, points, fixed, solved, process, y, u, largest):
    """x, mean and error of f on a grid, without powers of L, the factor 1 + c t, and corrections."""
    at = np.linspace(u.min(), u.max(), 201)
    columns = np.zeros((len(at), fixed.shape[1]))
    columns[:, problem.constant_column], columns[:, problem.constant_column + 1] = 1, at
    cross = smoothing.near(at, u, process.size, process.length)
    inverse = linalg.cho_solve((solved.factor, True), np.column_stack([fixed, cross.T, y]))
    fixed_solved, cross_solved, y_solved = inverse[:, :fixed.shape[1]], inverse[:, fixed.shape[1]:-1], inverse[:, -1]
    mean = columns @ solved.coefficients[:, 0] + cross @ (y_solved - fixed_solved @ solved.coefficients[:, 0])
    left = columns - cross @ fixed_solved
    variance = (process.size ** 2 - np.sum(cross * cross_solved.T, 1)
                + np.einsum("ij,jk,ik->i", left, solved.coefficient_covariance, left))
    if problem.sign:
        mean = mean - np.log(points.side.min()) * solved.coefficients[0, 0]
    return at * largest, mean, np.sqrt(np.maximum(variance, 0))


def _groups(sizes, quantity):
    return " and ".join(sorted({size.groups or "the errors alone" for size in sizes}))


def _remarks(points, place, quality, sizes, quantity):
    found = []
    if not points.temperature.min() < place[T_C] < points.temperature.max():
        found.append("T_c is beyond the temperatures of the files")
    if quality.p < 0.01:
        found.append(f"the sizes do not collapse within their errors (p = {quality.p:.1g}): leave out the smallest sizes or the values "
                     "farthest from T_c, or fit corrections to scaling")
    if any(size.is_joint and quantity in size.deviations and len(size.deviations[quantity]) < 8 * len(size.beta) for size in sizes):
        found.append("too few groups show how the temperatures depend on each other (fewer than 8 for each temperature): errors "
                     "may be 10 to 20 % too small")
    if any(not size.groups and quantity not in size.correlations for size in sizes):
        found.append("the files do not say how values at different temperatures depend on each other; they were treated as "
                     "independent")
    return found

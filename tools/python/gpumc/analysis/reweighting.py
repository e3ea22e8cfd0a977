"""Averages at other temperatures than those simulated, from the time series of canonical runs at one temperature or several.

    found = gpumc.analysis.reweight("series.h5", np.linspace(2.2, 2.4, 81))       # algorithm.series: true
    found.values["binder_parameter"], found.errors["binder_parameter"]

One temperature: Ferrenberg and Swendsen, Phys. Rev. Lett. 61, 2635 (1988). Several: all measurements together with the free energies that
make them most likely (Ferrenberg and Swendsen, Phys. Rev. Lett. 63, 1195 (1989); Shirts and Chodera, J. Chem. Phys. 129, 124105 (2008)).
Density of states and averages of `muca` need neither: the program writes them.
"""
import dataclasses

import numpy as np
from scipy import sparse, special

from . import transition

REPLICATES = 200
MOST_LEVELS = 20000  # different energies; more are put into BINS
BINS = 5000
LONGEST_BLOCKS = 256  # blocks of a temperature at most
TIMES = 20  # autocorrelation times in a block, at least
FEWEST_BLOCKS = 24
LEAST_EFFECTIVE = 100.0  # measurements that count, as if independent, at a temperature that is reported
PRECISION = 1e-9  # of the free energies


@dataclasses.dataclass(frozen=True)
class Reweighted:
    """Of reweight(): `values` and `errors` by name at `temperature`, NaN where fewer than 100 independent measurements count
    (`effective_samples`). `replicates` by name, [count, temperature]: the bootstrap's. `log_partition`: ln Z at the temperatures of the
    runs less that of the first of them, with its error. `remarks`: what is not to be trusted."""
    temperature: np.ndarray
    values: dict
    errors: dict
    replicates: dict = dataclasses.field(repr=False)
    effective_samples: np.ndarray
    simulated: np.ndarray
    log_partition: np.ndarray
    log_partition_error: np.ndarray
    remarks: tuple

    @property
    def beta(self):
        return 1 / self.temperature


@dataclasses.dataclass(frozen=True)
class _Run:
    """Of one temperature: for blocks of time, [block, level], how many measurements there were and sums of powers; `inefficiency`:
    measurements that one independent one is worth."""
    beta: float
    counts: sparse.csr_matrix
    sums: dict
    inefficiency: float


def reweight(results, temperatures, *, replicates: int = REPLICATES, seed: int = 1) -> Reweighted:
    """Averages at `temperatures`, as a Reweighted.

    `results`: one or several, Results or paths, of algorithm canonical with series: true and of the same model and size; all their temperatures
    are used together. Quantities, per site as in the summary: energy, specific_heat and, as far as the series are there, abs_magnetization,
    magnetization2, magnetization4, binder_parameter, susceptibility (N <m^2>), structure_factor and correlation_length.

    Autocorrelation: a temperature's measurements have the weight of as many independent ones as they are worth, by the longest
    autocorrelation time in the file. Errors: bootstrap over blocks of time, of 20 autocorrelation times at least, of every replica and
    temperature; the free energies are found anew for each.

    Raises transition.NotComparable for other algorithms, without series, for samples of disorder (whose averages are ratios of their own),
    and for different models."""
    from .points import read_if_path

    opened = read_if_path(results if isinstance(results, (list, tuple)) else [results])
    for result in opened:
        _refuse(opened[0], result)
    sites = int(np.prod(opened[0].config["model"]["shape"]))
    remarks: list[str] = []
    runs, levels = _runs(opened, sites, remarks)
    beta = 1 / np.asarray(temperatures, float)
    random = np.random.default_rng(seed)
    ones = [np.ones(run.counts.shape[0]) for run in runs]
    free, first, effective = _averages(runs, levels, ones, beta, np.zeros(len(runs)), sites)
    drawn, partitions = [], []
    for _ in range(replicates):
        weights = [random.multinomial(len(one), one / len(one)).astype(float) for one in ones]
        other, averages, _ = _averages(runs, levels, weights, beta, free, sites)
        drawn.append(averages)
        partitions.append(other)
    values = _quantities(first, beta, opened[0])
    others = [_quantities(averages, beta, opened[0]) for averages in drawn]
    known = effective >= LEAST_EFFECTIVE
    if not known.all():
        remarks.append("temperatures at which fewer than {:.0f} independent measurements count are NaN: {}".format(
            LEAST_EFFECTIVE, ", ".join(f"{t:.6g}" for t in 1 / beta[~known])))
    replicas = {name: np.where(known, np.array([other[name] for other in others]), np.nan) for name in values}
    return Reweighted(1 / beta, {name: np.where(known, value, np.nan) for name, value in values.items()},
                      {name: np.std(rows, axis=0, ddof=1) for name, rows in replicas.items()}, replicas, effective,
                      np.array([1 / run.beta for run in runs]), free[0] - free, np.std(np.array(partitions), axis=0, ddof=1),
                      tuple(remarks))


def _refuse(first, result):
    algorithm = result.config["algorithm"]
    if algorithm["name"] != "canonical" or "control" in algorithm:
        raise transition.NotComparable(f"{result.path}: reweighting requires results of canonical over temperatures")
    if algorithm.get("samples", 1) > 1:
        raise transition.NotComparable(f"{result.path}: samples of disorder have averages of their own and cannot be reweighted together")
    if not result.runs or "energy" not in result.runs[0]:
        raise transition.NotComparable(f"{result.path}: no time series: set algorithm.series: true")
    transition.refuse_other_model(first, result)
    if result.config["model"]["shape"] != first.config["model"]["shape"]:
        raise transition.NotComparable(f"{first.path} and {result.path} are of different sizes")


# --- measurements ---------------------------------------------------------------------------------

def _runs(results, sites, remarks):
    """All temperatures, and the energies of the levels."""
    series = [(result, number, sites * np.asarray(run["energy"], float)) for result in results for number, run in enumerate(result.runs)]
    energies = np.unique(np.concatenate([np.unique(np.round(energy, 9)) for _, _, energy in series]))
    if len(energies) <= MOST_LEVELS:
        edges = (energies[1:] + energies[:-1]) / 2
    else:
        edges = np.linspace(energies[0], energies[-1], BINS + 1)[1:-1]
        energies = np.linspace(energies[0], energies[-1], 2 * BINS + 1)[1::2]
    return [_run(result, number, energy, np.searchsorted(edges, energy), len(energies), remarks)
            for result, number, energy in series], energies


def _run(result, number, energy, level, levels, remarks):
    columns, beta = result.runs[number], float(result.summary["beta"][number])
    times, replicas = energy.shape
    inefficiency = max(1.0, 2 * _longest_time(result, number) / _interval(result))
    length = max(TIMES / 2 * inefficiency, times * replicas / LONGEST_BLOCKS)
    in_replica = max(1, int(times / length))
    block = (np.arange(times) * in_replica // times)[:, None] + in_replica * np.arange(replicas)[None, :]
    blocks = in_replica * replicas
    if blocks < FEWEST_BLOCKS:
        remarks.append(f"T = {1 / beta:.6g}: only {blocks} blocks of {TIMES} autocorrelation times: its errors are uncertain")
    powers = {"energy": energy, "energy2": energy ** 2}
    if "magnetization" in columns:
        m = np.asarray(columns["magnetization"], float)
        powers |= {"abs_magnetization": np.abs(m), "magnetization2": m ** 2, "magnetization4": m ** 4}
    if "wave" in columns:
        powers["structure_factor"] = np.asarray(columns["wave"], float)

    def summed(values):
        return sparse.coo_matrix((values.ravel(), (block.ravel(), level.ravel())), shape=(blocks, levels)).tocsr()

    return _Run(beta, summed(np.ones_like(energy)), {name: summed(values) for name, values in powers.items()}, inefficiency)


def _interval(result):
    """Sweeps between measurements."""
    algorithm = result.config["algorithm"]
    return float(algorithm.get("interval") or 1)


def _longest_time(result, number):
    """Of the quantities in the file, in sweeps."""
    names = [name for name in result.summary if name.startswith("autocorrelation_time/") and name.count("/") == 1
             and not name.endswith("_error") and not name.endswith("/beta")]
    times = [float(result.summary[name][number]) for name in names if np.ndim(result.summary[name]) == 1]
    return max([time for time in times if np.isfinite(time)], default=0.0)


# --- averages -------------------------------------------------------------------------------------

def _averages(runs, levels, weights, beta, start, sites):
    """ln of 1/Z at the runs' temperatures, averages by name at `beta`, and how many independent measurements count there. `weights`: how often
    each block counts."""
    worth = [weight / run.inefficiency for run, weight in zip(runs, weights)]
    histogram = sum(run.counts.T @ own for run, own in zip(runs, worth))
    numbers = np.array([(run.counts.T @ own).sum() for run, own in zip(runs, worth)])
    seen = np.flatnonzero(histogram > 0)
    energies, histogram = levels[seen], histogram[seen]
    free, log_divisor = _free_energies(np.array([run.beta for run in runs]), numbers, energies, histogram, start)
    logs = -np.outer(beta, energies) - log_divisor
    factors = np.exp(logs - logs.max(axis=1, keepdims=True))
    total = factors @ histogram
    averages = {name: factors @ sum(run.sums[name].T @ own for run, own in zip(runs, worth))[seen] / total
                for name in runs[0].sums if all(name in run.sums for run in runs)}
    averages = {name: value / sites ** {"energy": 1, "energy2": 2}.get(name, 0) for name, value in averages.items()}
    return free, averages, total ** 2 / (factors ** 2 @ histogram)


def _free_energies(beta, numbers, energies, histogram, start):
    """f_k = -ln Z_k of the runs, and ln of sum_k n_k exp(f_k - beta_k E): Newton's method for the minimum of
    sum_E H(E) ln sum_k n_k exp(f_k - beta_k E) - sum_k n_k f_k, which is convex; f of the first run stays."""
    free = start if np.any(start) else _integrated(beta, numbers, energies, histogram)
    exponents = np.log(numbers)[:, None] - np.outer(beta, energies)

    def divisor(f):
        return special.logsumexp(exponents + f[:, None], axis=0)

    def aim(f, log_divisor):
        return histogram @ log_divisor - numbers @ f

    log_divisor = divisor(free)
    for _ in range(200):
        shares = np.exp(exponents + free[:, None] - log_divisor)
        gradient = shares @ histogram - numbers
        if np.max(np.abs(gradient) / numbers) < PRECISION:
            break
        second = np.diag(shares @ histogram) - (shares * histogram) @ shares.T
        step = np.zeros_like(free)
        if len(free) > 1:
            step[1:] = np.linalg.lstsq(second[1:, 1:], -gradient[1:], rcond=1e-14)[0]
        least = aim(free, log_divisor)
        for _ in range(40):  # shorter, until it goes down
            moved = divisor(free + step)
            if aim(free + step, moved) <= least + 1e-12 * abs(least):
                break
            step /= 2
        free, log_divisor = free + step, moved
    return free, log_divisor


def _integrated(beta, numbers, energies, histogram):
    """A start: the integral over beta of a mean energy between the extremes."""
    order, free = np.argsort(beta), np.zeros(len(beta))
    middle = energies @ histogram / histogram.sum()
    for first, second in zip(order, order[1:]):
        free[second] = free[first] + (beta[second] - beta[first]) * middle
    return free - free[0]


def _quantities(averages, beta, result):
    shape = result.config["model"]["shape"]
    sites = int(np.prod(shape))
    found = {"energy": averages["energy"], "specific_heat": beta ** 2 * sites * (averages["energy2"] - averages["energy"] ** 2)}
    if "magnetization2" in averages:
        second, fourth = averages["magnetization2"], averages["magnetization4"]
        found |= {"abs_magnetization": averages["abs_magnetization"], "magnetization2": second, "magnetization4": fourth,
                  "binder_parameter": 1 - fourth / (3 * second ** 2), "susceptibility": sites * second}
    if "structure_factor" in averages:
        found["structure_factor"] = averages["structure_factor"]
        if "magnetization2" in averages:
            with np.errstate(invalid="ignore"):
                found["correlation_length"] = (np.sqrt(sites * averages["magnetization2"] / averages["structure_factor"] - 1)
                                               / (2 * np.sin(np.pi / max(shape))))
    return found

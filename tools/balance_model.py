"""Replicas of population annealing without spins, whose weights and families have the statistics of a result of `pa`, for
populations far beyond those that were simulated.

A replica has one number, z, its energy in standard deviations from the mean. In a temperature step the logarithm of its
weight is -s z, after which z is normal again, about -s, and is measured from the new mean; sweeps leave a share `a` of z and draw the rest anew. s
follows from the result's ln Q and energies, and `a` from its rho_t: replicas of a family have energies in common as long as
sweeps do not make them forget, and that is what makes families grow."""
import dataclasses
import math

import numpy as np

import balance

PILOT = 100000  # replicas
BLOCK = 1 << 18  # slots at a time


class NotUsable(Exception):
    """The result does not tell what is needed; the message says what."""


@dataclasses.dataclass(frozen=True)
class Statistics:
    """By temperature step: `spread` s of the logarithms of weights, `memory` a of the sweeps before it, and rho_t after it as
    the result has it."""
    beta: np.ndarray
    spread: np.ndarray
    memory: np.ndarray
    rho_t: np.ndarray


def spreads(result):
    """ln Q = -dbeta <E> + s^2 / 2 for normal energies, on average over the runs."""
    if result.config["algorithm"]["name"] != "pa" or "beta" not in result.runs[0]:
        raise NotUsable(f"{result.path}: not a result of pa that anneals in beta")
    sites = math.prod(result.config["model"]["shape"])
    squares = [2 * (run["log_partition_ratio"][1:] + np.diff(run["beta"]) * sites * run["energy"][:-1])
               for run in result.runs]
    return np.sqrt(np.maximum(np.mean(squares, axis=0), 0))


def statistics(result, pilot=PILOT, method="nearest_integer", seed=1):
    """What the model needs of a result; `memory` is chosen step by step so that the families of a pilot population grow
    as the result's do."""
    spread = spreads(result)
    rho_t = np.mean([run["rho_t"][1:] for run in result.runs], axis=0)
    memory = np.zeros(len(spread))
    population = Population(pilot, seed, method)
    for step, s in enumerate(spread):
        memory[step] = population.memory_for(s, rho_t[step])
        population.sweep(memory[step])
        population.resample(s)
    return Statistics(result.runs[0]["beta"][1:], spread, memory, rho_t)


class Population:
    """`independent`: without families' energies in common, as if every replica were drawn anew before each step."""

    def __init__(self, target, seed, method="nearest_integer", independent=False):
        room = target + int(20 * math.sqrt(target)) + 64
        self.random = np.random.Generator(np.random.SFC64(seed))
        self.target, self.size, self.method, self.independent = target, target, method, independent
        self.z = np.empty(room, np.float32)
        self.family = np.arange(room, dtype=np.int32)
        for block in self._blocks():
            self.z[block] = self.random.standard_normal(block.stop - block.start, np.float32)

    def _blocks(self):
        return [slice(first, min(first + BLOCK, self.size)) for first in range(0, self.size, BLOCK)]

    def sweep(self, memory):
        kept = 0.0 if self.independent else memory
        if kept == 1:
            return
        for block in self._blocks():
            fresh = self.random.standard_normal(block.stop - block.start, np.float32)
            fresh *= np.float32(math.sqrt(1 - kept ** 2))
            self.z[block] *= np.float32(kept)
            self.z[block] += fresh

    def resample(self, spread):
        """Returns parents and free places (balance.find_places), whose children have then taken them."""
        s = np.float32(spread)
        total = sum(float(np.exp(-s * self.z[block]).sum(dtype=np.float64)) for block in self._blocks())
        scale, cumulated, offset = self.target / total, 0.0, self.random.random()
        parents, free = [], []
        for block in self._blocks():
            tau = np.exp(-s * self.z[block]) * np.float32(scale)
            if self.method == "systematic":
                tau = tau.astype(np.float64)
                points = np.floor(offset + cumulated + np.concatenate([[0.0], np.cumsum(tau)]))
                copies = np.diff(points).astype(np.int32)
                cumulated += float(tau.sum())
            else:
                copies = (tau + self.random.random(len(tau), np.float32)).astype(np.int32)
            further, places = balance.surplus(copies)
            parents.append(further + block.start)
            free.append(places + block.start)
        parents, free, size = balance.settle(np.concatenate(parents), np.concatenate(free), self.size)
        if size > len(self.z):
            raise NotUsable(f"a step of spread {spread:g} gives {size} replicas for {self.target}")
        self.z[free] = self.z[parents]
        self.family[free] = self.family[parents]
        self.size = size
        for block in self._blocks():
            self.z[block] += s
        return parents, free

    def sizes(self):
        """Of all families."""
        return np.bincount(self.family[:self.size], minlength=self.target)

    def rho_t(self):
        return float((self.sizes().astype(np.float64) ** 2).sum()) * self.target / self.size ** 2

    def memory_for(self, spread, rho_t):
        """The memory of the next sweeps with which resampling is expected to lead to rho_t, or 0 or 1."""
        family, z = self.family[:self.size], self.z[:self.size].astype(np.float64)
        rounding = rounding_variance(spread)
        if self.method == "systematic":
            rounding *= np.unique(family).size / self.size

        def expected(a):
            mean = np.exp(-spread * a * z)
            mean *= self.target / mean.sum()
            scatter = math.exp(spread ** 2 * (1 - a ** 2)) - 1
            together = np.bincount(family, mean)
            return ((together ** 2).sum() + scatter * (mean ** 2).sum()) / self.target + rounding

        low, high = 0.0, 1.0
        if expected(high) <= rho_t:
            return high
        if expected(low) >= rho_t:
            return low
        for _ in range(14):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if expected(middle) < rho_t else (low, middle)
        return 0.5 * (low + high)


def rounding_variance(spread, points=4001):
    """Of the number of copies about tau: the mean of f (1 - f), f the fraction of tau = exp(-s z - s^2 / 2)."""
    if spread == 0:
        return 0.0
    z = np.linspace(-8, 8, points)
    density = np.exp(-0.5 * z ** 2)
    fraction = np.exp(-spread * z - 0.5 * spread ** 2) % 1.0
    return float((density * fraction * (1 - fraction)).sum() / density.sum())

"""Populations of `pa` that a result holds with all replicas (`configurations: {every: 1}`), of Ising spins with and without
disorder: their energies, and the rule of resampling with the program's own random numbers, so that what a temperature step did is known
replica by replica."""
import dataclasses
import math

import numpy as np

import gpumc

RESAMPLE = 1  # GPUMC_RANDOM_RESAMPLE (core/numerics/random.h)
LOW = np.uint64(0xffffffff)
HALF = np.uint64(32)


class NotRecorded(Exception):
    """The file does not have what is needed; the message says what."""


@dataclasses.dataclass(frozen=True)
class Population:
    """Of one run at one temperature, by slot. `energy` is in units of J, of the whole system."""
    run: int
    row: int
    beta: float
    energy: np.ndarray
    family: np.ndarray


def populations(result, run):
    """All of one run, in the order of temperatures, one after the other: from row 1 on, as the start is never
    written."""
    if result.config["algorithm"].get("configurations", {}).get("every") != 1 or not result.is_complete:
        raise NotRecorded(f"{result.path}: does not hold the replicas of all temperatures; `configurations: {{every: 1}}` "
                          "writes them")
    couplings = _couplings(result)
    for row, beta in enumerate(result.runs[run]["beta"]):
        if row > 0:
            _, spins, families = gpumc.configurations(result.path, beta=beta, run=run)
            yield Population(run, row, float(beta), energies(spins[0][0], couplings), families[0][0])


def energies(spins, couplings):
    """-sum over bonds of J s s' of replicas [replica, (z,) y, x]; couplings[direction], x first, are numbers or arrays
    [(z,) y, x]."""
    total = np.zeros(len(spins), np.int64)
    for direction, coupling in enumerate(couplings):
        bonds = spins * np.roll(spins, -1, axis=-1 - direction)
        signed = bonds if np.ndim(coupling) == 0 else bonds * coupling
        total -= signed.reshape(len(spins), -1).sum(axis=1, dtype=np.int64)
    return total


def _couplings(result):
    model = result.config["model"]
    if model["name"] in ("ising2d", "ising3d") and model.get("h", 0) == 0 and model.get("J", 1) == 1:
        return [1] * len(model["shape"])
    with gpumc.opened(result.path) as file:
        if model["name"] != "ea" or "disorder/couplings" not in file:
            raise NotRecorded(f"{result.path}: energies are known for ising2d and ising3d without a field and with J = 1, and "
                              "for ea whose couplings are in the result (`write_couplings: true`)")
        couplings = file["disorder/couplings"][0]
    if np.any(np.abs(couplings) != 1):
        raise NotRecorded(f"{result.path}: couplings other than +-1")
    shape = tuple(reversed(model["shape"]))
    return [couplings[:, direction].reshape(shape).astype(np.int8) for direction in range(len(shape))]


# --- the rule, in integers: algorithms/pa/pa_rules.h ------------------------------------------------

def copies(result, population, next_beta):
    """Copies of each replica in the step to the next temperature, those that the program made."""
    algorithm = result.config["algorithm"]
    target = algorithm["population"]
    weight = weights(population.energy, next_beta - population.beta, target)
    total = int(weight.sum(dtype=np.uint64))
    key = _key(int(result.provenance["thermal_seed"]), population.run)
    rounds = int(result.config.get("rng", "philox4x32-10").rsplit("-", 1)[1])
    time = population.row + 1
    if algorithm["resampling"] == "systematic":
        offset = int(_uniform(key, np.zeros(1, np.uint64), time, total, rounds)[0])
        points = [(offset + target * int(sum_of)) // total for sum_of in np.cumsum(weight, dtype=np.uint64)]
        return np.diff(np.array([0, *points], np.int64))
    scaled = np.uint64(target) * weight
    uniform = _uniform(key, np.arange(len(weight), dtype=np.uint64), time, total, rounds)
    total = np.uint64(total)
    return (scaled // total).astype(np.int64) + (uniform < scaled % total)


def weights(energy, step, target):
    capacity = target + int(10.0 * math.sqrt(target)) + 16  # pa_capacity
    shift = 62 - min(32, (capacity - 1).bit_length())
    return np.rint(np.exp(-step * (energy - energy.min())) * 2.0 ** shift).astype(np.uint64)


def _key(seed, run):
    return np.uint64(seed & 0xffffffff), np.uint64((seed >> 32) | run << 16)


def _uniform(key, replica, time, limit, rounds):
    word = philox([replica, np.zeros_like(replica), np.full_like(replica, time),
                   np.full_like(replica, RESAMPLE << 24)], key, rounds)
    return _high_half(word[0] << HALF | word[1], np.uint64(limit))


def philox(counter, key, rounds):
    """Philox4x32 (Salmon et al., SC11) of counters [4][n] in 64-bit words."""
    c, k = list(counter), [np.uint64(word) for word in key]
    for _ in range(rounds):
        first, third = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [third >> HALF ^ c[1] ^ k[0], third & LOW, first >> HALF ^ c[3] ^ k[1], first & LOW]
        k = [np.uint64((int(word) + bump) & 0xffffffff) for word, bump in zip(k, (0x9E3779B9, 0xBB67AE85))]
    return c


def _high_half(a, b):
    """The upper 64 bits of the product of 64-bit words."""
    a0, a1, b0, b1 = a & LOW, a >> HALF, b & LOW, b >> HALF
    low, left, right = a0 * b0, a0 * b1, a1 * b0
    middle = (low >> HALF) + (left & LOW) + (right & LOW)
    return a1 * b1 + (left >> HALF) + (right >> HALF) + (middle >> HALF)

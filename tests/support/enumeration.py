"""Ising spins with any couplings and fields on lattices of up to 20 sites, by enumerating all states: slow, simple, and
independent of the program's code."""
import numpy as np


def neighbours(shape):
    """Returns [sites][dimension]: the next site in each direction; sites are in the order x + Lx (y + Ly z)."""
    numbers = np.arange(int(np.prod(shape))).reshape(tuple(reversed(shape)))
    return np.stack([np.roll(numbers, -1, axis=axis).ravel()
                     for axis in reversed(range(len(shape)))], axis=1)


def states(sites):
    """Returns all states, [2^sites][sites] of +1 and -1."""
    return 2 * (np.arange(2**sites)[:, None] >> np.arange(sites) & 1).astype(np.int8) - 1


def energies(shape, couplings, fields):
    """Returns the energies of all states; couplings [sites][dimension], fields [sites]."""
    spins = states(int(np.prod(shape)))
    following = neighbours(shape)
    energy = -(spins @ np.asarray(fields, dtype=float))
    for d in range(len(shape)):
        energy -= (spins * spins[:, following[:, d]]) @ np.asarray(couplings, dtype=float)[:, d]
    return energy


def averages(shape, couplings, fields, betas):
    """Returns exact curves by name, per site as in a summary: -ln Z (beta_free_energy), energy, moments of the
    magnetization, and the structure factor at the smallest wave vectors."""
    sites = int(np.prod(shape))
    spins = states(sites)
    energy = energies(shape, couplings, fields)
    magnetization = np.abs(spins.sum(axis=1, dtype=float))
    place = np.unravel_index(np.arange(sites), tuple(reversed(shape)))[::-1]
    longest = [d for d in range(len(shape)) if shape[d] == max(shape)]
    factor = sum(np.abs(spins @ np.exp(2j * np.pi * place[d] / shape[d]))**2 for d in longest)
    measured = {"energy": energy / sites, "abs_magnetization": magnetization / sites,
                "magnetization2": (magnetization / sites)**2,
                "magnetization4": (magnetization / sites)**4,
                "structure_factor": factor / len(longest) / sites}
    curves = {name: np.empty(len(betas)) for name in [*measured, "beta_free_energy"]}
    for i, beta in enumerate(betas):
        weight = np.exp(-beta * (energy - energy.min()))
        total = weight.sum()
        curves["beta_free_energy"][i] = (beta * energy.min() - np.log(total)) / sites
        for name, value in measured.items():
            curves[name][i] = weight @ value / total
    return curves

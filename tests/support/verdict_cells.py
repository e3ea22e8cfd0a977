"""Cells of the table of verdicts (test_verdict_rates.py): runs that should be trusted, of every model by the algorithms
that simulate it in so short a time, and runs that should not be, because they are too short, stuck, or in one of two phases.

Each run takes a second or two of one core. Exact values are from enumeration, Kaufman's formula or partition functions
of rings, by code that shares nothing with the program; None where nothing exact is known.
"""
import dataclasses
import functools
import pathlib
import sys
import typing

import numpy as np

from support import enumeration, heisenberg_exact, splitmix_couplings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/python"))
from gpumc import ising2d_exact  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Cell:
    """`model` and `algorithm`: the blocks, in which {seed} stands for the run's seed. `right`: whether the run is one
    to be trusted. `exact`: returns the exact curves by name, as in the summary; `at`: the points that are compared."""
    name: str
    right: bool
    what: str
    model: str
    algorithm: str
    exact: typing.Callable | None = None
    kernel: str = ""
    files: dict = dataclasses.field(default_factory=dict)

    def config(self, seed):
        kernel = f"kernel: {{device: cpu{self.kernel}}}\n"
        return (f"gpumc: 1\nseed: {seed}\nmodel: {{{self.model}}}\nalgorithm: {{{self.algorithm}}}\n".replace("{seed}", str(seed))
                + kernel + "output: r.h5\n")


# ---- exact values ----

def of_states(energy, magnetization, sites, betas):
    """Energy, specific heat, |m| and m^2 per site, from all states."""
    found = {name: [] for name in ("energy", "specific_heat", "abs_magnetization", "magnetization2")}
    m = np.abs(magnetization) / sites
    for beta in betas:
        weight = np.exp(-beta * (energy - energy.min()))
        weight /= weight.sum()
        mean = weight @ energy
        found["energy"].append(mean / sites)
        found["specific_heat"].append(beta ** 2 * (weight @ (energy - mean) ** 2) / sites)
        found["abs_magnetization"].append(weight @ m)
        found["magnetization2"].append(weight @ m ** 2)
    return {name: np.array(values) for name, values in found.items()}


@functools.cache
def lattice(shape, betas, h=0.0, couplings=None):
    """Spins with couplings 1, or those given as a flat tuple."""
    sites = int(np.prod(shape))
    J = np.ones((sites, len(shape))) if couplings is None else np.array(couplings, dtype=float).reshape(sites, -1)
    energy = enumeration.energies(shape, J, np.full(sites, h))
    return of_states(energy, enumeration.states(sites).sum(axis=1, dtype=float), sites, betas)


@functools.cache
def square(side, betas):
    _, energy, specific_heat = ising2d_exact.kaufman(side, side, np.array(betas))
    return {"energy": energy, "specific_heat": specific_heat}


@functools.cache
def mean_of_glasses(betas):
    """2 x 4 spins: the average over all +-J couplings."""
    spins, following = enumeration.states(8), enumeration.neighbours((2, 4))
    bonds = np.concatenate([spins * spins[:, following[:, d]] for d in range(2)], axis=1).astype(float)  # [states][16]
    energy = -enumeration.states(16).astype(float) @ bonds.T  # [couplings][states]
    found = {"energy": [], "specific_heat": []}
    for beta in betas:
        weight = np.exp(-beta * (energy - energy.min(axis=1, keepdims=True)))
        weight /= weight.sum(axis=1, keepdims=True)
        mean = (weight * energy).sum(axis=1)
        square_ = (weight * (energy - mean[:, None]) ** 2).sum(axis=1)
        found["energy"].append(mean.mean() / 8)
        found["specific_heat"].append(beta ** 2 * square_.mean() / 8)
    return {name: np.array(values) for name, values in found.items()}


@functools.cache
def ring(components, sites, betas):
    energy, specific_heat = zip(*(heisenberg_exact.exact(components, sites, beta) for beta in betas))
    return {"energy": np.array(energy), "specific_heat": np.array(specific_heat)}


@functools.cache
def in_fields(shape, beta, fields):
    """Spins with couplings 1 at one temperature, over the field, which the energy is without."""
    sites = int(np.prod(shape))
    energy = enumeration.energies(shape, np.ones((sites, len(shape))), np.zeros(sites))
    total = enumeration.states(sites).sum(axis=1, dtype=float)
    found = {name: [] for name in ("energy", "energy_in_field", "magnetization", "abs_magnetization", "magnetization2", "susceptibility")}
    for h in fields:
        in_field = energy - h * total
        weight = np.exp(-beta * (in_field - in_field.min()))
        weight /= weight.sum()
        mean = weight @ total
        for name, value in (("energy", weight @ energy / sites), ("energy_in_field", weight @ in_field / sites),
                            ("magnetization", mean / sites), ("abs_magnetization", weight @ np.abs(total) / sites),
                            ("magnetization2", weight @ total ** 2 / sites ** 2),
                            ("susceptibility", beta * (weight @ (total - mean) ** 2) / sites)):
            found[name].append(value)
    return {name: np.array(values) for name, values in found.items()}


def from_infinite_temperature(curves):
    """With the point beta = 0 of spins of any kind before the others."""
    return {name: np.concatenate([[0.0], curve]) for name, curve in curves.items()}


GLASS = (4, 4)
GLASS_SEED = 5
GLASS_FILES = {"glass.txt": splitmix_couplings.text_file(GLASS, [GLASS_SEED])}
GLASS_MODEL = "name: ea, shape: [4, 4], couplings: file, file: glass.txt"


def glass(betas):
    return lattice(GLASS, betas, couplings=tuple(splitmix_couplings.couplings(GLASS, GLASS_SEED)))


def values(betas):
    return f"beta: {{values: [{', '.join(map(str, betas))}]}}"


# ---- runs to be trusted ----

SQUARE = "name: ising2d, shape: [16, 16]"
SMALL = "name: ising2d, shape: [4, 4]"
CUBE = "name: ising3d, shape: [2, 2, 4]"
GLASSES = "name: ea, shape: [2, 4], disorder_seed: {seed}"
HEISENBERG = "name: heisenberg, shape: [16], components: 3"
XY = "name: heisenberg, shape: [16], components: 2"
DISKS = "name: hard_disks, particles: 16, packing_fraction: 0.3"
HOT, COLD, LADDER = (0.25, 0.35, 0.42), (0.3, 0.44, 0.6), (0.2, 0.27, 0.34, 0.41, 0.48)
CUBES, GLASSY, RINGS = (0.1, 0.2, 0.3), (0.25, 0.6, 0.9, 1.2), (0.5, 1.0, 2.0)
HOT_GLASSES, HOTTEST = (0.1, 0.2), (0.001, 0.01, 0.05)
FIELDS, FIELDS_OF_PHASES = tuple(0.05 * k for k in range(5)), tuple(0.05 + 0.01 * k for k in range(6))
ANNEALED_RINGS = tuple(0.25 * k for k in range(1, 9))
OF_RINGS = "name: pa, population: 1500, runs: 2, sweeps: 10, beta: {from: 0.0, to: 2.0, step: 0.25}"
OF_A_RANGE = f"name: muca, range: {{from: -0.95, to: 0.9}}, bin: 0.4, walkers: 32, {values((0.5, 1.0))}"


def right(name, what, model, algorithm, exact=None, **more):
    return Cell(name, True, what, model, algorithm, exact, **more)


RIGHT = [
    right("ising2d/canonical", "16 x 16, Metropolis, 32 replicas", SQUARE, f"name: canonical, {values(HOT)}, sweeps: 12000",
          lambda: square(16, HOT)),
    right("ising2d/canonical/clusters", "16 x 16, Swendsen-Wang, one replica", SQUARE,
          f"name: canonical, {values(COLD)}, update: swendsen_wang, replicas: 1, sweeps: 6000", lambda: square(16, COLD)),
    right("ising2d/canonical/field", "4 x 4, h = 0.1, heat bath, 8 replicas", SMALL + ", h: 0.1",
          f"name: canonical, {values((0.2, 0.3))}, update: heat_bath, replicas: 8, sweeps: 20000",
          lambda: lattice((4, 4), (0.2, 0.3), 0.1)),
    right("ising2d/canonical/hot", "4 x 4, heat bath, one replica", SMALL,
          f"name: canonical, {values((0.05, 0.2))}, update: heat_bath, replicas: 1, sweeps: 60000",
          lambda: lattice((4, 4), (0.05, 0.2))),
    right("ising2d/canonical/hottest", "4 x 4, h = 0.1, Metropolis near beta = 0, 8 replicas", SMALL + ", h: 0.1",
          f"name: canonical, {values(HOTTEST)}, update: metropolis, replicas: 8, sweeps: 20000", lambda: lattice((4, 4), HOTTEST, 0.1)),
    right("ising2d/pt/hottest", "4 x 4, h = 0.1, Metropolis near beta = 0", SMALL + ", h: 0.1", f"name: pt, {values(HOTTEST)}, sweeps: 20000",
          lambda: lattice((4, 4), HOTTEST, 0.1)),
    right("ising2d/pt", "16 x 16, blocks of time", SQUARE, f"name: pt, {values(LADDER)}, sweeps: 60000, exchange_every: 4",
          lambda: square(16, LADDER)),
    right("ising2d/pt/samples", "16 x 16, 32 simulations", SQUARE,
          f"name: pt, {values(LADDER)}, samples: 32, sweeps: 8192, exchange_every: 4", lambda: square(16, LADDER)),
    right("ising2d/pa", "16 x 16, two runs", SQUARE, "name: pa, population: 3000, runs: 2, sweeps: 10, "
          "beta: {from: 0.0, to: 0.48, step: 0.02}", lambda: square(16, tuple(0.02 * k for k in range(25)))),
    right("ising2d/pa/field", "4 x 4 at beta = 0.2, over the field", SMALL, "name: pa, population: 6000, runs: 2, sweeps: 5, "
          "control: {name: h, beta: 0.2, thermalization: 200, from: 0.0, to: 0.2, step: 0.05}", lambda: in_fields((4, 4), 0.2, FIELDS)),
    right("ising2d/muca", "8 x 8", "name: ising2d, shape: [8, 8]", f"name: muca, walkers: 64, {values(COLD)}", lambda: square(8, COLD)),
    right("ising3d/canonical", "2 x 2 x 4, heat bath, 32 replicas", CUBE,
          f"name: canonical, {values(CUBES)}, update: heat_bath, sweeps: 40000", lambda: lattice((2, 2, 4), CUBES)),
    right("ising3d/pt", "2 x 2 x 4, 16 simulations", CUBE,
          f"name: pt, {values(CUBES)}, update: heat_bath, samples: 16, sweeps: 16384", lambda: lattice((2, 2, 4), CUBES)),
    right("ising3d/pa", "2 x 2 x 4", CUBE, "name: pa, population: 6000, runs: 2, update: heat_bath, sweeps: 5, "
          "beta: {from: 0.0, to: 0.3, step: 0.05}", lambda: lattice((2, 2, 4), tuple(0.05 * k for k in range(7)))),
    right("ising3d/muca", "2 x 2 x 4", CUBE, f"name: muca, walkers: 64, {values(CUBES)}", lambda: lattice((2, 2, 4), CUBES)),
    right("ea/canonical", "a sample of 4 x 4, 8 replicas", GLASS_MODEL,
          f"name: canonical, {values((0.3, 0.6))}, update: heat_bath, replicas: 8, sweeps: 40000", lambda: glass((0.3, 0.6)),
          files=GLASS_FILES),
    right("ea/canonical/samples", "64 samples of 2 x 4, hot", GLASSES,
          f"name: canonical, {values(HOT_GLASSES)}, update: heat_bath, samples: 64, sweeps: 20000",
          lambda: mean_of_glasses(HOT_GLASSES)),
    right("ea/canonical/few", "16 samples of 2 x 4, hot", GLASSES,
          f"name: canonical, {values(HOT_GLASSES)}, update: heat_bath, samples: 16, sweeps: 20000", lambda: mean_of_glasses(HOT_GLASSES)),
    right("ea/pt", "a sample of 4 x 4", GLASS_MODEL, f"name: pt, {values(GLASSY)}, update: heat_bath, sweeps: 200000",
          lambda: glass(GLASSY), files=GLASS_FILES),
    right("ea/pt/samples", "256 samples of 2 x 4", GLASSES, f"name: pt, {values(GLASSY)}, update: heat_bath, samples: 256, sweeps: 8192",
          lambda: mean_of_glasses(GLASSY)),
    right("ea/pa", "a sample of 4 x 4", GLASS_MODEL, "name: pa, population: 6000, runs: 2, update: heat_bath, sweeps: 5, "
          "beta: {from: 0.0, to: 1.0, step: 0.1}", lambda: glass(tuple(0.1 * k for k in range(11))), files=GLASS_FILES),
    right("ea/muca", "a sample of 4 x 4", GLASS_MODEL, f"name: muca, walkers: 64, {values(GLASSY)}", lambda: glass(GLASSY), files=GLASS_FILES),
    right("ea/muca/samples", "128 samples of 2 x 4", GLASSES, f"name: muca, samples: 128, walkers: 32, {values(GLASSY)}",
          lambda: mean_of_glasses(GLASSY)),
    right("heisenberg/canonical", "a ring of 16, heat bath with over-relaxation, 8 replicas", HEISENBERG,
          f"name: canonical, {values(RINGS)}, update: mixed, replicas: 8, sweeps: 16000", lambda: ring(3, 16, RINGS)),
    right("xy/canonical", "a ring of 16, Wolff, 8 replicas", XY,
          f"name: canonical, {values(RINGS)}, update: wolff, replicas: 8, sweeps: 8000", lambda: ring(2, 16, RINGS)),
    right("heisenberg/canonical/glass", "16 spins with Gaussian couplings, hot, 8 replicas",
          HEISENBERG + ", couplings: gaussian, disorder_seed: {seed}",
          f"name: canonical, {values(HOT_GLASSES)}, update: heat_bath, replicas: 8, sweeps: 20000"),
    right("heisenberg/pt", "a ring of 16, blocks of time", HEISENBERG, f"name: pt, {values(RINGS)}, update: heat_bath, sweeps: 60000",
          lambda: ring(3, 16, RINGS)),
    right("xy/pt", "a ring of 16, blocks of time", XY, f"name: pt, {values(RINGS)}, update: heat_bath, sweeps: 60000",
          lambda: ring(2, 16, RINGS)),
    right("heisenberg/pa", "a ring of 16", HEISENBERG, OF_RINGS, lambda: from_infinite_temperature(ring(3, 16, ANNEALED_RINGS))),
    right("xy/pa", "a ring of 16", XY, OF_RINGS, lambda: from_infinite_temperature(ring(2, 16, ANNEALED_RINGS))),
    right("heisenberg/muca", "a ring of 8 in a range", "name: heisenberg, shape: [8], components: 3", OF_A_RANGE,
          lambda: ring(3, 8, (0.5, 1.0))),
    right("xy/muca", "a ring of 16 in a range", XY, OF_A_RANGE, lambda: ring(2, 16, (0.5, 1.0))),
    right("hard_disks/mpmc", "16 disks at 0.3", DISKS, "name: mpmc, sweeps: 30000, interval: 2"),
    right("hard_disks/canonical", "16 disks at a constant pressure of 3", "name: hard_disks, particles: 16, packing_fraction: 0.5",
          "name: canonical, control: {name: beta_pressure, values: [3.0]}, replicas: 8, sweeps: 10000, interval: 10",
          kernel=", volume_step: 6"),
    right("hard_disks/canonical/dilute", "25 disks at a constant pressure of 1.5", "name: hard_disks, particles: 25, packing_fraction: 0.4",
          "name: canonical, control: {name: beta_pressure, values: [1.5]}, replicas: 8, sweeps: 16000, interval: 10",
          kernel=", volume_step: 4"),
]

# ---- runs not to be trusted ----

PHASES = "name: canonical, beta: {values: [0.8]}, sweeps: 10000, update: metropolis"
FROZEN = f"name: canonical, {values((3.0,))}, sweeps: 10000, update: metropolis"


def bad(name, what, model, algorithm, exact=None, **more):
    return Cell(f"bad/{name}", False, what, model, algorithm, exact, **more)


BAD = [
    *(bad(f"phases/{r}", f"4 x 4, beta = 0.8, h = 0.05: two phases, replicas: {r}", SMALL + ", h: 0.05", f"{PHASES}, replicas: {r}",
          lambda: lattice((4, 4), (0.8,), 0.05)) for r in (1, 2, 3, 4, 8, 32)),
    *(bad(f"glass/{r}", f"a sample of 4 x 4 at beta = 3, replicas: {r}", GLASS_MODEL, f"{FROZEN}, replicas: {r}",
          lambda: glass((3.0,)), files=GLASS_FILES) for r in (1, 8)),
    bad("glass/samples", "64 samples of 2 x 4 at beta = 3, one replica each", GLASSES,
        "name: canonical, beta: {values: [3.0]}, update: heat_bath, samples: 64, sweeps: 10000", lambda: mean_of_glasses((3.0,))),
    bad("short/canonical", "16 x 16 at beta = 0.44, 300 sweeps, 8 replicas", SQUARE,
        f"name: canonical, {values((0.44,))}, update: heat_bath, replicas: 8, thermalization: 0, sweeps: 300", lambda: square(16, (0.44,))),
    bad("short/pt", "16 x 16, 256 sweeps", SQUARE, f"name: pt, {values(LADDER)}, samples: 16, thermalization: 0, sweeps: 256",
        lambda: square(16, LADDER)),
    bad("short/pa", "16 x 16 to beta = 0.6, 100 replicas", SQUARE, "name: pa, population: 100, runs: 4, sweeps: 1, "
        "beta: {from: 0.0, to: 0.6, step: 0.1}", lambda: square(16, tuple(0.1 * k for k in range(7)))),
    bad("short/muca", "8 x 8, a production of few updates", "name: ising2d, shape: [8, 8]",
        f"name: muca, {values(COLD)}, walkers: 32, production: {{updates: 20000}}", lambda: square(8, COLD)),
    bad("phases/pt", "4 x 4, h = 0.05, two cold temperatures, one copy", SMALL + ", h: 0.05",
        f"name: pt, {values((0.8, 0.9))}, sweeps: 20000", lambda: lattice((4, 4), (0.8, 0.9), 0.05)),
    bad("phases/pt/apart", "4 x 4, h = 0.05, two temperatures that exchange nothing", SMALL + ", h: 0.05",
        "name: pt, beta: {values: [0.1, 0.8]}, sweeps: 20000, exchange_every: 0, measure_every: 1",
        lambda: lattice((4, 4), (0.1, 0.8), 0.05)),
    bad("start/pa", "4 x 4 at beta = 0.8, over the field: begins in two phases", SMALL, "name: pa, population: 2000, runs: 2, sweeps: 5, "
        "update: metropolis, control: {name: h, beta: 0.8, thermalization: 1000, from: 0.05, to: 0.1, step: 0.01}",
        lambda: in_fields((4, 4), 0.8, FIELDS_OF_PHASES)),
    bad("tails/muca", "16 samples of 2 x 4", GLASSES, f"name: muca, samples: 16, walkers: 64, {values(GLASSY)}",
        lambda: mean_of_glasses(GLASSY)),
    bad("tails/pt", "16 samples of 2 x 4", GLASSES, f"name: pt, {values(GLASSY)}, update: heat_bath, samples: 16, sweeps: 16384",
        lambda: mean_of_glasses(GLASSY)),
    bad("disks/lattice", "32^2 disks at 0.71 from a lattice, 2000 sweeps",
        "name: hard_disks, lattice: [32, 32], packing_fraction: 0.71, start: lattice", "name: mpmc, sweeps: 2000, interval: 20"),
]

CELLS = RIGHT + BAD

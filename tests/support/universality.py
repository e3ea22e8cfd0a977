"""Campaigns of models whose critical point is known, with corrections to scaling of the sizes that such models have, for tests of derived numbers.

Scaling functions have the values and slopes of cubic Ising lattices. Corrections: a L^-omega with a drawn anew for each set and quantity, b L^-omega_2 of
what decays faster (2 omega; the analytic background of susceptibilities, L^-(2 - eta)), both with a slope in x, and a bent scaling field. Sizes of a: at
T_c the Binder parameter of the cubic Ising model has 0.18 L^-0.83 of itself, its magnetization -0.15 L^-0.83 (by tests/support/critical_campaigns.json), and those of
the literature are alike: Hasenbusch, Phys. Rev. B 82, 174433 (2010) for Ising; Campostrini et al., Phys. Rev. B 74, 144506 (2006) for XY; Hasenbusch and
Vicari, Phys. Rev. B 84, 125136 (2011) for Heisenberg spins; larger ones in glasses, Baity-Jesi et al., Phys. Rev. B 88, 224416 (2013).
"""
import dataclasses

import numpy as np

from gpumc import analysis

GROUPS = 64


@dataclasses.dataclass(frozen=True)
class Model:
    """`width`: the largest |1 - T_c/T|. `noise`: relative error of the Binder parameter of the smallest size at T_c. `first` and `second`: standard
    deviations of a and b."""
    dimension: int
    t_c: float
    nu: float
    eta: float
    omega: float
    sides: tuple
    width: float
    noise: float
    first: float = 0.15
    second: float = 0.5
    names: tuple = ("binder_parameter", "xi/L", "abs_magnetization", "susceptibility")
    is_joint: bool = False

    @property
    def exact(self):
        gamma = 2 - self.eta
        return {"t_c": self.t_c, "nu": self.nu, "beta/nu": (self.dimension - gamma) / 2, "gamma/nu": gamma}


GLASS = "binder_overlap", "xi_overlap/L", "abs_overlap", "chi_overlap"
MODELS = {
    "ising2d": Model(2, 2.269185314, 1.0, 0.25, 1.75, (8, 12, 16, 24, 32), 0.05, 2e-3),
    "ising3d": Model(3, 4.5115232, 0.629971, 0.036298, 0.82966, (6, 8, 10, 12, 16, 20), 0.027, 2e-3),
    "xy3d": Model(3, 2.2018, 0.67169, 0.03810, 0.789, (6, 8, 10, 12, 16, 20), 0.03, 3e-3),
    "heisenberg3d": Model(3, 1.44300, 0.71164, 0.0378, 0.759, (6, 8, 10, 12, 16, 20), 0.03, 3e-3),
    "glass3d": Model(3, 1.1019, 2.562, -0.3900, 1.12, (4, 6, 8, 10, 12), 0.3, 8e-3, 0.3, 0.8, GLASS, True),
}


def shapes(dimension):
    """f of each quantity: value, and the logarithm's derivative is of order 1."""
    return {"binder": lambda x: (1 - np.tanh(0.55 * x - 0.40)) / 3, "xi": lambda x: 0.64 * np.exp(-0.43 * x + 0.035 * x ** 2 - 0.002 * x ** 3),
            "m": lambda x: 1.12 * np.exp(-0.32 * x - 0.045 * np.log(np.cosh(1.2 * x))), "chi": lambda x: 1.5 * np.exp(-0.68 * x - 0.1 * np.log(np.cosh(1.2 * x)))}


def campaign(name, seed, temperatures=9, quantities=None, **changes):
    """A set of Curves of model `name`; `changes` of its numbers, such as first=0."""
    model = dataclasses.replace(MODELS[name], **changes)
    random = np.random.default_rng([seed, *name.encode()])
    exact, functions = model.exact, shapes(model.dimension)
    t = np.linspace(-model.width, model.width, temperatures) + model.width / temperatures * random.uniform(-1, 1)
    beta = (1 - t)[::-1] / model.t_c
    t = t[::-1]
    bend = random.normal(0, 0.4, 2)[0]
    kinds = dict(zip(model.names, functions.items()))
    drawn = {key: [random.normal(0, model.first), random.normal(0, 0.3), random.normal(0, model.second), random.normal(0, 0.3), random.normal(0, 0.4)] for key in kinds}
    root = np.eye(temperatures)
    if model.is_joint:
        root = np.linalg.cholesky(0.1 * np.eye(temperatures) + 0.9 * np.exp(-((beta[:, None] - beta) / (0.5 * np.ptp(beta))) ** 2)).T
    found = []
    for side in model.sides:
        x = (t + bend * t ** 2) * side ** (1 / model.nu)
        shared = random.normal(size=(GROUPS, temperatures)) @ root
        values, errors, groups = {}, {}, {}
        for key, (kind, function) in kinds.items():
            power = {"m": -exact["beta/nu"], "chi": exact["gamma/nu"]}.get(kind, 0.0)
            a, a_slope, b, b_slope, factor = drawn[key]
            if kind == "chi":
                a, b = 2 * drawn[model.names[2]][0] + 0.3 * a, 2 * b
            second = 2 - model.eta if kind == "chi" else 2 * model.omega
            whole = 1 + a * (1 + a_slope * x) * side ** -model.omega + b * (1 + b_slope * x) * side ** -second
            values[key] = function(x) * side ** power * whole * (1 + factor * t * (kind in ("m", "chi")))
            size = model.noise * {"binder": 1.0, "xi": 1.3, "m": 0.9, "chi": 1.7}[kind] * np.sqrt(side / model.sides[0])
            own = random.normal(size=(GROUPS, temperatures)) @ root
            groups[key] = 0.9 * shared + np.sqrt(1 - 0.81) * own
            fall = values[key] if kind != "binder" else 0.465 * np.clip(np.exp(0.35 * x), 0.1, 3)
            errors[key] = size * fall
            values[key] = values[key] + np.sqrt(GROUPS) * errors[key] * groups[key].mean(0)
        found.append(analysis.Curves(side, model.dimension, beta, values, errors, "samples" if model.is_joint else "replicas", model.is_joint,
                                     {key: numbers - numbers.mean(0) for key, numbers in groups.items()}))
    return found

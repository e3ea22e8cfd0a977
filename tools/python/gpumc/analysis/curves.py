"""Curves of one size over the temperature, and other values that they could have had: what finite-size scaling starts from.

    curves = gpumc.analysis.curves_of(result, ["binder_parameter", "abs_magnetization"])
    curves.temperature, curves.values["binder_parameter"], curves.errors["binder_parameter"]
    curves.replicates("binder_parameter", 200)      # [200, temperature], a bootstrap

The errors are the program's (docs/statistics.md), which know of autocorrelation. How values at different temperatures, and different
quantities, depend on each other is taken from the groups that the file holds: samples, replicas, bins of time, or families.
"""
import dataclasses
import functools

import numpy as np

from . import correlation, transition


@dataclasses.dataclass(frozen=True)
class Quantity:
    """How a quantity scales, O = L^exponent f((T/T_c - 1) L^(1/nu)). `dataset` of the summary is multiplied by L^`power`. `sign` of
    the exponent in front of its name, "" where it is 0. `label`: for axes, in mathematical notation."""
    dataset: str
    power: float
    exponent: str
    sign: int
    label: str


def known_quantities(dimension):
    """Those that finite-size scaling knows by name, for lattices of that dimension."""
    return {
        "binder_parameter": Quantity("binder_parameter", 0, "", 0, r"$U_4$"),
        "binder_overlap": Quantity("binder_overlap", 0, "", 0, r"$U_4^{(q)}$"),
        "xi/L": Quantity("correlation_length", -1, "", 0, r"$\xi/L$"),
        "xi_overlap/L": Quantity("correlation_length_overlap", -1, "", 0, r"$\xi_q/L$"),
        "abs_magnetization": Quantity("abs_magnetization", 0, "beta/nu", -1, r"$\langle|m|\rangle$"),
        "abs_overlap": Quantity("abs_overlap", 0, "beta/nu", -1, r"$\langle|q|\rangle$"),
        "susceptibility": Quantity("magnetization2", dimension, "gamma/nu", 1, r"$N\langle m^2\rangle$"),
        "chi_overlap": Quantity("chi_overlap", 0, "gamma/nu", 1, r"$\chi_\mathrm{SG}$"),
    }


def quantity_of(name, dimension):
    """A known one, or that of a dataset of the summary with an exponent of its own."""
    return known_quantities(dimension).get(name) or Quantity(name, 0, "exponent", 1, name)


@dataclasses.dataclass(frozen=True)
class Curves:
    """Of the size `side` in `dimension` dimensions, `values` and `errors` by name at ascending `beta`; not known: NaN.

    `groups`: what the file holds by which other values can be drawn, "" if nothing. `deviations[name]` are those of the groups
    from the average, [group, beta], in any unit; `is_joint`: a group is one simulation at all temperatures, so that values at
    different ones depend on each other."""
    side: int
    dimension: int
    beta: np.ndarray
    values: dict
    errors: dict
    groups: str = ""
    is_joint: bool = False
    deviations: dict = dataclasses.field(default_factory=dict)
    correlations: dict = dataclasses.field(default_factory=dict)

    @property
    def temperature(self):
        with np.errstate(divide="ignore"):
            return 1 / self.beta

    def known(self, name):
        """Numbers of the temperatures, finite ones, where value and error of the quantity are known."""
        with np.errstate(invalid="ignore"):
            return np.flatnonzero(np.isfinite(self.values[name]) & (self.errors[name] > 0) & np.isfinite(self.errors[name])
                                  & (self.beta > 0))

    def correlation(self, name):
        """Matrix over the temperatures; unit matrix where temperatures are independent or nothing is known."""
        if name in self.correlations:
            return self.correlations[name]
        if self.is_joint and name in self.deviations:
            return correlation.shrunk(self.deviations[name])
        return np.eye(len(self.beta))

    def covariance(self, name):
        return self.correlation(name) * np.outer(self.errors[name], self.errors[name])

    def replicates(self, name, count, seed=1):
        """`count` values that the quantity could have had at each temperature, [count, beta].

        Bootstrap over the groups (Efron and Tibshirani, An Introduction to the Bootstrap, Chapman & Hall 1993, chapter 6): groups
        are drawn with replacement, the same ones for all quantities, and at all temperatures if these share them. Values follow
        to first order in the groups' deviations, whose sum is scaled to the error of the file. Without groups, normal deviates of
        the errors, by the correlation if one was given; then quantities are taken as independent of each other."""
        if name not in self.deviations:
            random = np.random.default_rng([seed, self.side, *name.encode()])
            root = correlation.root(self.correlation(name))
            return self.values[name] + self.errors[name] * (random.normal(size=(count, len(self.beta))) @ root)
        deviations = self.deviations[name]
        random = np.random.default_rng([seed, self.side])
        groups, places = deviations.shape
        scale = np.sqrt(np.sum(deviations ** 2, axis=0))
        unit = np.divide(deviations, scale, out=np.zeros_like(deviations), where=scale > 0)
        drawn = np.empty((count, places))
        if self.is_joint:
            drawn = (random.multinomial(groups, np.full(groups, 1 / groups), size=count) - 1) @ unit
        else:
            for place in range(places):
                weights = random.multinomial(groups, np.full(groups, 1 / groups), size=count) - 1
                drawn[:, place] = weights @ unit[:, place]
        return self.values[name] + self.errors[name] * drawn


def from_arrays(side: int, temperature, values: dict, errors: dict, correlations: dict | None = None, dimension: int = 2) -> Curves:
    """Curves of numbers from elsewhere: `values` and `errors` by name over `temperature`, in any order; `correlations` by name of
    the values at different temperatures, unit matrices if None."""
    order = np.argsort(1 / np.asarray(temperature, float))
    names = list(values)
    return Curves(int(side), dimension, 1 / np.asarray(temperature, float)[order],
                  {name: np.asarray(values[name], float)[order] for name in names},
                  {name: np.asarray(errors[name], float)[order] for name in names},
                  correlations={name: np.asarray(matrix)[order][:, order] for name, matrix in (correlations or {}).items()})


def curves_of(result, names: list[str]) -> Curves:
    """The Curves of a result (of gpumc.read()) for quantities by name: those of known_quantities(), or datasets of its summary.

    Raises transition.NotComparable if the lattice has unequal sides, if a field is moved instead of the temperature, or if the
    result has no such quantity."""
    side, dimension = transition.side_of(result), len(result.config["model"]["shape"])
    values, errors = {}, {}
    for name in names:
        quantity = quantity_of(name, dimension)
        if not transition.has(result, quantity.dataset):
            raise transition.NotComparable(f"{result.path}: no {quantity.dataset}" + _remedy(quantity.dataset))
        scale = float(side) ** quantity.power
        values[name] = scale * result.summary[quantity.dataset]
        errors[name] = scale * result.summary[quantity.dataset + "_error"]
    kind, is_joint, terms = _groups(result)
    deviations = {}
    for name in names:
        try:
            found = _deviation(quantity_of(name, dimension).dataset, terms)
        except (KeyError, ValueError, IndexError):  # not in the file, or runs of different temperatures
            continue
        if found is not None and found.shape[1] == len(result.summary["beta"]) and len(found) >= correlation.GROUPS_NEEDED:
            deviations[name] = found
    return Curves(side, dimension, result.summary["beta"], values, errors, kind if deviations else "", is_joint, deviations)


def _remedy(dataset):
    return ": set algorithm.structure_factor: true" if dataset.startswith("correlation_length") else ""


def _deviation(dataset, terms):
    """Deviations of the groups, [group, beta], of what follows from means to first order, up to a factor above 0."""
    if terms is None:
        return None
    if dataset in correlation.TERMS:
        upper, lower, power = correlation.TERMS[dataset]
        (above, above_mean), (below, below_mean) = terms(upper), terms(lower)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.nan_to_num(power * below / below_mean - above / above_mean, posinf=0, neginf=0)
    if dataset == "specific_heat":
        (squares, _), (energies, energy) = terms("energy2"), terms("energy")
        return squares - 2 * energy * energies
    return terms({"chi_overlap": "overlap2"}.get(dataset, dataset))[0]


def _groups(result):
    """What the file's groups are, whether they are the same ones at all temperatures, and a function that gives the deviations of
    a mean, [group, beta], and its average; "", False and None where the file has none."""
    algorithm = result.config["algorithm"]
    if algorithm["name"] == "canonical":
        if algorithm.get("samples", 1) > 1:
            return "samples", True, functools.partial(correlation.of_replicas, result)
        if result.runs and len(result.runs[0].get("replicas/replica", ())) >= correlation.GROUPS_NEEDED:
            return "replicas", False, functools.partial(correlation.of_replicas, result)
        return "bins of time", False, functools.partial(_of_bins, result)
    if algorithm["name"] == "pt" and result.remarks.get("errors_from") == "samples":
        return "samples", True, functools.partial(correlation.of_samples, result)
    if algorithm["name"] == "pa":
        return "blocks of families", True, functools.partial(correlation.of_families, result)
    return "", False, None


def _of_bins(result, term):
    values = np.stack([run["bins/" + term] for run in result.runs], axis=1)
    return values - values.mean(0), values.mean(0)


def read_all(results, names):
    """Curves of several sizes of one model, in the order of the sizes, from paths, Results or Curves.

    Raises transition.NotComparable if they are of different models or two have the same size."""
    from .. import reader
    opened = [item if isinstance(item, Curves) or hasattr(item, "summary") else reader.read(item) for item in results]
    files = [item for item in opened if not isinstance(item, Curves)]
    for other in files[1:]:
        transition.refuse_other_model(files[0], other)
    found = sorted((item if isinstance(item, Curves) else curves_of(item, names) for item in opened), key=lambda size: size.side)
    sides = [size.side for size in found]
    if len(set(sides)) < len(sides):
        raise transition.NotComparable("two files of the same size; give one for each size (gpumc merge combines several into one)")
    return found

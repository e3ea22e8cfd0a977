"""What algorithm pt derives from averages over samples."""
import math

import numpy as np


def dimension(model):
    return len(model["shape"])


def wave_length(model):
    """2 sin(k_min/2)."""
    return 2 * math.sin(math.pi / max(model["shape"]))


def has_disorder(model):
    """Couplings of a spin glass, or random fields."""
    field = model.get("random_field", {}).get("distribution", "none")
    return "couplings" in model or field != "none"


def all_of(average, beta, sites, config):
    """All quantities from averages over the samples, as algorithm pt forms them. The model has no
    disorder where its energies may be averaged before their variance is taken."""
    model = config["model"]
    found = {name: values for name, values in average.items() if name not in ("energy2", "variance")}
    variance = (average["variance"] if has_disorder(model)
                else average["energy2"] - average["energy"] ** 2)
    found["specific_heat"] = sites * beta ** 2 * variance
    with np.errstate(invalid="ignore", divide="ignore"):
        if "magnetization4" in average:
            found["binder_parameter"] = 1 - average["magnetization4"] / (
                3 * average["magnetization2"] ** 2)
        if "structure_factor" in average:
            found["correlation_length"] = np.sqrt(
                sites * average["magnetization2"] / average["structure_factor"] - 1) / wave_length(model)
        if "overlap2" in average:
            q2 = average["overlap2"]
            found["binder_overlap"] = (3 - average["overlap4"] / q2 ** 2) / 2
            found["chi_overlap"] = sites * q2
            found["correlation_length_overlap"] = np.sqrt(
                sites * q2 / average["overlap_structure_factor"] - 1) / wave_length(model)
            if is_gaussian(model):
                found["gaussian_identity"] = average["energy"] + dimension(model) * beta * (
                    1 - average["link_overlap"])
    return found


def is_gaussian(model):
    field = model.get("random_field", {}).get("distribution", "none")
    return model.get("couplings") == "gaussian" and not model.get("h") and field == "none"


def scales(whole, average, beta, sites, config):
    """How large the numbers are that the quantities are formed of, for their rounding errors."""
    found = {name: np.abs(value) for name, value in whole.items()}
    found["specific_heat"] = sites * beta ** 2 * average["energy2"]
    with np.errstate(invalid="ignore", divide="ignore"):
        for name in ("correlation_length", "correlation_length_overlap"):
            if name in whole:  # its square is a difference from 1; at 0 the root has no derivative
                wave = wave_length(config["model"]) * whole[name]
                found[name] = np.where(wave == 0, np.inf, whole[name] * (1 + wave ** 2) / (2 * wave ** 2))
    if "binder_parameter" in whole:
        found["binder_parameter"] = np.ones_like(beta)
    if "binder_overlap" in whole:
        found["binder_overlap"] = found["binder_overlap"] + 1.5
    if "gaussian_identity" in whole:
        found["gaussian_identity"] = np.abs(average["energy"]) + dimension(config["model"]) * beta
    return found

"""How the values of one curve at several temperatures depend on each other, from what a result holds of the groups
that its errors are made from: samples, or families of population annealing."""
import numpy as np

# Of a Binder parameter or a length: the average above, the one below, and its power.
TERMS = {"binder_parameter": ("magnetization4", "magnetization2", 2),
         "binder_overlap": ("overlap4", "overlap2", 2),
         "correlation_length": ("structure_factor", "magnetization2", 1),
         "correlation_length_overlap": ("overlap_structure_factor", "overlap2", 1)}

# Groups that errors need.
GROUPS_NEEDED = 8


def correlation(result, name):
    """Matrix over the temperatures of the summary; None where the file does not have it."""
    algorithm, count = result.config["algorithm"], len(result.summary["beta"])
    upper, lower, power = TERMS[name]
    if algorithm["name"] == "canonical" and algorithm.get("samples", 1) <= 1:
        return np.eye(count)  # temperatures have their own random numbers
    of = {"canonical": of_replicas, "pt": of_samples, "pa": of_families}.get(algorithm["name"])
    if of is None:
        return None
    try:
        groups = [of(result, term) for term in (upper, lower)]
    except (KeyError, ValueError):  # not in the file, or runs of different temperatures
        return None
    if None in groups or groups[0][0].shape[1] != count or len(groups[0][0]) < GROUPS_NEEDED:
        return None
    (above, above_mean), (below, below_mean) = groups
    with np.errstate(invalid="ignore", divide="ignore"):
        return shrunk(above / above_mean - power * below / below_mean)


def of_samples(result, term):
    """Deviations of each group from the average, [group, temperature], and the average."""
    if result.remarks.get("errors_from") != "samples":
        return None
    values = result.samples[term]
    return values - values.mean(0), values.mean(0)


def of_replicas(result, term):
    values = np.stack([run["replicas/" + term] for run in result.runs], axis=1)
    return values - values.mean(0), values.mean(0)


def of_families(result, term):
    """Sums over the replicas of each block of families less what the average would give it, of all runs."""
    deviations, means = [], []
    for run in result.runs:
        sums, population = run["blocks/" + term], run["blocks/population"]
        mean = sums.sum(1) / population.sum(1)
        deviations.append((sums - mean[:, None] * population).T / population.sum(1))
        means.append(mean)
    return np.concatenate(deviations), np.mean(means, axis=0)


def root(covariance):
    """The symmetric root, of a covariance that may be singular. Normal deviates times it are the same with every library of linear algebra,
    up to rounding. Those times the eigenvectors are not: their signs, and their order where eigenvalues are equal, differ."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T


def shrunk(deviations):
    """Correlation of the groups' deviations. That of few groups is noise in itself, so their mean correlation
    takes part (Ledoit and Wolf, J. Portfolio Manag. 30, 110 (2004)), the more the fewer groups there are."""
    groups, count = deviations.shape
    spread = np.sqrt(np.mean(deviations ** 2, axis=0))
    with np.errstate(invalid="ignore", divide="ignore"):
        scaled = np.nan_to_num(deviations / spread, posinf=0, neginf=0)
    found = scaled.T @ scaled / groups
    np.fill_diagonal(found, 1.0)
    if count == 1:
        return found
    common = (found.sum() - count) / (count * (count - 1))
    share = count / (count + groups)
    return (1 - share) * found + share * ((1 - common) * np.eye(count) + common)

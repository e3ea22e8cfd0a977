"""Decides whether parallel tempering is in equilibrium and has enough events, from averages of each sample in the last
bins of time, as src/algorithms/pt/pt_samples.c and pt_summary.c do."""
import math

import numpy as np

FALSE_ALARMS = 0.01  # for all comparisons together, in a run in equilibrium
ALARMS_OF_DRIFT = 0.8 * FALSE_ALARMS  # its share
FLIPS_GROUPS = 16
BINS_COMPARED = 3
SCATTER_ALLOWED = 30
FREEDOM_NEEDED = 15
SAMPLES_IN_MOTION = 8


def incomplete_beta(a, b, x):
    """Returns I_x(a, b), from Lentz's continued fraction (Press et al., Numerical Recipes, section 6.4)."""
    if x <= 0 or x >= 1:
        return float(x > 0)
    if x >= (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x)
                     + b * math.log1p(-x)) / a
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 10000):
        for term in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                     -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 / ((1 + term * d) or 1e-300)
            c = (1 + term / c) or 1e-300
            fraction *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return front * fraction


def student_tail(t, freedom):
    """Returns the probability that Student's t is farther from 0; 1 for NaN, which is no evidence."""
    if math.isnan(t):
        return 1.0
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) if math.isfinite(t) else 0.0


def fisher_tail(ratio, numerator, denominator):
    """Returns the probability that the ratio of two estimates of one variance exceeds `ratio`; 1 for NaN."""
    if math.isnan(ratio):
        return 1.0
    if math.isinf(ratio):
        return 0.0
    return incomplete_beta(denominator / 2, numerator / 2, denominator / (denominator + numerator * ratio))


def in_groups(differences):
    """Returns the samples' differences, [samples, temperatures], divided by their root sum of squares and added up in
    groups: [groups, temperatures]. They are 0 if the differences are 0."""
    size = np.sqrt((differences ** 2).sum(0))
    with np.errstate(invalid="ignore", divide="ignore"):
        scaled = np.where(size > 0, differences / size, 0)
    groups = min(FLIPS_GROUPS, len(scaled))
    return np.array([scaled[first::groups].sum(0) for first in range(groups)])


def flips_chance(pools):
    """Returns the share of all sign flips of the groups, including none, for which the products of different groups add
    up to at least the observed sum, in the pool where it is largest; and that pool. pools: [pools, groups, groups]."""
    groups = pools.shape[1]
    products = pools * (1 - np.eye(groups))
    deviations = np.sqrt(2 * (products ** 2).sum((1, 2)))
    if not deviations.any():
        return 1.0, 0
    ways = np.arange(2 ** (groups - 1))[:, None]
    signs = 1.0 - 2 * (ways >> np.arange(groups) & 1)
    known = deviations > 0
    sums = np.full((len(ways), len(pools)), -np.inf)
    for p in np.flatnonzero(known):
        sums[:, p] = ((signs @ products[p]) * signs).sum(1) / deviations[p]
    largest = sums.max(1)
    return (largest >= largest[0] - 1e-9).mean(), int(sums[0].argmax())


def without_rounding(differences, scale):
    """Returns the differences, [samples, temperatures], that exceed the rounding of numbers as large as `scale`,
    otherwise 0."""
    size = np.sqrt((differences ** 2).sum(0))
    return np.where(size > 1e-12 * np.sqrt((scale ** 2).sum(0)), differences, 0)


def steady(differences):
    """Returns where the samples' numbers, each [samples, temperatures], average to 0 over all samples within chance:
    [temperatures]."""
    groups = np.array([in_groups(each) for each in differences])
    products = np.einsum("jat,jbt->tab", groups, groups)[::-1].cumsum(0)
    temperatures = len(products)
    coldest = [2 ** k for k in range(temperatures.bit_length()) if 2 ** k < temperatures] + [temperatures]
    chance, strongest = flips_chance(products[np.array(coldest) - 1])
    good = np.ones(temperatures, bool)
    if chance > ALARMS_OF_DRIFT:
        return good
    for each in differences:
        samples = len(each)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.abs(each.mean(0)) / (each.std(0, ddof=1) / math.sqrt(samples))
        good &= np.array([not size or student_tail(t, samples - 1) >= FALSE_ALARMS
                          for t, size in zip(ratio, each.any(0))])
    if good.all():
        good[-coldest[strongest]:] = False
    return good


def samples_agree(after, before, count):
    """Returns whether samples of one model do not stay apart."""
    freedom, alarms = len(after) - 1, FALSE_ALARMS - ALARMS_OF_DRIFT
    apart = after.var(0, ddof=1) - (1e-12 * after.mean(0)) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = 3 * apart / (after - before).var(0, ddof=1)
    return np.array([not (r > SCATTER_ALLOWED and fisher_tail(r, freedom, freedom) * count < alarms)
                     for r in ratio])


def in_motion(joined, values):
    """Returns whether a sample's energy, the mean of this many values, takes more than one value in the last bin:
    [samples, temperatures]."""
    rounding = np.finfo(float).eps * (values / 4 + 16)
    return joined["energy2"] - joined["energy"] ** 2 > rounding * joined["energy2"]


def equilibrated(joined, earlier, disorder, values, identity=None):
    """Returns where the last three bins agree, [temperatures]. joined[NAME] and earlier[0 and 1][NAME] are [samples,
    temperatures], means of this many values; identity: the same for the violation of the Gaussian identity."""
    samples, temperatures = joined["energy"].shape
    if len(earlier) < BINS_COMPARED - 1:
        return np.zeros(temperatures, int)
    count = temperatures * len(earlier[0])
    good, still = np.ones(temperatures, bool), np.ones((samples, temperatures), bool)
    differences = []
    for name, before in earlier[0].items():
        after = joined[name]
        for bins in earlier:
            still &= np.abs(after - bins[name]) <= 1e-12 * np.abs(after)
            differences.append(without_rounding(after - bins[name], after))
        good &= disorder or samples_agree(after, before, count)
    if identity is not None:
        differences.append(without_rounding(identity, joined["energy"]))
    good &= ~(still & in_motion(joined, values)).any(0) & steady(differences)
    return good.astype(int)


def determined(joined, freedom, disorder, values):
    """Returns where the energy fluctuates often enough for its error to be known, [temperatures], from the degrees of
    freedom of this error; the samples' energies are means of this many values."""
    samples = len(joined["energy"])
    needed = min(FREEDOM_NEEDED, samples / 2)
    good = freedom >= needed
    if not disorder:
        good &= in_motion(joined, values).sum(0) >= min(samples, SAMPLES_IN_MOTION)
    return good.astype(int)

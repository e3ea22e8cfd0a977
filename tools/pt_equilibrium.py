"""Whether parallel tempering is in equilibrium and has events enough, from averages of each sample in the
last bins of time, as src/algorithms/pt/pt_equilibrium.c decides it."""
import math

import numpy as np

FALSE_ALARMS = 0.01  # of all comparisons together, in a run in equilibrium
BINS_COMPARED = 3
SCATTER_ALLOWED = 30
FREEDOM_NEEDED, DEVIATIONS_NEEDED = 15, 45
SAMPLES_IN_MOTION = 8


def incomplete_beta(a, b, x):
    """I_x(a, b), by Lentz's continued fraction (Press et al., Numerical Recipes, section 6.4)."""
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
    """Probability that Student's t is farther from 0; 1 for NaN, which is no evidence."""
    if math.isnan(t):
        return 1.0
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) if math.isfinite(t) else 0.0


def fisher_tail(ratio, numerator, denominator):
    """Probability that the ratio of two estimates of one variance exceeds `ratio`; 1 for NaN."""
    if math.isnan(ratio):
        return 1.0
    if math.isinf(ratio):
        return 0.0
    return incomplete_beta(denominator / 2, numerator / 2, denominator / (denominator + numerator * ratio))


def comparisons(temperatures, compared):
    """At every temperature two bins with the last one and the scatter of the samples, of every compared
    quantity, and the Gaussian identity."""
    return temperatures * (compared * BINS_COMPARED + 1)


def within(deviation, error, freedom, count):
    """Whether chance explains the deviations, [temperatures]; error without Student's factor."""
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(deviation == 0, 0, deviation / error)
    return np.array([student_tail(t, freedom) * count >= FALSE_ALARMS for t in ratio])


def agree(after, before, count):
    """Whether two bins agree: [samples, temperatures] each."""
    change, samples = after - before, len(after)
    return within(change.mean(0), change.std(0, ddof=1) / math.sqrt(samples), samples - 1, count)


def samples_agree(after, before, count):
    """Whether samples of one model do not stay apart."""
    freedom = len(after) - 1
    apart = after.var(0, ddof=1) - (1e-12 * after.mean(0)) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = 3 * apart / (after - before).var(0, ddof=1)
    return np.array([not (r > SCATTER_ALLOWED and fisher_tail(r, freedom, freedom) * count < FALSE_ALARMS)
                     for r in ratio])


def in_motion(joined):
    """Whether the energy of a sample has more than one value in the last bin: [samples, temperatures]."""
    return joined["energy2"] - joined["energy"] ** 2 > 1e-9 * joined["energy2"]


def equilibrated(joined, earlier, disorder, identity=None):
    """Where the last three bins agree, [temperatures]. joined[NAME] and earlier[0 and 1][NAME] are [samples,
    temperatures]; identity: the violation of the Gaussian identity and its error."""
    samples, temperatures = joined["energy"].shape
    if len(earlier) < BINS_COMPARED - 1:
        return np.zeros(temperatures, int)
    count = comparisons(temperatures, len(earlier[0]))
    good, still = np.ones(temperatures, bool), np.ones((samples, temperatures), bool)
    for name, before in earlier[0].items():
        after = joined[name]
        for values in (bins[name] for bins in earlier):
            good &= agree(after, values, count)
            still &= np.abs(after - values) <= 1e-12 * np.abs(after)
        good &= disorder or samples_agree(after, before, count)
    good &= ~(still & in_motion(joined)).any(0)
    if identity is not None:
        freedom = samples - 1
        good &= within(identity[0], identity[1] * math.sqrt((freedom - 2) / freedom), freedom, count)
    return good.astype(int)


def determined(joined, freedom, disorder):
    """Where the energy fluctuates often enough to know its error, [temperatures], from the degrees of freedom
    of this error."""
    samples = len(joined["energy"])
    needed = FREEDOM_NEEDED * min(1, samples / DEVIATIONS_NEEDED)
    good = freedom >= needed
    if not disorder:
        good &= in_motion(joined).sum(0) >= min(samples, SAMPLES_IN_MOTION)
    return good.astype(int)

"""How often a test with a given rate of false alarms may reject correct results."""
import math


def most_by_chance(runs, rate):
    """Returns the number of flagged runs that is exceeded with probability 1e-4 at this rate."""
    below = 0.0
    for k in range(runs + 1):
        below += math.comb(runs, k) * rate ** k * (1 - rate) ** (runs - k)
        if below > 1 - 1e-4:
            return k
    return runs

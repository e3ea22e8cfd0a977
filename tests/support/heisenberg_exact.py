"""Exact values for Heisenberg and XY spins: rings by their transfer matrix (Fisher, 1964), with and without a field,
and lattices at high temperature from loops of up to six bonds.

`components`: 3 or 2; K = beta J, H = beta h. Partition functions use the uniform measure, normalized to 1.
"""
import math

import numpy as np


def bessel(order, K):
    """Returns I_order(K), from its power series."""
    return sum((K / 2) ** (2 * j + order) / (math.factorial(j) * math.gamma(order + j + 1)) for j in range(60))


def log_states(components, sites, K):
    """Returns ln Z/N with the uniform measure, normalized to 1."""
    if components == 3:
        terms = [(2 * l + 1) * (math.sqrt(math.pi / (2 * K)) * bessel(l + 0.5, K)) ** sites for l in range(40)]
    else:
        terms = [(1 if m == 0 else 2) * bessel(m, K) ** sites for m in range(40)]
    return math.log(math.fsum(terms)) / sites


def exact(components, sites, K, step=1e-3):
    """Returns e and C, from differences of fourth order."""
    f = {j: log_states(components, sites, K + j * step) for j in range(-2, 3)}
    first = (8 * (f[1] - f[-1]) - (f[2] - f[-2])) / (12 * step)
    second = (16 * (f[1] + f[-1]) - (f[2] + f[-2]) - 30 * f[0]) / (12 * step ** 2)
    return -first, K * K * second


def helicity(components, sites, K):
    """Returns N <m^2>/beta: a twist phi of the ring multiplies the terms by exp(i m phi), for O(3) for each m = -l ..
    l."""
    if components == 3:
        weights = [((2 * l + 1) * (math.sqrt(math.pi / (2 * K)) * bessel(l + 0.5, K)) ** sites, l * (l + 1) / 3)
                   for l in range(40)]
    else:
        weights = [((1 if m == 0 else 2) * bessel(m, K) ** sites, m * m) for m in range(40)]
    return sites / K * math.fsum(w * square for w, square in weights) / math.fsum(w for w, _ in weights)


def correlations(components, sites, K):
    """Returns <S_0 . S_r> for r = 0 .. sites - 1: terms in which r of the factors have a neighbouring order."""
    if components == 3:
        factor = [math.sqrt(math.pi / (2 * K)) * bessel(l + 0.5, K) for l in range(40)]
        moves = [(l, l + 1, l + 1) for l in range(39)] + [(l, l - 1, l) for l in range(1, 40)]
        partition = math.fsum((2 * l + 1) * factor[l] ** sites for l in range(40))
    else:
        factor = [bessel(m, K) for m in range(40)]
        moves = [(abs(m), abs(m + 1), 1) for m in range(-38, 38)]
        partition = math.fsum((1 if m == 0 else 2) * factor[m] ** sites for m in range(40))
    return [math.fsum(w * factor[a] ** (sites - r) * factor[b] ** r for a, b, w in moves) / partition
            for r in range(sites)]


def waves(components, sites, K):
    """Returns <m^2>, S(k_min) and the second-moment correlation length."""
    of = correlations(components, sites, K)
    k = 2 * math.pi / sites
    chi, wave = math.fsum(of), math.fsum(c * math.cos(k * r) for r, c in enumerate(of))
    return chi / sites, wave, math.sqrt(chi / wave - 1) / (2 * math.sin(k / 2))


def log_states_in_field(components, sites, K, H, points=64):
    """Returns ln Z/N of a ring in a field, from the trace of the transfer matrix: for O(2) on a grid of angles, for
    O(3) on nodes of cos(theta), for each azimuthal number about the field."""
    if components == 2:
        angle = 2 * np.pi * np.arange(points) / points
        along = np.cos(angle)
        exponent = K * np.cos(angle[:, None] - angle) + H / 2 * (along[:, None] + along)
        return math.log(np.trace(np.linalg.matrix_power(np.exp(exponent) / points, sites))) / sites
    along, weight = np.polynomial.legendre.leggauss(points)
    across = np.sqrt(1 - along ** 2)
    exponent = K * along[:, None] * along + H / 2 * (along[:, None] + along)
    azimuth = 2 * np.pi * np.arange(points) / points
    around = np.exp(exponent[..., None] + K * (across[:, None] * across)[..., None] * np.cos(azimuth))
    root = np.sqrt(weight / 2)
    trace = 0
    for turns in range(points // 2):
        matrix = root[:, None] * root * (around * np.cos(turns * azimuth)).mean(axis=-1)
        trace += (1 if turns == 0 else 2) * np.trace(np.linalg.matrix_power(matrix, sites))
    return math.log(trace) / sites


def derivatives(function, step=4e-3):
    """Returns the first and second derivatives at 0, to fourth order."""
    f = {j: function(j * step) for j in range(-2, 3)}
    return (8 * (f[1] - f[-1]) - (f[2] - f[-2])) / (12 * step), \
        (16 * (f[1] + f[-1]) - (f[2] + f[-2]) - 30 * f[0]) / (12 * step ** 2)


def ring_in_field(components, sites, beta, J, h):
    """Returns energy, specific_heat, magnetization_x and susceptibility_x."""
    by_beta = derivatives(lambda d: log_states_in_field(components, sites, (beta + d) * J, (beta + d) * h))
    by_field = derivatives(lambda d: log_states_in_field(components, sites, beta * J, beta * h + d))
    return dict(energy=-by_beta[0], specific_heat=beta ** 2 * by_beta[1], magnetization_x=by_field[0],
                susceptibility_x=beta * by_field[1])


# Loops of 4 and 6 bonds per site of the square and simple cubic lattices.
LOOPS = {2: (1, 2), 3: (3, 22)}


def hot_energy(components, dimension, K, longest=6):
    """Returns e/J of a large lattice, up to terms of order K^7 per bond. Besides the terms of single bonds, ln Z has n
    t^b for each loop of b bonds, up to `longest`, where t is the mean of S . S' of a single bond."""
    if components == 3:
        t, slope = 1 / math.tanh(K) - 1 / K, 1 / K ** 2 - 1 / math.sinh(K) ** 2
    else:
        t = bessel(1, K) / bessel(0, K)
        slope = 1 - t / K - t ** 2
    energy = dimension * t
    for bonds, count in zip((4, 6), LOOPS[dimension]):
        energy += (bonds <= longest) * components * bonds * t ** (bonds - 1) * slope * count
    return -energy


# Rings with a separate coupling for each bond, K[i] = beta J of the bond from site i to site i + 1: what is the same
# for all sites above is a product over bonds here.

ORDERS = 40


def factors(components, K):
    """Returns the factors of each order; O(3): l = 0, 1, ..; O(2): m = 0, 1, .., and the same for -m. Odd ones change
    sign with K."""
    size = abs(K)
    sign = 1 if K > 0 else -1
    if components == 3:
        return [sign ** l * math.sqrt(math.pi / (2 * size)) * bessel(l + 0.5, size) for l in range(ORDERS)]
    return [sign ** m * bessel(m, size) for m in range(ORDERS)]


def weights(components):
    return [2 * l + 1 for l in range(ORDERS)] if components == 3 else [1 if m == 0 else 2 for m in range(ORDERS)]


def log_ring(components, K):
    """Returns ln Z with the uniform measure, normalized to 1."""
    of = [factors(components, k) for k in K]
    return math.log(math.fsum(w * math.prod(f[l] for f in of) for l, w in enumerate(weights(components))))


def ring(components, couplings, beta):
    """Returns energy and specific heat per site."""
    first, second = derivatives(lambda d: log_ring(components, [(beta + d) * J for J in couplings]))
    return -first / len(couplings), beta ** 2 * second / len(couplings)


def ring_correlations(components, K):
    """Returns <S_i . S_j> as a matrix."""
    of, sites = [factors(components, k) for k in K], len(K)
    if components == 3:
        moves = [(l, l + 1, l + 1) for l in range(ORDERS - 1)] + [(l, l - 1, l) for l in range(1, ORDERS)]
    else:
        moves = [(abs(m), abs(m + 1), 1) for m in range(2 - ORDERS, ORDERS - 2)]
    partition = math.exp(log_ring(components, K))
    found = np.eye(sites)
    for i in range(sites):
        for j in range(i + 1, sites):
            found[i, j] = found[j, i] = math.fsum(
                w * math.prod(of[b][c if i <= b < j else a] for b in range(sites)) for a, c, w in moves) / partition
    return found

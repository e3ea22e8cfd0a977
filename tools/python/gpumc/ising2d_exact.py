#!/usr/bin/python3
"""Exact results for the 2D Ising model on a periodic lattice: density of states and thermodynamics.

As a program:
    python3 -m gpumc.ising2d_exact dos L              energy and number of states, a line each
    python3 -m gpumc.ising2d_exact kaufman L BETA...  beta, ln Z / N, e and C, a line each

Conventions: E = -J sum s_i s_j, k_B = 1, both sides even, a side of 2 has two bonds between the same
pair of sites.

B. Kaufman, Phys. Rev. 76, 1232 (1949); P. D. Beale, Phys. Rev. Lett. 76, 78 (1996).
"""
import argparse
import math
import sys

import numpy as np


# --- thermodynamics: Kaufman's formula -----------------------------------------------------------

def kaufman(rows, columns, beta, coupling=1.0):
    """(ln Z / N, e, C) at each inverse temperature of `beta`, as float64 arrays.

    The arrangement that avoids cancellation is explained in tests/support/kaufman.c; here the two
    derivatives are carried along as the last axis (value, first, second).
    """
    _check_sides(rows, columns)
    beta = np.atleast_1d(np.asarray(beta, dtype=np.longdouble))
    strength = np.longdouble(abs(coupling))
    out = np.empty((3, beta.size))
    for i, b in enumerate(beta):
        out[:, i] = _kaufman_at(rows, columns, b * strength, strength)
    return out[0], out[1], out[2]


def _kaufman_at(n, m, K, J):
    if K == 0:
        return math.log(2.0), 0.0, 0.0
    terms = [_product(n, m, K, first, side) for first in (1, 0) for side in (1, -1)]
    largest = max(exponent for exponent, _ in terms)
    total = sum(jet * np.exp(exponent - largest) for exponent, jet in terms)
    log_z = _log(total)
    sites = n * m
    value = (log_z[0] + largest - np.log(np.longdouble(2))) / sites
    return value, -J * log_z[1] / sites, K * K * log_z[2] / sites


def _jet(value, first, second):
    return np.stack(np.broadcast_arrays(*map(np.longdouble, (value, first, second))))


def _log(x):
    slope = x[1] / x[0]
    return np.stack([np.log(x[0]), slope, x[2] / x[0] - slope * slope])


def _times(x, y):
    return np.stack([x[0] * y[0], x[1] * y[0] + x[0] * y[1],
                     x[2] * y[0] + 2 * x[1] * y[1] + x[0] * y[2]])


def _product(n, m, K, first, side):
    """One of the four products of the formula: (exponent, jet), the product being e^exponent jet."""
    modes = np.arange(first, 2 * n, 2)
    pi = np.arccos(np.longdouble(-1))
    S, C = np.sinh(2 * K), np.cosh(2 * K)
    half_sine = np.sin(pi * modes / np.longdouble(2 * n))
    cosine = 1 - 2 * half_sine ** 2
    s = _jet(S, 2 * C, 4 * S)
    a = np.stack([1 + S * S - S * cosine, (2 * S - cosine) * s[1],
                  2 * s[1] ** 2 + (2 * S - cosine) * s[2]])
    below = (1 - S) ** 2 + 2 * S * half_sine ** 2
    with np.errstate(divide="ignore", invalid="ignore"):  # mode 0 at criticality, replaced below
        value = np.sqrt(below * (a[0] + S))
        slope = (a[0] * a[1] - S * s[1]) / value
        second = (a[1] ** 2 + a[0] * a[2] - s[1] ** 2 - S * s[2] - slope ** 2) / value
    b = np.stack([value, slope, second])
    sign = -1 if S < 1 else 1
    if first == 0:
        b[:, 0] = sign * _times(_jet(S - 1, s[1], s[2]), _jet(C, 2 * S, 4 * C))
    log_sum = _log(a + b)
    g = log_sum - _log(s)[:, None]
    slope = -m * g[1]
    small = np.exp(-m * g[0])
    rest = np.stack([1 + small if side > 0 else -np.expm1(-m * g[0]), side * small * slope,
                     side * small * (slope ** 2 - m * g[2])])
    log_sum[0] += np.log(np.longdouble(2))
    exponent = log_sum.sum(axis=1) * m / 2
    factor = _jet(1, 0, 0)
    if first == 0 and side < 0:
        factor, rest = sign * rest[:, 0], rest[:, 1:]
    exponent = exponent + _log(rest).sum(axis=1)
    return exponent[0], _times(_jet(1, exponent[1], exponent[1] ** 2 + exponent[2]), factor)


# --- density of states: the same formula as a polynomial, modulo primes --------------------------
#
# With y = e^(-2K) and x = y^2, Z = e^(2NK) P(x), and the coefficient of x^k in P counts the states
# of energy -2N + 4k. Every cosine in the formula is a sum of two roots of unity, which exist modulo
# a prime p = 1 mod 2n: so P is evaluated modulo p at roots of unity, transformed back, and put
# together from enough primes by the Chinese remainder theorem. Nothing is ever rounded.

def density_of_states(rows, columns):
    """List of rows*columns + 1 integers: states at E = -2N + 4k (in units of J)."""
    _check_sides(rows, columns)
    sites = rows * columns
    points = 1 << sites.bit_length()  # > sites, a power of two
    order = math.lcm(2 * points, 2 * rows)
    modulus, coefficients = 1, [0] * (sites + 1)
    for prime in _primes(order):
        if modulus > 1 << sites:
            break
        residues = _polynomial_modulo(rows, columns, points, order, prime)
        lift = pow(modulus, -1, prime)
        for k, residue in enumerate(residues[:sites + 1]):
            coefficients[k] += modulus * ((int(residue) - coefficients[k]) * lift % prime)
        modulus *= prime
    return coefficients


def log_density(rows, columns, energies):
    """ln of the number of states at each of these energies (in units of J); NaN at those that no state has."""
    states = density_of_states(rows, columns)
    levels = np.rint((np.asarray(energies) + 2 * rows * columns) / 4).astype(int)
    return np.array([math.log(states[level]) if states[level] > 0 else math.nan for level in levels])


def _polynomial_modulo(n, m, points, order, p):
    unit = _element_of_order(order, p)
    root = pow(unit, order // (2 * points), p)
    angle = pow(unit, order // (2 * n), p)  # e^(i pi / n)
    y = _powers(root, points, p)
    x = y * y % p
    one = np.ones_like(y)
    difference = (one + p - x) % p
    alpha_0 = (one + x) * (one + x) % p
    beta = 2 * y % p * difference % p
    beta_m = _power(beta, m, p)
    half = pow(pow(2, m, p), -1, p)

    def paired(first, side):
        """Product over the modes l = first, first + 2, ... < n, each of which stands for 2n - l too."""
        product = one
        for l in range(first, n, 2):
            twice_cosine = (pow(angle, l, p) + pow(angle, -l, p)) % p
            alpha = (alpha_0 + (p - twice_cosine) * (y * difference % p)) % p
            factor = (_lucas(m, 2 * alpha % p, beta * beta % p, p) + side * 2 * beta_m) % p
            product = product * (factor * half % p) % p
        return product

    # Modes 0 and n: 2cosh a 2cosh b = 2cosh(a + b) + 2cosh(a - b), and - for sinh.
    difference_m = _power(difference, m, p)
    outer = difference_m * (1 + _power(x, m, p)) % p
    inner = (_power((one + p - y) % p, 2 * m, p) + _power(one + y, 2 * m, p)) % p
    inner = inner * _power(y, m, p) % p
    total = (paired(1, 1) + paired(1, -1) + paired(2, 1) * ((outer + inner) % p) +
             paired(2, -1) * ((outer + p - inner) % p))
    values = total % p * ((p + 1) // 2) % p
    inverse = _transform(values, pow(root * root % p, -1, p), p)
    return inverse * pow(points, -1, p) % p


def _lucas(m, P, Q, p):
    """V_m of V_0 = 2, V_1 = P, V_(k+1) = P V_k - Q V_(k-1), by doubling; arrays modulo p."""
    v, w, q = np.full_like(P, 2), P, np.ones_like(P)
    for bit in bin(m)[2:]:
        mixed = (v * w + (p - q) * P) % p
        if bit == "1":
            v, w, q = mixed, (w * w + 2 * (p - q * Q % p)) % p, q * q % p * Q % p
        else:
            v, w, q = (v * v + 2 * (p - q)) % p, mixed, q * q % p
    return v


def _transform(values, root, p):
    """sum_j values[j] root^(jk) for every k, by halving."""
    if len(values) == 1:
        return values
    even = _transform(values[0::2], root * root % p, p)
    odd = _transform(values[1::2], root * root % p, p) * _powers(root, len(values) // 2, p) % p
    return np.concatenate([(even + odd) % p, (even + p - odd) % p])


def _powers(base, count, p):
    powers = np.ones(1, dtype=np.int64)
    while len(powers) < count:
        powers = np.concatenate([powers, powers * pow(base, len(powers), p) % p])
    return powers[:count]


def _power(base, exponent, p):
    result = np.ones_like(base)
    while exponent:
        if exponent & 1:
            result = result * base % p
        base = base * base % p
        exponent >>= 1
    return result


def _primes(order):
    """Primes p = 1 mod order below 2^30 (products of two residues fit in 63 bits), descending."""
    for candidate in range((1 << 30) // order * order + 1, order, -order):
        if candidate < 1 << 30 and _is_prime(candidate):
            yield candidate
    raise ValueError("lattice too large: not enough primes below 2^30")


def _is_prime(number):
    """Miller and Rabin's test; with these bases exact below 3.4e14."""
    small = (2, 3, 5, 7, 11, 13, 17)
    if number < 2 or any(number % q == 0 for q in small):
        return number in small
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in small:
        power = pow(base, odd, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True


def _element_of_order(order, p):
    divisors = _prime_divisors(order)
    for base in range(2, p):
        element = pow(base, (p - 1) // order, p)
        if all(pow(element, order // q, p) != 1 for q in divisors):
            return element
    raise AssertionError("a prime field has elements of every order that divides p - 1")


def _prime_divisors(number):
    divisors, q = set(), 2
    while q * q <= number:
        while number % q == 0:
            divisors.add(q)
            number //= q
        q += 1
    return divisors | ({number} if number > 1 else set())


# --- thermodynamics from the density of states ----------------------------------------------------

def canonical(states, beta):
    """(ln Z / N, e, C) at one beta from density_of_states()."""
    sites = len(states) - 1
    level = np.array([k for k, count in enumerate(states) if count], dtype=np.longdouble)
    log_count = np.array([math.log(count) for count in states if count], dtype=np.longdouble)
    energy = -2 * sites + 4 * level
    exponent = log_count - np.longdouble(beta) * energy
    largest = exponent.max()
    weight = np.exp(exponent - largest)
    total = weight.sum()
    mean = (weight * energy).sum() / total
    variance = (weight * (energy - mean) ** 2).sum() / total
    return (float((largest + np.log(total)) / sites), float(mean / sites),
            float(np.longdouble(beta) ** 2 * variance / sites))


def _check_sides(rows, columns):
    if rows < 2 or columns < 2 or rows % 2 or columns % 2:
        raise ValueError(f"both sides must be even and at least 2, not {rows} x {columns}")


def main(arguments=None):
    parser = argparse.ArgumentParser(description="exact results for the periodic L x L Ising model")
    commands = parser.add_subparsers(dest="command", required=True)
    dos = commands.add_parser("dos", help="the density of states")
    dos.add_argument("L", type=int)
    curve = commands.add_parser("kaufman", help="ln Z / N, energy and specific heat per site")
    curve.add_argument("L", type=int)
    curve.add_argument("beta", type=float, nargs="+")
    options = parser.parse_args(arguments)
    try:
        _check_sides(options.L, options.L)
    except ValueError as mistake:
        parser.error(str(mistake))
    if options.command == "dos":
        for k, count in enumerate(density_of_states(options.L, options.L)):
            print(-2 * options.L ** 2 + 4 * k, count)
    else:
        for row in zip(options.beta, *kaufman(options.L, options.L, options.beta)):
            print(*(f"{value:.15g}" for value in row))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # the reader, head say, had enough
        sys.stderr.close()

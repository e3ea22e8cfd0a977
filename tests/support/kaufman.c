/* Kaufman's formula and its first two derivatives, arranged so that nothing cancels.
 *
 * With S = sinh 2K, C = cosh 2K, theta = pi l / n, the l-th mode has
 *   S e^g = A + B,  A = C^2 - S cos(theta),  B^2 = A^2 - S^2 = (A - S)(A + S),
 *   A - S = (1 - S)^2 + 2 S sin^2(theta/2),
 * which stays regular at K = 0, where g itself diverges, and at the critical point. A factor of the
 * products is then (2S)^(m/2) 2cosh(m g/2) = [2(A + B)]^(m/2) (1 + e^(-m g)), with - for sinh. */
#include "support/kaufman.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

/* A function of K: value, first and second derivative. */
struct jet {
  long double value, first, second;
};

/* One mode: g >= 0 and h = ln(2 S e^g). For l = 0, g in Kaufman's convention has the sign of S - 1,
 * which `sign` keeps. */
struct mode {
  struct jet g, h;
  long double sign;
};

static struct jet jet_log(struct jet x)
{
  long double slope = x.first / x.value;
  return (struct jet){logl(x.value), slope, x.second / x.value - slope * slope};
}

static struct jet jet_scaled(struct jet x, long double factor)
{
  return (struct jet){x.value * factor, x.first * factor, x.second * factor};
}

static struct jet jet_sum(struct jet x, struct jet y)
{
  return (struct jet){x.value + y.value, x.first + y.first, x.second + y.second};
}

static struct jet jet_product(struct jet x, struct jet y)
{
  return (struct jet){x.value * y.value, x.first * y.value + x.value * y.first,
                      x.second * y.value + 2.0L * x.first * y.first + x.value * y.second};
}

/* Returns 1 + side e^(-m g), side = +1 or -1. */
static struct jet one_and_exponential(struct jet g, long double m, long double side)
{
  long double small = expl(-m * g.value);
  long double slope = -m * g.first;
  long double value = side > 0 ? 1.0L + small : -expm1l(-m * g.value);
  return (struct jet){value, side * small * slope, side * small * (slope * slope - m * g.second)};
}

static struct mode make_mode(long double K, size_t l, size_t n)
{
  const long double S = sinhl(2.0L * K), C = coshl(2.0L * K);
  const struct jet s = {S, 2.0L * C, 4.0L * S};
  const long double half_angle = acosl(-1.0L) * (long double)l / (2.0L * (long double)n);
  const long double half_sine = sinl(half_angle);
  const long double cosine = 1.0L - 2.0L * half_sine * half_sine;
  struct jet a = {1.0L + S * S - S * cosine, (2.0L * S - cosine) * s.first,
                  2.0L * s.first * s.first + (2.0L * S - cosine) * s.second};
  struct jet b;
  struct mode mode = {.sign = 1.0L};
  if (l == 0) {
    mode.sign = S < 1.0L ? -1.0L : 1.0L;
    b = jet_product((struct jet){S - 1.0L, s.first, s.second}, (struct jet){C, 2.0L * S, 4.0L * C});
    b = jet_scaled(b, mode.sign);
  } else {
    long double below = (1.0L - S) * (1.0L - S) + 2.0L * S * half_sine * half_sine;
    b.value = sqrtl(below * (a.value + S));
    b.first = (a.value * a.first - S * s.first) / b.value;
    b.second = (a.first * a.first + a.value * a.second - s.first * s.first - S * s.second -
                b.first * b.first) /
               b.value;
  }
  struct jet log_sum = jet_log(jet_sum(a, b));
  mode.g = jet_sum(log_sum, jet_scaled(jet_log(s), -1.0L));
  mode.h = log_sum;
  mode.h.value += logl(2.0L);
  return mode;
}

/* One of the four products: e^exponent times `value`. */
struct product {
  long double exponent;
  struct jet value;
};

static struct product
make_product(long double K, size_t n, size_t m, size_t first, long double side)
{
  const long double length = (long double)m;
  struct jet log_product = {0};
  struct jet factor = {1.0L, 0.0L, 0.0L};
  for (size_t l = first; l < 2 * n; l += 2) {
    struct mode mode = make_mode(K, l, n);
    struct jet rest = one_and_exponential(mode.g, length, side);
    log_product = jet_sum(log_product, jet_scaled(mode.h, 0.5L * length));
    /* The sinh of mode 0 passes through zero at the critical point, so no logarithm is taken. */
    if (l == 0 && side < 0)
      factor = jet_scaled(rest, mode.sign);
    else
      log_product = jet_sum(log_product, jet_log(rest));
  }
  long double slope = log_product.first;
  struct jet exponential = {1.0L, slope, slope * slope + log_product.second};
  return (struct product){log_product.value, jet_product(exponential, factor)};
}

struct exact_thermodynamics
kaufman_ising2d(size_t rows, size_t columns, double coupling, double beta)
{
  assert(rows >= 2 && columns >= 2 && rows % 2 == 0 && columns % 2 == 0);
  /* If the sides are even, Z(-K) = Z(K): flip one sublattice. */
  const long double J = fabsl((long double)coupling), K = (long double)beta * J;
  const long double sites = (long double)rows * (long double)columns;
  if (K == 0.0L)
    return (struct exact_thermodynamics){logl(2.0L), 0.0L, 0.0L};

  struct product product[4];
  long double largest = -INFINITY;
  for (size_t i = 0; i < 4; i++) {
    product[i] = make_product(K, rows, columns, i < 2 ? 1 : 0, i % 2 == 0 ? 1.0L : -1.0L);
    largest = fmaxl(largest, product[i].exponent);
  }
  struct jet total = {0};
  for (size_t i = 0; i < 4; i++)
    total = jet_sum(total, jet_scaled(product[i].value, expl(product[i].exponent - largest)));
  struct jet log_z = jet_log(total);
  log_z.value += largest - logl(2.0L);
  return (struct exact_thermodynamics){log_z.value / sites, -J * log_z.first / sites,
                                       K * K * log_z.second / sites};
}

/* Returns the complete elliptic integral of the first kind of modulus k, given k'^2 = 1 - k^2. */
static long double elliptic_k(long double complement)
{
  long double a = 1.0L, b = sqrtl(complement);
  while (fabsl(a - b) > 1e-18L * a) {
    long double mean = 0.5L * (a + b);
    b = sqrtl(a * b);
    a = mean;
  }
  return acosl(-1.0L) / (2.0L * a);
}

long double onsager_energy(double beta)
{
  const long double K = (long double)beta, two_tanh = 2.0L * tanhl(2.0L * K) * tanhl(2.0L * K);
  const long double modulus_complement = two_tanh - 1.0L; /* k' ; k = 2 sinh 2K / cosh^2 2K */
  const long double complement = modulus_complement * modulus_complement;
  const long double pi = acosl(-1.0L);
  if (K == 0.0L)
    return 0.0L;
  long double logarithmic =
      complement == 0.0L ? 0.0L : 2.0L / pi * modulus_complement * elliptic_k(complement);
  return -(1.0L + logarithmic) / tanhl(2.0L * K);
}

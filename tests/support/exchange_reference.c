/* The slow, simple exchange of clusters. */
#include "support/exchange_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/numerics/threshold.h"

enum { BEFORE_Y, AFTER_Y, SAME_INDEX, SIDE, BEFORE_Z, AFTER_Z };

/* One exchange between replica r of both. */
struct exchange {
  const struct reference *reference;
  enum gpumc_cluster_rule rule;
  enum exchange_fault fault;
  double beta;
  uint32_t number, replica;
  int8_t *s, *t; /* [sites], x + Lx (y + Ly z) */
  bool *in;      /* [sites], the cluster */
  size_t *order; /* [sites], sites by colour and index */
};

struct site {
  size_t at[3];
};

static struct site site_of(const struct reference *reference, size_t i)
{
  const size_t *length = reference->length;
  return (struct site){{i % length[0], i / length[0] % length[1], i / length[0] / length[1]}};
}

static size_t number_of(const struct reference *reference, const struct site *site)
{
  return site->at[0] + reference->length[0] * (site->at[1] + reference->length[1] * site->at[2]);
}

static size_t next(const struct reference *reference, size_t i, size_t axis)
{
  struct site site = site_of(reference, i);
  site.at[axis] = (site.at[axis] + 1) % reference->length[axis];
  return number_of(reference, &site);
}

static bool is_first_colour(const struct reference *reference, size_t i)
{
  const struct site site = site_of(reference, i);
  return (site.at[0] + site.at[1] + site.at[2]) % 2 == 0;
}

/* J_ij of the bond from site i along the axis, an energy. */
static double coupling_of(const struct exchange *exchange, size_t i, size_t axis)
{
  const struct reference *reference = exchange->reference;
  const size_t bonds = reference->sites * reference->dimension;
  if (reference->samples == 0)
    return reference->coupling;
  const size_t sample = reference->samples > 1 ? exchange->replica : 0;
  return reference->sample_coupling[sample * bonds + i * reference->dimension + axis] *
         reference->quantum;
}

static uint32_t output(const struct exchange *exchange, uint32_t site, uint32_t group,
                       uint32_t draw, uint32_t which)
{
  uint32_t word[4];
  gpumc_random_draw(exchange->reference->random, site, group, exchange->number,
                    gpumc_random_label(GPUMC_RANDOM_LATTICE_PAIRS, draw), word);
  return word[which];
}

/* The number u of the bond from the site with index k of colour 0 in one direction. */
static uint32_t number_of_bond(const struct exchange *exchange, uint32_t k, uint32_t direction)
{
  const uint32_t replica = exchange->replica;
  uint32_t u = 0;
  if (exchange->reference->trajectory == REFERENCE_SPIN)
    return output(exchange, k, replica, 1 + direction / 4, direction % 4);
  for (uint32_t p = 0; p < 32; p++) {
    const uint32_t word = output(exchange, k, replica / 32, 1 + 8 * direction + p / 4, p % 4);
    u |= (word >> replica % 32 & 1) << (31 - p);
  }
  return u;
}

/* The number of the bond from site i along the axis. */
static uint32_t draw_bond(const struct exchange *exchange, size_t i, size_t axis)
{
  const struct reference *reference = exchange->reference;
  const bool forward = is_first_colour(reference, i);
  const size_t end = forward ? i : next(reference, i, axis);
  const bool even = site_of(reference, end).at[0] % 2 == 0;
  const uint32_t along_x = even == forward ? SAME_INDEX : SIDE;
  const uint32_t direction = axis == 0   ? along_x
                             : axis == 1 ? (forward ? AFTER_Y : BEFORE_Y)
                                         : (forward ? AFTER_Z : BEFORE_Z);
  return number_of_bond(exchange, (uint32_t)(end / 2), direction);
}

/* Whether the bond from site i along the axis joins its ends. */
static bool joins(const struct exchange *exchange, size_t i, size_t axis)
{
  const size_t j = next(exchange->reference, i, axis);
  const double coupling = coupling_of(exchange, i, axis);
  const double factor = exchange->fault == EXCHANGE_PROBABILITY ? 2.0 : 4.0;
  if (exchange->s[i] == exchange->t[i] || exchange->s[j] == exchange->t[j])
    return false;
  if (exchange->rule == GPUMC_CLUSTER_CONNECTED)
    return coupling != 0;
  if (!(exchange->beta * coupling * exchange->s[i] * exchange->s[j] > 0))
    return false;
  return draw_bond(exchange, i, axis) >=
         gpumc_threshold_exponential(factor * fabs(exchange->beta * coupling));
}

static size_t find_seed(const struct exchange *exchange, size_t differing)
{
  const uint32_t replica = exchange->replica;
  const bool words = exchange->reference->trajectory == REFERENCE_MULTISPIN;
  const uint32_t w = words ? output(exchange, replica % 32 / 4, replica / 32, 0, replica % 4)
                           : output(exchange, 0, replica, 0, 0);
  size_t left = (size_t)(w * (uint64_t)differing >> 32);
  for (size_t k = 0;; k++) {
    const size_t i = exchange->order[k];
    if (exchange->s[i] != exchange->t[i] && left-- == 0)
      return i;
  }
}

/* Adds sites to the cluster until no bond adds any more; returns its size. */
static size_t grow(struct exchange *exchange)
{
  const struct reference *reference = exchange->reference;
  size_t size = 1;
  for (bool grown = true; grown;) {
    grown = false;
    for (size_t i = 0; i < reference->sites; i++)
      for (size_t axis = 0; axis < reference->dimension; axis++) {
        const size_t j = next(reference, i, axis);
        if (exchange->in[i] == exchange->in[j] || !joins(exchange, i, axis))
          continue;
        exchange->in[i] = exchange->in[j] = grown = true;
        size++;
      }
  }
  return size;
}

/* Turns over both spins of the cluster's first `count` sites. */
static void turn(struct exchange *exchange, size_t count)
{
  for (size_t i = 0; i < exchange->reference->sites && count > 0; i++) {
    if (!exchange->in[i])
      continue;
    exchange->s[i] = (int8_t)-exchange->s[i];
    exchange->t[i] = (int8_t)-exchange->t[i];
    count--;
  }
}

static void exchange_one(struct exchange *exchange, struct gpumc_cluster_counts *counts)
{
  const size_t sites = exchange->reference->sites;
  size_t differing = 0;
  for (size_t i = 0; i < sites; i++)
    differing += exchange->s[i] != exchange->t[i];
  if (differing == 0)
    return;
  memset(exchange->in, 0, sites * sizeof *exchange->in);
  exchange->in[find_seed(exchange, differing)] = true;
  const size_t size = grow(exchange);
  const double before = reference_energy(exchange->reference, exchange->replica);
  turn(exchange, exchange->fault == EXCHANGE_PART ? (size + 1) / 2 : size);
  if (exchange->fault == EXCHANGE_BIASED &&
      reference_energy(exchange->reference, exchange->replica) > before + 1e-9)
    turn(exchange, size);
  counts->exchanges++;
  counts->differing += differing;
  counts->exchanged += size;
  counts->shares += (uint64_t)floor(ldexp((double)size / (double)differing, 24));
}

void reference_exchange_clusters(struct reference *one, struct reference *other,
                                 enum gpumc_cluster_rule rule, double beta, uint32_t number,
                                 enum exchange_fault fault, struct gpumc_cluster_counts *counts)
{
  const size_t sites = one->sites;
  struct exchange exchange = {
      .reference = one, .rule = rule, .fault = fault, .beta = beta, .number = number};
  size_t count = 0;
  exchange.in = calloc(sites, sizeof *exchange.in);
  exchange.order = calloc(sites, sizeof *exchange.order);
  if (exchange.in == NULL || exchange.order == NULL)
    abort();
  for (int second = 0; second < 2; second++)
    for (size_t i = 0; i < sites; i++)
      if (is_first_colour(one, i) == (second == 0))
        exchange.order[count++] = i;
  for (size_t r = 0; r < one->replicas; r++) {
    exchange.replica = (uint32_t)r;
    exchange.s = one->spin + r * sites;
    exchange.t = other->spin + r * sites;
    exchange_one(&exchange, counts);
  }
  free(exchange.in);
  free(exchange.order);
}

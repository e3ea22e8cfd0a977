/* The slow obvious two-dimensional Ising model. */
#include "support/ising2d_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/elementary.h"

static int8_t *replica_of(const struct reference *reference, size_t replica)
{
  return reference->spin + replica * reference->length_x * reference->length_y;
}

void reference_init(struct reference *reference, enum reference_trajectory trajectory,
                    size_t length_x, size_t length_y, size_t replicas)
{
  *reference = (struct reference){
      .trajectory = trajectory,
      .length_x = length_x,
      .length_y = length_y,
      .replicas = replicas,
      .coupling = 1.0,
      .random = gpumc_random_make(1, 0, 10),
      .spin = calloc(replicas, length_x * length_y),
  };
  if (reference->spin == NULL)
    abort();
}

void reference_free(struct reference *reference)
{
  free(reference->spin);
  memset(reference, 0, sizeof *reference);
}

/* Number of a site among all, colour by colour and row by row. */
static uint32_t site_number(const struct reference *reference, size_t x, size_t y)
{
  size_t colour = (x + y) % 2;
  size_t half = reference->length_x * reference->length_y / 2;
  return (uint32_t)(colour * half + y * (reference->length_x / 2) + x / 2);
}

static uint32_t output(const struct reference *reference, uint32_t site, uint32_t group,
                       uint32_t time, uint32_t label, uint32_t which)
{
  uint32_t word[4];
  gpumc_random_draw(reference->random, site, group, time, label, word);
  return word[which];
}

void reference_randomize(struct reference *reference)
{
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_INITIAL, 0);
  for (size_t r = 0; r < reference->replicas; r++)
    for (size_t y = 0; y < reference->length_y; y++)
      for (size_t x = 0; x < reference->length_x; x++) {
        const uint32_t i = site_number(reference, x, y), replica = (uint32_t)r;
        uint32_t bit;
        if (reference->trajectory == REFERENCE_MULTISPIN)
          bit = output(reference, i / 4, replica / 32, 0, label, i % 4) >> replica % 32 & 1;
        else
          bit = output(reference, i / 32 / 4, replica, 0, label, i / 32 % 4) >> i % 32 & 1;
        replica_of(reference, r)[y * reference->length_x + x] = bit != 0 ? 1 : -1;
      }
}

/* The uniform number of one spin in one sweep. */
static uint32_t
uniform(const struct reference *reference, size_t x, size_t y, uint32_t replica, uint32_t time)
{
  uint32_t i = site_number(reference, x, y);
  if (reference->trajectory == REFERENCE_SPIN) {
    const uint32_t colour = (uint32_t)(x + y) % 2;
    const uint32_t half = (uint32_t)(reference->length_x * reference->length_y / 2);
    const uint32_t k = i - colour * half;
    return output(reference, k / 64 * 16 + k % 16, replica, time,
                  gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, colour), k / 16 % 4);
  }
  const uint32_t lane = reference->fault == REFERENCE_SHARED ? 0 : replica % 32;
  uint32_t u = 0;
  for (uint32_t draw = 0; draw < 8; draw++) {
    uint32_t word[4];
    gpumc_random_draw(reference->random, i, replica / 32, time,
                      gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, draw), word);
    for (uint32_t p = 0; p < 4; p++)
      u = u << 1 | (word[p] >> lane & 1);
  }
  return u;
}

static int neighbour_sum(const struct reference *reference, const int8_t *spin, size_t x, size_t y)
{
  const size_t lx = reference->length_x, ly = reference->length_y;
  return spin[y * lx + (x + 1) % lx] + spin[y * lx + (x + lx - 1) % lx] +
         spin[(y + 1) % ly * lx + x] + spin[(y + ly - 1) % ly * lx + x];
}

static bool accepted(const struct reference *reference, double beta, double difference, uint32_t u)
{
  if (beta * difference <= 0.0)
    return true;
  double threshold = floor(gpumc_exp(-beta * difference) * 4294967296.0 + 0.5);
  if (reference->fault == REFERENCE_ACCEPTANCE)
    threshold = floor(0.99 * threshold);
  return (double)u < threshold;
}

static void sweep_replica(struct reference *reference, double beta, uint32_t time, size_t replica)
{
  int8_t *spin = replica_of(reference, replica);
  for (size_t colour = 0; colour < 2; colour++)
    for (size_t y = 0; y < reference->length_y; y++)
      for (size_t x = 0; x < reference->length_x; x++) {
        if ((x + y) % 2 != colour)
          continue;
        int8_t *s = &spin[y * reference->length_x + x];
        const int sum = neighbour_sum(reference, spin, x, y);
        const double difference = 2.0 * *s * (reference->coupling * (double)sum + reference->field);
        if (accepted(reference, beta, difference,
                     uniform(reference, x, y, (uint32_t)replica, time)))
          *s = (int8_t) - *s;
      }
}

void reference_sweep(struct reference *reference, double beta, uint32_t time)
{
#pragma omp parallel for schedule(static)
  for (size_t r = 0; r < reference->replicas; r++)
    sweep_replica(reference, beta, time, r);
}

int64_t reference_bonds(const struct reference *reference, size_t replica)
{
  int64_t twice = 0;
  const int8_t *spin = replica_of(reference, replica);
  for (size_t y = 0; y < reference->length_y; y++)
    for (size_t x = 0; x < reference->length_x; x++)
      twice += spin[y * reference->length_x + x] * neighbour_sum(reference, spin, x, y);
  return twice / 2;
}

int64_t reference_magnetization(const struct reference *reference, size_t replica)
{
  int64_t sum = 0;
  for (size_t i = 0; i < reference->length_x * reference->length_y; i++)
    sum += replica_of(reference, replica)[i];
  return sum;
}

void reference_portable(const struct reference *reference, size_t replica, uint8_t *portable)
{
  const size_t sites = reference->length_x * reference->length_y;
  memset(portable, 0, (sites + 7) / 8);
  for (size_t i = 0; i < sites; i++)
    if (replica_of(reference, replica)[i] > 0)
      portable[i / 8] = (uint8_t)(portable[i / 8] | 1 << i % 8);
}

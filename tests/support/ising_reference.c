/* The slow, simple model of Ising spins. */
#include "support/ising_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/numerics/elementary.h"
#include "models/ising/ising.h"

static int8_t *replica_of(const struct reference *reference, size_t replica)
{
  return reference->spin + replica * reference->sites;
}

void reference_init(struct reference *reference, enum reference_trajectory trajectory,
                    size_t dimension, const size_t *shape, size_t replicas)
{
  *reference = (struct reference){
      .trajectory = trajectory,
      .dimension = dimension,
      .length = {shape[0], shape[1], dimension == 3 ? shape[2] : 1},
      .replicas = replicas,
      .coupling = 1.0,
      .random = gpumc_random_make(1, 0, 10),
  };
  reference->sites = reference->length[0] * reference->length[1] * reference->length[2];
  reference->spin = calloc(replicas, reference->sites);
  if (reference->spin == NULL)
    abort();
}

static void draw_samples(struct reference *reference, const struct gpumc_model *model)
{
  struct gpumc_error error = {0};
  const size_t sites = reference->sites, bonds = sites * reference->dimension;
  const size_t samples = reference->samples;
  reference->sample_coupling = calloc(samples * bonds, sizeof *reference->sample_coupling);
  reference->sample_field = calloc(samples * sites, sizeof *reference->sample_field);
  if (reference->sample_coupling == NULL || reference->sample_field == NULL)
    abort();
  for (size_t s = 0; s < samples; s++)
    if (ising_disorder_sample(model, s, reference->sample_coupling + s * bonds,
                              reference->sample_field + s * sites, &error) != GPUMC_OK)
      abort();
}

void reference_init_model(struct reference *reference, enum reference_trajectory trajectory,
                          const struct gpumc_model *model, size_t samples, size_t replicas)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  const struct gpumc_checkerboard *lattice = &parameters->lattice;
  const struct lattice_disorder_traits traits = ising_disorder_traits(model);
  const size_t shape[3] = {lattice->length_x, lattice->length_y, lattice->length_z};
  reference_init(reference, trajectory, lattice->dimension, shape, replicas);
  reference->coupling = parameters->coupling;
  reference->field = parameters->field;
  reference->quantum = model->quantum[ISING_ENERGY];
  reference->along_field = traits.fields && trajectory == REFERENCE_MULTISPIN;
  reference->samples = traits.couplings || traits.fields ? samples : 0;
  if (reference->samples > 0)
    draw_samples(reference, model);
}

void reference_free(struct reference *reference)
{
  free(reference->sample_coupling);
  free(reference->sample_field);
  free(reference->spin);
  memset(reference, 0, sizeof *reference);
}

/* Returns the x, y or z coordinate of a site. */
static size_t coordinate(const struct reference *reference, size_t site, size_t axis)
{
  for (size_t d = 0; d < axis; d++)
    site /= reference->length[d];
  return site % reference->length[axis];
}

/* Returns the site `steps` further along the axis, 0 <= steps < L: L - 1 is one step back. */
static size_t moved(const struct reference *reference, size_t site, size_t axis, size_t steps)
{
  size_t stride = 1;
  const size_t at = coordinate(reference, site, axis), length = reference->length[axis];
  for (size_t d = 0; d < axis; d++)
    stride *= reference->length[d];
  return site - at * stride + (at + steps) % length * stride;
}

size_t reference_next(const struct reference *reference, size_t site, size_t axis)
{
  return moved(reference, site, axis, 1);
}

size_t reference_before(const struct reference *reference, size_t site, size_t axis)
{
  return moved(reference, site, axis, reference->length[axis] - 1);
}

static uint32_t colour_of(const struct reference *reference, size_t site)
{
  return (uint32_t)(coordinate(reference, site, 0) + coordinate(reference, site, 1) +
                    coordinate(reference, site, 2)) %
         2;
}

/* Returns the number of a site within its colour: row by row, plane by plane. */
static uint32_t number_in_colour(size_t site)
{
  return (uint32_t)(site / 2);
}

static uint32_t site_number(const struct reference *reference, size_t site)
{
  return colour_of(reference, site) * (uint32_t)(reference->sites / 2) + number_in_colour(site);
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
    for (size_t site = 0; site < reference->sites; site++) {
      const uint32_t i = site_number(reference, site), replica = (uint32_t)r;
      uint32_t bit;
      if (reference->trajectory == REFERENCE_MULTISPIN)
        bit = output(reference, i / 4, replica / 32, 0, label, i % 4) >> replica % 32 & 1;
      else
        bit = output(reference, i / 32 / 4, replica, 0, label, i / 32 % 4) >> i % 32 & 1;
      replica_of(reference, r)[site] = bit != 0 ? 1 : -1;
    }
}

/* Returns the uniform number of one spin in one sweep. */
static uint32_t
uniform(const struct reference *reference, size_t site, uint32_t replica, uint32_t time)
{
  if (reference->trajectory == REFERENCE_SPIN) {
    const uint32_t k = number_in_colour(site);
    return output(reference, k / 64 * 16 + k % 16, replica, time,
                  gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, colour_of(reference, site)),
                  k / 16 % 4);
  }
  const uint32_t i = site_number(reference, site);
  const bool packed = reference->trajectory == REFERENCE_PACKED;
  const uint32_t number = packed ? i / 32 : i, group = packed ? replica : replica / 32;
  const uint32_t lane = reference->fault == REFERENCE_SHARED ? 0 : packed ? i % 32 : replica % 32;
  uint32_t u = 0;
  for (uint32_t draw = 0; draw < 8; draw++) {
    uint32_t word[4];
    gpumc_random_draw(reference->random, number, group, time,
                      gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, draw), word);
    for (uint32_t p = 0; p < 4; p++)
      u = u << 1 | (word[p] >> lane & 1);
  }
  return u;
}

/* Return J(i, i + e_axis) and h_i of a sample, in quanta. */
static int32_t
coupling_of(const struct reference *reference, size_t replica, size_t site, size_t axis)
{
  const size_t sample = reference->samples == 1 ? 0 : replica;
  return reference
      ->sample_coupling[(sample * reference->sites + site) * reference->dimension + axis];
}

static int32_t field_of(const struct reference *reference, size_t replica, size_t site)
{
  const size_t sample = reference->samples == 1 ? 0 : replica;
  return reference->sample_field[sample * reference->sites + site];
}

double
reference_coupling(const struct reference *reference, size_t replica, size_t site, size_t axis)
{
  return reference->samples > 0 ? coupling_of(reference, replica, site, axis) * reference->quantum
                                : reference->coupling;
}

double reference_field(const struct reference *reference, size_t replica, size_t site)
{
  return reference->moved_field + (reference->samples > 0
                                       ? field_of(reference, replica, site) * reference->quantum
                                       : reference->field);
}

/* Returns f = sum_j J_ij s_j + h_i. */
static double
local_field(const struct reference *reference, const int8_t *spin, size_t replica, size_t site)
{
  int64_t sum = 0, quanta = 0;
  for (size_t axis = 0; axis < reference->dimension; axis++) {
    const size_t next = reference_next(reference, site, axis),
                 last = reference_before(reference, site, axis);
    sum += spin[next] + spin[last];
    if (reference->samples > 0)
      quanta += (int64_t)coupling_of(reference, replica, site, axis) * spin[next] +
                (int64_t)coupling_of(reference, replica, last, axis) * spin[last];
  }
  if (reference->samples == 0)
    return reference->coupling * (double)sum + reference->field;
  return (double)(quanta + field_of(reference, replica, site)) * reference->quantum;
}

static double faulty(const struct reference *reference, double threshold)
{
  return reference->fault == REFERENCE_ACCEPTANCE ? floor(0.99 * threshold) : threshold;
}

static int metropolis(const struct reference *reference, double beta, double f, int s, uint32_t u)
{
  const double x = beta * (2.0 * s * f);
  if (x <= 0.0)
    return -s;
  const double threshold = floor(gpumc_exp(-x) * 4294967296.0 + 0.5);
  return (double)u < faulty(reference, threshold) ? -s : s;
}

/* Returns +1 or -1. */
static int heat_bath(const struct reference *reference, double beta, double f, uint32_t u)
{
  const double x = 2.0 * beta * f;
  const double threshold = floor(4294967296.0 / (1.0 + gpumc_exp(-x)) + 0.5);
  return (double)u < faulty(reference, threshold) ? 1 : -1;
}

void reference_update(struct reference *reference, double beta, size_t replica, size_t site,
                      uint32_t u)
{
  int8_t *spin = replica_of(reference, replica);
  const double f = local_field(reference, spin, replica, site);
  const int along = reference->along_field && field_of(reference, replica, site) < 0 ? -1 : 1;
  if (reference->update == ISING_MOVE_METROPOLIS)
    spin[site] = (int8_t)metropolis(reference, beta, f, spin[site], u);
  else
    spin[site] = (int8_t)(along * heat_bath(reference, beta, along * f, u));
}

static void sweep_replica(struct reference *reference, double beta, uint32_t time, size_t replica)
{
  if (reference->update >= ISING_LOCAL_MOVES) {
    reference_sweep_clusters(reference, beta, time, replica);
    return;
  }
  for (uint32_t colour = 0; colour < 2; colour++)
    for (size_t site = 0; site < reference->sites; site++)
      if (colour_of(reference, site) == colour)
        reference_update(reference, beta, replica, site,
                         uniform(reference, site, (uint32_t)replica, time));
}

void reference_sweep(struct reference *reference, double beta, uint32_t time)
{
#pragma omp parallel for schedule(static)
  for (size_t r = 0; r < reference->replicas; r++)
    sweep_replica(reference, beta, time, r);
}

void reference_exchange(struct reference *one, struct reference *other, const uint32_t *swap)
{
  for (size_t r = 0; r < one->replicas; r++)
    for (size_t i = 0; (swap[r / 32] >> r % 32 & 1) != 0 && i < one->sites; i++) {
      const int8_t spin = replica_of(one, r)[i];
      replica_of(one, r)[i] = replica_of(other, r)[i];
      replica_of(other, r)[i] = spin;
    }
}

static int64_t sum_bonds(const struct reference *reference, const int8_t *spin)
{
  int64_t sum = 0;
  for (size_t site = 0; site < reference->sites; site++)
    for (size_t axis = 0; axis < reference->dimension; axis++)
      sum += spin[site] * spin[reference_next(reference, site, axis)];
  return sum;
}

static int64_t sum_spins(const struct reference *reference, const int8_t *spin)
{
  int64_t sum = 0;
  for (size_t site = 0; site < reference->sites; site++)
    sum += spin[site];
  return sum;
}

/* Returns the mean over the longest sides' axes, in quanta, rounded down; cosines and sines are
 * rounded to 2^-30. */
static int64_t sum_wave(const struct reference *reference, const int8_t *spin, double quantum)
{
  size_t longest = 0, axes = 0;
  unsigned __int128 total = 0;
  for (size_t axis = 0; axis < reference->dimension; axis++)
    longest = reference->length[axis] > longest ? reference->length[axis] : longest;
  for (size_t axis = 0; axis < reference->dimension; axis++) {
    __int128 cosine = 0, sine = 0;
    if (reference->length[axis] != longest)
      continue;
    axes++;
    for (size_t site = 0; site < reference->sites; site++) {
      const double angle =
          2.0 * GPUMC_PI * (double)coordinate(reference, site, axis) / (double)longest;
      cosine += spin[site] * (__int128)rint(cos(angle) * 0x1p30);
      sine += spin[site] * (__int128)rint(sin(angle) * 0x1p30);
    }
    total += (unsigned __int128)(cosine * cosine + sine * sine);
  }
  return (int64_t)(total / axes >> (60 + (int)log2(quantum)));
}

int64_t reference_bonds(const struct reference *reference, size_t replica)
{
  return sum_bonds(reference, replica_of(reference, replica));
}

int64_t reference_magnetization(const struct reference *reference, size_t replica)
{
  return sum_spins(reference, replica_of(reference, replica));
}

double reference_energy(const struct reference *reference, size_t replica)
{
  const int8_t *spin = replica_of(reference, replica);
  int64_t quanta = 0;
  if (reference->samples == 0)
    return -reference->coupling * (double)sum_bonds(reference, spin) -
           reference->field * (double)sum_spins(reference, spin);
  for (size_t site = 0; site < reference->sites; site++) {
    quanta -= (int64_t)field_of(reference, replica, site) * spin[site];
    for (size_t axis = 0; axis < reference->dimension; axis++)
      quanta -= (int64_t)coupling_of(reference, replica, site, axis) * spin[site] *
                spin[reference_next(reference, site, axis)];
  }
  return (double)quanta * reference->quantum;
}

int64_t reference_wave(const struct reference *reference, size_t replica, double quantum)
{
  return sum_wave(reference, replica_of(reference, replica), quantum);
}

int64_t reference_overlap(const struct reference *one, const struct reference *other,
                          size_t replica, enum ising_pair_kind kind, double quantum)
{
  int64_t value;
  int8_t *product = calloc(one->sites, 1);
  if (product == NULL)
    abort();
  for (size_t i = 0; i < one->sites; i++)
    product[i] = (int8_t)(replica_of(one, replica)[i] * replica_of(other, replica)[i]);
  if (kind == ISING_PAIR_SPIN)
    value = sum_spins(one, product);
  else if (kind == ISING_PAIR_LINK)
    value = sum_bonds(one, product);
  else
    value = sum_wave(one, product, quantum);
  free(product);
  return value;
}

void reference_portable(const struct reference *reference, size_t replica, uint8_t *portable)
{
  memset(portable, 0, (reference->sites + 7) / 8);
  for (size_t i = 0; i < reference->sites; i++)
    if (replica_of(reference, replica)[i] > 0)
      portable[i / 8] = (uint8_t)(portable[i / 8] | 1 << i % 8);
}

/* Measurement of replicas with one byte per spin: bonds, spins up, and layers of the lattice. */
#include "models/ising/spin/spin_simd.h"

enum { BLOCK = GPUMC_CHECKERBOARD_PADDING };

/* Sums of the bytes of many vectors. A byte has room for `room` vectors. */
struct byte_sums {
  gpumc_v8 partial;
  int64_t total;
};

static void flush(struct byte_sums *sums)
{
  uint32_t total = 0;
  for (size_t i = 0; i < GPUMC_VECTOR_BYTES; i++)
    total += sums->partial[i];
  sums->total += total;
  sums->partial = (gpumc_v8){0};
}

/* Returns all ones for sites within the lattice, in a vector with `left` such sites. */
GPUMC_INLINE gpumc_v8 within(size_t left)
{
  gpumc_v8 number;
  for (size_t i = 0; i < GPUMC_VECTOR_BYTES; i++)
    number[i] = (uint8_t)i;
  if (left >= GPUMC_VECTOR_BYTES)
    return ~(gpumc_v8){0};
  return (gpumc_v8)(number < (uint8_t)left);
}

struct counts {
  struct byte_sums up, unsatisfied, against;
};

static void flush_all(struct counts *counts)
{
  flush(&counts->up);
  flush(&counts->unsatisfied);
  flush(&counts->against);
}

/* Adds a vector of colour `colour` from site k on; bonds are counted at their ends of colour 0. */
GPUMC_INLINE void count_vector(const struct ising_spin_measurement *with, const size_t dimension,
                               const size_t colour, uint8_t *const sites[2], size_t k,
                               struct counts *counts)
{
  const struct gpumc_checkerboard *lattice = &with->lattice->checkerboard;
  const gpumc_v8 spin = ising_load_bytes(sites[colour] + k), inside = within(lattice->colour - k);
  gpumc_v8 sign = {0};
  if (with->sample.signs != NULL)
    sign = ising_load_bytes(with->sample.signs + colour * with->sample.stride + k);
  counts->up.partial += inside & spin;
  counts->against.partial += inside & (spin ^ (sign >> (uint8_t)ISING_FIELD_SIGN)) & 1;
  if (colour == 0) {
    gpumc_v8 neighbour[GPUMC_NEIGHBOURS_MAXIMUM];
    ising_spin_neighbours(lattice, dimension, sites[1] + k, ising_spin_places(with->lattice, 0, k),
                          neighbour);
    ising_spin_pulls(dimension, sign, neighbour);
    for (size_t n = 0; n < 2 * dimension; n++)
      neighbour[n] ^= spin;
    counts->unsatisfied.partial += inside & ising_spin_count(dimension, neighbour);
  }
}

GPUMC_INLINE void count(const struct ising_spin_measurement *with, const size_t dimension,
                        uint8_t *const sites[2], struct ising_spin_sums *sums)
{
  const size_t room = UINT8_MAX / (2 * dimension) * GPUMC_VECTOR_BYTES;
  const size_t n = with->lattice->checkerboard.colour;
  struct counts counts = {0};
#pragma GCC unroll 2
  for (size_t colour = 0; colour < 2; colour++)
    for (size_t k = 0; k < n; flush_all(&counts))
      for (const size_t end = k + room < n ? k + room : n; k < end; k += GPUMC_VECTOR_BYTES)
        count_vector(with, dimension, colour, sites, k, &counts);
  sums->up = counts.up.total;
  sums->unsatisfied = counts.unsatisfied.total;
  sums->against = counts.against.total;
}

/* Returns the sum over a block's spins s_i of s_i (h_i + sum_j J_ij s_j), over colour 1 of s_i h_i
 * only. */
static int64_t energy_of_block(const int32_t *terms, size_t stride, size_t couplings,
                               const uint8_t neighbour[][BLOCK], const uint8_t *spins, size_t n)
{
  int64_t sum = 0;
  for (size_t i = 0; i < n; i++) {
    int64_t field = terms[i];
    for (size_t d = 0; d < couplings; d++) {
      const int64_t coupling = terms[i - (couplings - d) * stride];
      field += neighbour[d][i] != 0 ? coupling : -coupling;
    }
    sum += spins[i] != 0 ? field : -field;
  }
  return sum;
}

GPUMC_INLINE void sum_energy(const struct ising_spin_measurement *with, const size_t dimension,
                             uint8_t *const sites[2], struct ising_spin_sums *sums)
{
  const size_t neighbours = 2 * dimension, stride = with->sample.stride;
  const size_t n = with->lattice->checkerboard.colour;
  for (size_t colour = 0; colour < 2; colour++)
    for (size_t k = 0; k < n; k += BLOCK) {
      /* The fields, after the couplings. */
      const int32_t *terms =
          with->sample.terms + (colour * (neighbours + 1) + neighbours) * stride + k;
      const uint8_t *places = ising_spin_places(with->lattice, colour, k);
      uint8_t seen[GPUMC_NEIGHBOURS_MAXIMUM][BLOCK];
      for (size_t i = 0; colour == 0 && i < BLOCK; i += GPUMC_VECTOR_BYTES) {
        gpumc_v8 neighbour[GPUMC_NEIGHBOURS_MAXIMUM];
        ising_spin_neighbours(&with->lattice->checkerboard, dimension, sites[1] + k + i, places + i,
                              neighbour);
        for (size_t d = 0; d < neighbours; d++)
          ising_store_bytes(seen[d] + i, neighbour[d]);
      }
      sums->energy -= energy_of_block(terms, stride, colour == 0 ? neighbours : 0, seen,
                                      sites[colour] + k, n - k < BLOCK ? n - k : BLOCK);
    }
}

/* Counts spins up at every x, y and z. */
static void
count_layers(const struct gpumc_checkerboard *lattice, uint8_t *const sites[2], uint32_t *layers)
{
  uint32_t *y_layers = layers + lattice->length_x, *z_layers = y_layers + lattice->length_y;
  memset(layers, 0, ising_spin_layers(lattice) * sizeof *layers);
  for (size_t z = 0; z < lattice->length_z; z++)
    for (size_t y = 0; y < lattice->length_y; y++)
      for (size_t colour = 0; colour < 2; colour++) {
        const uint8_t *spins = sites[colour] + (z * lattice->length_y + y) * lattice->row;
        uint32_t *first = layers + ((y + z + colour) & 1), up = 0;
        for (size_t j = 0; j < lattice->row; j++) {
          first[2 * j] += spins[j];
          up += spins[j];
        }
        y_layers[y] += up;
        z_layers[z] += up;
      }
}

void GPUMC_ISA_NAME(ising_spin_measure)(const struct ising_spin_measurement *measurement,
                                        struct ising_spin_sums *sums);
void GPUMC_ISA_NAME(ising_spin_measure)(const struct ising_spin_measurement *measurement,
                                        struct ising_spin_sums *sums)
{
  const struct gpumc_checkerboard *lattice = &measurement->lattice->checkerboard;
  uint8_t *sites[2];
  memset(sums, 0, sizeof *sums);
  ising_spin_load(lattice, measurement->spins, measurement->other, measurement->scratch, sites);
  if (lattice->dimension == 3)
    count(measurement, 3, sites, sums);
  else
    count(measurement, 2, sites, sums);
  if (measurement->sample.terms != NULL && lattice->dimension == 3)
    sum_energy(measurement, 3, sites, sums);
  else if (measurement->sample.terms != NULL)
    sum_energy(measurement, 2, sites, sums);
  if (measurement->layers != NULL)
    count_layers(lattice, sites, measurement->layers);
}

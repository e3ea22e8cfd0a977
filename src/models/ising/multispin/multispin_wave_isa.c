/* Amplitudes of the smallest waves of multispin replicas, from the sums over the planes (in two
 * dimensions the lines) across each axis. */
#include "models/ising/multispin/multispin_count.h"

/* Words on their way to be counted. */
struct collection {
  uint32_t *buffer; /* of a part */
  size_t held;
  int64_t count[ISING_LANES];
};

static void count_held(struct collection *to)
{
  const uint32_t *array[1] = {to->buffer};
  ising_count_up(array, 1, to->held, to->count);
  to->held = 0;
}

/* Whole vectors, since rows are short; what is too much is written over, or in the padding. */
static void collect(struct collection *to, const uint32_t *words, size_t n)
{
  while (n > 0) {
    const size_t room = ISING_PART - to->held, taken = n < room ? n : room;
    for (size_t i = 0; i < taken; i += GPUMC_VECTOR_WORDS)
      gpumc_store(to->buffer + to->held + i, gpumc_load(words + i));
    to->held += taken;
    words += taken;
    n -= taken;
    if (to->held == ISING_PART)
      count_held(to);
  }
}

/* The sites of one x: one a line, now of the one colour, now of the other. */
static void collect_column(struct collection *to, const struct gpumc_checkerboard *lattice,
                           const uint32_t *const sites[2], size_t x)
{
  const uint32_t *of_colour[2] = {sites[0] + x / 2, sites[1] + x / 2};
  for (size_t z = 0; z < lattice->length_z; z++)
    for (size_t y = 0; y < lattice->length_y; y++) {
      to->buffer[to->held++] = *of_colour[(x + y + z) & 1];
      of_colour[0] += lattice->row;
      of_colour[1] += lattice->row;
      if (to->held == ISING_PART)
        count_held(to);
    }
}

/* Bits set among the sites whose coordinate along `axis` is x. */
static void count_plane(struct collection *to, const struct gpumc_checkerboard *lattice,
                        const uint32_t *const sites[2], size_t axis, size_t x)
{
  memset(to->count, 0, sizeof to->count);
  to->held = 0;
  if (axis == 0)
    collect_column(to, lattice, sites, x);
  for (size_t colour = 0; colour < 2 && axis == 1; colour++)
    for (size_t z = 0; z < lattice->length_z; z++)
      collect(to, sites[colour] + z * lattice->plane + x * lattice->row, lattice->row);
  for (size_t colour = 0; colour < 2 && axis == 2; colour++)
    collect(to, sites[colour] + x * lattice->plane, lattice->plane);
  count_held(to);
}

void GPUMC_ISA_NAME(ising_multispin_wave)(const struct gpumc_checkerboard *lattice,
                                          const uint32_t *const sites[2], uint32_t *buffer,
                                          const struct ising_multispin_waves *waves,
                                          struct ising_multispin_sums *sums)
{
  const int64_t across = (int64_t)(2 * lattice->colour / waves->wave.length);
  struct collection to = {.buffer = buffer};
  memset(sums->cosine, 0, sizeof sums->cosine);
  memset(sums->sine, 0, sizeof sums->sine);
  for (size_t axis = 0; axis < ISING_AXES; axis++)
    for (size_t x = 0; waves->wave.along[axis] && x < waves->wave.length; x++) {
      count_plane(&to, lattice, sites, axis, x);
      for (size_t lane = 0; lane < ISING_LANES; lane++) {
        const int64_t spins = 2 * to.count[lane] - across;
        sums->cosine[axis][lane] += waves->cosine[x] * spins;
        sums->sine[axis][lane] += waves->sine[x] * spins;
      }
    }
}

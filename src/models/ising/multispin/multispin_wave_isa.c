/* Amplitudes of the smallest waves of multispin replicas, from the sums over the planes (in two
 * dimensions the lines) across each axis.
 *
 * The spins of planes are counted in vertical counters. Across x each word of a row belongs to a
 * plane of its own. Across y and z a plane has a whole counter; as many as a vector has words are
 * folded into one, so that none is summed over its vector alone. There plane x is taken together
 * with plane x + L/2, where cosine and sine have the opposite sign (ising_wave_table): spins up in
 * the one and spins down in the other are counted together. */
#include "models/ising/multispin/multispin_planes.h"

/* Vectors on their way into a counter, by their place in memory, their words that count, and what
 * is turned over in them. A counter's low planes stay in registers meanwhile. */
struct taken {
  const uint32_t *at[TAKEN];
  size_t words[TAKEN];
  uint32_t down[TAKEN];
  size_t held;
};

GPUMC_INLINE void add_taken(struct taken *taken, struct low_planes *low,
                            struct gpumc_vertical_counter *counter, size_t planes)
{
  gpumc_v32 bits[TAKEN];
#pragma GCC unroll 8
  for (size_t i = 0; i < TAKEN; i++)
    bits[i] = (gpumc_load(taken->at[i]) ^ taken->down[i]) & ising_within(taken->words[i]);
  gpumc_counter_add(counter, 3, planes, add_eight(low, bits));
  taken->held = 0;
}

/* The planes across an axis: plane x is `segments` segments of `words` words in each colour. */
struct planes {
  size_t segments, words, apart; /* apart: of the beginnings of segments */
  size_t next;                   /* of those of planes */
};

static struct planes planes_of(const struct gpumc_checkerboard *lattice, size_t axis)
{
  if (axis == 1)
    return (struct planes){lattice->length_z, lattice->row, lattice->plane, lattice->row};
  return (struct planes){1, lattice->plane, 0, lattice->plane};
}

/* Bits that a counter needs for two planes across y or z. */
static size_t bits_of(const struct gpumc_checkerboard *lattice)
{
  size_t most = 0;
  for (size_t axis = 1; axis < ISING_AXES; axis++) {
    const struct planes planes = planes_of(lattice, axis);
    const size_t vectors = (planes.words + GPUMC_VECTOR_WORDS - 1) / GPUMC_VECTOR_WORDS;
    most = 4 * planes.segments * vectors > most ? 4 * planes.segments * vectors : most;
  }
  return counter_planes(most);
}

/* Spins up of plane x, and those down of plane `opposite`. The planes of the counter are zero. */
static void count_planes(const struct planes *planes, const uint32_t *const sites[2], size_t x,
                         size_t opposite, struct gpumc_vertical_counter *counter, size_t bits)
{
  struct taken taken = {.held = 0};
  struct low_planes low = {gpumc_broadcast(0), gpumc_broadcast(0), gpumc_broadcast(0)};
  for (size_t part = 0; part < 4; part++) {
    const uint32_t *at = sites[part % 2] + (part < 2 ? x : opposite) * planes->next;
    for (size_t s = 0; s < planes->segments; s++, at += planes->apart)
      for (size_t i = 0; i < planes->words; i += GPUMC_VECTOR_WORDS) {
        taken.at[taken.held] = at + i;
        taken.words[taken.held] = planes->words - i;
        taken.down[taken.held++] = part < 2 ? 0 : UINT32_MAX;
        if (taken.held == TAKEN)
          add_taken(&taken, &low, counter, bits);
      }
  }
  for (size_t i = taken.held; i < TAKEN; i++) {
    taken.at[i] = sites[0];
    taken.words[i] = 0;
    taken.down[i] = 0;
  }
  if (taken.held > 0)
    add_taken(&taken, &low, counter, bits);
  set_low_planes(counter, &low);
}

/* All planes across y and z, x and x + L/2 together. */
static void add_segments(const struct gpumc_checkerboard *lattice, const uint32_t *const sites[2],
                         const uint32_t *along, struct axis_sums sums[ISING_AXES])
{
  const size_t half = sums->waves->wave.length / 2, all = (along[1] + along[2]) * half;
  const size_t across = 2 * lattice->colour / half; /* of two planes */
  const size_t bits = bits_of(lattice);
  struct gpumc_vertical_counter counter[GPUMC_VECTOR_WORDS];
  for (size_t first = 0; first < all; first += GPUMC_VECTOR_WORDS) {
    size_t axis[GPUMC_VECTOR_WORDS];
    for (size_t i = 0; i < GPUMC_VECTOR_WORDS; i++) {
      const size_t x = (first + i) % half;
      gpumc_counter_clear(&counter[i], bits);
      if (first + i >= all)
        continue;
      axis[i] = along[1] && first + i < half ? 1 : 2;
      const struct planes planes = planes_of(lattice, axis[i]);
      count_planes(&planes, sites, x, x + half, &counter[i], bits);
    }
    const size_t folded = fold(counter, GPUMC_VECTOR_WORDS, bits, GPUMC_VECTOR_WORDS / 2, 1);
    for (size_t i = 0; i < GPUMC_VECTOR_WORDS && first + i < all; i++)
      add_plane(&sums[axis[i]], (first + i) % half, across, counter[0].plane, folded, i);
  }
}

/* Word j of a row belongs to plane 2 j in the one colour and to plane 2 j + 1 in the other, by
 * turns: of the words from `first` on, counter[e] those of planes with x % 2 = e. */
static void count_columns(const struct gpumc_checkerboard *lattice, const uint32_t *const sites[2],
                          size_t first, struct gpumc_vertical_counter counter[2], size_t bits)
{
  const size_t lines = lattice->length_y * lattice->length_z;
  struct low_planes low[2];
  gpumc_counter_clear(&counter[0], bits);
  gpumc_counter_clear(&counter[1], bits);
  low[0].ones = low[0].twos = low[0].fours = gpumc_broadcast(0);
  low[1] = low[0];
  for (size_t line = 0, y = 0, z = 0; line < lines; line += TAKEN) {
    gpumc_v32 taken[2][TAKEN];
#pragma GCC unroll 8
    for (size_t i = 0; i < TAKEN; i++) {
      const size_t odd = (y + z) & 1, at = first + (line + i) * lattice->row;
      const gpumc_v32 inside = gpumc_broadcast(line + i < lines ? UINT32_MAX : 0);
      const size_t from = line + i < lines ? at : 0;
      taken[0][i] = gpumc_load(sites[odd] + from) & inside;
      taken[1][i] = gpumc_load(sites[1 - odd] + from) & inside;
      y++;
      z += y == lattice->length_y;
      y = y == lattice->length_y ? 0 : y;
    }
    for (size_t e = 0; e < 2; e++)
      gpumc_counter_add(&counter[e], 3, bits, add_eight(&low[e], taken[e]));
  }
  set_low_planes(&counter[0], &low[0]);
  set_low_planes(&counter[1], &low[1]);
}

/* All planes across x. */
static void add_columns(const struct gpumc_checkerboard *lattice, const uint32_t *const sites[2],
                        struct axis_sums *sums)
{
  const size_t lines = lattice->length_y * lattice->length_z, bits = counter_planes(lines);
  struct gpumc_vertical_counter counter[2];
  for (size_t first = 0; first < lattice->row; first += GPUMC_VECTOR_WORDS) {
    count_columns(lattice, sites, first, counter, bits);
    for (size_t i = 0; i < 2 * GPUMC_VECTOR_WORDS && 2 * first + i < lattice->length_x; i++)
      add_plane(sums, 2 * first + i, lines, counter[i % 2].plane, bits, i / 2);
  }
}

void GPUMC_ISA_NAME(ising_multispin_wave)(const struct gpumc_checkerboard *lattice,
                                          const uint32_t *const sites[2],
                                          const struct ising_multispin_waves *waves,
                                          struct ising_multispin_sums *sums)
{
  struct axis_sums of[ISING_AXES];
  for (size_t axis = 0; axis < ISING_AXES; axis++)
    clear_sums(&of[axis], waves);
  if (waves->wave.along[0])
    add_columns(lattice, sites, &of[0]);
  add_segments(lattice, sites, waves->wave.along, of);
  set_sums(of, sums);
}

/* Amplitudes of the smallest waves of multispin replicas, from the sums over the planes (in two
 * dimensions the lines) across each axis.
 *
 * The spins of planes are counted in vertical counters. Across x each word of a row belongs to a
 * different plane. Across y and z a plane has a whole counter; as many as a vector has words are
 * folded into one, so that none is summed over its vector alone. There plane x is combined with
 * plane x + L/2, where cosine and sine have the opposite sign (lattice_wave_table): spins up in the
 * one and spins down in the other are counted together. */
#include "models/ising/multispin/multispin_isa.h"

enum { TAKEN = 8, LANE_VECTORS = ISING_LANES / GPUMC_VECTOR_WORDS };

/* The low planes of a counter, which stay in registers while it grows. */
struct low_planes {
  gpumc_v32 ones, twos, fours;
};

/* Adds eight vectors, each worth 1; returns the carry, worth 8. */
GPUMC_INLINE gpumc_v32 add_eight(struct low_planes *low, const gpumc_v32 bits[TAKEN])
{
  const gpumc_v32 first =
      gpumc_counter_add4(&low->ones, &low->twos, bits[0], bits[1], bits[2], bits[3]);
  const gpumc_v32 second =
      gpumc_counter_add4(&low->ones, &low->twos, bits[4], bits[5], bits[6], bits[7]);
  return gpumc_full_add(&low->fours, first, second);
}

/* Returns the planes of a counter for this many vectors, at least those that stay in registers. */
static inline size_t counter_planes(size_t vectors)
{
  const size_t planes = gpumc_counter_planes(vectors);
  return planes < 3 ? 3 : planes;
}

GPUMC_INLINE void
set_low_planes(struct gpumc_vertical_counter *counter, const struct low_planes *low)
{
  counter->plane[0] = low->ones;
  counter->plane[1] = low->twos;
  counter->plane[2] = low->fours;
}

/* Sums along one axis of count times cosine and sine, modulo 2^64, separately for even and odd
 * lanes; `cosines` and `sines`: of the sites that are counted, up or down. */
struct axis_sums {
  const struct ising_multispin_waves *waves;
  gpumc_v64 cosine[LANE_VECTORS][2], sine[LANE_VECTORS][2];
  int64_t cosines, sines;
};

GPUMC_INLINE void
add_products(int32_t factor, const gpumc_v32 count[LANE_VECTORS], gpumc_v64 sum[LANE_VECTORS][2])
{
  const uint64_t size = factor < 0 ? -(uint64_t)factor : (uint64_t)factor;
  const gpumc_v64 wide = size - (gpumc_v64){0};
  for (size_t v = 0; v < LANE_VECTORS; v++) {
    const gpumc_v64 even = gpumc_multiply_low(wide, (gpumc_v64)count[v]);
    const gpumc_v64 odd = gpumc_multiply_low(wide, (gpumc_v64)count[v] >> 32);
    sum[v][0] = factor < 0 ? sum[v][0] - even : sum[v][0] + even;
    sum[v][1] = factor < 0 ? sum[v][1] - odd : sum[v][1] + odd;
  }
}

/* Adds plane x, whose counts, of `sites` sites, are in word w of the planes counts[]. */
static inline void add_plane(struct axis_sums *sums, size_t x, size_t sites,
                             const gpumc_v32 *counts, size_t planes, size_t w)
{
  const int32_t cosine = sums->waves->cosine[x], sine = sums->waves->sine[x];
  const uint32_t *word = (const uint32_t *)(const void *)counts + w;
  gpumc_v32 count[LANE_VECTORS];
  gpumc_counter_lanes(word, GPUMC_VECTOR_WORDS, planes, count);
  add_products(cosine, count, sums->cosine);
  add_products(sine, count, sums->sine);
  sums->cosines += (int64_t)cosine * (int64_t)sites;
  sums->sines += (int64_t)sine * (int64_t)sites;
}

static inline void clear_sums(struct axis_sums *sums, const struct ising_multispin_waves *waves)
{
  sums->waves = waves;
  sums->cosines = sums->sines = 0;
  for (size_t v = 0; v < LANE_VECTORS; v++)
    for (size_t odd = 0; odd < 2; odd++)
      sums->cosine[v][odd] = sums->sine[v][odd] = (gpumc_v64){0};
}

/* A spin is twice its bit less 1. */
static inline void
set_lanes(gpumc_v64 sum[LANE_VECTORS][2], int64_t constant, int64_t lanes[ISING_LANES])
{
  enum { HALF = GPUMC_VECTOR_WORDS / 2 };
  gpumc_v64 number;
  for (uint64_t i = 0; i < HALF; i++)
    number[i] = i / 2 + i % 2 * HALF;
  for (size_t v = 0; v < LANE_VECTORS; v++) {
    const gpumc_v64 even = 2 * sum[v][0] - (uint64_t)constant;
    const gpumc_v64 odd = 2 * sum[v][1] - (uint64_t)constant;
    const gpumc_v64 first = __builtin_shuffle(even, odd, number);
    const gpumc_v64 second = __builtin_shuffle(even, odd, number + HALF / 2);
    memcpy(lanes + v * GPUMC_VECTOR_WORDS, &first, sizeof first);
    memcpy(lanes + v * GPUMC_VECTOR_WORDS + HALF, &second, sizeof second);
  }
}

static inline void set_sums(struct axis_sums of[ISING_AXES], struct ising_multispin_sums *sums)
{
  for (size_t axis = 0; axis < ISING_AXES; axis++) {
    set_lanes(of[axis].cosine, of[axis].cosines, sums->cosine[axis]);
    set_lanes(of[axis].sine, of[axis].sines, sums->sine[axis]);
  }
}

/* Adds counter `other` to `one`: word i of the sum is that of the words i and i XOR width of `one`
 * if bit `width` of i is clear, of `other` if it is set. */
GPUMC_INLINE void fold_pair(gpumc_v32 *one, const gpumc_v32 *other, size_t planes, uint32_t width)
{
  const gpumc_v32 upper = (gpumc_v32)((gpumc_lane_numbers() & width) != 0);
  gpumc_v32 carry = gpumc_broadcast(0);
  for (size_t p = 0; p < planes; p++) {
    const gpumc_v32 here = gpumc_select(upper, other[p], one[p]);
    const gpumc_v32 there = gpumc_exchange_words(gpumc_select(upper, one[p], other[p]), width);
    one[p] = gpumc_xor3(here, there, carry);
    carry = gpumc_majority(here, there, carry);
  }
  one[planes] = carry;
}

/* Folds `counters` counters, a power of two, into counter[0]: adds words whose numbers differ in
 * the bits `from`, `from` / 2, .. `to`. The leading ones of these bits become those of the
 * counter's number. Returns the planes of the sum. */
static inline size_t fold(struct gpumc_vertical_counter *counter, size_t counters, size_t planes,
                          uint32_t from, uint32_t to)
{
  for (uint32_t width = from; width >= to && width != 0; width /= 2, planes++) {
    const size_t half = counters / 2;
    for (size_t i = 0; i < half; i++)
      fold_pair(counter[i].plane, counter[i + half].plane, planes, width);
    if (half == 0)
      fold_pair(counter[0].plane, counter[0].plane, planes, width);
    counters = half > 0 ? half : 1;
  }
  return planes;
}

/* Cubes whose rows are powers of two that fit into a vector or are multiples of it: 8^3 and 16^3
 * among them.
 *
 * Everything is counted in one pass. Eight vectors go together: of both colours, from plane z and
 * plane z + L/2, from the rows of vector j of a plane and those L/2 further. Across z a pair of
 * planes has a counter, across y a vector of rows; across x the words of even x and those of odd x
 * are combined, so that each word of two counters stands for one x. In each of them plane x and
 * plane x + L/2 are counted with opposite signs, as above. Words are added last, when only a few
 * planes of bits remain. */
enum { SIDE_MAXIMUM = 2 * GPUMC_VECTOR_WORDS };

struct cube {
  const uint32_t *sites[2];
  size_t half, row, plane;             /* half of a side; words of one colour */
  size_t vectors;                      /* of half a plane */
  size_t planes_x, planes_y, planes_z; /* bits of the counters */
};

/* Across x there are two counters, for even and odd x. */
struct counters {
  struct gpumc_vertical_counter x[2], y[SIDE_MAXIMUM / 2], z[SIDE_MAXIMUM / 2];
};

bool GPUMC_ISA_NAME(ising_multispin_is_cube)(const struct gpumc_checkerboard *lattice)
{
  return lattice->dimension == 3 && lattice->length_x == lattice->length_y &&
         lattice->length_x == lattice->length_z && lattice->row % 2 == 0 &&
         GPUMC_VECTOR_WORDS % lattice->row == 0 && lattice->plane % (2 * GPUMC_VECTOR_WORDS) == 0;
}

static struct cube cube_of(const struct gpumc_checkerboard *lattice, const uint32_t *const sites[2])
{
  const size_t vectors = lattice->plane / (2 * GPUMC_VECTOR_WORDS);
  const size_t half = lattice->row; /* Lx / 2 */
  return (struct cube){.sites = {sites[0], sites[1]},
                       .half = half,
                       .row = lattice->row,
                       .plane = lattice->plane,
                       .vectors = vectors,
                       .planes_x = gpumc_counter_planes(4 * half * vectors),
                       .planes_y = gpumc_counter_planes(8 * half),
                       .planes_z = gpumc_counter_planes(8 * vectors)};
}

/* Loads [half of the planes][half of the rows][colour], from plane z and vector j of half a plane
 * on. */
GPUMC_INLINE void load_eight(const struct cube *cube, size_t z, size_t j, gpumc_v32 at[2][2][2])
{
  for (size_t i = 0; i < TAKEN; i++) {
    const size_t far = i >> 2, low = i >> 1 & 1, colour = i & 1;
    at[far][low][colour] = gpumc_load(cube->sites[colour] + (z + far * cube->half) * cube->plane +
                                      (j + low * cube->vectors) * GPUMC_VECTOR_WORDS);
  }
}

/* Returns all ones where x is odd in colour 0. */
GPUMC_INLINE gpumc_v32 odd_words(const struct cube *cube, size_t z, size_t j)
{
  const size_t first_row = j * (GPUMC_VECTOR_WORDS / cube->row);
  const gpumc_v32 row =
      (gpumc_lane_numbers() >> __builtin_ctzll(cube->row)) + (uint32_t)(first_row + z);
  return (gpumc_v32)((row & 1) != 0);
}

GPUMC_INLINE void
add_to(struct gpumc_vertical_counter *counter, size_t planes, const gpumc_v32 bits[TAKEN])
{
  struct low_planes low = {counter->plane[0], counter->plane[1], counter->plane[2]};
  gpumc_counter_add(counter, 3, planes, add_eight(&low, bits));
  set_low_planes(counter, &low);
}

GPUMC_INLINE void add_cube_columns(struct gpumc_vertical_counter *counter, size_t planes,
                                   gpumc_v32 a, gpumc_v32 b, gpumc_v32 c, gpumc_v32 d)
{
  const gpumc_v32 carry = gpumc_counter_add4(&counter->plane[0], &counter->plane[1], a, b, c, d);
  gpumc_counter_add(counter, 2, planes, carry);
}

static void count(const struct cube *cube, struct counters *counters)
{
  for (size_t z = 0; z < cube->half; z++)
    for (size_t j = 0; j < cube->vectors; j++) {
      gpumc_v32 at[2][2][2], even[4], odd[4];
      load_eight(cube, z, j, at);
      add_to(&counters->z[z], cube->planes_z,
             (const gpumc_v32[TAKEN]){at[0][0][0], at[0][0][1], at[0][1][0], at[0][1][1],
                                      ~at[1][0][0], ~at[1][0][1], ~at[1][1][0], ~at[1][1][1]});
      add_to(&counters->y[j], cube->planes_y,
             (const gpumc_v32[TAKEN]){at[0][0][0], at[0][0][1], at[1][0][0], at[1][0][1],
                                      ~at[0][1][0], ~at[0][1][1], ~at[1][1][0], ~at[1][1][1]});
      const gpumc_v32 is_odd = odd_words(cube, z, j);
      for (size_t i = 0; i < 4; i++) {
        even[i] = gpumc_select(is_odd, at[i >> 1][i & 1][1], at[i >> 1][i & 1][0]);
        odd[i] = gpumc_select(is_odd, at[i >> 1][i & 1][0], at[i >> 1][i & 1][1]);
      }
      add_cube_columns(&counters->x[0], cube->planes_x, even[0], even[1], even[2], even[3]);
      add_cube_columns(&counters->x[1], cube->planes_x, odd[0], odd[1], odd[2], odd[3]);
    }
}

/* Sets the total of spins up, from the counters across x. */
static void
set_up(const struct cube *cube, const struct gpumc_vertical_counter x[2], int64_t up[ISING_LANES])
{
  struct gpumc_vertical_counter both;
  gpumc_v32 carry = gpumc_broadcast(0);
  for (size_t p = 0; p < cube->planes_x; p++) {
    both.plane[p] = gpumc_xor3(x[0].plane[p], x[1].plane[p], carry);
    carry = gpumc_majority(x[0].plane[p], x[1].plane[p], carry);
  }
  both.plane[cube->planes_x] = carry;
  memset(up, 0, ISING_LANES * sizeof *up);
  gpumc_counter_flush(&both, cube->planes_x + 1, up);
}

/* Adds the waves along x: words of x + L/2 are inverted, that is, subtracted from the maximum of a
 * counter, before they are added to those of x. */
static void
add_waves_x(const struct cube *cube, struct gpumc_vertical_counter x[2], struct axis_sums *sums)
{
  const uint32_t vector = GPUMC_VECTOR_WORDS, half_row = (uint32_t)cube->row / 2;
  const gpumc_v32 far = (gpumc_v32)((gpumc_lane_numbers() & half_row) != 0);
  for (size_t e = 0; e < 2; e++)
    for (size_t p = 0; p < cube->planes_x; p++)
      x[e].plane[p] ^= far;
  const size_t planes = fold(x, 2, cube->planes_x, vector / 2, half_row);
  const size_t most = ((size_t)1 << cube->planes_x) - 1, rows = vector / cube->row;
  for (size_t i = 0; i < cube->half; i++)
    add_plane(sums, i, 2 * rows * most, x[0].plane, planes, i % 2 * (vector / 2) + i / 2);
}

static void
add_waves_y(const struct cube *cube, struct gpumc_vertical_counter *y, struct axis_sums *sums)
{
  const size_t rows = GPUMC_VECTOR_WORDS / cube->row; /* of a vector */
  const size_t planes = fold(y, cube->vectors, cube->planes_y, (uint32_t)cube->row / 2, 1);
  for (size_t i = 0; i < cube->half; i++)
    add_plane(sums, i, 4 * cube->plane, y[0].plane, planes, i % rows * cube->row + i / rows * rows);
}

static void
add_waves_z(const struct cube *cube, struct gpumc_vertical_counter *z, struct axis_sums *sums)
{
  const size_t apart = GPUMC_VECTOR_WORDS / cube->half;
  const size_t planes = fold(z, cube->half, cube->planes_z, GPUMC_VECTOR_WORDS / 2, 1);
  for (size_t i = 0; i < cube->half; i++)
    add_plane(sums, i, 4 * cube->plane, z[0].plane, planes, i * apart);
}

void GPUMC_ISA_NAME(ising_multispin_cube)(const struct gpumc_checkerboard *lattice,
                                          const uint32_t *const sites[2],
                                          const struct ising_multispin_waves *waves,
                                          struct ising_multispin_sums *sums)
{
  const struct cube cube = cube_of(lattice, sites);
  struct counters counters;
  struct axis_sums of[ISING_AXES];
  for (size_t i = 0; i < 2; i++)
    gpumc_counter_clear(&counters.x[i], cube.planes_x);
  for (size_t i = 0; i < cube.vectors; i++)
    gpumc_counter_clear(&counters.y[i], cube.planes_y);
  for (size_t i = 0; i < cube.half; i++)
    gpumc_counter_clear(&counters.z[i], cube.planes_z);
  count(&cube, &counters);
  set_up(&cube, counters.x, sums->up);
  for (size_t axis = 0; axis < ISING_AXES; axis++)
    clear_sums(&of[axis], waves);
  add_waves_x(&cube, counters.x, &of[0]);
  add_waves_y(&cube, counters.y, &of[1]);
  add_waves_z(&cube, counters.z, &of[2]);
  set_sums(of, sums);
}

/* Vectors being added to a counter, by their place in memory, their words that count, and which of
 * them are inverted. A counter's low planes stay in registers meanwhile. */
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
  size_t segments, words, apart; /* apart: distance between the beginnings of segments */
  size_t next;                   /* distance between those of planes */
};

static struct planes planes_of(const struct gpumc_checkerboard *lattice, size_t axis)
{
  if (axis == 1)
    return (struct planes){lattice->length_z, lattice->row, lattice->plane, lattice->row};
  return (struct planes){1, lattice->plane, 0, lattice->plane};
}

/* Returns the bits that a counter needs for two planes across y or z. */
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

/* Counts spins up in plane x, and spins down in plane `opposite`. The planes of the counter are
 * zero. */
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

/* Adds all planes across y and z, x and x + L/2 together. */
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

/* Word j of a row belongs to plane 2 j in one colour and to plane 2 j + 1 in the other,
 * alternately: counts, of the words from `first` on, in counter[e] those of planes with x % 2 =
 * e. */
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

/* Adds all planes across x. */
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

/* The packed kernel at one level: rows and their neighbours as arrays, measurements, and the
 * updates of the multispin kernel with neighbours from these arrays. */
#include "core/numerics/simd.h"
#include "models/ising/multispin/multispin_update.h"
#include "models/ising/packed/packed.h"

/* The spins of a part, and their neighbours (enum gpumc_neighbour), `count` words each. */
struct rows {
  uint32_t *spin, *near[GPUMC_NEIGHBOURS_MAXIMUM];
  size_t count;
};

static uint32_t *array(const struct ising_packed_part *part, size_t array)
{
  return part->scratch + array * ising_packed_extent(part->lattice);
}

/* Copies `lines` rows of a colour from number `line` on. */
static void copy_rows(const struct ising_packed_part *part, size_t colour, size_t line,
                      size_t lines, uint32_t *to)
{
  const size_t row = part->lattice->row, at = colour * part->lattice->colour + line * row;
  memcpy(to, part->words + at, lines * row * sizeof *to);
  for (size_t i = 0; part->other != NULL && i < lines * row; i++)
    to[i] ^= part->other[at + i];
}

/* Computes site k - 1 or k + 1 of every site k of a row, periodic. */
static void shift_row(const uint32_t *restrict same, size_t row, bool back, uint32_t *restrict to)
{
  if (back) {
    to[0] = same[0] << 1 | same[row - 1] >> (ISING_PACKED_BITS - 1);
    for (size_t i = 1; i < row; i++)
      to[i] = same[i] << 1 | same[i - 1] >> (ISING_PACKED_BITS - 1);
  } else {
    for (size_t i = 0; i + 1 < row; i++)
      to[i] = same[i] >> 1 | same[i + 1] << (ISING_PACKED_BITS - 1);
    to[row - 1] = same[row - 1] >> 1 | same[0] << (ISING_PACKED_BITS - 1);
  }
}

/* Shifts rows alternately, the first one back or not. Rows of a single word are shifted in whole
 * vectors. */
static void shift_rows(const uint32_t *restrict same, size_t row, size_t lines, bool back,
                       uint32_t *restrict to)
{
  const uint32_t first = back ? 0 : 1;
  for (size_t i = 0; row == 1 && i < lines; i++) {
    const uint32_t forth = -((first ^ (uint32_t)i) & 1);
    const uint32_t before = same[i] << 1 | same[i] >> (ISING_PACKED_BITS - 1);
    const uint32_t after = same[i] >> 1 | same[i] << (ISING_PACKED_BITS - 1);
    to[i] = (before & ~forth) | (after & forth);
  }
  for (size_t i = 0; row > 1 && i < lines; i++)
    shift_row(same + i * row, row, ((first ^ i) & 1) == 0, to + i * row);
}

/* Loads `lines` rows of one plane, from number `line` on, into the arrays from word `at` on. */
static void load_plane(const struct ising_packed_part *part, size_t colour, size_t line,
                       size_t lines, size_t at, const struct rows *rows)
{
  const struct gpumc_checkerboard *lattice = part->lattice;
  const size_t height = lattice->length_y, depth = lattice->length_z, row = lattice->row;
  const size_t y = line % height, z = line / height, plane = line - y, last = (lines - 1) * row;
  uint32_t *same = rows->near[GPUMC_SAME_INDEX] + at, *before = rows->near[GPUMC_ROW_BEFORE] + at,
           *after = rows->near[GPUMC_ROW_AFTER] + at;
  copy_rows(part, colour, line, lines, rows->spin + at);
  copy_rows(part, 1 - colour, line, lines, same);
  shift_rows(same, row, lines, ((y + z + colour) & 1) == 0, rows->near[GPUMC_SIDE] + at);
  copy_rows(part, 1 - colour, plane + (y + height - 1) % height, 1, before);
  memcpy(before + row, same, last * sizeof *same);
  memcpy(after, same + row, last * sizeof *same);
  copy_rows(part, 1 - colour, plane + (y + lines) % height, 1, after + last);
  if (lattice->dimension == 2)
    return;
  copy_rows(part, 1 - colour, (z + depth - 1) % depth * height + y, lines,
            rows->near[GPUMC_PLANE_BEFORE] + at);
  copy_rows(part, 1 - colour, (z + 1) % depth * height + y, lines,
            rows->near[GPUMC_PLANE_AFTER] + at);
}

static struct rows load_rows(const struct ising_packed_part *part, size_t colour)
{
  const size_t height = part->lattice->length_y, row = part->lattice->row;
  struct rows rows = {.spin = array(part, 0), .count = part->lines * row};
  for (size_t d = 0; d < GPUMC_NEIGHBOURS_MAXIMUM; d++)
    rows.near[d] = array(part, 1 + d);
  for (size_t i = 0, lines; i < part->lines; i += lines) {
    const size_t line = part->first + i, of_plane = height - line % height;
    lines = part->lines - i < of_plane ? part->lines - i : of_plane;
    load_plane(part, colour, line, lines, i * row, &rows);
  }
  return rows;
}

/* Returns the bits set in the words a or, if b is not NULL, in a XOR b. */
static int64_t count_bits(const uint32_t *a, const uint32_t *b, size_t n)
{
  int64_t count = 0;
  size_t i = 0;
  for (; i + 2 <= n; i += 2) {
    uint64_t word, unlike = 0;
    memcpy(&word, a + i, sizeof word);
    if (b != NULL)
      memcpy(&unlike, b + i, sizeof unlike);
    count += __builtin_popcountll(word ^ unlike);
  }
  return i < n ? count + __builtin_popcount(a[i] ^ (b != NULL ? b[i] : 0)) : count;
}

static void count(const struct ising_packed_part *part, struct ising_packed_counts *counts)
{
  const struct rows rows = load_rows(part, 0);
  counts->up += count_bits(rows.spin, NULL, rows.count) +
                count_bits(rows.near[GPUMC_SAME_INDEX], NULL, rows.count);
  for (size_t d = 0; d < 2 * part->lattice->dimension; d++)
    counts->unlike += count_bits(rows.spin, rows.near[d], rows.count);
}

/* Returns the colour at x = parity in a row. */
static size_t colour_at(const struct ising_packed_part *part, size_t line, size_t parity)
{
  const size_t height = part->lattice->length_y;
  return (parity + line % height + line / height) & 1;
}

/* Counts the bits of the sites with x = parity, parity + 2, ... row by row, word by word, in the
 * bits of `plane`. */
static void add_columns(const struct ising_packed_part *part, size_t parity,
                        const struct ising_multispin_waves *waves,
                        struct ising_packed_counts *counts)
{
  const size_t row = part->lattice->row;
  uint32_t *word = array(part, 0), *plane[ISING_PACKED_WAVE_BITS];
  for (size_t p = 0; p < ISING_PACKED_WAVE_BITS; p++) {
    plane[p] = array(part, 1 + p);
    memset(plane[p], 0, row * sizeof *plane[p]);
  }
  for (size_t line = part->first; line < part->first + part->lines; line++) {
    copy_rows(part, colour_at(part, line, parity), line, 1, word);
    for (size_t p = 0; p < ISING_PACKED_WAVE_BITS; p++)
      for (size_t i = 0; i < row; i++) {
        const uint32_t carry = plane[p][i] & word[i];
        plane[p][i] ^= word[i];
        word[i] = carry;
      }
  }
  for (size_t i = 0; i < row; i++)
    for (size_t b = 0; b < ISING_PACKED_BITS; b++) {
      const size_t x = i * ISING_PACKED_PAIR + 2 * b + parity;
      int64_t spins = -(int64_t)part->lines;
      for (size_t p = 0; p < ISING_PACKED_WAVE_BITS; p++)
        spins += (int64_t)(plane[p][i] >> b & 1) << (p + 1);
      counts->cosine[0] += spins * waves->cosine[x];
      counts->sine[0] += spins * waves->sine[x];
    }
}

static void add_rows(const struct ising_packed_part *part,
                     const struct ising_multispin_waves *waves, struct ising_packed_counts *counts)
{
  const struct gpumc_checkerboard *lattice = part->lattice;
  uint32_t *word = array(part, 0);
  for (size_t line = part->first; line < part->first + part->lines; line++) {
    const size_t coordinate[ISING_AXES] = {0, line % lattice->length_y, line / lattice->length_y};
    int64_t spins = -(int64_t)lattice->length_x;
    for (size_t colour = 0; colour < 2; colour++) {
      copy_rows(part, colour, line, 1, word);
      spins += 2 * count_bits(word, NULL, lattice->row);
    }
    for (size_t axis = 1; axis < ISING_AXES; axis++)
      if (waves->wave.along[axis]) {
        counts->cosine[axis] += spins * waves->cosine[coordinate[axis]];
        counts->sine[axis] += spins * waves->sine[coordinate[axis]];
      }
  }
}

static void wave(const struct ising_packed_part *part, const struct ising_multispin_waves *waves,
                 struct ising_packed_counts *counts)
{
  for (size_t parity = 0; parity < 2 && waves->wave.along[0]; parity++)
    add_columns(part, parity, waves, counts);
  if (waves->wave.along[1] || waves->wave.along[2])
    add_rows(part, waves, counts);
}

/* One colour of a part, on its copy. */
struct work {
  const struct ising_multispin_rule *rule;
  const struct rows *rows;
  struct ising_undecided undecided;
  uint32_t replica, time, first_word;
};

/* Updates `n` vectors of words from k on. */
GPUMC_INLINE void update_at(const struct ising_variant as, const size_t n, const struct work *work,
                            const struct gpumc_philox_stream *stream,
                            struct ising_undecided *undecided, size_t k)
{
  const struct rows *rows = work->rows;
  const gpumc_v32 sign[ISING_VECTORS] = {gpumc_broadcast(0), gpumc_broadcast(0)};
  gpumc_v32 neighbour[ISING_VECTORS][GPUMC_NEIGHBOURS_MAXIMUM];
#pragma GCC unroll 2
  for (size_t v = 0; v < n; v++)
#pragma GCC unroll 6
    for (size_t d = 0; d < 2 * as.dimension; d++)
      neighbour[v][d] = gpumc_load(rows->near[d] + k + v * GPUMC_VECTOR_WORDS);
  ising_update_vectors(as, n, work->rule, stream, undecided, work->first_word, k, sign, neighbour,
                       rows->spin, NULL);
}

GPUMC_INLINE void update_as(const struct ising_variant as, const struct work *given)
{
  const struct ising_multispin_rule rule = *given->rule;
  const struct rows rows = *given->rows;
  struct work work = *given;
  work.rule = &rule;
  work.rows = &rows;
  const struct gpumc_philox_stream stream =
      gpumc_philox_stream_make(rule.random, work.replica, work.time);
  struct ising_undecided undecided = work.undecided;
  size_t k = 0;
  for (; k + GPUMC_VECTOR_WORDS < rows.count; k += ISING_VECTORS * GPUMC_VECTOR_WORDS)
    update_at(as, ISING_VECTORS, &work, &stream, &undecided, k);
  if (k < rows.count)
    update_at(as, 1, &work, &stream, &undecided, k);
  ising_finish_words(as, &rule, &stream, &undecided, work.first_word, rows.spin, NULL);
}

#define VARIANT(name, update, dimension, rounds)                                                   \
  static void name##_##dimension##d_r##rounds(const struct work *work)                             \
  {                                                                                                \
    const struct ising_variant as = {update, dimension, ISING_SAME_SIGNS, rounds};                 \
    update_as(as, work);                                                                           \
  }
#define VARIANTS(name, update)                                                                     \
  VARIANT(name, update, 2, 10)                                                                     \
  VARIANT(name, update, 2, 7)                                                                      \
  VARIANT(name, update, 3, 10)                                                                     \
  VARIANT(name, update, 3, 7)
VARIANTS(plain, ISING_PLAIN)
VARIANTS(metropolis, ISING_METROPOLIS)
VARIANTS(heat_bath, ISING_HEAT_BATH)

/* [enum ising_multispin_update][dimension - 2][rounds == 7] */
static void (*const variants[][2][2])(const struct work *work) = {
    [ISING_PLAIN] = {{plain_2d_r10, plain_2d_r7}, {plain_3d_r10, plain_3d_r7}},
    [ISING_METROPOLIS] = {{metropolis_2d_r10, metropolis_2d_r7},
                          {metropolis_3d_r10, metropolis_3d_r7}},
    [ISING_HEAT_BATH] = {{heat_bath_2d_r10, heat_bath_2d_r7}, {heat_bath_3d_r10, heat_bath_3d_r7}},
};

static void update(const struct ising_packed_part *part, const struct ising_multispin_rule *rule,
                   size_t colour, uint32_t time)
{
  const struct gpumc_checkerboard *lattice = part->lattice;
  const struct rows rows = load_rows(part, colour);
  const size_t first = colour * lattice->colour + part->first * lattice->row;
  const size_t arrays = 1 + GPUMC_NEIGHBOURS_MAXIMUM;
  struct work work = {.rule = rule,
                      .rows = &rows,
                      .replica = part->replica,
                      .time = time,
                      .first_word = (uint32_t)first};
  work.undecided.index = array(part, arrays);
  work.undecided.open = array(part, arrays + 1);
  for (size_t b = 0; b < ISING_CLASS_BITS; b++)
    work.undecided.class_bit[b] = array(part, arrays + 2 + b);
  variants[rule->update][lattice->dimension - 2][rule->random.rounds == 7](&work);
  memcpy(part->words + first, rows.spin, rows.count * sizeof *rows.spin);
}

extern const struct ising_packed_ops GPUMC_ISA_NAME(ising_packed);
const struct ising_packed_ops GPUMC_ISA_NAME(ising_packed) = {
    .update = update,
    .count = count,
    .wave = wave,
};

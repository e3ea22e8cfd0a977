/* The operations of the packed kernel at one level, and its measurements. */
#include "models/ising/packed/packed_isa.h"

/* Bits set in the words a, or where b is not NULL, in a XOR b. */
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
  const struct ising_packed_rows rows = ising_packed_load(part, 0);
  counts->up += count_bits(rows.spin, NULL, rows.count) +
                count_bits(rows.near[GPUMC_SAME_INDEX], NULL, rows.count);
  for (size_t d = 0; d < 2 * part->lattice->dimension; d++)
    counts->unlike += count_bits(rows.spin, rows.near[d], rows.count);
}

/* The colour that stands at x = parity in a row. */
static size_t colour_at(const struct ising_packed_part *part, size_t line, size_t parity)
{
  const size_t height = part->lattice->length_y;
  return (parity + line % height + line / height) & 1;
}

/* The sites with x = parity, parity + 2, ...: their bits are counted row by row, word by word, in
 * the bits of `plane`. */
static void add_columns(const struct ising_packed_part *part, size_t parity,
                        const struct ising_multispin_waves *waves,
                        struct ising_packed_counts *counts)
{
  const size_t row = part->lattice->row;
  uint32_t *word = ising_packed_array(part, 0), *plane[ISING_PACKED_WAVE_BITS];
  for (size_t p = 0; p < ISING_PACKED_WAVE_BITS; p++) {
    plane[p] = ising_packed_array(part, 1 + p);
    memset(plane[p], 0, row * sizeof *plane[p]);
  }
  for (size_t line = part->first; line < part->first + part->lines; line++) {
    ising_packed_copy_rows(part, colour_at(part, line, parity), line, 1, word);
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
  uint32_t *word = ising_packed_array(part, 0);
  for (size_t line = part->first; line < part->first + part->lines; line++) {
    const size_t coordinate[ISING_AXES] = {0, line % lattice->length_y, line / lattice->length_y};
    int64_t spins = -(int64_t)lattice->length_x;
    for (size_t colour = 0; colour < 2; colour++) {
      ising_packed_copy_rows(part, colour, line, 1, word);
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

extern const struct ising_packed_ops GPUMC_ISA_NAME(ising_packed);
const struct ising_packed_ops GPUMC_ISA_NAME(ising_packed) = {
    .update = GPUMC_ISA_NAME(ising_packed_update),
    .count = count,
    .wave = wave,
};

/* Moves in a cell whose surroundings are in shared memory: the work of one thread, for both
 * compilers, so that tests can run it cell by cell.
 *
 * Whether a disk may move to p is first determined from |p - q|^2 = |p|^2 + (|q|^2 - 2 p q), which
 * takes two fused operations for each neighbour q whose square is known, and the minimum over all.
 * The result is rounded differently than in hard_disks_overlap(). If the difference could matter,
 * once in ten thousand trials, every pair is checked again by hard_disks_overlap(). */
#ifndef GPUMC_HARD_DISKS_CHECKERBOARD_CELLS_CUH
#define GPUMC_HARD_DISKS_CHECKERBOARD_CELLS_CUH

#include <string.h>

#include "core/numerics/philox.cuh"
#include "models/hard_disks/hard_disks_physics.h"

/* More than the difference between the two ways to compute a squared distance near 1. Coordinates
 * are relative to the cell of p: |p| < 3 and |q| < 4, since w < 2 and the distance is about 1. So
 * |q|^2, its sum and the product with q are numbers up to 16 and have errors of 2^-21 at most,
 * three of them. A coordinate q of 2 or more is rounded, by 2^-23 at most, and with it the square
 * by 2^-22. The other rounded numbers, six of them, are smaller than 8, with errors of 2^-22. The
 * total is below 2^-18. */
#define HARD_DISKS_DOUBT 0x1p-18f

/* Keeps a number in a register that the compiler would otherwise recompute each time. */
GPUMC_HOST_DEVICE static inline void disks_keep(uint32_t &number)
{
#ifdef __CUDA_ARCH__
  asm volatile("" : "+r"(number));
#endif
}
GPUMC_HOST_DEVICE static inline void disks_keep(size_t &number)
{
#ifdef __CUDA_ARCH__
  asm volatile("" : "+l"(number));
#endif
}
GPUMC_HOST_DEVICE static inline void disks_keep(float &number)
{
#ifdef __CUDA_ARCH__
  asm volatile("" : "+f"(number));
#endif
}

/* Cells in shared memory, in the order of their places. */
struct disks_cells {
  float4 *first, *second; /* slots 0 and 1; slots 2 and 3, set only if they are in use */
  uint8_t *count;
};

/* A cell and those around it: the place of the cell in row j and column i is row[j] + column[i];
 * the cell itself has j = i = 1. */
struct disks_around {
  uint32_t row[3], column[3];
};

/* Uses comparisons, so that the numbers stay in registers. */
GPUMC_HOST_DEVICE static inline uint32_t disks_choice(const uint32_t of[3], uint32_t i)
{
  return i == 0 ? of[0] : i == 1 ? of[1] : of[2];
}

GPUMC_HOST_DEVICE static inline uint32_t
disks_place(const struct disks_around *around, uint32_t i, uint32_t j)
{
  return disks_choice(around->row, j) + disks_choice(around->column, i);
}

/* Parameters that all cells of a replica share in a sweep. */
struct disks_rule {
  struct gpumc_philox_group group;
  float width_x, width_y, scale;
  uint32_t moves, shuffle;
};

GPUMC_HOST_DEVICE static inline float2 *
disks_slot(const struct disks_cells *cells, uint32_t place, uint32_t slot)
{
  return (float2 *)(slot < 2 ? cells->first : cells->second) + 2 * (size_t)place + (slot & 1);
}

/* Returns the storage position of a column: columns of a row are stored by parity, so that
 * neighbours of one colour are adjacent. */
GPUMC_HOST_DEVICE static inline uint32_t disks_column(uint32_t column, uint32_t half)
{
  return (column & 1) * half + (column >> 1);
}

/* ---- overlaps, by definition ---- */

/* Returns whether a disk in cell (i, j) of the nine overlaps one at (x, y) of the cell in the
 * middle. */
GPUMC_HOST_DEVICE static inline bool disks_overlap_at(const struct disks_rule *rule, float2 other,
                                                      uint32_t i, uint32_t j, float x, float y)
{
  return hard_disks_overlap(hard_disks_apart(other.x, x, (float)i - 1.0f, rule->width_x),
                            hard_disks_apart(other.y, y, (float)j - 1.0f, rule->width_y));
}

/* Returns whether a disk at (x, y) of the cell in the middle overlaps any but the one in `slot`.
 * Written out: with disks_overlap_at() sweeps of many replicas of 1024 disks took 3 % longer on an
 * H100. */
GPUMC_HOST_DEVICE static inline bool
disks_overlap_any(const struct disks_cells *cells, const struct disks_around *around,
                  const struct disks_rule *rule, uint32_t slot, float x, float y)
{
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (uint32_t k = 0; k < 9; k++) {
    const uint32_t j = k / 3, i = k - 3 * j, place = disks_place(around, i, j);
    const uint32_t count = cells->count[place];
    for (uint32_t s = 0; s < count; s++) {
      const float2 other = *disks_slot(cells, place, s);
      const float dx = hard_disks_apart(other.x, x, (float)i - 1.0f, rule->width_x);
      const float dy = hard_disks_apart(other.y, y, (float)j - 1.0f, rule->width_y);
      if ((k != 4 || s != slot) && hard_disks_overlap(dx, dy))
        return true;
    }
  }
  return false;
}

/* The same, for use when a block would wait for the thread: three cells of a row at once; slots 0
 * and 1 that are not in use are treated like others, since they are far away. `crowded`: cells may
 * have more than two disks. */
GPUMC_HOST_DEVICE static inline bool
disks_overlap_quickly(const struct disks_cells *cells, const struct disks_around *around,
                      const struct disks_rule *rule, bool crowded, uint32_t slot, float x, float y)
{
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (uint32_t j = 0; j < 3; j++) {
    const uint32_t row = disks_choice(around->row, j);
    const uint32_t own = j == 1 ? slot : HARD_DISKS_SLOTS;
    bool overlap = false;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (uint32_t k = 0; k < 6; k++) {
      const uint32_t i = k / 2, s = k % 2;
      const float2 other = *disks_slot(cells, row + around->column[i], s);
      const bool is_other = (i != 1) | (s != own);
      overlap |= is_other & disks_overlap_at(rule, other, i, j, x, y);
    }
    for (uint32_t i = 0; crowded && i < 3; i++) {
      const uint32_t place = row + disks_choice(around->column, i), count = cells->count[place];
      for (uint32_t s = 2; s < count; s++) {
        const bool is_other = (i != 1) | (s != own);
        overlap |= is_other & disks_overlap_at(rule, *disks_slot(cells, place, s), i, j, x, y);
      }
    }
    if (overlap)
      return true;
  }
  return false;
}

/* ---- trials ---- */

/* Counts of a thread: accepted trials, and cells that had any. */
struct disks_counts {
  uint32_t accepted, cells;
};

GPUMC_HOST_DEVICE static inline void
disks_count(struct disks_counts *counts, bool counts_here, uint32_t accepted)
{
  counts->accepted += counts_here ? accepted : 0;
  counts->cells += counts_here;
}

/* Returns the bits of x as a number, the sign on top: negative numbers are larger than all
 * others. */
GPUMC_HOST_DEVICE static inline uint32_t disks_bits(float x)
{
#ifdef __CUDA_ARCH__
  return __float_as_uint(x);
#else
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
#endif
}

/* Returns whether 0 <= x < w and likewise for y: sums that are 0 have no sign. */
GPUMC_HOST_DEVICE static inline bool
disks_is_inside(const struct disks_rule *rule, float x, float y)
{
  return (disks_bits(x) < disks_bits(rule->width_x)) & (disks_bits(y) < disks_bits(rule->width_y));
}

/* hard_disks_displacement() in fewer steps: with s = u - 2^23, (2u + 1 - 2^24) scale = (2^8 s)
 * (scale 2^-7) + scale, rounded once. */
GPUMC_HOST_DEVICE static inline float disks_displacement(uint32_t word, float scale)
{
  const int32_t times256 = (int32_t)((word & 0xffffff00u) ^ 0x80000000u);
  return (1.5f + fmaf((float)times256, scale * 0x1p-7f, scale)) - 1.5f;
}

/* Draws the random words of trials 2 call and 2 call + 1. */
template <uint32_t ROUNDS>
GPUMC_HOST_DEVICE static inline void
disks_draw(const struct disks_rule *rule, const struct gpumc_philox_word *word, uint32_t call,
           uint32_t drawn[4])
{
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_PARTICLES_MOVE, call);
  gpumc_philox_draw<ROUNDS>(&rule->group, word,
                            gpumc_philox_label(rule->group.key, word->first, label), drawn);
}

/* A disk q around the cell, relative to the corner of the cell in the middle, and its square. */
struct disks_neighbour {
  float x, y, square;
};

GPUMC_HOST_DEVICE static inline struct disks_neighbour disks_neighbour_at(float x, float y)
{
  struct disks_neighbour neighbour = {x, y, fmaf(y, y, x * x)};
  disks_keep(neighbour.x);
  disks_keep(neighbour.y);
  return neighbour;
}

/* Returns a coordinate in cell `at` of three, relative to the one in the middle. */
GPUMC_HOST_DEVICE static inline float disks_moved(float x, uint32_t at, float width)
{
  return at == 0 ? x - width : at == 1 ? x : x + width;
}

/* Numbers of neighbours kept: those in slot 0 of the eight cells around, and those in other slots,
 * of which there are few. In cells of a width near 1 the latter are in slots 1, and at a packing
 * fraction of 0.7 one cell in 2000 has five or more around it; with room for two, one in 250 would
 * have too many, and every eighth warp would wait for such a cell. WIDE cells, at constant
 * pressure, have more, and third disks are not rare. */
enum { DISKS_CELLS_AROUND = 8 };

template <bool WIDE> struct disks_neighbours {
  static constexpr uint32_t others = WIDE ? 6 : 4, all = DISKS_CELLS_AROUND + others;
  struct disks_neighbour disk[all];
};

/* Inserts a disk at the first place; the last one is dropped. */
template <uint32_t COUNT>
GPUMC_HOST_DEVICE static inline void disks_push(float2 other[COUNT], float x, float y)
{
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (uint32_t s = COUNT - 1; s > 0; s--)
    other[s] = other[s - 1];
  other[0] = make_float2(x, y);
}

/* Returns whether there is room for all. Disks in slots 2 and 3 are left out unless WIDE. */
template <bool WIDE>
GPUMC_HOST_DEVICE static inline bool
disks_gather(const struct disks_cells *cells, const struct disks_around *around,
             const struct disks_rule *rule, bool crowded, struct disks_neighbours<WIDE> *neighbours)
{
  constexpr uint32_t most = disks_neighbours<WIDE>::others;
  struct disks_neighbour *neighbour = neighbours->disk;
  float2 second[most];
  uint32_t seconds = 0;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (uint32_t s = 0; s < most; s++)
    second[s] = make_float2(HARD_DISKS_NOWHERE, HARD_DISKS_NOWHERE);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (uint32_t k = 0; k < DISKS_CELLS_AROUND; k++) {
    const uint32_t at = k < 4 ? k : k + 1, j = at / 3, i = at % 3;
    const float4 pair = cells->first[disks_place(around, i, j)];
    neighbour[k] = disks_neighbour_at(disks_moved(pair.x, i, rule->width_x),
                                      disks_moved(pair.y, j, rule->width_y));
    if (pair.z != HARD_DISKS_NOWHERE) {
      disks_push<most>(second, disks_moved(pair.z, i, rule->width_x),
                       disks_moved(pair.w, j, rule->width_y));
      seconds++;
    }
  }
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (uint32_t k = 0; WIDE && crowded && k < DISKS_CELLS_AROUND; k++) {
    const uint32_t at = k < 4 ? k : k + 1, j = at / 3, i = at - 3 * j;
    const uint32_t place = disks_place(around, i, j), count = cells->count[place];
    for (uint32_t s = 2; s < count; s++) {
      const float2 third = *disks_slot(cells, place, s);
      disks_push<most>(second, disks_moved(third.x, i, rule->width_x),
                       disks_moved(third.y, j, rule->width_y));
      seconds++;
    }
  }
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (uint32_t k = 0; k < most; k++)
    neighbour[DISKS_CELLS_AROUND + k] = disks_neighbour_at(second[k].x, second[k].y);
  return seconds <= most;
}

/* Returns the smallest squared distance of (x, y) to any of them, approximately. */
template <bool WIDE>
GPUMC_HOST_DEVICE static inline float
disks_least_square(const struct disks_neighbours<WIDE> *neighbours, float x, float y)
{
  const struct disks_neighbour *neighbour = neighbours->disk;
  const float minus_x = -2.0f * x, minus_y = -2.0f * y;
  float least[2];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (uint32_t k = 0; k < disks_neighbours<WIDE>::all; k++) {
    const float square =
        fmaf(minus_x, neighbour[k].x, fmaf(minus_y, neighbour[k].y, neighbour[k].square));
    least[k % 2] = k < 2 ? square : fminf(least[k % 2], square);
  }
  return fminf(least[0], least[1]) + fmaf(x, x, y * y);
}

/* Returns whether a disk in `slot` at the place *disk, with `other` in its cell or nowhere, moves
 * by the two words; if so, *disk becomes the new place. `more`: some disks around are not among the
 * neighbours; only the QUICK look finds them. Conditions are combined without branches. */
template <bool WIDE, bool QUICK>
GPUMC_HOST_DEVICE static inline bool
disks_try(const struct disks_cells *cells, const struct disks_around *around,
          const struct disks_rule *rule, const struct disks_neighbours<WIDE> *neighbours, bool more,
          float2 *slot, float2 other, uint32_t word_x, uint32_t word_y, float2 *disk)
{
  const float x = disk->x + disks_displacement(word_x, rule->scale);
  const float y = disk->y + disks_displacement(word_y, rule->scale);
  const float square = disks_least_square(neighbours, x, y);
  bool free = disks_is_inside(rule, x, y) & (square >= HARD_DISKS_LIMIT - HARD_DISKS_DOUBT) &
              !hard_disks_overlap(other.x - x, other.y - y);
  if (free & ((QUICK & more) | (square < HARD_DISKS_LIMIT + HARD_DISKS_DOUBT))) {
    const float2 *first = disks_slot(cells, disks_place(around, 1, 1), 0);
    free = QUICK ? !disks_overlap_quickly(cells, around, rule, WIDE | more, slot != first, x, y)
                 : !disks_overlap_any(cells, around, rule, slot != first, x, y);
  }
  if (free)
    *slot = *disk = make_float2(x, y);
  return free;
}

/* Moves the disks of a cell with one or two disks, all of whose neighbours are known, or `more` and
 * QUICK. Returns how many trials were accepted. */
template <uint32_t ROUNDS, bool WIDE, bool QUICK>
GPUMC_HOST_DEVICE static inline uint32_t
disks_move_two(const struct disks_cells *cells, const struct disks_around *around,
               const struct disks_rule *rule, const struct disks_neighbours<WIDE> *neighbours,
               bool more, uint32_t cell)
{
  const struct gpumc_philox_word word = gpumc_philox_word(&rule->group, cell);
  const uint32_t here = disks_place(around, 1, 1);
  const float4 own = cells->first[here];
  const bool both = own.z != HARD_DISKS_NOWHERE;
  /* The disks moved by trials 0 and 1; nowhere: there is only one. */
  float2 even = make_float2(own.x, own.y), odd = make_float2(own.z, own.w);
  float2 *slot_even = disks_slot(cells, here, 0), *slot_odd = slot_even + 1;
  uint32_t taken = 0;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (uint32_t s = 0; s < rule->moves; s += 2) {
    uint32_t drawn[4];
    disks_draw<ROUNDS>(rule, &word, s / 2, drawn);
    /* hard_disks_shuffle() for two: they are swapped if the upper bit is 0. */
    if (s == 0 && both && rule->shuffle && hard_disks_shuffle_bits(drawn) >> 31 == 0) {
      const float2 disk = even;
      even = odd;
      odd = disk;
      slot_even++;
      slot_odd--;
    }
    taken += disks_try<WIDE, QUICK>(cells, around, rule, neighbours, more, slot_even, odd, drawn[0],
                                    drawn[1], &even);
    if (s + 1 == rule->moves)
      break;
    float2 disk = both ? odd : even;
    const bool free =
        disks_try<WIDE, QUICK>(cells, around, rule, neighbours, more, both ? slot_odd : slot_even,
                               both ? even : odd, drawn[2], drawn[3], &disk);
    if (free) {
      odd = both ? disk : odd;
      even = both ? even : disk;
    }
    taken += free;
  }
  return taken;
}

/* Returns whether (x, y) is free for the disk in `slot` of a cell with any number of disks, as far
 * as the known neighbours show. */
template <bool WIDE>
GPUMC_HOST_DEVICE static inline bool
disks_is_free(const struct disks_cells *cells, const struct disks_around *around,
              const struct disks_rule *rule, const struct disks_neighbours<WIDE> *neighbours,
              uint32_t slot, float x, float y)
{
  const uint32_t here = disks_place(around, 1, 1), count = cells->count[here];
  const float square = disks_least_square(neighbours, x, y);
  if (square < HARD_DISKS_LIMIT - HARD_DISKS_DOUBT)
    return false;
  if (square < HARD_DISKS_LIMIT + HARD_DISKS_DOUBT)
    return !disks_overlap_any(cells, around, rule, slot, x, y);
  for (uint32_t s = 0; s < count; s++) {
    const float2 other = *disks_slot(cells, here, s);
    if (s != slot && hard_disks_overlap(other.x - x, other.y - y))
      return false;
  }
  return true;
}

/* Moves the disks of any cell, slowly; `known`: `neighbours` contains all of them. Returns how many
 * trials were accepted. */
template <uint32_t ROUNDS, bool WIDE>
GPUMC_HOST_DEVICE static inline uint32_t
disks_move_plainly(const struct disks_cells *cells, const struct disks_around *around,
                   const struct disks_rule *rule, bool known,
                   const struct disks_neighbours<WIDE> *neighbours, uint32_t cell)
{
  const struct gpumc_philox_word word = gpumc_philox_word(&rule->group, cell);
  const uint32_t here = disks_place(around, 1, 1), count = cells->count[here];
  uint32_t drawn[4] = {0, 0, 0, 0}, order = HARD_DISKS_UNSHUFFLED, taken = 0, turn = 0;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (uint32_t s = 0; s < rule->moves; s++) {
    if (s % 2 == 0)
      disks_draw<ROUNDS>(rule, &word, s / 2, drawn);
    if (s == 0 && rule->shuffle)
      order = hard_disks_shuffle(hard_disks_shuffle_bits(drawn), count);
    const uint32_t slot = hard_disks_number(order, turn);
    float2 *disk = disks_slot(cells, here, slot);
    const float x =
        disk->x + hard_disks_displacement(s % 2 == 0 ? drawn[0] : drawn[2], rule->scale);
    const float y =
        disk->y + hard_disks_displacement(s % 2 == 0 ? drawn[1] : drawn[3], rule->scale);
    if (disks_is_inside(rule, x, y) &&
        (known ? disks_is_free(cells, around, rule, neighbours, slot, x, y)
               : !disks_overlap_any(cells, around, rule, slot, x, y))) {
      *disk = make_float2(x, y);
      taken++;
    }
    turn = turn + 1 < count ? turn + 1 : 0;
  }
  return taken;
}

/* Returns whether the cell or one around it has more than two disks. */
GPUMC_HOST_DEVICE static inline bool
disks_is_crowded(const struct disks_cells *cells, const struct disks_around *around)
{
  uint32_t most = 0;
  for (uint32_t j = 0; j < 3; j++)
    for (uint32_t i = 0; i < 3; i++) {
      const uint32_t count = cells->count[disks_place(around, i, j)];
      most = count > most ? count : most;
    }
  return most > 2;
}

/* Performs the trials of a cell; `crowded`: some cells have more than two disks. QUICK: cells with
 * unknown neighbours go with the others, and check the rest if the known ones are not in the way;
 * this takes registers, and only few blocks have nothing else to do in the meantime. Returns how
 * many were accepted. */
template <uint32_t ROUNDS, bool WIDE, bool QUICK>
GPUMC_HOST_DEVICE static inline uint32_t
disks_move(const struct disks_cells *cells, const struct disks_around *around,
           const struct disks_rule *rule, bool crowded, uint32_t cell)
{
  struct disks_neighbours<WIDE> neighbours;
  const bool left_out = !WIDE && crowded && disks_is_crowded(cells, around);
  if (QUICK && (!crowded || cells->count[disks_place(around, 1, 1)] <= 2)) {
    const bool room = disks_gather(cells, around, rule, crowded, &neighbours);
    return disks_move_two<ROUNDS, WIDE, QUICK>(cells, around, rule, &neighbours, left_out | !room,
                                               cell);
  }
  const bool known = !left_out && disks_gather(cells, around, rule, crowded, &neighbours);
  if (!QUICK && known && (!WIDE || cells->count[disks_place(around, 1, 1)] <= 2))
    return disks_move_two<ROUNDS, WIDE, QUICK>(cells, around, rule, &neighbours, false, cell);
  return disks_move_plainly<ROUNDS>(cells, around, rule, WIDE && known, &neighbours, cell);
}

#endif

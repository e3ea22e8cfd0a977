/* Moves of the volume of hard disks at constant pressure, for both compilers: the definition that
 * every kernel of a trajectory must reproduce bit for bit.
 *
 * The weight of a box of volume V is exp(-beta P V) Z_N(V) dV, Z_N the integral over the places of
 * N disks in it, for volumes at which the cells of the grid are wide enough and not too wide: a
 * range of at most a factor of 2 (struct hard_disks_grid). A box is identified by the width W of
 * its cells along x, a whole number of quanta; it keeps its shape (hard_disks_height).
 *
 * Trajectory "disks.volume.1". At the end of a sweep, replica r draws once from the counter
 * {0xffffffff, r, time, (PARTICLES_VOLUME, 0)}:
 *
 *   word 0: by how many quanta W changes, 1 .. K; word 1: its sign; words 2 and 3: the threshold.
 *
 * All coordinates are then scaled by W'/W, each disk in its cell and slot. A coordinate of x quanta
 * stands for all places from x to x + 1, which the hard constraint does not distinguish: so the
 * place x + u is scaled, u drawn uniformly in every move, and rounded down. This makes the move
 * that of continuous coordinates, for which detailed balance is known; rounding to the nearest
 * quantum would not, since the step of W is a few quanta in large systems. The volume of each
 * disk's place grows by V' / V and |dV / dW| by W' / W, so that the box is accepted with
 * probability
 *
 *   min(1, (V' / V)^N (W' / W) exp(-beta P (V' - V)))
 *
 * if no disks overlap in it (hard_disks_overlap, after rounding). Word pairs of the counter {cell,
 * r, time, (PARTICLES_VOLUME, j)}, j = 0 and 1, are u along x and y of the disks in slots 2 j and
 * 2 j + 1 of a cell. The offset of the grid is scaled and rounded down; nothing depends on it. */
#ifndef GPUMC_HARD_DISKS_VOLUME_H
#define GPUMC_HARD_DISKS_VOLUME_H

#include "core/numerics/elementary.h"
#include "models/hard_disks/hard_disks_physics.h"

/* If W expands by at least this many quanta, no disks can overlap: distances of 1 grow by 4.6
 * quanta at least, and rounding takes less than 3 of them. */
enum { HARD_DISKS_SAFE_EXPANSION = 8 };

/* hard_disks_head.last_move: the end of the last volume move that was tried, however many sweeps
 * ago, so that measurements see moves even if no measured sweep ends with one. It is part of the
 * portable form (hard_disks_corner). */
enum hard_disks_end {
  HARD_DISKS_NOT_TRIED, /* none so far */
  HARD_DISKS_ACCEPTED,
  HARD_DISKS_REFUSED,
  HARD_DISKS_BEYOND /* refused, because the box has no such volume on this grid */
};

/* Parameters shared by the volume moves of a run. */
struct hard_disks_volume_rule {
  uint32_t least, most, reach; /* of W, and of its change: K */
  double pressure;             /* beta P, in units of one over the squared diameter */
};

GPUMC_HOST_DEVICE static inline uint32_t hard_disks_quanta(float width)
{
  return (uint32_t)((double)width * (double)HARD_DISKS_UNIT);
}

GPUMC_HOST_DEVICE static inline float hard_disks_width(uint32_t quanta)
{
  return (float)((double)quanta * (1.0 / (double)HARD_DISKS_UNIT));
}

/* A volume move of one replica, before any disk is checked. */
struct hard_disks_volume_move {
  enum hard_disks_end end; /* HARD_DISKS_ACCEPTED: if no disks overlap */
  bool overlaps;           /* they may overlap */
  float width[2];          /* trial w */
  double ratio[2];         /* w' / w */
};

GPUMC_HOST_DEVICE static inline struct hard_disks_volume_move
hard_disks_volume_draw(struct gpumc_random random, const struct hard_disks_volume_rule *rule,
                       const struct hard_disks_box *grid, const float width[2], uint32_t replica,
                       uint32_t time)
{
  struct hard_disks_volume_move move;
  uint32_t word[4];
  gpumc_random_draw(random, UINT32_MAX, replica, time,
                    gpumc_random_label(GPUMC_RANDOM_PARTICLES_VOLUME, 0), word);
  const int64_t change = 1 + (int64_t)hard_disks_digit(&word[0], rule->reach);
  const bool expands = word[1] >> 31 == 0;
  const int64_t from = hard_disks_quanta(width[0]), to = expands ? from + change : from - change;
  move.end = HARD_DISKS_BEYOND;
  move.overlaps = !expands || change < HARD_DISKS_SAFE_EXPANSION;
  for (uint32_t d = 0; d < 2; d++) {
    move.width[d] = width[d];
    move.ratio[d] = 1.0;
  }
  if (to < (int64_t)rule->least || to > (int64_t)rule->most)
    return move;
  move.width[0] = hard_disks_width((uint32_t)to);
  move.width[1] = hard_disks_width(hard_disks_height(grid, (uint32_t)to));
  for (uint32_t d = 0; d < 2; d++)
    move.ratio[d] = (double)move.width[d] / (double)width[d];
  const double before = hard_disks_volume_with(grid, width);
  const double after = hard_disks_volume_with(grid, move.width);
  const double log_ratio = grid->particles * gpumc_log(after / before) +
                           gpumc_log((double)to / (double)from) - rule->pressure * (after - before);
  const uint64_t threshold = ((uint64_t)word[2] << 32 | word[3]) >> 12;
  move.end = gpumc_log(((double)threshold + 0.5) * 0x1p-52) < log_ratio ? HARD_DISKS_ACCEPTED
                                                                        : HARD_DISKS_REFUSED;
  return move;
}

/* Draws the words of the disks in slots 2 call and 2 call + 1 of a cell. */
GPUMC_HOST_DEVICE static inline void
hard_disks_volume_words(struct gpumc_random random, uint32_t cell, uint32_t replica, uint32_t time,
                        uint32_t call, uint32_t word[4])
{
  gpumc_random_draw(random, cell, replica, time,
                    gpumc_random_label(GPUMC_RANDOM_PARTICLES_VOLUME, call), word);
}

/* Returns a coordinate in its cell, 0 <= x < w', in a box that is scaled. */
GPUMC_HOST_DEVICE static inline float
hard_disks_scaled(float x, uint32_t word, double ratio, float width)
{
  const double at = (double)x * (double)HARD_DISKS_UNIT + ((double)(word >> 8) + 0.5) * 0x1p-24;
  const float to = (float)(int32_t)(at * ratio) * (1.0f / (float)HARD_DISKS_UNIT);
  const float last = width - 1.0f / (float)HARD_DISKS_UNIT;
  return to < last ? to : last;
}

/* Sets the box of a replica after a move. */
GPUMC_HOST_DEVICE static inline void
hard_disks_scale_head(const struct hard_disks_box *grid, const struct hard_disks_volume_move *move,
                      struct hard_disks_head *head)
{
  for (uint32_t d = 0; d < 2; d++) {
    const int64_t side = hard_disks_side(d == 0 ? grid->cells_x : grid->cells_y, move->width[d]);
    const int64_t offset = (int64_t)((double)head->offset[d] * move->ratio[d]);
    head->offset[d] = offset < side ? offset : side - 1;
    head->width[d] = move->width[d];
  }
}

#endif

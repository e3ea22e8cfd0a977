/* Hard disks of diameter 1 in a periodic box, moved cell by cell on a checkerboard (Anderson,
 * Jankowski, Grubb, Engel and Glotzer, J. Comput. Phys. 254, 27 (2013)): the definition that every
 * kernel of a trajectory must reproduce bit for bit.
 *
 * All lengths are whole numbers of quanta of 2^-23. The box has m_x times m_y cells, both even, of
 * widths w with 1 <= w < 2^(1/2), so that a cell has at most HARD_DISKS_SLOTS centres; or w < 2 if
 * there are no more disks than that. A disk is a pair of floats x, y relative to the corner of its
 * cell, 0 <= x < w_x and 0 <= y < w_y, in a slot of the cell: slots 0 .. n-1 are in use, and their
 * order is part of the state. The corner of cell (0, 0) is at `offset` in the box, so a disk of
 * cell (a, b) is at ((a w_x + x + offset_x) mod L_x, likewise y). Below 2, floats hold whole quanta
 * exactly. So moves, shifts of the grid and differences of positions are exact; differences of 2
 * and more are rounded, but to 2 or more, and such disks do not overlap.
 *
 * Trajectory "disks.checkerboard.1". A sweep of replica r at `time` begins with one draw for all
 * cells (hard_disks_sweep_of), from the counter {0xffffffff, r, time, (PARTICLES_SWEEP, 0)}:
 *
 *   word 0: the order of the four colours; word 1: the direction of the shift; word 2: its distance
 *
 * Then, colour by colour, all cells of a colour are updated, in any order, since they do not see
 * each other. The colour of cell (a, b) is a % 2 + 2 (b % 2). A cell with n > 0 disks has the
 * counters {b m_x + a, r, time, (PARTICLES_MOVE, j)}, j = 0, 1, ...:
 *
 *   words 0 and 1, 2 and 3 of j: displacements along x and y in the trials 2j and 2j + 1, by their
 *   upper 24 bits (hard_disks_displacement);
 *   lower 8 bits of the four words of j = 0: the disks are shuffled (hard_disks_shuffle).
 *
 * Trial s moves the disk in slot number s % n of the shuffled order. The disk stays where it was if
 * it would leave its cell, or overlap a disk of its own or of the eight cells around it
 * (hard_disks_overlap). If m = 2, one cell is on both sides.
 *
 * Last, the grid is shifted along the direction, by less than w / 2: coordinates change by the
 * opposite, and disks that leave their cell enter the neighbour on that side (hard_disks_shifted).
 * A cell keeps the disks that stay, in their order, and appends those that enter, in theirs; all of
 * these come from one cell.
 *
 * Every step preserves the uniform weight of all allowed states. The moves of a sweep obey
 * detailed balance (the paper's section 3): their reverse has the reverse order of colours, the
 * reverse order of disks in each cell and opposite displacements, each as likely as what it
 * reverses. A shift and the opposite one are as likely as each other, too, and which pairs overlap
 * does not depend on the grid, because distances are exact. */
#ifndef GPUMC_HARD_DISKS_PHYSICS_H
#define GPUMC_HARD_DISKS_PHYSICS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/numerics/random.h"

enum {
  HARD_DISKS_SLOTS = 4, /* centres in a cell at most: four corners of a square below 2^(1/2) */
  HARD_DISKS_COLOURS = 4,
  HARD_DISKS_QUANTUM_BITS = 23,
  HARD_DISKS_MOVES_DEFAULT = 4, /* trials per cell and sweep */
  HARD_DISKS_MOVES_MAXIMUM = 64,
};

/* Quanta per unit length. */
#define HARD_DISKS_UNIT ((int64_t)1 << HARD_DISKS_QUANTUM_BITS)
/* The coordinate of slots that are not in use: far from every disk of the nine cells. */
#define HARD_DISKS_NOWHERE (-10.0f)
/* Two disks overlap if the squared distance, as rounded below, is less than this. Rounding takes at
 * most 2^-23 of it, so no allowed pair is closer than 1. */
#define HARD_DISKS_LIMIT (1.0f + 0x1p-22f)

/* A box and its grid of cells. */
struct hard_disks_box {
  uint32_t particles;
  uint32_t cells_x, cells_y; /* m: even, at least 2 */
  float width_x, width_y;    /* w: of a cell, whole quanta */
};

/* The data of a replica beside its disks, as kernels store them. */
struct hard_disks_head {
  int64_t offset[2];  /* position of the corner of cell (0, 0), in quanta: 0 <= offset < side */
  float width[2];     /* w of its cells along x and y */
  uint32_t last_move; /* enum hard_disks_end of its last volume move (hard_disks_volume.h) */
  uint32_t overlap;   /* 1 while such a move has found overlaps */
};

/* Returns the box of a replica on a grid with these cells. */
GPUMC_HOST_DEVICE static inline struct hard_disks_box
hard_disks_box_with(const struct hard_disks_box *grid, const float width[2])
{
  struct hard_disks_box box = *grid;
  box.width_x = width[0];
  box.width_y = width[1];
  return box;
}

/* Returns the width of cells along y of a box whose cells are `width` wide along x, both in quanta:
 * boxes keep the shape of the grid's box, to the nearest quantum. */
GPUMC_HOST_DEVICE static inline uint32_t
hard_disks_height(const struct hard_disks_box *grid, uint32_t width)
{
  const uint64_t x = (uint64_t)((double)grid->width_x * (double)HARD_DISKS_UNIT);
  const uint64_t y = (uint64_t)((double)grid->width_y * (double)HARD_DISKS_UNIT);
  return (uint32_t)((2 * y * width + x) / (2 * x));
}

/* Returns the side of a box with this many cells, in quanta. */
GPUMC_HOST_DEVICE static inline int64_t hard_disks_side(uint32_t cells, float width)
{
  return (int64_t)((double)width * (double)HARD_DISKS_UNIT) * cells;
}

/* Returns Lx Ly of a box on a grid. */
GPUMC_HOST_DEVICE static inline double
hard_disks_volume_with(const struct hard_disks_box *grid, const float width[2])
{
  return ((double)width[0] * grid->cells_x) * ((double)width[1] * grid->cells_y);
}

/* Returns the position in the box of coordinate x of cell number `cell` along an axis, in quanta
 * from 0 to below `side`; offset: that of the grid, likewise. */
GPUMC_HOST_DEVICE static inline int64_t
hard_disks_at(uint32_t cell, float x, float width, int64_t offset, int64_t side)
{
  const double unit = (double)HARD_DISKS_UNIT;
  const int64_t at = (int64_t)((double)width * unit) * cell + (int64_t)((double)x * unit) + offset;
  return at < side ? at : at - side;
}

/* Directions of a shift of the grid. */
enum hard_disks_direction {
  HARD_DISKS_RIGHT, /* the grid moves along +x, disks move to the cell on the left */
  HARD_DISKS_LEFT,
  HARD_DISKS_UP, /* along +y */
  HARD_DISKS_DOWN
};

/* ---- random numbers ---- */

/* Returns floor(n u) of a number u in 0 .. 1 of 32 bits; u becomes the remaining fraction: a digit
 * of a number in mixed radix. */
GPUMC_HOST_DEVICE static inline uint32_t hard_disks_digit(uint32_t *u, uint32_t n)
{
  const uint64_t product = (uint64_t)*u * n;
  *u = (uint32_t)product;
  return (uint32_t)(product >> 32);
}

/* The permutation 0, 1, 2, 3. */
#define HARD_DISKS_UNSHUFFLED 0xe4u

/* Returns a permutation of 0 .. n-1, n <= 4, by Fisher and Yates from the end: number i is at bits
 * 2i and 2i + 1. Each of the n! has probability 1 / n! to within 2^-32. */
GPUMC_HOST_DEVICE static inline uint32_t hard_disks_shuffle(uint32_t u, uint32_t n)
{
  uint32_t order = HARD_DISKS_UNSHUFFLED;
  for (uint32_t i = n > 0 ? n - 1 : 0; i > 0; i--) {
    const uint32_t j = hard_disks_digit(&u, i + 1);
    const uint32_t differ = (order >> 2 * i ^ order >> 2 * j) & 3;
    order ^= differ << 2 * i | (i == j ? 0 : differ << 2 * j);
  }
  return order;
}

/* Returns number i of a permutation. */
GPUMC_HOST_DEVICE static inline uint32_t hard_disks_number(uint32_t order, uint32_t i)
{
  return order >> 2 * i & 3;
}

/* The random choices of a sweep for all cells. */
struct hard_disks_sweep {
  uint32_t colours; /* a permutation */
  enum hard_disks_direction direction;
  float distance; /* of the shift, whole quanta below w/2 */
};

GPUMC_HOST_DEVICE static inline struct hard_disks_sweep
hard_disks_sweep_of(struct gpumc_random random, const struct hard_disks_box *box, uint32_t replica,
                    uint32_t time)
{
  struct hard_disks_sweep sweep;
  uint32_t word[4];
  gpumc_random_draw(random, UINT32_MAX, replica, time,
                    gpumc_random_label(GPUMC_RANDOM_PARTICLES_SWEEP, 0), word);
  sweep.colours = hard_disks_shuffle(word[0], HARD_DISKS_COLOURS);
  sweep.direction = (enum hard_disks_direction)(word[1] >> 30);
  const float width = sweep.direction <= HARD_DISKS_LEFT ? box->width_x : box->width_y;
  const uint32_t half = (uint32_t)(width * (float)(HARD_DISKS_UNIT / 2));
  sweep.distance = (float)hard_disks_digit(&word[2], half) * (1.0f / (float)HARD_DISKS_UNIT);
  return sweep;
}

/* Draws the words of trials 2 call and 2 call + 1 of a cell. */
GPUMC_HOST_DEVICE static inline void hard_disks_draw(struct gpumc_random random, uint32_t cell,
                                                     uint32_t replica, uint32_t time, uint32_t call,
                                                     uint32_t word[4])
{
  gpumc_random_draw(random, cell, replica, time,
                    gpumc_random_label(GPUMC_RANDOM_PARTICLES_MOVE, call), word);
}

/* Returns the number that shuffles the disks of a cell, from the words of call 0. Displacements do
 * not use these bits. */
GPUMC_HOST_DEVICE static inline uint32_t hard_disks_shuffle_bits(const uint32_t word[4])
{
  return (word[0] & 0xff) | (word[1] & 0xff) << 8 | (word[2] & 0xff) << 16 | word[3] << 24;
}

/* ---- moves ---- */

/* Returns `scale` for displacements up to move_size < 1/2. */
GPUMC_HOST_DEVICE static inline float hard_disks_scale(double move_size)
{
  return (float)move_size * 0x1p-24f;
}

/* Returns a displacement along one axis from the upper 24 bits u of a word: (2u + 1 - 2^24) / 2^24
 * of the largest, rounded to the nearest whole quantum, ties to even. Numerators are odd and exact
 * in 24 bits, and 1.5 is an even number of quanta, so a displacement and its opposite are equally
 * likely. */
GPUMC_HOST_DEVICE static inline float hard_disks_displacement(uint32_t word, float scale)
{
  const int32_t numerator = (int32_t)(word >> 8) * 2 + 1 - (1 << 24);
  return (1.5f + (float)numerator * scale) - 1.5f;
}

/* Returns the difference of two coordinates in cells `apart` widths w from each other, apart = -1,
 * 0 or 1: exact below 2. */
GPUMC_HOST_DEVICE static inline float hard_disks_apart(float other, float x, float apart, float w)
{
  return (other - x) + apart * w;
}

/* Returns whether two disks at a distance of (dx, dy) overlap. No fma. */
GPUMC_HOST_DEVICE static inline bool hard_disks_overlap(float dx, float dy)
{
  return dx * dx + dy * dy < HARD_DISKS_LIMIT;
}

/* ---- shift of the grid ---- */

/* Shifts a coordinate along the axis by `distance`, forward (RIGHT, UP) or not; returns whether the
 * disk leaves its cell. */
GPUMC_HOST_DEVICE static inline bool
hard_disks_shifted(bool forward, float distance, float w, float *x)
{
  /* In both directions the excess beyond the border remains, relative to the neighbour's corner. */
  const float to = forward ? *x - distance : (*x - w) + distance;
  const bool leaves = forward ? to < 0.0f : to >= 0.0f;
  if (forward)
    *x = leaves ? to + w : to;
  else
    *x = leaves ? to : *x + distance;
  return leaves;
}

/* Returns the position of the corner of cell (0, 0) along an axis afterwards, in quanta. */
GPUMC_HOST_DEVICE static inline int64_t
hard_disks_shift_offset(const struct hard_disks_box *box, const struct hard_disks_sweep *sweep,
                        uint32_t axis, int64_t offset)
{
  const bool forward = sweep->direction == HARD_DISKS_RIGHT || sweep->direction == HARD_DISKS_UP;
  const float width = axis == 0 ? box->width_x : box->width_y;
  const int64_t length = (int64_t)(width * (float)HARD_DISKS_UNIT) *
                         (int64_t)(axis == 0 ? box->cells_x : box->cells_y);
  const int64_t distance = (int64_t)(sweep->distance * (float)HARD_DISKS_UNIT);
  if (axis != (sweep->direction <= HARD_DISKS_LEFT ? 0 : 1))
    return offset;
  const int64_t to = forward ? offset + distance : offset - distance;
  return to < 0 ? to + length : to >= length ? to - length : to;
}

/* The same for both axes. */
GPUMC_HOST_DEVICE static inline void hard_disks_shift_offsets(const struct hard_disks_box *box,
                                                              const struct hard_disks_sweep *sweep,
                                                              int64_t offset[2])
{
  for (uint32_t axis = 0; axis < 2; axis++)
    offset[axis] = hard_disks_shift_offset(box, sweep, axis, offset[axis]);
}

#endif

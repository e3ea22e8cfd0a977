/* What of the kernel `checkerboard` is compiled once for each instruction-set level: trials and
 * shifts of rows of cells. */
#ifndef GPUMC_HARD_DISKS_CHECKERBOARD_ISA_H
#define GPUMC_HARD_DISKS_CHECKERBOARD_ISA_H

#include "core/numerics/isa.h"
#include "models/hard_disks/checkerboard/checkerboard_plain.h"

/* Floats of the widest vectors. */
enum { CHECKERBOARD_LANES = 16 };

/* A replica in rows (checkerboard_cpu.c): row b has at b * row the even columns, and `parity`
 * further the odd ones; of these slot s at s * slot, columns one after the other. x and y are those
 * of cell (0, 0). Before and after the columns there is room for a copy of the last and the first
 * one, which both functions keep up to date, and for whole vectors. used[m_y][2]: slots of which
 * one at least is in use, by row and parity. */
struct checkerboard_rows {
  struct hard_disks_box box;
  size_t row, parity, slot, columns; /* columns: m_x / 2 */
  float *x, *y;
  uint8_t *used;
};

/* A sweep of one replica. */
struct checkerboard_job {
  struct checkerboard_rows rows;
  struct hard_disks_options options;
  float scale;
  struct gpumc_random random;
  uint32_t replica, time;
  struct hard_disks_sweep sweep;
};

struct checkerboard_ops {
  /* Trials of the cells of a colour in rows `begin`, begin + 2, ... before `end`, and how many
   * there were. */
  struct checkerboard_counts (*move)(const struct checkerboard_job *job, uint32_t colour,
                                     size_t begin, size_t end);
  /* The shift of rows begin .. end - 1, in place. Along y, `beyond` is the row after the last one
   * (UP), or before the first one (DOWN), as it was before any shift: x[row], y[row]. Returns false
   * where a cell has more disks than it has slots. */
  bool (*shift)(const struct checkerboard_job *job, size_t begin, size_t end, const float *beyond);
};

#ifdef GPUMC_ISA_X86_64
extern const struct checkerboard_ops checkerboard_ops_v2, checkerboard_ops_v3, checkerboard_ops_v4;
#else
extern const struct checkerboard_ops checkerboard_ops_portable;
#endif

#endif

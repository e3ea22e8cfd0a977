/* The parts of the kernel `checkerboard` that are compiled once for each instruction-set level:
 * trials and shifts of rows of cells. */
#ifndef GPUMC_HARD_DISKS_CHECKERBOARD_ISA_H
#define GPUMC_HARD_DISKS_CHECKERBOARD_ISA_H

#include "core/numerics/isa.h"
#ifdef GPUMC_ISA
#include "core/numerics/simd_philox.h"
#endif
#include "models/hard_disks/checkerboard/checkerboard_plain.h"

/* Floats of the widest vectors. */
enum { CHECKERBOARD_LANES = 16 };

/* A replica in rows (checkerboard_cpu.c): row b has at b * row the even columns, and `parity`
 * further the odd ones; slot s of these is at s * slot, columns one after the other. x and y are
 * those of cell (0, 0). Before and after the columns there is room for a copy of the last and the
 * first one, which both functions keep up to date, and for whole vectors. used[m_y][2]: slots of
 * which at least one is in use, by row and parity. */
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
  /* Performs the trials of the cells of a colour in rows `begin`, begin + 2, ... before `end`, and
   * counts them. */
  struct checkerboard_counts (*move)(const struct checkerboard_job *job, uint32_t colour,
                                     size_t begin, size_t end);
  /* Shifts rows begin .. end - 1, in place. Along y, `beyond` is the row after the last one (UP),
   * or before the first one (DOWN), as it was before any shift: x[row], y[row]. Returns false if a
   * cell has more disks than slots. */
  bool (*shift)(const struct checkerboard_job *job, size_t begin, size_t end, const float *beyond);
};

/* A volume move of one replica: rows before it, and after it, in which only slots in use are
 * set. */
struct checkerboard_volume {
  struct checkerboard_rows from, to;
  struct hard_disks_volume_move move;
  struct gpumc_random random;
  uint32_t replica, time;
};

struct checkerboard_volume_ops {
  /* Scales into row b of `to`. */
  void (*scale)(const struct checkerboard_volume *volume, size_t b);
  /* Returns whether disks of row b of `to` overlap each other or those of the row below. */
  bool (*overlaps)(const struct checkerboard_volume *volume, size_t b);
};

#ifdef GPUMC_ISA_X86_64
extern const struct checkerboard_ops checkerboard_ops_v2, checkerboard_ops_v3, checkerboard_ops_v4;
extern const struct checkerboard_volume_ops checkerboard_volume_ops_v2, checkerboard_volume_ops_v3,
    checkerboard_volume_ops_v4;
#else
extern const struct checkerboard_ops checkerboard_ops_portable;
extern const struct checkerboard_volume_ops checkerboard_volume_ops_portable;
#endif

/* ---- vectors of floats, a lane for each cell of one colour: for the files of a level ---- */

#ifdef GPUMC_ISA

enum { LANES = GPUMC_VECTOR_WORDS };
_Static_assert((int)LANES <= (int)CHECKERBOARD_LANES, "rows have room for whole vectors");

typedef float vf __attribute__((vector_size(GPUMC_VECTOR_BYTES)));
typedef int32_t vi __attribute__((vector_size(GPUMC_VECTOR_BYTES)));

GPUMC_INLINE vf load(const float *from)
{
  vf v;
  memcpy(&v, from, sizeof v);
  return v;
}

GPUMC_INLINE void store(float *to, vf v)
{
  memcpy(to, &v, sizeof v);
}

GPUMC_INLINE vf all_of(float value)
{
  return value - (vf){0};
}

GPUMC_INLINE vf choose(vi mask, vf a, vf b)
{
  return (vf)gpumc_select((gpumc_v32)mask, (gpumc_v32)a, (gpumc_v32)b);
}

GPUMC_INLINE vf least_of(vf a, vf b)
{
#if defined(__AVX512F__)
  return (vf)_mm512_min_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
  return (vf)_mm256_min_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
  return (vf)_mm_min_ps((__m128)a, (__m128)b);
#else
  return choose(a < b, a, b);
#endif
}

GPUMC_INLINE bool any(vi mask)
{
  return gpumc_nonzero_words((gpumc_v32)mask) != 0;
}

/* Returns the lanes from the first on that are columns of the box. */
GPUMC_INLINE vi columns_from(size_t first, size_t columns)
{
  const size_t left = columns - first;
  return (vi)gpumc_lane_numbers() < (int32_t)(left < LANES ? left : LANES);
}

/* Returns the position of slot 0 of a row's columns of a parity. */
GPUMC_INLINE size_t start_of(const struct checkerboard_rows *rows, size_t b, size_t parity)
{
  return b * rows->row + parity * rows->parity;
}

/* Copies the last column to the place before the first one, and the first to that after the last.
 */
static inline void
copy_ends(const struct checkerboard_rows *rows, size_t b, size_t parity, size_t slots)
{
  for (size_t s = 0; s < slots; s++) {
    float *const x = rows->x + start_of(rows, b, parity) + s * rows->slot, *const y =
                                                                               rows->y +
                                                                               start_of(rows, b,
                                                                                        parity) +
                                                                               s * rows->slot;
    x[-1] = x[rows->columns - 1];
    y[-1] = y[rows->columns - 1];
    x[rows->columns] = x[0];
    y[rows->columns] = y[0];
  }
}

#endif

#endif

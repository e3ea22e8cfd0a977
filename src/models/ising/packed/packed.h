/* The packed kernel on the CPU below its ops: the parts compiled once for each instruction-set
 * level.
 *
 * A word holds 32 neighbouring sites of one colour of a row of one replica (ising_physics.h,
 * trajectory "ising.packed.1"); a replica is words[2 colours][colour]. Threads share a replica:
 * each processes whole rows of one colour at a time, with copies of the rows that it needs. */
#ifndef GPUMC_ISING_PACKED_H
#define GPUMC_ISING_PACKED_H

#include "core/simulation/kernel.h"
#include "models/ising/multispin/multispin.h"
#include "models/lattice/checkerboard.h"

enum {
  ISING_PACKED_BITS = 32,       /* sites of a word */
  ISING_PACKED_PAIR = 64,       /* sites in a row that share a pair of words, one per colour */
  ISING_PACKED_UNDECIDED = 5,   /* arrays of struct ising_undecided */
  ISING_PACKED_WAVE_ROWS = 128, /* rows that are counted together, */
  ISING_PACKED_WAVE_BITS = 8,   /* bits of such a count */
  ISING_PACKED_ARRAYS = 1 + GPUMC_NEIGHBOURS_MAXIMUM + ISING_PACKED_UNDECIDED,
};

/* Returns the lattice with words of one colour in place of its sites: row, plane, colour. */
static inline struct gpumc_checkerboard
ising_packed_lattice(const struct gpumc_checkerboard *of_sites)
{
  struct gpumc_checkerboard lattice = *of_sites;
  lattice.row /= ISING_PACKED_BITS;
  lattice.plane /= ISING_PACKED_BITS;
  lattice.colour /= ISING_PACKED_BITS;
  return lattice;
}

static inline size_t ising_packed_lines(const struct gpumc_checkerboard *lattice)
{
  return lattice->length_y * lattice->length_z;
}

/* Returns the rows of a part: few enough that its arrays stay in the cache. */
static inline size_t ising_packed_part_lines(const struct gpumc_checkerboard *lattice)
{
  const size_t lines = ISING_PART / lattice->row, all = ising_packed_lines(lattice);
  return lines < 1 ? 1 : lines < all ? lines : all;
}

/* Returns the words of one array of a part. */
static inline size_t ising_packed_extent(const struct gpumc_checkerboard *lattice)
{
  return ising_packed_part_lines(lattice) * lattice->row + GPUMC_CHECKERBOARD_PADDING;
}

/* The rows first .. first + lines - 1 of a replica, or of its differences to another one (`other`,
 * not NULL). `scratch`: ISING_PACKED_ARRAYS arrays of the calling thread. */
struct ising_packed_part {
  const struct gpumc_checkerboard *lattice; /* in words */
  uint32_t *words;
  const uint32_t *other;
  uint32_t replica;
  size_t first, lines;
  uint32_t *scratch;
};

/* Counts of a replica: bonds between unlike spins, spins up, and the sums for struct
 * lattice_wave. */
struct ising_packed_counts {
  int64_t unlike, up, cosine[ISING_AXES], sine[ISING_AXES];
};

struct ising_packed_ops {
  /* Updates one colour of a part. */
  void (*update)(const struct ising_packed_part *part, const struct ising_multispin_rule *rule,
                 size_t colour, uint32_t time);
  /* Adds bonds from colour 0 and spins up to the counts. */
  void (*count)(const struct ising_packed_part *part, struct ising_packed_counts *counts);
  /* The same for cosine and sine; at most ISING_PACKED_WAVE_ROWS rows. */
  void (*wave)(const struct ising_packed_part *part, const struct ising_multispin_waves *waves,
               struct ising_packed_counts *counts);
};

#ifdef GPUMC_ISA_X86_64
extern const struct ising_packed_ops ising_packed_v2, ising_packed_v3, ising_packed_v4;
#else
extern const struct ising_packed_ops ising_packed_portable;
#endif

/* ---- on every device ---- */

/* gpumc_kernel_ops.cost and refuses; `check` of the layouts. */
double ising_packed_cost(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan,
                         size_t replicas);
const char *ising_packed_refuses(const struct gpumc_model *model,
                                 const struct gpumc_kernel_options *options, const char **key);
GPUMC_MUST_CHECK enum gpumc_status
ising_packed_check(const struct gpumc_ensemble *ensemble, struct gpumc_error *error);

/* Designated initialisers of a struct gpumc_kernel_ops, shared by the kernels of all devices, also
 * for builds that lack one. */
#define ISING_PACKED_NAMES                                                                         \
  .variant = "packed", .cost = ising_packed_cost, .refuses = ising_packed_refuses,                 \
  .summary =                                                                                       \
      "one bit per spin, 32 sites of a row per word, for a few large lattices without disorder",   \
  .takes = "Lx a multiple of 64; no disorder", .trajectory = "ising.packed.1",                     \
  .moves = ising_moves, .n_moves = ISING_LOCAL_MOVES, .group = 1

#endif

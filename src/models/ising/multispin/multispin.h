/* The multispin kernel below its ops: the parts compiled once for each instruction-set level. */
#ifndef GPUMC_ISING_MULTISPIN_H
#define GPUMC_ISING_MULTISPIN_H

#include <stdbool.h>

#include "core/numerics/isa.h"
#include "core/numerics/random.h"
#include "models/ising/ising_physics.h"
#include "models/ising/ising_channels.h"
#include "models/ising/ising_exchange.h"
#include "models/lattice/bit_sliced.h"
#include "models/lattice/checkerboard.h"

enum { ISING_LANES = 32, ISING_AXES = 3 };

/* Which signs differ from site to site. With random fields bonds always have signs of their own,
 * all positive if the couplings are uniform. */
enum ising_signs { ISING_SAME_SIGNS, ISING_BOND_SIGNS, ISING_FIELD_SIGNS };

/* The instance, for all groups. Signs are words, of a group or of all groups:
 * word[colour][block][slot][GPUMC_EDGE_SITES], a bit for each lane, set if the value is negative
 * relative to that of the rule. Slots: the bonds of a site to its neighbours (enum
 * gpumc_neighbour), then with ISING_FIELD_SIGNS its field. */
struct ising_multispin_instance {
  struct gpumc_checkerboard lattice;
  enum ising_signs signs;
  const struct gpumc_checkerboard_edges *edges[2]; /* for each colour */
};

static inline size_t ising_multispin_slots(size_t dimension, enum ising_signs signs)
{
  return signs == ISING_SAME_SIGNS ? 0 : 2 * dimension + (signs == ISING_FIELD_SIGNS);
}

/* Returns the words of signs of one colour. */
static inline size_t
ising_multispin_sign_words(const struct gpumc_checkerboard *lattice, enum ising_signs signs)
{
  return gpumc_checkerboard_edge_blocks(lattice) * GPUMC_EDGE_SITES *
         ising_multispin_slots(lattice->dimension, signs);
}

/* A group: 32 replicas, one word[position] per site. `scratch`: ising_multispin_scratch() words of
 * the calling thread, zeroed once. */
struct ising_multispin_group {
  const struct ising_multispin_instance *instance;
  const uint32_t *signs; /* NULL: the same everywhere */
  uint32_t *words;
  uint32_t number;
  uint32_t *scratch;
  bool copied; /* a sweep of the group has left its working copies in scratch */
  /* [ISING_LANES], set by `sweep` to those that the last sweep leaves, for `measure`; or NULL. Only
   * if ising_multispin_counts_bonds(). */
  int64_t *unsatisfied;
};

/* PLAIN: Metropolis without any field. */
enum ising_multispin_update { ISING_PLAIN, ISING_METROPOLIS, ISING_HEAT_BATH };

/* The parameters of the sweeps of one run. Thresholds are numbered by class. Plain: a spin needs a
 * comparison if fewer than half of its bonds are unsatisfied; the class is how many are. `like`:
 * all ones if a bond of equal spins is the satisfied one, else 0. Otherwise the class is the number
 * of neighbours up, and spin_up[class] (a mask) the spin that needs a comparison under
 * Metropolis. */
struct ising_multispin_rule {
  struct gpumc_random random;
  enum ising_multispin_update update;
  uint32_t like;
  uint32_t spin_up[ISING_CLASSES_MAXIMUM];
  struct gpumc_bit_thresholds thresholds;
};

/* Returns whether sweeps determine the number of unsatisfied bonds of each site. */
static inline bool ising_multispin_counts_bonds(const struct ising_multispin_instance *instance,
                                                const struct ising_multispin_rule *rule)
{
  return rule->update == ISING_PLAIN && instance->lattice.dimension == 3;
}

/* One copied replica: bit `lane` of the new words is bit `lane - rotation` of the source. */
struct ising_multispin_copy {
  const uint32_t *source;
  uint32_t rotation, lane;
};

/* Sums over one group, by lane. */
struct ising_multispin_sums {
  int64_t unsatisfied[ISING_LANES]; /* bonds */
  int64_t up[ISING_LANES];          /* spins up */
  int64_t along[ISING_LANES];       /* spins in the direction of a uniform or their random field */
  int64_t cosine[ISING_AXES][ISING_LANES],
      sine[ISING_AXES][ISING_LANES]; /* lattice_wave_square() */
};

/* cosine[wave.length], sine[wave.length] */
struct ising_multispin_waves {
  struct lattice_wave wave;
  const int32_t *cosine, *sine;
};

/* A group and the words of another, whose replicas have the same samples and beta, for the exchange
 * of clusters between those in `lanes` (models/ising/ising_exchange.h). The group's scratch has
 * ising_multispin_exchange_scratch() words more. `threshold`: of a bond; `like`: all ones if beta J
 * is above 0, J that of a positive sign, else 0. */
struct ising_multispin_pair {
  const struct ising_multispin_group *group;
  uint32_t *other;
  uint32_t lanes;
  enum gpumc_cluster_rule rule;
  uint64_t threshold;
  uint32_t like;
  struct gpumc_random random;
  uint32_t time;
};

struct ising_multispin_ops {
  void (*sweep)(const struct ising_multispin_group *group, const struct ising_multispin_rule *rule,
                uint32_t time, uint32_t sweeps);
  /* `other`: words of replicas to compare with, or NULL. With them the sums are those of replicas
   * whose spins are up where the two differ, and couplings and fields are uniform and positive.
   * `waves`: NULL if not wanted. */
  void (*measure)(const struct ising_multispin_group *group, const uint32_t *other,
                  const struct ising_multispin_waves *waves, struct ising_multispin_sums *sums);
  /* words[n] = the old words with the copied lanes replaced. */
  void (*gather)(uint32_t *words, const uint32_t *old, size_t n,
                 const struct ising_multispin_copy *copies, size_t n_copies);
  /* Swaps the lanes in `swap` of a[n] and b[n]. */
  void (*exchange)(uint32_t *a, uint32_t *b, size_t n, uint32_t swap);
  void (*exchange_clusters)(const struct ising_multispin_pair *pair,
                            struct gpumc_cluster_counts *counts);
};

#ifdef GPUMC_ISA_X86_64
extern const struct ising_multispin_ops ising_multispin_v2, ising_multispin_v3, ising_multispin_v4;
#else
extern const struct ising_multispin_ops ising_multispin_portable;
#endif

/* Sites of one colour that are processed at a time: whole vectors, few enough that the arrays of a
 * part stay in the cache. Scratch: two colours, and the arrays of a part. */
enum {
  ISING_PART = 2048,
  ISING_PART_ARRAYS = 5,
  ISING_PART_EXTENT = ISING_PART + GPUMC_CHECKERBOARD_PADDING
};

static inline size_t ising_multispin_scratch(const struct gpumc_checkerboard *lattice)
{
  return 2 * gpumc_checkerboard_extent(lattice) + ISING_PART_ARRAYS * ISING_PART_EXTENT;
}

static inline size_t ising_multispin_exchange_scratch(const struct gpumc_checkerboard *lattice)
{
  return (3 + lattice->dimension) * 2 * lattice->colour + lattice->length_y * lattice->length_z;
}

/* Return the working copy of a colour, in scratch, and an array of a part. */
static inline uint32_t *
ising_multispin_copy_of(const struct gpumc_checkerboard *lattice, uint32_t *scratch, size_t colour)
{
  return scratch + colour * gpumc_checkerboard_extent(lattice) + gpumc_checkerboard_lead(lattice);
}

static inline uint32_t *
ising_multispin_part(const struct gpumc_checkerboard *lattice, uint32_t *scratch, size_t array)
{
  return scratch + 2 * gpumc_checkerboard_extent(lattice) + array * ISING_PART_EXTENT;
}

#endif

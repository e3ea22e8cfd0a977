/* The spin kernel below its ops: the parts compiled once for each instruction-set level. */
#ifndef GPUMC_ISING_SPIN_H
#define GPUMC_ISING_SPIN_H

#include <stdbool.h>

#include "core/numerics/isa.h"
#include "core/numerics/random.h"
#include "core/simulation/kernel.h"
#include "models/ising/spin/spin_rule.h"
#include "models/lattice/checkerboard.h"

/* The position of a site, in the bits of a byte: the first three describe its neighbour beside it,
 * "side" in lattice/checkerboard.h, the others, in three dimensions, its plane. */
enum ising_spin_place {
  ISING_SPIN_BACK = 0,           /* the side is k - 1; otherwise k + 1, unless one of the next
                                  * two */
  ISING_SPIN_BACK_AROUND = 1,    /* it is k + row - 1 */
  ISING_SPIN_FORWARD_AROUND = 2, /* it is k - row + 1 */
  ISING_SPIN_FIRST_ROW = 3,      /* the row before is k - row + plane */
  ISING_SPIN_LAST_ROW = 4        /* the row after is k + row - plane */
};

enum { ISING_SPIN_CHUNK = 1024 }; /* sites of one colour that are processed together */

/* place[]: of the sites of colour 0 from the first one on. It repeats after `period` sites, and
 * colour 1 is `shift` sites ahead. */
struct ising_spin_lattice {
  struct gpumc_checkerboard checkerboard;
  const uint8_t *place;
  size_t period, shift;
};

/* A replica's call of sweep: sweeps time .. time + sweeps - 1. A spin is a byte, 1 up and 0 down.
 * `scratch`: ising_spin_scratch() bytes of the calling thread, zeroed once. */
struct ising_spin_sweep {
  const struct ising_spin_rule *rule;
  const struct ising_spin_lattice *lattice;
  struct ising_spin_sample sample;
  struct gpumc_random random;
  uint32_t replica, time, sweeps;
  uint8_t *spins, *scratch;
};

/* Measures one replica, or the product of two: its spins are up where theirs are alike. `other`:
 * NULL, or that replica's spins. Wanted: the energy of a sample with terms; `layers`,
 * ising_spin_layers() counts of the spins up in the layers x = 0, 1, .., then y, then z; NULL: not
 * wanted. */
struct ising_spin_measurement {
  const struct ising_spin_lattice *lattice;
  struct ising_spin_sample sample;
  const uint8_t *spins, *other;
  uint8_t *scratch;
  uint32_t *layers;
};

struct ising_spin_sums {
  int64_t up;          /* spins up */
  int64_t unsatisfied; /* bonds between unlike spins, or between like ones if negative */
  int64_t against;     /* spins down in the larger of two fields, or up in the smaller one */
  int64_t energy;      /* of a sample with terms, in quanta; otherwise 0 */
};

struct ising_spin_ops {
  void (*sweep)(const struct ising_spin_sweep *sweep);
  void (*measure)(const struct ising_spin_measurement *measurement, struct ising_spin_sums *sums);
};

#ifdef GPUMC_ISA_X86_64
extern const struct ising_spin_ops ising_spin_v2, ising_spin_v3, ising_spin_v4;
#else
extern const struct ising_spin_ops ising_spin_portable;
#endif

/* Storage on the CPU, one byte per spin and one replica per block (models/lattice/replicas_cpu.h),
 * which other kernels use, too; and the samples of the disorder stored beside it. */
size_t ising_spin_cpu_bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                            const struct gpumc_ensemble_plan *plan);
GPUMC_MUST_CHECK enum gpumc_status
ising_spin_cpu_create(struct gpumc_ensemble *ensemble, struct gpumc_error *error);
const struct ising_spin_samples *ising_spin_cpu_samples(const struct gpumc_ensemble *ensemble);

static inline size_t ising_spin_layers(const struct gpumc_checkerboard *lattice)
{
  return lattice->length_x + lattice->length_y + lattice->length_z;
}

/* Returns the size of the layers, then two working copies of colours. */
static inline size_t ising_spin_scratch(const struct gpumc_checkerboard *lattice)
{
  return ising_spin_layers(lattice) * sizeof(uint32_t) + GPUMC_CHECKERBOARD_PADDING +
         2 * gpumc_checkerboard_extent(lattice);
}

#endif

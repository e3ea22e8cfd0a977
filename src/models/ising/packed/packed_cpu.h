/* The packed kernel on the CPU above the instruction-set levels: what its files share. */
#ifndef GPUMC_ISING_PACKED_CPU_H
#define GPUMC_ISING_PACKED_CPU_H

#include "models/ising/ising.h"
#include "models/lattice/replicas_cpu.h"
#include "models/ising/multispin/multispin_tables.h"
#include "models/ising/packed/packed.h"

/* lattice_cpu_storage.own. counts[plan.runs][plan.capacity] */
struct ising_packed_own {
  struct ising_multispin_tables tables;
  struct gpumc_checkerboard lattice; /* in words */
  struct ising_packed_counts *counts;
};

static inline struct ising_packed_own *ising_packed_own_of(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  return storage->own;
}

static inline const struct ising_packed_ops *
ising_packed_ops_of(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  return GPUMC_ISA_OBJECT(ising_packed, storage->isa);
}

/* Rows of all replicas, shared out: number i of the parts with at most `most` rows each. No rows
 * for a replica that is not in use. */
static inline struct ising_packed_part ising_packed_part_at(const struct gpumc_ensemble *ensemble,
                                                            size_t most, size_t i,
                                                            struct lattice_cpu_place *place)
{
  const struct ising_packed_own *own = ising_packed_own_of(ensemble);
  const size_t lines = ising_packed_lines(&own->lattice), parts = (lines + most - 1) / most;
  struct ising_packed_part part = {.lattice = &own->lattice, .first = i % parts * most};
  *place = lattice_cpu_place(ensemble, i / parts);
  part.words = place->data;
  part.replica = (uint32_t)place->first;
  part.lines = lines - part.first < most ? lines - part.first : most;
  part.lines = place->count > 0 ? part.lines : 0;
  part.scratch = lattice_cpu_scratch(ensemble->storage);
  return part;
}

static inline size_t ising_packed_parts(const struct gpumc_ensemble *ensemble, size_t most)
{
  const size_t lines = ising_packed_lines(&ising_packed_own_of(ensemble)->lattice);
  return lattice_cpu_places(ensemble) * ((lines + most - 1) / most);
}

/* gpumc_kernel_ops.measure and overlap. */
GPUMC_MUST_CHECK enum gpumc_status ising_packed_cpu_measure(struct gpumc_ensemble *ensemble,
                                                            int64_t *const *channel,
                                                            struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_packed_cpu_overlap(struct gpumc_ensemble *ensemble, size_t first, size_t second, size_t runs,
                         int64_t *const overlap[GPUMC_OVERLAPS], struct gpumc_error *error);

#endif

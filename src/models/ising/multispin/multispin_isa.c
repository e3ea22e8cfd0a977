/* The operations of the multispin kernel at one level. */
#include "models/ising/multispin/multispin_isa.h"
#include "models/lattice/checkerboard_simd.h"

static ising_sweep_function *
variant_of(const struct ising_multispin_instance *instance, const struct ising_multispin_rule *rule)
{
  const ising_sweep_table *table = rule->update == ISING_PLAIN ? &GPUMC_ISA_NAME(ising_sweep_plain)
                                   : rule->update == ISING_METROPOLIS
                                       ? &GPUMC_ISA_NAME(ising_sweep_metropolis)
                                       : &GPUMC_ISA_NAME(ising_sweep_heat_bath);
  return (*table)[instance->signs][instance->lattice.dimension - 2][rule->random.rounds == 7];
}

static void sweep(const struct ising_multispin_group *group,
                  const struct ising_multispin_rule *rule, uint32_t time, uint32_t sweeps)
{
  const struct ising_multispin_instance *instance = group->instance;
  const struct gpumc_checkerboard *lattice = &instance->lattice;
  struct ising_sweep work = {.instance = instance,
                             .rule = rule,
                             .group = group->number,
                             .time = time,
                             .sweeps = sweeps,
                             .unsatisfied = group->unsatisfied};
  for (size_t colour = 0; colour < 2; colour++) {
    if (group->signs != NULL)
      work.signs[colour] =
          group->signs + colour * ising_multispin_sign_words(lattice, instance->signs);
    work.sites[colour] = ising_multispin_copy_of(lattice, group->scratch, colour);
    memcpy(work.sites[colour], group->words + colour * lattice->colour,
           lattice->colour * sizeof *group->words);
    gpumc_checkerboard_wrap(lattice, work.sites[colour], sizeof(uint32_t));
  }
  work.undecided.index = ising_multispin_part(lattice, group->scratch, 0);
  work.undecided.open = ising_multispin_part(lattice, group->scratch, 1);
  for (size_t b = 0; b < ISING_CLASS_BITS; b++)
    work.undecided.class_bit[b] = ising_multispin_part(lattice, group->scratch, 2 + b);
  for (size_t lane = 0; group->unsatisfied != NULL && lane < ISING_LANES; lane++)
    group->unsatisfied[lane] = 0;
  variant_of(instance, rule)(&work);
  if (group->unsatisfied != NULL && rule->like == 0)
    for (size_t lane = 0; lane < ISING_LANES; lane++)
      group->unsatisfied[lane] =
          (int64_t)(2 * lattice->dimension * lattice->colour) - group->unsatisfied[lane];
  for (size_t colour = 0; colour < 2; colour++)
    memcpy(group->words + colour * lattice->colour, work.sites[colour],
           lattice->colour * sizeof *group->words);
}

extern const struct ising_multispin_ops GPUMC_ISA_NAME(ising_multispin);
const struct ising_multispin_ops GPUMC_ISA_NAME(ising_multispin) = {
    .sweep = sweep,
    .measure = GPUMC_ISA_NAME(ising_multispin_measure),
    .gather = GPUMC_ISA_NAME(ising_multispin_gather),
    .exchange = GPUMC_ISA_NAME(ising_multispin_exchange),
};

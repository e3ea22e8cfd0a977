/* One word of a lattice on a GPU: 32 sites of a row from spins stored by colour, their bonds, and
 * the flips of clusters with their names. */
#ifndef GPUMC_ISING_CLUSTER_WORD_CUH
#define GPUMC_ISING_CLUSTER_WORD_CUH

#include "core/numerics/philox.cuh"
#include "models/ising/cluster/cluster_gpu.h"

/* A replica in one sweep. `terms`: of its sample, or NULL. */
struct ising_cluster_sweep {
  const struct ising_cluster_gpu *arguments;
  const struct ising_cluster_run *run;
  const int32_t *terms;
  struct gpumc_random random;
  uint32_t replica, time;
  struct gpumc_philox_group group;
};

/* A word of the lattice: at[] of all; site: its first one. */
struct ising_cluster_spot {
  uint32_t at[ISING_CLUSTER_AXES];
  uint32_t sites, site;
};

/* Active bonds of its sites. */
struct ising_cluster_bonds {
  uint32_t axis[ISING_CLUSTER_AXES], ghost;
};

__device__ static inline struct ising_cluster_spot
ising_cluster_spot_of(const struct ising_cluster_tiling *tiling, uint32_t x, uint32_t y, uint32_t z)
{
  struct ising_cluster_spot spot = {{x, y, z}, UINT32_MAX, 0};
  if (x + 1 == tiling->size[0])
    spot.sites = ising_bits_below(ising_tiling_last(tiling));
  spot.site = x * ISING_CLUSTER_WORD + tiling->length[0] * (y + tiling->length[1] * z);
  return spot;
}

/* Returns the spot one step on along an axis. */
__device__ static inline struct ising_cluster_spot
ising_cluster_spot_after(const struct ising_cluster_tiling *tiling,
                         const struct ising_cluster_spot *spot, uint32_t axis)
{
  uint32_t at[ISING_CLUSTER_AXES];
#pragma unroll
  for (uint32_t d = 0; d < ISING_CLUSTER_AXES; d++) {
    const uint32_t next = spot->at[d] + (d == axis);
    at[d] = next < tiling->size[d] ? next : 0;
  }
  return ising_cluster_spot_of(tiling, at[0], at[1], at[2]);
}

/* ---- spins ---- */

/* Where the spins of a word are: those of its even sites, 16 bits from bit k of one colour on,
 * those of its odd ones at the same place of the other. */
struct ising_cluster_bits {
  uint32_t *even, *odd;
  uint32_t k;
};

__device__ static inline struct ising_cluster_bits
ising_cluster_bits_of(const struct ising_spin_gpu_lattice *lattice, uint32_t *replica,
                      const struct ising_cluster_spot *spot)
{
  const uint32_t words = ISING_SPIN_WORDS * lattice->blocks;
  const uint32_t odd = (spot->at[1] + spot->at[2]) & 1;
  return {replica + odd * words, replica + (1 - odd) * words,
          (spot->at[1] + lattice->height * spot->at[2]) * lattice->row + 16 * spot->at[0]};
}

/* Returns up to 16 bits from bit k on; further ones are anything. */
__device__ static inline uint32_t ising_cluster_read(const uint32_t *words, uint32_t n, uint32_t k)
{
  const uint32_t i = k / 32, shift = k % 32;
  const uint32_t high = shift > 16 && i + 1 < n ? words[i + 1] : 0;
  return __funnelshift_r(words[i], high, shift) & 0xffff;
}

__device__ static inline uint32_t ising_cluster_spins(const struct ising_spin_gpu_lattice *lattice,
                                                      uint32_t *replica,
                                                      const struct ising_cluster_spot *spot)
{
  const uint32_t n = ISING_SPIN_WORDS * lattice->blocks;
  const struct ising_cluster_bits bits = ising_cluster_bits_of(lattice, replica, spot);
  return (ising_bits_spread(ising_cluster_read(bits.even, n, bits.k)) |
          ising_bits_spread(ising_cluster_read(bits.odd, n, bits.k)) << 1) &
         spot->sites;
}

/* Flips bits from bit k on, where other threads flip others of the same word at the same time,
 * unless all begin at a multiple of 16. */
__device__ static inline void
ising_cluster_flip_bits(uint32_t *words, uint32_t k, uint32_t flips, bool aligned)
{
  const uint32_t i = k / 32, shift = k % 32;
  if (aligned) {
    ((uint16_t *)words)[k / 16] ^= (uint16_t)flips;
    return;
  }
  if (flips << shift != 0)
    atomicXor(&words[i], flips << shift);
  if (shift > 16 && flips >> (32 - shift) != 0)
    atomicXor(&words[i + 1], flips >> (32 - shift));
}

__device__ static inline void
ising_cluster_flip(const struct ising_spin_gpu_lattice *lattice, uint32_t *replica,
                   const struct ising_cluster_spot *spot, uint32_t flips)
{
  const struct ising_cluster_bits bits = ising_cluster_bits_of(lattice, replica, spot);
  const bool aligned = lattice->row % 16 == 0;
  ising_cluster_flip_bits(bits.even, bits.k, ising_bits_gather(flips), aligned);
  ising_cluster_flip_bits(bits.odd, bits.k, ising_bits_gather(flips >> 1), aligned);
}

/* ---- random numbers ---- */

template <uint32_t ROUNDS>
__device__ static inline void
ising_cluster_draw(const struct gpumc_philox_group *group, uint32_t counter, uint32_t draw,
                   uint32_t number[4])
{
  const struct gpumc_philox_word word = gpumc_philox_word(group, counter);
  const uint2 label = gpumc_philox_label(group->key, word.first, lattice_cluster_label(draw));
  gpumc_philox_draw<ROUNDS>(group, &word, label, number);
}

__device__ static inline uint32_t ising_cluster_pick(const uint32_t number[4], uint32_t i)
{
  const uint32_t low = i % 2 == 0 ? number[0] : number[1];
  const uint32_t high = i % 2 == 0 ? number[2] : number[3];
  return i < 2 ? low : high;
}

/* Returns the flips of the 32 names from that one on. */
template <uint32_t ROUNDS>
__device__ static inline uint32_t
ising_cluster_flips(const struct gpumc_philox_group *group, uint32_t name)
{
  const uint32_t word = name / 32, shift = name % 32;
  uint32_t number[4];
  ising_cluster_draw<ROUNDS>(group, word / 4, LATTICE_CLUSTER_FLIPS, number);
  const uint32_t low = ising_cluster_pick(number, word % 4);
  if (shift == 0)
    return low;
  if (word % 4 == 3)
    ising_cluster_draw<ROUNDS>(group, word / 4 + 1, LATTICE_CLUSTER_FLIPS, number);
  const uint32_t high = ising_cluster_pick(number, (word + 1) % 4);
  return __funnelshift_r(low, high, shift);
}

/* Return the bonds that their numbers make active if they are satisfied. */
template <uint32_t ROUNDS>
__device__ static inline struct ising_cluster_bonds
ising_cluster_compare_paired(const struct ising_cluster_run *run,
                             const struct gpumc_philox_group *group, uint32_t site)
{
  uint32_t x = 0, y = 0;
#pragma unroll
  for (uint32_t c = 0; c < ISING_CLUSTER_WORD / 2; c++) {
    uint32_t number[4];
    ising_cluster_draw<ROUNDS>(group, site / 2 + c, LATTICE_CLUSTER_BONDS, number);
#pragma unroll
    for (uint32_t i = 0; i < 2; i++) {
      if (number[2 * i] <= run->bond_last)
        x += 1u << (2 * c + i);
      if (number[2 * i + 1] <= run->bond_last)
        y += 1u << (2 * c + i);
    }
  }
  return {{x & run->bond_any, y & run->bond_any, 0}, 0};
}

template <uint32_t ROUNDS>
__device__ static inline struct ising_cluster_bonds
ising_cluster_compare(const struct ising_cluster_run *run, const struct gpumc_philox_group *group,
                      uint32_t site)
{
  uint32_t below[4] = {0, 0, 0, 0};
#pragma unroll 4
  for (uint32_t c = 0; c < ISING_CLUSTER_WORD; c++) {
    uint32_t number[4];
    ising_cluster_draw<ROUNDS>(group, site + c, LATTICE_CLUSTER_BONDS, number);
#pragma unroll
    for (uint32_t i = 0; i < 4; i++)
      if (number[i] <= (i == LATTICE_CLUSTER_GHOST ? run->ghost_last : run->bond_last))
        below[i] += 1u << c;
  }
  return {{below[0] & run->bond_any, below[1] & run->bond_any, below[2] & run->bond_any},
          below[3] & run->ghost_any};
}

/* ---- clusters ---- */

/* Returns the sites of word w whose clusters flip. label[32][stride]: roots; flips[words]: a bit
 * for each. All labels are read, which takes less time than to find the starts. */
template <typename LABEL>
__device__ static inline uint32_t
ising_cluster_flipped(const LABEL *label, uint32_t stride, const uint32_t *flips, uint32_t w,
                      uint32_t sites, uint32_t joined)
{
  const uint32_t starts = sites & ~joined;
  uint32_t flipped = 0;
#pragma unroll 8
  for (uint32_t bit = 0; bit < ISING_CLUSTER_WORD; bit++) {
    const uint32_t of_bit = label[bit * stride + w];
    const uint32_t root = (starts >> bit & 1) != 0 ? of_bit : ising_label_number(w, bit);
    flipped |= (flips[root / ISING_CLUSTER_WORD] >> root % ISING_CLUSTER_WORD & 1) << bit;
  }
  return ising_runs_sites(joined, flipped & starts);
}

/* ---- bonds ---- */

/* The spins of a word, and those of the next sites along each axis. */
struct ising_cluster_near {
  uint32_t here, next[ISING_CLUSTER_AXES];
};

/* Returns the next spins along x, from those of the next word. */
__device__ static inline uint32_t
ising_cluster_next_along_x(const struct ising_cluster_spot *spot, uint32_t here, uint32_t after)
{
  const uint32_t last = ising_bit_highest(spot->sites);
  return here >> 1 | (after & 1) << last;
}

/* Returns the sample of a replica of a run: couplings along each axis, then fields; NULL: none. */
__device__ static inline const int32_t *
ising_cluster_terms(const struct ising_cluster_gpu *arguments, uint32_t run, uint32_t replica)
{
  size_t sample = 0;
  if (arguments->terms == NULL)
    return NULL;
  if (arguments->samples > 1)
    sample = arguments->by_run > 0
                 ? gpumc_sample_of_run(arguments->by_run, arguments->plan_runs, run)
                 : replica;
  return arguments->terms + sample * arguments->sample_terms;
}

/* Returns the sweep of replica `replica` of run `run` at a time. */
__device__ static inline struct ising_cluster_sweep
ising_cluster_sweep_of(const struct ising_cluster_gpu *arguments, uint32_t run, uint32_t replica,
                       uint32_t time)
{
  const struct lattice_batch *batch = &arguments->replicas.batch;
  struct ising_cluster_sweep sweep;
  sweep.arguments = arguments;
  sweep.run = &arguments->rules[run].clusters;
  sweep.terms = ising_cluster_terms(arguments, run, replica);
  sweep.random = lattice_batch_random(batch, run);
  sweep.replica = lattice_batch_replica(batch, replica);
  sweep.time = time;
  sweep.group = gpumc_philox_group(sweep.random, sweep.replica, time);
  return sweep;
}

/* Returns whether a number makes a bond active: of a coupling or field in quanta that is satisfied,
 * or not. */
__device__ static inline bool ising_cluster_active(const struct ising_cluster_rule *rule,
                                                   int32_t term, bool satisfied, uint32_t number)
{
  const double x = ising_cluster_exponent(rule, (double)term * rule->quantum);
  return number < ising_cluster_threshold(satisfied ? x : -x);
}

/* Returns the active bonds of one site of a sample, bit d or LATTICE_CLUSTER_GHOST. near: of the
 * site. */
static __device__ __noinline__ uint32_t
ising_cluster_bonds_of_site(const struct ising_cluster_sweep *sweep, uint32_t site, uint32_t here,
                            uint32_t next_x, uint32_t next_y, uint32_t next_z)
{
  const struct ising_cluster_rule *rule = &sweep->run->rule;
  const size_t sites = 2 * (size_t)sweep->arguments->replicas.lattice.colour;
  const uint32_t next[ISING_CLUSTER_AXES] = {next_x, next_y, next_z};
  const uint32_t axes = sweep->arguments->tiling.axes;
  const int32_t *terms = sweep->terms + site;
  uint32_t number[4], active = 0;
  gpumc_random_draw(sweep->random, lattice_cluster_counter(rule->paired, site), sweep->replica,
                    sweep->time, lattice_cluster_label(LATTICE_CLUSTER_BONDS), number);
  const uint32_t ghost = number[LATTICE_CLUSTER_GHOST];
#pragma unroll
  for (uint32_t d = 0; d < ISING_CLUSTER_AXES; d++)
    if (d < axes) {
      const uint32_t u = ising_cluster_pick(number, lattice_cluster_word(rule->paired, site, d));
      active |= (uint32_t)ising_cluster_active(rule, terms[d * sites], here == next[d], u) << d;
    }
  if (sweep->arguments->random_fields)
    active |= (uint32_t)ising_cluster_active(rule, terms[axes * sites], here != 0, ghost)
              << LATTICE_CLUSTER_GHOST;
  else if (rule->has_field && ghost <= sweep->run->ghost_last)
    active |= ((here ^ sweep->run->down) & sweep->run->ghost_any & 1) << LATTICE_CLUSTER_GHOST;
  return active;
}

__device__ static inline struct ising_cluster_bonds
ising_cluster_bonds_by_terms(const struct ising_cluster_sweep *sweep,
                             const struct ising_cluster_spot *spot,
                             const struct ising_cluster_near *near)
{
  struct ising_cluster_bonds bonds = {{0, 0, 0}, 0};
  for (uint32_t bit = 0; bit < ISING_CLUSTER_WORD && (spot->sites >> bit & 1) != 0; bit++) {
    const uint32_t active = ising_cluster_bonds_of_site(
        sweep, spot->site + bit, near->here >> bit & 1, near->next[0] >> bit & 1,
        near->next[1] >> bit & 1, near->next[2] >> bit & 1);
#pragma unroll
    for (uint32_t d = 0; d < ISING_CLUSTER_AXES; d++)
      bonds.axis[d] |= (active >> d & 1) << bit;
    bonds.ghost |= (active >> LATTICE_CLUSTER_GHOST) << bit;
  }
  return bonds;
}

/* Returns the active bonds of a word. TERMS: couplings or fields are those of samples. */
template <uint32_t ROUNDS, bool TERMS>
__device__ static inline struct ising_cluster_bonds
ising_cluster_bind(const struct ising_cluster_sweep *sweep, const struct ising_cluster_spot *spot,
                   const struct ising_cluster_near *near)
{
  const struct ising_cluster_run *run = sweep->run;
  struct ising_cluster_bonds bonds;
  if (TERMS)
    return ising_cluster_bonds_by_terms(sweep, spot, near);
  if (run->rule.paired)
    bonds = ising_cluster_compare_paired<ROUNDS>(run, &sweep->group, spot->site);
  else
    bonds = ising_cluster_compare<ROUNDS>(run, &sweep->group, spot->site);
#pragma unroll
  for (uint32_t d = 0; d < ISING_CLUSTER_AXES; d++)
    bonds.axis[d] = d < sweep->arguments->tiling.axes
                        ? bonds.axis[d] & (near->here ^ near->next[d] ^ run->alike) & spot->sites
                        : 0;
  bonds.ghost &= run->rule.has_field ? (near->here ^ run->down) & spot->sites : 0;
  return bonds;
}

#endif

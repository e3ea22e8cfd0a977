/* The walker kernel on the CPU: the tabled walk of a group of 32 replicas.
 *
 * The situation of a site's neighbours is computed once for all 32 by logic on words; levels and
 * thresholds are vectors over the replicas. */
#include "core/numerics/simd_philox.h"
#include "models/ising/walker/walker.h"

enum { LANES = GPUMC_WALK_GROUP, VECTORS = LANES / GPUMC_VECTOR_WORDS };

/* Constants known when a walk is compiled. */
struct variant {
  uint32_t rounds, neighbours;
  bool by_spin;
};

/* Computes the bits of the number of words that have a lane set. */
GPUMC_INLINE void count_words(const struct variant as, const uint32_t *word, uint32_t bit[3])
{
  const uint32_t odd = word[0] ^ word[1] ^ word[2];
  const uint32_t pair = (word[0] & word[1]) | (word[2] & (word[0] ^ word[1]));
  if (as.neighbours == 4) {
    const uint32_t carry = odd & word[3];
    bit[0] = odd ^ word[3];
    bit[1] = pair ^ carry;
    bit[2] = pair & carry;
    return;
  }
  const uint32_t odd2 = word[3] ^ word[4] ^ word[5];
  const uint32_t pair2 = (word[3] & word[4]) | (word[5] & (word[3] ^ word[4]));
  const uint32_t carry = odd & odd2;
  bit[0] = odd ^ odd2;
  bit[1] = pair ^ pair2 ^ carry;
  bit[2] = (pair & pair2) | (carry & (pair ^ pair2));
}

GPUMC_INLINE gpumc_v32 threshold_of(const uint32_t *threshold, gpumc_v32 index)
{
#if defined(__AVX512F__)
  return (gpumc_v32)_mm512_i32gather_epi32((__m512i)index, threshold, 4);
#elif defined(__AVX2__)
  return (gpumc_v32)_mm256_i32gather_epi32((const int *)threshold, (__m256i)index, 4);
#else
  gpumc_v32 value;
  for (size_t i = 0; i < GPUMC_VECTOR_WORDS; i++)
    value[i] = threshold[index[i]];
  return value;
#endif
}

/* Handles replicas at one of the ends, which is rare. */
static void arrive(const struct ising_walker_group *group, const uint32_t base[LANES])
{
  for (uint32_t i = 0; i < LANES; i++)
    for (uint32_t side = 0; side < 2; side++)
      if (base[i] == group->end[side] && (group->lanes >> i & 1) != 0)
        group->passages[i] = gpumc_walk_arrive(group->passages[i], side);
}

/* Updates site p with a number for each replica; base: levels times the stride. */
GPUMC_INLINE void update(const struct variant as, const struct ising_walker_group *group,
                         uint32_t p, gpumc_v32 (*number)[4], size_t j, gpumc_v32 base[VECTORS])
{
  const struct ising_walk *walk = group->walk;
  const struct ising_walker_site *site = &group->site[p];
  const uint32_t spin = group->words[p], stride = walk->stride;
  uint32_t like[6], bit[3], flips = 0;
#pragma GCC unroll 6
  for (uint32_t n = 0; n < as.neighbours; n++)
    like[n] = ~(spin ^ group->words[site->neighbour[n]] ^ -(site->against >> n & 1));
  count_words(as, like, bit);
  const uint32_t every = (1u << (GPUMC_VECTOR_WORDS - 1) << 1) - 1;
#pragma GCC unroll 8
  for (size_t v = 0; v < VECTORS; v++) {
    const uint32_t shift = (uint32_t)v * GPUMC_VECTOR_WORDS % 32;
    gpumc_v32 class_ = gpumc_add_where(bit[0] >> shift & every, gpumc_broadcast(0), 1);
    class_ = gpumc_add_where(bit[1] >> shift & every, class_, 2);
    class_ = gpumc_add_where(bit[2] >> shift & every, class_, 4);
    gpumc_v32 step = (uint32_t)walk->step_base + class_ * (uint32_t)walk->step_like;
    if (as.by_spin) {
      step = gpumc_add_where(spin >> shift & every, step, (uint32_t)walk->step_up);
      class_ = gpumc_add_where(spin >> shift & every, class_, ISING_WALKER_LIKE);
    }
    const gpumc_v32 threshold = threshold_of(group->threshold, base[v] + class_);
    const gpumc_v32 accepted = (gpumc_v32)(number[v][j] < threshold);
    base[v] += accepted & (step * stride);
    flips |= (gpumc_nonzero_words(accepted) & every) << shift;
  }
  group->words[p] = spin ^ flips;
}

GPUMC_INLINE void count_visits(const struct ising_walker_group *group, const uint32_t base[LANES],
                               const uint32_t shift)
{
  uint32_t *visits = group->visits;
  if (group->lanes == UINT32_MAX)
    for (size_t i = 0; i < LANES; i++)
      visits[base[i] >> shift]++;
  else
    for (size_t i = 0; i < LANES; i++)
      visits[base[i] >> shift] += group->lanes >> i & 1;
}

GPUMC_INLINE void walk_as(const struct variant as, const struct ising_walker_group *group)
{
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_WALK, ISING_WALKER_ACCEPTANCE);
  const uint32_t first = group->number * LANES;
  gpumc_v32 base[VECTORS], replica[VECTORS];
  uint32_t labels[VECTORS], stored[LANES];
  for (size_t v = 0; v < VECTORS; v++) {
    base[v] = gpumc_load(group->base + v * GPUMC_VECTOR_WORDS);
    replica[v] = gpumc_lane_numbers() + (first + (uint32_t)v * GPUMC_VECTOR_WORDS);
    labels[v] = label;
  }
  for (uint32_t step = 0; step < group->steps; step++) {
    const uint64_t time = group->time + step;
    const struct gpumc_philox_stream stream =
        gpumc_philox_stream_make(group->random, (uint32_t)(time >> 32), (uint32_t)time);
    gpumc_v32 number[VECTORS][4];
    uint32_t sites[GPUMC_WALK_UPDATES];
    lattice_walk_sites(group->random, group->number, time, group->sites, sites);
    gpumc_philox_draws(&stream, as.rounds, VECTORS, replica, labels, number);
#pragma GCC unroll 4
    for (size_t j = 0; j < GPUMC_WALK_UPDATES; j++)
      update(as, group, sites[j], number, j, base);
    if (group->visits == NULL && group->passages == NULL)
      continue;
    for (size_t v = 0; v < VECTORS; v++)
      gpumc_store(stored + v * GPUMC_VECTOR_WORDS, base[v]);
    if (group->visits != NULL)
      count_visits(group, stored, as.by_spin ? 4 : 3);
    if (group->passages != NULL)
      arrive(group, stored);
  }
  for (size_t v = 0; v < VECTORS; v++)
    gpumc_store(group->base + v * GPUMC_VECTOR_WORDS, base[v]);
}

#define WALK(name, ...)                                                                            \
  static void name(const struct ising_walker_group *group)                                         \
  {                                                                                                \
    walk_as((struct variant){__VA_ARGS__}, group);                                                 \
  }
WALK(walk_square_7, 7, 4, false)
WALK(walk_square, 10, 4, false)
WALK(walk_cubic_7, 7, 6, false)
WALK(walk_cubic, 10, 6, false)
WALK(walk_square_spin_7, 7, 4, true)
WALK(walk_square_spin, 10, 4, true)
WALK(walk_cubic_spin_7, 7, 6, true)
WALK(walk_cubic_spin, 10, 6, true)

static void walk(const struct ising_walker_group *group)
{
  static void (*const walks[2][2][2])(const struct ising_walker_group *) = {
      {{walk_square_7, walk_square}, {walk_cubic_7, walk_cubic}},
      {{walk_square_spin_7, walk_square_spin}, {walk_cubic_spin_7, walk_cubic_spin}}};
  walks[group->walk->stride == ISING_WALKER_CLASSES][group->neighbours == 6]
       [group->random.rounds != 7](group);
}

extern const struct ising_walker_ops GPUMC_ISA_NAME(ising_walker);
const struct ising_walker_ops GPUMC_ISA_NAME(ising_walker) = {.walk = walk};

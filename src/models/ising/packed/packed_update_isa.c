/* Packed updates: those of the multispin kernel, with neighbours from the rows' arrays. */
#include "models/ising/multispin/multispin_update.h"
#include "models/ising/packed/packed_isa.h"

/* One colour of a part, on its copy. */
struct work {
  const struct ising_multispin_rule *rule;
  const struct ising_packed_rows *rows;
  struct ising_undecided undecided;
  uint32_t replica, time, first_word;
};

GPUMC_INLINE void update_as(const struct ising_variant as, const struct work *work)
{
  const struct ising_packed_rows *rows = work->rows;
  const struct gpumc_philox_stream stream =
      gpumc_philox_stream_make(work->rule->random, work->replica, work->time);
  struct ising_undecided undecided = work->undecided;
  for (size_t k = 0; k < rows->count; k += GPUMC_VECTOR_WORDS) {
    gpumc_v32 neighbour[GPUMC_NEIGHBOURS_MAXIMUM];
#pragma GCC unroll 6
    for (size_t d = 0; d < 2 * as.dimension; d++)
      neighbour[d] = gpumc_load(rows->near[d] + k);
    ising_update_vector(as, work->rule, &stream, &undecided, work->first_word, k,
                        gpumc_broadcast(0), neighbour, rows->spin, NULL);
  }
  ising_finish_words(as, work->rule, &stream, &undecided, work->first_word, rows->spin, NULL);
}

#define VARIANT(name, update, dimension, rounds)                                                   \
  static void name##_##dimension##d_r##rounds(const struct work *work)                             \
  {                                                                                                \
    const struct ising_variant as = {update, dimension, ISING_SAME_SIGNS, rounds};                 \
    update_as(as, work);                                                                           \
  }
#define VARIANTS(name, update)                                                                     \
  VARIANT(name, update, 2, 10)                                                                     \
  VARIANT(name, update, 2, 7)                                                                      \
  VARIANT(name, update, 3, 10)                                                                     \
  VARIANT(name, update, 3, 7)
VARIANTS(plain, ISING_PLAIN)
VARIANTS(metropolis, ISING_METROPOLIS)
VARIANTS(heat_bath, ISING_HEAT_BATH)

/* [enum ising_multispin_update][dimension - 2][rounds == 7] */
static void (*const variants[][2][2])(const struct work *work) = {
    [ISING_PLAIN] = {{plain_2d_r10, plain_2d_r7}, {plain_3d_r10, plain_3d_r7}},
    [ISING_METROPOLIS] = {{metropolis_2d_r10, metropolis_2d_r7},
                          {metropolis_3d_r10, metropolis_3d_r7}},
    [ISING_HEAT_BATH] = {{heat_bath_2d_r10, heat_bath_2d_r7}, {heat_bath_3d_r10, heat_bath_3d_r7}},
};

void GPUMC_ISA_NAME(ising_packed_update)(const struct ising_packed_part *part,
                                         const struct ising_multispin_rule *rule, size_t colour,
                                         uint32_t time)
{
  const struct gpumc_checkerboard *lattice = part->lattice;
  const struct ising_packed_rows rows = ising_packed_load(part, colour);
  const size_t first = colour * lattice->colour + part->first * lattice->row;
  const size_t arrays = 1 + GPUMC_NEIGHBOURS_MAXIMUM;
  struct work work = {.rule = rule,
                      .rows = &rows,
                      .replica = part->replica,
                      .time = time,
                      .first_word = (uint32_t)first};
  work.undecided.index = ising_packed_array(part, arrays);
  work.undecided.open = ising_packed_array(part, arrays + 1);
  for (size_t b = 0; b < ISING_CLASS_BITS; b++)
    work.undecided.class_bit[b] = ising_packed_array(part, arrays + 2 + b);
  variants[rule->update][lattice->dimension - 2][rule->random.rounds == 7](&work);
  memcpy(part->words + first, rows.spin, rows.count * sizeof *rows.spin);
}

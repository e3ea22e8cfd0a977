/* Updates of words of 32 replicas by one warp, wherever the words are stored.
 *
 * Eight random bits decide all but one lane in 256. The few words with an open lane are set aside
 * and finished together, so that threads with and without them do not wait for each other. */
#ifndef GPUMC_ISING_MULTISPIN_UPDATE_CUH
#define GPUMC_ISING_MULTISPIN_UPDATE_CUH

#include "core/numerics/philox.cuh"
#include "models/ising/ising_channels.h"
#include "models/ising/multispin/multispin_situation.cuh"

enum { ISING_MULTISPIN_FIRST_DRAWS = 2, ISING_MULTISPIN_DRAWS = 8 };

/* The data needed to update one colour of one group, or of KIND::GROUPS after each other. */
struct ising_multispin_colour {
  uint32_t *sites;       /* [colour] words to be updated */
  const uint32_t *other; /* [colour] their neighbours */
  const uint32_t *signs; /* of the group's couplings, if these have words */
  const uint32_t (*rows)[ISING_MULTISPIN_COLUMNS]; /* the rule */
  uint32_t keep;                                   /* all ones; none for heat bath */
  uint32_t number;                                 /* 0 or 1 */
  uint32_t first_word;                             /* of `sites`, in the counters */
  uint32_t begin, end;                             /* the words that are updated, k */
  uint32_t groups;                                 /* that are updated together */
  uint32_t stride;                                 /* words from a group to the next */
  size_t signs_stride;                             /* the same for their signs */
};

/* Returns the signs of group g; there are some even if the group is missing. */
template <class KIND>
__device__ static inline const uint32_t *
ising_multispin_signs_of(const struct ising_multispin_colour *colour, uint32_t g)
{
  if constexpr (KIND::GROUPS == 1)
    return colour->signs;
  else
    return colour->signs + (g < colour->groups ? g : 0) * colour->signs_stride;
}

/* Words that wait are stored with the bits of their classes; a count of neighbours is
 * recomputed. */
template <class KIND> constexpr int ising_multispin_notes = KIND::PLAIN ? KIND::CLASS_BITS : 1;

template <class KIND>
using ising_multispin_queue = struct gpumc_open_words<ising_multispin_notes<KIND>>;

template <class KIND>
__device__ static inline void
ising_multispin_random_bits(const struct ising_multispin_replicas *lattice,
                            const struct gpumc_philox_group *random,
                            const struct gpumc_philox_word *word, uint32_t draw,
                            uint32_t u[ISING_MULTISPIN_DRAW_BITS])
{
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, draw);
  const uint2 of_label = gpumc_philox_label(random->key, word->first, label);
  if constexpr (KIND::ROUNDS == ISING_MULTISPIN_EITHER)
    gpumc_philox_draw_either(random, word, of_label, lattice->batch.rounds, u);
  else
    gpumc_philox_draw<KIND::ROUNDS>(random, word, of_label, u);
}

/* Updates the words k .. k + WIDTH - 1 of each group; open ones go to the queue (gpumc_open_push).
 * random: of the groups. */
template <class KIND>
__device__ static inline uint32_t
ising_multispin_update_words(const struct ising_multispin_replicas *lattice,
                             const struct gpumc_philox_group *random,
                             const struct ising_multispin_colour *colour, uint32_t k,
                             ising_multispin_place_of<KIND> place,
                             ising_multispin_queue<KIND> *queue)
{
  constexpr int NOTES = ising_multispin_notes<KIND>;
  struct ising_multispin_neighbours<KIND> near[KIND::GROUPS];
  uint32_t spin[KIND::WORDS], open[KIND::WORDS], note[KIND::WORDS][NOTES];
#pragma unroll
  for (int g = 0; g < KIND::GROUPS; g++) {
    const uint32_t first = (uint32_t)g * colour->stride;
    ising_multispin_load<KIND::WIDTH>(colour->sites + first + k, spin + g * KIND::WIDTH);
    ising_multispin_load_neighbours<KIND>(lattice, colour->other + first,
                                          ising_multispin_signs_of<KIND>(colour, (uint32_t)g),
                                          colour->number, k, place, &near[g]);
  }
#pragma unroll
  for (int j = 0; j < KIND::WORDS; j++) {
    const int g = j / KIND::WIDTH, of_group = j % KIND::WIDTH;
    const struct ising_multispin_situation<KIND> at =
        ising_multispin_situation_of<KIND>(&near[g], colour->rows, colour->keep, spin[j], of_group);
    const struct gpumc_philox_word word =
        gpumc_philox_word(&random[g], colour->first_word + k + (uint32_t)of_group);
    uint32_t less = 0, equal = at.need;
#pragma unroll
    for (int draw = ISING_MULTISPIN_FIRST_DRAWS - 1; draw >= 0; draw--) {
      uint32_t u[ISING_MULTISPIN_DRAW_BITS];
      ising_multispin_random_bits<KIND>(lattice, &random[g], &word, (uint32_t)draw, u);
      if (draw == 0)
        ising_multispin_compare_draw<KIND, KIND::ZEROS>(colour->rows, at.class_bit, 0, u, &less,
                                                        &equal);
      else
        ising_multispin_compare_draw<KIND, 0>(colour->rows, at.class_bit, (uint32_t)draw, u, &less,
                                              &equal);
    }
    spin[j] = ising_multispin_decided<KIND>(spin[j], colour->keep, less, at.need);
    open[j] = equal;
#pragma unroll
    for (int i = 0; i < NOTES; i++)
      note[j][i] = KIND::PLAIN ? at.class_bit[i] : 0;
  }
#pragma unroll
  for (int g = 0; g < KIND::GROUPS; g++)
    ising_multispin_store<KIND::WIDTH>(colour->sites + (uint32_t)g * colour->stride + k,
                                       spin + g * KIND::WIDTH);
  static_assert(KIND::WIDTH == 1 || KIND::GROUPS == 1, "one step from word to word");
  const uint32_t step = KIND::GROUPS > 1 ? colour->stride : 1;
  return gpumc_open_push<KIND::WORDS, NOTES>(queue, k - colour->begin, step, 0, open, note);
}

/* Finds the classes of the open lanes of a word, whose neighbours have not changed; plain: as
 * noted. */
template <class KIND>
__device__ static inline void
ising_multispin_open_classes(const struct ising_multispin_replicas *lattice,
                             const struct ising_multispin_colour *colour, uint32_t k,
                             const uint32_t *note, uint32_t class_bit[KIND::CLASS_BITS])
{
  if constexpr (KIND::PLAIN) {
#pragma unroll
    for (int b = 0; b < KIND::CLASS_BITS; b++)
      class_bit[b] = note[b];
  } else {
    static_assert(KIND::GROUPS == 1, "a count of neighbours is recomputed in one group");
    typedef struct ising_multispin_kind<1, KIND::DIMENSION, KIND::SIGNS, false, KIND::EACH,
                                        KIND::ROUNDS, 0, KIND::PACKED>
        single;
    struct ising_multispin_neighbours<single> near;
    ising_multispin_load_neighbours<single>(
        lattice, colour->other, colour->signs, colour->number, k,
        ising_multispin_place<single>(lattice, colour->number, k), &near);
    const struct ising_multispin_situation<single> at = ising_multispin_situation_of<single>(
        &near, colour->rows, colour->keep, colour->sites[k], 0);
#pragma unroll
    for (int b = 0; b < KIND::CLASS_BITS; b++)
      class_bit[b] = at.class_bit[b];
  }
}

/* Takes the next draw for an open word; it goes back to the queue if that does not decide it. */
template <class KIND>
__device__ static inline void
ising_multispin_continue(const struct ising_multispin_replicas *lattice,
                         const struct gpumc_philox_group *random,
                         const struct ising_multispin_colour *colour,
                         const struct gpumc_open_word<ising_multispin_notes<KIND>> *open,
                         ising_multispin_queue<KIND> *queue)
{
  const uint32_t at = open->place + colour->begin, draw = ISING_MULTISPIN_FIRST_DRAWS + open->done;
  struct gpumc_philox_group of_word = random[0];
  uint32_t k = at;
#pragma unroll
  for (int g = 1; g < KIND::GROUPS; g++)
    if (at >= (uint32_t)g * colour->stride) {
      of_word = random[g];
      k = at - (uint32_t)g * colour->stride;
    }
  uint32_t class_bit[KIND::CLASS_BITS];
  ising_multispin_open_classes<KIND>(lattice, colour, k, open->note, class_bit);
  const struct gpumc_philox_word word = gpumc_philox_word(&of_word, colour->first_word + k);
  uint32_t u[ISING_MULTISPIN_DRAW_BITS], less = 0, equal = open->open;
  ising_multispin_random_bits<KIND>(lattice, &of_word, &word, draw, u);
  ising_multispin_compare_draw<KIND, 0>(colour->rows, class_bit, draw, u, &less, &equal);
  uint32_t flips = less & open->open;
  if (equal != 0 && draw + 1 < ISING_MULTISPIN_DRAWS)
    gpumc_open_push<1, ising_multispin_notes<KIND>>(queue, open->place, 0, open->done + 1, &equal,
                                                    &open->note);
  else
    flips |= equal & ising_multispin_select<KIND>(colour->rows, ISING_MULTISPIN_ALWAYS, class_bit);
  if (open->open != 0)
    colour->sites[at] ^= flips;
}

/* Words that a thread continues at once: two, whose latencies overlap, where registers suffice. */
template <class KIND> constexpr int ising_multispin_at_once = KIND::PLAIN ? 2 : 1;

/* Continues words of the queue, N per thread, as long as there are `least`. */
template <class KIND, int N>
__device__ static inline void
ising_multispin_finish_words(const struct ising_multispin_replicas *lattice,
                             const struct gpumc_philox_group *random,
                             const struct ising_multispin_colour *colour, uint32_t least,
                             ising_multispin_queue<KIND> *queue)
{
  constexpr int NOTES = ising_multispin_notes<KIND>;
#pragma unroll 1
  for (uint32_t count; (count = gpumc_open_count<NOTES>(queue)) >= least;) {
    struct gpumc_open_word<NOTES> open[N];
    gpumc_open_pop<N, NOTES>(queue, count, open);
#pragma unroll
    for (int j = 0; j < N; j++)
      ising_multispin_continue<KIND>(lattice, random, colour, &open[j], queue);
  }
}

/* Updates the share of one of `threads` threads, this one being number `thread`; whole warps.
 * `regular`: a step leads to a word with the same place. */
template <class KIND>
__device__ static inline void
ising_multispin_update_colour(const struct ising_multispin_replicas *lattice,
                              const struct gpumc_philox_group *random,
                              const struct ising_multispin_colour *colour, uint32_t thread,
                              uint32_t threads, bool regular, ising_multispin_queue<KIND> *queue)
{
  constexpr uint32_t WIDTH = KIND::WIDTH, FULL = GPUMC_OPEN_CAPACITY - 32 * KIND::WORDS;
  constexpr uint32_t AT_ONCE = ising_multispin_at_once<KIND>;
  const uint32_t ahead = thread % 32 * WIDTH; /* of the warp's first thread */
  uint32_t k = colour->begin + thread * WIDTH;
  ising_multispin_place_of<KIND> place;
  if (!KIND::PAIRS)
    place = ising_multispin_place<KIND>(lattice, colour->number, k);
#pragma unroll 1
  for (; k - ahead < colour->end; k += threads * WIDTH) {
    uint32_t waiting = 0;
    if (KIND::PAIRS ? k < colour->end : !regular)
      place = ising_multispin_place<KIND>(lattice, colour->number, k);
    if (k < colour->end)
      waiting = ising_multispin_update_words<KIND>(lattice, random, colour, k, place, queue);
    if (__any_sync(UINT32_MAX, waiting > FULL))
      ising_multispin_finish_words<KIND, AT_ONCE>(lattice, random, colour, 32 * AT_ONCE, queue);
  }
  if constexpr (AT_ONCE > 1)
    ising_multispin_finish_words<KIND, AT_ONCE>(lattice, random, colour, 33, queue);
  ising_multispin_finish_words<KIND, 1>(lattice, random, colour, 1, queue);
}

/* Returns the bytes for open words of `threads` threads, whatever the rule. */
static inline size_t
ising_multispin_queue_bytes(const struct ising_multispin_replicas *replicas, uint32_t threads)
{
  return threads / 32 *
         (replicas->dimension == 3 ? sizeof(struct gpumc_open_words<2>)
                                   : sizeof(struct gpumc_open_words<1>));
}

/* Computes the masks of run m, with all threads of the block. */
__device__ static inline void
ising_multispin_expand(const struct ising_multispin_device_rule *rule, uint32_t m,
                       uint32_t rows[ISING_MULTISPIN_ROWS][ISING_MULTISPIN_COLUMNS])
{
  for (uint32_t i = threadIdx.x; i < ISING_MULTISPIN_ROWS * ISING_MULTISPIN_COLUMNS;
       i += blockDim.x)
    rows[i / ISING_MULTISPIN_COLUMNS][i % ISING_MULTISPIN_COLUMNS] =
        ising_multispin_mask(&rule->physics, &rule->thresholds[m], i / ISING_MULTISPIN_COLUMNS,
                             i % ISING_MULTISPIN_COLUMNS);
}

/* Returns the masks of run m. Those of a KIND whose runs have rules of their own are computed by
 * all threads of the block, which have to be synchronised before they read them. */
template <class KIND>
__device__ static inline auto
ising_multispin_rows(const struct ising_multispin_device_rule *rule, uint32_t m) -> const
    uint32_t (*)[ISING_MULTISPIN_COLUMNS]
{
  if constexpr (KIND::EACH) {
    __shared__ uint4 memory[ISING_MULTISPIN_ROWS][ISING_MULTISPIN_COLUMNS / 4];
    uint32_t(*own)[ISING_MULTISPIN_COLUMNS] = (uint32_t(*)[ISING_MULTISPIN_COLUMNS])memory;
    ising_multispin_expand(rule, m, own);
    return own;
  } else {
    return rule->rows;
  }
}

/* A single temperature for all runs has separate code where speed matters most: masks come with the
 * launch, and, in fours, fewer thresholds are examined. */
template <class LAUNCH, int WIDTH, int ROUNDS>
static enum gpumc_status
ising_multispin_together(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  if constexpr (WIDTH == ISING_MULTISPIN_VECTOR) {
    if (sweep->rule.zeros >= 4)
      return LAUNCH::template launch<
          struct ising_multispin_kind<WIDTH, 2, false, true, false, ROUNDS, 4>>(sweep, error);
    if (sweep->rule.zeros >= 2)
      return LAUNCH::template launch<
          struct ising_multispin_kind<WIDTH, 2, false, true, false, ROUNDS, 2>>(sweep, error);
  }
  return LAUNCH::template launch<
      struct ising_multispin_kind<WIDTH, 2, false, true, false, ROUNDS, 0>>(sweep, error);
}

template <class LAUNCH, int WIDTH, int DIMENSION, bool SIGNS, bool PLAIN, int ROUNDS, bool PAIRS,
          int GROUPS>
static enum gpumc_status
ising_multispin_of_rounds(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  if constexpr (DIMENSION == 2 && !SIGNS && PLAIN)
    if (!sweep->rule.each)
      return ising_multispin_together<LAUNCH, WIDTH, ROUNDS>(sweep, error);
  return LAUNCH::template launch<struct ising_multispin_kind<WIDTH, DIMENSION, SIGNS, PLAIN, true,
                                                             ROUNDS, 0, false, PAIRS, GROUPS>>(
      sweep, error);
}

/* LAUNCH::EITHER: whether sweeps in a field or by heat bath have the same code for 7 and 10 rounds
 * of Philox. Code of their own is worth 3 to 10 % in multispin, 28 % on cubes, where more registers
 * spill; in packed it is 1 to 2 % slower (docs/experiments.md#compile-time-and-kinds). */
template <class LAUNCH, int WIDTH, int DIMENSION, bool SIGNS, bool PLAIN, bool PAIRS = false,
          int GROUPS = 1>
static enum gpumc_status
ising_multispin_by_rounds(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  if constexpr (LAUNCH::EITHER && !PLAIN)
    return ising_multispin_of_rounds<LAUNCH, WIDTH, DIMENSION, SIGNS, PLAIN, ISING_MULTISPIN_EITHER,
                                     PAIRS, GROUPS>(sweep, error);
  else if (sweep->replicas.batch.rounds == 7)
    return ising_multispin_of_rounds<LAUNCH, WIDTH, DIMENSION, SIGNS, PLAIN, 7, PAIRS, GROUPS>(
        sweep, error);
  else
    return ising_multispin_of_rounds<LAUNCH, WIDTH, DIMENSION, SIGNS, PLAIN, 10, PAIRS, GROUPS>(
        sweep, error);
}

template <class LAUNCH, int WIDTH, int DIMENSION, bool SIGNS, bool PAIRS = false>
static enum gpumc_status
ising_multispin_by_rule(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  return sweep->rule.physics.plain
             ? ising_multispin_by_rounds<LAUNCH, WIDTH, DIMENSION, SIGNS, true, PAIRS>(sweep, error)
             : ising_multispin_by_rounds<LAUNCH, WIDTH, DIMENSION, SIGNS, false, PAIRS>(sweep,
                                                                                        error);
}

template <class LAUNCH, int WIDTH, int DIMENSION, bool PAIRS = false>
static enum gpumc_status
ising_multispin_by_signs(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  return sweep->disorder.signs != NULL
             ? ising_multispin_by_rule<LAUNCH, WIDTH, DIMENSION, true, PAIRS>(sweep, error)
             : ising_multispin_by_rule<LAUNCH, WIDTH, DIMENSION, false, PAIRS>(sweep, error);
}

/* Calls LAUNCH::launch<KIND>(sweep, error) for the kind of the sweep; !`each` only for uniform
 * square lattices. */
template <class LAUNCH, int DIMENSION>
static enum gpumc_status
ising_multispin_dispatch(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  switch (sweep->spread.width) {
  case ISING_MULTISPIN_VECTOR:
    return ising_multispin_by_signs<LAUNCH, ISING_MULTISPIN_VECTOR, DIMENSION>(sweep, error);
  case 2:
    return ising_multispin_by_signs<LAUNCH, 2, DIMENSION>(sweep, error);
  default:
    return ising_multispin_by_signs<LAUNCH, 1, DIMENSION>(sweep, error);
  }
}

#endif

/* Metropolis updates of words of 32 replicas by one warp, wherever the words stand.
 *
 * Eight random bits decide all but one lane in 256. The few words that hold an open lane are put
 * aside and finished together, so that threads with and without them do not wait for each other. */
#ifndef GPUMC_ISING_MULTISPIN_UPDATE_CUH
#define GPUMC_ISING_MULTISPIN_UPDATE_CUH

#include "models/ising/ising_batch.cuh"
#include "models/ising/ising_multispin_cuda.h"
#include "models/lattice/bit_serial.cuh"
#include "models/lattice/philox.cuh"

enum {
  ISING_MULTISPIN_CLASS_BITS = 3,
  ISING_MULTISPIN_FIRST_DRAWS = 2,
  ISING_MULTISPIN_DRAWS = 8,
  ISING_MULTISPIN_DRAW_BITS = 4
};

/* What the update of one colour of one group needs; the rule is apart. */
struct ising_multispin_colour {
  uint32_t *sites;       /* [colour] words to be updated */
  const uint32_t *other; /* [colour] their neighbours */
  uint32_t number;       /* 0 or 1 */
  uint32_t first_word;   /* of `sites`, in the counters */
  uint32_t begin, end;   /* the words that are updated, k */
};

/* What the neighbours say of each lane. plain: bit 0 of the class is "no bond unsatisfied". */
struct ising_multispin_situation {
  uint32_t class_bit[ISING_MULTISPIN_CLASS_BITS];
  uint32_t need; /* lanes that need a comparison */
};

/* Neighbours of WIDTH words in a row: above, below, of the same index, and at the side. */
template <int WIDTH> struct ising_multispin_neighbours {
  uint32_t above[WIDTH], below[WIDTH], same[WIDTH], side[WIDTH];
};

template <int WIDTH>
__device__ static inline void ising_multispin_load(const uint32_t *from, uint32_t word[WIDTH])
{
  if constexpr (WIDTH == ISING_MULTISPIN_VECTOR) {
    const uint4 vector = *(const uint4 *)from;
    word[0] = vector.x;
    word[1] = vector.y;
    word[2] = vector.z;
    word[3] = vector.w;
  } else {
    word[0] = *from;
  }
}

template <int WIDTH>
__device__ static inline void ising_multispin_store(uint32_t *to, const uint32_t *word)
{
  if constexpr (WIDTH == ISING_MULTISPIN_VECTOR)
    *(uint4 *)to = make_uint4(word[0], word[1], word[2], word[3]);
  else
    *to = word[0];
}

/* Where words find their neighbours at the side: the word before or the one after, and from the
 * first word the place of what lies beyond the WIDTH words themselves. */
struct ising_multispin_side {
  bool back;
  int32_t beyond;
};

/* Of the words k .. k + WIDTH - 1 of a colour (lattice/checkerboard.h). */
template <int WIDTH>
__device__ static inline struct ising_multispin_side
ising_multispin_side(const struct ising_multispin_replicas *lattice, uint32_t colour, uint32_t k)
{
  const uint32_t row = lattice->row.value, y = gpumc_divide(k, lattice->row), x = k - y * row;
  const bool back = ((y + colour) & 1) == 0;
  const int32_t around = x == (back ? 0 : row - WIDTH) ? (int32_t)row : 0;
  const struct ising_multispin_side side = {back, back ? around - 1 : WIDTH - around};
  return side;
}

template <int WIDTH>
__device__ static inline void
ising_multispin_load_neighbours(const struct ising_multispin_replicas *lattice,
                                const uint32_t *other, uint32_t k, struct ising_multispin_side side,
                                struct ising_multispin_neighbours<WIDTH> *neighbours)
{
  const int32_t row = (int32_t)lattice->row.value, around = (int32_t)lattice->colour - row;
  const uint32_t *at = other + k;
  const uint32_t beyond = at[side.beyond];
  ising_multispin_load<WIDTH>(at + (k < (uint32_t)row ? around : -row), neighbours->above);
  ising_multispin_load<WIDTH>(at + (k >= (uint32_t)around ? -around : row), neighbours->below);
  ising_multispin_load<WIDTH>(at, neighbours->same);
#pragma unroll
  for (int j = 0; j < WIDTH; j++) {
    const uint32_t before = j == 0 ? beyond : neighbours->same[(j + WIDTH - 1) % WIDTH];
    const uint32_t after = j == WIDTH - 1 ? beyond : neighbours->same[(j + 1) % WIDTH];
    neighbours->side[j] = side.back ? before : after;
  }
}

/* value[class], classes numbered by three bits. */
__device__ static inline uint32_t ising_multispin_select(const uint32_t *value, const uint32_t *bit)
{
  const uint32_t low = gpumc_select(bit[0], value[1], value[0]);
  const uint32_t high = gpumc_select(bit[0], value[3], value[2]);
  return gpumc_select(bit[2], value[4], gpumc_select(bit[1], high, low));
}

template <bool PLAIN>
__device__ static inline struct ising_multispin_situation
ising_multispin_situation(const struct ising_multispin_device_rule *rule, uint32_t spin, uint32_t a,
                          uint32_t b, uint32_t c, uint32_t d)
{
  struct ising_multispin_situation at;
  if (PLAIN) {
    enum { A = GPUMC_LOP3_A, B = GPUMC_LOP3_B, C = GPUMC_LOP3_C };
    const uint32_t both1 = gpumc_lop3<~(A ^ C) & ~(B ^ C)>(a, b, spin);
    const uint32_t both2 = gpumc_lop3<~(A ^ C) & ~(B ^ C)>(c, d, spin);
    const uint32_t any1 = gpumc_lop3<~(A ^ C) | ~(B ^ C)>(a, b, spin);
    const uint32_t any2 = gpumc_lop3<~(A ^ C) | ~(B ^ C)>(c, d, spin);
    at.class_bit[0] = both1 & both2;
    at.class_bit[1] = at.class_bit[2] = 0;
    at.need = gpumc_lop3<(A & B) | C>(any1, both2, both1 & any2);
  } else {
    const uint32_t sum = a ^ b ^ c, pair = (a & b) | (a & c) | (b & c), carry = sum & d;
    at.class_bit[0] = sum ^ d;
    at.class_bit[1] = pair ^ carry;
    at.class_bit[2] = pair & carry;
    at.need = ~(spin ^ ising_multispin_select(rule->spin_up, at.class_bit));
  }
  return at;
}

/* Go on with the four bits u of `draw`. The first ZEROS of them (0, 2 or 4) meet thresholds that
 * are 0 there for all classes: then only zeros keep what was. */
template <bool PLAIN, int ZEROS>
__device__ static inline void
ising_multispin_compare_draw(const struct ising_multispin_device_rule *rule,
                             const struct ising_multispin_situation *at, uint32_t draw,
                             const uint32_t u[ISING_MULTISPIN_DRAW_BITS], uint32_t *less,
                             uint32_t *equal)
{
#pragma unroll
  for (int p = ISING_MULTISPIN_DRAW_BITS - 1; p >= ZEROS; p--) {
    const uint32_t *bit = rule->bit[draw * ISING_MULTISPIN_DRAW_BITS + (uint32_t)p];
    const uint32_t threshold = PLAIN ? gpumc_select(at->class_bit[0], bit[1], bit[0])
                                     : ising_multispin_select(bit, at->class_bit);
    gpumc_compare_bit(u[p], threshold, less, equal);
  }
#pragma unroll
  for (int p = 0; p < ZEROS; p += 2) {
    enum { BEFORE = GPUMC_LOP3_A, U0 = GPUMC_LOP3_B, U1 = GPUMC_LOP3_C };
    *less = gpumc_lop3<BEFORE & ~U0 & ~U1>(*less, u[p], u[p + 1]);
    *equal = gpumc_lop3<BEFORE & ~U0 & ~U1>(*equal, u[p], u[p + 1]);
  }
}

template <int ROUNDS>
__device__ static inline void
ising_multispin_random_bits(const struct gpumc_philox_group *random,
                            const struct gpumc_philox_word *word, uint32_t draw,
                            uint32_t u[ISING_MULTISPIN_DRAW_BITS])
{
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, draw);
  gpumc_philox_draw<ROUNDS>(random, word, gpumc_philox_label(random->key, word->first, label), u);
}

/* Update the words k .. k + WIDTH - 1; what stays open goes to the queue. */
template <int WIDTH, bool PLAIN, int ROUNDS, int ZEROS>
__device__ static inline void
ising_multispin_update_words(const struct ising_multispin_replicas *lattice,
                             const struct ising_multispin_device_rule *rule,
                             const struct gpumc_philox_group *random,
                             const struct ising_multispin_colour *colour, uint32_t k,
                             struct ising_multispin_side side, struct gpumc_open_words *queue)
{
  struct ising_multispin_neighbours<WIDTH> near;
  uint32_t spin[WIDTH], open[WIDTH], note[WIDTH];
  ising_multispin_load<WIDTH>(colour->sites + k, spin);
  ising_multispin_load_neighbours<WIDTH>(lattice, colour->other, k, side, &near);
#pragma unroll
  for (int j = 0; j < WIDTH; j++) {
    const struct ising_multispin_situation at = ising_multispin_situation<PLAIN>(
        rule, spin[j], near.above[j], near.below[j], near.same[j], near.side[j]);
    const struct gpumc_philox_word word =
        gpumc_philox_word(random, colour->first_word + k + (uint32_t)j);
    uint32_t less = 0, equal = at.need;
#pragma unroll
    for (int draw = ISING_MULTISPIN_FIRST_DRAWS - 1; draw >= 0; draw--) {
      uint32_t u[ISING_MULTISPIN_DRAW_BITS];
      ising_multispin_random_bits<ROUNDS>(random, &word, (uint32_t)draw, u);
      if (draw == 0)
        ising_multispin_compare_draw<PLAIN, ZEROS>(rule, &at, 0, u, &less, &equal);
      else
        ising_multispin_compare_draw<PLAIN, 0>(rule, &at, (uint32_t)draw, u, &less, &equal);
    }
    spin[j] ^= less | ~at.need;
    open[j] = equal;
    note[j] = PLAIN ? at.class_bit[0] : 0;
  }
  ising_multispin_store<WIDTH>(colour->sites + k, spin);
  gpumc_open_push<WIDTH>(queue, k - colour->begin, 0, open, note);
}

/* The situation of the open lanes of a word, whose neighbours and open spins are what they were;
 * plain: as noted. */
template <bool PLAIN>
__device__ static inline struct ising_multispin_situation
ising_multispin_open_situation(const struct ising_multispin_sweep *sweep,
                               const struct ising_multispin_colour *colour, uint32_t k,
                               const struct gpumc_open_word *open)
{
  if (PLAIN) {
    const struct ising_multispin_situation at = {{open->note, 0, 0}, open->open};
    return at;
  }
  struct ising_multispin_neighbours<1> near;
  ising_multispin_load_neighbours<1>(&sweep->replicas, colour->other, k,
                                     ising_multispin_side<1>(&sweep->replicas, colour->number, k),
                                     &near);
  return ising_multispin_situation<false>(&sweep->rule, colour->sites[k], near.above[0],
                                          near.below[0], near.same[0], near.side[0]);
}

/* Finish the words of the queue. */
template <bool PLAIN, int ROUNDS>
__device__ static inline void
ising_multispin_finish_words(const struct ising_multispin_sweep *sweep,
                             const struct gpumc_philox_group *random,
                             const struct ising_multispin_colour *colour,
                             struct gpumc_open_words *queue)
{
  struct gpumc_open_word open;
  while (gpumc_open_pop(queue, &open)) {
    if (open.open == 0)
      continue;
    const uint32_t k = open.place + colour->begin, draw = ISING_MULTISPIN_FIRST_DRAWS + open.done;
    const struct ising_multispin_situation at =
        ising_multispin_open_situation<PLAIN>(sweep, colour, k, &open);
    const struct gpumc_philox_word word = gpumc_philox_word(random, colour->first_word + k);
    uint32_t u[ISING_MULTISPIN_DRAW_BITS], less = 0, equal = open.open;
    ising_multispin_random_bits<ROUNDS>(random, &word, draw, u);
    ising_multispin_compare_draw<PLAIN, 0>(&sweep->rule, &at, draw, u, &less, &equal);
    uint32_t flips = less & open.open;
    if (equal != 0 && draw + 1 < ISING_MULTISPIN_DRAWS)
      gpumc_open_push<1>(queue, open.place, open.done + 1, &equal, &open.note);
    else
      flips |= equal & ising_multispin_select(sweep->rule.always, at.class_bit);
    colour->sites[k] ^= flips;
  }
}

/* The share of one of `threads` threads, of which this is number `thread`; whole warps. */
template <int WIDTH, bool PLAIN, int ROUNDS, int ZEROS>
__device__ static inline void
ising_multispin_update_colour(const struct ising_multispin_sweep *sweep,
                              const struct gpumc_philox_group *random,
                              const struct ising_multispin_colour *colour, uint32_t thread,
                              uint32_t threads, struct gpumc_open_words *queue)
{
  const struct ising_multispin_replicas *lattice = &sweep->replicas;
  const uint32_t ahead = thread % 32 * WIDTH; /* of the warp's first thread */
  uint32_t k = colour->begin + thread * WIDTH;
  struct ising_multispin_side side = ising_multispin_side<WIDTH>(lattice, colour->number, k);
#pragma unroll 1
  for (; k - ahead < colour->end; k += threads * WIDTH) {
    if (gpumc_open_count(queue) > GPUMC_OPEN_CAPACITY - 32 * WIDTH)
      ising_multispin_finish_words<PLAIN, ROUNDS>(sweep, random, colour, queue);
    if (!sweep->spread.regular)
      side = ising_multispin_side<WIDTH>(lattice, colour->number, k);
    if (k < colour->end)
      ising_multispin_update_words<WIDTH, PLAIN, ROUNDS, ZEROS>(lattice, &sweep->rule, random,
                                                                colour, k, side, queue);
  }
  ising_multispin_finish_words<PLAIN, ROUNDS>(sweep, random, colour, queue);
}

#endif

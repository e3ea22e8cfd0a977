/* The multispin kernel of Ising spins: sweeps of one group of 32 replicas. Included by the *_isa.c
 * sources that compile it for one kind of update each.
 *
 * The group is copied to a working copy with a halo before and after each colour, and stays there
 * for all sweeps. Eight random bits decide all but one lane in 256: the few words with such a lane
 * are set aside and finished together, in full vectors. A lane set aside stays as it is
 * (Metropolis) or is down (heat bath) until its bits say otherwise: in both cases one XOR.
 *
 * If fields are random, spins and neighbours are seen relative to the field's sign. */
#ifndef GPUMC_ISING_MULTISPIN_UPDATE_H
#define GPUMC_ISING_MULTISPIN_UPDATE_H

#include "core/numerics/simd_philox.h"
#include "models/ising/multispin/multispin_isa.h"
#include "models/lattice/checkerboard_simd.h"
#include "models/lattice/vertical_counter.h"

enum { ISING_FIRST_DRAWS = 2, ISING_DRAWS = GPUMC_BIT_PLANES / GPUMC_PLANES_A_DRAW };

/* Constants known when a sweep is compiled. */
struct ising_variant {
  enum ising_multispin_update update;
  size_t dimension;
  enum ising_signs signs;
  uint32_t rounds;
};

/* The situation of each lane given its neighbours. Bits of the class: those of its number, except
 * for plain in two dimensions, where bit 0 is "no bond unsatisfied". */
struct ising_situation {
  gpumc_v32 class_bit[ISING_CLASS_BITS];
  gpumc_v32 need; /* lanes that need a comparison */
};

GPUMC_INLINE size_t ising_class_bits(const struct ising_variant as)
{
  return as.update == ISING_PLAIN ? as.dimension - 1 : ISING_CLASS_BITS;
}

/* value[class] */
GPUMC_INLINE gpumc_v32 ising_select(const struct ising_variant as,
                                    const uint32_t value[ISING_CLASSES_MAXIMUM],
                                    const gpumc_v32 bit[ISING_CLASS_BITS])
{
  if (as.update == ISING_PLAIN && as.dimension == 2)
    return gpumc_select(bit[0], gpumc_broadcast(value[0]), gpumc_broadcast(value[1]));
  gpumc_v32 low = gpumc_select(bit[0], gpumc_broadcast(value[1]), gpumc_broadcast(value[0]));
  if (as.update == ISING_PLAIN)
    return gpumc_select(bit[1], gpumc_broadcast(value[2]), low);
  low = gpumc_select(
      bit[1], gpumc_select(bit[0], gpumc_broadcast(value[3]), gpumc_broadcast(value[2])), low);
  gpumc_v32 high = gpumc_broadcast(value[4]);
  if (as.dimension == 3)
    high = gpumc_select(bit[1], gpumc_broadcast(value[6]),
                        gpumc_select(bit[0], gpumc_broadcast(value[5]), high));
  return gpumc_select(bit[2], high, low);
}

/* Counts in bit[] how many of the four or six words have a lane set. */
GPUMC_INLINE void
ising_count(const struct ising_variant as, const gpumc_v32 *word, gpumc_v32 bit[ISING_CLASS_BITS])
{
  gpumc_v32 odd = gpumc_xor3(word[0], word[1], word[2]);
  gpumc_v32 pair = gpumc_majority(word[0], word[1], word[2]);
  if (as.dimension == 2) {
    gpumc_v32 carry = odd & word[3];
    bit[0] = odd ^ word[3];
    bit[1] = pair ^ carry;
    bit[2] = pair & carry;
  } else {
    gpumc_v32 odd2 = gpumc_xor3(word[3], word[4], word[5]);
    gpumc_v32 pair2 = gpumc_majority(word[3], word[4], word[5]);
    gpumc_v32 carry = odd & odd2;
    bit[0] = odd ^ odd2;
    bit[1] = gpumc_xor3(pair, pair2, carry);
    bit[2] = gpumc_majority(pair, pair2, carry);
  }
}

GPUMC_INLINE struct ising_situation
ising_situation_plain(const struct ising_variant as, const struct ising_multispin_rule *rule,
                      gpumc_v32 spin, const gpumc_v32 *neighbour)
{
  const gpumc_v32 satisfied_by = spin ^ ~rule->like;
  gpumc_v32 unsatisfied[GPUMC_NEIGHBOURS_MAXIMUM], many;
  struct ising_situation at;
#pragma GCC unroll 6
  for (size_t i = 0; i < 2 * as.dimension; i++)
    unsatisfied[i] = satisfied_by ^ neighbour[i];
  if (as.dimension == 2) {
    const gpumc_v32 *u = unsatisfied;
    gpumc_v32 any3 = u[0] | u[1] | u[2];
    many = gpumc_majority(u[0], u[1], u[2]) | (u[3] & any3);
    at.class_bit[0] = ~(any3 | u[3]);
    at.class_bit[1] = at.class_bit[2] = gpumc_broadcast(0);
  } else {
    ising_count(as, unsatisfied, at.class_bit);
    many = at.class_bit[2] | (at.class_bit[1] & at.class_bit[0]);
  }
  at.need = ~many & ising_select(as, rule->thresholds.need, at.class_bit);
  return at;
}

GPUMC_INLINE struct ising_situation ising_situation(const struct ising_variant as,
                                                    const struct ising_multispin_rule *rule,
                                                    gpumc_v32 spin, const gpumc_v32 *neighbour)
{
  if (as.update == ISING_PLAIN)
    return ising_situation_plain(as, rule, spin, neighbour);
  struct ising_situation at;
  ising_count(as, neighbour, at.class_bit);
  at.need = ising_select(as, rule->thresholds.need, at.class_bit);
  if (as.update == ISING_METROPOLIS)
    at.need &= ~(spin ^ ising_select(as, rule->spin_up, at.class_bit));
  return at;
}

#if !defined(__AVX512F__)
/* ising_compare() for two thresholds, each plane of which is the same in all lanes. */
GPUMC_INLINE void ising_compare_both(const struct ising_multispin_rule *rule, gpumc_v32 first_class,
                                     const gpumc_v32 *u, size_t first, const size_t planes,
                                     gpumc_v32 *less, gpumc_v32 *equal)
{
  gpumc_v32 not_less[2], same[2];
#pragma GCC unroll 2
  for (size_t c = 0; c < 2; c++)
    not_less[c] = same[c] = gpumc_broadcast(UINT32_MAX);
#pragma GCC unroll 8
  for (size_t p = planes; p-- > 0;)
#pragma GCC unroll 2
    for (size_t c = 0; c < 2; c++)
      if (rule->thresholds.bit[first + p][c] != 0) {
        not_less[c] &= u[p];
        same[c] &= u[p];
      } else {
        not_less[c] |= u[p];
        same[c] &= ~u[p];
      }
  *less = ~gpumc_select(first_class, not_less[0], not_less[1]);
  *equal = gpumc_select(first_class, same[0], same[1]);
}
#endif

/* Finds lanes with u < T, and those still undecided, after `planes` bits u[], the first of which
 * has the number `first`. */
GPUMC_INLINE void
ising_compare(const struct ising_variant as, const struct ising_multispin_rule *rule,
              const gpumc_v32 class_bit[ISING_CLASS_BITS], const gpumc_v32 *u, size_t first,
              const size_t planes, gpumc_v32 *less, gpumc_v32 *equal)
{
#if !defined(__AVX512F__)
  if (as.update == ISING_PLAIN && as.dimension == 2) {
    ising_compare_both(rule, class_bit[0], u, first, planes, less, equal);
    return;
  }
#endif
  *less = gpumc_broadcast(0);
  *equal = gpumc_broadcast(UINT32_MAX);
#pragma GCC unroll 8
  for (size_t p = planes; p-- > 0;)
    gpumc_compare_bit(u[p], ising_select(as, rule->thresholds.bit[first + p], class_bit), less,
                      equal);
}

/* Appends the words with an open lane. */
GPUMC_INLINE void ising_set_aside(const struct ising_variant as, struct ising_undecided *undecided,
                                  gpumc_v32 index, gpumc_v32 open,
                                  const gpumc_v32 class_bit[ISING_CLASS_BITS])
{
  const size_t at = undecided->count;
  uint32_t words = gpumc_nonzero_words(open);
  gpumc_compression keep = gpumc_compression_of(words);
  gpumc_compress(undecided->index + at, keep, index);
  gpumc_compress(undecided->open + at, keep, open);
  for (size_t b = 0; b < ising_class_bits(as); b++)
    gpumc_compress(undecided->class_bit[b] + at, keep, class_bit[b]);
  undecided->count = at + (size_t)__builtin_popcount(words);
}

/* Unsatisfied bonds of the sites of a part, counted while they are updated: those of one colour are
 * all bonds. */
struct ising_bonds {
  struct gpumc_vertical_counter counter;
  size_t planes;
  uint32_t end; /* sites from here on do not count */
};

/* Updated sites had n unsatisfied bonds, and have 6 - n where `flips` is set. */
GPUMC_INLINE void ising_count_bonds(struct ising_bonds *bonds, gpumc_v32 index, gpumc_v32 flips,
                                    const gpumc_v32 n[ISING_CLASS_BITS])
{
  const gpumc_v32 inside = (gpumc_v32)(index < gpumc_broadcast(bonds->end));
  gpumc_v32 *plane = bonds->counter.plane;
  const gpumc_v32 ones = inside & n[0];
  gpumc_v32 carry = plane[0] & ones;
  plane[0] ^= ones;
  carry = gpumc_full_add(&plane[1], inside & (n[1] ^ (flips & ~n[0])), carry);
  carry = gpumc_full_add(&plane[2], inside & (n[2] ^ (flips & ~(n[0] & n[1]))), carry);
  gpumc_counter_add(&bonds->counter, 3, bonds->planes, carry);
}

/* Sites that had been counted with n < 3 and are flipped after all add 2 (3 - n) more. */
GPUMC_INLINE void ising_count_late_bonds(struct ising_bonds *bonds, gpumc_v32 index,
                                         gpumc_v32 flips, const gpumc_v32 n[ISING_CLASS_BITS])
{
  flips &= (gpumc_v32)(index < gpumc_broadcast(bonds->end));
  gpumc_counter_add(&bonds->counter, 1, bonds->planes, flips & ~n[0]);
  gpumc_counter_add(&bonds->counter, 2, bonds->planes, flips & ~n[1]);
}

/* Compares the four bits of `draw` for all words set aside, flips accepted lanes, keeps open
 * ones. */
GPUMC_INLINE void
ising_finish_draw(const struct ising_variant as, const struct ising_multispin_rule *rule,
                  const struct gpumc_philox_stream *stream, struct ising_undecided *undecided,
                  uint32_t first_word, uint32_t draw, uint32_t *sites, struct ising_bonds *bonds)
{
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, draw);
  const size_t count = undecided->count;
  gpumc_store(undecided->index + count, gpumc_broadcast(0));
  gpumc_store(undecided->open + count, gpumc_broadcast(0));
  undecided->count = 0;
  for (size_t i = 0; i < count; i += GPUMC_VECTOR_WORDS) {
    gpumc_v32 u[GPUMC_PLANES_A_DRAW], class_bit[ISING_CLASS_BITS], less, equal;
    gpumc_v32 index = gpumc_load(undecided->index + i);
    gpumc_v32 open = gpumc_load(undecided->open + i);
    for (size_t b = 0; b < ising_class_bits(as); b++)
      class_bit[b] = gpumc_load(undecided->class_bit[b] + i);
    gpumc_philox_draw(stream, as.rounds, index + first_word, label, u);
    ising_compare(as, rule, class_bit, u, draw * GPUMC_PLANES_A_DRAW, GPUMC_PLANES_A_DRAW, &less,
                  &equal);
    gpumc_v32 flips = open & less;
    for (size_t lane = 0; lane < GPUMC_VECTOR_WORDS; lane++)
      sites[index[lane]] ^= flips[lane];
    if (bonds != NULL)
      ising_count_late_bonds(bonds, index, flips, class_bit);
    ising_set_aside(as, undecided, index, open & equal, class_bit);
  }
}

/* Converts neighbours to how the bonds and the field's sign show them; returns the latter. `signs`:
 * of the vector's first site. */
GPUMC_INLINE gpumc_v32 ising_apply_signs(const struct ising_variant as, const uint32_t *signs,
                                         gpumc_v32 *neighbour)
{
  const size_t neighbours = 2 * as.dimension;
  gpumc_v32 field = gpumc_broadcast(0);
  if (as.signs == ISING_FIELD_SIGNS)
    field = gpumc_load(signs + neighbours * GPUMC_EDGE_SITES);
#pragma GCC unroll 6
  for (size_t i = 0; i < neighbours; i++)
    neighbour[i] = gpumc_xor3(neighbour[i], field, gpumc_load(signs + i * GPUMC_EDGE_SITES));
  return field;
}

/* Vectors of words that are updated together: four vectors of counters, as one or two would wait
 * for their products. */
enum { ISING_VECTORS = 2 };

/* Updates `n` (a constant) vectors of words from k on, whose neighbours are known; words with an
 * open lane are set aside. `sign`: of the field, 0 if all have the same. `first_word`: that of
 * sites[0] in the counters. `bonds`: NULL if not wanted; as in ising_multispin_counts_bonds(). */
GPUMC_INLINE void ising_update_vectors(const struct ising_variant as, const size_t n,
                                       const struct ising_multispin_rule *rule,
                                       const struct gpumc_philox_stream *stream,
                                       struct ising_undecided *undecided, uint32_t first_word,
                                       size_t k, const gpumc_v32 *sign,
                                       const gpumc_v32 (*neighbour)[GPUMC_NEIGHBOURS_MAXIMUM],
                                       uint32_t *sites, struct ising_bonds *bonds)
{
  enum { MOST = ISING_VECTORS * ISING_FIRST_DRAWS };
  gpumc_v32 u[MOST][GPUMC_PLANES_A_DRAW], word[MOST], index[ISING_VECTORS];
  uint32_t label[MOST];
#pragma GCC unroll 4
  for (size_t v = 0; v < n; v++) {
    index[v] = gpumc_lane_numbers() + (uint32_t)(k + v * GPUMC_VECTOR_WORDS);
#pragma GCC unroll 4
    for (uint32_t draw = 0; draw < ISING_FIRST_DRAWS; draw++) {
      word[v * ISING_FIRST_DRAWS + draw] = index[v] + first_word;
      label[v * ISING_FIRST_DRAWS + draw] = gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, draw);
    }
  }
  gpumc_philox_draws(stream, as.rounds, n * ISING_FIRST_DRAWS, word, label, u);
#pragma GCC unroll 4
  for (size_t v = 0; v < n; v++) {
    gpumc_v32 less, equal, spin = gpumc_load(sites + k + v * GPUMC_VECTOR_WORDS);
    struct ising_situation at = ising_situation(as, rule, spin ^ sign[v], neighbour[v]);
    ising_compare(as, rule, at.class_bit, u[v * ISING_FIRST_DRAWS], 0,
                  ISING_FIRST_DRAWS * GPUMC_PLANES_A_DRAW, &less, &equal);
    gpumc_store(sites + k + v * GPUMC_VECTOR_WORDS,
                (as.update == ISING_HEAT_BATH ? sign[v] : spin) ^ (less | ~at.need));
    ising_set_aside(as, undecided, index[v], equal & at.need, at.class_bit);
    if (bonds != NULL)
      ising_count_bonds(bonds, index[v], less | ~at.need, at.class_bit);
  }
}

GPUMC_INLINE void
ising_finish_words(const struct ising_variant as, const struct ising_multispin_rule *rule,
                   const struct gpumc_philox_stream *stream, struct ising_undecided *undecided,
                   uint32_t first_word, uint32_t *sites, struct ising_bonds *bonds)
{
  for (uint32_t draw = ISING_FIRST_DRAWS; draw < ISING_DRAWS && undecided->count > 0; draw++)
    ising_finish_draw(as, rule, stream, undecided, first_word, draw, sites, bonds);
}

/* Updates `n` vectors of sites of a colour from k on. */
GPUMC_INLINE void
ising_update_at(const struct ising_variant as, const size_t n, const struct ising_sweep *sweep,
                const struct gpumc_philox_stream *stream, struct ising_undecided *undecided,
                size_t colour, size_t k, struct ising_bonds *bonds)
{
  const struct gpumc_checkerboard *lattice = &sweep->instance->lattice;
  const struct gpumc_checkerboard_edges *edges = sweep->instance->edges[colour];
  const size_t slots = ising_multispin_slots(as.dimension, as.signs);
  gpumc_v32 neighbour[ISING_VECTORS][GPUMC_NEIGHBOURS_MAXIMUM], sign[ISING_VECTORS];
#pragma GCC unroll 4
  for (size_t v = 0; v < n; v++) {
    const size_t at = k + v * GPUMC_VECTOR_WORDS;
    gpumc_checkerboard_neighbours(lattice, as.dimension, edges, sweep->sites[1 - colour], at,
                                  neighbour[v]);
    sign[v] = gpumc_broadcast(0);
    if (as.signs != ISING_SAME_SIGNS)
      sign[v] =
          ising_apply_signs(as, sweep->signs[colour] + ising_sign_word(at, slots), neighbour[v]);
  }
  ising_update_vectors(as, n, sweep->rule, stream, undecided, (uint32_t)(colour * lattice->colour),
                       k, sign, neighbour, sweep->sites[colour], bonds);
}

/* Updates the sites k0 <= k < end of a colour; k0 is a multiple of the vector length. */
GPUMC_INLINE void ising_update_part(const struct ising_variant as, const struct ising_sweep *sweep,
                                    const struct gpumc_philox_stream *stream, size_t colour,
                                    size_t k0, size_t end, struct ising_bonds *bonds)
{
  const uint32_t first_word = (uint32_t)(colour * sweep->instance->lattice.colour);
  struct ising_undecided undecided = sweep->undecided;
  size_t k = k0;
  for (; k + GPUMC_VECTOR_WORDS < end; k += ISING_VECTORS * GPUMC_VECTOR_WORDS)
    ising_update_at(as, ISING_VECTORS, sweep, stream, &undecided, colour, k, bonds);
  if (k < end)
    ising_update_at(as, 1, sweep, stream, &undecided, colour, k, bonds);
  ising_finish_words(as, sweep->rule, stream, &undecided, first_word, sweep->sites[colour], bonds);
}

static inline size_t ising_part_end(const struct gpumc_checkerboard *lattice, size_t k0)
{
  return k0 + ISING_PART < lattice->colour ? k0 + ISING_PART : lattice->colour;
}

/* The same, counting the bonds that it leaves unsatisfied. */
GPUMC_INLINE void ising_update_and_count(const struct ising_variant as,
                                         const struct ising_sweep *sweep,
                                         const struct gpumc_philox_stream *stream, size_t colour,
                                         size_t k0, size_t end)
{
  /* Words that are set aside are then counted there: at most once per draw. */
  const size_t vectors = (end - k0 + GPUMC_VECTOR_WORDS - 1) / GPUMC_VECTOR_WORDS;
  const size_t most = vectors * (1 + ISING_DRAWS - ISING_FIRST_DRAWS);
  const size_t planes = gpumc_counter_planes(GPUMC_NEIGHBOURS_MAXIMUM * most);
  struct ising_bonds bonds;
  bonds.planes = planes;
  bonds.end = (uint32_t)end;
  gpumc_counter_clear(&bonds.counter, planes);
  ising_update_part(as, sweep, stream, colour, k0, end, &bonds);
  gpumc_counter_flush(&bonds.counter, planes, sweep->unsatisfied);
}

/* A copy of the rule, which no store of spins can change, is kept in registers. */
GPUMC_INLINE void ising_sweep_as(const struct ising_variant as, const struct ising_sweep *given)
{
  const struct ising_multispin_rule rule = *given->rule;
  const struct gpumc_checkerboard *lattice = &given->instance->lattice;
  struct ising_sweep sweep = *given;
  sweep.rule = &rule;
  for (uint32_t s = 0; s < sweep.sweeps; s++) {
    const struct gpumc_philox_stream stream =
        gpumc_philox_stream_make(rule.random, sweep.group, sweep.time + s);
    for (size_t colour = 0; colour < 2; colour++) {
      const bool counts = as.update == ISING_PLAIN && as.dimension == 3 && colour == 1 &&
                          sweep.unsatisfied != NULL && s + 1 == sweep.sweeps;
      for (size_t k = 0; k < lattice->colour; k += ISING_PART)
        if (counts)
          ising_update_and_count(as, &sweep, &stream, colour, k, ising_part_end(lattice, k));
        else
          ising_update_part(as, &sweep, &stream, colour, k, ising_part_end(lattice, k), NULL);
      gpumc_checkerboard_wrap(lattice, sweep.sites[colour], sizeof(uint32_t));
    }
  }
}

/* NAME_2d_sSIGNS_rROUNDS, one variant; SIGNS is the number of an enum ising_signs. */
#define ISING_VARIANT(name, update, dimension, signs, rounds)                                      \
  static void name##_##dimension##d_s##signs##_r##rounds(const struct ising_sweep *sweep)          \
  {                                                                                                \
    const struct ising_variant as = {update, dimension, signs, rounds};                            \
    ising_sweep_as(as, sweep);                                                                     \
  }
#define ISING_VARIANTS_OF_SIGNS(name, update, signs)                                               \
  ISING_VARIANT(name, update, 2, signs, 10)                                                        \
  ISING_VARIANT(name, update, 2, signs, 7)                                                         \
  ISING_VARIANT(name, update, 3, signs, 10)                                                        \
  ISING_VARIANT(name, update, 3, signs, 7)
#define ISING_TABLE_OF_SIGNS(name, signs)                                                          \
  {                                                                                                \
    {name##_2d_s##signs##_r10, name##_2d_s##signs##_r7},                                           \
    {                                                                                              \
      name##_3d_s##signs##_r10, name##_3d_s##signs##_r7                                            \
    }                                                                                              \
  }

#endif

/* The multispin kernel of the Ising model: sweeps of one group of 32 replicas.
 *
 * The group is copied to a working copy with a row before and after each colour, so that all
 * neighbours are contiguous loads for any even Lx, and stays there for all sweeps. Eight random
 * bits decide all but one lane in 256: the few words that hold one are set aside and finished
 * together, in full vectors. */
#include "core/simd_philox.h"
#include "models/ising/ising_multispin.h"
#include "models/lattice/checkerboard_simd.h"

enum { CLASS_BITS = 3, FIRST_DRAWS = 2, DRAWS = GPUMC_BIT_PLANES / GPUMC_PLANES_A_DRAW };

/* The words that hold undecided lanes: index within the colour, lanes, bits of the class. */
struct undecided {
  uint32_t *index, *open, *class_bit[CLASS_BITS];
  size_t count;
};

struct workspace {
  uint32_t *sites[2];
  uint32_t *side;
  struct undecided undecided;
};

/* What the neighbours say of each lane. plain: bit 0 of the class is "no bond unsatisfied". */
struct situation {
  gpumc_v32 class_bit[CLASS_BITS];
  gpumc_v32 need; /* lanes that need a comparison */
};

static struct workspace workspace_of(const struct gpumc_checkerboard *lattice, uint32_t *scratch)
{
  struct workspace work;
  const size_t extent = gpumc_checkerboard_extent(lattice);
  const size_t part = gpumc_checkerboard_part(lattice);
  work.sites[0] = scratch + gpumc_checkerboard_lead(lattice);
  work.sites[1] = work.sites[0] + extent;
  work.side = scratch + 2 * extent;
  work.undecided.index = work.side + part;
  work.undecided.open = work.side + 2 * part;
  for (size_t b = 0; b < CLASS_BITS; b++)
    work.undecided.class_bit[b] = work.side + (3 + b) * part;
  work.undecided.count = 0;
  return work;
}

/* value[class], classes numbered by three bits. */
GPUMC_INLINE gpumc_v32 select_class(const uint32_t value[ISING_CLASSES],
                                    const gpumc_v32 bit[CLASS_BITS])
{
  gpumc_v32 low = gpumc_select(bit[0], gpumc_broadcast(value[1]), gpumc_broadcast(value[0]));
  gpumc_v32 high = gpumc_select(bit[0], gpumc_broadcast(value[3]), gpumc_broadcast(value[2]));
  return gpumc_select(bit[2], gpumc_broadcast(value[4]), gpumc_select(bit[1], high, low));
}

GPUMC_INLINE struct situation situation_plain(const struct ising_multispin_rule *rule,
                                              gpumc_v32 spin, const gpumc_v32 neighbour[4])
{
  const uint32_t *need = rule->thresholds.need;
  gpumc_v32 satisfied_by = spin ^ ~rule->like;
  gpumc_v32 a = satisfied_by ^ neighbour[0], b = satisfied_by ^ neighbour[1];
  gpumc_v32 c = satisfied_by ^ neighbour[2], d = satisfied_by ^ neighbour[3];
  gpumc_v32 any3 = a | b | c;
  gpumc_v32 two = gpumc_majority(a, b, c) | (d & any3);
  gpumc_v32 none = ~(any3 | d);
  struct situation at;
  at.class_bit[0] = none;
  at.class_bit[1] = at.class_bit[2] = gpumc_broadcast(0);
  at.need = ~two & gpumc_select(none, gpumc_broadcast(need[1]), gpumc_broadcast(need[0]));
  return at;
}

GPUMC_INLINE struct situation situation_field(const struct ising_multispin_rule *rule,
                                              gpumc_v32 spin, const gpumc_v32 neighbour[4])
{
  struct situation at;
  gpumc_v32 sum = gpumc_xor3(neighbour[0], neighbour[1], neighbour[2]);
  gpumc_v32 pair = gpumc_majority(neighbour[0], neighbour[1], neighbour[2]);
  gpumc_v32 carry = sum & neighbour[3];
  at.class_bit[0] = sum ^ neighbour[3];
  at.class_bit[1] = pair ^ carry;
  at.class_bit[2] = pair & carry;
  at.need = select_class(rule->thresholds.need, at.class_bit) &
            ~(spin ^ select_class(rule->spin_up, at.class_bit));
  return at;
}

/* Lanes with u < T, and those still undecided, after `planes` bits u[] of which the first has the
 * number `first`. */
GPUMC_INLINE void compare(const struct ising_multispin_rule *rule, const bool plain,
                          const gpumc_v32 class_bit[CLASS_BITS], const gpumc_v32 *u, size_t first,
                          const size_t planes, gpumc_v32 *less, gpumc_v32 *equal)
{
  *less = gpumc_broadcast(0);
  *equal = gpumc_broadcast(UINT32_MAX);
#pragma GCC unroll 8
  for (size_t p = planes; p-- > 0;) {
    const uint32_t *bit = rule->thresholds.bit[first + p];
    gpumc_v32 threshold =
        plain ? gpumc_select(class_bit[0], gpumc_broadcast(bit[1]), gpumc_broadcast(bit[0]))
              : select_class(bit, class_bit);
    gpumc_compare_bit(u[p], threshold, less, equal);
  }
}

/* Append the words with an open lane. */
GPUMC_INLINE void set_aside(struct undecided *undecided, const bool plain, gpumc_v32 index,
                            gpumc_v32 open, const gpumc_v32 class_bit[CLASS_BITS])
{
  const size_t at = undecided->count;
  uint32_t words = gpumc_nonzero_words(open);
  gpumc_compression keep = gpumc_compression_of(words);
  gpumc_compress(undecided->index + at, keep, index);
  gpumc_compress(undecided->open + at, keep, open);
  for (size_t b = 0; b < (plain ? 1 : CLASS_BITS); b++)
    gpumc_compress(undecided->class_bit[b] + at, keep, class_bit[b]);
  undecided->count = at + (size_t)__builtin_popcount(words);
}

/* Compare the four bits of `draw` for all words set aside, flip what is accepted, keep what is
 * open. */
GPUMC_INLINE void finish_draw(const struct ising_multispin_rule *rule, const bool plain,
                              const uint32_t rounds, const struct gpumc_philox_stream *stream,
                              struct undecided *undecided, uint32_t first_word, uint32_t draw,
                              uint32_t *sites)
{
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, draw);
  const size_t count = undecided->count;
  gpumc_store(undecided->index + count, gpumc_broadcast(0));
  gpumc_store(undecided->open + count, gpumc_broadcast(0));
  undecided->count = 0;
  for (size_t i = 0; i < count; i += GPUMC_VECTOR_WORDS) {
    gpumc_v32 u[GPUMC_PLANES_A_DRAW], class_bit[CLASS_BITS], less, equal;
    gpumc_v32 index = gpumc_load(undecided->index + i);
    gpumc_v32 open = gpumc_load(undecided->open + i);
    for (size_t b = 0; b < (plain ? 1 : CLASS_BITS); b++)
      class_bit[b] = gpumc_load(undecided->class_bit[b] + i);
    gpumc_philox_draw(stream, rounds, index + first_word, label, u);
    compare(rule, plain, class_bit, u, draw * GPUMC_PLANES_A_DRAW, GPUMC_PLANES_A_DRAW, &less,
            &equal);
    gpumc_v32 flips = open & less;
    for (size_t lane = 0; lane < GPUMC_VECTOR_WORDS; lane++)
      sites[index[lane]] ^= flips[lane];
    set_aside(undecided, plain, index, open & equal, class_bit);
  }
}

/* Update the sites k0 <= k < k0 + n of a colour; k0 is a multiple of the vector length. */
GPUMC_INLINE void update_part(const struct ising_multispin_rule *rule, const bool plain,
                              const uint32_t rounds, const struct gpumc_philox_stream *stream,
                              const struct workspace *work, size_t colour, size_t k0, size_t n)
{
  const size_t row = rule->lattice.row;
  const uint32_t first_word = (uint32_t)(colour * rule->lattice.colour);
  const uint32_t *other = work->sites[1 - colour];
  uint32_t *sites = work->sites[colour];
  struct undecided undecided = work->undecided;
  const uint32_t label[FIRST_DRAWS] = {gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, 0),
                                       gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, 1)};
  for (size_t i = 0; i < n; i += GPUMC_VECTOR_WORDS) {
    const size_t k = k0 + i;
    gpumc_v32 u[FIRST_DRAWS][GPUMC_PLANES_A_DRAW], less, equal;
    gpumc_v32 spin = gpumc_load(sites + k);
    const gpumc_v32 neighbour[4] = {gpumc_load(other + k - row), gpumc_load(other + k + row),
                                    gpumc_load(other + k), gpumc_load(work->side + i)};
    struct situation at =
        plain ? situation_plain(rule, spin, neighbour) : situation_field(rule, spin, neighbour);
    gpumc_v32 index = gpumc_lane_numbers() + (uint32_t)k;
    const gpumc_v32 word[FIRST_DRAWS] = {index + first_word, index + first_word};
    gpumc_philox_draws(stream, rounds, FIRST_DRAWS, word, label, u);
    compare(rule, plain, at.class_bit, u[0], 0, FIRST_DRAWS * GPUMC_PLANES_A_DRAW, &less, &equal);
    gpumc_store(sites + k, spin ^ (less | ~at.need));
    set_aside(&undecided, plain, index, equal & at.need, at.class_bit);
  }
  for (uint32_t draw = FIRST_DRAWS; draw < DRAWS && undecided.count > 0; draw++)
    finish_draw(rule, plain, rounds, stream, &undecided, first_word, draw, sites);
}

GPUMC_INLINE void update_colour(const struct ising_multispin_rule *rule, const bool plain,
                                const uint32_t rounds, const struct gpumc_philox_stream *stream,
                                const struct workspace *work, size_t colour)
{
  const struct gpumc_checkerboard *lattice = &rule->lattice;
  for (size_t y = 0; y < lattice->length_y; y += lattice->part_rows) {
    size_t rows = lattice->length_y - y;
    rows = rows < lattice->part_rows ? rows : lattice->part_rows;
    gpumc_checkerboard_side(lattice, work->sites[1 - colour], colour, y, rows, work->side,
                            sizeof(uint32_t));
    update_part(rule, plain, rounds, stream, work, colour, y * lattice->row, rows * lattice->row);
  }
  gpumc_checkerboard_wrap(lattice, work->sites[colour], sizeof(uint32_t));
}

GPUMC_INLINE void sweep_with(const struct ising_multispin_rule *rule, const bool plain,
                             const uint32_t rounds, const struct workspace *work, uint32_t group,
                             uint32_t time, uint32_t sweeps)
{
  for (uint32_t s = 0; s < sweeps; s++) {
    struct gpumc_philox_stream stream = gpumc_philox_stream_make(rule->random, group, time + s);
    for (size_t colour = 0; colour < 2; colour++)
      update_colour(rule, plain, rounds, &stream, work, colour);
  }
}

static void sweep_plain_10(const struct ising_multispin_rule *rule, const struct workspace *work,
                           uint32_t group, uint32_t time, uint32_t sweeps)
{
  sweep_with(rule, true, 10, work, group, time, sweeps);
}

static void sweep_plain_7(const struct ising_multispin_rule *rule, const struct workspace *work,
                          uint32_t group, uint32_t time, uint32_t sweeps)
{
  sweep_with(rule, true, 7, work, group, time, sweeps);
}

static void sweep_field_10(const struct ising_multispin_rule *rule, const struct workspace *work,
                           uint32_t group, uint32_t time, uint32_t sweeps)
{
  sweep_with(rule, false, 10, work, group, time, sweeps);
}

static void sweep_field_7(const struct ising_multispin_rule *rule, const struct workspace *work,
                          uint32_t group, uint32_t time, uint32_t sweeps)
{
  sweep_with(rule, false, 7, work, group, time, sweeps);
}

static void sweep(const struct ising_multispin_rule *rule, uint32_t *words, uint32_t group,
                  uint32_t time, uint32_t sweeps, uint32_t *scratch)
{
  const struct gpumc_checkerboard *lattice = &rule->lattice;
  const struct workspace work = workspace_of(lattice, scratch);
  for (size_t colour = 0; colour < 2; colour++) {
    memcpy(work.sites[colour], words + colour * lattice->colour, lattice->colour * sizeof *words);
    gpumc_checkerboard_wrap(lattice, work.sites[colour], sizeof(uint32_t));
  }
  if (rule->random.rounds == 7)
    (rule->plain ? sweep_plain_7 : sweep_field_7)(rule, &work, group, time, sweeps);
  else
    (rule->plain ? sweep_plain_10 : sweep_field_10)(rule, &work, group, time, sweeps);
  for (size_t colour = 0; colour < 2; colour++)
    memcpy(words + colour * lattice->colour, work.sites[colour], lattice->colour * sizeof *words);
}

/* In ising_measure_isa.c. */
void GPUMC_ISA_NAME(ising_multispin_measure)(const struct gpumc_checkerboard *lattice,
                                             const uint32_t *words, uint32_t *scratch,
                                             struct ising_multispin_sums *sums);
void GPUMC_ISA_NAME(ising_multispin_gather)(uint32_t *words, const uint32_t *old, size_t n,
                                            const struct ising_multispin_copy *copies,
                                            size_t n_copies);

extern const struct ising_multispin_ops GPUMC_ISA_NAME(ising_multispin);
const struct ising_multispin_ops GPUMC_ISA_NAME(ising_multispin) = {
    .sweep = sweep,
    .measure = GPUMC_ISA_NAME(ising_multispin_measure),
    .gather = GPUMC_ISA_NAME(ising_multispin_gather),
};

/* The loops around heisenberg_rules.h on the CPU, in one precision: included by
 * heisenberg_double_isa.c and heisenberg_float_isa.c, which set HEISENBERG_PRECISION, and
 * HEISENBERG_SHARED_COUNTERS where two sites share a counter.
 *
 * A colour is processed in chunks of sites: random words, then the sums of neighbours, then the
 * rule in one or more loops over the chunk without branches, which the compiler vectorises. A rule
 * is divided if that makes chains of operations short enough for a processor to keep several
 * vectors in flight. Rejected proposals are gathered and drawn again together. */
#include "core/numerics/simd_philox.h"
#include "models/heisenberg/heisenberg_isa.h"

#define REAL HEISENBERG_PRECISION
#define VECTOR struct HEISENBERG_NAME(heisenberg_vector)
#define OPS HEISENBERG_NAME(heisenberg_ops)

enum {
  CHUNK = 256,                                         /* sites; a multiple of SHARED */
  SHARED = 32,                                         /* sites that share 16 counters */
  LANES = SHARED / 2,                                  /* these counters */
  VECTORS = LANES / GPUMC_VECTOR_WORDS,                /* that hold them */
  GROUP = HEISENBERG_SHARED_COUNTERS ? SHARED : LANES, /* sites that have them */
  /* Groups drawn together, so that there are two vectors or more: a single one waits for its
   * products. */
  TOGETHER = VECTORS == 1 ? 2 : 1,
};

/* ---- random words ---- */

struct words {
  uint32_t a[CHUNK], b[CHUNK], c[CHUNK], d[CHUNK];
};

GPUMC_INLINE size_t whole_lanes(size_t n)
{
  return (n + LANES - 1) / LANES * LANES;
}

/* One colour of a replica in one sweep. */
struct half_sweep {
  const struct heisenberg_sweep *of;
  struct gpumc_philox_stream stream;
  uint32_t colour, time, purpose;
  REAL coupling, field; /* of the move: J and h, times beta unless it is over-relaxation */
  REAL reach;
};

/* Draws the words of `groups` (a constant) groups of sites from k on, to words->a[at] and so on. */
GPUMC_INLINE void draw_groups(const struct half_sweep *half, const uint32_t rounds,
                              const uint32_t groups, uint32_t k, struct words *words, size_t at)
{
  const uint32_t label = gpumc_random_label(half->purpose, heisenberg_draw(half->colour, 0));
  const uint32_t first = HEISENBERG_SHARED_COUNTERS ? heisenberg_shared_counter(k) : k;
  gpumc_v32 site[TOGETHER * VECTORS], word[TOGETHER * VECTORS][4];
  uint32_t labels[TOGETHER * VECTORS];
#pragma GCC unroll 8
  for (uint32_t v = 0; v < groups * VECTORS; v++) {
    site[v] = gpumc_lane_numbers() + (first + v * GPUMC_VECTOR_WORDS);
    labels[v] = label;
  }
  gpumc_philox_draws(&half->stream, rounds, groups * VECTORS, site, labels, word);
#pragma GCC unroll 8
  for (size_t v = 0; v < groups * VECTORS; v++) {
    const size_t to = at + v / VECTORS * GROUP + v % VECTORS * GPUMC_VECTOR_WORDS;
    gpumc_store(words->a + to, word[v][0]);
    gpumc_store(words->b + to, word[v][1]);
    gpumc_store(HEISENBERG_SHARED_COUNTERS ? words->a + to + LANES : words->c + to, word[v][2]);
    gpumc_store(HEISENBERG_SHARED_COUNTERS ? words->b + to + LANES : words->d + to, word[v][3]);
  }
}

/* Draws the words of n sites from k on, up to the next multiple of SHARED. */
GPUMC_INLINE void fill_words(const struct half_sweep *half, const uint32_t rounds, size_t k,
                             size_t n, struct words *words)
{
  size_t i = 0;
  for (; i + (TOGETHER - 1) * GROUP < n; i += TOGETHER * GROUP)
    draw_groups(half, rounds, TOGETHER, (uint32_t)(k + i), words, i);
  if (i < n)
    draw_groups(half, rounds, 1, (uint32_t)(k + i), words, i);
}

static void draw_words(const struct half_sweep *half, size_t k, size_t n, struct words *words)
{
  if (half->of->random.rounds == 7)
    fill_words(half, 7, k, n, words);
  else
    fill_words(half, 10, k, n, words);
}

/* Draws the words of n sites k[n] in a later attempt, up to the next multiple of LANES. */
GPUMC_INLINE void fill_listed(const struct half_sweep *half, const uint32_t rounds,
                              uint32_t attempt, const uint32_t *k, size_t n, struct words *words)
{
  const uint32_t label = gpumc_random_label(half->purpose, heisenberg_draw(half->colour, attempt));
  const size_t whole = whole_lanes(n);
  uint32_t counter[CHUNK];
  for (size_t i = 0; i < whole; i++)
    counter[i] = HEISENBERG_SHARED_COUNTERS ? heisenberg_shared_counter(k[i]) : k[i];
  for (size_t i = 0; i < whole; i += GPUMC_VECTOR_WORDS) {
    gpumc_v32 word[4];
    gpumc_philox_draw(&half->stream, rounds, gpumc_load(counter + i), label, word);
    gpumc_store(words->a + i, word[0]);
    gpumc_store(words->b + i, word[1]);
    gpumc_store(words->c + i, word[2]);
    gpumc_store(words->d + i, word[3]);
  }
  for (size_t i = 0; HEISENBERG_SHARED_COUNTERS && i < whole; i++) {
    const bool upper = heisenberg_shared_half(k[i]) != 0;
    words->a[i] = upper ? words->c[i] : words->a[i];
    words->b[i] = upper ? words->d[i] : words->b[i];
  }
}

static void draw_listed(const struct half_sweep *half, uint32_t attempt, const uint32_t *k,
                        size_t n, struct words *words)
{
  if (half->of->random.rounds == 7)
    fill_listed(half, 7, attempt, k, n, words);
  else
    fill_listed(half, 10, attempt, k, n, words);
}

GPUMC_INLINE struct heisenberg_words words_of(const struct words *words, size_t i)
{
  return HEISENBERG_SHARED_COUNTERS
             ? (struct heisenberg_words){words->a[i], words->b[i], 0, 0}
             : (struct heisenberg_words){words->a[i], words->b[i], words->c[i], words->d[i]};
}

/* ---- sums of neighbours ---- */

#include "models/heisenberg/heisenberg_neighbours.h"
#include "models/heisenberg/heisenberg_spins.h"
#include "models/heisenberg/quenched/quenched_loops.h"

/* Returns a colour of a replica; z = NULL with two components. */
static struct spins
colour_of(const struct gpumc_checkerboard *lattice, int components, void *spins, size_t colour)
{
  const size_t half = lattice->colour;
  REAL *first = (REAL *)spins + colour * half;
  return (struct spins){first, first + 2 * half, components == 3 ? first + 4 * half : NULL};
}

struct surroundings {
  struct neighbours x, y, z;
};

/* Sums the neighbours of the block of sites from k on, at place i of the chunk. */
GPUMC_INLINE void surround_block(const struct gpumc_checkerboard *lattice,
                                 const struct block *block, const REAL *couplings,
                                 const int components, const bool sides, const struct spins *other,
                                 struct surroundings *around, size_t i)
{
  if (couplings != NULL) {
    add_quenched(lattice, block, couplings, other->x, &around->x, i);
    add_quenched(lattice, block, couplings, other->y, &around->y, i);
    if (components == 3)
      add_quenched(lattice, block, couplings, other->z, &around->z, i);
    return;
  }
  add_neighbours(lattice, block, other->x, sides, &around->x, i);
  add_neighbours(lattice, block, other->y, sides, &around->y, i);
  if (components == 3)
    add_neighbours(lattice, block, other->z, sides, &around->z, i);
}

/* Sums the neighbours of n sites from k on, a multiple of CHUNK. `edges`: of the colour of these
 * sites; `couplings`: theirs, or NULL; `components` and `sides` (whether these are wanted):
 * constants. */
GPUMC_INLINE void surround(const struct gpumc_checkerboard *lattice,
                           const struct gpumc_checkerboard_edges *edges, const REAL *couplings,
                           const int components, const bool sides, size_t k, size_t n,
                           const struct spins *other, struct surroundings *around)
{
  const struct short_rows rows = short_rows_of(lattice);
  for (size_t i = 0; i < n; i += GPUMC_EDGE_SITES) {
    const struct gpumc_checkerboard_edges *edge = &edges[(k + i) / GPUMC_EDGE_SITES];
    if (is_inner(lattice, edge, k + i)) {
      const struct block block = block_at(lattice, edge, &rows, true, k + i);
      surround_block(lattice, &block, couplings, components, sides, other, around, i);
    } else {
      const struct block block = block_at(lattice, edge, &rows, false, k + i);
      surround_block(lattice, &block, couplings, components, sides, other, around, i);
    }
  }
}

/* The same, sides included, with quenched couplings, those of the sites' colour. */
static void surround_quenched(const struct gpumc_checkerboard *lattice,
                              const struct gpumc_checkerboard_edges *edges, const REAL *couplings,
                              size_t k, size_t n, const struct spins *other,
                              struct surroundings *around)
{
  if (other->z != NULL)
    surround(lattice, edges, couplings, 3, true, k, n, other, around);
  else
    surround(lattice, edges, couplings, 2, true, k, n, other, around);
}

GPUMC_INLINE VECTOR sum_of(const int components, const struct surroundings *around, size_t i)
{
  return (VECTOR){around->x.sum[i], around->y.sum[i], components == 3 ? around->z.sum[i] : 0};
}

/* ---- moves of n spins from k on ---- */

/* The arguments of a move. The chunk's arrays belong to one call, and no two of them overlap. */
struct chunk {
  const struct half_sweep *half;
  struct spins own;
  size_t k, n;
  const struct words *words;
  const struct surroundings *around;
};

GPUMC_INLINE VECTOR field_of(const int components, const struct chunk *chunk, size_t i)
{
  return HEISENBERG_NAME(heisenberg_field)(sum_of(components, chunk->around, i),
                                           chunk->half->coupling, chunk->half->field);
}

GPUMC_INLINE void start_chunk(const int components, const struct chunk *chunk)
{
  for (size_t i = 0; i < chunk->n; i++)
    set_spin(components, &chunk->own, chunk->k + i,
             HEISENBERG_NAME(heisenberg_anywhere)(
                 components, HEISENBERG_NAME(heisenberg_of_sphere)(words_of(chunk->words, i))));
}

/* Proposals are drawn before the rule, since they do not depend on it. Counts the accepted small
 * steps. */
GPUMC_INLINE void
metropolis_chunk(const int components, const bool small, const struct chunk *chunk)
{
  REAL x[CHUNK], y[CHUNK], z[CHUNK], other[CHUNK];
  uint32_t taken = 0;
  for (size_t i = 0; i < chunk->n; i++) {
    const struct HEISENBERG_NAME(heisenberg_uniform) uniform =
        components == 3 ? HEISENBERG_NAME(heisenberg_of_proposal)(words_of(chunk->words, i))
                        : HEISENBERG_NAME(heisenberg_of_circle)(words_of(chunk->words, i));
    const VECTOR proposal = small ? HEISENBERG_NAME(heisenberg_near)(
                                        components, spin_of(components, &chunk->own, chunk->k + i),
                                        uniform, chunk->half->reach)
                                  : HEISENBERG_NAME(heisenberg_anywhere)(components, uniform);
    x[i] = proposal.x;
    y[i] = proposal.y;
    z[i] = proposal.z;
    other[i] = uniform.other;
  }
#pragma GCC ivdep
  for (size_t i = 0; i < chunk->n; i++) {
    const VECTOR spin = spin_of(components, &chunk->own, chunk->k + i);
    const VECTOR proposal = {x[i], y[i], z[i]};
    const bool accepted = HEISENBERG_NAME(heisenberg_accepts)(
        components, spin, proposal, field_of(components, chunk, i), other[i]);
    const VECTOR next = {accepted ? proposal.x : spin.x, accepted ? proposal.y : spin.y,
                         accepted ? proposal.z : spin.z};
    set_spin(components, &chunk->own, chunk->k + i, next);
    taken += accepted;
  }
  if (small)
    *chunk->half->of->accepted += taken;
}

/* heisenberg_sphere, also in several loops. */
GPUMC_INLINE void heat_bath_chunk_of_spheres(const struct chunk *chunk)
{
  REAL x[CHUNK], y[CHUNK], z[CHUNK], length[CHUNK], inverse[CHUNK], versine[CHUNK];
  for (size_t i = 0; i < chunk->n; i++) {
    VECTOR direction;
    inverse[i] =
        HEISENBERG_NAME(heisenberg_direction)(3, field_of(3, chunk, i), &length[i], &direction);
    x[i] = direction.x;
    y[i] = direction.y;
    z[i] = direction.z;
  }
  for (size_t i = 0; i < chunk->n; i++)
    versine[i] = HEISENBERG_NAME(heisenberg_versine)(
        length[i], inverse[i], HEISENBERG_NAME(heisenberg_of_sphere)(words_of(chunk->words, i)).u);
  for (size_t i = 0; i < chunk->n; i++) {
    const uint32_t azimuth =
        HEISENBERG_NAME(heisenberg_of_sphere)(words_of(chunk->words, i)).azimuth;
    const VECTOR direction = {x[i], y[i], z[i]};
    set_spin(3, &chunk->own, chunk->k + i,
             HEISENBERG_NAME(heisenberg_turned)(
                 HEISENBERG_NAME(heisenberg_inclined)(versine[i], azimuth), direction));
  }
}

/* Trials of rejection: sites k[n], their fields, and the results. Whole vectors are tried: after
 * the last site there are others, any sites. */
struct trials {
  size_t n;
  uint32_t k[CHUNK], rejected[CHUNK];
  REAL field_x[CHUNK], field_y[CHUNK], x[CHUNK], y[CHUNK];
};

static void try_circles(const struct words *words, struct trials *trials)
{
  const size_t whole = whole_lanes(trials->n);
  for (size_t i = 0; i < whole; i++) {
    VECTOR spin;
    trials->rejected[i] = !HEISENBERG_NAME(heisenberg_circle_trial)(
        (VECTOR){trials->field_x[i], trials->field_y[i], 0},
        HEISENBERG_NAME(heisenberg_of_circle)(words_of(words, i)), &spin);
    trials->x[i] = spin.x;
    trials->y[i] = spin.y;
  }
}

/* The accepted sites are no longer listed. */
static void keep_rejected(struct trials *trials)
{
  uint32_t kept[CHUNK + GPUMC_VECTOR_WORDS];
  size_t n = 0;
  for (size_t i = 0; i < trials->n; i += GPUMC_VECTOR_WORDS) {
    const size_t left = trials->n - i;
    uint32_t keep = gpumc_nonzero_words(gpumc_load(trials->rejected + i));
    keep &= left < GPUMC_VECTOR_WORDS ? (1u << left) - 1 : UINT32_MAX;
    gpumc_compress(kept + n, gpumc_compression_of(keep), gpumc_lane_numbers() + (uint32_t)i);
    n += (size_t)__builtin_popcount(keep);
  }
  for (size_t i = 0; i < n; i++) {
    trials->k[i] = trials->k[kept[i]];
    trials->field_x[i] = trials->field_x[kept[i]];
    trials->field_y[i] = trials->field_y[kept[i]];
  }
  trials->n = n;
}

/* Rejected sites keep their proposals too, if these were the last ones. */
GPUMC_INLINE void heat_bath_chunk_of_circles(const struct chunk *chunk)
{
  const size_t whole = whole_lanes(chunk->n);
  struct trials trials;
  struct words words;
  for (size_t i = 0; i < whole; i++) {
    const VECTOR g = field_of(2, chunk, i);
    trials.k[i] = (uint32_t)(chunk->k + i);
    trials.field_x[i] = g.x;
    trials.field_y[i] = g.y;
  }
  trials.n = chunk->n;
  try_circles(chunk->words, &trials);
  for (size_t i = 0; i < chunk->n; i++)
    set_spin(2, &chunk->own, chunk->k + i, (VECTOR){trials.x[i], trials.y[i], 0});
  keep_rejected(&trials);
  for (uint32_t attempt = 1; attempt < HEISENBERG_ATTEMPTS && trials.n > 0; attempt++) {
    draw_listed(chunk->half, attempt, trials.k, trials.n, &words);
    try_circles(&words, &trials);
    for (size_t i = 0; i < trials.n; i++)
      set_spin(2, &chunk->own, trials.k[i], (VECTOR){trials.x[i], trials.y[i], 0});
    keep_rejected(&trials);
  }
}

GPUMC_INLINE void
over_relax_chunk(const int components, const bool renormalise, const struct chunk *chunk)
{
#pragma GCC ivdep
  for (size_t i = 0; i < chunk->n; i++)
    set_spin(components, &chunk->own, chunk->k + i,
             HEISENBERG_NAME(heisenberg_reflected)(components,
                                                   spin_of(components, &chunk->own, chunk->k + i),
                                                   field_of(components, chunk, i), renormalise));
}

/* ---- sweeps ---- */

GPUMC_INLINE void
move_chunk(const int components, const enum heisenberg_move move, const struct chunk *chunk)
{
  if (move == HEISENBERG_METROPOLIS || move == HEISENBERG_METROPOLIS_SMALL)
    metropolis_chunk(components, move == HEISENBERG_METROPOLIS_SMALL, chunk);
  else if (move == HEISENBERG_HEAT_BATH && components == 3)
    heat_bath_chunk_of_spheres(chunk);
  else if (move == HEISENBERG_HEAT_BATH)
    heat_bath_chunk_of_circles(chunk);
  else if (chunk->half->time % HEISENBERG_RENORMALISATION == 0)
    over_relax_chunk(components, true, chunk);
  else
    over_relax_chunk(components, false, chunk);
}

GPUMC_INLINE void
half_sweep_of(const int components, const enum heisenberg_move move, const struct half_sweep *half)
{
  const struct gpumc_checkerboard *lattice = half->of->lattice;
  const struct gpumc_checkerboard_edges *edges =
      half->of->edges + half->colour * gpumc_checkerboard_edge_blocks(lattice);
  const struct spins other = colour_of(lattice, components, half->of->spins, 1 - half->colour);
  const REAL *couplings = couplings_of(lattice, half->of->couplings, half->colour);
  struct words words;
  struct surroundings around;
  struct chunk chunk = {.half = half,
                        .own = colour_of(lattice, components, half->of->spins, half->colour),
                        .words = &words,
                        .around = &around};
  for (chunk.k = 0; chunk.k < lattice->colour; chunk.k += chunk.n) {
    const size_t left = lattice->colour - chunk.k;
    chunk.n = left < CHUNK ? left : CHUNK;
    if (move != HEISENBERG_OVER_RELAXATION)
      draw_words(half, chunk.k, chunk.n, &words);
    if (couplings != NULL)
      surround_quenched(lattice, edges, couplings, chunk.k, chunk.n, &other, &around);
    else
      surround(lattice, edges, NULL, components, false, chunk.k, chunk.n, &other, &around);
    move_chunk(components, move, &chunk);
  }
}

static void choose_move(enum heisenberg_move move, const struct half_sweep *half)
{
  const bool sphere = half->of->components == 3;
  if (move == HEISENBERG_METROPOLIS && sphere)
    half_sweep_of(3, HEISENBERG_METROPOLIS, half);
  else if (move == HEISENBERG_METROPOLIS)
    half_sweep_of(2, HEISENBERG_METROPOLIS, half);
  else if (move == HEISENBERG_METROPOLIS_SMALL && sphere)
    half_sweep_of(3, HEISENBERG_METROPOLIS_SMALL, half);
  else if (move == HEISENBERG_METROPOLIS_SMALL)
    half_sweep_of(2, HEISENBERG_METROPOLIS_SMALL, half);
  else if (move == HEISENBERG_HEAT_BATH && sphere)
    half_sweep_of(3, HEISENBERG_HEAT_BATH, half);
  else if (move == HEISENBERG_HEAT_BATH)
    half_sweep_of(2, HEISENBERG_HEAT_BATH, half);
  else if (sphere)
    half_sweep_of(3, HEISENBERG_OVER_RELAXATION, half);
  else
    half_sweep_of(2, HEISENBERG_OVER_RELAXATION, half);
}

static void sweep_replica(const struct heisenberg_sweep *sweep)
{
  for (uint32_t i = 0; i < sweep->sweeps; i++) {
    const uint32_t time = sweep->time + i;
    const enum heisenberg_move move =
        heisenberg_move_at(sweep->move, sweep->over_relaxations, time);
    const double beta = move == HEISENBERG_OVER_RELAXATION ? 1.0 : sweep->beta;
    struct half_sweep half = {
        .of = sweep,
        .time = time,
        .purpose = GPUMC_RANDOM_LATTICE_SWEEP,
        .coupling = (REAL)(beta * sweep->coupling),
        .field = HEISENBERG_NAME(heisenberg_bias)(move, (REAL)(beta * sweep->field)),
        .reach = (REAL)sweep->reach};
    half.stream = gpumc_philox_stream_make(sweep->random, sweep->replica, time);
    for (half.colour = 0; half.colour < 2; half.colour++)
      choose_move(move, &half);
  }
}

static void start_replica(const struct heisenberg_sweep *sweep)
{
  struct half_sweep half = {.of = sweep, .purpose = GPUMC_RANDOM_LATTICE_INITIAL};
  struct words words;
  half.stream = gpumc_philox_stream_make(sweep->random, sweep->replica, 0);
  for (half.colour = 0; half.colour < 2; half.colour++) {
    struct chunk chunk = {.half = &half, .words = &words};
    chunk.own = colour_of(sweep->lattice, sweep->components, sweep->spins, half.colour);
    for (; chunk.k < sweep->lattice->colour; chunk.k += chunk.n) {
      const size_t left = sweep->lattice->colour - chunk.k;
      chunk.n = left < CHUNK ? left : CHUNK;
      draw_words(&half, chunk.k, chunk.n, &words);
      if (sweep->components == 3)
        start_chunk(3, &chunk);
      else
        start_chunk(2, &chunk);
    }
  }
}

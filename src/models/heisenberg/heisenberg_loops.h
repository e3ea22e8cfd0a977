/* The loops around heisenberg_rules.h on the CPU, in one precision: included by
 * heisenberg_double_isa.c and heisenberg_float_isa.c, which set HEISENBERG_PRECISION, and
 * HEISENBERG_SHARED_COUNTERS where two sites share a counter.
 *
 * A colour is worked on in chunks of sites: random words, then the sums of neighbours, then the
 * rule, each a loop over the chunk without branches, which the compiler turns into vectors. Only
 * proposals that a rejection turned down are drawn again one by one. */
#include "core/numerics/simd_philox.h"
#include "models/heisenberg/heisenberg_isa.h"

#define REAL HEISENBERG_PRECISION
#define VECTOR struct HEISENBERG_NAME(heisenberg_vector)
#define OPS HEISENBERG_NAME(heisenberg_ops)

enum {
  CHUNK = 256,                          /* sites; a multiple of SHARED */
  SHARED = 32,                          /* sites that share 16 counters */
  LANES = SHARED / 2,                   /* these counters */
  VECTORS = LANES / GPUMC_VECTOR_WORDS, /* that hold them */
};

/* ---- random words ---- */

struct words {
  uint32_t a[CHUNK], b[CHUNK], c[CHUNK], d[CHUNK];
};

/* Of one colour of a replica in one sweep. */
struct half_sweep {
  const struct heisenberg_sweep *of;
  struct gpumc_philox_stream stream;
  uint32_t colour, time, purpose;
  REAL coupling, field; /* of the move: J and h, times beta unless it is over-relaxation */
};

/* Of LANES counters from `first` on. */
GPUMC_INLINE void draw_lanes(const struct half_sweep *half, const uint32_t rounds, uint32_t first,
                             gpumc_v32 word[VECTORS][4])
{
  const uint32_t label = gpumc_random_label(half->purpose, heisenberg_draw(half->colour, 0));
  gpumc_v32 site[VECTORS];
  uint32_t labels[VECTORS];
  for (uint32_t v = 0; v < VECTORS; v++) {
    site[v] = gpumc_lane_numbers() + (first + v * GPUMC_VECTOR_WORDS);
    labels[v] = label;
  }
  gpumc_philox_draws(&half->stream, rounds, VECTORS, site, labels, word);
}

/* Those of n sites from k on, a multiple of SHARED, and of the sites up to the next one. */
GPUMC_INLINE void fill_words(const struct half_sweep *half, const uint32_t rounds, size_t k,
                             size_t n, struct words *words)
{
  gpumc_v32 word[VECTORS][4];
  for (size_t i = 0; i < n; i += HEISENBERG_SHARED_COUNTERS ? SHARED : LANES) {
    const uint32_t site = (uint32_t)(k + i);
    draw_lanes(half, rounds, HEISENBERG_SHARED_COUNTERS ? heisenberg_shared_counter(site) : site,
               word);
    for (size_t v = 0; v < VECTORS; v++) {
      const size_t at = i + v * GPUMC_VECTOR_WORDS;
      gpumc_store(words->a + at, word[v][0]);
      gpumc_store(words->b + at, word[v][1]);
      gpumc_store(HEISENBERG_SHARED_COUNTERS ? words->a + at + LANES : words->c + at, word[v][2]);
      gpumc_store(HEISENBERG_SHARED_COUNTERS ? words->b + at + LANES : words->d + at, word[v][3]);
    }
  }
}

static void draw_words(const struct half_sweep *half, size_t k, size_t n, struct words *words)
{
  if (half->of->random.rounds == 7)
    fill_words(half, 7, k, n, words);
  else
    fill_words(half, 10, k, n, words);
}

GPUMC_INLINE struct heisenberg_words words_of(const struct words *words, size_t i)
{
  return HEISENBERG_SHARED_COUNTERS
             ? (struct heisenberg_words){words->a[i], words->b[i], 0, 0}
             : (struct heisenberg_words){words->a[i], words->b[i], words->c[i], words->d[i]};
}

/* ---- sums of neighbours ---- */

/* side[n] of a component: the sides of n sites from k on, `other` that component of the other
 * colour. Line by line, since they stand to the left and to the right in turns. */
GPUMC_INLINE void copy_sides(const struct gpumc_checkerboard *lattice, size_t colour, size_t k,
                             size_t n, const REAL *restrict other, REAL *restrict side)
{
  const size_t row = lattice->row;
  for (size_t i = 0, count; i < n; i += count) {
    const struct gpumc_checkerboard_place place =
        gpumc_checkerboard_place_at(lattice, colour, k + i);
    const size_t start = k + i, j = start % row;
    const bool back = gpumc_checkerboard_side_is_back(&place);
    count = row - j < n - i ? row - j : n - i;
    const REAL *from = back ? other + start - 1 : other + start + 1;
    const size_t first = back && j == 0 ? 1 : 0,
                 last = !back && j + count == row ? count - 1 : count;
    for (size_t l = first; l < last; l++)
      side[i + l] = from[l];
    if (first == 1) /* around the end of the line */
      side[i] = other[start + row - 1];
    if (last < count)
      side[i + last] = other[start + last + 1 - row];
  }
}

/* Adds to sum[n] the neighbours of n sites from k on that are `step` sites further, modulo
 * `period`. */
GPUMC_INLINE void add_shifted(size_t period, size_t step, size_t k, size_t n,
                              const REAL *restrict other, REAL *restrict sum)
{
  for (size_t i = 0, count; i < n; i += count) {
    const size_t place = (k + i) % period;
    const bool around = place + step >= period;
    const size_t left = around ? period - place : period - step - place;
    const REAL *from = other + (around ? k + i + step - period : k + i + step);
    count = left < n - i ? left : n - i;
    for (size_t l = 0; l < count; l++)
      sum[i + l] += from[l];
  }
}

/* One component of the neighbours of a chunk: those along x, and all. */
struct neighbours {
  REAL side[CHUNK], sum[CHUNK];
};

/* Of n sites from k on. The row before is a plane less one row further, and so on. */
GPUMC_INLINE void add_neighbours(const struct gpumc_checkerboard *lattice, size_t colour, size_t k,
                                 size_t n, const REAL *restrict other, struct neighbours *of)
{
  const size_t row = lattice->row, plane = lattice->plane, whole = lattice->colour;
  copy_sides(lattice, colour, k, n, other, of->side);
  for (size_t i = 0; i < n; i++)
    of->sum[i] = other[k + i] + of->side[i];
  if (lattice->dimension >= 2) {
    add_shifted(plane, plane - row, k, n, other, of->sum);
    add_shifted(plane, row, k, n, other, of->sum);
  }
  if (lattice->dimension == 3) {
    add_shifted(whole, whole - plane, k, n, other, of->sum);
    add_shifted(whole, plane, k, n, other, of->sum);
  }
}

/* A colour of a replica, component by component. */
struct colour {
  REAL *x, *y, *z; /* z = NULL with two components */
};

static struct colour
colour_of(const struct gpumc_checkerboard *lattice, int components, void *spins, size_t colour)
{
  const size_t half = lattice->colour;
  REAL *first = (REAL *)spins + colour * half;
  return (struct colour){first, first + 2 * half, components == 3 ? first + 4 * half : NULL};
}

struct surroundings {
  struct neighbours x, y, z;
};

GPUMC_INLINE void surround(const struct gpumc_checkerboard *lattice, const int components,
                           size_t colour, size_t k, size_t n, const struct colour *other,
                           struct surroundings *around)
{
  add_neighbours(lattice, colour, k, n, other->x, &around->x);
  add_neighbours(lattice, colour, k, n, other->y, &around->y);
  if (components == 3)
    add_neighbours(lattice, colour, k, n, other->z, &around->z);
}

#include "models/heisenberg/quenched/quenched_loops.h"

GPUMC_INLINE VECTOR sum_of(const int components, const struct surroundings *around, size_t i)
{
  return (VECTOR){around->x.sum[i], around->y.sum[i], components == 3 ? around->z.sum[i] : 0};
}

GPUMC_INLINE VECTOR spin_of(const int components, const struct colour *own, size_t k)
{
  return (VECTOR){own->x[k], own->y[k], components == 3 ? own->z[k] : 0};
}

GPUMC_INLINE void set_spin(const int components, const struct colour *own, size_t k, VECTOR spin)
{
  own->x[k] = spin.x;
  own->y[k] = spin.y;
  if (components == 3)
    own->z[k] = spin.z;
}

/* ---- moves of n spins from k on ---- */

/* What a move is given. The chunk's arrays are those of one call, and no two of them overlap. */
struct chunk {
  const struct half_sweep *half;
  struct colour own;
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

GPUMC_INLINE void metropolis_chunk(const int components, const struct chunk *chunk)
{
#pragma GCC ivdep
  for (size_t i = 0; i < chunk->n; i++) {
    const VECTOR spin = spin_of(components, &chunk->own, chunk->k + i);
    const struct HEISENBERG_NAME(heisenberg_uniform) uniform =
        components == 3 ? HEISENBERG_NAME(heisenberg_of_proposal)(words_of(chunk->words, i))
                        : HEISENBERG_NAME(heisenberg_of_circle)(words_of(chunk->words, i));
    const VECTOR proposal = HEISENBERG_NAME(heisenberg_anywhere)(components, uniform);
    const bool accepted = HEISENBERG_NAME(heisenberg_accepts)(
        components, spin, proposal, field_of(components, chunk, i), uniform.other);
    const VECTOR next = {accepted ? proposal.x : spin.x, accepted ? proposal.y : spin.y,
                         accepted ? proposal.z : spin.z};
    set_spin(components, &chunk->own, chunk->k + i, next);
  }
}

GPUMC_INLINE void heat_bath_chunk_of_spheres(const struct chunk *chunk)
{
#pragma GCC ivdep
  for (size_t i = 0; i < chunk->n; i++)
    set_spin(3, &chunk->own, chunk->k + i,
             HEISENBERG_NAME(heisenberg_sphere)(
                 field_of(3, chunk, i),
                 HEISENBERG_NAME(heisenberg_of_sphere)(words_of(chunk->words, i))));
}

/* Trials from the second one on. */
static VECTOR try_again(const struct half_sweep *half, uint32_t k, VECTOR g)
{
  const struct heisenberg_sweep *sweep = half->of;
  VECTOR spin = {0, 0, 0};
  bool accepted = false;
  for (uint32_t attempt = 1; attempt < HEISENBERG_ATTEMPTS && !accepted; attempt++) {
    const struct heisenberg_words words = HEISENBERG_NAME(heisenberg_words)(
        sweep->random, k, sweep->replica, half->time,
        gpumc_random_label(half->purpose, heisenberg_draw(half->colour, attempt)));
    accepted = HEISENBERG_NAME(heisenberg_circle_trial)(
        g, HEISENBERG_NAME(heisenberg_of_circle)(words), &spin);
  }
  return spin;
}

GPUMC_INLINE void heat_bath_chunk_of_circles(const struct chunk *chunk)
{
  uint8_t accepted[CHUNK];
#pragma GCC ivdep
  for (size_t i = 0; i < chunk->n; i++) {
    VECTOR spin;
    accepted[i] = HEISENBERG_NAME(heisenberg_circle_trial)(
        field_of(2, chunk, i), HEISENBERG_NAME(heisenberg_of_circle)(words_of(chunk->words, i)),
        &spin);
    set_spin(2, &chunk->own, chunk->k + i, spin);
  }
  for (size_t i = 0; i < chunk->n; i++)
    if (!accepted[i])
      set_spin(2, &chunk->own, chunk->k + i,
               try_again(chunk->half, (uint32_t)(chunk->k + i), field_of(2, chunk, i)));
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
  if (move == HEISENBERG_METROPOLIS)
    metropolis_chunk(components, chunk);
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
  const struct colour other = colour_of(lattice, components, half->of->spins, 1 - half->colour);
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
      surround_quenched(lattice, couplings, half->colour, chunk.k, chunk.n, &other, &around);
    else
      surround(lattice, components, half->colour, chunk.k, chunk.n, &other, &around);
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
        .field = HEISENBERG_NAME(heisenberg_bias)(move, (REAL)(beta * sweep->field))};
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

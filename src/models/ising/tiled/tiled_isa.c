/* Updates of a tile on the CPU. */
#include "models/ising/tiled/tiled_isa.h"

#include "core/numerics/simd_philox.h"

enum { VECTORS = ISING_TILED_NUMBERS_STEP / 16 };

/* Draws the numbers of all words of the tile: output `lane` of their counters in numbers[lane]. */
GPUMC_INLINE void draw_with(const struct ising_tiled_work *work, const uint32_t rounds,
                            uint32_t tile, uint32_t colour, uint32_t time, uint32_t *numbers)
{
  const struct gpumc_philox_stream stream =
      gpumc_philox_stream_make(work->random, work->replica, time);
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, colour);
  const uint32_t words = work->geometry->words, stride = ising_tiled_numbers(work->geometry);
  const uint32_t labels[VECTORS] = {label, label, label, label};
  for (uint32_t w = 0; w < words; w += VECTORS * GPUMC_VECTOR_WORDS) {
    gpumc_v32 site[VECTORS], u[VECTORS][ISING_TILED_LANES];
    for (uint32_t v = 0; v < VECTORS; v++)
      site[v] = gpumc_lane_numbers() + (tile * words + w + v * (uint32_t)GPUMC_VECTOR_WORDS);
    gpumc_philox_draws(&stream, rounds, VECTORS, site, labels, u);
    for (uint32_t v = 0; v < VECTORS; v++)
      for (uint32_t lane = 0; lane < ISING_TILED_LANES; lane++)
        gpumc_store(numbers + lane * stride + w + v * (uint32_t)GPUMC_VECTOR_WORDS, u[v][lane]);
  }
}

static void draw_philox(const struct ising_tiled_work *work, uint32_t tile, uint32_t colour,
                        uint32_t time, uint32_t *numbers)
{
  if (work->random.rounds == 7)
    draw_with(work, 7, tile, colour, time, numbers);
  else
    draw_with(work, 10, tile, colour, time, numbers);
}

/* Returns the next number of a block, from a ring of the last r ones; `*oldest`: its oldest
 * place. */
static uint32_t
next_fibonacci(const struct ising_tiled_generator *generator, uint32_t *ring, uint32_t *oldest)
{
  const uint32_t r = generator->lag_r, now = *oldest, before = now + r - generator->lag_s;
  ring[now] += ring[before < r ? before : before - r];
  *oldest = now + 1 < r ? now + 1 : 0;
  return ring[now];
}

/* Draws the numbers of all places, from the state of the block. */
static void draw_unsafe(const struct ising_tiled_work *work, uint32_t *state, uint32_t *oldest,
                        uint32_t *numbers)
{
  const struct ising_tiled_geometry *geometry = work->geometry;
  const uint32_t stride = ising_tiled_numbers(geometry);
  for (uint32_t place = 0; place < geometry->places; place++) {
    const uint32_t line = place / geometry->row, along = place % geometry->row;
    numbers[along % ISING_TILED_LANES * stride + line * geometry->row_words +
            along / ISING_TILED_LANES] = work->generator->kind == ISING_TILED_FIBONACCI
                                             ? next_fibonacci(work->generator, state, oldest)
                                             : ising_tiled_lcg(work->generator, state, place);
  }
}

static void update_colour(const struct ising_tiled_work *work, uint32_t colour,
                          const struct ising_tiled_scratch *scratch)
{
  const struct ising_tiled_geometry geometry = *work->geometry;
  const struct ising_tiled_rule rule = *work->rule;
  const uint32_t *other = scratch->copy[1 - colour], *number = scratch->numbers;
  const uint32_t stride = ising_tiled_numbers(&geometry);
  uint32_t *own = scratch->copy[colour];
  for (uint32_t l = 0; l < geometry.lines; l++) {
    const uint32_t first = ising_tiled_line(&geometry, l);
    const uint32_t shift = ising_tiled_shift(&geometry, colour, l);
    for (uint32_t w = 0; w < geometry.row_words; w++, number++) {
      const uint32_t u[ISING_TILED_LANES] = {number[0], number[stride], number[2 * stride],
                                             number[3 * stride]};
      const uint32_t sites = w + 1 < geometry.row_words ? 0x01010101 : geometry.last_mask;
      const uint32_t up = ising_tiled_up(&geometry, other, first + w, shift);
      own[first + w] = ising_tiled_updated(&rule, own[first + w], up, u, sites);
    }
  }
}

static void store(const struct ising_tiled_work *work, struct ising_tiled_tile tile,
                  const struct ising_tiled_scratch *scratch)
{
  const struct ising_tiled_geometry *geometry = work->geometry;
  uint32_t *to = work->words + ising_tiled_words(geometry, tile);
  for (uint32_t colour = 0; colour < 2; colour++)
    for (uint32_t l = 0; l < geometry->lines; l++, to += geometry->row_words) {
      const uint32_t *from = scratch->copy[colour] + ising_tiled_line(geometry, l);
      memcpy(to, from, geometry->row_words * sizeof *to);
      to[geometry->row_words - 1] &= geometry->last_mask;
    }
}

/* Rotates the ring so that its oldest number comes first. */
static void turn_ring(uint32_t *ring, uint32_t r, uint32_t oldest, uint32_t *room)
{
  memcpy(room, ring, r * sizeof *ring);
  memcpy(ring, room + oldest, (r - oldest) * sizeof *ring);
  memcpy(ring + (r - oldest), room, oldest * sizeof *ring);
}

static void visit_block(const struct ising_tiled_work *work, const struct ising_tiled_visit *visit,
                        uint32_t b, struct ising_tiled_scratch scratch)
{
  const struct ising_tiled_generator *generator = work->generator;
  const struct ising_tiled_tile tile = ising_tiled_tile(work->geometry, visit->half, b);
  const uint32_t number = ising_tiled_number(work->geometry, tile);
  uint32_t *state = work->state + (size_t)b * generator->block_words;
  uint32_t oldest = 0;
  ising_tiled_load(work->geometry, work->words, tile, scratch.copy);
  for (uint32_t hit = 0; hit < visit->hits; hit++) {
    const uint32_t reversed = (hit < visit->turn) == (visit->reversed != 0);
    for (uint32_t i = 0; i < 2; i++) {
      const uint32_t colour = i ^ reversed;
      if (generator->kind == ISING_TILED_PHILOX)
        draw_philox(work, number, colour, work->time + visit->first + hit, scratch.numbers);
      else
        draw_unsafe(work, state, &oldest, scratch.numbers);
      update_colour(work, colour, &scratch);
    }
  }
  store(work, tile, &scratch);
  if (oldest > 0)
    turn_ring(state, generator->lag_r, oldest, scratch.state);
}

extern const struct ising_tiled_ops GPUMC_ISA_NAME(ising_tiled);
const struct ising_tiled_ops GPUMC_ISA_NAME(ising_tiled) = {.visit = visit_block};

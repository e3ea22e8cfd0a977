/* The tiled kernel on every device: its keys, the tiles of a lattice and the order of their
 * updates, generators that are not Philox, and the working copy of a tile on the CPU. */
#include "models/ising/tiled/tiled.h"

#include <string.h>

#include "models/ising/ising.h"
#include "models/ising/tiled/tiled_isa.h"

/* ---- keys ---- */

const char *const ising_tiling_orders[] = {"forward", "symmetrised", NULL};

#define UNSAFE_GENERATORS(OF)                                                                      \
  OF(LCG32, "lcg32")                                                                               \
  OF(LCG32_RANDOM, "lcg32_random")                                                                 \
  OF(LCG64, "lcg64")                                                                               \
  OF(LCG64_RANDOM, "lcg64_random")                                                                 \
  OF(FIBONACCI_521, "lagged_fibonacci_521")                                                        \
  OF(FIBONACCI_1279, "lagged_fibonacci_1279")
#define NAME(generator, name) [ISING_GENERATOR_##generator] = name,
#define WARNING(generator, name)                                                                   \
  [ISING_GENERATOR_##generator] =                                                                  \
      "kernel.generator = " name " is UNSAFE: results with such generators are known to be "       \
      "wrong; use kernel.generator: philox",

const char *const ising_generators[ISING_GENERATORS + 1] = {NAME(PHILOX, "philox")
                                                                UNSAFE_GENERATORS(NAME)};

const struct gpumc_key ising_tiling_keys[] = {
    {.name = "hits",
     .type = GPUMC_KEY_INTEGER,
     .doc = "Updates of the spins of a tile before the other half of the tiles takes its turn; "
            "fewer in the last round if the sweeps between two measurements are not a multiple of "
            "it. Kernel `tiled` only.",
     .default_text = "1",
     .unit = "sweeps",
     .minimum = 1,
     .maximum = ISING_HITS_MAXIMUM,
     .sweepable = true},
    {.name = "tile",
     .type = GPUMC_KEY_INTEGER,
     .doc = "Side of the tiles; every side of the lattice must be a multiple of "
            "twice this. 0 picks the largest that fits, up to 32 (square lattices) "
            "or 8 (cubic ones). Kernel `tiled` only.",
     .default_text = "0",
     .unit = "sites",
     .minimum = 0,
     .maximum = ISING_TILE_MAXIMUM,
     .multiple_of = 2,
     .sweepable = true},
    {.name = "order",
     .type = GPUMC_KEY_CHOICE,
     .doc = "Order of the updates: all hits of one half of the tiles, then all of "
            "the other (forward), or a palindrome, which has detailed balance "
            "(symmetrised; `hits` must be even, and divide the sweeps between two "
            "measurements). Kernel `tiled` only.",
     .default_text = "forward",
     .choices = ising_tiling_orders,
     .sweepable = true},
    {.name = "generator",
     .type = GPUMC_KEY_CHOICE,
     .doc = "Generator of the random numbers of the updates. All but philox are "
            "UNSAFE: linear congruential and lagged Fibonacci generators are known "
            "to give wrong results, some only in long runs, and exist to demonstrate "
            "it. Kernel `tiled` only.",
     .default_text = "philox",
     .choices = ising_generators,
     .sweepable = true},
    {0}};

static int choice_of(const struct gpumc_params *kernel, const char *key, const char *const *choices)
{
  const char *name = gpumc_params_string(kernel, key);
  int choice = 0;
  while (choices[choice] != NULL && strcmp(choices[choice], name) != 0)
    choice++;
  return choices[choice] != NULL ? choice : 0;
}

struct gpumc_kernel_options ising_tiling_options(const struct ising_tiling *tiling)
{
  struct gpumc_kernel_options options = {.together = tiling->hits};
  _Static_assert(sizeof *tiling <= sizeof options.own, "options have room for a tiling");
  memcpy(options.own, tiling, sizeof *tiling);
  return options;
}

struct ising_tiling ising_tiling_of(const struct gpumc_kernel_options *options)
{
  struct ising_tiling tiling;
  memcpy(&tiling, options->own, sizeof tiling);
  return tiling;
}

void ising_tiling_read(const struct gpumc_params *kernel, struct gpumc_kernel_options *options)
{
  struct ising_tiling tiling = {0};
  if (gpumc_params_has(kernel, "hits"))
    tiling.hits = (uint32_t)gpumc_params_integer(kernel, "hits");
  if (gpumc_params_has(kernel, "tile"))
    tiling.tile = (uint32_t)gpumc_params_integer(kernel, "tile");
  if (gpumc_params_has(kernel, "order"))
    tiling.order = (enum ising_tiling_order)choice_of(kernel, "order", ising_tiling_orders);
  if (gpumc_params_has(kernel, "generator"))
    tiling.generator = (enum ising_generator)choice_of(kernel, "generator", ising_generators);
  *options = ising_tiling_options(&tiling);
}

/* A palindrome of hits that is cut off by the next measurement lacks the detailed balance that it
 * is for. */
void ising_tiling_check(const struct gpumc_params *kernel, int64_t interval,
                        struct gpumc_report *report)
{
  const int64_t hits = gpumc_params_integer(kernel, "hits");
  if (strcmp(gpumc_params_string(kernel, "order"), ising_tiling_orders[ISING_ORDER_SYMMETRISED]) ==
          0 &&
      interval % hits != 0)
    gpumc_params_mistake(
        kernel, report, "order",
        "kernel.order: symmetrised has detailed balance only if the sweeps between "
        "two measurements, algorithm.interval = %lld, are a multiple of "
        "kernel.hits = %lld: make them one, or use kernel.order: forward",
        (long long)interval, (long long)hits);
}

const char *ising_tiling_warning(const struct gpumc_kernel_options *options, const char **name)
{
  static const char *const warnings[ISING_GENERATORS] = {UNSAFE_GENERATORS(WARNING)};
  *name = "generator_warning";
  return warnings[ising_tiling_of(options).generator];
}

/* ---- tiles, and the order of their updates ---- */

enum {
  SIDE_2D = 32, /* the largest sides of a tile: chosen by default, and allowed */
  SIDE_3D = 8,
  SIDE_2D_MAXIMUM = ISING_TILE_MAXIMUM,
  SIDE_3D_MAXIMUM = 16,
};

_Static_assert(SIDE_3D_MAXIMUM *SIDE_3D_MAXIMUM / 2 <= 4 * ISING_TILED_ZEROS &&
                   SIDE_2D_MAXIMUM / 2 <= 4 * ISING_TILED_ZEROS,
               "the zeros before and after a colour are as long as a plane, or a line, of a tile");

static bool divides(const struct gpumc_checkerboard *lattice, size_t tile)
{
  return lattice->length_x % (2 * tile) == 0 && lattice->length_y % (2 * tile) == 0 &&
         (lattice->dimension == 2 || lattice->length_z % (2 * tile) == 0);
}

/* Returns the requested side, or the largest that fits; 0: none does. */
static uint32_t side_of(const struct gpumc_checkerboard *lattice, const struct ising_tiling *tiling)
{
  uint32_t tile = tiling->tile > 0 ? tiling->tile : lattice->dimension == 3 ? SIDE_3D : SIDE_2D;
  while (tile > 0 && tiling->tile == 0 && !divides(lattice, tile))
    tile -= 2;
  return tile;
}

const char *ising_tiled_refuses(const struct gpumc_model *model,
                                const struct gpumc_kernel_options *options, const char **key)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  const struct ising_tiling tiling = ising_tiling_of(options);
  const uint32_t tile = side_of(lattice, &tiling);
  *key = "tile";
  if (ising_parameters(model)->disorder != NULL)
    return "it supports uniform couplings and fields only";
  if (tile == 0)
    return "every side of the lattice must be a multiple of 4";
  if (!divides(lattice, tile))
    return "every side of the lattice must be a multiple of twice kernel.tile";
  if (lattice->dimension == 3 && tile > SIDE_3D_MAXIMUM)
    return "the side of a cubic tile, kernel.tile, is at most 16";
  /* A single hit is the default. */
  *key = tiling.hits == 1 ? "order" : "hits";
  if (tiling.order == ISING_ORDER_SYMMETRISED && tiling.hits % 2 != 0)
    return "with kernel.order: symmetrised the number kernel.hits must be even";
  return NULL;
}

enum gpumc_status
ising_tiled_check(const struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const char *key;
  const char *refusal = ising_tiled_refuses(ensemble->model, &ensemble->plan.options, &key);
  return refusal == NULL ? GPUMC_OK
                         : gpumc_error_set(error, GPUMC_INVALID, "kernel tiled: %s", refusal);
}

struct ising_tiled_geometry
ising_tiled_geometry(const struct gpumc_model *model, const struct ising_tiling *tiling)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  const uint32_t tile = side_of(lattice, tiling), solid = lattice->dimension == 3;
  struct ising_tiled_geometry geometry = {
      .dimension = (uint32_t)lattice->dimension,
      .tile = tile,
      .tiles = {(uint32_t)lattice->length_x / tile, (uint32_t)lattice->length_y / tile,
                solid ? (uint32_t)lattice->length_z / tile : 1},
      .row = tile / 2,
      .row_words = (tile / 2 + ISING_TILED_LANES - 1) / ISING_TILED_LANES,
      .lines = solid ? tile * tile : tile,
      /* A word before the line, and a byte after it. */
      .copy_row = 1 + tile / 2 / ISING_TILED_LANES + 1,
  };
  const uint32_t rest = geometry.row % ISING_TILED_LANES;
  geometry.n_tiles = geometry.tiles[0] * geometry.tiles[1] * geometry.tiles[2];
  geometry.words = geometry.lines * geometry.row_words;
  geometry.places = geometry.lines * geometry.row;
  geometry.last_mask = rest == 0 ? 0x01010101 : 0x01010101u >> 8 * (ISING_TILED_LANES - rest);
  geometry.copy_plane = (tile + 2) * geometry.copy_row;
  geometry.copy_words = (solid ? tile + 2 : 1) * geometry.copy_plane;
  return geometry;
}

struct ising_tiled_rule ising_tiled_rule(const struct gpumc_model *model, enum ising_move update,
                                         const double control[ISING_CONTROLS])
{
  const double beta = control[ISING_BETA], field = control[ISING_FIELD];
  const struct ising_parameters *parameters = ising_parameters(model);
  const uint32_t neighbours = 2 * (uint32_t)parameters->lattice.dimension;
  const struct ising_acceptance acceptance =
      ising_acceptance(beta, parameters->coupling, field, neighbours);
  uint64_t becomes_up[ISING_CLASSES_MAXIMUM] = {0};
  ising_heat_bath(beta, parameters->coupling, field, neighbours, becomes_up);
  struct ising_tiled_rule rule = {.inverted = update == ISING_MOVE_METROPOLIS ? 0x01010101 : 0};
  for (uint32_t up = 0; up <= neighbours; up++)
    for (uint32_t spin = 0; spin < 2; spin++) {
      const uint64_t flips =
          acceptance.spin_up[up] == spin ? acceptance.threshold[up] : GPUMC_THRESHOLD_ALWAYS;
      rule.threshold[up + ISING_TILED_UP * spin] =
          update == ISING_MOVE_METROPOLIS ? flips : becomes_up[up];
    }
  return rule;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
  return a < b ? a : b;
}

static bool
forward_visit(uint32_t hits, uint32_t sweeps, uint32_t v, struct ising_tiled_visit *visit)
{
  const uint64_t first = (uint64_t)(v / 2) * hits;
  if (first >= sweeps)
    return false;
  *visit = (struct ising_tiled_visit){.half = v % 2, .first = (uint32_t)first};
  visit->hits = visit->turn = smaller(hits, sweeps - visit->first);
  return true;
}

/* Returns half of the sweeps of group g, of `sweeps` sweeps in all, an even number. */
static uint32_t half_group(uint32_t hits, uint32_t sweeps, uint32_t g)
{
  const uint64_t first = (uint64_t)g * hits;
  return first >= sweeps ? 0 : smaller(hits, sweeps - (uint32_t)first) / 2;
}

/* For an even number of sweeps: A, B, A, B, .. A, where A between two groups is the end of one and
 * the beginning of the other. */
static bool
symmetrised_visit(uint32_t hits, uint32_t sweeps, uint32_t v, struct ising_tiled_visit *visit)
{
  const uint32_t g = v / 2, now = half_group(hits, sweeps, g);
  const uint32_t before = g > 0 ? half_group(hits, sweeps, g - 1) : 0;
  if (v % 2 == 1) {
    *visit = (struct ising_tiled_visit){
        .half = 1, .first = g * hits, .hits = 2 * now, .turn = now, .reversed = 0};
    return now > 0;
  }
  *visit = (struct ising_tiled_visit){.first = g > 0 ? (g - 1) * hits + before : 0,
                                      .hits = before + now,
                                      .turn = before,
                                      .reversed = 1};
  return before + now > 0;
}

bool ising_tiled_visit(const struct ising_tiling *tiling, uint32_t sweeps, uint32_t v,
                       struct ising_tiled_visit *visit)
{
  const uint32_t hits = tiling->hits > 0 ? tiling->hits : 1;
  if (tiling->order == ISING_ORDER_FORWARD)
    return forward_visit(hits, sweeps, v, visit);
  const uint32_t even = sweeps - sweeps % 2;
  const uint32_t balanced = even == 0 ? 0 : 2 * ((even - 1) / hits + 1) + 1;
  if (v < balanced)
    return symmetrised_visit(hits, even, v, visit);
  *visit = (struct ising_tiled_visit){.half = v - balanced, .first = even, .hits = 1, .turn = 1};
  return sweeps % 2 == 1 && v < balanced + 2;
}

/* ---- generators that are not Philox ---- */

static const struct ising_tiled_step lcg32 = {1664525, 1013904223};
static const struct ising_tiled_step lcg64 = {2862933555777941757, 1442695040888963407};

static void set_fibonacci(struct ising_tiled_generator *made, uint32_t r, uint32_t s)
{
  made->kind = ISING_TILED_FIBONACCI;
  made->lag_r = made->block_words = r;
  made->lag_s = s;
}

static void set_congruential(struct ising_tiled_generator *made, enum ising_tiled_kind kind,
                             uint32_t places, bool skipping)
{
  made->kind = kind;
  made->skipping = skipping;
  made->block_words = kind == ISING_TILED_LCG64 ? 2 * places : places;
  made->one = kind == ISING_TILED_LCG64 ? lcg64 : lcg32;
  made->thread = ising_tiled_power(made->one, skipping ? (uint64_t)made->blocks * places : 1);
}

struct ising_tiled_generator
ising_tiled_generator(const struct ising_tiled_geometry *geometry, enum ising_generator generator)
{
  struct ising_tiled_generator made = {.kind = ISING_TILED_PHILOX, .blocks = geometry->n_tiles / 2};
  const uint32_t places = geometry->places;
  switch (generator) {
  case ISING_GENERATOR_LCG32:
  case ISING_GENERATOR_LCG32_RANDOM:
    set_congruential(&made, ISING_TILED_LCG32, places, generator == ISING_GENERATOR_LCG32);
    break;
  case ISING_GENERATOR_LCG64:
  case ISING_GENERATOR_LCG64_RANDOM:
    set_congruential(&made, ISING_TILED_LCG64, places, generator == ISING_GENERATOR_LCG64);
    break;
  case ISING_GENERATOR_FIBONACCI_521:
    set_fibonacci(&made, 521, 353);
    break;
  case ISING_GENERATOR_FIBONACCI_1279:
    set_fibonacci(&made, 1279, 861);
    break;
  case ISING_GENERATOR_PHILOX:
  case ISING_GENERATORS:
    break;
  }
  return made;
}

/* ---- a tile on the CPU ---- */

void ising_tiled_set_masks(const struct ising_tiled_geometry *geometry,
                           const struct ising_tiled_masks *masks)
{
  const uint32_t t = geometry->tile, row = geometry->row;
  uint8_t *sites = (uint8_t *)masks->sites;
  uint8_t *before = (uint8_t *)masks->before, *after = (uint8_t *)masks->after;
  for (uint32_t place = 0; place < geometry->places; place++) {
    const uint32_t l = place / row, along = place % row;
    const size_t at = (size_t)l * geometry->row_words * ISING_TILED_LANES + along;
    sites[at] = 1;
    before[at] = l % t > 0;
    after[at] = l % t < t - 1;
    for (uint32_t colour = 0; colour < 2; colour++) {
      const uint32_t shift = ising_tiled_shift(geometry, colour, l);
      ((uint8_t *)masks->left[colour])[at] = !shift && along > 0;
      ((uint8_t *)masks->right[colour])[at] = shift && along + 1 < row;
    }
  }
}

/* Counts the neighbours of the sites of `colour` in the tiles beside, along axis 0, where lines
 * alternate between one at their beginning and one at their end; from[side]: the words of the other
 * colour there. */
static void add_ends(const struct ising_tiled_geometry *geometry, uint32_t colour,
                     const uint32_t *const from[2], uint32_t *beyond)
{
  const uint32_t t = geometry->tile, planes = geometry->lines / t;
  const uint32_t line = geometry->row_words, last = 8 * ((geometry->row - 1) % ISING_TILED_LANES);
  size_t at = 0;
  for (uint32_t z = 0; z < planes; z++) {
    const uint32_t shift = (z + colour) & 1;
    for (uint32_t y = 0; y < t; y += 2, at += 2 * line) {
      const size_t begins = at + shift * line, ends = at + (1 - shift) * line;
      beyond[begins] += from[0][begins + line - 1] >> last;
      beyond[ends + line - 1] += (from[1][ends] & 0xff) << last;
    }
  }
}

/* The same along axis 1 or 2: `n` words of the first and last lines of each part of `part` words,
 * planes or all. */
static void add_lines(const uint32_t *const from[2], size_t n, size_t words, size_t part,
                      uint32_t *restrict beyond)
{
  const uint32_t *restrict before = from[0] + part - n, *restrict after = from[1];
  for (size_t first = 0; first < words; first += part)
    for (size_t at = first; at < first + n; at++) {
      beyond[at] += before[at];
      beyond[at + part - n] += after[at];
    }
}

void ising_tiled_load(const struct ising_tiled_geometry *geometry, const uint32_t *words,
                      struct ising_tiled_tile tile, const struct ising_tiled_scratch *scratch)
{
  const size_t n = geometry->words, rest = ising_tiled_padded(geometry) - n;
  const uint32_t t = geometry->tile, planes = geometry->lines / t;
  const uint32_t *own = words + ising_tiled_words(geometry, tile);
  for (uint32_t colour = 0; colour < 2; colour++, own += n) {
    uint32_t *spins = scratch->spins[colour], *beyond = scratch->beyond[colour];
    memset(spins - ISING_TILED_ZEROS, 0, ISING_TILED_ZEROS * sizeof *spins);
    memcpy(spins, own, n * sizeof *spins);
    memset(spins + n, 0, (rest + ISING_TILED_ZEROS) * sizeof *spins);
    memset(beyond, 0, (n + rest) * sizeof *beyond);
    for (uint32_t axis = 0; axis < geometry->dimension; axis++) {
      const uint32_t *from[2];
      for (int side = 0; side < 2; side++)
        from[side] =
            words + (1 - colour) * n +
            ising_tiled_words(geometry, ising_tiled_next(geometry, tile, axis, 2 * side - 1));
      if (axis == 0)
        add_ends(geometry, colour, from, beyond);
      else if (axis == 1)
        add_lines(from, geometry->row_words, n, n / planes, beyond);
      else
        add_lines(from, n / planes, n, n, beyond);
    }
  }
}

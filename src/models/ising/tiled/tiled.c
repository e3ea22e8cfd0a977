/* Tiles of a lattice and the order of their updates. */
#include "models/ising/tiled/tiled.h"

#include "models/ising/ising.h"

enum {
  SIDE_2D = 32, /* the largest sides of a tile that are chosen, and that there may be */
  SIDE_3D = 8,
  SIDE_2D_MAXIMUM = ISING_TILE_MAXIMUM,
  SIDE_3D_MAXIMUM = 16,
};

static bool divides(const struct gpumc_checkerboard *lattice, size_t tile)
{
  return lattice->length_x % (2 * tile) == 0 && lattice->length_y % (2 * tile) == 0 &&
         (lattice->dimension == 2 || lattice->length_z % (2 * tile) == 0);
}

/* The side asked for, or the largest that fits; 0: none does. */
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
    return "it handles uniform couplings and fields only";
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
      /* A word before the line, and a byte behind it. */
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

/* Half of the sweeps of group g, of `sweeps` sweeps in all, an even number. */
static uint32_t half_group(uint32_t hits, uint32_t sweeps, uint32_t g)
{
  const uint64_t first = (uint64_t)g * hits;
  return first >= sweeps ? 0 : smaller(hits, sweeps - (uint32_t)first) / 2;
}

/* Of an even number of sweeps: A, B, A, B, .. A, where A between two groups is the end of the one
 * and the beginning of the other. */
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

/* Canonical runs: the inverse temperatures, the grid of reweighting, and the units of progress. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/canonical/canonical_state.h"
#include "core/base/memory.h"
#include "core/simulation/ladder.h"

static const double unit_updates = 0x1p28;

enum gpumc_status canonical_betas_make(const struct gpumc_params *params,
                                       struct canonical_betas *betas, struct gpumc_error *error)
{
  memset(betas, 0, sizeof *betas);
  betas->count = gpumc_ladder_count(params, "beta");
  enum gpumc_status status =
      gpumc_allocate_array(&betas->beta, betas->count, "inverse temperatures", error);
  if (status == GPUMC_OK)
    gpumc_ladder_read(params, "beta", betas->beta);
  return status;
}

void canonical_betas_free(struct canonical_betas *betas)
{
  free(betas->beta);
  memset(betas, 0, sizeof *betas);
}

/* Both ascend, so the points of a temperature follow each other. */
static void assign_points(const struct canonical_betas *betas, struct canonical_grid *grid)
{
  size_t m = 0;
  for (size_t p = 0; p < grid->points; p++) {
    size_t nearest = m;
    while (nearest + 1 < betas->count && fabs(betas->beta[nearest + 1] - grid->beta[p]) <
                                             fabs(betas->beta[nearest] - grid->beta[p]))
      nearest++;
    for (; m < nearest; m++)
      grid->first[m + 1] = p;
  }
  for (; m < betas->count; m++)
    grid->first[m + 1] = grid->points;
}

enum gpumc_status canonical_grid_make(const struct gpumc_params *params,
                                      const struct canonical_betas *betas,
                                      struct canonical_grid *grid, struct gpumc_error *error)
{
  memset(grid, 0, sizeof *grid);
  if (!gpumc_params_has(params, "reweight.step"))
    return GPUMC_OK;
  const struct gpumc_range range = gpumc_range_read(params, "reweight");
  grid->points = (size_t)gpumc_range_count(&range);
  enum gpumc_status status =
      gpumc_allocate_array(&grid->beta, grid->points, "inverse temperatures", error);
  for (size_t p = 0; p < grid->points && status == GPUMC_OK; p++)
    grid->beta[p] = gpumc_range_point(&range, p);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&grid->first, betas->count + 1, "the grid", error);
  if (status == GPUMC_OK)
    assign_points(betas, grid);
  return status;
}

void canonical_grid_free(struct canonical_grid *grid)
{
  free(grid->beta);
  free(grid->first);
  memset(grid, 0, sizeof *grid);
}

uint32_t canonical_unit(const struct canonical_settings *settings, const struct gpumc_model *model,
                        size_t temperatures)
{
  double sweep = (double)temperatures * (double)settings->replicas * (double)model->sites;
  double unit = fmax(floor(unit_updates / sweep), 1);
  return unit < canonical_end(settings) ? (uint32_t)unit : canonical_end(settings);
}

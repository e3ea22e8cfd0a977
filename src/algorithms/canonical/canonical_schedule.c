/* Canonical runs: the inverse temperatures, the grid of reweighting, and the units of progress. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/canonical/canonical_state.h"
#include "core/memory.h"

static const double unit_updates = 0x1p28;

/* from + i step, i = 0 .. count - 1. */
static enum gpumc_status make_range(const struct gpumc_params *params, const char *const key[3],
                                    double **beta, size_t *count, struct gpumc_error *error)
{
  double from = gpumc_params_real(params, key[0]);
  double to = gpumc_params_real(params, key[1]);
  double step = gpumc_params_real(params, key[2]);
  *count = (size_t)canonical_steps(from, to, step) + 1;
  enum gpumc_status status = gpumc_allocate_array(beta, *count, "inverse temperatures", error);
  for (size_t i = 0; i < *count && status == GPUMC_OK; i++)
    (*beta)[i] = fma((double)i, step, from);
  return status;
}

enum gpumc_status canonical_betas_make(const struct gpumc_params *params,
                                       struct canonical_betas *betas, struct gpumc_error *error)
{
  static const char *const range[3] = {"beta.from", "beta.to", "beta.step"};
  memset(betas, 0, sizeof *betas);
  if (gpumc_params_has(params, "beta.step"))
    return make_range(params, range, &betas->beta, &betas->count, error);
  betas->count = gpumc_params_count(params, "beta.values");
  enum gpumc_status status =
      gpumc_allocate_array(&betas->beta, betas->count, "inverse temperatures", error);
  for (size_t i = 0; i < betas->count && status == GPUMC_OK; i++)
    betas->beta[i] = gpumc_params_real_at(params, "beta.values", i);
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
  static const char *const range[3] = {"reweight.from", "reweight.to", "reweight.step"};
  memset(grid, 0, sizeof *grid);
  if (!gpumc_params_has(params, "reweight.step"))
    return GPUMC_OK;
  enum gpumc_status status = make_range(params, range, &grid->beta, &grid->points, error);
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

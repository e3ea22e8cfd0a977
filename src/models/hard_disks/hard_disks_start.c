/* Starting states of hard disks, from counters alone: a triangular lattice, a compressed random
 * state, both in halves, or positions from a file. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/hard_disks/hard_disks.h"

/* Up to this density compression is fast (docs/kernels/checkerboard.md). */
#define COMPRESSED_MAXIMUM 0.8
/* From this density on disks may be solid, or take long to melt. */
#define SOLID 0.7
/* Packing fractions at which replicas may stay on the side of the transition on which all of them
 * began, and agree with each other (docs/statistics.md). */
#define ONE_SIDED_LEAST 0.69
#define ONE_SIDED_MOST 0.72
/* Fewer disks go back and forth in hundreds of sweeps. */
#define ONE_SIDED_DISKS 32
/* Largest strain of a starting lattice. Pressures rise with the square of the strain, by 3 and 5 %
 * at 0.04 and packing fractions of 0.73 and 0.78: by 0.3 % here, comparable to errors of short
 * runs. */
#define STRAIN_MAXIMUM 0.01

/* ---- lattice ---- */

/* Returns the square of the smallest distance in a triangular lattice of that many columns and rows
 * in the box. */
static double spacing2(const double length[2], size_t columns, size_t rows)
{
  const double a = length[0] / (double)columns, h = length[1] / (double)rows;
  return fmin(fmin(a * a, 0.25 * a * a + h * h), 4.0 * h * h);
}

/* Finds columns and an even number of rows with at least that many sites and the largest
 * spacing. */
static void find_lattice(const double length[2], size_t particles, size_t lattice[2])
{
  double best = 0.0;
  for (size_t columns = 1; columns <= particles && (double)columns <= length[0]; columns++) {
    const size_t rows = 2 * ((particles + 2 * columns - 1) / (2 * columns));
    const double square = spacing2(length, columns, rows);
    if (square > best) {
      best = square;
      lattice[0] = columns;
      lattice[1] = rows;
    }
  }
}

/* Returns how much the lattice of a start is sheared, at the given density: how much farther apart
 * rows along x, or along y, are than in a triangular lattice. */
static double strain(const struct hard_disks_parameters *parameters)
{
  const double a = parameters->length[0] / (double)parameters->lattice[0],
               h = parameters->length[1] / (double)parameters->lattice[1];
  return fmin(fabs(log(h / a / sqrt(0.75))), fabs(log(h / a * sqrt(12.0))));
}

/* Finds columns and rows of about as many disks in a box of about that shape. */
static void find_unstrained(const struct hard_disks_parameters *parameters, size_t lattice[2])
{
  const double particles = parameters->box.particles,
               aspect = parameters->length[1] / parameters->length[0];
  lattice[1] = 2 * (size_t)fmax(1.0, rint(0.5 * sqrt(particles * aspect / sqrt(0.75))));
  lattice[0] = (size_t)fmax(1.0, rint(particles / (double)lattice[1]));
}

static bool may_be_one_sided(const struct hard_disks_parameters *parameters)
{
  return parameters->box.particles >= ONE_SIDED_DISKS &&
         parameters->packing_fraction > ONE_SIDED_LEAST - 1e-6 &&
         parameters->packing_fraction < ONE_SIDED_MOST + 1e-6;
}

const char *hard_disks_warn(const struct gpumc_model *model, char text[GPUMC_WARNING_BYTES])
{
  const struct hard_disks_parameters *parameters = hard_disks_parameters(model);
  size_t better[2];
  if (parameters->lattice[0] == 0 || parameters->packing_fraction < SOLID)
    return NULL;
  const double strained = strain(parameters);
  if (strained <= STRAIN_MAXIMUM)
    return NULL;
  find_unstrained(parameters, better);
  snprintf(text, GPUMC_WARNING_BYTES,
           "model.start: the triangular lattice of %zu columns and %zu rows is strained by %.1f %% "
           "in a box of %.7g x %.7g, and a solid, which a packing fraction of %.4g may be, stays "
           "strained: its pressure is too high; fit the box to the lattice, with model.lattice: "
           "[%zu, %zu] and model.packing_fraction alone",
           parameters->lattice[0], parameters->lattice[1], 100.0 * strained, parameters->length[0],
           parameters->length[1], parameters->packing_fraction, better[0], better[1]);
  return "strain_warning";
}

#define ONE_SIDED(HOW)                                                                             \
  "model.start: all replicas begin " HOW ", and at packing fractions from 0.69 to 0.72 they may "  \
  "stay on that side of the transition between fluid and solid and agree with each other, far "    \
  "from equilibrium, so the result is not trusted; use model.start: mixed in a box that fits a "   \
  "lattice (give model.lattice: [columns, rows] and model.packing_fraction)"

enum gpumc_status hard_disks_warn_of_side(const struct gpumc_model *model, size_t samples,
                                          const char **warning, struct gpumc_error *error)
{
  static const char *const begins[] = {
      [HARD_DISKS_COMPRESSED] = ONE_SIDED("compressed from a fluid"),
      [HARD_DISKS_LATTICE] = ONE_SIDED("in a lattice"),
      [HARD_DISKS_MIXED] = NULL,
      [HARD_DISKS_FILE] = ONE_SIDED("in the state of one file"),
  };
  const struct hard_disks_parameters *parameters = hard_disks_parameters(model);
  (void)samples, (void)error;
  *warning = may_be_one_sided(parameters) ? begins[parameters->start] : NULL;
  return GPUMC_OK;
}

/* A lattice with more sites than disks has evenly spread vacancies. */
static void start_lattice(const struct hard_disks_parameters *parameters, const size_t lattice[2],
                          uint8_t *portable)
{
  const size_t particles = parameters->box.particles, columns = lattice[0],
               sites = columns * lattice[1];
  for (size_t i = 0; i < particles; i++) {
    const size_t site = (size_t)(((unsigned __int128)i * sites) / particles);
    const size_t a = site % columns, b = site / columns;
    const double x = ((double)a + 0.25 + 0.5 * (double)(b % 2)) / (double)columns,
                 y = ((double)b + 0.5) / (double)lattice[1];
    hard_disks_put(portable, HARD_DISKS_PORTABLE_HEAD + 2 * i,
                   hard_disks_in_box(x * parameters->length[0], parameters->length[0]));
    hard_disks_put(portable, HARD_DISKS_PORTABLE_HEAD + 2 * i + 1,
                   hard_disks_in_box(y * parameters->length[1], parameters->length[1]));
  }
}

static bool is_spaced(const double length[2], const size_t lattice[2])
{
  return spacing2(length, lattice[0], lattice[1]) >= HARD_DISKS_SPACING * HARD_DISKS_SPACING;
}

/* Finds the lattice of a start; returns whether the box has room for it. */
static bool
take_lattice(const struct hard_disks_settings *settings, struct hard_disks_parameters *parameters)
{
  memcpy(parameters->lattice, settings->lattice, sizeof parameters->lattice);
  if (settings->particles > 0)
    find_lattice(parameters->length, parameters->box.particles, parameters->lattice);
  return parameters->lattice[0] > 0 && is_spaced(parameters->length, parameters->lattice);
}

static enum hard_disks_start find_auto(const struct hard_disks_settings *settings,
                                       const struct hard_disks_parameters *parameters)
{
  struct hard_disks_parameters with = *parameters;
  return may_be_one_sided(parameters) && take_lattice(settings, &with) &&
                 strain(&with) <= STRAIN_MAXIMUM
             ? HARD_DISKS_MIXED
             : HARD_DISKS_COMPRESSED;
}

enum gpumc_status hard_disks_find_start(const struct hard_disks_settings *settings,
                                        struct hard_disks_parameters *parameters,
                                        struct gpumc_error *error)
{
  if (parameters->start == HARD_DISKS_AUTO)
    parameters->start = find_auto(settings, parameters);
  if (parameters->start == HARD_DISKS_FILE)
    return GPUMC_OK;
  if (parameters->start != HARD_DISKS_LATTICE &&
      parameters->packing_fraction > COMPRESSED_MAXIMUM + 1e-6)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "compression from a random state does not reach a packing fraction of "
                           "%.7g, but only %g; use start: lattice",
                           parameters->packing_fraction, COMPRESSED_MAXIMUM);
  if (parameters->start == HARD_DISKS_COMPRESSED)
    return GPUMC_OK;
  if (!take_lattice(settings, parameters))
    return gpumc_error_set(error, GPUMC_INVALID,
                           "no triangular lattice of %u disks fits into a box of %.7g x %.7g",
                           parameters->box.particles, parameters->length[0], parameters->length[1]);
  return GPUMC_OK;
}

/* Scales from the box at constant volume to that of a grid, which is the same or slightly larger,
 * enough that rounding makes no disks overlap. */
static void scale_state(const struct hard_disks_parameters *parameters,
                        const struct hard_disks_grid *grid, uint8_t *portable)
{
  const double unit = (double)HARD_DISKS_UNIT;
  const double to[2] = {(double)grid->box.width_x * grid->box.cells_x,
                        (double)grid->box.width_y * grid->box.cells_y};
  for (size_t d = 0; d < 2; d++) {
    if (to[d] == parameters->length[d])
      continue;
    hard_disks_put(portable, d, to[d]);
    for (size_t i = 0; i < parameters->box.particles; i++) {
      const size_t at = HARD_DISKS_PORTABLE_HEAD + 2 * i + d;
      double place;
      memcpy(&place, portable + at * sizeof place, sizeof place);
      hard_disks_put(portable, at, floor(place / parameters->length[d] * to[d] * unit) / unit);
    }
  }
}

/* Returns whether the box has room for a triangular lattice. */
static bool find_any_lattice(const struct hard_disks_parameters *parameters, size_t lattice[2])
{
  lattice[0] = lattice[1] = 1;
  find_lattice(parameters->length, parameters->box.particles, lattice);
  return lattice[0] * lattice[1] >= parameters->box.particles &&
         is_spaced(parameters->length, lattice);
}

static enum gpumc_status fixed_state(const struct gpumc_model *model,
                                     const struct gpumc_ensemble_plan *plan,
                                     struct gpumc_random random, uint32_t r, int threads,
                                     uint8_t *portable, struct gpumc_error *error)
{
  const struct hard_disks_parameters *parameters = hard_disks_parameters(model);
  const uint32_t number = gpumc_plan_replica(plan, r);
  const size_t all = gpumc_plan_size(plan, plan->capacity);
  /* Of an odd number the seed decides, so that merged runs of one replica begin on both sides. */
  const size_t twice = 2 * (size_t)number + (random.key[0] & 1);
  size_t any[2];
  for (size_t d = 0; d < 2; d++) {
    hard_disks_put(portable, d, parameters->length[d]);
    hard_disks_put(portable, 2 + d, 0.0);
  }
  if (parameters->start == HARD_DISKS_FILE)
    memcpy(portable + HARD_DISKS_PORTABLE_HEAD * sizeof(double), parameters->positions,
           2 * model->sites * sizeof(double));
  else if (parameters->start == HARD_DISKS_LATTICE ||
           (parameters->start == HARD_DISKS_MIXED && twice >= all))
    start_lattice(parameters, parameters->lattice, portable);
  else if (plan->for_timings && find_any_lattice(parameters, any))
    start_lattice(parameters, any, portable);
  else
    return hard_disks_compress(parameters, random, number, threads, portable, error);
  return GPUMC_OK;
}

enum gpumc_status hard_disks_start_state(const struct gpumc_model *model,
                                         const struct gpumc_ensemble_plan *plan,
                                         struct gpumc_random random, uint32_t r, int threads,
                                         uint8_t *portable, struct gpumc_error *error)
{
  GPUMC_TRY(fixed_state(model, plan, random, r, threads, portable, error));
  scale_state(hard_disks_parameters(model), hard_disks_grid_of(model, plan), portable);
  return GPUMC_OK;
}

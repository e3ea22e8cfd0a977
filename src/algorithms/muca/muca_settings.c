/* Multicanonical sampling: what the keys say, and what they say by default. */
#include <math.h>
#include <string.h>

#include "algorithms/muca/muca.h"
#include "core/numerics/elementary.h"

enum {
  WALKERS_LEAST = 1024, /* by default */
  WALKERS_MOST = 1 << 18,
  BINS_LEAST = 64, /* by default, of all values */
  /* Blocks are groups of walkers from so many groups on: fewer tell too little of an error. */
  GROUPS_LEAST = 20
};

/* The last inverse temperature by default. */
static const double beta_to = 1;

const char *const muca_start_choices[] = {
    [MUCA_START_FLAT] = "flat",
    [MUCA_START_WANG_LANDAU] = "wang_landau",
    [MUCA_START_FILE] = "file",
    NULL,
};

/* Bins of a channel without a grid, of the whole system: narrow enough for averages within a bin to
 * follow from two moments wherever results are reweighted to. */
static double default_bin(const struct gpumc_params *params, const struct gpumc_model *model,
                          const struct muca_settings *settings)
{
  const char *block = gpumc_ladder_block(params);
  double first = 0, last = beta_to;
  if (gpumc_params_has(params, block))
    gpumc_ladder_ends(params, block, &first, &last);
  const double steepest = fmax(fabs(gpumc_moved_coefficient(model, &settings->moved, first)),
                               fabs(gpumc_moved_coefficient(model, &settings->moved, last)));
  const double all = 2 * model->bound[settings->channel] * model->quantum[settings->channel];
  return steepest * all > BINS_LEAST ? 1 / steepest : all / BINS_LEAST;
}

/* Levels of the channel's own grid, or bins. */
static void read_levels(const struct gpumc_params *params, const struct gpumc_model *model,
                        struct muca_settings *settings)
{
  const bool given = gpumc_params_has(params, "bin");
  const struct gpumc_grid *grid = &model->grid[settings->channel];
  int64_t width = 0;
  if (given || grid->levels == 0) {
    const double bin =
        given ? gpumc_params_real(params, "bin") : default_bin(params, model, settings);
    const double least = grid->levels > 0 ? gpumc_level_distance(model, settings->channel)
                                          : model->quantum[settings->channel];
    const double quanta = grid->levels > 0 ? (double)grid->spacing : 1.0;
    width = (int64_t)fmin(fmax(rint(bin / least), 1) * quanta, 0x1p62);
  }
  const struct gpumc_grid levels = gpumc_model_bins(model, settings->channel, width);
  settings->lowest = levels.lowest;
  settings->spacing = levels.spacing;
  settings->levels = levels.levels;
  settings->binned = levels.spacing != gpumc_model_bins(model, settings->channel, 0).spacing;
}

static void read_range(const struct gpumc_params *params, const struct gpumc_model *model,
                       struct muca_settings *settings)
{
  settings->first = 0;
  settings->last = settings->levels > 0 ? settings->levels - 1 : 0;
  if (!gpumc_params_has(params, "range") || settings->levels > MUCA_LEVELS_MAXIMUM)
    return;
  const double sites = (double)model->sites, tolerance = 1e-9;
  const double from = gpumc_params_real(params, "range.from");
  const double to = gpumc_params_real(params, "range.to");
  while (settings->first < settings->last &&
         muca_level_value(settings, model, settings->first) / sites < from - tolerance)
    settings->first++;
  while (settings->last > settings->first &&
         muca_level_value(settings, model, settings->last) / sites > to + tolerance)
    settings->last--;
}

/* Windows are all of one width: the range is `count` of them less what they have in common. */
static void read_windows(const struct gpumc_params *params, struct muca_settings *settings)
{
  const size_t levels = settings->last + 1 - settings->first;
  settings->windows = 1;
  settings->window = levels;
  if (!gpumc_params_has(params, "windows"))
    return;
  const double count = (double)gpumc_params_integer(params, "windows.count");
  const double overlap = gpumc_params_real(params, "windows.overlap");
  settings->windows = (size_t)count;
  settings->window = (size_t)ceil((double)levels / (count - (count - 1) * overlap));
}

/* Where an iteration spends as much on settling as on counting it has w^1.25 / 5 walkers (eq. 7);
 * with five times as many a GPU is busier, and little is lost. Of several windows one or two
 * iterate at a time, so that each may have more. */
static size_t default_walkers(const struct muca_settings *settings)
{
  const double width = (double)settings->window;
  const double wanted = gpumc_exp(1.25 * gpumc_log(width)) * (settings->windows > 1 ? 4 : 1);
  size_t walkers = WALKERS_LEAST;
  while ((double)walkers < wanted && walkers < WALKERS_MOST)
    walkers *= 2;
  return walkers;
}

void muca_settings_read(const struct gpumc_params *params, const struct gpumc_model *model,
                        struct muca_settings *settings)
{
  memset(settings, 0, sizeof *settings);
  gpumc_moved_read(params, model, &settings->moved);
  settings->channel = settings->moved.conjugate;
  settings->observables = gpumc_observables_of(params, model->ops, NULL, settings->moved.control);
  read_levels(params, model, settings);
  settings->width = (settings->binned ? 2 : 1) * settings->observables.n_means;
  read_range(params, model, settings);
  read_windows(params, settings);
  settings->samples = (size_t)gpumc_params_integer(params, "samples");
  settings->walkers = gpumc_params_has(params, "walkers")
                          ? (size_t)gpumc_params_integer(params, "walkers")
                          : default_walkers(settings);
  settings->thermalization = gpumc_params_real(params, "iteration.thermalization");
  settings->updates = gpumc_params_real(params, "iteration.updates");
  settings->exponent = gpumc_params_real(params, "iteration.exponent");
  settings->growth = gpumc_params_real(params, "iteration.growth");
  settings->divergence = gpumc_params_real(params, "iteration.divergence");
  settings->iterations = (size_t)gpumc_params_integer(params, "iteration.maximum");
  settings->extrapolate = gpumc_params_boolean(params, "iteration.extrapolate");
  settings->write_weights = gpumc_params_boolean(params, "iteration.write_weights");
  const char *start = gpumc_params_string(params, "iteration.start");
  while (strcmp(muca_start_choices[settings->start], start) != 0)
    settings->start++;
  settings->production = (uint64_t)gpumc_params_real(params, "production.updates");
  settings->measurements = (size_t)gpumc_params_integer(params, "production.measurements");
  const size_t groups = (settings->walkers + GPUMC_WALK_GROUP - 1) / GPUMC_WALK_GROUP;
  settings->blocks = groups < GROUPS_LEAST || groups > MUCA_BLOCKS ? MUCA_BLOCKS : groups;
  settings->parts = groups < GROUPS_LEAST ? 1 : settings->blocks;
}

size_t muca_replicas(const struct gpumc_params *params)
{
  return gpumc_params_has(params, "walkers") ? (size_t)gpumc_params_integer(params, "walkers")
                                             : WALKERS_LEAST;
}

cJSON *muca_defaults(const struct gpumc_params *params, const struct gpumc_model *model)
{
  cJSON *defaults = cJSON_CreateObject();
  bool good = defaults != NULL;
  if (good && !gpumc_params_has(params, "control") && !gpumc_params_has(params, "beta.values")) {
    cJSON *beta = cJSON_AddObjectToObject(defaults, "beta");
    good = beta != NULL && cJSON_AddNumberToObject(beta, "from", 0) != NULL &&
           cJSON_AddNumberToObject(beta, "to", beta_to) != NULL &&
           cJSON_AddNumberToObject(beta, "step", 0.01) != NULL;
  }
  if (good && model != NULL) {
    struct muca_settings settings;
    muca_settings_read(params, model, &settings);
    const double quantum = model->quantum[settings.channel];
    if (model->grid[settings.channel].levels == 0)
      good = cJSON_AddNumberToObject(defaults, "bin", (double)settings.spacing * quantum) != NULL;
    good = good && cJSON_AddNumberToObject(defaults, "walkers", (double)settings.walkers) != NULL;
  }
  if (good)
    return defaults;
  cJSON_Delete(defaults);
  return NULL;
}

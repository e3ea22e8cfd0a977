/* Hard disks: keys and instances. */
#include "models/hard_disks/hard_disks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/checksum.h"
#include "core/base/memory.h"
#include "core/numerics/elementary.h"

/* By enum hard_disks_start. */
static const char *const starts[] = {"compressed", "lattice", "mixed", "file", "auto", NULL};

static const char disks[] = "particles or lattice", density[] = "packing_fraction or box";

static const struct gpumc_key keys[] = {
    {.name = "particles",
     .type = GPUMC_KEY_INTEGER,
     .doc = "Number of disks.",
     .unit = "disks",
     .minimum = 1,
     .maximum = HARD_DISKS_PARTICLES_MAXIMUM,
     .example = "32",
     .exactly_one_of = disks,
     .sweepable = true},
    {.name = "lattice",
     .type = GPUMC_KEY_INTEGER,
     .doc = "Columns and rows [nx, ny] of a triangular lattice of nx ny disks that fits into the "
            "box. The number of rows must be even.",
     .unit = "disks",
     .minimum = 1,
     .maximum = 65536,
     .list_minimum = 2,
     .list_maximum = 2,
     .exactly_one_of = disks,
     .sweepable = true},
    {.name = "packing_fraction",
     .type = GPUMC_KEY_REAL,
     .doc = "Share of the box that the disks cover.",
     .minimum = 1e-6,
     .maximum = HARD_DISKS_PACKING_MAXIMUM,
     .example = "0.5",
     .exactly_one_of = density,
     .sweepable = true},
    {.name = "box",
     .type = GPUMC_KEY_REAL,
     .doc = "Sides [Lx, Ly] of the periodic box, which are rounded to about 1e-7.",
     .unit = "diameters",
     .minimum = 2,
     .maximum = HARD_DISKS_CELLS_MAXIMUM,
     .list_minimum = 2,
     .list_maximum = 2,
     .exactly_one_of = density,
     .sweepable = true},
    {.name = "aspect",
     .type = GPUMC_KEY_REAL,
     .doc = "Ly / Lx if `particles` and `packing_fraction` are given. With `lattice` the box has "
            "the aspect ratio of the lattice.",
     .default_text = "1.0",
     .minimum = 1e-3,
     .maximum = 1e3,
     .sweepable = true},
    {.name = "start",
     .type = GPUMC_KEY_CHOICE,
     .doc =
         "Initial states: compressed from random positions; a triangular lattice, with evenly "
         "spread vacancies where it has more sites than disks; mixed, both (half of the replicas "
         "each, so that a run that has not relaxed contradicts itself); or read from a file. By "
         "default mixed for 32 or more disks at packing fractions from 0.69 to 0.72, where fluid "
         "and solid may outlive a run, if a lattice fits the box; otherwise compressed.",
     .default_text = starts[HARD_DISKS_AUTO],
     .choices = starts,
     .sweepable = true},
    {.name = "file",
     .type = GPUMC_KEY_STRING,
     .doc = "Path of the text file with the positions, two numbers x y for each disk; "
            "docs/file-format.md describes its form.",
     .sweepable = true},
    {.name = "wave_vectors",
     .type = GPUMC_KEY_INTEGER,
     .doc = "Wave vectors at which the structure factor is measured, if requested: nx, ny of one "
            "vector after the other, in units of 2 pi / Lx and 2 pi / Ly. By default the first 64 "
            "along x and along y: [1, 0, 0, 1, 2, 0, 0, 2, ...].",
     .minimum = -HARD_DISKS_WAVE_MAXIMUM,
     .maximum = HARD_DISKS_WAVE_MAXIMUM,
     .list_minimum = 2,
     .list_maximum = 2 * HARD_DISKS_WAVES_MAXIMUM},
    {.name = NULL},
};

/* ---- checks ---- */

/* Reads the keys that a check may use, all but `file`. */
static struct hard_disks_settings settings_of(const struct gpumc_params *params)
{
  struct hard_disks_settings settings = {.aspect = gpumc_params_real(params, "aspect")};
  if (gpumc_params_has(params, "particles")) {
    settings.particles = (size_t)gpumc_params_integer(params, "particles");
  } else {
    struct gpumc_list lattice = gpumc_params_list(params, "lattice");
    for (size_t d = 0; d < 2; d++)
      settings.lattice[d] = (size_t)gpumc_list_integer(&lattice);
  }
  if (gpumc_params_has(params, "packing_fraction")) {
    settings.packing_fraction = gpumc_params_real(params, "packing_fraction");
  } else {
    struct gpumc_list box = gpumc_params_list(params, "box");
    for (size_t d = 0; d < 2; d++)
      settings.length[d] = gpumc_list_real(&box);
  }
  return settings;
}

static void check_lattice(const struct gpumc_params *params, const struct gpumc_subject *subject,
                          struct gpumc_report *report)
{
  (void)subject;
  if (!gpumc_params_has(params, "lattice"))
    return;
  struct gpumc_list lattice = gpumc_params_list(params, "lattice");
  const int64_t columns = gpumc_list_integer(&lattice), rows = gpumc_list_integer(&lattice);
  if (rows % 2 != 0)
    gpumc_params_mistake(params, report, "lattice",
                         "lattice: %lld rows do not fit into a periodic box: every other row is "
                         "shifted by half a column, so their number must be even",
                         (long long)rows);
  else if (columns * rows > HARD_DISKS_PARTICLES_MAXIMUM)
    gpumc_params_mistake(params, report, "lattice", "lattice: %lld disks exceed the limit of %d",
                         (long long)(columns * rows), HARD_DISKS_PARTICLES_MAXIMUM);
}

static void check_aspect(const struct gpumc_params *params, const struct gpumc_subject *subject,
                         struct gpumc_report *report)
{
  (void)subject;
  if (gpumc_params_real(params, "aspect") == 1.0)
    return;
  if (gpumc_params_has(params, "box"))
    gpumc_params_mistake(params, report, "aspect", "aspect is not used: `box` gives both sides");
  else if (gpumc_params_has(params, "lattice"))
    gpumc_params_mistake(params, report, "aspect",
                         "aspect is not used: the box has the aspect ratio of the `lattice`");
}

/* Returns the key that determines the size of the box. */
static const char *density_key(const struct gpumc_params *params)
{
  return gpumc_params_has(params, "box") ? "box" : "packing_fraction";
}

static void check_box(const struct gpumc_params *params, const struct gpumc_subject *subject,
                      struct gpumc_report *report)
{
  (void)subject;
  struct hard_disks_parameters parameters = {0};
  struct gpumc_error error = {0};
  const struct hard_disks_settings settings = settings_of(params);
  const char *key = density_key(params);
  if (hard_disks_make_box(&settings, &parameters, &error) != GPUMC_OK)
    gpumc_params_mistake(params, report, key, "%s: %s", key, gpumc_error_text(&error));
  gpumc_error_free(&error);
}

static enum hard_disks_start start_of(const struct gpumc_params *params)
{
  const char *start = gpumc_params_string(params, "start");
  enum hard_disks_start found = HARD_DISKS_COMPRESSED;
  while (strcmp(starts[found], start) != 0)
    found++;
  return found;
}

static bool lattice_fits(const struct hard_disks_settings *settings)
{
  struct hard_disks_parameters parameters = {.start = HARD_DISKS_LATTICE};
  struct gpumc_error error = {0};
  const bool fits = hard_disks_make_box(settings, &parameters, &error) == GPUMC_OK &&
                    hard_disks_find_start(settings, &parameters, &error) == GPUMC_OK;
  gpumc_error_free(&error);
  return fits;
}

enum { ADVICE_BYTES = 128, LARGER_BOXES = 1000 };

/* Names the first box of the same shape, a little larger each time, that has room for the lattice;
 * nothing if none of them has. Three decimals are enough, and are read back as the number that was
 * tried. */
static void advise_box(const struct hard_disks_settings *asked, char advice[ADVICE_BYTES])
{
  struct hard_disks_settings settings = *asked;
  const bool is_box = asked->packing_fraction == 0.0;
  advice[0] = '\0';
  for (int k = 1; k <= LARGER_BOXES; k++) {
    settings.packing_fraction = is_box ? 0.0 : (ceil(1e3 * asked->packing_fraction) - k) / 1e3;
    for (size_t d = 0; d < 2; d++)
      settings.length[d] = ceil(asked->length[d] * (1e3 + k)) / 1e3;
    if (settings.packing_fraction < 0.0 || !lattice_fits(&settings))
      continue;
    if (is_box)
      snprintf(advice, ADVICE_BYTES, "; a box of %.3f x %.3f would do", settings.length[0],
               settings.length[1]);
    else
      snprintf(advice, ADVICE_BYTES,
               "; a packing fraction of %.3f would do, or `lattice` in place of `particles`",
               settings.packing_fraction);
    return;
  }
}

static void check_start(const struct gpumc_params *params, const struct gpumc_subject *subject,
                        struct gpumc_report *report)
{
  (void)subject;
  struct hard_disks_parameters parameters = {0};
  struct gpumc_error error = {0};
  const struct hard_disks_settings settings = settings_of(params);
  const char *key = gpumc_params_given(params, "start") ? "start" : density_key(params);
  char advice[ADVICE_BYTES] = "";
  parameters.start = start_of(params);
  if (parameters.start != HARD_DISKS_FILE &&
      hard_disks_make_box(&settings, &parameters, &error) == GPUMC_OK &&
      hard_disks_find_start(&settings, &parameters, &error) != GPUMC_OK) {
    if (parameters.start != HARD_DISKS_COMPRESSED)
      advise_box(&settings, advice);
    gpumc_params_mistake(params, report, key, "%s: %s%s", key, gpumc_error_text(&error), advice);
  }
  gpumc_error_free(&error);
}

static void check_file(const struct gpumc_params *params, const struct gpumc_subject *subject,
                       struct gpumc_report *report)
{
  (void)subject;
  const bool wanted = start_of(params) == HARD_DISKS_FILE, given = gpumc_params_has(params, "file");
  if (wanted && !given)
    gpumc_params_mistake(params, report, "start",
                         "start: file needs the key 'file', the path of the positions");
  else if (wanted && gpumc_params_string(params, "file")[0] == '\0')
    gpumc_params_mistake(params, report, "file", "file must be the path of the positions");
  else if (given && !wanted)
    gpumc_params_mistake(params, report, "file",
                         "file is read with start: file only; this start is %s",
                         gpumc_params_string(params, "start"));
}

static void check_waves(const struct gpumc_params *params, const struct gpumc_subject *subject,
                        struct gpumc_report *report)
{
  (void)subject;
  if (!gpumc_params_has(params, "wave_vectors"))
    return;
  struct gpumc_list waves = gpumc_params_list(params, "wave_vectors");
  if (waves.left % 2 != 0)
    gpumc_params_mistake(params, report, "wave_vectors",
                         "wave_vectors: %zu numbers do not form pairs nx, ny", waves.left);
  while (waves.left >= 2) {
    const int64_t nx = gpumc_list_integer(&waves), ny = gpumc_list_integer(&waves);
    if (nx == 0 && ny == 0)
      gpumc_params_mistake(
          params, report, "wave_vectors",
          "wave_vectors: leave out 0, 0, where the structure factor is the number of disks");
  }
}

#define READS_BOX "particles lattice packing_fraction box aspect"
static const struct gpumc_check checks[] = {{.reads = "lattice", .run = check_lattice},
                                            {.reads = "aspect lattice box", .run = check_aspect},
                                            {.reads = READS_BOX, .run = check_box},
                                            {.reads = READS_BOX " start", .run = check_start},
                                            {.reads = "start file", .run = check_file},
                                            {.reads = "wave_vectors", .run = check_waves},
                                            {.run = NULL}};

/* ---- instances ---- */

#define IMMOVABLE "a side of the box is at the limit of what its cells allow"

enum gpumc_status hard_disks_instance(const struct hard_disks_settings *settings,
                                      struct gpumc_model *model, struct gpumc_error *error)
{
  struct hard_disks_parameters *parameters;
  memset(model, 0, sizeof *model);
  model->ops = &gpumc_model_hard_disks;
  GPUMC_TRY(gpumc_allocate_array(&parameters, 1, "parameters of the model", error));
  model->parameters = parameters;
  GPUMC_TRY(hard_disks_make_box(settings, parameters, error));
  hard_disks_find_grids(parameters);
  parameters->start = settings->start;
  GPUMC_TRY(hard_disks_find_start(settings, parameters, error));
  if (settings->start == HARD_DISKS_FILE)
    GPUMC_TRY(hard_disks_read_file(settings->file, parameters, error));
  model->sites = parameters->box.particles;
  model->portable_bytes = (HARD_DISKS_PORTABLE_HEAD + 2 * model->sites) * sizeof(double);
  model->samples = 1;
  model->reads_file = settings->start == HARD_DISKS_FILE;
  model->log_states = NAN;
  model->control[HARD_DISKS_BETA_PRESSURE] = NAN; /* no value of its own */
  if (parameters->open.least > parameters->open.most)
    model->immovable[HARD_DISKS_BETA_PRESSURE] =
        settings->packing_fraction > 0.0 ? IMMOVABLE
            "; change model.packing_fraction a little, or model.aspect"
                                         : IMMOVABLE "; change model.box a little";
  hard_disks_describe_channels(model);
  return hard_disks_describe_profiles(settings, model, error);
}

static enum gpumc_status
create(const struct gpumc_params *params, struct gpumc_model *model, struct gpumc_error *error)
{
  struct hard_disks_settings settings = settings_of(params);
  settings.start = start_of(params);
  if (settings.start == HARD_DISKS_FILE)
    settings.file = gpumc_params_string(params, "file");
  int32_t wave[2 * HARD_DISKS_WAVES_MAXIMUM];
  if (gpumc_params_has(params, "wave_vectors")) {
    struct gpumc_list waves = gpumc_params_list(params, "wave_vectors");
    settings.n_waves = waves.left / 2;
    settings.wave = wave;
    for (size_t i = 0; waves.left > 0; i++)
      wave[i] = (int32_t)gpumc_list_integer(&waves);
  }
  return hard_disks_instance(&settings, model, error);
}

static void destroy(struct gpumc_model *model)
{
  struct hard_disks_parameters *parameters = model->parameters;
  if (parameters != NULL) {
    free(parameters->positions);
    free(parameters->wave);
    free(parameters->scales);
  }
  free(parameters);
  memset(model, 0, sizeof *model);
}

/* gpumc_model_ops.sample_checksum, for the positions of a file. */
static enum gpumc_status sample_checksum(const struct gpumc_model *model, size_t number,
                                         uint64_t *checksum, struct gpumc_error *error)
{
  (void)number, (void)error;
  const double *positions = hard_disks_parameters(model)->positions;
  *checksum =
      positions != NULL ? gpumc_checksum_of(positions, 2 * model->sites * sizeof *positions) : 0;
  return GPUMC_OK;
}

/* In order of preference. */
static const struct gpumc_kernel_ops *const kernels[] = {
    &hard_disks_checkerboard_cpu, &hard_disks_checkerboard_cuda, &hard_disks_serial_cpu, NULL};

/* Pressures of fluids near the packing fraction of the example. */
static const char *const examples[] = {"algorithm.control.from=2.0", "algorithm.control.to=3.0",
                                       NULL};

const struct gpumc_model_ops gpumc_model_hard_disks = {
    .name = "hard_disks",
    .summary = "Hard disks in a periodic box at constant volume or pressure",
    .citation = "@article{AlderWainwright1962,\n"
                "  author = {Alder, B. J. and Wainwright, T. E.},\n"
                "  title = {Phase Transition in Elastic Disks},\n"
                "  journal = {Physical Review},\n"
                "  volume = {127},\n"
                "  pages = {359--361},\n"
                "  year = {1962},\n"
                "  doi = {10.1103/PhysRev.127.359}\n"
                "}\n",
    .keys = keys,
    .examples = examples,
    .file_key = "file",
    .channels = hard_disks_channels,
    .n_channels = HARD_DISKS_CHANNELS,
    .tracked = HARD_DISKS_VOLUME,
    .controls = hard_disks_controls,
    .n_controls = HARD_DISKS_CONTROLS,
    .coefficients = hard_disks_coefficients,
    .means = hard_disks_means,
    .n_means = HARD_DISKS_MEANS,
    .quantities = hard_disks_quantities,
    .n_quantities = HARD_DISKS_QUANTITIES,
    .kernels = kernels,
    .checks = checks,
    .warn = hard_disks_warn,
    .create = create,
    .sample_checksum = sample_checksum,
    .destroy = destroy,
};

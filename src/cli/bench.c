/* gpumc bench: update rates of the kernels of a device, through their operations only. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench_case.h"
#include "cli/cli.h"
#include "core/base/machine.h"
#include "core/config/params.h"
#include "core/device/device_cpu.h"
#include "core/numerics/isa.h"
#include "core/simulation/registry.h"

enum {
  OPTION_DEVICE = 256,
  OPTION_MODEL,
  OPTION_SHAPE,
  OPTION_SET,
  OPTION_KERNEL,
  OPTION_POPULATION,
  OPTION_SWEEPS,
  OPTION_BETA,
  OPTION_HITS,
  OPTION_UPDATE,
  OPTION_THREADS,
  OPTION_ISA,
  OPTION_SECONDS,
  OPTION_RNG,
  OPTION_JSON,
  OPTION_PLUGIN,
  CHOICES = 5, /* kernel, instruction set, generator, threads, hits */
  DEFAULT_POPULATION = 8192,
  DEFAULT_SWEEPS = 10,
};
static const double default_control = 0.44;
static const double default_seconds = 0.5;
static const double seconds_maximum = 3600;

enum { LIST_MAXIMUM = 32 };

struct list {
  int values[LIST_MAXIMUM];
  size_t count;
};

struct bench_arguments {
  const char *command;
  struct bench_settings settings;
  struct list threads, levels, hits; /* of integers: thread counts, enum gpumc_isa, hits */
  bool rng, json;
};

static const struct argp_option options[] = {
    {"device", OPTION_DEVICE, "DEVICE", 0,
     "auto, cpu, cuda or cuda:N (default: cpu with --threads or --isa, else auto)", 0},
    {"model", OPTION_MODEL, "MODEL", 0, "The model (default: ising2d)", 0},
    {"shape", OPTION_SHAPE, "LxLx...", 0, "The model's key `shape` (default: 64x64, or 32x32x32)",
     0},
    {"set", OPTION_SET, "model.KEY=VALUE", 0, "Any other key of the model, such as model.J=-1", 0},
    {"kernel", OPTION_KERNEL, "VARIANT", 0,
     "Measure this kernel only, such as packed (default: all)", 0},
    {"population", OPTION_POPULATION, "R", 0, "Number of replicas (default: 8192)", 0},
    {"sweeps", OPTION_SWEEPS, "N", 0, "Minimum number of sweeps per repeat (default: 10)", 0},
    {"beta", OPTION_BETA, "B", 0,
     "Inverse temperature, or the first control of a model without a temperature (default: 0.44)",
     0},
    {"hits", OPTION_HITS, "LIST", 0, "Hits for kernels with tiles, such as '1,10,100' (default: 1)",
     0},
    {"update", OPTION_UPDATE, "MOVE", 0,
     "Move that the kernels make, as in algorithm.update (default: the first of each)", 0},
    {"threads", OPTION_THREADS, "LIST", 0, "Thread counts, such as '1,2,4' (default: 1 and all)",
     0},
    {"isa", OPTION_ISA, "LIST", 0,
     "Instruction sets, such as 'x86-64-v2,x86-64-v3' (default: all that this machine supports)",
     0},
    {"seconds", OPTION_SECONDS, "S", 0, "Time per line of the table (default: 0.5)", 0},
    {"rng", OPTION_RNG, NULL, 0, "Compare philox4x32-10 with philox4x32-7", 0},
    {"json", OPTION_JSON, NULL, 0, "Print the table as JSON", 0},
    {"plugin", OPTION_PLUGIN, "PLUGIN", 0, CLI_PLUGIN_HELP, 0},
    {0}};

static double
positive_number(const char *command, const char *what, const char *text, double maximum)
{
  char *end;
  double value = strtod(text, &end);
  if (end == text || *end != '\0' || !(value >= 0 && value <= maximum))
    cli_usage_error(command, "%s must be a number from 0 to %g, not '%s'", what, maximum, text);
  return value;
}

/* False when the list is full. */
static bool list_add(struct list *list, int value)
{
  if (list->count == LIST_MAXIMUM)
    return false;
  list->values[list->count++] = value;
  return true;
}

/* The next word of a list with commas into `word`; false at the end. */
static bool list_word(const char **text, char *word, size_t size)
{
  if (**text == '\0')
    return false;
  size_t length = strcspn(*text, ",");
  /* A word that does not fit must not pass for its beginning. */
  if (length < size)
    snprintf(word, size, "%.*s", (int)length, *text);
  else
    snprintf(word, size, "%.*s...", (int)size - 4, *text);
  *text += length;
  *text += **text == ',';
  return true;
}

/* Whether a text is "64", "64x64" and so on. */
static bool is_shape(const char *text)
{
  for (size_t digits; (digits = strspn(text, "0123456789")) > 0; text++) {
    text += digits;
    if (*text != 'x')
      return *text == '\0';
  }
  return false;
}

static void
add_value(const struct bench_arguments *arguments, struct list *list, const char *option, int value)
{
  if (!list_add(list, value))
    cli_usage_error(arguments->command, "%s accepts at most %d values", option, LIST_MAXIMUM);
}

static void read_threads(struct bench_arguments *arguments, const char *text)
{
  char word[32];
  arguments->threads.count = 0;
  while (list_word(&text, word, sizeof word))
    add_value(arguments, &arguments->threads, "--threads",
              (int)cli_integer(arguments->command, "--threads", word, 1, GPUMC_THREADS_MAXIMUM));
  if (arguments->threads.count == 0)
    cli_usage_error(arguments->command, "--threads lists no thread counts");
}

/* The kernel's own key of that name, if it has one. */
static const struct gpumc_key *hits_of(const struct gpumc_kernel_ops *kernel)
{
  return kernel->keys != NULL ? gpumc_key_find(kernel->keys, "hits") : NULL;
}

static int hits_maximum(void)
{
  for (const struct gpumc_model_ops *const *model = gpumc_models(); *model != NULL; model++)
    for (size_t k = 0; (*model)->kernels[k] != NULL; k++)
      if (hits_of((*model)->kernels[k]) != NULL)
        return (int)hits_of((*model)->kernels[k])->maximum;
  return INT_MAX;
}

static void read_hits(struct bench_arguments *arguments, const char *text)
{
  char word[32];
  arguments->hits.count = 0;
  while (list_word(&text, word, sizeof word))
    add_value(arguments, &arguments->hits, "--hits",
              (int)cli_integer(arguments->command, "--hits", word, 1, hits_maximum()));
  if (arguments->hits.count == 0)
    cli_usage_error(arguments->command, "--hits lists no numbers of hits");
}

static void read_levels(struct bench_arguments *arguments, const char *text)
{
  char word[32];
  arguments->levels.count = 0;
  while (list_word(&text, word, sizeof word)) {
    enum gpumc_isa level;
    struct gpumc_error error = {0};
    if (gpumc_isa_parse(word, &level, &error) != GPUMC_OK)
      exit(cli_fail(&error));
    add_value(arguments, &arguments->levels, "--isa", (int)level);
  }
  if (arguments->levels.count == 0)
    cli_usage_error(arguments->command, "--isa lists no instruction sets");
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
  struct bench_arguments *arguments = state->input;
  struct bench_settings *settings = &arguments->settings;
  const char *command = arguments->command;
  switch (key) {
  case OPTION_DEVICE:
    settings->device = argument;
    return 0;
  case OPTION_PLUGIN:
    cli_plugin_add(&settings->plugins, argument);
    return 0;
  case OPTION_MODEL:
    settings->model = argument;
    return 0;
  case OPTION_SHAPE:
    if (!is_shape(argument))
      cli_usage_error(command, "--shape must be sides such as 64x64, not '%s'", argument);
    settings->shape = argument;
    return 0;
  case OPTION_SET:
    if (strncmp(argument, "model.", strlen("model.")) != 0)
      cli_usage_error(command, "--set must be model.KEY=VALUE here, not '%s'", argument);
    cli_config_set(&settings->keys, command, argument);
    return 0;
  case OPTION_KERNEL:
    settings->variant = argument;
    return 0;
  case OPTION_POPULATION:
    settings->population = (size_t)cli_integer(command, "--population", argument, 1, INT_MAX);
    return 0;
  case OPTION_SWEEPS:
    settings->sweeps = (uint32_t)cli_integer(command, "--sweeps", argument, 1, 1000000);
    return 0;
  case OPTION_BETA:
    settings->control = positive_number(command, "--beta", argument, 1e6);
    return 0;
  case OPTION_SECONDS:
    settings->seconds = positive_number(command, "--seconds", argument, seconds_maximum);
    return 0;
  case OPTION_UPDATE:
    settings->update = argument;
    return 0;
  case OPTION_HITS:
    read_hits(arguments, argument);
    return 0;
  case OPTION_THREADS:
    read_threads(arguments, argument);
    return 0;
  case OPTION_ISA:
    read_levels(arguments, argument);
    return 0;
  case OPTION_RNG:
    arguments->rng = true;
    return 0;
  case OPTION_JSON:
    arguments->json = true;
    return 0;
  case ARGP_KEY_ARG:
    cli_usage_error(command, "unexpected argument '%s'", argument);
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

const struct argp cli_bench_argp = {
    options,
    parse_option,
    "",
    "Measure the update rate of every kernel of a model on a device, and on the CPU for each "
    "instruction set and thread count. Rates are the fastest and the median of repeats of at least "
    "10 ms that only sweep.\v"
    "Examples:\n"
    "  gpumc bench\n"
    "  gpumc bench --device cuda:1 --population 100000\n"
    "  gpumc bench --shape 128x128 --population 20000 --threads 1,2,4,8\n"
    "  gpumc bench --kernel packed --shape 65536x65536 --population 1\n"
    "  gpumc bench --model heisenberg --update metropolis --beta 1\n"
    "  gpumc bench --isa x86-64-v3 --rng --json",
    NULL,
    NULL,
    NULL};

/* Fills in what was not given: 1 and all threads, every level that this machine runs. */
static void fill_defaults(struct bench_arguments *arguments)
{
  if (arguments->threads.count == 0) {
    struct gpumc_error error = {0};
    int all = 1;
    if (gpumc_threads_choose(0, 0, &all, &error) != GPUMC_OK)
      cli_usage_error(arguments->command, "%s", gpumc_error_text(&error));
    add_value(arguments, &arguments->threads, "--threads", 1);
    if (all > 1)
      add_value(arguments, &arguments->threads, "--threads", all);
  }
  if (arguments->hits.count == 0)
    add_value(arguments, &arguments->hits, "--hits", 1);
  enum gpumc_isa highest = gpumc_isa_detect();
  if (arguments->levels.count > 0)
    return;
  for (int level = (int)gpumc_isa_lowest(); level <= (int)highest; level++)
    add_value(arguments, &arguments->levels, "--isa", level);
}

/* The device by its name, its kind ("cpu", "cuda") and its description. */
struct bench_device {
  const char *kind;
  char description[128];
};

static enum gpumc_status find_device(struct bench_arguments *arguments, struct bench_device *found,
                                     struct gpumc_error *error)
{
  struct bench_settings *settings = &arguments->settings;
  struct gpumc_device device;
  bool of_cpu = arguments->threads.count > 0 || arguments->levels.count > 0;
  if (settings->device == NULL)
    settings->device = of_cpu ? "cpu" : "auto";
  GPUMC_TRY(gpumc_device_open(settings->device, 1, &device, error));
  found->kind = device.ops->name;
  if (strcmp(found->kind, "cpu") == 0)
    gpumc_processor_name(found->description, sizeof found->description);
  else
    memcpy(found->description, device.description, sizeof found->description);
  gpumc_device_close(&device);
  if (of_cpu && strcmp(found->kind, "cpu") != 0)
    return gpumc_error_set(error, GPUMC_INVALID, "--threads and --isa apply to the CPU, not to %s",
                           settings->device);
  return GPUMC_OK;
}

static const char *generator(const struct bench_case *measured)
{
  return measured->rounds == 7 ? "philox4x32-7" : "philox4x32-10";
}

/* The report, without rates as yet. */
static cJSON *report_json(const struct bench_device *device, const struct bench_bed *bed,
                          const struct bench_settings *settings)
{
  const char *control = bench_control(settings, bed, device->kind);
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "model", bed->ops->name);
  cJSON_AddStringToObject(json, "device", device->description);
  cJSON_AddNumberToObject(json, "sites", (double)bed->model.sites);
  cJSON_AddNumberToObject(json, "population", (double)settings->population);
  cJSON_AddNumberToObject(json, "sweeps", settings->sweeps);
  if (control != NULL) {
    cJSON_AddStringToObject(json, "control", control);
    cJSON_AddNumberToObject(json, control, settings->control);
  }
  if (settings->update != NULL)
    cJSON_AddStringToObject(json, "update", settings->update);
  cJSON_AddArrayToObject(json, "rates");
  return json;
}

/* Instruction set and threads are of the CPU only. */
static cJSON *rate_json(const struct bench_case *measured)
{
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "kernel", measured->kernel->variant);
  cJSON_AddStringToObject(json, "device", measured->kernel->device);
  cJSON_AddStringToObject(json, "trajectory", gpumc_kernel_trajectory(measured->kernel));
  if (measured->hits > 0)
    cJSON_AddNumberToObject(json, "hits", measured->hits);
  if (strcmp(measured->kernel->device, "cpu") == 0) {
    cJSON_AddStringToObject(json, "isa", gpumc_isa_name(measured->isa));
    cJSON_AddNumberToObject(json, "threads", measured->threads);
  }
  cJSON_AddStringToObject(json, "rng", generator(measured));
  if (measured->kernel->trials == NULL) {
    cJSON_AddNumberToObject(json, "flips_per_ns", measured->rate.fastest * 1e-9);
    cJSON_AddNumberToObject(json, "median_flips_per_ns", measured->rate.median * 1e-9);
  } else {
    cJSON_AddNumberToObject(json, "trials_per_second", measured->rate.fastest);
    cJSON_AddNumberToObject(json, "median_trials_per_second", measured->rate.median);
  }
  cJSON_AddNumberToObject(json, "bytes_per_site", measured->bytes_per_site);
  return json;
}

static void print_title(const cJSON *json)
{
  printf("%s, %.0f sites, %.0f replicas, at least %.0f sweeps per repeat, ",
         cli_text(json, "model"), cli_number(json, "sites"), cli_number(json, "population"),
         cli_number(json, "sweeps"));
  if (cJSON_HasObjectItem(json, "control"))
    printf("%s = %g, ", cli_text(json, "control"), cli_number(json, cli_text(json, "control")));
  printf("on %s\n", cli_text(json, "device"));
}

static void rate_row(struct cli_table *table, const cJSON *rate)
{
  if (cli_number(rate, "hits") > 1)
    cli_table_cell(table, "%s, %.0f hits", cli_text(rate, "kernel"), cli_number(rate, "hits"));
  else
    cli_table_cell(table, "%s", cli_text(rate, "kernel"));
  if (cli_has(rate, "isa"))
    cli_table_cell(table, "%s", cli_text(rate, "isa"));
  cli_table_cell(table, "%s", cli_text(rate, "rng"));
  if (cli_has(rate, "threads"))
    cli_table_cell(table, "%.0f", cli_number(rate, "threads"));
  const bool flips = cli_has(rate, "flips_per_ns");
  cli_table_cell(table, "%.4g", cli_number(rate, flips ? "flips_per_ns" : "trials_per_second"));
  cli_table_cell(table, "%.4g",
                 cli_number(rate, flips ? "median_flips_per_ns" : "median_trials_per_second"));
  cli_table_cell(table, "%.3f", cli_number(rate, "bytes_per_site"));
}

static void print_rates(const cJSON *json)
{
  static const struct {
    const char *title, *only_with; /* this member, or NULL */
    bool right;
  } columns[] = {{"kernel", NULL, false},
                 {"isa", "isa", false},
                 {"rng", NULL, false},
                 {"threads", "threads", true},
                 {"flips/ns", "flips_per_ns", true},
                 {"trials/s", "trials_per_second", true},
                 {"median", NULL, true},
                 {"bytes/site", NULL, true}};
  const cJSON *rates = cli_member(json, "rates"), *rate;
  struct cli_table table = {0};
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
    if (columns[c].only_with == NULL ||
        cli_has(cJSON_GetArrayItem(rates, 0), columns[c].only_with)) {
      table.right[table.columns++] = columns[c].right;
      cli_table_cell(&table, "%s", columns[c].title);
    }
  cJSON_ArrayForEach(rate, rates) rate_row(&table, rate);
  cli_table_print(&table, 0);
}

/* The next combination after `which` of a mixed-radix counter; false after the last. */
static bool next_combination(size_t which[CHOICES], const size_t count[CHOICES])
{
  for (int digit = CHOICES - 1; digit >= 0; digit--) {
    if (++which[digit] < count[digit])
      return true;
    which[digit] = 0;
  }
  return false;
}

static enum gpumc_status measure_all(const struct bench_arguments *arguments, const char *kind,
                                     const struct bench_bed *bed, cJSON *rates,
                                     struct gpumc_error *error)
{
  static const uint32_t rounds[] = {10, 7};
  size_t which[CHOICES] = {0};
  const bool of_cpu = strcmp(kind, "cpu") == 0;
  size_t count[CHOICES] = {0, of_cpu ? arguments->levels.count : 1, arguments->rng ? 2 : 1,
                           of_cpu ? arguments->threads.count : 1, arguments->hits.count};
  while (bed->ops->kernels[count[0]] != NULL)
    count[0]++;
  GPUMC_TRY(bench_check_kernels(&arguments->settings, bed, kind, error));
  do {
    struct bench_case measured = {.kernel = bed->ops->kernels[which[0]],
                                  .isa = (enum gpumc_isa)arguments->levels.values[which[1]],
                                  .rounds = rounds[which[2]],
                                  .threads = arguments->threads.values[which[3]]};
    const bool tiles = hits_of(measured.kernel) != NULL;
    if (tiles)
      measured.hits = (uint32_t)arguments->hits.values[which[4]];
    if ((!tiles && which[4] > 0) || !bench_wants(&arguments->settings, kind, measured.kernel) ||
        gpumc_kernel_refusal(measured.kernel, &bed->model) != NULL)
      continue;
    GPUMC_TRY(bench_measure(&arguments->settings, bed, &measured, error));
    cJSON_AddItemToArray(rates, rate_json(&measured));
  } while (next_combination(which, count));
  return GPUMC_OK;
}

static int bench(struct bench_arguments *arguments)
{
  struct gpumc_error error = {0};
  struct bench_device device;
  struct bench_bed bed;
  if (find_device(arguments, &device, &error) != GPUMC_OK ||
      bench_bed_make(&arguments->settings, &bed, &error) != GPUMC_OK)
    return cli_fail(&error);
  fill_defaults(arguments);
  cJSON *report = report_json(&device, &bed, &arguments->settings);
  cJSON *rates = cJSON_GetObjectItemCaseSensitive(report, "rates");
  if (!arguments->json)
    print_title(report);
  int code;
  if (measure_all(arguments, device.kind, &bed, rates, &error) == GPUMC_OK) {
    code = cli_report(report, arguments->json, print_rates);
  } else {
    code = cli_fail(&error);
    cJSON_Delete(report);
  }
  bench_bed_free(&bed);
  return code;
}

int cli_bench(int argc, char **argv)
{
  struct bench_arguments arguments = {.command = argv[0],
                                      .settings = {.model = "ising2d",
                                                   .population = DEFAULT_POPULATION,
                                                   .sweeps = DEFAULT_SWEEPS,
                                                   .control = default_control,
                                                   .seconds = default_seconds}};
  cli_plugins_open(&arguments.settings.plugins);
  cli_parse(&cli_bench_argp, argc, argv, &arguments);
  int code = bench(&arguments);
  gpumc_plugin_set_free(&arguments.settings.plugins);
  cli_config_options_free(&arguments.settings.keys);
  return code;
}

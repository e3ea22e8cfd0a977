/* The keys of the language: its own, those of the root and of the blocks that belong to no plugin,
 * and those of plugins with what kernels and models add to them. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config/config.h"
#include "core/config/params.h"
#include "core/config/temperatures.h"
#include "core/numerics/random.h"
#include "core/run/language_internal.h"
#include "core/simulation/ladder.h"
#include "core/simulation/observables.h"
#include "core/simulation/shared_keys.h"

enum { PLUGINS_MAXIMUM = 32 };
static const char *const generators[] = {"philox4x32-10", "philox4x32-7", NULL};
static const char *const instruction_sets[] = {"auto",      "x86-64-v2", "x86-64-v3",
                                               "x86-64-v4", "portable",  NULL};

static const struct gpumc_key kernel_keys[] = {
    {.name = "device",
     .type = GPUMC_KEY_DEVICE,
     .doc = "Where the simulation runs; auto selects the first GPU, or the CPU if there is none.",
     .default_text = "auto",
     .incidental = true},
    {.name = "variant",
     .type = GPUMC_KEY_STRING,
     .doc = "Which kernel of the model runs; auto picks the one expected to be fastest for the "
            "model and the number of replicas, the same on every device.",
     .default_text = "auto",
     .sweepable = true},
    {.name = "isa",
     .type = GPUMC_KEY_CHOICE,
     .doc = "The instruction set of CPU kernels. The results do not depend on it; "
            "`portable` runs on processors other than x86-64.",
     .default_text = "auto",
     .choices = instruction_sets,
     .incidental = true},
    {.name = "block_threads",
     .type = GPUMC_KEY_INTEGER,
     .doc = "Threads per block in GPU kernels; 0 leaves the choice to each kernel. The results do "
            "not depend on it.",
     .default_text = "0",
     .unit = "threads",
     .minimum = 0,
     .maximum = 1024,
     .multiple_of = 32,
     .incidental = true},
    {0}};

static const struct gpumc_key checkpoint_keys[] = {{.name = "every",
                                                    .type = GPUMC_KEY_DURATION,
                                                    .doc = "Time between checkpoints.",
                                                    .default_text = "10 min",
                                                    .incidental = true},
                                                   {0}};

/* The blocks `model` and `algorithm` have the keys of their plugins, `campaign` those that may be
 * swept: no table here. */
static const struct gpumc_key root_keys[] = {
    {.name = "gpumc",
     .type = GPUMC_KEY_INTEGER,
     .doc = "The version of the configuration language.",
     .minimum = GPUMC_LANGUAGE_VERSION,
     .maximum = GPUMC_LANGUAGE_VERSION,
     .example = "1",
     .required = true},
    {.name = "title",
     .type = GPUMC_KEY_STRING,
     .doc = "A title that describes the run.",
     .default_text = "",
     .incidental = true},
    {.name = "seed",
     .type = GPUMC_KEY_INTEGER,
     .doc = "The seed of all random numbers.",
     .minimum = 0,
     .maximum = (double)GPUMC_SEED_MAXIMUM,
     .example = "1",
     .required = true,
     .sweepable = true},
    {.name = "rng",
     .type = GPUMC_KEY_CHOICE,
     .doc = "The random number generator, one of the counter-based generators of Random123.",
     .default_text = "philox4x32-10",
     .choices = generators},
    {.name = "model",
     .type = GPUMC_KEY_MAPPING,
     .doc = "What is simulated: the name of a model and its parameters.",
     .required = true},
    {.name = "algorithm",
     .type = GPUMC_KEY_MAPPING,
     .doc = "How it is simulated: the name of an algorithm and its parameters.",
     .required = true},
    {.name = "plugins",
     .type = GPUMC_KEY_STRING,
     .doc = "Plugins with models, kernels or algorithms: names in the search path, or paths with a "
            "slash, relative to this file. Those that provide the model or the algorithm are found "
            "in the search path without being listed.",
     .list_maximum = PLUGINS_MAXIMUM,
     .incidental = true},
    {.name = "kernel", .type = GPUMC_KEY_MAPPING, .doc = "Which kernel runs, and on which device."},
    {.name = "output",
     .type = GPUMC_KEY_STRING,
     .doc = "Path of the result file. {key} stands for the value of a key, {{ and }} "
            "for braces.",
     .example = "results/{model.name}-{algorithm.name}-{seed}.h5",
     .required = true,
     .incidental = true},
    {.name = "checkpoint",
     .type = GPUMC_KEY_MAPPING,
     .doc = "When the state of the run is saved.",
     .children = checkpoint_keys},
    {.name = "campaign",
     .type = GPUMC_KEY_MAPPING,
     .doc = "Dotted keys with lists of values. Every combination is a task; the "
            "first key varies slowest.",
     .example = "{seed: [1, 2, 3]}"},
    {0}};

/* Appends the keys of a kernel, except names that are there already. */
static void add_keys(struct gpumc_language_tables *tables, const struct gpumc_key *keys)
{
  for (; keys != NULL && keys->name != NULL; keys++) {
    const size_t count = gpumc_key_count(tables->kernel);
    assert(count + 1 < GPUMC_KERNEL_KEYS && "there is room for the keys of all kernels");
    if (count + 1 < GPUMC_KERNEL_KEYS && gpumc_key_find(tables->kernel, keys->name) == NULL)
      tables->kernel[count] = *keys;
  }
}

static void add_move(const char *names[GPUMC_MOVES], const char *name)
{
  size_t m = 0;
  while (names[m] != NULL && strcmp(names[m], name) != 0)
    m++;
  assert(m + 1 < GPUMC_MOVES && "there is room for the moves of all kernels");
  if (m + 1 < GPUMC_MOVES)
    names[m] = name;
}

static void add_moves(struct gpumc_language_tables *tables, const struct gpumc_kernel_ops *kernel)
{
  for (size_t i = 0; i < kernel->n_moves; i++)
    for (int target = 0; target < GPUMC_SWEPT_TARGETS; target++)
      if (gpumc_move_serves(&kernel->moves[i], (enum gpumc_target_kind)target))
        add_move(tables->moves[target], kernel->moves[i].name);
}

static void
add_requests(struct gpumc_key table[GPUMC_REQUESTS], const struct gpumc_model_ops *model)
{
  for (size_t c = 0; c < model->n_channels; c++) {
    const struct gpumc_channel *channel = &model->channels[c];
    const size_t count = gpumc_key_count(table);
    if (channel->request_key == NULL || gpumc_key_find(table, channel->request_key) != NULL)
      continue;
    assert(count + 1 < GPUMC_REQUESTS && "there is room for the requests of all models");
    if (count + 1 < GPUMC_REQUESTS)
      table[count] = (struct gpumc_key){.name = channel->request_key,
                                        .type = GPUMC_KEY_BOOLEAN,
                                        .default_text = "false",
                                        .doc = channel->request};
  }
}

void gpumc_language_tables_add(struct gpumc_language_tables *tables,
                               const struct gpumc_model_ops *model)
{
  for (int target = 0; target < GPUMC_SWEPT_TARGETS; target++)
    if (model->kernels != NULL && gpumc_model_samples(model, (enum gpumc_target_kind)target))
      add_requests(tables->requests[target], model);
  for (size_t k = 0; model->kernels != NULL && model->kernels[k] != NULL; k++) {
    add_keys(tables, model->kernels[k]->keys);
    add_moves(tables, model->kernels[k]);
  }
}

/* The move of a task without `update`; NULL: the model has none for the target. */
static const char *default_move(const struct gpumc_model_ops *model, enum gpumc_target_kind target)
{
  const struct gpumc_move *move = model->kernels != NULL && model->kernels[0] != NULL
                                      ? gpumc_kernel_move(model->kernels[0], NULL, target)
                                      : NULL;
  return move != NULL ? move->name : NULL;
}

void gpumc_language_tables_select(struct gpumc_language_tables *tables,
                                  const struct gpumc_model_ops *model)
{
  for (int target = 0; target < GPUMC_SWEPT_TARGETS; target++)
    tables->default_move[target] = default_move(model, (enum gpumc_target_kind)target);
}

static void
append_words(char words[GPUMC_DEFAULT_MOVES_BYTES], const char *before, const char *name)
{
  const size_t length = strlen(words), room = GPUMC_DEFAULT_MOVES_BYTES - length;
  const int added = snprintf(words + length, room, "%s%s", before, name);
  assert(added >= 0 && (size_t)added < room && "there is room for the names of all models");
  (void)added;
}

static void describe_default_moves(struct gpumc_language_tables *tables,
                                   const struct gpumc_model_ops *const *models,
                                   enum gpumc_target_kind target)
{
  char *words = tables->default_moves[target];
  for (size_t m = 0; tables->moves[target][m] != NULL; m++) {
    const char *name = tables->moves[target][m], *before = " (";
    for (size_t i = 0; models[i] != NULL; i++) {
      const char *own = default_move(models[i], target);
      if (own == NULL || strcmp(own, name) != 0)
        continue;
      if (before[0] == ' ')
        append_words(words, words[0] == '\0' ? "" : ", ", name);
      append_words(words, before, models[i]->name);
      before = ", ";
    }
    if (before[0] == ',')
      append_words(words, ")", "");
  }
}

void gpumc_language_tables_fill(struct gpumc_language_tables *tables,
                                const struct gpumc_model_ops *const *models)
{
  _Static_assert(sizeof root_keys <= sizeof tables->root, "there is room for the keys of the root");
  memset(tables, 0, sizeof *tables);
  memcpy(tables->root, root_keys, sizeof root_keys);
  memcpy(tables->kernel, kernel_keys, sizeof kernel_keys);
  for (size_t i = 0; models[i] != NULL; i++)
    gpumc_language_tables_add(tables, models[i]);
  for (int target = 0; target < GPUMC_SWEPT_TARGETS; target++)
    describe_default_moves(tables, models, (enum gpumc_target_kind)target);
  for (struct gpumc_key *key = tables->root; key->name != NULL; key++)
    if (strcmp(key->name, "kernel") == 0)
      key->children = tables->kernel;
}

const struct gpumc_key *gpumc_own_keys(const struct gpumc_language_tables *tables)
{
  return tables->kernel + sizeof kernel_keys / sizeof *kernel_keys - 1;
}

/* Appends the keys that `key` stands for to `composed`. Returns their number. */
static size_t compose_key(const struct gpumc_language_tables *tables, const struct gpumc_key *key,
                          struct gpumc_key *composed)
{
  composed[0] = *key;
  for (int target = 0; target < GPUMC_SWEPT_TARGETS; target++) {
    const struct gpumc_key *requests = tables->requests[target];
    if (key->choices == gpumc_request_choices[target]) {
      memcpy(composed, requests, gpumc_key_count(requests) * sizeof *composed);
      return gpumc_key_count(requests);
    }
    if (key->choices == gpumc_update_choices[target]) {
      composed[0].choices = tables->moves[target];
      if (key->default_text != NULL)
        composed[0].default_text = tables->default_move[target];
    }
  }
  return 1;
}

/* The keys of a plugin, NULL for none, with what kernels and models add to them, and temperatures,
 * after `before` entries that the caller fills in. Behind their end there is room for other keys of
 * `control`. */
static struct gpumc_key *composed_keys(const struct gpumc_language_tables *tables,
                                       const struct gpumc_key *keys, size_t before)
{
  const size_t count = keys == NULL ? 0 : gpumc_key_count(keys);
  struct gpumc_key *composed = calloc(before + count + GPUMC_REQUESTS + 1, sizeof *composed);
  if (composed == NULL)
    return NULL;
  size_t n = 0;
  while (n < before)
    composed[n++].name = "";
  for (size_t i = 0; i < count; i++)
    n += compose_key(tables, &keys[i], composed + n);
  struct gpumc_key *all = gpumc_keys_add_temperatures(composed, GPUMC_CONTROL_KEYS_MAXIMUM);
  free(composed);
  return all;
}

struct gpumc_key *
gpumc_language_plugin_keys(const struct gpumc_language_tables *tables, const struct gpumc_key *keys)
{
  struct gpumc_key *composed = composed_keys(tables, keys, 0);
  for (struct gpumc_key *key = composed; key != NULL && key->name != NULL; key++)
    for (int target = 0; target < GPUMC_SWEPT_TARGETS; target++)
      if (key->choices == tables->moves[target] && tables->default_moves[target][0] != '\0' &&
          gpumc_key_find(keys, key->name)->default_text != NULL)
        key->default_text = tables->default_moves[target];
  return composed;
}

struct gpumc_key *gpumc_block_keys(const struct gpumc_language_tables *tables, const char *block,
                                   const char *const *names, const struct gpumc_key *plugin_keys)
{
  bool is_model = strcmp(block, "model") == 0;
  struct gpumc_key *keys = composed_keys(tables, plugin_keys, 1);
  if (keys == NULL)
    return NULL;
  keys[0] =
      (struct gpumc_key){.name = "name",
                         .type = GPUMC_KEY_CHOICE,
                         .doc = is_model ? "The name of the model." : "The name of the algorithm.",
                         .choices = names,
                         .required = true};
  return keys;
}

void gpumc_block_without_temperature(struct gpumc_key *keys)
{
  gpumc_keys_without_temperature(keys, keys + gpumc_key_count(keys) + 1);
}

bool gpumc_lacks_control(const struct gpumc_model_ops *model,
                         const struct gpumc_algorithm_ops *algorithm)
{
  return algorithm->target == GPUMC_BOLTZMANN && model->n_controls > 0 &&
         !gpumc_model_has_temperature(model) && !gpumc_keys_move_controls(algorithm->keys);
}

/* "model.beta" -> "beta" for the block "model"; NULL for another block. */
static const char *below(const char *dotted_key, const char *block)
{
  size_t length = strlen(block);
  bool inside = strncmp(dotted_key, block, length) == 0 && dotted_key[length] == '.';
  return inside ? dotted_key + length + 1 : NULL;
}

const struct gpumc_key *
gpumc_language_find(const struct gpumc_language *language, const char *dotted_key)
{
  const char *rest;
  if ((rest = below(dotted_key, "model")) != NULL)
    return gpumc_key_find(language->model_keys, rest);
  if ((rest = below(dotted_key, "algorithm")) != NULL)
    return gpumc_key_find(language->algorithm_keys, rest);
  return gpumc_key_find(language->tables.root, dotted_key);
}

bool gpumc_language_is_below_unknown(const struct gpumc_language *language, const char *dotted_key)
{
  return (language->model_keys == NULL && below(dotted_key, "model") != NULL) ||
         (language->algorithm_keys == NULL && below(dotted_key, "algorithm") != NULL);
}

/* The best candidate so far; two names are compared by asking which of them is nearer. */
struct search {
  const char *wanted;
  bool sweepable;
  char *best;
};

static void consider(void *state, const char *dotted_key, const struct gpumc_key *key)
{
  struct search *search = state;
  if (search->sweepable && !key->sweepable)
    return;
  const char *candidates[] = {search->best, dotted_key};
  size_t skip = search->best == NULL;
  const char *nearest = gpumc_nearest_name(search->wanted, candidates + skip, 2 - skip);
  if (nearest != dotted_key)
    return;
  free(search->best);
  search->best = strdup(dotted_key);
}

char *gpumc_language_nearest(const struct gpumc_language *language, const char *dotted_key,
                             bool sweepable)
{
  struct search search = {.wanted = dotted_key, .sweepable = sweepable};
  gpumc_keys_visit(language->tables.root, "", consider, &search);
  gpumc_keys_visit(language->model_keys, "model", consider, &search);
  gpumc_keys_visit(language->algorithm_keys, "algorithm", consider, &search);
  return search.best;
}

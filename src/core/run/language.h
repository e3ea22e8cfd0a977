/* The configuration language: the blocks of a file, its plugins' keys, its campaign; from a path to
 * tasks that are ready to run. */
#ifndef GPUMC_CORE_LANGUAGE_H
#define GPUMC_CORE_LANGUAGE_H

#include "core/config/params.h"
#include "core/plugins/plugin_set.h"
#include "core/simulation/algorithm.h"
#include "core/simulation/model.h"

enum { GPUMC_LANGUAGE_VERSION = 1 };

/* One run: a fully resolved configuration. */
struct gpumc_task {
  size_t index;
  cJSON *resolved; /* everything, defaults filled in, without the campaign block */
  cJSON *defaults; /* those of gpumc_algorithm_ops.defaults; NULL: none */
  /* What every result of the task is to be distrusted for, whatever the algorithm finds: texts by
   * the name of their attribute, "generator_warning", "ergodicity_warning", "sweeps_warning" and
   * those of models; often empty. NULL with gpumc_config_look. */
  cJSON *warnings;
  const struct gpumc_model_ops *model;
  const struct gpumc_algorithm_ops *algorithm;
  const char *plugins; /* gpumc_config.plugins_text */
  char *output;        /* path of the result, placeholders filled in */
  char *label;         /* "model.shape=[16,16] seed=1"; "" outside a campaign */
  char *typed_label;   /* with temperatures in place of inverse temperatures */
};

struct gpumc_config {
  struct gpumc_document document;
  struct gpumc_plugin_set plugins; /* those that it names, beside what is built in */
  char *plugins_text;              /* gpumc_plugin_set_text; NULL: it uses none */
  size_t n_tasks;
  struct gpumc_task *tasks;
};

/* Read, override, expand and validate. GPUMC_INVALID with all mistakes, one a line, as the message;
 * GPUMC_FAILURE when the file cannot be read. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_config_load(const char *path, const char *const *assignments, size_t n_assignments,
                  struct gpumc_config *config, struct gpumc_error *error);
/* The same for those who only look at what was done, gpumc_task_inspect, where gpumc_config_load
 * refuses a model's instance that is read from a file, which may have changed, or be gone: it is
 * not made. Where it would decide the variant of the kernel, that stays "auto". */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_config_look(const char *path, const char *const *assignments, size_t n_assignments,
                  struct gpumc_config *config, struct gpumc_error *error);
void gpumc_config_free(struct gpumc_config *config);

/* A block of a task ("model", "algorithm", "kernel"), or the root for "". */
struct gpumc_params gpumc_task_params(const struct gpumc_task *task, const char *block);

/* The dotted key below `block`, "model" or "algorithm", that names a file which the plugin reads,
 * and its value, the path; NULL where there is none. */
const char *gpumc_task_file_key(const struct gpumc_task *task, const char *block);
const char *gpumc_task_file(const struct gpumc_task *task, const char *block);

/* What decides the numbers of the result, as canonical JSON (incidental keys left out). Caller
 * frees; NULL when memory ran out. */
char *gpumc_task_identity(const struct gpumc_task *task);
/* The identity of a stored configuration, or of a stored identity, for comparison with that of
 * `task`: a key that is missing there counts as its default. The text itself where this program
 * does not understand it. Caller frees; NULL when memory ran out. */
char *gpumc_task_identity_stored(const struct gpumc_task *task, const char *stored);
/* The differences of two identities, a line "algorithm.sweeps: 10 -> 20" each. Caller
 * frees; NULL when memory ran out. */
char *gpumc_identity_difference(const char *before, const char *after);
/* The same of two stored configurations, without keys that decide no number. */
char *gpumc_configuration_difference(const char *before, const char *after);

/* A copy of the task's configuration, where a variant that gpumc_config_look left open is that of
 * `resolved`, the configuration in a result. Caller deletes; NULL when memory ran out. */
cJSON *gpumc_task_close(const struct gpumc_task *task, const char *resolved);

/* The keys of the root and of the `kernel`, `checkpoint` blocks, for describe, schema and
 * reference. */
enum { GPUMC_ROOT_KEYS = 16, GPUMC_KERNEL_KEYS = 48, GPUMC_MOVES = 32, GPUMC_REQUESTS = 16 };
enum { GPUMC_DEFAULT_MOVES_BYTES = 512 };
struct gpumc_language_tables {
  /* By which models that have a target are asked for channels. */
  struct gpumc_key requests[GPUMC_SWEPT_TARGETS][GPUMC_REQUESTS];
  struct gpumc_key root[GPUMC_ROOT_KEYS], kernel[GPUMC_KERNEL_KEYS];
  /* Names of those of all kernels that serve a target, NULL-terminated; default NULL: there are
   * none, or it depends on a model that is not known. */
  const char *moves[GPUMC_SWEPT_TARGETS][GPUMC_MOVES];
  const char *default_move[GPUMC_SWEPT_TARGETS];
  /* For descriptions, "this (model, another), that (a third)". */
  char default_moves[GPUMC_SWEPT_TARGETS][GPUMC_DEFAULT_MOVES_BYTES];
};
void gpumc_language_tables_fill(struct gpumc_language_tables *tables,
                                const struct gpumc_model_ops *const *models);
void gpumc_language_tables_add(struct gpumc_language_tables *tables,
                               const struct gpumc_model_ops *model);
/* For descriptions: the keys of a plugin with what kernels add to them, the choices and the
 * defaults of `update`, and models, what they can be asked for. The caller frees the array, which
 * borrows from `tables`; NULL when memory ran out. */
struct gpumc_key *gpumc_language_plugin_keys(const struct gpumc_language_tables *tables,
                                             const struct gpumc_key *keys);

/* Whether the model has what the algorithm samples, and a kernel, in this build or another, that
 * does what it needs. */
bool gpumc_language_suits(const struct gpumc_model_ops *model,
                          const struct gpumc_algorithm_ops *algorithm);
/* Appends a small configuration of a pair of a set that suits, YAML with comments that explain its
 * keys: required ones at the examples that they declare, optional ones in lines that begin with a #
 * and the key, each of which may be taken away. `assignments`, "KEY=VALUE" with a value in YAML,
 * take the place of examples and defaults. GPUMC_INVALID where one of them names no key of the
 * pair, makes a mistake, whose line is that of the text, or where a key has no example. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_language_example(const struct gpumc_plugin_set *set, const struct gpumc_model_ops *model,
                       const struct gpumc_algorithm_ops *algorithm, const char *const *assignments,
                       size_t n_assignments, struct gpumc_text *text, struct gpumc_error *error);

/* The JSON Schema (draft-07) of the language with all plugins of a set; caller deletes. */
cJSON *gpumc_language_schema(const struct gpumc_plugin_set *set);
/* The reference page, Markdown, into `text`. */
void gpumc_language_reference(const struct gpumc_plugin_set *set, struct gpumc_text *text);

#endif

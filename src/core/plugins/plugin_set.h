/* The models, kernels and algorithms that a configuration can name: those of the program, and those
 * of the plugins that it uses. */
#ifndef GPUMC_CORE_PLUGIN_SET_H
#define GPUMC_CORE_PLUGIN_SET_H

#include "core/plugins/plugin_file.h"

/* Both lists are NULL-terminated, with those of the program first. A model that a plugin adds
 * kernels to is a copy of the set's own, with all of its kernels. */
struct gpumc_plugin_set {
  const struct gpumc_model_ops **models;
  const struct gpumc_algorithm_ops **algorithms;
  struct gpumc_plugin_file *used; /* those in use, in the order in which they were loaded */
  size_t n_used;
  void **owned; /* copies of models and their lists of kernels */
  size_t n_owned;
};

enum gpumc_plugin_kind { GPUMC_PLUGIN_MODEL, GPUMC_PLUGIN_ALGORITHM };

/* The set of what is built in. Legal to free after a failure, and on a zeroed set. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_plugin_set_init(struct gpumc_plugin_set *set, struct gpumc_error *error);
/* Code that was loaded stays in the process: a set that is freed can be made again. */
void gpumc_plugin_set_free(struct gpumc_plugin_set *set);

/* Adds a plugin. `wanted` with a slash in it is a path, relative to that of the folder of `beside`,
 * a configuration (NULL: to the working directory); without, it is the name of a plugin in the
 * search path. Nothing of the file runs before its ABI is known to be this program's. GPUMC_INVALID
 * in one line, with the remedy: there is none, no plugin, of another ABI, not to be loaded, with a
 * name that is taken or that it has twice, with kernels for a model that is not known, or with a
 * table that lacks something. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_plugin_set_add(struct gpumc_plugin_set *set,
                                                        const char *wanted, const char *beside,
                                                        struct gpumc_error *error);

/* Sees to it that the set has the model or algorithm of that name, which is built in, in a plugin
 * of the set, or else in the first plugin of the search path that lists it. GPUMC_OK as well if
 * there is none: whoever uses the set finds out. With `suggests`, for a name that a user has
 * written, GPUMC_INVALID where a plugin lists a similar name, of which nothing runs. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_plugin_set_want(struct gpumc_plugin_set *set, enum gpumc_plugin_kind kind, const char *name,
                      bool suggests, struct gpumc_error *error);
/* Adds the models and algorithms of the search path, of plugins that can be used and whose names
 * are free; those that turn out not to be usable say why in the list, those too that an unusable
 * one of the same names comes before in the search path. Plugins of nothing but kernels are left
 * out: they are used where a configuration lists them. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_plugin_set_add_all(struct gpumc_plugin_set *set,
                                                            struct gpumc_plugin_list *list,
                                                            struct gpumc_error *error);

/* Whether it has the plugin of that path, in which no link is left. */
bool gpumc_plugin_set_uses(const struct gpumc_plugin_set *set, const char *path);
/* NULL: the set has none of that name. */
const struct gpumc_model_ops *
gpumc_plugin_set_model(const struct gpumc_plugin_set *set, const char *name);
const struct gpumc_algorithm_ops *
gpumc_plugin_set_algorithm(const struct gpumc_plugin_set *set, const char *name);

/* What a result records of the plugins in use, as JSON: [{"name", "version", "path", "checksum",
 * "abi", "models", "algorithms"}], the last two as in its note; NULL without any, or when memory
 * ran out (`*failed`). Caller frees. */
char *gpumc_plugin_set_text(const struct gpumc_plugin_set *set, bool *failed);
/* The same for messages, without the paths, which may differ from host to host: "x 1.0 (checksum
 * 0123456789abcdef)"; "none". */
void gpumc_plugin_set_list(const struct gpumc_plugin_set *set, struct gpumc_text *text);
/* Whether something made with the plugins `before` (gpumc_plugin_set_text, NULL: not known) can be
 * continued with those of `now`: all of them are there, in the same version. One of nothing but
 * kernels may be missing if none is there in its place: trajectories are compared besides. More may
 * be there: a name has one owner, so they cannot have taken over a model or an algorithm. If not,
 * `difference` has the words, "version 1.0 of plugin x, but this is version 2.0". */
bool gpumc_plugins_agree(const char *before, const char *now, char difference[static 256]);

#endif

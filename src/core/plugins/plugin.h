/* A plugin: models, kernels and algorithms in a shared object of their own, built against the
 * installed headers and opened when a configuration needs them (docs/adding-a-model.md).
 *
 * Authors write none of this. They list what they have in models.def, algorithms.def and
 * kernels.def, and compile plugin/plugin_entry.c with it, which makes of these lists the two
 * objects below: a note that says what the file is, and the table of what it has.
 *
 * The program reads the note from the file, as bytes. Only if its ABI is the program's own is the
 * file opened, so that nothing of a plugin runs before, not even its constructors. */
#ifndef GPUMC_CORE_PLUGIN_H
#define GPUMC_CORE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#include "core/simulation/algorithm.h"
#include "core/simulation/model.h"

/* Raised by hand when the meaning of something in the headers changes that sizes and offsets do not
 * show: what a function does or takes, a constant, the order of calls. Those are compared besides
 * (gpumc_plugin_note.layout). */
enum { GPUMC_PLUGIN_ABI = 1 };

enum {
  GPUMC_PLUGIN_NOTE_TYPE = 1,
  GPUMC_PLUGIN_NAME_BYTES = 64,
  GPUMC_PLUGIN_LIST_BYTES = 256,
};
#define GPUMC_PLUGIN_OWNER "gpumc"

/* What stands in the note, after the header that every ELF note has. Lists are names, each with a
 * blank after it. All but the layout is the same for every ABI, so that any program can tell what a
 * file is and why it cannot use it. */
struct gpumc_plugin_note {
  uint32_t abi;
  uint32_t n_layout;
  char name[GPUMC_PLUGIN_NAME_BYTES];
  char version[GPUMC_PLUGIN_NAME_BYTES];
  char models[GPUMC_PLUGIN_LIST_BYTES];
  char algorithms[GPUMC_PLUGIN_LIST_BYTES];
  char kernels[GPUMC_PLUGIN_LIST_BYTES]; /* the models that it adds kernels to */
};

/* A kernel for a model that another plugin, or the program, has. */
struct gpumc_plugin_kernel {
  const char *model;
  const struct gpumc_kernel_ops *kernel;
};

/* The object `gpumc_plugin` of a plugin; each list ends with NULL. */
struct gpumc_plugin {
  const struct gpumc_model_ops *const *models;
  const struct gpumc_algorithm_ops *const *algorithms;
  const struct gpumc_plugin_kernel *kernels;
};
#define GPUMC_PLUGIN_SYMBOL "gpumc_plugin"

/* The size of a struct in the headers (`field` NULL), or the offset of a field. */
struct gpumc_plugin_extent {
  const char *type, *field;
  uint32_t bytes;
};
/* Those of this program (plugin/layout.def). */
extern const struct gpumc_plugin_extent gpumc_plugin_layout[];
extern const size_t gpumc_plugin_layout_count;

#endif

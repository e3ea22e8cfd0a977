/* Makes a plugin of a folder of sources: compiled with them, it says what the shared object has, by
 * the folder's lists (docs/adding-a-model.md, "Outside the tree").
 *   models.def      GPUMC_MODEL(name): the object gpumc_model_name
 *   algorithms.def  GPUMC_ALGORITHM(name): the object gpumc_algorithm_name
 *   kernels.def     GPUMC_KERNEL(model, object): a kernel for a model of the program's, or of
 *                   another plugin's
 * GPUMC_PLUGIN_NAME and GPUMC_PLUGIN_VERSION are texts, given when it is compiled. A run that was
 * begun with one version is not continued with another. */
#include "plugin/layout.h"

#if !defined(GPUMC_PLUGIN_NAME) || !defined(GPUMC_PLUGIN_VERSION)
#error "compile it with -DGPUMC_PLUGIN_NAME='\"...\"' -DGPUMC_PLUGIN_VERSION='\"...\"'"
#endif
#if __has_include("models.def")
#define GPUMC_MODELS_OF_PLUGIN "models.def"
#else
#define GPUMC_MODELS_OF_PLUGIN "plugin/none.def"
#endif
#if __has_include("algorithms.def")
#define GPUMC_ALGORITHMS_OF_PLUGIN "algorithms.def"
#else
#define GPUMC_ALGORITHMS_OF_PLUGIN "plugin/none.def"
#endif
#if __has_include("kernels.def")
#define GPUMC_KERNELS_OF_PLUGIN "kernels.def"
#else
#define GPUMC_KERNELS_OF_PLUGIN "plugin/none.def"
#endif

/* ---- the table ---- */

#define GPUMC_MODEL(name) extern const struct gpumc_model_ops gpumc_model_##name;
#include GPUMC_MODELS_OF_PLUGIN
#undef GPUMC_MODEL
#define GPUMC_ALGORITHM(name) extern const struct gpumc_algorithm_ops gpumc_algorithm_##name;
#include GPUMC_ALGORITHMS_OF_PLUGIN
#undef GPUMC_ALGORITHM
#define GPUMC_KERNEL(model, object) extern const struct gpumc_kernel_ops object;
#include GPUMC_KERNELS_OF_PLUGIN
#undef GPUMC_KERNEL

static const struct gpumc_model_ops *const models[] = {
#define GPUMC_MODEL(name) &gpumc_model_##name,
#include GPUMC_MODELS_OF_PLUGIN
#undef GPUMC_MODEL
    NULL};
static const struct gpumc_algorithm_ops *const algorithms[] = {
#define GPUMC_ALGORITHM(name) &gpumc_algorithm_##name,
#include GPUMC_ALGORITHMS_OF_PLUGIN
#undef GPUMC_ALGORITHM
    NULL};
static const struct gpumc_plugin_kernel kernels[] = {
#define GPUMC_KERNEL(model, object) {#model, &object},
#include GPUMC_KERNELS_OF_PLUGIN
#undef GPUMC_KERNEL
    {NULL, NULL}};

extern const struct gpumc_plugin gpumc_plugin;
__attribute__((visibility("default"))) const struct gpumc_plugin gpumc_plugin = {
    .models = models, .algorithms = algorithms, .kernels = kernels};

/* ---- the note ---- */

#define GPUMC_MODEL(name) #name " "
#define GPUMC_ALGORITHM(name) #name " "
#define GPUMC_KERNEL(model, object) #model " "
_Static_assert(sizeof GPUMC_PLUGIN_NAME > 1 && sizeof GPUMC_PLUGIN_NAME <= GPUMC_PLUGIN_NAME_BYTES,
               "the name of a plugin must have 1 to 63 characters");
_Static_assert(sizeof GPUMC_PLUGIN_VERSION > 1 &&
                   sizeof GPUMC_PLUGIN_VERSION <= GPUMC_PLUGIN_NAME_BYTES,
               "the version of a plugin must have 1 to 63 characters");
_Static_assert(sizeof(""
#include GPUMC_MODELS_OF_PLUGIN
                      ) <= GPUMC_PLUGIN_LIST_BYTES,
               "too many names for one plugin: split it into two");
_Static_assert(sizeof(""
#include GPUMC_ALGORITHMS_OF_PLUGIN
                      ) <= GPUMC_PLUGIN_LIST_BYTES,
               "too many names for one plugin: split it into two");
_Static_assert(sizeof(""
#include GPUMC_KERNELS_OF_PLUGIN
                      ) <= GPUMC_PLUGIN_LIST_BYTES,
               "too many names for one plugin: split it into two");

enum {
  EXTENTS = 0
#define STRUCT(type) +1
#define FIELD(type, field) +1
#include "plugin/layout.def"
#undef STRUCT
#undef FIELD
};

/* As in <elf.h>: sizes of owner and contents, type, owner padded to a multiple of 4 bytes. */
__attribute__((section(".note.gpumc"), used, aligned(4))) static const struct {
  uint32_t owner_bytes, bytes, type;
  char owner[8];
  struct gpumc_plugin_note note;
  uint32_t layout[EXTENTS];
} note = {.owner_bytes = sizeof GPUMC_PLUGIN_OWNER,
          .bytes = sizeof(struct gpumc_plugin_note) + sizeof(uint32_t[EXTENTS]),
          .type = GPUMC_PLUGIN_NOTE_TYPE,
          .owner = GPUMC_PLUGIN_OWNER,
          .note = {.abi = GPUMC_PLUGIN_ABI,
                   .n_layout = EXTENTS,
                   .name = GPUMC_PLUGIN_NAME,
                   .version = GPUMC_PLUGIN_VERSION,
                   .models =
#include GPUMC_MODELS_OF_PLUGIN
                       "",
                   .algorithms =
#include GPUMC_ALGORITHMS_OF_PLUGIN
                       "",
                   .kernels =
#include GPUMC_KERNELS_OF_PLUGIN
                       ""},
          .layout = {
#define STRUCT(type) (uint32_t)sizeof(struct type),
#define FIELD(type, field) (uint32_t) offsetof(struct type, field),
#include "plugin/layout.def"
          }};

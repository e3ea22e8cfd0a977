/* The sizes and offsets that this program was compiled with. */
#include "plugin/layout.h"

const struct gpumc_plugin_extent gpumc_plugin_layout[] = {
#define STRUCT(type) {#type, NULL, (uint32_t)sizeof(struct type)},
#define FIELD(type, field) {#type, #field, (uint32_t)offsetof(struct type, field)},
#include "plugin/layout.def"
#undef STRUCT
#undef FIELD
};
const size_t gpumc_plugin_layout_count = sizeof gpumc_plugin_layout / sizeof *gpumc_plugin_layout;

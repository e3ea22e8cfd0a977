/* Sizes and offsets in the headers that plugins are built against. They are numbers of whoever
 * includes this: of the program in layout.c, of a plugin in plugin_entry.c. */
#ifndef GPUMC_PLUGIN_LAYOUT_H
#define GPUMC_PLUGIN_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "core/plugins/plugin.h"
#include "core/simulation/columns.h"
#include "core/simulation/configurations.h"
#include "core/simulation/curves.h"
#include "core/simulation/ladder.h"
#include "core/simulation/observables.h"
#include "core/simulation/share.h"
#include "core/simulation/shared_keys.h"
#include "core/simulation/steps.h"
#include "core/statistics/bins.h"
#include "core/statistics/estimate.h"
#include "core/statistics/series.h"
#include "models/lattice/replicas_cpu.h"
#include "models/lattice/walk_cpu.h"

#endif

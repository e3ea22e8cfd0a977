/* A module of MPI by its note, and nothing else: one that cannot be used, whatever it says. */
#include "core/base/module_note.h"
#include "core/processes/processes_module.h"

GPUMC_MODULE_NOTE(GPUMC_NOTE_MPI, GPUMC_MODULE_INTERFACE);

/* Functions that instances of lattice models share, whatever is on their sites. */
#ifndef GPUMC_LATTICE_INSTANCE_H
#define GPUMC_LATTICE_INSTANCE_H

#include "core/simulation/model.h"

/* Fills in energy_unit and beta_unit: energies are in the unit in which the coupling J is given. */
void lattice_name_units(struct gpumc_model *model, double coupling);

#endif

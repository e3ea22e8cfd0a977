/* Functions that instances of lattice models share, whatever is on their sites. */
#ifndef GPUMC_LATTICE_INSTANCE_H
#define GPUMC_LATTICE_INSTANCE_H

#include "core/simulation/model.h"

/* Fills in energy_unit and beta_unit: energies are in the unit in which the coupling J is given. */
void lattice_name_units(struct gpumc_model *model, double coupling);

/* Returns whether spins of length 1 on a lattice with couplings of at most this size are so hot that
 * updates of single spins meet no barrier, whatever the fields: Dobrushin's condition that the
 * influences of all neighbours on a spin add up to less than 1 (Dobrushin, Theory Probab. Appl. 13,
 * 197 (1968)), under which sweeps in any order forget where they began (Dyer, Goldberg and Jerrum,
 * Combin. Probab. Comput. 17, 761 (2008)). A neighbour that turns around changes the energy of a
 * spin by 2 |J s . s'| at most, and its distribution by no more than tanh(beta |J|), with any number
 * of components. */
bool lattice_is_hot(size_t dimension, double beta, double largest_coupling);

#endif

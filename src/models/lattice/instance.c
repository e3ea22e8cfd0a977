#include "models/lattice/instance.h"

#include <math.h>
#include <stdio.h>

bool lattice_is_hot(size_t dimension, double beta, double largest_coupling)
{
  const double neighbours = 2.0 * (double)dimension;
  return neighbours * tanh(fabs(beta) * largest_coupling) < 1.0;
}

void lattice_name_units(struct gpumc_model *model, double coupling)
{
  const char *symbol = coupling < 0 ? "|J|" : "J";
  const double size = fabs(coupling);
  if (size == 1.0) {
    snprintf(model->energy_unit, sizeof model->energy_unit, "%s", symbol);
    snprintf(model->beta_unit, sizeof model->beta_unit, "1/%s", symbol);
  } else {
    snprintf(model->energy_unit, sizeof model->energy_unit, "%s/%g", symbol, size);
    snprintf(model->beta_unit, sizeof model->beta_unit, "%g/%s", size, symbol);
  }
}

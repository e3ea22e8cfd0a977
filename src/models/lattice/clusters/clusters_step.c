/* Tuning of the number of Wolff's clusters in a sweep. */
#include "models/lattice/clusters/clusters_step.h"

#include <math.h>

/* Flipped spins per site at which a sweep ends while the number of clusters is tuned. */
enum { LATTICE_WOLFF_LIMIT = 4 };

double lattice_wolff_adapted(double clusters, double updated)
{
  return updated > 0 ? rint(clusters / updated) : LATTICE_WOLFF_CLUSTERS_MAXIMUM;
}

uint64_t lattice_wolff_limit(const struct gpumc_ensemble *ensemble)
{
  return gpumc_steps_until(ensemble) < UINT32_MAX ? LATTICE_WOLFF_LIMIT * ensemble->model->sites
                                                  : UINT64_MAX;
}

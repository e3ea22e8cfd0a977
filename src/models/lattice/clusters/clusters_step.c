/* Tuning of the number of Wolff's clusters in a sweep. */
#include "models/lattice/clusters/clusters_step.h"

#include <math.h>

double lattice_wolff_adapted(double clusters, double updated)
{
  return updated > 0 ? rint(clusters / updated) : LATTICE_WOLFF_CLUSTERS_MAXIMUM;
}

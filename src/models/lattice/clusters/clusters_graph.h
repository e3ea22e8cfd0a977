/* The bonds and clusters of a replica on the CPU. */
#ifndef GPUMC_LATTICE_CLUSTERS_GRAPH_H
#define GPUMC_LATTICE_CLUSTERS_GRAPH_H

#include <stddef.h>

#include "models/lattice/checkerboard.h"
#include "models/lattice/clusters/clusters_rules.h"

/* A layer is a row of a square lattice, a plane of a cubic one, or a chain; threads share a lattice
 * by layers. Sites in the order x + Lx (y + Ly z). */
struct lattice_cluster_shape {
  struct gpumc_checkerboard checkerboard;
  size_t sites, layer, layers; /* layer: its sites */
};

static inline struct lattice_cluster_shape
lattice_cluster_shape_of(const struct gpumc_checkerboard *lattice)
{
  struct lattice_cluster_shape shape = {.checkerboard = *lattice, .sites = 2 * lattice->colour};
  shape.layers = lattice->dimension == 3 ? lattice->length_z : lattice->length_y;
  shape.layer = shape.sites / shape.layers;
  return shape;
}

/* Returns the rows of the layers before layer number `layers`. */
static inline size_t lattice_cluster_lines(const struct lattice_cluster_shape *shape, size_t layers)
{
  return layers * shape->layer / shape->checkerboard.length_x;
}

/* Returns the colour of the even sites of the row with that number. */
static inline size_t
lattice_cluster_row_colour(const struct gpumc_checkerboard *lattice, size_t line)
{
  return (line % lattice->length_y + line / lattice->length_y) & 1;
}

/* Returns where, in an array that holds colour 0, then colour 1, the row with that number has its
 * even sites, or the odd ones. */
static inline size_t
lattice_cluster_row(const struct gpumc_checkerboard *lattice, size_t line, size_t odd)
{
  return (lattice_cluster_row_colour(lattice, line) ^ odd) * lattice->colour + line * lattice->row;
}

/* All arrays have room for some more vectors. bonds[sites]: bit d, of the bond along axis d, and
 * bit LATTICE_CLUSTER_GHOST; label[sites]: a site of the same cluster that is not larger, in the
 * end the cluster's name; flips: a bit for each name. Random numbers are those of a replica at one
 * time. */
struct lattice_cluster_graph {
  const struct lattice_cluster_shape *shape;
  struct gpumc_random random;
  uint32_t replica, time;
  uint8_t *bonds;
  uint32_t *label, *flips;
};

#endif

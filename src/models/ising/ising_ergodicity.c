/* Whether single-spin-flip Metropolis sweeps reach every state.
 *
 * A flip that costs nothing is always accepted. Where the local field h_i + sum_j J_ij s_j of every
 * spin of a connected component is zero, the component turns over as a whole, colour by colour, and
 * all local fields stay zero: such states are reached from no other, and left for no other. That
 * takes h_i = 0 and net couplings that cancel with some signs, at every spin; without such states a
 * component is ergodic (tests/exact/test_ergodicity.py enumerates). Their share is 1/4 in a ring of
 * 4 spins and 36/65536 in 4 x 4, and falls exponentially: nothing in large components. */
#include <stdlib.h>

#include "core/memory.h"
#include "models/ising/ising.h"

enum {
  NEIGHBOURS_MAXIMUM = 2 * ISING_DIMENSIONS_MAXIMUM,
  /* From as many spins on, states of that kind have no weight. */
  LARGE = 32
};

static const char stuck[] =
    "update: metropolis does not reach every state: there are spins without a field, alone or in "
    "components of fewer than 32, whose couplings are zero or cancel; where they do at every spin "
    "of a component, Metropolis turns it over forever, and averages are wrong; use "
    "algorithm.update: heat_bath";

/* One sample, and what has been seen of it. */
struct graph {
  size_t dimension, sites;
  size_t length[ISING_DIMENSIONS_MAXIMUM], stride[ISING_DIMENSIONS_MAXIMUM];
  int32_t *coupling, *field; /* as ising_disorder_sample has them */
  bool *seen;
  size_t *stack;
};

/* Of one site: neighbours that are joined to it, each once. */
struct joined {
  size_t count;
  size_t site[NEIGHBOURS_MAXIMUM];
  int64_t coupling[NEIGHBOURS_MAXIMUM];
};

static enum gpumc_status
create_graph(const struct gpumc_model *model, struct graph *graph, struct gpumc_error *error)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  const size_t length[] = {lattice->length_x, lattice->length_y, lattice->length_z};
  static const char purpose[] = "components of the couplings";
  *graph = (struct graph){.dimension = lattice->dimension, .sites = model->sites};
  for (size_t d = 0, stride = 1; d < graph->dimension; stride *= length[d++]) {
    graph->length[d] = length[d];
    graph->stride[d] = stride;
  }
  enum gpumc_status status =
      gpumc_allocate_array(&graph->coupling, graph->sites * graph->dimension, purpose, error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&graph->field, graph->sites, purpose, error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&graph->seen, graph->sites, purpose, error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&graph->stack, graph->sites, purpose, error);
  return status;
}

static void free_graph(struct graph *graph)
{
  free(graph->coupling);
  free(graph->field);
  free(graph->seen);
  free(graph->stack);
}

static void join(struct joined *joined, size_t site, int64_t coupling)
{
  if (coupling == 0)
    return;
  joined->site[joined->count] = site;
  joined->coupling[joined->count++] = coupling;
}

/* Along a side of length 2 the two bonds of a site lead to the same neighbour and add up. */
static struct joined joined_to(const struct graph *graph, size_t site)
{
  struct joined joined = {0};
  for (size_t d = 0; d < graph->dimension; d++) {
    const size_t length = graph->length[d], stride = graph->stride[d];
    const size_t x = site / stride % length;
    const size_t after = x + 1 < length ? site + stride : site - (length - 1) * stride;
    const size_t before = x > 0 ? site - stride : site + (length - 1) * stride;
    const int64_t to_after = graph->coupling[site * graph->dimension + d];
    const int64_t to_before = graph->coupling[before * graph->dimension + d];
    if (length == 2) {
      join(&joined, after, to_after + to_before);
    } else {
      join(&joined, after, to_after);
      join(&joined, before, to_before);
    }
  }
  return joined;
}

/* Whether the local field of a site is zero for some signs of its neighbours. */
static bool can_cancel(int32_t field, const struct joined *joined)
{
  for (uint32_t signs = 0; field == 0 && signs < (uint32_t)1 << joined->count; signs++) {
    int64_t sum = 0;
    for (size_t i = 0; i < joined->count; i++)
      sum += (signs >> i & 1) != 0 ? joined->coupling[i] : -joined->coupling[i];
    if (sum == 0)
      return true;
  }
  return false;
}

/* Whether the component of `start` is small, and every spin in it can be without a local field. */
static bool turns_over(struct graph *graph, size_t start)
{
  size_t waiting = 0, size = 0;
  bool cancels = true;
  graph->stack[waiting++] = start;
  graph->seen[start] = true;
  while (waiting > 0) {
    const size_t site = graph->stack[--waiting];
    const struct joined joined = joined_to(graph, site);
    cancels = cancels && size < LARGE && can_cancel(graph->field[site], &joined);
    size++;
    for (size_t i = 0; i < joined.count; i++) {
      if (graph->seen[joined.site[i]])
        continue;
      graph->seen[joined.site[i]] = true;
      graph->stack[waiting++] = joined.site[i];
    }
  }
  return cancels && size < LARGE;
}

/* Couplings that are never zero, nor cancel along a side of length 2, join all sites. */
static bool is_large_component(const struct gpumc_model *model)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  const struct ising_disorder_traits traits = ising_disorder_traits(model);
  const struct gpumc_checkerboard *lattice = &parameters->lattice;
  const bool pairs = lattice->length_x == 2 || lattice->length_y == 2 || lattice->length_z == 2;
  return model->sites >= LARGE && !model->reads_file &&
         !(pairs && traits.couplings && traits.couplings_are_signs);
}

enum gpumc_status ising_ergodicity(const struct gpumc_model *model, size_t samples,
                                   const char **warning, struct gpumc_error *error)
{
  struct graph graph;
  *warning = NULL;
  if (is_large_component(model))
    return GPUMC_OK;
  enum gpumc_status status = create_graph(model, &graph, error);
  for (size_t s = 0; s < (model->disorder ? samples : 1) && status == GPUMC_OK && *warning == NULL;
       s++) {
    status = ising_disorder_sample(model, s, graph.coupling, graph.field, error);
    for (size_t i = 0; i < graph.sites; i++)
      graph.seen[i] = false;
    for (size_t i = 0; i < graph.sites && status == GPUMC_OK && *warning == NULL; i++)
      if (!graph.seen[i] && turns_over(&graph, i))
        *warning = stuck;
  }
  free_graph(&graph);
  return status;
}

/* The moves of these kernels, which differ in how they go through the lattice, not in what they do
 * at a site, with the keys of moves; and whether Metropolis sweeps reach every state.
 *
 * A flip that costs nothing is always accepted. If the local field h_i + sum_j J_ij s_j of every
 * spin of a connected component is zero, the component is flipped as a whole, colour by colour, and
 * all local fields stay zero: such states are reached from no other, and left for no other. They
 * are all that keeps a component from being ergodic, as the enumeration of small lattices shows
 * (tests/exact/test_ergodicity.py).
 *
 * Their share of the component's states is 1/4 in a ring of 4 spins and 36/65536 in 4 x 4, and
 * falls exponentially with the number of spins. */
#include <stdlib.h>

#include "core/base/memory.h"
#include "models/ising/ising.h"
#include "models/lattice/clusters/clusters_step.h"
#include "models/lattice/instance.h"

enum {
  NEIGHBOURS_MAXIMUM = 2 * ISING_DIMENSIONS_MAXIMUM,
  /* With this many spins the share is below SHARE_LIMIT. */
  LARGE = 32,
  /* For drawn samples, which are all alike: components in fewer than one in this many do no
   * harm. */
  DRAWN_SAMPLES = 1000
};

/* Share of a component's states; a smaller one is below any error. */
#define SHARE_LIMIT 0x1p-20

static const char stuck[] =
    "update: metropolis does not reach every state: where couplings and field of every spin of a "
    "small component cancel (a spin without couplings, a ring of four, a lattice of 4 x 4), it "
    "flips as a whole forever, so averages are wrong; use algorithm.update: heat_bath";

/* One sample, and the part of it visited so far. */
struct graph {
  size_t dimension, sites;
  size_t length[ISING_DIMENSIONS_MAXIMUM], stride[ISING_DIMENSIONS_MAXIMUM];
  int32_t *coupling, *field; /* as in ising_disorder_sample */
  uint32_t *place;           /* position of a site in its component, from 1 on; 0: not visited */
  size_t *queue;             /* sites of the current component */
};

/* Neighbours that are coupled to a site, each once. */
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
  GPUMC_TRY(
      gpumc_allocate_array(&graph->coupling, graph->sites * graph->dimension, purpose, error));
  GPUMC_TRY(gpumc_allocate_array(&graph->field, graph->sites, purpose, error));
  GPUMC_TRY(gpumc_allocate_array(&graph->place, graph->sites, purpose, error));
  return gpumc_allocate_array(&graph->queue, graph->sites, purpose, error);
}

static void free_graph(struct graph *graph)
{
  free(graph->coupling);
  free(graph->field);
  free(graph->place);
  free(graph->queue);
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

/* Gathers the sites of the component of `start` in the queue; returns their number. */
static size_t gather(struct graph *graph, size_t start)
{
  size_t size = 0;
  graph->queue[size++] = start;
  graph->place[start] = 1;
  for (size_t done = 0; done < size; done++) {
    const struct joined joined = joined_to(graph, graph->queue[done]);
    for (size_t i = 0; i < joined.count; i++) {
      if (graph->place[joined.site[i]] != 0)
        continue;
      graph->queue[size++] = joined.site[i];
      graph->place[joined.site[i]] = (uint32_t)size;
    }
  }
  return size;
}

/* A small component; spins are assigned values in the order of the queue. */
struct component {
  size_t size;
  struct joined joined[LARGE];
  int64_t sum[LARGE];  /* of the couplings to spins that have a value */
  int64_t open[LARGE]; /* of the sizes of the other couplings */
};

/* Sets spin k to `spin`, or with 0 takes its value back, after `before`. False if a local field can
 * no longer become zero. */
static bool
put_spin(const struct graph *graph, struct component *component, size_t k, int before, int spin)
{
  bool possible = true;
  for (size_t i = 0; i < component->joined[k].count; i++) {
    const size_t at = graph->place[component->joined[k].site[i]] - 1;
    const int64_t coupling = component->joined[k].coupling[i];
    component->sum[at] += (spin - before) * coupling;
    component->open[at] += (before != 0 ? 1 : -1) * llabs(coupling);
    possible = possible && llabs(component->sum[at]) <= component->open[at];
  }
  return possible;
}

/* Counts the states without local fields of the spins from k on. */
static double count_states(const struct graph *graph, struct component *component, size_t k)
{
  double count = 0;
  if (k == component->size)
    return 1;
  for (int spin = -1; spin <= 1; spin += 2) {
    if (put_spin(graph, component, k, 0, spin))
      count += count_states(graph, component, k + 1);
    (void)put_spin(graph, component, k, spin, 0);
  }
  return count;
}

/* Returns the share of its states that flip as a whole forever. */
static double share_of_component(const struct graph *graph, size_t size)
{
  struct component component = {.size = size};
  double states = 1;
  if (size >= LARGE)
    return 0;
  for (size_t k = 0; k < size; k++) {
    if (graph->field[graph->queue[k]] != 0)
      return 0;
    component.joined[k] = joined_to(graph, graph->queue[k]);
    for (size_t i = 0; i < component.joined[k].count; i++)
      component.open[k] += llabs(component.joined[k].coupling[i]);
    states *= 2;
  }
  return count_states(graph, &component, 0) / states;
}

static bool is_stuck(struct graph *graph)
{
  bool found = false;
  for (size_t i = 0; i < graph->sites; i++)
    graph->place[i] = 0;
  for (size_t i = 0; i < graph->sites && !found; i++)
    if (graph->place[i] == 0)
      found = share_of_component(graph, gather(graph, i)) >= SHARE_LIMIT;
  return found;
}

/* Returns whether no sample has to be examined. Drawn couplings that are not signs never cancel;
 * signs do along sides of length 2 only, and the other bonds join all sites along the other sides.
 * A field that is uniform, or Gaussian, never cancels. */
static bool is_ergodic(const struct gpumc_model *model)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  const struct lattice_disorder_traits traits = ising_disorder_traits(model);
  const struct gpumc_checkerboard *lattice = &parameters->lattice;
  const size_t length[] = {lattice->length_x, lattice->length_y, lattice->length_z};
  size_t joined = 1;
  for (size_t d = 0; d < ISING_DIMENSIONS_MAXIMUM; d++)
    joined *= length[d] > 2 ? length[d] : 1;
  if (model->reads_file)
    return false;
  return joined >= LARGE || (traits.couplings && !traits.couplings_are_signs) ||
         (traits.fields ? !traits.fields_are_signs : parameters->field != 0);
}

/* gpumc_move.warn for Metropolis. */
static enum gpumc_status warn_of_metropolis(const struct gpumc_model *model, size_t samples,
                                            const char **warning, struct gpumc_error *error)
{
  struct graph graph;
  *warning = NULL;
  if (is_ergodic(model))
    return GPUMC_OK;
  if (!model->disorder)
    samples = 1;
  else if (!model->reads_file && samples > DRAWN_SAMPLES)
    samples = DRAWN_SAMPLES;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, create_graph(model, &graph, error));
  for (size_t s = 0; s < samples && *warning == NULL; s++) {
    GPUMC_TRY_OUT(status, ising_disorder_sample(model, s, graph.coupling, graph.field, error));
    if (is_stuck(&graph))
      *warning = stuck;
  }
out:
  free_graph(&graph);
  return status;
}

/* gpumc_move.mixes for all moves: single spins turn over by each, as clusters of one as well, whose
 * rate at such temperatures is a tenth of that of heat bath or more. */
static bool mixes_when_hot(const struct gpumc_model *model, const double *control)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  return lattice_is_hot(parameters->lattice.dimension, control[ISING_BETA],
                        ising_largest_coupling(parameters));
}

/* gpumc_move.mixes for clusters of all spins: of a ferromagnet, in a uniform field as well, they
 * reach equilibrium in a time that is a power of the number of spins, at every temperature (Guo and
 * Jerrum, Ann. Appl. Probab. 28, 1292 (2018); Feng, Guo and Wang, Inf. Comput. 294, 105066 (2023)).
 * An antiferromagnet on sides of even length is a ferromagnet with every other spin turned over,
 * but only without a field. */
static bool mixes_by_clusters(const struct gpumc_model *model, const double *control)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  const bool ferromagnet = parameters->coupling > 0 || control[ISING_FIELD] == 0;
  return (parameters->disorder == NULL && ferromagnet) || mixes_when_hot(model, control);
}

static double given_clusters(const struct gpumc_kernel_options *options)
{
  return (double)options->own[0];
}

static const struct gpumc_step clusters = LATTICE_WOLFF_STEP(given_clusters);

/* Improved estimators. */
enum { OF_CLUSTERS = 1 << ISING_CLUSTER_SQUARE | 1 << ISING_CLUSTER_WAVE };

const struct gpumc_move ising_moves[ISING_MOVES] = {
    [ISING_MOVE_METROPOLIS] =
        {.name = "metropolis",
         .summary = "a spin is flipped with probability min(1, exp(-beta dE))",
         /* A checkerboard sweep flips all spins, and the energy does not change. */
         .at_zero = "at beta = 0 Metropolis accepts every flip, so a sweep flips all spins and the "
                    "energy never changes: use update: heat_bath, or a beta above 0",
         .warn = warn_of_metropolis,
         .mixes = mixes_when_hot},
    [ISING_MOVE_HEAT_BATH] =
        {.name = "heat_bath",
         .summary = "a spin is redrawn from its equilibrium distribution, given its neighbours",
         .mixes = mixes_when_hot},
    [ISING_MOVE_SWENDSEN_WANG] = {.name = "swendsen_wang",
                                  .summary = "all clusters of spins joined by active bonds are "
                                             "found, and each is flipped with probability "
                                             "1/2",
                                  .mixes = mixes_by_clusters,
                                  .measures = OF_CLUSTERS},
    [ISING_MOVE_WOLFF] = {.name = "wolff",
                          .summary = "kernel.clusters clusters, each that of a random spin, are "
                                     "flipped one after the other",
                          .mixes = mixes_when_hot,
                          .step = &clusters,
                          .measures = OF_CLUSTERS}};

const struct gpumc_key ising_move_keys[] = {
    LATTICE_WOLFF_KEY,
    {.name = NULL},
};

void ising_read_move_keys(const struct gpumc_params *kernel, struct gpumc_kernel_options *options)
{
  *options = (struct gpumc_kernel_options){0};
  if (gpumc_params_has(kernel, "clusters"))
    options->own[0] = (uint64_t)gpumc_params_integer(kernel, "clusters");
}

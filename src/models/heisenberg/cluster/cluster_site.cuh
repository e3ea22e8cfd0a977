/* Cluster moves of one replica of O(n) spins in device memory, by one thread of a GPU: for both
 * compilers, so that tests can run threads one after the other. */
#ifndef GPUMC_HEISENBERG_CLUSTER_SITE_CUH
#define GPUMC_HEISENBERG_CLUSTER_SITE_CUH

#include "models/heisenberg/cluster/cluster_gpu.h"

/* ---- precisions as types ---- */

#define HEISENBERG_CLUSTER_TYPE(precision)                                                         \
  struct heisenberg_cluster_in_##precision {                                                       \
    typedef precision real;                                                                        \
    typedef struct heisenberg_vector_##precision vector;                                           \
    typedef struct heisenberg_plane_##precision plane;                                             \
    GPUMC_HOST_DEVICE static plane plane_of(const int components, struct gpumc_random random,      \
                                            uint32_t replica, uint32_t time, uint32_t c,           \
                                            double coupling, double field)                         \
    {                                                                                              \
      return heisenberg_plane_of_##precision(components, random, replica, time, c, coupling,       \
                                             field);                                               \
    }                                                                                              \
    GPUMC_HOST_DEVICE static real dot(const int components, vector a, vector b)                    \
    {                                                                                              \
      return heisenberg_dot_##precision(components, a, b);                                         \
    }                                                                                              \
    GPUMC_HOST_DEVICE static bool is_active(real x, uint32_t number)                               \
    {                                                                                              \
      return heisenberg_is_active_##precision(x, number);                                          \
    }                                                                                              \
    GPUMC_HOST_DEVICE static vector                                                                \
    mirrored(const int components, vector spin, vector axis, real a)                               \
    {                                                                                              \
      return heisenberg_mirrored_##precision(components, spin, axis, a);                           \
    }                                                                                              \
  };
HEISENBERG_CLUSTER_TYPE(double)
HEISENBERG_CLUSTER_TYPE(float)

/* ---- memory that threads share ---- */

GPUMC_HOST_DEVICE static inline uint32_t heisenberg_seen(const uint32_t *word)
{
  return *(const volatile uint32_t *)word;
}

/* Sets bits; returns the word before. */
GPUMC_HOST_DEVICE static inline uint32_t heisenberg_set_bits(uint32_t *word, uint32_t bits)
{
#ifdef __CUDA_ARCH__
  return atomicOr(word, bits);
#else
  const uint32_t before = *word;
  *word |= bits;
  return before;
#endif
}

GPUMC_HOST_DEVICE static inline void heisenberg_clear_bits(uint32_t *word, uint32_t bits)
{
#ifdef __CUDA_ARCH__
  atomicAnd(word, ~bits);
#else
  *word &= ~bits;
#endif
}

/* Adds 1; returns the number before. */
GPUMC_HOST_DEVICE static inline uint32_t heisenberg_count_up(uint32_t *number)
{
#ifdef __CUDA_ARCH__
  return atomicAdd(number, 1);
#else
  return (*number)++;
#endif
}

/* Replaces a value by another, if it is there; returns whether it was. */
GPUMC_HOST_DEVICE static inline bool heisenberg_replace(uint32_t *word, uint32_t value, uint32_t by)
{
#ifdef __CUDA_ARCH__
  return atomicCAS(word, value, by) == value;
#else
  if (*word != value)
    return false;
  *word = by;
  return true;
#endif
}

/* ---- a replica ---- */

/* A cluster's plane, or that of a sweep, and the label of its bonds' numbers. */
template <class KIND> struct heisenberg_graph {
  const struct heisenberg_gpu_lattice *lattice;
  typename KIND::real *spins;
  const typename KIND::real *couplings; /* NULL: all are 1 */
  struct gpumc_random random;
  uint32_t replica, time, label;
  bool paired, in_field;
  typename KIND::plane plane;
};

/* The graph of replica r of a run, without plane and label. */
template <class KIND>
GPUMC_HOST_DEVICE static inline struct heisenberg_graph<KIND>
heisenberg_graph_of(const struct heisenberg_cluster_gpu *arguments, uint32_t run, uint32_t r,
                    uint32_t time) {
  typedef typename KIND::real real;
  const struct heisenberg_replicas *replicas = &arguments->replicas;
  const struct heisenberg_gpu_couplings *couplings = &replicas->couplings;
  const double field = arguments->rules[run].bare_field;
  struct heisenberg_graph<KIND> graph;
  graph.lattice = &replicas->lattice;
  graph.spins = (real *)heisenberg_replica(replicas, run, r);
  graph.couplings =
      couplings->numbers != NULL ? (const real *)couplings->numbers + r * couplings->stride : NULL;
  graph.random = lattice_batch_random(&replicas->batch, run);
  graph.replica = lattice_batch_replica(&replicas->batch, r);
  graph.time = time;
  graph.paired = heisenberg_cluster_paired(replicas->lattice.dimension, field);
  graph.in_field = field != 0.0;
  return graph;
}

/* Sets them for cluster c. */
template <class KIND, int N>
GPUMC_HOST_DEVICE static inline void
heisenberg_graph_begin(const struct heisenberg_rule *rule, uint32_t c, uint32_t label,
                       struct heisenberg_graph<KIND> *graph)
{
  graph->plane =
      KIND::plane_of(N, graph->random, graph->replica, graph->time, c, rule->coupling, rule->field);
  graph->label = label;
}

/* ---- sites ---- */

struct heisenberg_spot {
  uint32_t colour, k;
};

/* Half the number of a site is its index, whichever its colour. */
GPUMC_HOST_DEVICE static inline struct heisenberg_spot
heisenberg_spot_of(const struct heisenberg_gpu_lattice *lattice, uint32_t site)
{
  const struct heisenberg_place place = heisenberg_place_at(lattice, site / 2);
  const struct heisenberg_spot spot = {(site + place.y + place.z) & 1, site / 2};
  return spot;
}

GPUMC_HOST_DEVICE static inline uint32_t
heisenberg_site_at(const struct heisenberg_gpu_lattice *lattice, struct heisenberg_spot spot)
{
  const struct heisenberg_place place = heisenberg_place_at(lattice, spot.k);
  return 2 * spot.k + (heisenberg_is_back(place, spot.colour) ? 0 : 1);
}

/* The site one step on along an axis, or back. */
GPUMC_HOST_DEVICE static inline struct heisenberg_spot
heisenberg_beside(const struct heisenberg_gpu_lattice *lattice, struct heisenberg_spot spot,
                  uint32_t axis, bool forward)
{
  const struct heisenberg_steps steps = heisenberg_steps_at(lattice, spot.colour, spot.k, axis);
  const struct heisenberg_spot beside = {1 - spot.colour, forward ? steps.forward : steps.back};
  return beside;
}

template <class KIND>
GPUMC_HOST_DEVICE static inline typename KIND::real *
heisenberg_spin_at(const struct heisenberg_graph<KIND> *graph, struct heisenberg_spot spot)
{
  return graph->spins + (size_t)spot.colour * graph->lattice->colour + spot.k;
}

template <class KIND, int N>
GPUMC_HOST_DEVICE static inline typename KIND::vector
heisenberg_spin_of(const struct heisenberg_graph<KIND> *graph, struct heisenberg_spot spot)
{
  const size_t sites = 2 * (size_t)graph->lattice->colour;
  const typename KIND::real *at = heisenberg_spin_at(graph, spot);
  typename KIND::vector spin = {at[0], at[sites], 0};
  if (N == 3)
    spin.z = at[2 * sites];
  return spin;
}

/* Returns the component along r. */
template <class KIND, int N>
GPUMC_HOST_DEVICE static inline typename KIND::real
heisenberg_along(const struct heisenberg_graph<KIND> *graph, struct heisenberg_spot spot)
{
  return KIND::dot(N, heisenberg_spin_of<KIND, N>(graph, spot), graph->plane.axis);
}

template <class KIND, int N>
GPUMC_HOST_DEVICE static inline void
heisenberg_mirror(const struct heisenberg_graph<KIND> *graph, struct heisenberg_spot spot)
{
  const size_t sites = 2 * (size_t)graph->lattice->colour;
  typename KIND::real *at = heisenberg_spin_at(graph, spot);
  const typename KIND::vector spin = heisenberg_spin_of<KIND, N>(graph, spot),
                              axis = graph->plane.axis;
  const typename KIND::vector mirrored = KIND::mirrored(N, spin, axis, KIND::dot(N, spin, axis));
  at[0] = mirrored.x;
  at[sites] = mirrored.y;
  if (N == 3)
    at[2 * sites] = mirrored.z;
}

/* ---- bonds ---- */

/* Returns the number of the bond that a site owns along `axis`, or with the ghost. */
template <class KIND>
GPUMC_HOST_DEVICE static inline uint32_t
heisenberg_number(const struct heisenberg_graph<KIND> *graph, uint32_t owner, uint32_t axis)
{
  uint32_t word[4];
  gpumc_random_draw(graph->random, lattice_cluster_counter(graph->paired, owner), graph->replica,
                    graph->time, graph->label, word);
  return word[lattice_cluster_word(graph->paired, owner, axis)];
}

/* Returns whether the bond is active that a site owns along `axis`. */
template <class KIND, int N>
GPUMC_HOST_DEVICE static inline bool heisenberg_bond(const struct heisenberg_graph<KIND> *graph,
                                                     struct heisenberg_spot owner, uint32_t axis)
{
  const struct heisenberg_gpu_lattice *lattice = graph->lattice;
  const struct heisenberg_spot next = heisenberg_beside(lattice, owner, axis, true);
  typename KIND::real strength = graph->plane.bond;
  if (graph->couplings != NULL) {
    const bool back = heisenberg_is_back(heisenberg_place_at(lattice, owner.k), owner.colour);
    const uint32_t neighbour = heisenberg_towards(back, axis, true);
    strength *= graph->couplings[((size_t)owner.colour * 2 * lattice->dimension + neighbour) *
                                     lattice->colour +
                                 owner.k];
  }
  return KIND::is_active(strength * heisenberg_along<KIND, N>(graph, owner) *
                             heisenberg_along<KIND, N>(graph, next),
                         heisenberg_number(graph, heisenberg_site_at(lattice, owner), axis));
}

template <class KIND, int N>
GPUMC_HOST_DEVICE static inline bool
heisenberg_held(const struct heisenberg_graph<KIND> *graph, struct heisenberg_spot spot)
{
  return graph->in_field &&
         KIND::is_active(graph->plane.ghost * heisenberg_along<KIND, N>(graph, spot),
                         heisenberg_number(graph, heisenberg_site_at(graph->lattice, spot),
                                           LATTICE_CLUSTER_GHOST));
}

/* ---- Swendsen-Wang: steps of the thread of a site ---- */

/* In a state beside the bits of bonds, of a name: its cluster is joined to the ghost. */
enum { HEISENBERG_HELD = 1 << (LATTICE_CLUSTER_GHOST + 1) };

/* label[sites], state[sites] of a replica. */
struct heisenberg_labels {
  uint32_t *label, *state;
};

/* Scratch: labels, then states, of the replicas of all runs. */
GPUMC_HOST_DEVICE static inline struct heisenberg_labels
heisenberg_labels_of(const struct heisenberg_cluster_gpu *arguments, uint32_t run, size_t replica)
{
  const struct lattice_batch *batch = &arguments->replicas.batch;
  const size_t sites = 2 * (size_t)arguments->replicas.lattice.colour;
  uint32_t *all = (uint32_t *)arguments->scratch;
  const size_t first = (run * batch->capacity + replica) * sites;
  const struct heisenberg_labels labels = {all + first,
                                           all + batch->runs * batch->capacity * sites + first};
  return labels;
}

template <class KIND, int N>
GPUMC_HOST_DEVICE static inline void heisenberg_bind(const struct heisenberg_graph<KIND> *graph,
                                                     struct heisenberg_labels labels, uint32_t site)
{
  const struct heisenberg_spot spot = heisenberg_spot_of(graph->lattice, site);
  uint32_t state = heisenberg_held<KIND, N>(graph, spot) ? 1u << LATTICE_CLUSTER_GHOST : 0;
  for (uint32_t axis = 0; axis < graph->lattice->dimension; axis++)
    state |= heisenberg_bond<KIND, N>(graph, spot, axis) ? 1u << axis : 0;
  labels.label[site] = site;
  labels.state[site] = state;
}

GPUMC_HOST_DEVICE static inline uint32_t heisenberg_root(const uint32_t *label, uint32_t site)
{
  for (uint32_t next; (next = heisenberg_seen(&label[site])) != site;)
    site = next;
  return site;
}

/* The larger root is made to point to the smaller one, if it still is a root. */
GPUMC_HOST_DEVICE static inline void heisenberg_unite(uint32_t *label, uint32_t one, uint32_t other)
{
  for (;;) {
    one = heisenberg_root(label, one);
    other = heisenberg_root(label, other);
    const uint32_t larger = one > other ? one : other, least = one > other ? other : one;
    if (one == other || heisenberg_replace(&label[larger], larger, least))
      return;
  }
}

GPUMC_HOST_DEVICE static inline void heisenberg_join(const struct heisenberg_gpu_lattice *lattice,
                                                     struct heisenberg_labels labels, uint32_t site)
{
  const struct heisenberg_spot spot = heisenberg_spot_of(lattice, site);
  for (uint32_t axis = 0; axis < lattice->dimension; axis++)
    if ((labels.state[site] >> axis & 1) != 0)
      heisenberg_unite(labels.label, site,
                       heisenberg_site_at(lattice, heisenberg_beside(lattice, spot, axis, true)));
}

/* Finds the name. */
GPUMC_HOST_DEVICE static inline void heisenberg_name(struct heisenberg_labels labels, uint32_t site)
{
  const uint32_t name = heisenberg_root(labels.label, site);
  *(volatile uint32_t *)&labels.label[site] = name;
  if ((heisenberg_seen(&labels.state[site]) >> LATTICE_CLUSTER_GHOST & 1) != 0)
    heisenberg_set_bits(&labels.state[name], HEISENBERG_HELD);
}

template <class KIND, int N>
GPUMC_HOST_DEVICE static inline void heisenberg_flip(const struct heisenberg_graph<KIND> *graph,
                                                     struct heisenberg_labels labels, uint32_t site)
{
  const uint32_t name = labels.label[site];
  uint32_t word[4];
  gpumc_random_draw(graph->random, name / LATTICE_CLUSTER_NAMES, graph->replica, graph->time,
                    lattice_cluster_label(LATTICE_CLUSTER_FLIPS), word);
  if ((labels.state[name] & HEISENBERG_HELD) == 0 && (word[name >> 5 & 3] >> (name & 31) & 1) != 0)
    heisenberg_mirror<KIND, N>(graph, heisenberg_spot_of(graph->lattice, site));
}

#endif

#include "support/heisenberg_clusters_emulated.h"

#include <vector>

#include "models/heisenberg/cluster/cluster_grow.cuh"

static struct heisenberg_cluster_gpu arguments_of(const struct heisenberg_clusters_emulated *job)
{
  struct heisenberg_cluster_gpu arguments = {};
  struct heisenberg_replicas *replicas = &arguments.replicas;
  replicas->batch.first = job->replica;
  replicas->batch.key[0] = job->random.key[0];
  replicas->batch.key[1] = job->random.key[1];
  replicas->batch.rounds = job->random.rounds;
  replicas->lattice = heisenberg_gpu_lattice_of(&job->lattice);
  replicas->components = job->components;
  replicas->single = job->single;
  replicas->spins = job->spins;
  replicas->couplings.numbers = job->couplings;
  arguments.rules = &job->rule;
  return arguments;
}

template <class KIND, int N>
static void
swendsen_wang(const struct heisenberg_clusters_emulated *job, struct heisenberg_graph<KIND> *graph)
{
  const uint32_t sites = 2 * graph->lattice->colour;
  std::vector<uint32_t> label(sites), state(sites);
  const struct heisenberg_labels labels = {label.data(), state.data()};
  heisenberg_graph_begin<KIND, N>(&job->rule, 0, lattice_cluster_label(LATTICE_CLUSTER_BONDS),
                                  graph);
  for (int step = 0; step < 4; step++)
    for (uint32_t thread = 0; thread < sites; thread++) {
      const uint32_t site = (uint32_t)((uint64_t)thread * job->stride % sites);
      if (step == 0)
        heisenberg_bind<KIND, N>(graph, labels, site);
      else if (step == 1)
        heisenberg_join(graph->lattice, labels, site);
      else if (step == 2)
        heisenberg_name(labels, site);
      else
        heisenberg_flip<KIND, N>(graph, labels, site);
    }
}

template <class KIND, int N>
static uint64_t
wolff(const struct heisenberg_clusters_emulated *job, struct heisenberg_graph<KIND> *graph)
{
  const uint32_t sites = 2 * graph->lattice->colour;
  std::vector<uint32_t> marks(sites / HEISENBERG_MARKS + 1), queue(sites);
  struct heisenberg_growth growth;
  const struct heisenberg_cluster cluster = {{0, 1}, &growth, marks.data(), queue.data()};
  return heisenberg_wolff<KIND, N>(&job->rule, graph, &cluster, job->clusters, job->limit);
}

template <class KIND, int N> static uint64_t sweep(const struct heisenberg_clusters_emulated *job)
{
  const struct heisenberg_cluster_gpu arguments = arguments_of(job);
  struct heisenberg_graph<KIND> graph = heisenberg_graph_of<KIND>(&arguments, 0, 0, job->time);
  if (job->clusters > 0)
    return wolff<KIND, N>(job, &graph);
  swendsen_wang<KIND, N>(job, &graph);
  return 0;
}

uint64_t heisenberg_clusters_emulate(const struct heisenberg_clusters_emulated *job)
{
  if (job->single)
    return job->components == 3 ? sweep<struct heisenberg_cluster_in_float, 3>(job)
                                : sweep<struct heisenberg_cluster_in_float, 2>(job);
  return job->components == 3 ? sweep<struct heisenberg_cluster_in_double, 3>(job)
                              : sweep<struct heisenberg_cluster_in_double, 2>(job);
}

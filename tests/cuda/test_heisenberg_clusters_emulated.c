/* The work of a GPU's threads for clusters of O(n) spins, run on the CPU thread by thread in
 * several orders, gives the bits of the slow reference: for both moves and precisions, on chains,
 * square and cubic lattices, with and without a field, uniform and quenched couplings. Control:
 * faults of the reference are noticed.
 *
 * This needs no GPU. exact_test_heisenberg_clusters_cuda shows that a GPU computes the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/heisenberg/heisenberg.h"
#include "support/heisenberg_clusters.h"
#include "support/heisenberg_clusters_emulated.h"

enum { SWEEPS = 3, CONTROL_SWEEPS = 100, REPLICA = 5, SEED = 77, CLUSTERS = 4 };

static const struct heisenberg_settings lattices[] = {
    {.dimension = 1, .shape = {2}},         {.dimension = 1, .shape = {6}},
    {.dimension = 1, .shape = {100}},       {.dimension = 2, .shape = {2, 2}},
    {.dimension = 2, .shape = {6, 4}},      {.dimension = 2, .shape = {2, 8}},
    {.dimension = 2, .shape = {34, 18}},    {.dimension = 3, .shape = {2, 2, 2}},
    {.dimension = 3, .shape = {4, 6, 2}},   {.dimension = 3, .shape = {8, 8, 8}},
    {.dimension = 3, .shape = {10, 12, 6}},
};
static const uint32_t strides[] = {1, 1000003, 2147483629};

struct job {
  struct heisenberg_settings settings;
  bool single, quenched, wolff;
  uint64_t limit; /* 0: none */
  double beta;
  enum heisenberg_clusters_fault fault;
};

/* A replica of the reference and the same one in the kernels' order. */
struct both {
  struct gpumc_checkerboard lattice;
  size_t sites, n, links; /* d N */
  double *spin, *relative;
  void *spins, *couplings;
};

static void put(const struct both *both, const struct job *job, void *to, size_t at, double value)
{
  (void)both;
  if (job->single)
    ((float *)to)[at] = (float)value;
  else
    ((double *)to)[at] = value;
}

static double drawn(uint32_t counter, uint32_t draw, bool single)
{
  uint32_t word[4];
  gpumc_random_draw(gpumc_random_make(SEED, 0, 10), counter, 0, 0, draw, word);
  const double value = (int32_t)word[0] * 0x1p-31;
  return single ? (double)(float)value : value;
}

static void fill_couplings(struct both *both, const struct job *job)
{
  const struct gpumc_checkerboard *lattice = &both->lattice;
  const size_t dimension = lattice->dimension;
  for (size_t i = 0; i < both->sites; i++)
    for (size_t d = 0; d < dimension; d++) {
      const double value =
          ldexp(rint(ldexp(drawn((uint32_t)(i * dimension + d), 2, false), 24)), -24);
      const size_t ends[2] = {i, gpumc_checkerboard_next(lattice, i, d)};
      both->relative[i * dimension + d] = value;
      for (size_t end = 0; end < 2; end++) {
        const struct gpumc_checkerboard_place place = gpumc_checkerboard_place(lattice, ends[end]);
        const size_t towards =
            heisenberg_towards(gpumc_checkerboard_side_is_back(&place), (uint32_t)d, end == 0);
        put(both, job, both->couplings,
            (place.colour * 2 * dimension + towards) * lattice->colour + place.k, value);
      }
    }
}

static struct both open_both(const struct job *job)
{
  struct both both = {.lattice =
                          gpumc_checkerboard_make(job->settings.dimension, job->settings.shape),
                      .n = (size_t)job->settings.components};
  both.sites = 2 * both.lattice.colour;
  both.links = both.sites * both.lattice.dimension;
  both.spin = calloc(both.sites * both.n, sizeof(double));
  both.spins = calloc(both.sites * both.n, sizeof(double));
  both.relative = calloc(both.links, sizeof(double));
  both.couplings = calloc(2 * both.links, sizeof(double));
  for (size_t i = 0; i < both.sites; i++) {
    double square = 0;
    for (size_t a = 0; a < both.n; a++) {
      both.spin[i * both.n + a] = drawn((uint32_t)(i * both.n + a), 1, job->single);
      square += both.spin[i * both.n + a] * both.spin[i * both.n + a];
    }
    for (size_t a = 0; a < both.n; a++) {
      const double value = both.spin[i * both.n + a] / sqrt(square);
      both.spin[i * both.n + a] = job->single ? (double)(float)value : value;
      put(&both, job, both.spins, a * both.sites + gpumc_checkerboard_position(&both.lattice, i),
          value);
    }
  }
  fill_couplings(&both, job);
  return both;
}

static void close_both(struct both *both)
{
  free(both->spin);
  free(both->spins);
  free(both->relative);
  free(both->couplings);
}

static bool same_spins(const struct both *both, const struct job *job)
{
  for (size_t i = 0; i < both->sites * both->n; i++) {
    const size_t at =
        i % both->n * both->sites + gpumc_checkerboard_position(&both->lattice, i / both->n);
    const double value =
        job->single ? (double)((float *)both->spins)[at] : ((double *)both->spins)[at];
    if (value != both->spin[i])
      return false;
  }
  return true;
}

/* Returns whether both have the same spins and numbers of reflected ones after some sweeps. */
static bool follows(const struct job *job, uint32_t stride)
{
  const double coupling = job->settings.coupling, field = job->settings.field;
  struct both both = open_both(job);
  struct heisenberg_clusters of = {
      .dimension = job->settings.dimension,
      .components = both.n,
      .beta = job->beta,
      .coupling = coupling,
      .field = field,
      .relative = job->quenched ? both.relative : NULL,
      .single = job->single,
      .random = gpumc_random_make(SEED, 3, job->wolff ? 10 : 7),
      .replica = REPLICA,
      .limit = job->limit,
      .fault = job->fault,
      .spin = both.spin,
  };
  struct heisenberg_clusters_emulated emulated = {
      .lattice = both.lattice,
      .components = (uint32_t)both.n,
      .single = job->single,
      .replica = REPLICA,
      .clusters = job->wolff ? CLUSTERS : 0,
      .limit = job->limit > 0 ? job->limit : UINT64_MAX,
      .stride = stride,
      .random = of.random,
      .rule = {job->beta * coupling, job->beta * field, field, 0},
      .couplings = job->quenched ? both.couplings : NULL,
      .spins = both.spins,
  };
  bool same = true;
  memcpy(of.shape, job->settings.shape, sizeof of.shape);
  const uint32_t sweeps = job->fault == HEISENBERG_CLUSTERS_RIGHT ? SWEEPS : CONTROL_SWEEPS;
  for (uint32_t time = 0; time < sweeps && same; time++) {
    emulated.time = time;
    const uint64_t reflected = heisenberg_clusters_sweep(&of, time, emulated.clusters);
    const uint64_t counted = heisenberg_clusters_emulate(&emulated);
    same = same_spins(&both, job) && (!job->wolff || counted == reflected);
  }
  close_both(&both);
  return same;
}

static struct job job_of(size_t lattice, size_t kind)
{
  struct job job = {.settings = lattices[lattice],
                    .single = kind % 2 != 0,
                    .quenched = kind / 2 % 2 != 0,
                    .wolff = kind / 4 % 2 != 0,
                    .beta = lattice % 3 == 0 ? 3.0 : 0.8};
  job.settings.components = kind / 8 % 2 == 0 ? 3 : 2;
  job.settings.coupling = lattice % 4 == 1 ? -0.9 : 1.0;
  job.settings.field = kind / 16 % 2 == 0 ? 0.0 : 0.2;
  job.limit = lattice % 2 == 0 ? 0 : 6; /* sweeps of Wolff's clusters end early */
  return job;
}

static void threads_give_the_reference(void **state)
{
  (void)state;
  for (size_t lattice = 0; lattice < sizeof lattices / sizeof *lattices; lattice++)
    for (size_t kind = 0; kind < 32; kind++)
      for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        const struct job job = job_of(lattice, kind);
        if (!follows(&job, strides[i]))
          fail_msg("lattice %zu, kind %zu, stride %u", lattice, kind, strides[i]);
      }
}

static void faults_are_noticed(void **state)
{
  (void)state;
  for (size_t kind = 16; kind < 32; kind++)
    for (int fault = HEISENBERG_CLUSTERS_BONDS; fault <= HEISENBERG_CLUSTERS_GHOST; fault++) {
      struct job job = job_of(10, kind);
      job.fault = (enum heisenberg_clusters_fault)fault;
      assert_false(follows(&job, 1));
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_give_the_reference),
      cmocka_unit_test(faults_are_noticed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

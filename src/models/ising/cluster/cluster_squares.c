/* Sums over clusters of Ising spins on the CPU, for the squares of clusters_squares_cpu.h. */
#include "models/ising/cluster/cluster.h"

/* What a row gives: sites have factors along x, cosines and sines, and all of them one along y and
 * one along z. */
struct row {
  const uint8_t *spins;
  const uint32_t *label;
  int32_t factor[LATTICE_CLUSTER_SUMS]; /* [width] of the row; along x not used */
};

static struct row row_of(const struct ising_cluster_work *work,
                         const struct lattice_cluster_squares *squares, size_t at)
{
  struct row row = {.spins = work->spins + at, .label = work->graph.label + at};
  lattice_cluster_squares_factors(squares, at / work->graph.shape->checkerboard.length_x,
                                  row.factor);
  return row;
}

/* Sums over sites beside each other that have one name: spins, and times cosines and sines. */
struct run {
  int64_t spins, cosine, sine;
};

static inline void count_run(const struct lattice_cluster_squares *squares, const struct row *row,
                             uint32_t name, const struct run *run)
{
  int64_t value[LATTICE_CLUSTER_SUMS];
  for (size_t w = 0; w < squares->width; w++) {
    const uint32_t k = squares->kind[w];
    value[w] = run->spins * row->factor[w];
    if (k == LATTICE_CLUSTER_WAVES)
      value[w] = run->cosine;
    else if (k == LATTICE_CLUSTER_WAVES + 1)
      value[w] = run->sine;
  }
  lattice_cluster_squares_count(squares, name, value);
}

void ising_cluster_sum(const void *of, const struct lattice_cluster_squares *squares, size_t first,
                       size_t end)
{
  const struct ising_cluster_work *work = of;
  const size_t length = work->graph.shape->checkerboard.length_x;
  const size_t layer = work->graph.shape->layer;
  const bool along_x = squares->scale->wave.along[0] != 0;
  const int32_t *cosine = squares->scale->cosine, *sine = squares->scale->sine;
  for (size_t at = first * layer; at < end * layer; at += length) {
    const struct row row = row_of(work, squares, at);
    for (size_t x = 0; x < length;) {
      const uint32_t name = row.label[x];
      struct run run = {0};
      for (; x < length && row.label[x] == name; x++) {
        const int64_t spin = 2 * (int64_t)row.spins[x] - 1;
        run.spins += spin;
        run.cosine += along_x ? spin * cosine[x] : 0;
        run.sine += along_x ? spin * sine[x] : 0;
      }
      count_run(squares, &row, name, &run);
    }
  }
}

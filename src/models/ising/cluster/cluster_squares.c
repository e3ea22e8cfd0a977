/* Squares of sums over clusters on the CPU. Only the sums of names are ever read or written. */
#include <string.h>

#include "models/ising/cluster/cluster.h"

void ising_cluster_squares_clear(const struct ising_cluster_squares *squares, size_t first,
                                 size_t end)
{
  const size_t layer = squares->work->graph.shape->layer, width = squares->width;
  const uint32_t *label = squares->work->graph.label;
  for (size_t i = first * layer; i < end * layer; i++)
    if (label[i] == i)
      memset(squares->sum + i * width, 0, width * sizeof *squares->sum);
}

/* ---- sums by name ---- */

/* What a row gives: sites have factors along x, cosines and sines, and all of them one along y and
 * one along z. */
struct row {
  const uint8_t *spins;
  const uint32_t *label;
  int64_t factor[ISING_CLUSTER_SUMS]; /* [width] of the row; along x not used */
};

static struct row row_of(const struct ising_cluster_squares *squares, size_t at)
{
  const struct gpumc_checkerboard *shape = &squares->work->graph.shape->checkerboard;
  const size_t line = at / shape->length_x;
  const size_t place[] = {0, line % shape->length_y, line / shape->length_y};
  struct row row = {.spins = squares->work->spins + at, .label = squares->work->graph.label + at};
  for (size_t w = 0; w < squares->width; w++) {
    const uint32_t k = squares->kind[w];
    row.factor[w] =
        k == ISING_CLUSTER_SPINS
            ? 1
            : ising_cluster_table_of(squares->scale, k)[place[ising_cluster_axis_of(k)]];
  }
  return row;
}

/* Sums over sites beside each other that have one name: spins, and times cosines and sines. */
struct run {
  int64_t spins, cosine, sine;
};

static inline void add_run(const struct ising_cluster_squares *squares, const struct row *row,
                           uint32_t name, const struct run *run)
{
  int64_t *sum = squares->sum + (size_t)name * squares->width;
  for (size_t w = 0; w < squares->width; w++) {
    const uint32_t k = squares->kind[w];
    int64_t value = run->spins * row->factor[w];
    if (k == ISING_CLUSTER_WAVES)
      value = run->cosine;
    else if (k == ISING_CLUSTER_WAVES + 1)
      value = run->sine;
    if (squares->shared)
      __atomic_fetch_add(&sum[w], value, __ATOMIC_RELAXED);
    else
      sum[w] += value;
  }
}

void ising_cluster_squares_sum(const struct ising_cluster_squares *squares, size_t first,
                               size_t end)
{
  const size_t length = squares->work->graph.shape->checkerboard.length_x;
  const size_t layer = squares->work->graph.shape->layer;
  const bool along_x = squares->scale->wave.along[0] != 0;
  const int32_t *cosine = squares->scale->cosine, *sine = squares->scale->sine;
  for (size_t at = first * layer; at < end * layer; at += length) {
    const struct row row = row_of(squares, at);
    for (size_t x = 0; x < length;) {
      const uint32_t name = row.label[x];
      struct run run = {0};
      for (; x < length && row.label[x] == name; x++) {
        const int64_t spin = 2 * (int64_t)row.spins[x] - 1;
        run.spins += spin;
        run.cosine += along_x ? spin * cosine[x] : 0;
        run.sine += along_x ? spin * sine[x] : 0;
      }
      add_run(squares, &row, name, &run);
    }
  }
}

/* ---- squares ---- */

void ising_cluster_squares_add(const struct ising_cluster_squares *squares, size_t first,
                               size_t end)
{
  const size_t layer = squares->work->graph.shape->layer, width = squares->width;
  const uint32_t *label = squares->work->graph.label, *free_names = squares->work->graph.flips;
  struct ising_cluster_totals part = {{0}, {0}};
  for (size_t i = first * layer; i < end * layer; i++) {
    const int64_t *sum = squares->sum + i * width;
    if (label[i] != i)
      continue;
    for (size_t w = 0; w < width; w++) {
      const uint32_t k = squares->kind[w];
      if ((free_names[i >> 5] >> (i & 31) & 1) != 0)
        part.squares[k] += ising_cluster_square_of(squares->scale, k, sum[w]);
      else
        part.ghost[k] += sum[w];
    }
  }
  for (size_t k = 0; k < ISING_CLUSTER_SUMS; k++) {
    __atomic_fetch_add(&squares->totals->squares[k], part.squares[k], __ATOMIC_RELAXED);
    __atomic_fetch_add(&squares->totals->ghost[k], part.ghost[k], __ATOMIC_RELAXED);
  }
}

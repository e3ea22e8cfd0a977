/* Squares of sums over clusters on the CPU. Only the sums of names are ever read or written. */
#include "models/lattice/clusters/clusters_squares_cpu.h"

#include <string.h>

size_t lattice_cluster_squares_bytes(const struct lattice_wave *wave, size_t sites)
{
  const size_t width = 1 + 2 * (size_t)wave->axes;
  return lattice_clusters_lines(sites * width * sizeof(int64_t) +
                                sizeof(struct lattice_cluster_totals));
}

struct lattice_cluster_squares lattice_cluster_squares_of(const struct lattice_cluster_part *part,
                                                          const struct lattice_cluster_scale *scale,
                                                          void *memory, int64_t *square,
                                                          int64_t *wave)
{
  struct lattice_cluster_squares squares = {.graph = &part->graph,
                                            .scale = scale,
                                            .shared = part->clusters->shared &&
                                                      part->clusters->threads > 1,
                                            .sum = memory,
                                            .square = square,
                                            .wave = wave};
  for (uint32_t k = 0; k < LATTICE_CLUSTER_SUMS; k++)
    if (lattice_cluster_sum_is_wanted(scale, k, square, wave))
      squares.kind[squares.width++] = k;
  squares.totals = (void *)(squares.sum + part->clusters->shape.sites * squares.width);
  return squares;
}

void lattice_cluster_squares_factors(const struct lattice_cluster_squares *squares, size_t line,
                                     int32_t *factor)
{
  const size_t length_y = squares->graph->shape->checkerboard.length_y;
  const size_t place[] = {0, line % length_y, line / length_y};
  for (size_t w = 0; w < squares->width; w++) {
    const uint32_t k = squares->kind[w];
    factor[w] =
        k == LATTICE_CLUSTER_SPINS
            ? 1
            : lattice_cluster_table_of(squares->scale, k)[place[lattice_cluster_axis_of(k)]];
  }
}

static void clear(const struct lattice_cluster_squares *squares, size_t first, size_t end)
{
  const size_t layer = squares->graph->shape->layer, width = squares->width;
  const uint32_t *label = squares->graph->label;
  for (size_t i = first * layer; i < end * layer; i++)
    if (label[i] == i)
      memset(squares->sum + i * width, 0, width * sizeof *squares->sum);
}

static void add_squares(const struct lattice_cluster_squares *squares, size_t first, size_t end)
{
  const size_t layer = squares->graph->shape->layer, width = squares->width;
  const uint32_t *label = squares->graph->label, *free_names = squares->graph->flips;
  struct lattice_cluster_totals part = {{0}, {0}};
  for (size_t i = first * layer; i < end * layer; i++) {
    const int64_t *sum = squares->sum + i * width;
    if (label[i] != i)
      continue;
    for (size_t w = 0; w < width; w++) {
      const uint32_t k = squares->kind[w];
      if ((free_names[i >> 5] >> (i & 31) & 1) != 0)
        part.squares[k] += lattice_cluster_square_of(squares->scale, k, sum[w]);
      else
        part.ghost[k] += sum[w];
    }
  }
  for (size_t k = 0; k < LATTICE_CLUSTER_SUMS; k++) {
    __atomic_fetch_add(&squares->totals->squares[k], part.squares[k], __ATOMIC_RELAXED);
    __atomic_fetch_add(&squares->totals->ghost[k], part.ghost[k], __ATOMIC_RELAXED);
  }
}

void lattice_cluster_squares_measure(const struct lattice_cluster_squares *squares,
                                     const struct lattice_cluster_part *part,
                                     lattice_cluster_sum *sum, const void *work, size_t at)
{
  if (part->first == 0)
    memset(squares->totals, 0, sizeof *squares->totals);
  clear(squares, part->first, part->end);
  lattice_cluster_wait(part);
  sum(work, squares, part->first, part->end);
  lattice_cluster_wait(part);
  add_squares(squares, part->first, part->end);
  lattice_cluster_wait(part);
  if (part->first == 0)
    lattice_cluster_totals_record(squares->totals, squares->scale, at, squares->square,
                                  squares->wave);
}

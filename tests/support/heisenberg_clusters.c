#include "support/heisenberg_clusters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/numerics/elementary.h"
#include "models/heisenberg/heisenberg_physics.h"

enum { GHOST = 3, DIRECTIONS = 4, NAMES = 128 };

/* One cluster, or the clusters of one sweep; axis: r. */
struct search {
  const struct heisenberg_clusters *of;
  size_t sites;
  uint32_t time;
  double axis[3];
  bool *active;    /* [sites][DIRECTIONS], the last with the ghost */
  bool *is_found;  /* [sites] */
  size_t *cluster; /* [sites] those of the cluster that is searched */
};

/* ---- arithmetic in either precision: doubles that floats represent ---- */

static double product(bool single, double a, double b)
{
  return single ? (double)((float)a * (float)b) : a * b;
}

static double fused(bool single, double a, double b, double c)
{
  return single ? (double)fmaf((float)a, (float)b, (float)c) : fma(a, b, c);
}

static double rounded(bool single, double a)
{
  return single ? (double)(float)a : a;
}

static double dot(const struct heisenberg_clusters *of, const double *a, const double *b)
{
  const double plane = fused(of->single, a[0], b[0], product(of->single, a[1], b[1]));
  return of->components == 3 ? fused(of->single, a[2], b[2], plane) : plane;
}

/* 1 - e^-x, or 0 */
static double probability(bool single, double x)
{
  double weight, less_one;
  float weight_float, less_one_float;
  const double exponent = x > 0 ? -x : 0;
  gpumc_decay_double(exponent, &weight, &less_one);
  gpumc_decay_float((float)exponent, &weight_float, &less_one_float);
  return single ? -(double)less_one_float : -less_one;
}

static double uniform(bool single, uint32_t word)
{
  const int32_t half = (int32_t)(word >> 1);
  return single ? (double)fmaf((float)half, 0x1p-31f, 0x1p-32f) : (half + 0.5) * 0x1p-31;
}

/* ---- bonds ---- */

static void draw_axis(struct search *search, uint32_t c)
{
  const struct heisenberg_clusters *of = search->of;
  uint32_t word[4];
  gpumc_random_draw(of->random, c, of->replica, search->time,
                    gpumc_random_label(GPUMC_RANDOM_LATTICE_CLUSTER, 2), word);
  const struct heisenberg_words words = {word[0], word[1], word[2], word[3]};
  const struct heisenberg_vector_float low =
      heisenberg_anywhere_float((int)of->components, heisenberg_of_sphere_float(words));
  const struct heisenberg_vector_double high =
      heisenberg_anywhere_double((int)of->components, heisenberg_of_sphere_double(words));
  search->axis[0] = of->single ? (double)low.x : high.x;
  search->axis[1] = of->single ? (double)low.y : high.y;
  search->axis[2] = of->single ? (double)low.z : high.z;
}

static size_t step(const struct search *search, size_t site, size_t d, bool forward)
{
  const size_t *shape = search->of->shape;
  size_t stride = 1;
  for (size_t a = 0; a < d; a++)
    stride *= shape[a];
  const size_t x = site / stride % shape[d];
  const size_t to = forward ? (x + 1) % shape[d] : (x + shape[d] - 1) % shape[d];
  return site - x * stride + to * stride;
}

static uint32_t
number(const struct search *search, uint32_t label, uint32_t site, uint32_t direction)
{
  uint32_t word[4];
  const struct heisenberg_clusters *of = search->of;
  const bool paired = of->dimension <= 2 && of->field == 0;
  gpumc_random_draw(of->random, paired ? site / 2 : site, of->replica, search->time, label, word);
  return word[paired ? site % 2 * 2 + direction : direction];
}

static double along(const struct search *search, size_t site)
{
  return dot(search->of, search->of->spin + site * search->of->components, search->axis);
}

static double exponent_of(const struct search *search, size_t site, size_t direction)
{
  const struct heisenberg_clusters *of = search->of;
  const bool single = of->single;
  const double beta = of->fault == HEISENBERG_CLUSTERS_BONDS ? 1.02 * of->beta : of->beta;
  if (direction == GHOST)
    return product(single,
                   product(single, rounded(single, beta * (2 * of->field)), search->axis[0]),
                   along(search, site));
  double strength = rounded(single, beta * (2 * of->coupling));
  if (of->relative != NULL)
    strength = product(single, strength, of->relative[site * of->dimension + direction]);
  return product(single, product(single, strength, along(search, site)),
                 along(search, step(search, site, direction, true)));
}

static void draw_bonds(struct search *search, uint32_t label)
{
  const struct heisenberg_clusters *of = search->of;
  const bool ghost = of->field != 0 && of->fault != HEISENBERG_CLUSTERS_GHOST;
  memset(search->active, 0, search->sites * DIRECTIONS * sizeof *search->active);
  memset(search->is_found, 0, search->sites * sizeof *search->is_found);
  for (size_t i = 0; i < search->sites; i++)
    for (size_t d = 0; d < DIRECTIONS; d++)
      if (d < of->dimension || (d == GHOST && ghost))
        search->active[i * DIRECTIONS + d] =
            uniform(of->single, number(search, label, (uint32_t)i, (uint32_t)d)) <
            probability(of->single, exponent_of(search, i, d));
}

/* ---- clusters ---- */

static void find(struct search *search, size_t site, size_t *size)
{
  if (!search->is_found[site])
    search->cluster[(*size)++] = site;
  search->is_found[site] = true;
}

/* Gathers the cluster of a site; returns its size. */
static size_t gather(struct search *search, size_t seed, bool *is_joined)
{
  size_t size = 0;
  *is_joined = false;
  find(search, seed, &size);
  for (size_t done = 0; done < size; done++) {
    const size_t i = search->cluster[done];
    *is_joined = *is_joined || search->active[i * DIRECTIONS + GHOST];
    for (size_t d = 0; d < search->of->dimension; d++) {
      const size_t before = step(search, i, d, false);
      if (search->active[i * DIRECTIONS + d])
        find(search, step(search, i, d, true), &size);
      if (search->active[before * DIRECTIONS + d])
        find(search, before, &size);
    }
  }
  return size;
}

static void reflect(const struct search *search, size_t size)
{
  const struct heisenberg_clusters *of = search->of;
  for (size_t k = 0; k < size; k++) {
    double *spin = of->spin + search->cluster[k] * of->components;
    const double factor = -2 * along(search, search->cluster[k]);
    for (size_t a = 0; a < of->components; a++)
      spin[a] = fused(of->single, factor, search->axis[a], spin[a]);
    const double scale = fused(of->single, -0.5, dot(of, spin, spin), 1.5);
    for (size_t a = 0; a < of->components; a++)
      spin[a] = product(of->single, spin[a], scale);
  }
}

/* Returns by how much a reflection of the site would change its spin along x. */
static double turn(const struct search *search, size_t site)
{
  return -2 * along(search, site) * search->axis[0];
}

/* The first site that is not yet found is the smallest of its cluster, its name. */
static uint64_t swendsen_wang(struct search *search)
{
  const struct heisenberg_clusters *of = search->of;
  uint64_t reflected = 0;
  draw_axis(search, 0);
  draw_bonds(search, gpumc_random_label(GPUMC_RANDOM_LATTICE_CLUSTER, 0));
  for (size_t name = 0; name < search->sites; name++) {
    uint32_t word[4];
    bool is_joined;
    if (search->is_found[name])
      continue;
    const size_t size = gather(search, name, &is_joined);
    gpumc_random_draw(of->random, (uint32_t)(name / NAMES), of->replica, search->time,
                      gpumc_random_label(GPUMC_RANDOM_LATTICE_CLUSTER, 1), word);
    const bool biased = of->fault == HEISENBERG_CLUSTERS_BIAS && turn(search, name) > 0;
    if (is_joined || (!biased && (word[name / 32 % 4] >> name % 32 & 1) == 0))
      continue;
    reflect(search, size);
    reflected += size;
  }
  return reflected;
}

/* With the bias, clusters whose first spin would turn away from x stay half of the time, by a
 * number that nothing else uses. */
static uint64_t wolff(struct search *search, uint32_t c)
{
  const struct heisenberg_clusters *of = search->of;
  uint32_t word[4];
  bool is_joined;
  gpumc_random_draw(of->random, c, of->replica, search->time,
                    gpumc_random_label(GPUMC_RANDOM_LATTICE_WOLFF, 0), word);
  const size_t seed = (size_t)((uint64_t)word[0] * search->sites >> 32);
  draw_axis(search, c);
  draw_bonds(search, gpumc_random_label(GPUMC_RANDOM_LATTICE_WOLFF, 1 + c));
  const size_t size = gather(search, seed, &is_joined);
  const bool stays = of->fault == HEISENBERG_CLUSTERS_BIAS && turn(search, seed) < 0 && word[1] % 2;
  if (is_joined || stays)
    return 0;
  reflect(search, size);
  return size;
}

/* ---- measurements ---- */

/* Of a cluster, or of all that are joined to the ghost, in units of 2^-28, and of 2^-30. */
struct sums {
  __int128 along, cosine[3], sine[3];
};

static size_t longest(const struct heisenberg_clusters *of)
{
  size_t length = 0;
  for (size_t d = 0; d < of->dimension; d++)
    length = of->shape[d] > length ? of->shape[d] : length;
  return length;
}

static size_t coordinate(const struct heisenberg_clusters *of, size_t site, size_t d)
{
  for (size_t a = 0; a < d; a++)
    site /= of->shape[a];
  return site % of->shape[d];
}

/* Returns a number of 2^-28 times one of 2^-30, rounded to units of the latter. */
static __int128 term(__int128 quanta, double wave)
{
  return (quanta * (__int128)rint(wave * 0x1p30) + (1 << 27)) >> 28;
}

static void add_site(const struct search *search, size_t site, struct sums *sums)
{
  const struct heisenberg_clusters *of = search->of;
  const __int128 quanta = (__int128)rint(along(search, site) * 0x1p28);
  sums->along += quanta;
  for (size_t d = 0; d < of->dimension; d++) {
    const double angle = 2.0 * GPUMC_PI * (double)coordinate(of, site, d) / (double)longest(of);
    sums->cosine[d] += term(quanta, cos(angle));
    sums->sine[d] += term(quanta, sin(angle));
  }
}

/* Returns the square of a number of 2^-bits in units of the quantum. */
static int64_t rounded_square(__int128 sum, int bits, double quantum)
{
  const int shift = 2 * bits + (int)log2(quantum);
  return (int64_t)((sum * sum + ((__int128)1 << shift) / 2) >> shift);
}

static void add_squares(const struct search *search, const struct sums *sums,
                        const double quantum[2], int64_t *square, int64_t *wave)
{
  const struct heisenberg_clusters *of = search->of;
  *square += rounded_square(sums->along, 28, quantum[0]);
  for (size_t d = 0; d < of->dimension; d++)
    if (of->shape[d] == longest(of))
      *wave += rounded_square(sums->cosine[d], 30, quantum[1]) +
               rounded_square(sums->sine[d], 30, quantum[1]);
}

static struct search begin(const struct heisenberg_clusters *of, uint32_t time)
{
  struct search search = {.of = of, .sites = 1, .time = time};
  for (size_t d = 0; d < of->dimension; d++)
    search.sites *= of->shape[d];
  search.active = calloc(search.sites, DIRECTIONS * sizeof *search.active);
  search.is_found = calloc(search.sites, sizeof *search.is_found);
  search.cluster = calloc(search.sites, sizeof *search.cluster);
  if (search.active == NULL || search.is_found == NULL || search.cluster == NULL)
    abort();
  return search;
}

static void end(struct search *search)
{
  free(search->active);
  free(search->is_found);
  free(search->cluster);
}

void heisenberg_clusters_measure(const struct heisenberg_clusters *of, uint32_t time,
                                 const double quantum[2], int64_t *square, int64_t *wave)
{
  struct search search = begin(of, time);
  struct sums held = {0};
  int64_t axes = 0;
  *square = *wave = 0;
  draw_axis(&search, 0);
  draw_bonds(&search, gpumc_random_label(GPUMC_RANDOM_LATTICE_CLUSTER, 0));
  for (size_t name = 0; name < search.sites; name++) {
    struct sums sums = {0};
    bool is_joined;
    if (search.is_found[name])
      continue;
    const size_t size = gather(&search, name, &is_joined);
    const bool stays = is_joined && of->fault != HEISENBERG_CLUSTERS_SPLIT;
    for (size_t k = 0; k < size; k++)
      add_site(&search, search.cluster[k], stays ? &held : &sums);
    add_squares(&search, &sums, quantum, square, wave);
  }
  add_squares(&search, &held, quantum, square, wave);
  for (size_t d = 0; d < of->dimension; d++)
    axes += of->shape[d] == longest(of);
  *wave /= axes;
  end(&search);
}

/* ---- sweeps ---- */

uint64_t
heisenberg_clusters_sweep(const struct heisenberg_clusters *of, uint32_t time, uint32_t clusters)
{
  struct search search = begin(of, time);
  uint64_t reflected = 0;
  if (clusters == 0)
    reflected = swendsen_wang(&search);
  for (uint32_t c = 0; c < clusters && (of->limit == 0 || reflected < of->limit); c++)
    reflected += wolff(&search, c);
  end(&search);
  return reflected;
}

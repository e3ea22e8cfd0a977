/* Cluster moves of the slow, simple model of Ising spins: all bonds, then breadth-first searches,
 * written from the text of models/lattice/clusters/clusters_rules.h and
 * models/ising/cluster/cluster_rules.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/numerics/elementary.h"
#include "support/ising_reference.h"

/* The channels that are sums over clusters. */
struct sums {
  __int128 spins, cosine[3], sine[3];
};

enum { GHOST = 3, DIRECTIONS = 4, CLUSTER_FLIPS = 1 };

/* One sweep of one replica, or one of Wolff's clusters. */
struct search {
  struct reference *reference;
  int8_t *spin;
  double beta;
  uint32_t replica, time;
  bool has_field;
  bool *active;    /* [sites][DIRECTIONS], the last with the ghost */
  bool *is_found;  /* [sites] */
  size_t *cluster; /* [sites] those of the cluster that is searched */
};

static bool field_is_anywhere(const struct reference *reference, size_t replica)
{
  for (size_t i = 0; i < reference->sites; i++)
    if (reference_field(reference, replica, i) != 0)
      return true;
  return false;
}

static struct search begin(struct reference *reference, double beta, uint32_t time, size_t replica)
{
  struct search search = {.reference = reference, .beta = beta, .time = time};
  search.spin = reference->spin + replica * reference->sites;
  search.replica = (uint32_t)replica;
  search.has_field = field_is_anywhere(reference, replica);
  search.active = calloc(reference->sites, DIRECTIONS * sizeof *search.active);
  search.is_found = calloc(reference->sites, sizeof *search.is_found);
  search.cluster = calloc(reference->sites, sizeof *search.cluster);
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

static uint32_t
number(const struct search *search, uint32_t label, uint32_t site, uint32_t direction)
{
  uint32_t word[4];
  const bool paired = search->reference->dimension == 2 && !search->has_field;
  gpumc_random_draw(search->reference->random, paired ? site / 2 : site, search->replica,
                    search->time, label, word);
  return word[paired ? site % 2 * 2 + direction : direction];
}

/* Whether the bond, of energy -term if the two spins are alike, is active. */
static bool is_active(const struct search *search, uint32_t label, size_t site, size_t direction,
                      double term, bool alike)
{
  const enum reference_fault fault = search->reference->fault;
  const double beta = fault == REFERENCE_BONDS ? 1.02 * search->beta : search->beta;
  const double x = (alike ? 1 : -1) * (beta * (2.0 * term));
  if (!(x > 0) || (fault == REFERENCE_NO_GHOST && direction == GHOST))
    return false;
  return (double)number(search, label, (uint32_t)site, (uint32_t)direction) <
         floor((1.0 - gpumc_exp(-x)) * 4294967296.0 + 0.5);
}

static void draw_bonds(struct search *search, uint32_t label)
{
  const struct reference *reference = search->reference;
  const int8_t *spin = search->spin;
  for (size_t i = 0; i < reference->sites; i++) {
    for (size_t d = 0; d < reference->dimension; d++)
      search->active[i * DIRECTIONS + d] =
          is_active(search, label, i, d, reference_coupling(reference, search->replica, i, d),
                    spin[i] == spin[reference_next(reference, i, d)]);
    search->active[i * DIRECTIONS + GHOST] =
        search->has_field && is_active(search, label, i, GHOST,
                                       reference_field(reference, search->replica, i), spin[i] > 0);
  }
  memset(search->is_found, 0, reference->sites);
}

static void find(struct search *search, size_t site, size_t *size)
{
  if (!search->is_found[site])
    search->cluster[(*size)++] = site;
  search->is_found[site] = true;
}

/* Gathers the cluster of a site; returns its size. */
static size_t gather(struct search *search, size_t seed, bool *is_joined)
{
  const struct reference *reference = search->reference;
  size_t size = 0;
  *is_joined = false;
  find(search, seed, &size);
  for (size_t done = 0; done < size; done++) {
    const size_t i = search->cluster[done];
    *is_joined = *is_joined || search->active[i * DIRECTIONS + GHOST];
    for (size_t d = 0; d < reference->dimension; d++) {
      const size_t before = reference_before(reference, i, d);
      if (search->active[i * DIRECTIONS + d])
        find(search, reference_next(reference, i, d), &size);
      if (search->active[before * DIRECTIONS + d])
        find(search, before, &size);
    }
  }
  return size;
}

static void flip(struct search *search, size_t size)
{
  for (size_t n = 0; n < size; n++)
    search->spin[search->cluster[n]] = (int8_t)-search->spin[search->cluster[n]];
}

/* The first site that is not yet found is the smallest of its cluster, its name. */
static void swendsen_wang(struct search *search)
{
  const struct reference *reference = search->reference;
  const uint32_t purpose = GPUMC_RANDOM_LATTICE_CLUSTER;
  draw_bonds(search, gpumc_random_label(purpose, 0));
  for (size_t name = 0; name < reference->sites; name++) {
    uint32_t word[4];
    bool is_joined;
    if (search->is_found[name])
      continue;
    const size_t size = gather(search, name, &is_joined);
    gpumc_random_draw(reference->random, (uint32_t)(name / 128), search->replica, search->time,
                      gpumc_random_label(purpose, CLUSTER_FLIPS), word);
    const bool biased = reference->fault == REFERENCE_BIAS && search->spin[name] < 0;
    if (!is_joined && (biased || (word[name / 32 % 4] >> name % 32 & 1) != 0))
      flip(search, size);
  }
}

/* Returns the sites that are flipped. With the bias, clusters that are up stay half of the time, by
 * a number that nothing else uses. */
static size_t wolff(struct search *search, uint32_t cluster)
{
  const struct reference *reference = search->reference;
  const uint32_t purpose = GPUMC_RANDOM_LATTICE_WOLFF;
  uint32_t word[4];
  bool is_joined;
  gpumc_random_draw(reference->random, cluster, search->replica, search->time,
                    gpumc_random_label(purpose, 0), word);
  const size_t seed = (size_t)((uint64_t)word[0] * reference->sites >> 32);
  draw_bonds(search, gpumc_random_label(purpose, 1 + cluster));
  const size_t size = gather(search, seed, &is_joined);
  const bool stays = reference->fault == REFERENCE_BIAS && search->spin[seed] > 0 && word[1] % 2;
  if (is_joined || stays)
    return 0;
  flip(search, size);
  return size;
}

void reference_sweep_clusters(struct reference *reference, double beta, uint32_t time,
                              size_t replica)
{
  struct search search = begin(reference, beta, time, replica);
  const uint32_t clusters = reference->clusters > 0 ? reference->clusters : 1;
  const uint64_t limit = reference->limit > 0 ? reference->limit : UINT64_MAX;
  uint64_t flipped = 0;
  if (reference->update == ISING_MOVE_SWENDSEN_WANG)
    swendsen_wang(&search);
  for (uint32_t c = 0; reference->update == ISING_MOVE_WOLFF && c < clusters && flipped < limit;
       c++)
    flipped += wolff(&search, c);
  end(&search);
}

/* ---- improved estimators ---- */

static size_t coordinate(const struct reference *reference, size_t site, size_t axis)
{
  for (size_t d = 0; d < axis; d++)
    site /= reference->length[d];
  return site % reference->length[axis];
}

static size_t longest(const struct reference *reference)
{
  size_t length = 0;
  for (size_t axis = 0; axis < reference->dimension; axis++)
    length = reference->length[axis] > length ? reference->length[axis] : length;
  return length;
}

static void add_site(const struct search *search, size_t site, struct sums *sums)
{
  const struct reference *reference = search->reference;
  const int8_t spin = search->spin[site];
  sums->spins += spin;
  for (size_t axis = 0; axis < reference->dimension; axis++) {
    const double angle =
        2.0 * GPUMC_PI * (double)coordinate(reference, site, axis) / (double)longest(reference);
    sums->cosine[axis] += spin * (__int128)rint(cos(angle) * 0x1p30);
    sums->sine[axis] += spin * (__int128)rint(sin(angle) * 0x1p30);
  }
}

static int64_t rounded_square(__int128 sum, double quantum)
{
  const int bits = 60 + (int)log2(quantum);
  return (int64_t)((sum * sum + ((__int128)1 << bits) / 2) >> bits);
}

static void add_squares(const struct search *search, const struct sums *sums, double quantum,
                        int64_t *square, int64_t *wave)
{
  const struct reference *reference = search->reference;
  *square += (int64_t)(sums->spins * sums->spins);
  for (size_t axis = 0; axis < reference->dimension; axis++)
    if (reference->length[axis] == longest(reference))
      *wave +=
          rounded_square(sums->cosine[axis], quantum) + rounded_square(sums->sine[axis], quantum);
}

void reference_improved(struct reference *reference, double beta, uint32_t time, size_t replica,
                        double quantum, int64_t *square, int64_t *wave)
{
  struct search search = begin(reference, beta, time, replica);
  struct sums held = {0};
  int64_t axes = 0;
  *square = *wave = 0;
  draw_bonds(&search, gpumc_random_label(GPUMC_RANDOM_LATTICE_CLUSTER, 0));
  for (size_t site = 0; site < reference->sites; site++) {
    struct sums sums = {0};
    bool is_joined;
    if (search.is_found[site])
      continue;
    const size_t size = gather(&search, site, &is_joined);
    for (size_t n = 0; n < size; n++)
      add_site(&search, search.cluster[n], is_joined ? &held : &sums);
    add_squares(&search, &sums, quantum, square, wave);
  }
  add_squares(&search, &held, quantum, square, wave);
  for (size_t axis = 0; axis < reference->dimension; axis++)
    axes += reference->length[axis] == longest(reference);
  *wave /= axes;
  end(&search);
}

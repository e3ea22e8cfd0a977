/* Exchanging clusters between two groups: those of all lanes at once.
 *
 * Sites are in the order i = x + Lx (y + Ly z) here, in which a pass over the rows, forwards or
 * back, follows a cluster along whole rows. link[d][i] has the lanes in which site i and the next
 * one along axis d belong together. From the seeds on, rows take over lanes from their neighbours
 * until nothing changes; only rows next to one that has changed are visited again. The cluster is
 * the only fixed point, so the order of the visits decides nothing. */
#include "core/numerics/simd_philox.h"
#include "models/ising/multispin/multispin_isa.h"

/* Arrays in scratch; rows of a square lattice are in one plane. */
struct clusters {
  const struct ising_multispin_pair *pair;
  const struct gpumc_checkerboard *lattice;
  size_t sites, rows;
  uint32_t *spins, *differ, *cluster, *link[ISING_AXES]; /* [sites] */
  uint32_t *open;                                        /* [rows], 1: to be visited */
  size_t n_open;
};

static struct clusters clusters_of(const struct ising_multispin_pair *pair)
{
  const struct gpumc_checkerboard *lattice = &pair->group->instance->lattice;
  uint32_t *scratch = pair->group->scratch + ising_multispin_scratch(lattice);
  struct clusters clusters = {.pair = pair, .lattice = lattice};
  clusters.sites = 2 * lattice->colour;
  clusters.rows = lattice->length_y * lattice->length_z;
  clusters.spins = scratch;
  clusters.differ = clusters.spins + clusters.sites;
  clusters.cluster = clusters.differ + clusters.sites;
  for (size_t axis = 0; axis < lattice->dimension; axis++)
    clusters.link[axis] = clusters.cluster + (axis + 1) * clusters.sites;
  clusters.open = clusters.cluster + (lattice->dimension + 1) * clusters.sites;
  return clusters;
}

/* A row of sites: its number, that of its plane, and its two halves in a colour. */
struct row {
  size_t number, y, z, first;
};

static struct row row_of(const struct gpumc_checkerboard *lattice, size_t number)
{
  return (struct row){number, number % lattice->length_y, number / lattice->length_y,
                      number * lattice->row};
}

/* Returns the colour of a row's site x, whose index is first + x / 2. */
static size_t colour_at(const struct row *row, size_t x)
{
  return (x + row->y + row->z) & 1;
}

/* Returns the row one step along axis 1 or 2, forward or back. */
static size_t
next_row(const struct gpumc_checkerboard *lattice, const struct row *row, size_t axis, bool forward)
{
  const size_t length = axis == 1 ? lattice->length_y : lattice->length_z;
  const size_t step = axis == 1 ? 1 : lattice->length_y, at = axis == 1 ? row->y : row->z;
  if (forward)
    return at + 1 < length ? row->number + step : row->number - at * step;
  return at > 0 ? row->number - step : row->number + (length - 1) * step;
}

/* ---- seeds ---- */

/* The sites differing from word `first` on, at most 32, of both replicas: a word for each lane. */
static size_t differing_sites(const struct ising_multispin_pair *pair, size_t first,
                              uint32_t of_lane[ISING_LANES])
{
  const size_t sites = 2 * pair->group->instance->lattice.colour;
  const size_t n = sites - first < ISING_LANES ? sites - first : ISING_LANES;
  memset(of_lane, 0, ISING_LANES * sizeof *of_lane);
  for (size_t i = 0; i < n; i++)
    of_lane[i] = (pair->group->words[first + i] ^ pair->other[first + i]) & pair->lanes;
  gpumc_bit_transpose(of_lane);
  return n;
}

/* Adds the bits of each lane in words[n] to count. */
static void count_lanes(const uint32_t *words, size_t n, uint64_t count[ISING_LANES])
{
  for (size_t first = 0; first < n; first += ISING_LANES) {
    uint32_t of_lane[ISING_LANES] = {0};
    const size_t m = n - first < ISING_LANES ? n - first : ISING_LANES;
    memcpy(of_lane, words + first, m * sizeof *words);
    gpumc_bit_transpose(of_lane);
    for (size_t lane = 0; lane < ISING_LANES; lane++)
      count[lane] += (uint64_t)__builtin_popcount(of_lane[lane]);
  }
}

/* Returns the place of the site at a position (checkerboard.h). */
static size_t place_of(const struct gpumc_checkerboard *lattice, size_t position)
{
  const size_t colour = position >= lattice->colour, k = position - colour * lattice->colour;
  const struct row row = row_of(lattice, k / lattice->row);
  const size_t x = 2 * (k % lattice->row) + colour_at(&row, colour);
  return row.number * lattice->length_x + x;
}

/* Draws number[lane] of the seed among count[lane] sites. */
static void draw_seeds(const struct ising_multispin_pair *pair, const uint64_t count[ISING_LANES],
                       uint64_t number[ISING_LANES])
{
  for (uint32_t lane = 0; lane < ISING_LANES; lane += 4) {
    uint32_t word[4];
    gpumc_random_draw(pair->random, lane >> 2, pair->group->number, pair->time,
                      gpumc_random_label(GPUMC_RANDOM_LATTICE_PAIRS, 0), word);
    for (uint32_t i = 0; i < 4; i++)
      number[lane + i] = ising_exchange_seed(word[i], count[lane + i]);
  }
}

/* Returns the index of set bit number `n`. */
static size_t bit_number(uint32_t bits, uint64_t n)
{
  for (; n > 0; n--)
    bits &= bits - 1;
  return (size_t)__builtin_ctz(bits);
}

static void open_row(struct clusters *clusters, size_t row)
{
  clusters->n_open += clusters->open[row] == 0;
  clusters->open[row] = 1;
}

static void open_neighbours(struct clusters *clusters, const struct row *row)
{
  for (size_t axis = 1; axis < clusters->lattice->dimension; axis++)
    for (int forward = 0; forward < 2; forward++)
      open_row(clusters, next_row(clusters->lattice, row, axis, forward != 0));
}

static void plant(struct clusters *clusters, size_t position, size_t lane)
{
  const size_t place = place_of(clusters->lattice, position);
  const struct row row = row_of(clusters->lattice, place / clusters->lattice->length_x);
  clusters->cluster[place] |= (uint32_t)1 << lane;
  open_row(clusters, row.number);
  open_neighbours(clusters, &row);
}

/* Begins the clusters at their seeds. */
static void plant_seeds(struct clusters *clusters, const uint64_t count[ISING_LANES])
{
  uint64_t number[ISING_LANES];
  uint32_t missing = 0, of_lane[ISING_LANES];
  draw_seeds(clusters->pair, count, number);
  for (size_t lane = 0; lane < ISING_LANES; lane++)
    missing |= (uint32_t)(count[lane] > 0) << lane;
  for (size_t first = 0; missing != 0; first += ISING_LANES) {
    (void)differing_sites(clusters->pair, first, of_lane);
    for (size_t lane = 0; lane < ISING_LANES; lane++) {
      const uint64_t here = (uint64_t)__builtin_popcount(of_lane[lane]);
      if ((missing >> lane & 1) == 0)
        continue;
      if (number[lane] >= here) {
        number[lane] -= here;
        continue;
      }
      plant(clusters, first + bit_number(of_lane[lane], number[lane]), lane);
      missing &= ~((uint32_t)1 << lane);
    }
  }
}

/* ---- links ---- */

/* Returns the lanes in which the numbers of a vector of bonds from colour 0 in one direction are
 * not below the threshold. `rounds`: a constant. */
GPUMC_INLINE gpumc_v32 drawn_active(const struct ising_multispin_pair *pair,
                                    const struct gpumc_philox_stream *stream, const uint32_t rounds,
                                    gpumc_v32 site, uint32_t direction)
{
  gpumc_v32 active = gpumc_broadcast(0), undecided = gpumc_broadcast(UINT32_MAX);
  if (pair->threshold >= GPUMC_THRESHOLD_ALWAYS)
    return active;
  for (uint32_t draw = 0; draw < GPUMC_BIT_PLANES / GPUMC_PLANES_A_DRAW; draw++) {
    gpumc_v32 word[4];
    uint32_t any = 0;
    gpumc_philox_draw(stream, rounds, site, ising_exchange_bits(direction) + draw, word);
    for (uint32_t i = 0; i < GPUMC_PLANES_A_DRAW; i++) {
      const uint32_t plane = draw * GPUMC_PLANES_A_DRAW + i;
      const bool bit = (pair->threshold >> (GPUMC_BIT_PLANES - 1 - plane) & 1) != 0;
      active |= bit ? gpumc_broadcast(0) : undecided & word[i];
      undecided &= bit ? word[i] : ~word[i];
    }
    for (size_t i = 0; i < GPUMC_VECTOR_WORDS; i++)
      any |= undecided[i];
    if (any == 0)
      break;
  }
  return active | undecided;
}

/* Stores the lanes of the bond in a direction from colour 0's site x of a row. */
static void store_link(const struct clusters *clusters, const struct row *row, size_t x,
                       uint32_t direction, uint32_t lanes)
{
  const struct gpumc_checkerboard *lattice = clusters->lattice;
  const struct gpumc_checkerboard_place place = {0, row->first + x / 2, row->y, row->z};
  const size_t length = lattice->length_x, begin = row->number * length;
  for (size_t axis = 0; axis < lattice->dimension; axis++) {
    size_t from = begin + x;
    if (gpumc_checkerboard_towards(&place, axis, true) != direction &&
        gpumc_checkerboard_towards(&place, axis, false) != direction)
      continue;
    if (gpumc_checkerboard_towards(&place, axis, true) != direction)
      from = axis == 0 ? begin + (x + length - 1) % length
                       : next_row(lattice, row, axis, false) * length + x;
    clusters->link[axis][from] = lanes;
  }
}

/* Draws which bonds would be active, satisfied or not. */
GPUMC_INLINE void draw_links(const struct clusters *clusters, const uint32_t rounds)
{
  const struct ising_multispin_pair *pair = clusters->pair;
  const struct gpumc_checkerboard *lattice = clusters->lattice;
  const struct gpumc_philox_stream stream =
      gpumc_philox_stream_make(pair->random, pair->group->number, pair->time);
  for (size_t k = 0; k < lattice->colour; k += GPUMC_VECTOR_WORDS) {
    const size_t left = lattice->colour - k;
    const size_t n = left < GPUMC_VECTOR_WORDS ? left : GPUMC_VECTOR_WORDS;
    for (uint32_t direction = 0; direction < 2 * lattice->dimension; direction++) {
      const gpumc_v32 active =
          drawn_active(pair, &stream, rounds, gpumc_lane_numbers() + (uint32_t)k, direction);
      for (size_t i = 0; i < n; i++) {
        const struct row row = row_of(lattice, (k + i) / lattice->row);
        const size_t x = 2 * ((k + i) % lattice->row) + colour_at(&row, 0);
        store_link(clusters, &row, x, direction, active[i]);
      }
    }
  }
}

/* Returns the signs of the bond from site x of a row forward along an axis. */
static uint32_t
signs_at(const struct clusters *clusters, const struct row *row, size_t x, size_t axis)
{
  const struct ising_multispin_group *group = clusters->pair->group;
  const struct gpumc_checkerboard *lattice = clusters->lattice;
  const enum ising_signs signs = group->instance->signs;
  const struct gpumc_checkerboard_place place = {colour_at(row, x), row->first + x / 2, row->y,
                                                 row->z};
  if (group->signs == NULL)
    return 0;
  return group
      ->signs[place.colour * ising_multispin_sign_words(lattice, signs) +
              (place.k / GPUMC_EDGE_SITES * ising_multispin_slots(lattice->dimension, signs) +
               gpumc_checkerboard_towards(&place, axis, true)) *
                  GPUMC_EDGE_SITES +
              place.k % GPUMC_EDGE_SITES];
}

/* Leaves the links of a row along an axis only where replicas differ at both ends, and, of active
 * ones, where they are satisfied. */
static void cut_links(const struct clusters *clusters, const struct row *row, size_t axis)
{
  const struct gpumc_checkerboard *lattice = clusters->lattice;
  const size_t length = lattice->length_x, begin = row->number * length;
  const size_t next = axis == 0 ? begin : next_row(lattice, row, axis, true) * length;
  const bool activated = clusters->pair->rule == GPUMC_CLUSTER_ACTIVATED;
  uint32_t *link = clusters->link[axis] + begin;
  for (size_t x = 0; x < length; x++) {
    const size_t from = begin + x, to = next + (axis == 0 ? (x + 1) % length : x);
    const uint32_t both = clusters->differ[from] & clusters->differ[to];
    if (activated)
      link[x] &= both & (clusters->spins[from] ^ clusters->spins[to] ^
                         signs_at(clusters, row, x, axis) ^ clusters->pair->like);
    else
      link[x] = both;
  }
}

static void load_row(const struct clusters *clusters, const struct row *row)
{
  const struct ising_multispin_pair *pair = clusters->pair;
  const size_t begin = row->number * clusters->lattice->length_x;
  for (size_t x = 0; x < clusters->lattice->length_x; x++) {
    const size_t position = colour_at(row, x) * clusters->lattice->colour + row->first + x / 2;
    const uint32_t spins = pair->group->words[position];
    clusters->spins[begin + x] = spins;
    clusters->differ[begin + x] = (spins ^ pair->other[position]) & pair->lanes;
    clusters->cluster[begin + x] = 0;
  }
  clusters->open[row->number] = 0;
}

static void make_links(const struct clusters *clusters)
{
  if (clusters->pair->rule == GPUMC_CLUSTER_ACTIVATED) {
    if (clusters->pair->random.rounds == 7)
      draw_links(clusters, 7);
    else
      draw_links(clusters, 10);
  }
  for (size_t i = 0; i < clusters->rows; i++) {
    const struct row row = row_of(clusters->lattice, i);
    for (size_t axis = 0; axis < clusters->lattice->dimension; axis++)
      cut_links(clusters, &row, axis);
  }
}

/* ---- filling ---- */

/* Takes over lanes from the row `from`; returns those that are new. */
GPUMC_INLINE uint32_t take_over(uint32_t *restrict row, const uint32_t *restrict from,
                                const uint32_t *restrict link, size_t length)
{
  uint32_t found = 0;
  for (size_t x = 0; x < length; x++) {
    const uint32_t lanes = from[x] & link[x];
    found |= lanes & ~row[x];
    row[x] |= lanes;
  }
  return found;
}

/* Follows links along a row, in both directions and around its ends: once more around where the
 * first time has brought something new to the beginning. */
static uint32_t follow(uint32_t *row, const uint32_t *link, size_t length)
{
  uint32_t found = 0, lanes;
  const size_t last = length - 1;
  do {
    lanes = row[last] & link[last];
    for (size_t x = 0; x < length; x++) {
      found |= lanes & ~row[x];
      row[x] |= lanes;
      lanes = row[x] & link[x];
    }
  } while ((lanes & ~row[0]) != 0);
  do {
    lanes = row[0] & link[last];
    for (size_t x = length; x-- > 0;) {
      found |= lanes & ~row[x];
      row[x] |= lanes;
      lanes = x > 0 ? row[x] & link[x - 1] : row[0] & link[last];
    }
  } while ((lanes & ~row[last]) != 0);
  return found;
}

static void visit(struct clusters *clusters, size_t number)
{
  const struct gpumc_checkerboard *lattice = clusters->lattice;
  const struct row row = row_of(lattice, number);
  const size_t length = lattice->length_x;
  uint32_t *cluster = clusters->cluster + number * length;
  uint32_t found = 0;
  clusters->open[number] = 0;
  clusters->n_open--;
  for (size_t axis = 1; axis < lattice->dimension; axis++) {
    const size_t before = next_row(lattice, &row, axis, false) * length;
    const size_t after = next_row(lattice, &row, axis, true) * length;
    found |= take_over(cluster, clusters->cluster + before, clusters->link[axis] + before, length);
    found |= take_over(cluster, clusters->cluster + after, clusters->link[axis] + number * length,
                       length);
  }
  found |= follow(cluster, clusters->link[0] + number * length, length);
  if (found != 0)
    open_neighbours(clusters, &row);
}

static void fill(struct clusters *clusters)
{
  while (clusters->n_open > 0) {
    for (size_t i = 0; i < clusters->rows; i++)
      if (clusters->open[i] != 0)
        visit(clusters, i);
    for (size_t i = clusters->rows; i-- > 0;)
      if (clusters->open[i] != 0)
        visit(clusters, i);
  }
}

/* ---- the exchange ---- */

static void turn_row(const struct clusters *clusters, const struct row *row)
{
  const struct ising_multispin_pair *pair = clusters->pair;
  const uint32_t *cluster = clusters->cluster + row->number * clusters->lattice->length_x;
  for (size_t x = 0; x < clusters->lattice->length_x; x++) {
    const size_t position = colour_at(row, x) * clusters->lattice->colour + row->first + x / 2;
    pair->group->words[position] ^= cluster[x];
    pair->other[position] ^= cluster[x];
  }
}

void GPUMC_ISA_NAME(ising_multispin_exchange)(const struct ising_multispin_pair *pair,
                                              struct gpumc_cluster_counts *counts)
{
  struct clusters clusters = clusters_of(pair);
  uint64_t differing[ISING_LANES] = {0}, exchanged[ISING_LANES] = {0};
  for (size_t i = 0; i < clusters.rows; i++) {
    const struct row row = row_of(clusters.lattice, i);
    load_row(&clusters, &row);
  }
  count_lanes(clusters.differ, clusters.sites, differing);
  make_links(&clusters);
  plant_seeds(&clusters, differing);
  fill(&clusters);
  count_lanes(clusters.cluster, clusters.sites, exchanged);
  for (size_t i = 0; i < clusters.rows; i++) {
    const struct row row = row_of(clusters.lattice, i);
    turn_row(&clusters, &row);
  }
  for (size_t lane = 0; lane < ISING_LANES; lane++)
    ising_exchange_count(exchanged[lane], differing[lane], counts);
}

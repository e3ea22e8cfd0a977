/* Swendsen-Wang of one replica on the CPU, by runs: pieces of a word of 64 sites (cluster_rows.h)
 * that are joined along x.
 *
 *     bit       0   1   2   3   4   5   6   7   8
 *     before    o   o---o---o---o   o---o---o---o    runs 20, 21, 22
 *                       |   |           |       |
 *     row       o---o   o---o   o   o---o---o---o    runs 40, 41, 42, 43
 *
 * Only runs have labels, by their numbers, which are in the order of sites; a thread's begin with
 * the number of its first site. A label points to a run of the same cluster that is not larger, and
 * one that points to itself is a root, the run that begins with the cluster's name. The first bond
 * to the row before, 2 or 6, gives a run its first label without any search. Bond 3 joins what bond
 * 2 has joined and is left out, bond 8 is left to unite two runs.
 *
 * Threads first label the layers of their own, then join them to the next ones: there a root is
 * only ever changed by one compare-and-swap, so that any order gives the same clusters. */
#include "models/ising/cluster/cluster_rows.h"

/* turns[run]: 1 if the run turns over; of a root by the flip of its name, of others in the end. */
struct runs {
  const struct ising_cluster_work *work;
  struct ising_cluster_rows rows;
  struct ising_bonds bonds;
  uint32_t *label;
  uint8_t *turns;
  uint32_t next, end; /* run, and that of the next thread */
};

static struct runs runs_of(const struct ising_cluster_work *work)
{
  return (struct runs){.work = work,
                       .rows = ising_cluster_rows_of(&work->graph.shape->checkerboard),
                       .label = work->graph.label,
                       .turns = work->turns};
}

static inline uint64_t starts_of(const struct ising_cluster_word *word, uint64_t sites)
{
  return sites & ~(word->bond[0] << 1);
}

/* Returns the run of a site, given as a bit, of a word with these starts. */
static inline uint32_t run_of(const struct ising_cluster_word *word, uint64_t starts, uint64_t site)
{
  return word->base + ising_row_count(starts & ising_row_up_to(site)) - 1;
}

/* ---- labels ---- */

/* Bonds of a word to the one before it along y or z that join runs, and where these are there. */
struct link {
  uint64_t bonds, starts;
  uint32_t base;
};

/* Returns the bonds to another word that join runs: not those beside a bond between the same two
 * runs, be it the last of the words before (`carry`). */
static inline uint64_t needed(uint64_t bonds, uint64_t joined, uint64_t carry)
{
  return bonds & ~((bonds << 1 | carry) & joined);
}

/* Links word X of a row to that of the row `before`, by whose bonds along `axis`. */
GPUMC_INLINE struct link link_to(const struct runs *runs, const struct ising_cluster_word *word,
                                 size_t before, size_t x, uint64_t sites, const size_t axis)
{
  const struct ising_cluster_word *other = runs->work->words + before * runs->rows.words + x;
  const uint64_t along = x > 0 ? word[-1].bond[0] & other[-1].bond[0] & other[-1].bond[axis] : 0;
  const uint64_t joined = (word->bond[0] & other->bond[0]) << 1 | (x > 0);
  return (struct link){.bonds = needed(other->bond[axis], joined, along >> 63),
                       .starts = starts_of(other, sites),
                       .base = other->base};
}

/* Returns the run to which a link's bond at a site leads. */
static inline uint32_t linked_run(const struct link *link, uint64_t site)
{
  return link->base + ising_row_count(link->starts & ising_row_up_to(site)) - 1;
}

/* Gives runs of a word the labels of those to which these bonds lead, one of each. */
GPUMC_INLINE void take_labels(uint32_t *label, const struct ising_cluster_word *word,
                              uint64_t starts, const struct link *link, uint64_t bonds)
{
  for (; bonds != 0; bonds &= bonds - 1) {
    const uint64_t site = ising_row_lowest(bonds);
    label[run_of(word, starts, site)] = label[linked_run(link, site)];
  }
}

/* Unites runs of a word with those to which these bonds lead. `together`, a constant: while other
 * threads do so. */
GPUMC_INLINE void unite_runs(uint32_t *label, const struct ising_cluster_word *word,
                             uint64_t starts, const struct link *link, uint64_t bonds,
                             const bool together)
{
  for (; bonds != 0; bonds &= bonds - 1) {
    const uint64_t site = ising_row_lowest(bonds);
    const uint32_t here = run_of(word, starts, site), there = linked_run(link, site);
    if (together)
      lattice_cluster_unite_now(label, here, there);
    else
      lattice_cluster_unite(label, here, there);
  }
}

/* Gives runs labels of their own, and the flips of their names. Writes as many labels as a word
 * can have runs, since their number cannot be predicted; later words overwrite the surplus. */
GPUMC_INLINE void begin_runs(const struct runs *runs, uint64_t starts, uint64_t flips)
{
  const uint32_t count = ising_row_count(starts), first = runs->next;
  const uint32_t left = runs->end - first;
  uint32_t *label = runs->label + first;
  if (left >= ISING_ROW_WORD)
    for (uint32_t i = 0; i < ISING_ROW_WORD; i++)
      label[i] = first + i;
  else
    for (uint32_t i = 0; i < left; i++)
      label[i] = first + i;
  ising_row_to_bytes(ising_row_extract(flips, starts), count, runs->turns + first);
}

/* Labels the runs of word X of a row. flips: of its sites, if they are names. `y`, `z`: there is a
 * row before it along that axis; constants. The first bond of a run gives it its label, the others
 * unite. */
GPUMC_INLINE void
label_word(struct runs *runs, size_t row, size_t x, uint64_t flips, const bool y, const bool z)
{
  struct ising_cluster_word *word = runs->work->words + row * runs->rows.words + x;
  const uint64_t sites = ising_row_sites(&runs->rows, x), starts = starts_of(word, sites);
  const uint64_t joined = sites & ~starts;
  struct link of_y = {0}, of_z = {0};
  word->base = runs->next;
  begin_runs(runs, starts, flips);
  runs->next += ising_row_count(starts);
  if (y)
    of_y = link_to(runs, word, row - 1, x, sites, 1);
  if (z)
    of_z = link_to(runs, word, row - runs->rows.length_y, x, sites, 2);
  const uint64_t first_y = of_y.bonds & ~ising_row_onwards(joined, of_y.bonds << 1);
  uint64_t first_z = of_z.bonds & ~ising_row_onwards(joined, of_z.bonds << 1);
  if (y && z)
    first_z &= ~ising_row_runs(joined, sites, first_y);
  if (y)
    take_labels(runs->label, word, starts, &of_y, first_y);
  if (z)
    take_labels(runs->label, word, starts, &of_z, first_z);
  if (x > 0 && word[-1].bond[0] >> 63 != 0)
    lattice_cluster_unite(runs->label, word->base - 1, word->base);
  if (y)
    unite_runs(runs->label, word, starts, &of_y, of_y.bonds & ~first_y, false);
  if (z)
    unite_runs(runs->label, word, starts, &of_z, of_z.bonds & ~first_z, false);
}

/* Joins the clusters of two rows by the bonds of the first along an axis. `together`, a constant:
 * while other threads join theirs. */
GPUMC_INLINE void
join_rows(const struct runs *runs, size_t row, size_t next, size_t axis, const bool together)
{
  for (size_t x = 0; x < runs->rows.words; x++) {
    const uint64_t sites = ising_row_sites(&runs->rows, x);
    const struct ising_cluster_word *word = runs->work->words + next * runs->rows.words + x;
    const struct link link = link_to(runs, word, row, x, sites, axis);
    unite_runs(runs->label, word, starts_of(word, sites), &link, link.bonds, together);
  }
}

/* After the last word of a row: around to its beginning; along y, to the beginning of the plane. */
static void close_row(const struct runs *runs, size_t row)
{
  const struct ising_cluster_rows *rows = &runs->rows;
  const struct ising_cluster_word *word = runs->work->words + row * rows->words;
  if ((word[rows->words - 1].bond[0] >> (rows->last - 1) & 1) != 0)
    lattice_cluster_unite(runs->label, word->base, runs->next - 1);
  if (runs->work->graph.shape->checkerboard.dimension == 3 && (row + 1) % rows->length_y == 0)
    join_rows(runs, row, row + 1 - rows->length_y, 1, false);
}

/* Labels words from..to - 1 of a row, in rows from `first` on; of the batch that begins with site
 * `begin`. */
static void label_words(struct runs *runs, size_t first, size_t row, size_t from, size_t to,
                        const uint64_t *flips, size_t begin)
{
  const bool cubic = runs->work->graph.shape->checkerboard.dimension == 3;
  const bool y = cubic ? row % runs->rows.length_y > 0 : row > first;
  const bool z = cubic && row >= first + runs->rows.length_y;
  const size_t at = row * runs->rows.length_x - begin;
  for (size_t x = from; x < to; x++) {
    const uint64_t of_word = ising_row_bits(flips, at + x * ISING_ROW_WORD);
    if (y && z)
      label_word(runs, row, x, of_word, true, true);
    else if (y)
      label_word(runs, row, x, of_word, true, false);
    else if (z)
      label_word(runs, row, x, of_word, false, true);
    else
      label_word(runs, row, x, of_word, false, false);
  }
  if (to == runs->rows.words)
    close_row(runs, row);
}

/* ---- flips ---- */

enum { FLIPS_WORDS = ISING_BATCH_WORDS + 2 * LATTICE_CLUSTER_NAMES / ISING_ROW_WORD };

/* Draws those of n names from `first` on. */
static void draw_flips(const struct runs *runs, size_t first, size_t n, uint64_t *flips)
{
  const struct ising_cluster_work *work = runs->work;
  const uint32_t label = lattice_cluster_label(LATTICE_CLUSTER_FLIPS);
  uint32_t drawn[2 * FLIPS_WORDS + LATTICE_CLUSTER_WORDS * GPUMC_VECTOR_WORDS];
  const size_t from = first / LATTICE_CLUSTER_NAMES;
  const size_t count = (first + n - 1) / LATTICE_CLUSTER_NAMES + 1 - from;
  for (size_t c = 0; c < count; c += GPUMC_VECTOR_WORDS) {
    gpumc_v32 word[LATTICE_CLUSTER_WORDS];
    const gpumc_v32 names = gpumc_lane_numbers() + (uint32_t)(from + c);
    if (work->graph.random.rounds == 7)
      gpumc_philox_draw(&runs->bonds.stream, 7, names, label, word);
    else
      gpumc_philox_draw(&runs->bonds.stream, 10, names, label, word);
    for (size_t v = 0; v < GPUMC_VECTOR_WORDS; v++)
      for (size_t w = 0; w < LATTICE_CLUSTER_WORDS; w++)
        drawn[LATTICE_CLUSTER_WORDS * (c + v) + w] = word[w][v];
  }
  const size_t skipped = (first - from * LATTICE_CLUSTER_NAMES) / ISING_ROW_WORD;
  const size_t shift = first % ISING_ROW_WORD;
  for (size_t i = 0; i * ISING_ROW_WORD < n + ISING_ROW_WORD; i++) {
    const uint32_t *at = drawn + 2 * (skipped + i);
    const uint64_t low = at[0] | (uint64_t)at[1] << 32, high = at[2] | (uint64_t)at[3] << 32;
    flips[i] = low >> shift | high << 1 << (ISING_ROW_WORD - 1 - shift);
  }
}

/* ---- steps of a sweep ---- */

/* Draws, binds and labels rows first_row..end_row - 1, or words from..to - 1 of one of them. */
static void
bind_batch(struct runs *runs, size_t first, size_t row, size_t end, size_t from, size_t to)
{
  const struct ising_cluster_rows *rows = &runs->rows;
  const size_t begin = row * rows->length_x + from * ISING_ROW_WORD;
  const size_t all = (end - 1) * rows->length_x +
                     (to < rows->words ? to * ISING_ROW_WORD : rows->length_x) - begin;
  struct ising_row_bonds drawn;
  uint64_t flips[FLIPS_WORDS];
  ising_row_draw(runs->work, &runs->bonds, begin, all, &drawn);
  draw_flips(runs, begin, all, flips);
  for (size_t r = row; r < end; r++)
    for (size_t x = from; x < to; x++)
      ising_row_bind(runs->work, rows, &runs->bonds, &drawn,
                     r * rows->length_x + x * ISING_ROW_WORD - begin, r, x);
  for (size_t r = row; r < end; r++)
    label_words(runs, first, r, from, to, flips, begin);
}

static void bind(const struct ising_cluster_work *work, size_t first, size_t end)
{
  struct runs runs = runs_of(work);
  const size_t words = runs.rows.words, length = runs.rows.length_x;
  const size_t first_of_all = lattice_cluster_lines(work->graph.shape, first),
               last = lattice_cluster_lines(work->graph.shape, end);
  const size_t together = length < LATTICE_CLUSTER_CHUNK ? LATTICE_CLUSTER_CHUNK / length : 1;
  runs.bonds = ising_bonds_of(work, lattice_cluster_label(LATTICE_CLUSTER_BONDS));
  runs.next = (uint32_t)(first * work->graph.shape->layer);
  runs.end = (uint32_t)(end * work->graph.shape->layer);
  for (size_t row = first_of_all; row < last; row += together) {
    const size_t to = row + together < last ? row + together : last;
    if (length <= LATTICE_CLUSTER_CHUNK)
      bind_batch(&runs, first_of_all, row, to, 0, words);
    else
      for (size_t x = 0; x < words; x += ISING_BATCH_WORDS)
        bind_batch(&runs, first_of_all, row, to, x,
                   x + ISING_BATCH_WORDS < words ? x + ISING_BATCH_WORDS : words);
  }
}

static void join(const struct ising_cluster_work *work, size_t end)
{
  const struct runs runs = runs_of(work);
  const size_t dimension = work->graph.shape->checkerboard.dimension, axis = dimension - 1;
  for (size_t row = lattice_cluster_lines(work->graph.shape, end - 1);
       row < lattice_cluster_lines(work->graph.shape, end) && axis > 0; row++)
    join_rows(&runs, row, ising_row_after(&runs.rows, row, axis), axis, true);
}

static void hold(const struct ising_cluster_work *work, size_t first, size_t end)
{
  const struct runs runs = runs_of(work);
  const size_t words = runs.rows.words;
  for (size_t w = lattice_cluster_lines(work->graph.shape, first) * words;
       w < lattice_cluster_lines(work->graph.shape, end) * words; w++) {
    const struct ising_cluster_word *word = work->words + w;
    const uint64_t starts = starts_of(word, ising_row_sites(&runs.rows, w % words));
    for (uint64_t ghost = word->ghost; ghost != 0;) {
      const uint64_t site = ising_row_lowest(ghost);
      const uint32_t root = lattice_cluster_root_now(runs.label, run_of(word, starts, site));
      __atomic_store_n(&runs.turns[root], 0, __ATOMIC_RELAXED);
      ghost &= 0 - ising_row_lowest(starts & ~ising_row_up_to(site));
    }
  }
}

/* Returns the sites of all runs with these starts: a carry runs through each. */
static inline uint64_t sites_of_runs(uint64_t joined, uint64_t starts)
{
  return starts | (joined & ~(joined + ((starts << 1) & joined)));
}

/* Runs point to smaller ones, which know by now whether they turn over, unless these are another
 * thread's, whose roots do. */
static inline void turn(const struct runs *runs, uint32_t first, uint32_t run, uint32_t end)
{
  for (; run < end; run++) {
    uint32_t to = runs->label[run];
    if (to < first)
      to = lattice_cluster_root_now(runs->label, to);
    __atomic_store_n(&runs->turns[run], __atomic_load_n(&runs->turns[to], __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
  }
}

static uint32_t runs_in(const struct runs *runs, size_t w)
{
  const struct ising_cluster_word *word = runs->work->words + w;
  return ising_row_count(starts_of(word, ising_row_sites(&runs->rows, w % runs->rows.words)));
}

/* Turns runs over for many words at once: the number of runs in one cannot be predicted. */
static void flip(const struct ising_cluster_work *work, size_t first, size_t end)
{
  const struct runs runs = runs_of(work);
  const uint32_t first_run = (uint32_t)(first * work->graph.shape->layer);
  const size_t words = runs.rows.words,
               last = lattice_cluster_lines(work->graph.shape, end) * words;
  size_t to, x = 0;
  for (size_t from = lattice_cluster_lines(work->graph.shape, first) * words; from < last;
       from = to) {
    to = from + ISING_BATCH_WORDS < last ? from + ISING_BATCH_WORDS : last;
    turn(&runs, first_run, work->words[from].base,
         work->words[to - 1].base + runs_in(&runs, to - 1));
    for (size_t w = from; w < to; w++, x = x + 1 < words ? x + 1 : 0) {
      struct ising_cluster_word *word = work->words + w;
      const uint64_t sites = ising_row_sites(&runs.rows, x), starts = starts_of(word, sites);
      const uint64_t turned =
          ising_row_of_bytes(runs.turns + word->base, ising_row_count(starts), 0);
      word->spins ^= sites_of_runs(word->bond[0] << 1 & sites, ising_row_deposit(turned, starts));
    }
  }
}

/* ---- spins ---- */

static void
load(const struct ising_cluster_work *work, const uint8_t *coloured, size_t first, size_t end)
{
  const struct gpumc_checkerboard *lattice = &work->graph.shape->checkerboard;
  const size_t words = ising_cluster_rows_of(lattice).words;
  for (size_t row = lattice_cluster_lines(work->graph.shape, first);
       row < lattice_cluster_lines(work->graph.shape, end); row++) {
    const size_t colour = lattice_cluster_row_colour(lattice, row);
    for (size_t x = 0; x < words; x++)
      work->words[row * words + x] =
          (struct ising_cluster_word){.spins = ising_row_load(lattice, coloured, row, colour, x)};
  }
}

static void
store(const struct ising_cluster_work *work, uint8_t *coloured, size_t first, size_t end)
{
  const struct gpumc_checkerboard *lattice = &work->graph.shape->checkerboard;
  const size_t words = ising_cluster_rows_of(lattice).words;
  for (size_t row = lattice_cluster_lines(work->graph.shape, first);
       row < lattice_cluster_lines(work->graph.shape, end); row++) {
    const size_t colour = lattice_cluster_row_colour(lattice, row);
    for (size_t x = 0; x < words; x++)
      ising_row_store(lattice, coloured, row, colour, x, work->words[row * words + x].spins);
  }
}

extern const struct ising_runs_ops GPUMC_ISA_NAME(ising_runs);
const struct ising_runs_ops GPUMC_ISA_NAME(ising_runs) = {
    .load = load,
    .store = store,
    .bind = bind,
    .join = join,
    .hold = hold,
    .flip = flip,
};

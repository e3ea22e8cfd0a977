/* Clusters by words, runs and tiles, as GPUs find them, word after word in a random order: the
 * names are those of a search site by site, whatever the bonds and the shape. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/ising/cluster/cluster_tiles.h"

enum { AXES = ISING_CLUSTER_AXES, WORD = ISING_CLUSTER_WORD, POISON = 0x5a };

/* bond[site]: bit d, that along axis d is active. */
struct lattice {
  uint32_t axes, length[AXES], sites;
  uint8_t *bond;
  uint32_t *name;
};

static uint64_t state;

static uint64_t draw(void)
{
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static uint32_t next_site(const struct lattice *lattice, uint32_t site, uint32_t axis)
{
  uint32_t stride = 1;
  for (uint32_t d = 0; d < axis; d++)
    stride *= lattice->length[d];
  const uint32_t at = site / stride % lattice->length[axis];
  return at + 1 < lattice->length[axis] ? site + stride : site - at * stride;
}

/* Lowers names along bonds until nothing changes. */
static void find_names(const struct lattice *lattice)
{
  for (uint32_t i = 0; i < lattice->sites; i++)
    lattice->name[i] = i;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < lattice->sites; i++)
      for (uint32_t d = 0; d < lattice->axes; d++) {
        const uint32_t j = next_site(lattice, i, d);
        if ((lattice->bond[i] >> d & 1) == 0 || lattice->name[i] == lattice->name[j])
          continue;
        const uint32_t least =
            lattice->name[i] < lattice->name[j] ? lattice->name[i] : lattice->name[j];
        lattice->name[i] = lattice->name[j] = least;
        changed = true;
      }
  }
}

static struct lattice make(uint32_t axes, const uint32_t *length, uint32_t percent)
{
  struct lattice lattice = {.axes = axes, .length = {1, 1, 1}, .sites = 1};
  for (uint32_t d = 0; d < axes; d++) {
    lattice.length[d] = length[d];
    lattice.sites *= length[d];
  }
  lattice.bond = calloc(lattice.sites, 1);
  lattice.name = calloc(lattice.sites, sizeof *lattice.name);
  assert_non_null(lattice.bond);
  assert_non_null(lattice.name);
  for (uint32_t i = 0; i < lattice.sites; i++)
    for (uint32_t d = 0; d < axes; d++)
      lattice.bond[i] |= (uint8_t)((draw() % 100 < percent) << d);
  find_names(&lattice);
  return lattice;
}

static void release(const struct lattice *lattice)
{
  free(lattice->bond);
  free(lattice->name);
}

static uint32_t *words_of(size_t count)
{
  uint32_t *words = malloc(count * sizeof *words);
  assert_non_null(words);
  memset(words, POISON, count * sizeof *words);
  return words;
}

/* Returns the bonds of a word along an axis, sites beyond the row left out. */
static uint32_t bonds_of(const struct lattice *lattice, const uint32_t *at, uint32_t axis)
{
  uint32_t bits = 0;
  for (uint32_t bit = 0; bit < WORD && WORD * at[0] + bit < lattice->length[0]; bit++) {
    const uint32_t site =
        WORD * at[0] + bit + lattice->length[0] * (at[1] + lattice->length[1] * at[2]);
    bits |= (uint32_t)(lattice->bond[site] >> axis & 1) << bit;
  }
  return bits;
}

/* Steps that are taken for each word of a box; the last one again and again. */
enum step { BIND, BEGIN, JOIN, SHORTEN, STEPS };

/* Returns whether a label has changed in the last step. */
static bool take_step(const struct lattice *lattice, const struct ising_cluster_box *box,
                      const struct ising_cluster_words *words,
                      const struct ising_cluster_place *place, struct ising_cluster_left *left,
                      enum step step)
{
  if (step == SHORTEN)
    return ising_words_shorten(words, place);
  if (step == BIND)
    for (uint32_t d = 0; d < lattice->axes; d++) {
      const uint32_t at[AXES] = {box->first[0] + place->at[0], box->first[1] + place->at[1],
                                 box->first[2] + place->at[2]};
      words->bond[d][place->number] = bonds_of(lattice, at, d);
    }
  else if (step == BEGIN)
    *left = ising_words_begin(box, words, place);
  else
    ising_words_join(box, words, place, left);
  return false;
}

static void label_box(const struct lattice *lattice, const struct ising_cluster_box *box,
                      const struct ising_cluster_words *words, uint32_t begin)
{
  const uint32_t n = box->row.value * box->rows.value * box->size[2];
  struct ising_cluster_left *left = calloc(n, sizeof *left);
  assert_non_null(left);
  for (enum step step = BIND; step < STEPS;) {
    const uint32_t first = (uint32_t)(draw() % n);
    bool again = false;
    for (uint32_t i = 0; i < n; i++) {
      const uint32_t w = (first + n - i) % n;
      const struct ising_cluster_place place = ising_box_place(box, w, begin);
      if (ising_box_has(box, &place))
        again |= take_step(lattice, box, words, &place, &left[w], step);
    }
    step += again ? 0 : 1;
  }
  free(left);
}

/* ---- whole lattices in a box, after another one ---- */

static struct ising_cluster_box whole_box(const struct lattice *lattice)
{
  struct ising_cluster_box box = {.axes = lattice->axes, .around = 7};
  box.words = (lattice->length[0] + WORD - 1) / WORD;
  box.last = lattice->length[0] - WORD * (box.words - 1);
  box.size[0] = box.words;
  box.size[1] = lattice->length[1];
  box.size[2] = lattice->length[2];
  box.row = gpumc_divisor_make(box.words);
  box.rows = gpumc_divisor_make(box.size[1]);
  return box;
}

static uint32_t
site_of(const struct lattice *lattice, const struct ising_cluster_box *box, uint32_t number)
{
  const uint32_t w = number / WORD, line = w / box->row.value;
  return line * lattice->length[0] + w % box->row.value * WORD + number % WORD;
}

/* Returns how many sites have other names. */
static uint32_t wrong_in_box(const struct lattice *lattice)
{
  enum { BEGIN_AT = 3 };
  uint32_t wrong = 0;
  const struct ising_cluster_box box = whole_box(lattice);
  const uint32_t n = box.size[0] * box.size[1] * box.size[2], stride = n + BEGIN_AT;
  struct ising_cluster_words words = {.label = words_of((size_t)WORD * stride), .stride = stride};
  for (uint32_t d = 0; d < AXES; d++)
    words.bond[d] = words_of(stride);
  label_box(lattice, &box, &words, BEGIN_AT);
  for (uint32_t i = 0; i < lattice->sites; i++) {
    const uint32_t x = i % lattice->length[0], line = i / lattice->length[0];
    const uint32_t word = BEGIN_AT + line * box.row.value + x / WORD;
    const uint32_t start = ising_words_start(&words, word, x % WORD);
    const uint32_t name = *ising_label_at(words.label, stride, start) - BEGIN_AT * WORD;
    wrong += site_of(lattice, &box, name) != lattice->name[i];
  }
  for (uint32_t d = 0; d < AXES; d++)
    free(words.bond[d]);
  free(words.label);
  return wrong;
}

/* ---- tiles and seams ---- */

static void label_tile(const struct lattice *lattice, const struct ising_cluster_tiling *tiling,
                       const struct ising_cluster_tiles *tiles, uint32_t tile)
{
  const struct ising_cluster_box box = ising_tiling_box(tiling, tile);
  struct ising_cluster_words words = {.label = words_of(ISING_TILE_LABELS),
                                      .stride = ISING_TILE_WORDS};
  for (uint32_t d = 0; d < AXES; d++)
    words.bond[d] = words_of(ISING_TILE_WORDS);
  label_box(lattice, &box, &words, 0);
  for (uint32_t i = 0; i < ISING_TILE_LABELS; i++)
    tiles->label[(size_t)tile * ISING_TILE_LABELS + i] = (uint16_t)words.label[i];
  for (uint32_t w = 0; w < ISING_TILE_WORDS; w++) {
    const struct ising_cluster_place place = ising_box_place(&box, w, 0);
    if (!ising_box_has(&box, &place))
      continue;
    const uint32_t joined = ising_words_joined(&words, w, place.sites);
    for (uint32_t d = 0; d < lattice->axes; d++)
      tiles->bond[d][ising_tiling_word_of(tiling, &box, &place)] = words.bond[d][w];
    for (uint32_t left = ising_tiling_border(&box, &place, joined); left != 0; left &= left - 1) {
      const uint32_t number = ising_label_number(w, ising_bit_lowest(left));
      const uint32_t root = *ising_label_at(words.label, words.stride, number);
      const uint32_t site = ising_tiling_site(tiling, &box, root);
      tiles->parent[site] = site;
    }
  }
  for (uint32_t d = 0; d < AXES; d++)
    free(words.bond[d]);
  free(words.label);
}

/* Returns the name of the cluster of site i: its own root is one of its tile unless the run is at
 * the border. */
static uint32_t name_of(const struct lattice *lattice, const struct ising_cluster_tiling *tiling,
                        const struct ising_cluster_tiles *tiles, uint32_t i)
{
  const uint32_t x = i % lattice->length[0], line = i / lattice->length[0];
  const uint32_t at[AXES] = {x / WORD, line % lattice->length[1], line / lattice->length[1]};
  const uint32_t root = ising_tiling_root(tiling, tiles, at, x % WORD);
  const uint32_t poison = POISON * 0x01010101u;
  return tiles->parent[root] == poison ? root : ising_label_root(tiles->parent, 0, root);
}

static uint32_t wrong_in_tiles(const struct lattice *lattice)
{
  uint32_t wrong = 0;
  const struct ising_cluster_tiling tiling =
      ising_cluster_tiling_make(lattice->axes, lattice->length);
  const uint32_t count = ising_tiling_tiles(&tiling);
  struct ising_cluster_tiles tiles = {.parent = words_of(lattice->sites)};
  tiles.label = calloc((size_t)count * ISING_TILE_LABELS, sizeof *tiles.label);
  assert_non_null(tiles.label);
  for (uint32_t d = 0; d < AXES; d++)
    tiles.bond[d] = words_of(ising_tiling_words(&tiling));
  for (uint32_t tile = 0; tile < count; tile++)
    label_tile(lattice, &tiling, &tiles, tile);
  for (uint32_t axis = 0; axis < lattice->axes; axis++)
    for (size_t place = ising_seam_places(&tiling, axis); place-- > 0;)
      ising_seam_unite(&tiling, &tiles, axis, (uint32_t)place);
  for (uint32_t i = 0; i < lattice->sites; i++)
    wrong += name_of(lattice, &tiling, &tiles, i) != lattice->name[i];
  for (uint32_t d = 0; d < AXES; d++)
    free(tiles.bond[d]);
  free(tiles.label);
  free(tiles.parent);
  return wrong;
}

/* ---- cases ---- */

static const uint32_t percents[] = {0, 20, 40, 50, 60, 80, 100};
enum { PERCENTS = sizeof percents / sizeof *percents };

static void
check_all(uint32_t axes, const uint32_t *length, uint32_t (*wrong)(const struct lattice *))
{
  for (size_t p = 0; p < PERCENTS; p++) {
    state = p;
    const struct lattice lattice = make(axes, length, percents[p]);
    assert_int_equal(wrong(&lattice), 0);
    release(&lattice);
  }
}

static void test_boxes_find_the_names(void **unused)
{
  static const uint32_t square[][2] = {{2, 2}, {4, 2}, {2, 6}, {30, 4}, {32, 8}, {34, 6}, {96, 40}};
  static const uint32_t cubic[][3] = {{2, 2, 2}, {6, 4, 2}, {34, 4, 6}, {64, 6, 4}};
  (void)unused;
  for (size_t i = 0; i < sizeof square / sizeof *square; i++)
    check_all(2, square[i], wrong_in_box);
  for (size_t i = 0; i < sizeof cubic / sizeof *cubic; i++)
    check_all(3, cubic[i], wrong_in_box);
}

static void test_tiles_find_the_names(void **unused)
{
  static const uint32_t square[][2] = {{256, 128}, {290, 70}, {2, 600}, {9000, 2}, {34, 700}};
  static const uint32_t cubic[][3] = {{34, 18, 20}, {64, 32, 6}, {2, 40, 34}};
  (void)unused;
  for (size_t i = 0; i < sizeof square / sizeof *square; i++)
    check_all(2, square[i], wrong_in_tiles);
  for (size_t i = 0; i < sizeof cubic / sizeof *cubic; i++)
    check_all(3, cubic[i], wrong_in_tiles);
}

/* Control: where one bond that joins two clusters is lost, the names are others. */
static void test_a_lost_bond_is_found(void **unused)
{
  static const uint32_t length[] = {290, 70};
  (void)unused;
  state = 1;
  struct lattice lattice = make(2, length, 45), without = make(2, length, 45);
  uint32_t lost = 0;
  do {
    memcpy(without.bond, lattice.bond, lattice.sites);
    while ((without.bond[lost] & 2) == 0)
      lost++;
    without.bond[lost++] &= 1;
    find_names(&without);
  } while (memcmp(lattice.name, without.name, lattice.sites * sizeof *lattice.name) == 0);
  memcpy(without.name, lattice.name, lattice.sites * sizeof *lattice.name);
  assert_int_not_equal(wrong_in_box(&without), 0);
  assert_int_not_equal(wrong_in_tiles(&without), 0);
  release(&lattice);
  release(&without);
}

static void test_bits(void **unused)
{
  (void)unused;
  state = 7;
  for (int i = 0; i < 10000; i++) {
    const uint32_t joined = (uint32_t)(draw() & draw()) << 1, given = (uint32_t)draw();
    uint32_t sites = 0;
    assert_int_equal(ising_bits_gather(ising_bits_spread(given & 0xffff)), given & 0xffff);
    assert_int_equal(ising_bits_spread(ising_bits_gather(given)) |
                         ising_bits_spread(ising_bits_gather(given >> 1)) << 1,
                     given);
    for (uint32_t bit = 0; bit < WORD; bit++) {
      const uint32_t start = ising_run_start(joined, bit);
      assert_int_equal(joined >> start & 1, 0);
      if ((given & ~joined) >> start & 1)
        sites |= (uint32_t)1 << bit;
    }
    assert_int_equal(ising_runs_sites(joined, given & ~joined), sites);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bits),
      cmocka_unit_test(test_boxes_find_the_names),
      cmocka_unit_test(test_tiles_find_the_names),
      cmocka_unit_test(test_a_lost_bond_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

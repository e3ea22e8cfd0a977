/* Clusters by words and runs, for both compilers: how a GPU labels a part of a lattice whose labels
 * fit into the memory of a block of threads.
 *
 * A word is 32 sites of a row, bit i the site 32 X + i; the last one of a row may have fewer. A run
 * is a piece of a word whose sites are joined along x, and only its first site, the start, has a
 * label: the number 32 w + bit of a site that is joined to it and not larger. Numbers are in the
 * order of sites, so that the root of a cluster is its smallest site.
 *
 *     bit       0   1   2   3   4   5   6   7   8
 *     before    o   o---o---o---o   o---o---o---o    runs 0, 1, 5
 *                       |   |           |       |
 *     word      o---o   o---o   o   o---o---o---o    runs 0, 2, 4, 5
 *
 * The first bond to the row before, 2 or 6, gives a run its first label without any search. Bond 3
 * joins what bond 2 has joined and is left out, bond 8 is left to unite two runs: here it finds
 * that they are one.
 *
 * All functions are called for each word of a box; between two of them all words wait. */
#ifndef GPUMC_ISING_CLUSTER_WORDS_H
#define GPUMC_ISING_CLUSTER_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/lattice/divisor.h"

enum { ISING_CLUSTER_WORD = 32, ISING_CLUSTER_AXES = 3 };

/* Returned for a word that is not in the box. */
#define ISING_CLUSTER_NONE UINT32_MAX

/* ---- bits ---- */

/* Return the number of the highest and of the lowest bit that is set; one is. */
GPUMC_HOST_DEVICE static inline uint32_t ising_bit_highest(uint32_t bits)
{
#ifdef __CUDA_ARCH__
  return 31 - (uint32_t)__clz((int)bits);
#else
  return 31 - (uint32_t)__builtin_clz(bits);
#endif
}

GPUMC_HOST_DEVICE static inline uint32_t ising_bit_lowest(uint32_t bits)
{
  return ising_bit_highest(bits & (0u - bits));
}

/* Returns bits 0 .. n - 1, 1 <= n <= 32. */
GPUMC_HOST_DEVICE static inline uint32_t ising_bits_below(uint32_t n)
{
  return UINT32_MAX >> (ISING_CLUSTER_WORD - n);
}

/* Return the bits of 16 sites of a colour as every second one of a word, and back. */
GPUMC_HOST_DEVICE static inline uint32_t ising_bits_spread(uint32_t bits)
{
  bits = (bits | bits << 8) & 0x00ff00ff;
  bits = (bits | bits << 4) & 0x0f0f0f0f;
  bits = (bits | bits << 2) & 0x33333333;
  return (bits | bits << 1) & 0x55555555;
}
GPUMC_HOST_DEVICE static inline uint32_t ising_bits_gather(uint32_t bits)
{
  bits &= 0x55555555;
  bits = (bits | bits >> 1) & 0x33333333;
  bits = (bits | bits >> 2) & 0x0f0f0f0f;
  bits = (bits | bits >> 4) & 0x00ff00ff;
  return (bits | bits >> 8) & 0x0000ffff;
}

/* `joined`: bit i, site i is joined to site i - 1 of the word. Returns the start of a site's run.
 */
GPUMC_HOST_DEVICE static inline uint32_t ising_run_start(uint32_t joined, uint32_t bit)
{
  return ising_bit_highest(~joined & (((uint32_t)2 << bit) - 1));
}

/* Returns the sites of all runs with these starts: a carry runs through each. */
GPUMC_HOST_DEVICE static inline uint32_t ising_runs_sites(uint32_t joined, uint32_t starts)
{
  return starts | (joined & ~(joined + ((starts << 1) & joined)));
}

/* Returns the bonds to another word that join runs: not those beside a bond between the same two
 * runs. */
GPUMC_HOST_DEVICE static inline uint32_t
ising_bonds_needed(uint32_t bonds, uint32_t joined, uint32_t joined_other)
{
  return bonds & ~((bonds << 1) & joined & joined_other);
}

/* ---- boxes ---- */

/* Words of a row, rows and planes: a lattice, or a part of it. Words of arrays are numbered
 * X + row.value (Y + rows.value Z); of them, size[] are in use. Bit d of `around`: the box is all
 * of the lattice along axis d, whose ends are neighbours. */
struct ising_cluster_box {
  struct gpumc_divisor row, rows;
  uint32_t axes;
  uint32_t size[ISING_CLUSTER_AXES];
  uint32_t around;
  uint32_t words;                     /* of a row of the lattice, */
  uint32_t last;                      /* and sites of the last one */
  uint32_t first[ISING_CLUSTER_AXES]; /* word of that row, row and plane where the box begins */
};

/* A word of a box: at[], within it; number, in arrays; sites, those that it has. */
struct ising_cluster_place {
  uint32_t at[ISING_CLUSTER_AXES], number, sites;
};

/* bond[d][words]: bit i, the bond of site i along axis d is active. label, stride: see
 * ising_label_at. */
struct ising_cluster_words {
  uint32_t *bond[ISING_CLUSTER_AXES];
  uint32_t *label;
  uint32_t stride;
};

GPUMC_HOST_DEVICE static inline uint32_t
ising_box_sites(const struct ising_cluster_box *box, uint32_t x)
{
  return box->first[0] + x + 1 == box->words ? ising_bits_below(box->last) : UINT32_MAX;
}

/* Returns the place of word w of a box whose words begin at number `begin` of the arrays. */
GPUMC_HOST_DEVICE static inline struct ising_cluster_place
ising_box_place(const struct ising_cluster_box *box, uint32_t w, uint32_t begin)
{
  struct ising_cluster_place place;
  const uint32_t line = gpumc_divide(w, box->row), z = gpumc_divide(line, box->rows);
  place.at[0] = w - line * box->row.value;
  place.at[1] = line - z * box->rows.value;
  place.at[2] = z;
  place.number = begin + w;
  place.sites = ising_box_sites(box, place.at[0]);
  return place;
}

GPUMC_HOST_DEVICE static inline bool
ising_box_has(const struct ising_cluster_box *box, const struct ising_cluster_place *place)
{
  return place->at[0] < box->size[0] && place->at[1] < box->size[1] && place->at[2] < box->size[2];
}

/* Returns the distance in numbers of two words that are neighbours along an axis. */
GPUMC_HOST_DEVICE static inline uint32_t
ising_box_step(const struct ising_cluster_box *box, uint32_t axis)
{
  return axis == 0 ? 1 : axis == 1 ? box->row.value : box->row.value * box->rows.value;
}

/* Return the number of the word before and after along an axis. */
GPUMC_HOST_DEVICE static inline uint32_t ising_box_before(const struct ising_cluster_box *box,
                                                          const struct ising_cluster_place *place,
                                                          uint32_t axis)
{
  const uint32_t step = ising_box_step(box, axis);
  if (place->at[axis] > 0)
    return place->number - step;
  return (box->around >> axis & 1) != 0 ? place->number + step * (box->size[axis] - 1)
                                        : ISING_CLUSTER_NONE;
}
GPUMC_HOST_DEVICE static inline uint32_t ising_box_after(const struct ising_cluster_box *box,
                                                         const struct ising_cluster_place *place,
                                                         uint32_t axis)
{
  const uint32_t step = ising_box_step(box, axis);
  if (place->at[axis] + 1 < box->size[axis])
    return place->number + step;
  return (box->around >> axis & 1) != 0 ? place->number - step * (box->size[axis] - 1)
                                        : ISING_CLUSTER_NONE;
}

/* Returns the sites that are joined to those before them. */
GPUMC_HOST_DEVICE static inline uint32_t
ising_words_joined(const struct ising_cluster_words *words, uint32_t number, uint32_t sites)
{
  return words->bond[0][number] << 1 & sites;
}

/* ---- labels ---- */

GPUMC_HOST_DEVICE static inline uint32_t ising_label_number(uint32_t word, uint32_t bit)
{
  return word * ISING_CLUSTER_WORD + bit;
}

/* Labels of numbers: of a box, label[32][stride] by bit and word, so that words that are neighbours
 * have theirs in different banks, whichever their bits; or with stride = 0, a constant, in order.
 */
GPUMC_HOST_DEVICE static inline uint32_t *
ising_label_at(uint32_t *label, uint32_t stride, uint32_t number)
{
  return label + (stride == 0 ? number
                              : number % ISING_CLUSTER_WORD * stride + number / ISING_CLUSTER_WORD);
}

/* Reads what other threads may be changing. */
GPUMC_HOST_DEVICE static inline uint32_t
ising_label_now(uint32_t *label, uint32_t stride, uint32_t number)
{
  return *(const volatile uint32_t *)ising_label_at(label, stride, number);
}

/* Sets a label to the smaller of the two and returns what it was. */
GPUMC_HOST_DEVICE static inline uint32_t ising_label_lower(uint32_t *label, uint32_t to)
{
#ifdef __CUDA_ARCH__
  return atomicMin(label, to);
#else
  const uint32_t was = *label;
  *label = was < to ? was : to;
  return was;
#endif
}

GPUMC_HOST_DEVICE static inline uint32_t
ising_label_root(uint32_t *label, uint32_t stride, uint32_t number)
{
  uint32_t to = ising_label_now(label, stride, number);
  while (to != number) {
    number = to;
    to = ising_label_now(label, stride, number);
  }
  return number;
}

/* A root that another thread has just given a smaller label is not one any more: then that label is
 * what is left to unite. */
GPUMC_HOST_DEVICE static inline void
ising_label_unite(uint32_t *label, uint32_t stride, uint32_t one, uint32_t other)
{
  for (;;) {
    one = ising_label_root(label, stride, one);
    other = ising_label_root(label, stride, other);
    if (one == other)
      return;
    const uint32_t larger = one > other ? one : other, smaller = one > other ? other : one;
    one = ising_label_lower(ising_label_at(label, stride, larger), smaller);
    other = smaller;
    if (one == larger)
      return;
  }
}

/* Returns the number of the start of the run of a site of a word with all its sites. */
GPUMC_HOST_DEVICE static inline uint32_t
ising_words_start(const struct ising_cluster_words *words, uint32_t word, uint32_t bit)
{
  return ising_label_number(word, ising_run_start(words->bond[0][word] << 1, bit));
}

/* The bonds of a word to the one before it along an axis. `first`: those by which runs may take
 * their first label, since it is a smaller one; `left`: those not used up. */
struct ising_cluster_link {
  uint32_t word, joined; /* of the word before */
  uint32_t first, left;
};

GPUMC_HOST_DEVICE static inline struct ising_cluster_link
ising_words_link(const struct ising_cluster_box *box, const struct ising_cluster_words *words,
                 const struct ising_cluster_place *place, uint32_t axis, uint32_t joined)
{
  struct ising_cluster_link link = {ISING_CLUSTER_NONE, 0, 0, 0};
  if (axis >= box->axes)
    return link;
  link.word = ising_box_before(box, place, axis);
  if (link.word == ISING_CLUSTER_NONE)
    return link;
  link.joined = words->bond[0][link.word] << 1;
  link.left = ising_bonds_needed(words->bond[axis][link.word], joined, link.joined);
  link.first = place->at[axis] > 0 ? link.left : 0;
  return link;
}

/* Returns the start of the run of the word before that the lowest of some bonds leads to, and takes
 * that bond. */
GPUMC_HOST_DEVICE static inline uint32_t
ising_words_take(struct ising_cluster_link *link, uint32_t bonds)
{
  const uint32_t lowest = bonds & (0u - bonds);
  link->left &= ~lowest;
  return ising_label_number(link->word, ising_run_start(link->joined, ising_bit_highest(lowest)));
}

/* Bonds of a word to those before it that are left to unite runs, by axis; along x, bit 0: the
 * word is one run, joined to the word before and around to the beginning of the row. */
struct ising_cluster_left {
  uint32_t axis[ISING_CLUSTER_AXES];
};

/* Labels the runs that are joined to the word before, or around to the beginning of the row, by
 * these bonds. Returns the starts of the others. */
GPUMC_HOST_DEVICE static inline uint32_t
ising_words_begin_ends(const struct ising_cluster_box *box, const struct ising_cluster_words *words,
                       const struct ising_cluster_place *place, uint32_t starts,
                       uint32_t *left_along_x)
{
  const uint32_t number = ising_label_number(place->number, 0);
  const bool after = place->at[0] > 0 && words->bond[0][place->number - 1] >> 31 != 0;
  const bool around = (box->around & 1) != 0 && place->at[0] + 1 == box->size[0] &&
                      (words->bond[0][place->number] >> (box->last - 1) & 1) != 0;
  if (after) {
    *ising_label_at(words->label, words->stride, number) =
        ising_words_start(words, place->number - 1, ISING_CLUSTER_WORD - 1);
    starts &= starts - 1;
  }
  *left_along_x = around && starts == 0;
  if (!around || starts == 0)
    return starts;
  const uint32_t last = ising_bit_highest(starts);
  *ising_label_at(words->label, words->stride, number + last) =
      ising_label_number(place->number - place->at[0], 0);
  return starts & ~((uint32_t)1 << last);
}

/* Gives the runs of a word their first labels. Returns the bonds that are left, which along y and z
 * also take the place of those of the words before. */
GPUMC_HOST_DEVICE static inline struct ising_cluster_left
ising_words_begin(const struct ising_cluster_box *box, const struct ising_cluster_words *words,
                  const struct ising_cluster_place *place)
{
  const uint32_t joined = ising_words_joined(words, place->number, place->sites);
  const uint32_t all = place->sites & ~joined;
  struct ising_cluster_link y = ising_words_link(box, words, place, 1, joined);
  struct ising_cluster_link z = ising_words_link(box, words, place, 2, joined);
  struct ising_cluster_left left;
  for (uint32_t starts = ising_words_begin_ends(box, words, place, all, &left.axis[0]); starts != 0;
       starts &= starts - 1) {
    const uint32_t start = starts & (0u - starts), later = all & (0u - (start << 1));
    const uint32_t run = (later & (0u - later)) - start;
    const uint32_t number = ising_label_number(place->number, ising_bit_highest(start));
    uint32_t label = number;
    if ((y.first & run) != 0)
      label = ising_words_take(&y, y.first & run);
    else if ((z.first & run) != 0)
      label = ising_words_take(&z, z.first & run);
    *ising_label_at(words->label, words->stride, number) = label;
  }
  left.axis[1] = y.left;
  left.axis[2] = z.left;
  if (y.word != ISING_CLUSTER_NONE)
    words->bond[1][y.word] = y.left;
  if (z.word != ISING_CLUSTER_NONE)
    words->bond[2][z.word] = z.left;
  return left;
}

/* Returns what ising_words_begin has returned. */
GPUMC_HOST_DEVICE static inline struct ising_cluster_left
ising_words_left(const struct ising_cluster_box *box, const struct ising_cluster_words *words,
                 const struct ising_cluster_place *place)
{
  const uint32_t n = place->number, joined = ising_words_joined(words, n, place->sites);
  struct ising_cluster_left left = {{0, 0, 0}};
  left.axis[0] = (box->around & 1) != 0 && place->at[0] > 0 && place->at[0] + 1 == box->size[0] &&
                 (place->sites & ~joined) == 1 && words->bond[0][n - 1] >> 31 != 0 &&
                 (words->bond[0][n] >> (box->last - 1) & 1) != 0;
  for (uint32_t axis = 1; axis < ISING_CLUSTER_AXES; axis++) {
    const uint32_t before =
        axis < box->axes ? ising_box_before(box, place, axis) : ISING_CLUSTER_NONE;
    if (before != ISING_CLUSTER_NONE)
      left.axis[axis] = words->bond[axis][before];
  }
  return left;
}

/* Unites two runs by one of the bonds that are left. */
GPUMC_HOST_DEVICE static inline void
ising_words_unite(const struct ising_cluster_box *box, const struct ising_cluster_words *words,
                  const struct ising_cluster_place *place, uint32_t axis, uint32_t bit)
{
  uint32_t other = ising_label_number(place->number - place->at[0], 0);
  if (axis == 1)
    other = ising_words_start(words, ising_box_before(box, place, 1), bit);
  if (axis == 2)
    other = ising_words_start(words, ising_box_before(box, place, 2), bit);
  ising_label_unite(words->label, words->stride, ising_words_start(words, place->number, bit),
                    other);
}

/* The same by all of them. */
GPUMC_HOST_DEVICE static inline void
ising_words_join(const struct ising_cluster_box *box, const struct ising_cluster_words *words,
                 const struct ising_cluster_place *place, const struct ising_cluster_left *left)
{
  for (uint32_t axis = 0; axis < ISING_CLUSTER_AXES; axis++)
    for (uint32_t bits = left->axis[axis]; bits != 0; bits &= bits - 1)
      ising_words_unite(box, words, place, axis, ising_bit_lowest(bits));
}

/* Returns where the label of a site of a word of a box is. */
GPUMC_HOST_DEVICE static inline uint32_t *
ising_words_label(const struct ising_cluster_words *words, uint32_t word, uint32_t bit)
{
  return words->label + (size_t)bit * words->stride + word;
}

/* Replaces the labels of the word's runs by those of their labels. Returns whether any changed: if
 * none of any word did, all are roots. All sites are read, which takes less time than to find
 * starts. */
GPUMC_HOST_DEVICE static inline bool ising_words_shorten(const struct ising_cluster_words *words,
                                                         const struct ising_cluster_place *place)
{
  const uint32_t starts = place->sites & ~ising_words_joined(words, place->number, place->sites);
  bool changed = false;
#ifdef __CUDA_ARCH__
#pragma unroll 8
#endif
  for (uint32_t bit = 0; bit < ISING_CLUSTER_WORD; bit++) {
    const bool is = (starts >> bit & 1) != 0;
    uint32_t *label = ising_words_label(words, place->number, bit);
    const uint32_t label_now = *(volatile uint32_t *)label;
    const uint32_t to = is ? label_now : ising_label_number(place->number, bit);
    const uint32_t next = ising_label_now(words->label, words->stride, to);
    const bool is_shorter = is && next != to;
    if (is_shorter)
      (void)ising_label_lower(label, next);
    changed = changed || is_shorter;
  }
  return changed;
}

#endif

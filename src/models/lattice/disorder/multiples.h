/* Couplings and fields as whole multiples of a common unit, if they have one: the energies of a
 * lattice are then multiples of it, too, and its spectrum consists of levels.
 *
 * A number stands for the decimal of the fewest places that is read as it: 0.1 for one tenth. The
 * unit is the largest decimal of which all numbers are multiples: 0.1 of 1 and 0.3, 0.25 of 0.5 and
 * 0.75. Every step is exact, so that neither order nor machine make a difference. */
#ifndef GPUMC_LATTICE_MULTIPLES_H
#define GPUMC_LATTICE_MULTIPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers with more digits, or decimal places, have no unit, nor have those of which a sample adds
 * up to more units: results of arithmetic, such as Gaussian numbers. */
enum { LATTICE_UNIT_DIGITS = 15, LATTICE_UNIT_PLACES = 22 };
#define LATTICE_MULTIPLES_MOST ((int64_t)1 << 40)

/* size 10^-places; size = 0: that of zeros alone. */
struct lattice_unit {
  int64_t size;
  int places;
};

/* Returns 10^places, exact. */
double lattice_unit_parts(struct lattice_unit unit);

/* Numbers of samples that are given one after the other; zeroed to begin with. */
struct lattice_multiples {
  bool none; /* there is no common unit, and nothing else applies */
  struct lattice_unit unit;
  int64_t sum; /* of the sizes in the sample that is being given, in units */
  /* Of the samples that have ended: the largest sum, and whether there were even and odd ones. */
  int64_t largest;
  bool even, odd;
};

void lattice_multiples_add(struct lattice_multiples *multiples, double number);
void lattice_multiples_end_sample(struct lattice_multiples *multiples);
/* Returns those of samples of `count` numbers of the same size. */
struct lattice_multiples lattice_multiples_alike(double size, size_t count);
/* Adds to each sample of `all` other numbers that it has: every pair of sums may occur. */
void lattice_multiples_join(struct lattice_multiples *all, struct lattice_multiples other);

#endif

/* Couplings and fields as whole multiples of a common unit. */
#include "models/lattice/disorder/multiples.h"

#include <math.h>

/* By places: all of them are exact. */
static const double power_of_ten[LATTICE_UNIT_PLACES + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

double lattice_unit_parts(struct lattice_unit unit)
{
  return power_of_ten[unit.places];
}

/* Finds the decimal of the fewest places that is read as `size`: a quotient of two exact numbers is
 * rounded as a decimal is when it is read. */
static bool find_unit(double size, struct lattice_unit *unit)
{
  const double most = power_of_ten[LATTICE_UNIT_DIGITS];
  for (int places = 0; places <= LATTICE_UNIT_PLACES; places++) {
    const double power = power_of_ten[places], digits = rint(size * power);
    if (!(digits < most))
      return false;
    if (digits > 0.0 && digits / power == size) {
      *unit = (struct lattice_unit){(int64_t)digits, places};
      return true;
    }
  }
  return false;
}

/* Returns the largest unit of which both are multiples: Euclid's algorithm, whose first division,
 * of the size with fewer places, goes place by place. */
static struct lattice_unit common_unit(struct lattice_unit a, struct lattice_unit b)
{
  if (a.size == 0 || b.size == 0)
    return a.size == 0 ? b : a;
  const struct lattice_unit coarse = a.places < b.places ? a : b,
                            fine = a.places < b.places ? b : a;
  int64_t left = coarse.size % fine.size;
  for (int place = coarse.places; place < fine.places; place++)
    left = left * 10 % fine.size;
  struct lattice_unit common = fine;
  while (left != 0) {
    const int64_t next = common.size % left;
    common.size = left;
    left = next;
  }
  while (common.places > 0 && common.size % 10 == 0) {
    common.size /= 10;
    common.places--;
  }
  return common;
}

/* Returns a size in units of which it is a multiple, or more than LATTICE_MULTIPLES_MOST if it is
 * more. */
static int64_t in_units(struct lattice_unit size, struct lattice_unit unit)
{
  const double multiple =
      (double)size.size * power_of_ten[unit.places - size.places] / (double)unit.size;
  return multiple > (double)LATTICE_MULTIPLES_MOST ? LATTICE_MULTIPLES_MOST + 1
                                                   : (int64_t)rint(multiple);
}

/* Adds a count of units, if the sum has an end. */
static void raise_sum(struct lattice_multiples *multiples, int64_t *sum, int64_t units)
{
  *sum += units;
  multiples->none = multiples->none || *sum > LATTICE_MULTIPLES_MOST;
}

/* Counts in a unit of which the present one is a multiple. */
static void refine(struct lattice_multiples *multiples, struct lattice_unit unit)
{
  const int64_t times = multiples->unit.size == 0 ? 1 : in_units(multiples->unit, unit);
  multiples->unit = unit;
  if ((double)times * fmax((double)multiples->sum, (double)multiples->largest) >
      (double)LATTICE_MULTIPLES_MOST) {
    multiples->none = true;
    return;
  }
  multiples->sum *= times;
  multiples->largest *= times;
  if (times % 2 == 0) {
    multiples->even = multiples->even || multiples->odd;
    multiples->odd = false;
  }
}

void lattice_multiples_add(struct lattice_multiples *multiples, double number)
{
  struct lattice_unit size;
  if (multiples->none || number == 0.0)
    return;
  if (!find_unit(fabs(number), &size)) {
    multiples->none = true;
    return;
  }
  if (multiples->unit.places != size.places || multiples->unit.size == 0 ||
      size.size % multiples->unit.size != 0)
    refine(multiples, common_unit(multiples->unit, size));
  if (!multiples->none)
    raise_sum(multiples, &multiples->sum, in_units(size, multiples->unit));
}

void lattice_multiples_end_sample(struct lattice_multiples *multiples)
{
  multiples->largest = multiples->sum > multiples->largest ? multiples->sum : multiples->largest;
  *(multiples->sum % 2 == 0 ? &multiples->even : &multiples->odd) = true;
  multiples->sum = 0;
}

struct lattice_multiples lattice_multiples_alike(double size, size_t count)
{
  struct lattice_multiples multiples = {0};
  lattice_multiples_add(&multiples, size);
  if (count > (size_t)LATTICE_MULTIPLES_MOST)
    multiples.none = true;
  else
    multiples.sum *= (int64_t)count;
  lattice_multiples_end_sample(&multiples);
  return multiples;
}

void lattice_multiples_join(struct lattice_multiples *all, struct lattice_multiples other)
{
  const struct lattice_unit unit = common_unit(all->unit, other.unit);
  all->none = all->none || other.none;
  if (all->none)
    return;
  refine(all, unit);
  refine(&other, unit);
  /* Samples without such numbers have an even sum of them, 0. */
  const bool even = all->even || !all->odd, odd = all->odd;
  const bool other_even = other.even || !other.odd;
  all->even = (even && other_even) || (odd && other.odd);
  all->odd = (even && other.odd) || (odd && other_even);
  raise_sum(all, &all->largest, other.largest);
  all->none = all->none || other.none;
}

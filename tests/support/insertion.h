/* The pressure of hard disks, from the places where one more disk would fit.
 *
 * In states of M disks, all with equal weight, let V_0 be the area in which the centre of
 * another disk overlaps none, and S_0 the length of its border. Given the others, disk M + 1 of a
 * system of M + 1 has equal weight everywhere in V_0, so that (R. J. Speedy, J. Chem. Soc. Faraday
 * Trans. 2 76, 693 (1980))
 *
 *   P V / ((M + 1) kT) = 1 + (sigma / 4) <S_0> / <V_0>
 *
 * is exact for M + 1 disks in that box if no two images of the same disk are in contact.
 * Both are estimated by trials of points: evenly spread ones for V_0, and for S_0 some in contact
 * with each disk. Shares no arithmetic with kernels. */
#ifndef TESTS_SUPPORT_INSERTION_H
#define TESTS_SUPPORT_INSERTION_H

#include <stddef.h>
#include <stdint.h>

struct insertion {
  double area, border; /* estimates of V_0 and S_0 of one state */
};

/* Estimates V_0 and S_0 for `disks` disks of the given diameter at place[][2] in a box of at least
 * three diameters, with one trial for each square of side `spacing` and the given number in contact
 * with each disk. `seed`: seeds the trials. */
struct insertion insertion_of(const double length[2], size_t disks, const double *place,
                              double diameter, double spacing, int contacts, uint64_t seed);

#endif

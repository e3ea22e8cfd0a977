/* The channels of hard disks, computed from sums over a replica: for both compilers, by the same
 * arithmetic on every device. */
#ifndef GPUMC_HARD_DISKS_CHANNELS_H
#define GPUMC_HARD_DISKS_CHANNELS_H

#include "models/hard_disks/hard_disks_order.h"
#include "models/hard_disks/hard_disks_pressure.h"
#include "models/hard_disks/hard_disks_volume.h"

/* Those of bond order are measured on request. HARD_DISKS_NUMBERS single numbers come first;
 * profiles, which hard_disks_profiles.c measures, follow. */
enum hard_disks_channel {
  HARD_DISKS_VOLUME, /* Lx Ly */
  /* 1 if the last move of the volume was accepted, -1 if it was refused because the grid has no
   * such box, otherwise 0. */
  HARD_DISKS_VOLUME_MOVED,
  /* Sums over disks of the weights of their scalings (hard_disks_pressure.h), and over pairs of
   * those of their gaps, at all levels. */
  HARD_DISKS_SCALING,
  HARD_DISKS_CONTACT = HARD_DISKS_SCALING + HARD_DISKS_SCALING_LEVELS,
  HARD_DISKS_PSI6_REAL =
      HARD_DISKS_CONTACT +
      HARD_DISKS_CONTACT_LEVELS, /* sums over disks of psi_6 (hard_disks_order.h) */
  HARD_DISKS_PSI6_IMAG,
  HARD_DISKS_PSI6,       /* the length of that sum */
  HARD_DISKS_PSI6_2,     /* its square / N */
  HARD_DISKS_PSI6_LOCAL, /* sum over disks of |psi_6| */
  /* |sum over disks of psi_6 exp(i k r)|^2 / N, k = 2 pi / L along x and y */
  HARD_DISKS_PSI6_WAVE_X,
  HARD_DISKS_PSI6_WAVE_Y,
  HARD_DISKS_NUMBERS,
  HARD_DISKS_CONTACT_HISTOGRAM = HARD_DISKS_NUMBERS, /* pairs in the bins of `contact` */
  HARD_DISKS_PAIR_CORRELATION,                       /* pairs in bins of distance */
  HARD_DISKS_BOND_CORRELATION,                       /* sums over these pairs of Re psi_6* psi_6 */
  HARD_DISKS_STRUCTURE_FACTOR,                       /* |sum over disks of exp(i k r)|^2 / N */
  HARD_DISKS_CHANNELS
};

/* Sums over the disks of a replica, integers, so that they do not depend on the order. */
struct hard_disks_sums {
  uint64_t disks; /* counted: as many as there should be, unless one was lost */
  /* Weights in quanta of the channels; each pair counts twice, once for each disk. */
  int64_t contact2[HARD_DISKS_CONTACT_LEVELS];
  int64_t scaling[HARD_DISKS_SCALING_LEVELS]; /* likewise, once */
  int64_t psi6[2], local;                     /* in units of 2^-HARD_DISKS_ORDER_BITS */
  int64_t wave[2][2]; /* of psi_6 exp(i k r), k along x and y: [axis][part], likewise */
};

/* The units of an instance. */
struct hard_disks_units {
  double sites, quantum[HARD_DISKS_NUMBERS];
};

/* Returns whether a channel is one of the pressures. */
GPUMC_HOST_DEVICE static inline bool hard_disks_is_of_pressure(int channel)
{
  return channel >= HARD_DISKS_SCALING && channel < HARD_DISKS_PSI6_REAL;
}

/* Adds psi_6 exp(2 pi i at / side) along one axis of a disk, in units of 2^-HARD_DISKS_ORDER_BITS,
 * to the sums. at, side: hard_disks_at(), hard_disks_side(). */
GPUMC_HOST_DEVICE static inline void
hard_disks_add_wave(const int64_t psi6[2], int64_t at, int64_t side, int64_t wave[2])
{
  const double real = (double)psi6[0], imaginary = (double)psi6[1];
  double cosine, sine;
  gpumc_fine_circle(at, side, &cosine, &sine);
  wave[0] += (int64_t)rint(real * cosine - imaginary * sine);
  wave[1] += (int64_t)rint(real * sine + imaginary * cosine);
}

/* Returns |sum|^2 of a sum of complex numbers in units of 2^-HARD_DISKS_ORDER_BITS. */
GPUMC_HOST_DEVICE static inline double hard_disks_square_of(const int64_t sum[2])
{
  const double unit = 1.0 / (double)((int64_t)1 << HARD_DISKS_ORDER_BITS);
  const double real = unit * (double)sum[0], imaginary = unit * (double)sum[1];
  return real * real + imaginary * imaginary;
}

/* Writes the numbers of a replica on a grid to channel[c][at] for those that are not NULL. */
GPUMC_HOST_DEVICE static inline void
hard_disks_record(const struct hard_disks_units *units, const struct hard_disks_box *grid,
                  const struct hard_disks_head *head, const struct hard_disks_sums *sums,
                  int64_t *const *channel, size_t at)
{
  const double unit = 1.0 / (double)((int64_t)1 << HARD_DISKS_ORDER_BITS);
  const double square = hard_disks_square_of(sums->psi6);
  double value[HARD_DISKS_NUMBERS];
  value[HARD_DISKS_VOLUME] = hard_disks_volume_with(grid, head->width);
  value[HARD_DISKS_VOLUME_MOVED] = head->last_move == HARD_DISKS_ACCEPTED ? units->sites
                                   : head->last_move == HARD_DISKS_BEYOND ? -units->sites
                                                                          : 0.0;
  value[HARD_DISKS_PSI6_REAL] = unit * (double)sums->psi6[0];
  value[HARD_DISKS_PSI6_IMAG] = unit * (double)sums->psi6[1];
  value[HARD_DISKS_PSI6] = sqrt(square);
  value[HARD_DISKS_PSI6_2] = square / units->sites;
  value[HARD_DISKS_PSI6_LOCAL] = unit * (double)sums->local;
  value[HARD_DISKS_PSI6_WAVE_X] = hard_disks_square_of(sums->wave[0]) / units->sites;
  value[HARD_DISKS_PSI6_WAVE_Y] = hard_disks_square_of(sums->wave[1]) / units->sites;
  for (int c = 0; c < HARD_DISKS_NUMBERS; c++)
    if (channel[c] != NULL)
      channel[c][at] = c >= HARD_DISKS_PSI6_REAL || c < HARD_DISKS_SCALING
                           ? (int64_t)rint(value[c] / units->quantum[c])
                       : c >= HARD_DISKS_CONTACT ? sums->contact2[c - HARD_DISKS_CONTACT] / 2
                                                 : sums->scaling[c - HARD_DISKS_SCALING];
}

#endif

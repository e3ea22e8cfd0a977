/* The channels of hard disks, and how they follow from sums over a replica: for both compilers, by
 * the same arithmetic on every device. */
#ifndef GPUMC_HARD_DISKS_CHANNELS_H
#define GPUMC_HARD_DISKS_CHANNELS_H

#include "models/hard_disks/hard_disks_order.h"
#include "models/hard_disks/hard_disks_pressure.h"

/* Those of bond order are measured on request. */
enum hard_disks_channel {
  HARD_DISKS_VOLUME,  /* Lx Ly */
  HARD_DISKS_SCALING, /* sum over disks of the weights of their scalings (hard_disks_pressure.h) */
  HARD_DISKS_CONTACT, /* sum over pairs of the weights of their distances */
  HARD_DISKS_PSI6_REAL, /* sums over disks of psi_6 (hard_disks_order.h) */
  HARD_DISKS_PSI6_IMAG,
  HARD_DISKS_PSI6,       /* the length of that sum */
  HARD_DISKS_PSI6_2,     /* its square / N */
  HARD_DISKS_PSI6_LOCAL, /* sum over disks of |psi_6| */
  HARD_DISKS_CHANNELS
};

/* Sums over the disks of a replica, integers, so that they depend on no order. */
struct hard_disks_sums {
  uint64_t disks; /* counted: as many as there must be, unless one was lost */
  int64_t
      contact2; /* weights in quanta of the channel; each pair counts twice, once for each disk */
  int64_t scaling;        /* weights in quanta of the channel */
  int64_t psi6[2], local; /* in units of 2^-HARD_DISKS_ORDER_BITS */
};

/* Of an instance. */
struct hard_disks_units {
  double sites, volume, quantum[HARD_DISKS_CHANNELS];
};

/* The channels of a replica into channel[c][at] of those that are not NULL. */
GPUMC_HOST_DEVICE static inline void hard_disks_record(const struct hard_disks_units *units,
                                                       const struct hard_disks_sums *sums,
                                                       int64_t *const *channel, size_t at)
{
  const double unit = 1.0 / (double)((int64_t)1 << HARD_DISKS_ORDER_BITS);
  const double real = unit * (double)sums->psi6[0], imaginary = unit * (double)sums->psi6[1];
  const double square = real * real + imaginary * imaginary;
  double value[HARD_DISKS_CHANNELS];
  value[HARD_DISKS_VOLUME] = units->volume;
  value[HARD_DISKS_PSI6_REAL] = real;
  value[HARD_DISKS_PSI6_IMAG] = imaginary;
  value[HARD_DISKS_PSI6] = sqrt(square);
  value[HARD_DISKS_PSI6_2] = square / units->sites;
  value[HARD_DISKS_PSI6_LOCAL] = unit * (double)sums->local;
  for (int c = 0; c < HARD_DISKS_CHANNELS; c++)
    if (channel[c] != NULL)
      channel[c][at] = c == HARD_DISKS_SCALING   ? sums->scaling
                       : c == HARD_DISKS_CONTACT ? sums->contact2 / 2
                                                 : (int64_t)rint(value[c] / units->quantum[c]);
}

#endif

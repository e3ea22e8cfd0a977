/* Parallel tempering on CUDA: what the host logic (tempering_cuda.c) and the kernels
 * (tempering_cuda.cu) share. */
#ifndef GPUMC_CORE_TEMPERING_CUDA_H
#define GPUMC_CORE_TEMPERING_CUDA_H

#include "algorithms/pt/tempering.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A sum: of the elements i, i + T S, i + 2 T S, .. of `values`, or of the products of any two of
 * them, into element i. */
struct gpumc_term_work {
  const int64_t *values;
  uint32_t count; /* of the copies, or pairs, whose values there are */
  bool products;
  enum gpumc_moment_choice moment;
  double scale;
};

struct gpumc_histogram_work {
  const int64_t *values; /* [pairs][temperatures][samples] */
  uint64_t *bins;
  int64_t lowest, spacing;
  uint32_t count; /* of bins */
};

/* What both kernels get; arrays as in struct gpumc_tempering and its outcome. */
struct gpumc_tempering_work {
  void *stream;
  uint32_t threads; /* of a block */
  uint32_t temperatures, copies, samples, words, pairs, strata;
  uint32_t n_terms, n_channels, n_histograms; /* that are kept */
  int64_t *channel[GPUMC_CHANNELS_MAXIMUM];
  const int64_t *conjugate; /* the one of these that decides exchanges */
  uint32_t *swap, *walker;
  const double *step;
  double *sums;
  uint64_t *accepted, *labelled, *from_hottest;
  uint32_t *round_trips;
  int64_t *lowest;
  struct gpumc_term_work term[GPUMC_TERMS_MAXIMUM];
  struct gpumc_histogram_work histogram[GPUMC_OVERLAPS];
};

/* One round. */
struct gpumc_exchange_work {
  struct gpumc_tempering_work tempering;
  struct gpumc_random random;
  uint32_t number;
};

GPUMC_MUST_CHECK enum gpumc_status
gpumc_tempering_exchange_cuda(const struct gpumc_exchange_work *work, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_tempering_accumulate_cuda(const struct gpumc_tempering_work *work, bool histogram,
                                struct gpumc_error *error);

extern const struct gpumc_tempering_ops gpumc_tempering_cuda;

#ifdef __cplusplus
}
#endif

#endif

/* The slow, simple parallel tempering: one place after another. It shares only the exchange
 * decision and the value of a term with algorithms/pt/pt_rules.h. */
#ifndef TESTS_SUPPORT_TEMPERING_REFERENCE_H
#define TESTS_SUPPORT_TEMPERING_REFERENCE_H

#include "algorithms/pt/pt_tempering.h"

enum tempering_extreme { TEMPERING_NO_EXTREME, TEMPERING_HOTTEST, TEMPERING_COLDEST };

struct tempering_walker {
  uint32_t number;
  enum tempering_extreme last; /* the extreme it visited last */
  bool was_hot;                /* it has been at the hottest temperature */
};

/* Arrays as in struct pt_tempering; every channel and overlap is kept. */
struct tempering_reference {
  struct pt_tempering_plan plan;
  double *step; /* [temperatures] */
  int64_t *channel[GPUMC_CHANNELS_MAXIMUM], *overlap[GPUMC_PAIRS_MAXIMUM];
  uint32_t *swap;
  struct tempering_walker *walker;
  uint64_t *bins[GPUMC_PAIRS_MAXIMUM];
  /* As in struct pt_outcome, since the last publication: */
  uint64_t measurements, rounds[2];
  double *sums;
  uint64_t *accepted, *labelled, *from_hottest;
  int64_t *lowest;
  uint32_t *round_trips;
};

void tempering_reference_init(struct tempering_reference *reference,
                              const struct pt_tempering_plan *plan, const double *beta,
                              double quantum);
void tempering_reference_free(struct tempering_reference *reference);

/* Draws random channels within +-bound[c], from the number `time`, and overlaps within their
 * histograms, or +-1000. */
void tempering_reference_measure(struct tempering_reference *reference, const int64_t *bound,
                                 uint32_t time);
void tempering_reference_accumulate(struct tempering_reference *reference, bool histogram);
void tempering_reference_exchange(struct tempering_reference *reference, struct gpumc_random random,
                                  uint32_t round);
/* Leaves the state that publishing leaves. */
void tempering_reference_clear(struct tempering_reference *reference);

#endif

/* Parallel tempering: the order of events that follows from the settings, the temperatures and
 * their tuning, and the averaged terms. */
#include "algorithms/pt/pt_state.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/numerics/elementary.h"
#include "core/simulation/ladder.h"

/* ---- the order of events ---- */

/* Updates between two checks for signals and time limits: a tenth of a second to a second on two
 * processors. */
static const double unit_updates = 0x1p31;

double pt_sweep_updates(const struct pt_settings *settings, const struct gpumc_model *model)
{
  return (double)settings->copies * (double)settings->temperatures * (double)settings->samples *
         (double)model->sites;
}

uint64_t pt_unit_sweeps(const struct pt_settings *settings, const struct gpumc_model *model,
                        size_t processes)
{
  const double own = pt_sweep_updates(settings, model) / (double)processes;
  const uint64_t sweeps = (uint64_t)fmax(1.0, unit_updates / own);
  return sweeps < settings->round_sweeps ? sweeps : sweeps - sweeps % settings->round_sweeps;
}

/* Updates of a GPU in more than twice the time that its host needs at the end of a bin for one
 * sample, block and temperature, a tenth of a microsecond. */
static const double digest_updates = 0x1p19;

uint64_t pt_sweeps_ahead(const struct pt_settings *settings, const struct gpumc_model *model)
{
  const double places = (double)settings->temperatures * (double)settings->samples;
  const double updates = digest_updates * (double)settings->blocks * places;
  return (uint64_t)ceil(updates / pt_sweep_updates(settings, model));
}

static void append(struct pt_timeline *timeline, enum pt_phase phase, size_t index, uint64_t rounds)
{
  if (rounds == 0)
    return;
  timeline->stretch[timeline->count++] = (struct pt_stretch){phase, index, rounds};
  timeline->rounds += rounds;
}

/* Iteration i is 2^i shares long of a total of 2^iterations - 1, and long enough for all neighbours
 * to exchange: even and odd pairs alternate. */
static void append_tuning(const struct pt_settings *settings, struct pt_timeline *timeline)
{
  const double shares = (double)(((uint64_t)1 << settings->tuning_iterations) - 1);
  for (size_t i = 0; i < settings->tuning_iterations; i++) {
    const double share = (double)settings->tuning_rounds * (double)((uint64_t)1 << i) / shares;
    append(timeline, PT_TUNING, i, (uint64_t)fmax(ceil(share), PT_TUNING_ROUNDS_MINIMUM));
  }
}

/* Divides the measurements begin + 1 .. end into blocks that differ by at most one measurement. */
static void append_bin(const struct pt_settings *settings, struct pt_timeline *timeline,
                       uint64_t begin, uint64_t end)
{
  const uint64_t length = end - begin;
  const uint64_t blocks = length < settings->blocks ? length : settings->blocks;
  for (uint64_t b = 0; b < blocks; b++)
    append(timeline, PT_MEASUREMENT, timeline->bins,
           (length * (b + 1) / blocks - length * b / blocks) * settings->measure_rounds);
  timeline->bins++;
}

enum gpumc_status pt_timeline_make(const struct pt_settings *settings, struct pt_timeline *timeline,
                                   struct gpumc_error *error)
{
  enum { BINS_MAXIMUM = 32 };
  memset(timeline, 0, sizeof *timeline);
  const size_t most = settings->tuning_iterations + 1 + BINS_MAXIMUM * settings->blocks;
  GPUMC_TRY(gpumc_allocate_array(&timeline->stretch, most, "order of events", error));
  int halvings = 0;
  while (settings->measurements >> (halvings + 1) > 0)
    halvings++;
  append_tuning(settings, timeline);
  append(timeline, PT_THERMALIZATION, 0, settings->thermalization_rounds);
  timeline->lead = timeline->rounds;
  append_bin(settings, timeline, 0, settings->measurements >> halvings);
  for (int k = halvings; k > 0; k--)
    append_bin(settings, timeline, settings->measurements >> k, settings->measurements >> (k - 1));
  return GPUMC_OK;
}

void pt_timeline_free(struct pt_timeline *timeline)
{
  free(timeline->stretch);
  memset(timeline, 0, sizeof *timeline);
}

/* ---- the temperatures, and their tuning to equal acceptance ----
 *
 * For energies of Gaussian distribution an exchange is accepted with the probability erfc(l/2), l
 * growing linearly with the distance in beta (Kofke, J. Chem. Phys. 117, 6911 (2002)). So lengths l
 * of the current steps are derived from their acceptance, and the whole length is divided anew into
 * equal parts, l being uniform within each current step. If the distribution is not Gaussian, the
 * steps still end up with equal acceptance, since only that is a fixed point. */

bool pt_ladder_ascends(const double *beta, size_t temperatures)
{
  bool ascends = isfinite(beta[0]) && isfinite(beta[temperatures - 1]);
  for (size_t t = 0; t + 1 < temperatures && ascends; t++)
    ascends = beta[t] < beta[t + 1];
  return ascends;
}

double pt_acceptance(const uint64_t rounds[2], const uint64_t *accepted, double places,
                     size_t temperatures, size_t t)
{
  if (t + 1 == temperatures || rounds[t % 2] == 0)
    return NAN;
  return (double)accepted[t] / ((double)rounds[t % 2] * places);
}

/* Returns x with erfc(x) = p, to 0.2 % (Winitzki 2008): from our own elementary functions, since it
 * decides temperatures. */
static double inverse_erfc(double p)
{
  const double a = 0.147;
  const double logarithm = gpumc_log(p * (2.0 - p));
  const double half = 2.0 / (GPUMC_PI * a) + 0.5 * logarithm;
  return sqrt(sqrt(half * half - logarithm / a) - half);
}

/* Half an exchange is added to each outcome, so that no length is infinite, and none 0: if nearly
 * all are accepted, erfc(x) = 1 - 2 x/sqrt(pi) is more accurate than the formula with its
 * rounding. */
static double step_length(const struct pt_counts *counts, double places, size_t t)
{
  const double tried = (double)counts->rounds[t % 2] * places;
  const double accepted = (double)counts->accepted[t];
  const double least = 0.5 * sqrt(GPUMC_PI) * ((tried - accepted + 0.5) / (tried + 1.0));
  return fmax(inverse_erfc((accepted + 0.5) / (tried + 1.0)), least);
}

void pt_ladder_adjust(const struct pt_counts *counts, double places, size_t temperatures,
                      const double *present, double *beta)
{
  const size_t steps = temperatures - 1;
  double whole = 0.0, before = 0.0, length = step_length(counts, places, 0);
  size_t t = 0;
  for (size_t i = 0; i < steps; i++)
    whole += step_length(counts, places, i);
  beta[0] = present[0];
  beta[steps] = present[steps];
  for (size_t i = 1; i < steps; i++) {
    const double target = whole * (double)i / (double)steps;
    while (before + length < target && t + 1 < steps) {
      before += length;
      length = step_length(counts, places, ++t);
    }
    const double share = fmin((target - before) / length, 1.0);
    beta[i] = fma(share, present[t + 1] - present[t], present[t]);
  }
  if (!pt_ladder_ascends(beta, temperatures))
    memcpy(beta, present, temperatures * sizeof *beta);
}

/* ---- the averages that are formed of each sample ---- */

static struct pt_term term_of(const struct gpumc_mean *mean, const struct gpumc_model *model)
{
  return (struct pt_term){.source = mean->source,
                          .index = mean->index,
                          .moment = gpumc_mean_sum(mean),
                          .scale = gpumc_mean_unit(mean, model)};
}

static bool is_compared(const struct gpumc_observables *observables, const struct gpumc_mean *mean)
{
  return mean->watch == GPUMC_WATCH_ALWAYS ||
         (mean->watch == GPUMC_WATCH_WITHOUT_PAIRS && !observables->pairs);
}

void pt_terms_make(const struct gpumc_model *model, const struct gpumc_observables *observables,
                   struct pt_terms *terms)
{
  memset(terms, 0, sizeof *terms);
  terms->count = observables->n_means;
  terms->tracked = gpumc_observables_power(observables, model->ops->tracked, 1);
  terms->tracked2 = gpumc_observables_power(observables, model->ops->tracked, 2);
  for (size_t k = 0; k < terms->count; k++) {
    terms->term[k] = term_of(observables->mean[k], model);
    if (is_compared(observables, observables->mean[k])) {
      assert(terms->n_compared < PT_COMPARED_MAXIMUM);
      terms->compared[terms->n_compared++] = k;
    }
  }
  while (terms->identity < observables->n_quantities &&
         observables->quantity[terms->identity].what->identity == NULL)
    terms->identity++;
}

/* Returns whether a mean that would improve the value is not measured. */
static bool is_incomplete(const struct gpumc_selected_quantity *quantity)
{
  bool incomplete = false;
  for (size_t i = 0; i < quantity->what->n_uses; i++)
    incomplete = incomplete || quantity->uses[i] == GPUMC_NOT_MEASURED;
  return incomplete;
}

/* Fluctuations of a sample about an average of n measurements are low by 2 tau/n. */
void pt_labels_make(const struct gpumc_model *model, const struct gpumc_observables *observables,
                    struct pt_labels *labels)
{
  memset(labels, 0, sizeof *labels);
  for (size_t q = 0; q < observables->n_quantities; q++) {
    const struct gpumc_selected_quantity *quantity = &observables->quantity[q];
    struct gpumc_label *label = &labels->of[q];
    *label = gpumc_quantity_label(observables, q);
    if (!model->disorder || !quantity->what->of_each || !is_incomplete(quantity))
      continue;
    snprintf(labels->biased[q], sizeof labels->biased[q],
             "%s, too low by 2 tau/n for n measurements", label->long_name);
    label->long_name = labels->biased[q];
  }
}

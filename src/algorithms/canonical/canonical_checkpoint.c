/* Canonical runs: the sums to and from a checkpoint, of temperature m as "canonical/m/...". */
#include <stdio.h>
#include <string.h>

#include "algorithms/canonical/canonical_state.h"
#include "core/storage/checkpoint_parts.h"

enum { LONGEST_NAME = 64 };

static const char *prefix_of(size_t m, char text[static LONGEST_NAME])
{
  snprintf(text, LONGEST_NAME, "canonical/%zu", m);
  return text;
}

static size_t chain_count(const struct canonical *canonical)
{
  return canonical->settings.chains * canonical->quantities.n_series;
}

enum { PARTS_MAXIMUM = 6 };

/* What a temperature's sums consist of; halves only where every replica has a sample. Returns how
 * many there are. */
static size_t
list_parts(const struct canonical *canonical, size_t m, struct gpumc_part part[PARTS_MAXIMUM])
{
  struct canonical_sums *sums = &canonical->sums[m];
  const size_t width = canonical_vector_width(canonical, m);
  const size_t replicas = canonical->settings.replicas;
  const struct gpumc_part all[PARTS_MAXIMUM] = {
      {"reference", GPUMC_INT64, 1, 1, &sums->reference},
      {"series", GPUMC_UINT64, chain_count(canonical), GPUMC_SERIES_WORDS, sums->chain},
      {"bins_state", GPUMC_UINT64, GPUMC_BINS_STATE, 1, sums->bins.state},
      {"bins", GPUMC_FLOAT64, GPUMC_BINS_MOST, width, sums->bins.sums},
      {"replicas", GPUMC_FLOAT64, width, replicas, sums->replica},
      {"halves", GPUMC_FLOAT64, width, replicas, sums->half},
  };
  memcpy(part, all, sizeof all);
  return sums->half != NULL ? PARTS_MAXIMUM : PARTS_MAXIMUM - 1;
}

static enum gpumc_status save_sums(const struct canonical *canonical, size_t m,
                                   struct gpumc_checkpoint_writer *writer,
                                   struct gpumc_error *error)
{
  struct gpumc_part part[PARTS_MAXIMUM];
  char prefix[LONGEST_NAME];
  const size_t parts = list_parts(canonical, m, part);
  return gpumc_parts_save(part, parts, NULL, writer, prefix_of(m, prefix), error);
}

static enum gpumc_status load_sums(struct canonical *canonical, size_t m,
                                   struct gpumc_checkpoint_reader *reader,
                                   struct gpumc_error *error)
{
  struct gpumc_part part[PARTS_MAXIMUM];
  char prefix[LONGEST_NAME];
  const size_t parts = list_parts(canonical, m, part);
  enum gpumc_status status =
      gpumc_parts_load(part, parts, NULL, reader, prefix_of(m, prefix), error);
  return status == GPUMC_OK ? gpumc_bins_check(&canonical->sums[m].bins, error) : status;
}

enum gpumc_status
canonical_save(const void *state, struct gpumc_checkpoint_writer *writer, struct gpumc_error *error)
{
  const struct canonical *canonical = state;
  enum gpumc_status status = gpumc_checkpoint_put(writer, "canonical/measured", GPUMC_UINT64, 1, 1,
                                                  &canonical->measured, error);
  for (size_t m = 0; m < canonical->betas.count && status == GPUMC_OK; m++)
    status = save_sums(canonical, m, writer, error);
  return status;
}

static uint64_t values_in(const struct gpumc_bins *bins)
{
  return bins->state[GPUMC_BINS_COUNT] * bins->state[GPUMC_BINS_LENGTH] +
         bins->state[GPUMC_BINS_FILLED];
}

/* Rows that the recorder must have. */
static bool rows_fit(const struct canonical *canonical)
{
  const struct gpumc_recorder *recorder = canonical->context.recorder;
  const uint64_t sweeps = canonical->measured * canonical->settings.interval;
  bool good = true;
  for (size_t m = 0; m < canonical->betas.count && canonical->settings.series; m++)
    good = good && gpumc_recorder_count(recorder, canonical->table[m]) == canonical->measured;
  return good && gpumc_configurations_count(&canonical->configurations) ==
                     canonical_configurations_rows(canonical, (uint32_t)sweeps);
}

/* A checkpoint that is whole may still be wrong. */
static bool fits(const struct canonical *canonical)
{
  const struct gpumc_ensemble *ensemble = canonical->context.ensemble;
  bool good = ensemble->runs == 0 || ensemble->runs == canonical->betas.count;
  good = good && ensemble->first_run == 0 &&
         ensemble->time <= canonical_end(&canonical->settings) &&
         canonical->measured == canonical_measurements(&canonical->settings, ensemble->time);
  good = good && rows_fit(canonical);
  for (size_t m = 0; m < canonical->betas.count && good; m++) {
    const struct canonical_sums *sums = &canonical->sums[m];
    good = values_in(&sums->bins) == canonical->measured;
    for (size_t i = 0; i < chain_count(canonical) && good; i++)
      good = sums->chain[i].level[0].bins == canonical->measured &&
             sums->chain[i].merged == (canonical->measured > 0);
  }
  return good;
}

enum gpumc_status canonical_load(void *state, struct gpumc_checkpoint_reader *reader,
                                 bool *finished, struct gpumc_error *error)
{
  struct canonical *canonical = state;
  enum gpumc_status status = gpumc_checkpoint_get_rows(reader, "canonical/measured", GPUMC_UINT64,
                                                       0, 1, 1, &canonical->measured, error);
  for (size_t m = 0; m < canonical->betas.count && status == GPUMC_OK; m++)
    status = load_sums(canonical, m, reader, error);
  if (status != GPUMC_OK)
    return status;
  if (!fits(canonical))
    return gpumc_error_set(error, GPUMC_FAILURE,
                           "the checkpoint's counters, sums and rows contradict each other");
  *finished = canonical->context.ensemble->runs > 0 &&
              canonical->context.ensemble->time == canonical_end(&canonical->settings);
  return GPUMC_OK;
}

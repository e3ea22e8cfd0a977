/* Parallel tempering: its state to and from a checkpoint. */
#include <string.h>

#include "algorithms/pt/pt_state.h"
#include "core/storage/checkpoint.h"

enum {
  COUNTER_STRETCH,
  COUNTER_DONE,
  COUNTER_ROUND,
  COUNTER_SWEPT,
  COUNTER_BEGUN,
  COUNTER_BLOCKS,
  COUNTER_BIN_ROUNDS,                      /* of even and of odd pairs */
  COUNTER_ROUNDS = COUNTER_BIN_ROUNDS + 2, /* the same */
  N_COUNTERS = COUNTER_ROUNDS + 2
};

enum { PARTS_MAXIMUM = 11 + GPUMC_OVERLAPS };

/* There may be no overlaps of some kinds. */
static size_t list_parts(const struct pt *pt, uint64_t counters[N_COUNTERS],
                         struct gpumc_part part[PARTS_MAXIMUM])
{
  static const char *const histograms[GPUMC_OVERLAPS] = {"histogram_spin", "histogram_link",
                                                         "histogram_wave"};
  const struct pt_settings *settings = &pt->settings;
  const size_t temperatures = settings->temperatures, samples = settings->samples;
  const struct gpumc_part all[] = {
      {"counters", GPUMC_UINT64, N_COUNTERS, 1, counters},
      {"beta", GPUMC_FLOAT64, temperatures, 1, pt->value},
      {"measurements", GPUMC_UINT64, settings->blocks, 1, pt->bin.measurements},
      {"sums", GPUMC_FLOAT64, settings->blocks * pt->terms.count * temperatures, samples,
       pt->bin.sums},
      {"accepted_in_bin", GPUMC_UINT64, temperatures, 1, pt->bin.accepted},
      {"accepted", GPUMC_UINT64, temperatures, 1, pt->counts.accepted},
      {"labelled", GPUMC_UINT64, temperatures, 1, pt->counts.labelled},
      {"from_hottest", GPUMC_UINT64, temperatures, 1, pt->counts.from_hottest},
      {"round_trips", GPUMC_UINT64, samples, 1, pt->counts.round_trips},
      {"lowest", GPUMC_INT64, samples, 1, pt->lowest},
      {"history", GPUMC_FLOAT64, PT_BINS_COMPARED * pt->terms.n_compared * temperatures, samples,
       pt->history},
  };
  const size_t rows = pt_histogram_rows(settings) * temperatures;
  size_t count = sizeof all / sizeof *all;
  memcpy(part, all, sizeof all);
  for (size_t k = 0; k < GPUMC_OVERLAPS; k++)
    if (pt->histogram[k] != NULL)
      part[count++] = (struct gpumc_part){histograms[k], GPUMC_UINT64, rows,
                                          pt->tempering.plan.histogram[k].bins, pt->histogram[k]};
  return count;
}

enum gpumc_status
pt_save(const void *state, struct gpumc_checkpoint_writer *writer, struct gpumc_error *error)
{
  const struct pt *pt = state;
  uint64_t counters[N_COUNTERS] = {
      [COUNTER_STRETCH] = pt->stretch,
      [COUNTER_DONE] = pt->done,
      [COUNTER_ROUND] = pt->round,
      [COUNTER_SWEPT] = pt->swept,
      [COUNTER_BEGUN] = pt->begun,
      [COUNTER_BLOCKS] = pt->bin.blocks,
      [COUNTER_BIN_ROUNDS] = pt->bin.rounds[0],
      [COUNTER_BIN_ROUNDS + 1] = pt->bin.rounds[1],
      [COUNTER_ROUNDS] = pt->counts.rounds[0],
      [COUNTER_ROUNDS + 1] = pt->counts.rounds[1],
  };
  struct gpumc_part part[PARTS_MAXIMUM];
  const size_t parts = list_parts(pt, counters, part);
  enum gpumc_status status = gpumc_parts_save(part, parts, NULL, writer, "pt", error);
  return status == GPUMC_OK ? pt_tempering_save(&pt->tempering, writer, "pt/tempering", error)
                            : status;
}

/* Rounds of the stretches before the present one. */
static uint64_t rounds_before(const struct pt_timeline *timeline, uint64_t stretch)
{
  uint64_t rounds = 0;
  for (uint64_t i = 0; i < stretch; i++)
    rounds += timeline->stretch[i].rounds;
  return rounds;
}

/* A checkpoint that is whole may still be wrong: what indexes arrays must fit them. */
static enum gpumc_status
check(const struct pt *pt, const uint64_t counters[N_COUNTERS], struct gpumc_error *error)
{
  const struct pt_timeline *timeline = &pt->timeline;
  const uint64_t stretch = counters[COUNTER_STRETCH], done = counters[COUNTER_DONE];
  const struct gpumc_ensemble *ensemble = pt->context.ensemble;
  bool fits = stretch <= timeline->count && counters[COUNTER_BLOCKS] <= pt->settings.blocks;
  fits = fits && (stretch < timeline->count ? done < timeline->stretch[stretch].rounds : done == 0);
  fits = fits && counters[COUNTER_SWEPT] < pt->settings.round_sweeps &&
         (stretch < timeline->count || counters[COUNTER_SWEPT] == 0);
  fits = fits && counters[COUNTER_ROUND] == rounds_before(timeline, stretch) + done;
  fits = fits && gpumc_configurations_count(&pt->configurations) ==
                     pt_configurations_rows(pt, counters[COUNTER_ROUND]);
  if (fits && counters[COUNTER_BEGUN] != 0)
    fits = ensemble->runs == pt->settings.copies * pt->settings.temperatures;
  if (fits && pt_ladder_ascends(pt->value, pt->settings.temperatures))
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_FAILURE,
                         "the checkpoint's counters, temperatures, replicas and rows contradict "
                         "each other");
}

enum gpumc_status pt_load(void *state, struct gpumc_checkpoint_reader *reader, bool *finished,
                          struct gpumc_error *error)
{
  struct pt *pt = state;
  uint64_t counters[N_COUNTERS];
  struct gpumc_part part[PARTS_MAXIMUM];
  const size_t parts = list_parts(pt, counters, part);
  enum gpumc_status status = gpumc_parts_load(part, parts, NULL, reader, "pt", error);
  if (status == GPUMC_OK)
    status = check(pt, counters, error);
  if (status == GPUMC_OK)
    status = pt_tempering_load(&pt->tempering, reader, "pt/tempering", error);
  if (status != GPUMC_OK)
    return status;
  pt->stretch = counters[COUNTER_STRETCH];
  pt->done = counters[COUNTER_DONE];
  pt->round = counters[COUNTER_ROUND];
  pt->swept = (uint32_t)counters[COUNTER_SWEPT];
  pt->begun = counters[COUNTER_BEGUN] != 0;
  pt->bin.blocks = counters[COUNTER_BLOCKS];
  memcpy(pt->bin.rounds, counters + COUNTER_BIN_ROUNDS, sizeof pt->bin.rounds);
  memcpy(pt->counts.rounds, counters + COUNTER_ROUNDS, sizeof pt->counts.rounds);
  *finished = pt->stretch == pt->timeline.count;
  return pt_set_temperatures(pt, error);
}

/* What `gpumc bench` measures: one model instance, and cases of kernel, instruction set, threads.
 */
#ifndef GPUMC_CLI_BENCH_CASE_H
#define GPUMC_CLI_BENCH_CASE_H

#include "cli/arguments.h"
#include "core/numerics/isa.h"
#include "core/simulation/model.h"

struct bench_settings {
  const char *device; /* as in a configuration */
  const char *model;
  const char *shape;              /* "64x64"; NULL: the default of the bench or of the model */
  const char *variant;            /* of the kernel; NULL: all */
  const char *update;             /* a move; NULL: the first of each kernel */
  struct cli_config_options keys; /* of the model; no path */
  struct gpumc_plugin_set plugins;
  size_t population;
  uint32_t sweeps;
  double control; /* value of the model's first control: the inverse temperature, or another */
  double seconds;
};

/* The instance that all cases share. */
struct bench_bed {
  const struct gpumc_model_ops *ops;
  struct gpumc_model model;
  cJSON *params;
};

/* Updates, or proposals of kernels that count them, per second, of the repeats after one that is
 * not counted, unless it is enough. */
struct bench_rate {
  double fastest, median;
};

/* `isa` and `threads` are of the CPU only. */
struct bench_case {
  const struct gpumc_kernel_ops *kernel;
  enum gpumc_isa isa;
  uint32_t rounds;
  int threads;
  uint32_t hits; /* of kernels that have the key; else 0 */
  struct bench_rate rate;
  double bytes_per_site; /* of the ensemble */
};

/* The model may be that of a plugin in the search path. GPUMC_INVALID for an unknown model or
 * mistakes in its keys. Free also after a failure. */
GPUMC_MUST_CHECK enum gpumc_status
bench_bed_make(struct bench_settings *settings, struct bench_bed *bed, struct gpumc_error *error);
void bench_bed_free(struct bench_bed *bed);
/* Whether a kernel is among those to be measured on devices of a kind ("cpu", "cuda"). */
bool bench_wants(const struct bench_settings *settings, const char *kind,
                 const struct gpumc_kernel_ops *kernel);
/* The name of the control that stays at settings->control; NULL where no kernel that is measured
 * makes moves under one. */
const char *
bench_control(const struct bench_settings *settings, const struct bench_bed *bed, const char *kind);
/* GPUMC_INVALID, saying why, where none of them takes the instance. */
GPUMC_MUST_CHECK enum gpumc_status bench_check_kernels(const struct bench_settings *settings,
                                                       const struct bench_bed *bed,
                                                       const char *kind, struct gpumc_error *error);
/* Fills rate and bytes_per_site. The kernel is one of settings->device. */
GPUMC_MUST_CHECK enum gpumc_status
bench_measure(const struct bench_settings *settings, const struct bench_bed *bed,
              struct bench_case *measured, struct gpumc_error *error);

#endif

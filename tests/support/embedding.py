"""A program that runs a configuration with the library."""
EMBEDDING = """\
#include <stdio.h>

#include "core/storage/hdf5_file.h"
#include "core/simulation/registry.h"
#include "core/storage/result_info.h"
#include "core/run/run.h"

int main(int argc, char **argv)
{
  struct gpumc_config config = {0};
  struct gpumc_error error = {0};
  struct gpumc_result result = {0};
  struct gpumc_run_options options = {.threads = 1, .command_line = argv[0]};
  gpumc_hdf5_prepare_program();
  enum gpumc_status status = gpumc_config_load(argv[argc - 1], NULL, 0, &config, &error);
  if (status == GPUMC_OK)
    status = gpumc_run_task(&config, &config.tasks[0], &options, &error);
  if (status == GPUMC_OK)
    status = gpumc_result_read(config.tasks[0].output, &result, &error);
  printf("%s: %zu runs\\n", gpumc_error_text(&error), result.n_runs);
  gpumc_result_free(&result);
  gpumc_config_free(&config);
  gpumc_error_free(&error);
  return (int)status;
}
"""

/* Thresholds of the runs' temperatures for the CUDA kernels that compare bit by bit. */
#include "models/ising/multispin/multispin_temperature_cuda.h"

#include <string.h>

#include "models/ising/ising.h"
#include "models/ising/ising_host_cuda.h"

/* With disorder J and h are whole quanta. */
struct ising_multispin_physics ising_multispin_physics_of(const struct gpumc_ensemble *ensemble)
{
  const struct ising_parameters *parameters = ising_parameters(ensemble->model);
  const struct ising_disorder_traits traits = ising_disorder_traits(ensemble->model);
  const bool heat_bath = ensemble->plan.update == GPUMC_HEAT_BATH;
  struct ising_multispin_physics physics = {
      .coupling = parameters->coupling,
      .neighbours = (uint32_t)(2 * parameters->lattice.dimension),
      .random_fields = traits.fields,
      .plain = ising_is_plain(ensemble->model, &ensemble->plan) && !heat_bath,
      .heat_bath = heat_bath,
  };
  if (traits.couplings || traits.fields) {
    const double quantum = ensemble->model->quantum[ISING_ENERGY];
    physics.coupling = parameters->coupling_quanta * quantum;
    physics.width = traits.field_width * quantum;
  }
  return physics;
}

/* Masks of the one temperature of all runs. */
static void set_rows(struct ising_multispin_device_rule *rule, const double control[ISING_CONTROLS])
{
  const struct ising_multispin_thresholds thresholds =
      ising_multispin_thresholds(&rule->physics, control[ISING_BETA], control[ISING_FIELD]);
  rule->zeros = ISING_MULTISPIN_PLANES;
  for (uint32_t row = 0; row < ISING_MULTISPIN_ROWS; row++)
    for (uint32_t column = 0; column < ISING_MULTISPIN_COLUMNS; column++) {
      rule->rows[row][column] = ising_multispin_mask(&rule->physics, &thresholds, row, column);
      if (rule->rows[row][column] != 0 && row < rule->zeros)
        rule->zeros = row;
    }
}

/* The parts of rule->thresholds, which the device may write. */
static enum gpumc_status work_out(const struct gpumc_ensemble *ensemble, const double *control,
                                  const struct ising_multispin_device_rule *rule,
                                  struct gpumc_error *error)
{
  const size_t runs = ensemble->runs;
  enum gpumc_status status = GPUMC_OK;
  struct ising_multispin_temperatures part = {
      .physics = rule->physics, .thresholds = rule->thresholds, .stream = ensemble->device->stream};
  for (size_t first = 0; first < runs && status == GPUMC_OK; first += part.count) {
    const size_t rest = runs - first;
    part.first = (uint32_t)first;
    part.count =
        (uint32_t)(rest < ISING_MULTISPIN_TEMPERATURES ? rest : ISING_MULTISPIN_TEMPERATURES);
    for (size_t i = 0; i < part.count; i++) {
      const double *run = ising_controls_of(control, first + i);
      part.at[i] = (struct ising_multispin_temperature){run[ISING_BETA], run[ISING_FIELD]};
    }
    status = ising_multispin_work_out(&part, error);
  }
  return status;
}

enum gpumc_status ising_multispin_set_temperatures(const struct gpumc_ensemble *ensemble,
                                                   const double *control, double *known,
                                                   struct ising_multispin_device_rule *rule,
                                                   struct gpumc_error *error)
{
  const size_t bytes = ensemble->runs * ISING_CONTROLS * sizeof *control;
  if (!rule->physics.plain || rule->physics.neighbours != 2 * 2 ||
      !ising_one_temperature(ensemble, control))
    rule->each = 1;
  if (!rule->each) {
    set_rows(rule, control);
    return GPUMC_OK;
  }
  if (memcmp(known, control, bytes) == 0)
    return GPUMC_OK;
  enum gpumc_status status = work_out(ensemble, control, rule, error);
  if (status == GPUMC_OK)
    memcpy(known, control, bytes);
  return status;
}

/* Tables of the multispin kernel on a GPU, made on the host; and the thresholds of the runs'
 * temperatures for the kernels that compare bit by bit, multispin and packed. */
#include "models/ising/multispin/multispin_gpu.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "models/ising/ising.h"
#include "models/ising/ising_host_gpu.h"
#include "models/ising/multispin/multispin_tables.h"
#include "models/lattice/replicas_gpu.h"

enum { PART_BYTES = 256 }; /* parts of the table begin at multiples of it */

static_assert((int)ISING_MULTISPIN_ABOVE == (int)GPUMC_ROW_BEFORE &&
                  (int)ISING_MULTISPIN_BELOW == (int)GPUMC_ROW_AFTER &&
                  (int)ISING_MULTISPIN_SAME == (int)GPUMC_SAME_INDEX &&
                  (int)ISING_MULTISPIN_SIDE == (int)GPUMC_SIDE &&
                  (int)ISING_MULTISPIN_BEFORE == (int)GPUMC_PLANE_BEFORE &&
                  (int)ISING_MULTISPIN_BEHIND == (int)GPUMC_PLANE_AFTER,
              "the arrays of signs are in the order of the neighbours");

static size_t after(size_t place, size_t bytes)
{
  return place + lattice_parts(bytes, PART_BYTES) * PART_BYTES;
}

struct ising_multispin_table
ising_multispin_table_of(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  const struct lattice_disorder_traits traits = ising_disorder_traits(model);
  const size_t length = ising_wave_of(model).length;
  struct ising_multispin_table table = {.sets = ising_multispin_sign_groups(plan)};
  if (traits.couplings || traits.fields)
    table.signs_words = (2 * lattice->dimension + 1) * lattice->colour;
  if (traits.fields)
    table.turned_words = lattice_parts(model->sites, 8) * 8;
  table.turned = after(table.signs, table.sets * table.signs_words * sizeof(uint32_t));
  table.cosine = after(table.turned, table.sets * table.turned_words * sizeof(uint32_t));
  table.sine = after(table.cosine, length * sizeof(int32_t));
  if (lattice->dimension == 3 && lattice->row % 2 != 0 && lattice->colour <= UINT16_MAX)
    table.n_pairs = lattice->colour / 2;
  table.pairs = after(table.sine, length * sizeof(int32_t));
  table.thresholds = after(table.pairs, table.n_pairs * sizeof(struct ising_multispin_pair_sites));
  table.bytes = after(table.thresholds, plan->runs * sizeof(struct ising_multispin_thresholds));
  return table;
}

struct ising_multispin_disorder ising_multispin_disorder_of(const struct gpumc_ensemble *ensemble)
{
  const struct ising_multispin_table table =
      ising_multispin_table_of(ensemble->model, &ensemble->plan);
  struct ising_multispin_disorder disorder = {0};
  if (table.signs_words > 0)
    disorder.signs = lattice_gpu_table(ensemble, table.signs);
  if (table.turned_words > 0)
    disorder.turned = lattice_gpu_table(ensemble, table.turned);
  if (table.sets > 1) {
    disorder.signs_stride = table.signs_words;
    disorder.turned_stride = table.turned_words;
  }
  return disorder;
}

/* The words of a set, signs[2 d + 1][colour] and turned[sites]. */
struct set_words {
  const struct gpumc_checkerboard *lattice;
  uint32_t *signs, *turned;
};

/* As seen by the site: from colour 0, and at the side. */
static void set_bond(void *words, const struct gpumc_checkerboard_place *place,
                     enum gpumc_neighbour direction, uint32_t lanes)
{
  const struct set_words *to = words;
  const size_t n = to->lattice->colour;
  if (place->colour == 0)
    to->signs[direction * n + place->k] |= lanes;
  else if (direction == GPUMC_SIDE)
    to->signs[2 * to->lattice->dimension * n + place->k] |= lanes;
}

static void set_turned(void *words, const struct gpumc_checkerboard_place *place, uint32_t lanes)
{
  const struct set_words *to = words;
  to->turned[place->colour * to->lattice->colour + place->k] |= lanes;
}

static enum gpumc_status bring_set(const struct gpumc_ensemble *ensemble,
                                   const struct ising_multispin_table *table,
                                   struct set_words *words, size_t set, struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  const size_t signs = table->signs_words * sizeof(uint32_t);
  const size_t turned = table->turned_words * sizeof(uint32_t);
  const struct ising_multispin_signs_to to = {
      .words = words, .turned = true, .bond = set_bond, .field = set_turned};
  memset(words->signs, 0, signs);
  memset(words->turned, 0, turned);
  GPUMC_TRY(ising_multispin_signs_of_group(ensemble->model, &ensemble->plan, set, &to, error));
  GPUMC_TRY(device->ops->copy_to_device(
      device, lattice_gpu_table(ensemble, table->signs + set * signs), words->signs, signs, error));
  if (turned == 0)
    return GPUMC_OK;
  return device->ops->copy_to_device(device,
                                     lattice_gpu_table(ensemble, table->turned + set * turned),
                                     words->turned, turned, error);
}

static enum gpumc_status bring_disorder(const struct gpumc_ensemble *ensemble,
                                        const struct ising_multispin_table *table,
                                        struct gpumc_error *error)
{
  struct set_words words = {.lattice = &ising_parameters(ensemble->model)->lattice};
  enum gpumc_status status;
  GPUMC_TRY_OUT(
      status, gpumc_allocate_array(&words.signs, table->signs_words, "words of couplings", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&words.turned, table->turned_words + 1,
                                             "words of fields", error));
  for (size_t set = 0; set < table->sets; set++)
    GPUMC_TRY_OUT(status, bring_set(ensemble, table, &words, set, error));
out:
  free(words.signs);
  free(words.turned);
  return status;
}

struct ising_multispin_pair_sites
ising_multispin_pair_of(const struct gpumc_checkerboard *lattice, size_t number)
{
  const size_t n = lattice->colour;
  struct ising_multispin_pair_sites pair;
  uint32_t around[GPUMC_NEIGHBOURS_MAXIMUM] = {0};
  for (size_t j = 0; j < 2; j++) {
    gpumc_checkerboard_positions_around(lattice, n + 2 * number + j, around);
    pair.above[j] = (uint16_t)around[GPUMC_ROW_BEFORE];
    pair.below[j] = (uint16_t)around[GPUMC_ROW_AFTER];
    pair.side[1][j] = (uint16_t)around[GPUMC_SIDE];
    gpumc_checkerboard_positions_around(lattice, 2 * number + j, around);
    pair.side[0][j] = (uint16_t)(around[GPUMC_SIDE] - n);
  }
  return pair;
}

static enum gpumc_status bring_pairs(const struct gpumc_ensemble *ensemble,
                                     const struct ising_multispin_table *table,
                                     struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  struct ising_multispin_pair_sites *pairs;
  GPUMC_TRY(gpumc_allocate_array(&pairs, table->n_pairs, "pairs of words", error));
  for (size_t i = 0; i < table->n_pairs; i++)
    pairs[i] = ising_multispin_pair_of(&ising_parameters(ensemble->model)->lattice, i);
  const enum gpumc_status status =
      device->ops->copy_to_device(device, lattice_gpu_table(ensemble, table->pairs), pairs,
                                  table->n_pairs * sizeof *pairs, error);
  free(pairs);
  return status;
}

enum gpumc_status ising_multispin_table_fill(const struct gpumc_ensemble *ensemble,
                                             int64_t wave_sum[2], struct gpumc_error *error)
{
  const struct ising_multispin_table table =
      ising_multispin_table_of(ensemble->model, &ensemble->plan);
  GPUMC_TRY(ising_multispin_check(ensemble->model, error));
  GPUMC_TRY(ising_bring_waves(ensemble, lattice_gpu_table(ensemble, table.cosine),
                              lattice_gpu_table(ensemble, table.sine), wave_sum, error));
  if (table.n_pairs > 0)
    GPUMC_TRY(bring_pairs(ensemble, &table, error));
  if (table.signs_words > 0)
    GPUMC_TRY(bring_disorder(ensemble, &table, error));
  return GPUMC_OK;
}

/* With disorder J and h are whole quanta. */
struct ising_multispin_physics ising_multispin_physics_of(const struct gpumc_ensemble *ensemble)
{
  const struct ising_parameters *parameters = ising_parameters(ensemble->model);
  const struct lattice_disorder_traits traits = ising_disorder_traits(ensemble->model);
  const bool heat_bath = ensemble->plan.move == ISING_MOVE_HEAT_BATH;
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

/* Sets the masks of the one temperature of all runs. */
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

/* Computes the parts of rule->thresholds, which the device may write. */
static enum gpumc_status work_out(const struct gpumc_ensemble *ensemble, const double *control,
                                  const struct ising_multispin_device_rule *rule,
                                  struct gpumc_error *error)
{
  const size_t runs = ensemble->runs;
  struct ising_multispin_temperatures part = {
      .physics = rule->physics, .thresholds = rule->thresholds, .stream = ensemble->device->stream};
  for (size_t first = 0; first < runs; first += part.count) {
    const size_t rest = runs - first;
    part.first = (uint32_t)first;
    part.count =
        (uint32_t)(rest < ISING_MULTISPIN_TEMPERATURES ? rest : ISING_MULTISPIN_TEMPERATURES);
    for (size_t i = 0; i < part.count; i++) {
      const double *run = ising_controls_of(control, first + i);
      part.at[i] = (struct ising_multispin_temperature){run[ISING_BETA], run[ISING_FIELD]};
    }
    GPUMC_TRY(ising_multispin_work_out(&part, error));
  }
  return GPUMC_OK;
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
  rule->ready = 1;
  if (!rule->each) {
    set_rows(rule, control);
    return GPUMC_OK;
  }
  ising_known_refresh(&ensemble->plan, known);
  if (memcmp(known, control, bytes) == 0)
    return GPUMC_OK;
  rule->ready = 0;
  GPUMC_TRY(work_out(ensemble, control, rule, error));
  memcpy(known, control, bytes);
  return GPUMC_OK;
}

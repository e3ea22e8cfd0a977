/* Tables of the multispin kernel on a GPU, made on the host. */
#include "models/ising/multispin/multispin_table_cuda.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "models/ising/ising.h"
#include "models/ising/ising_host_cuda.h"
#include "models/lattice/checkerboard_neighbour.h"

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
  return place + ising_parts(bytes, PART_BYTES) * PART_BYTES;
}

struct ising_multispin_table
ising_multispin_table_of(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  const struct ising_disorder_traits traits = ising_disorder_traits(model);
  const size_t length = ising_wave_of(model).length;
  struct ising_multispin_table table = {
      .sets = plan->samples == 1 ? 1 : ising_parts(plan->samples, ISING_MULTISPIN_LANES)};
  if (traits.couplings || traits.fields)
    table.signs_words = (2 * lattice->dimension + 1) * lattice->colour;
  if (traits.fields)
    table.turned_words = ising_parts(model->sites, 8) * 8;
  table.turned = after(table.signs, table.sets * table.signs_words * sizeof(uint32_t));
  table.cosine = after(table.turned, table.sets * table.turned_words * sizeof(uint32_t));
  table.sine = after(table.cosine, length * sizeof(int32_t));
  table.thresholds = after(table.sine, length * sizeof(int32_t));
  table.bytes = after(table.thresholds, plan->runs * sizeof(struct ising_multispin_thresholds));
  return table;
}

struct ising_multispin_disorder ising_multispin_disorder_of(const struct gpumc_ensemble *ensemble)
{
  const struct ising_multispin_table table =
      ising_multispin_table_of(ensemble->model, &ensemble->plan);
  struct ising_multispin_disorder disorder = {0};
  if (table.signs_words > 0)
    disorder.signs = ising_storage_table(ensemble, table.signs);
  if (table.turned_words > 0)
    disorder.turned = ising_storage_table(ensemble, table.turned);
  if (table.sets > 1) {
    disorder.signs_stride = table.signs_words;
    disorder.turned_stride = table.turned_words;
  }
  return disorder;
}

/* A sample on its way into the words of a set, signs[2 d + 1][colour] and turned[sites]. */
struct sample {
  const struct gpumc_checkerboard *lattice;
  bool fields, negative; /* random fields; J < 0 */
  int32_t *coupling, *field;
  uint32_t *signs, *turned;
};

static bool is_turned(const struct sample *sample, size_t site)
{
  return sample->fields && sample->field[site] < 0;
}

/* A bond against J, as the site sees it: from colour 0, and at the side. */
static void set_sign(const struct sample *sample, const struct gpumc_checkerboard_place *place,
                     enum gpumc_neighbour direction, uint32_t lanes)
{
  const size_t n = sample->lattice->colour;
  if (place->colour == 0)
    sample->signs[direction * n + place->k] |= lanes;
  else if (direction == GPUMC_SIDE)
    sample->signs[2 * sample->lattice->dimension * n + place->k] |= lanes;
}

/* Bonds are as they are once spins in fields below 0 are turned over. */
static void add_site(const struct sample *sample, size_t site, uint32_t lanes)
{
  const struct gpumc_checkerboard *lattice = sample->lattice;
  const struct gpumc_checkerboard_place place = gpumc_checkerboard_place(lattice, site);
  if (is_turned(sample, site))
    sample->turned[place.colour * lattice->colour + place.k] |= lanes;
  for (size_t axis = 0; axis < lattice->dimension; axis++) {
    const size_t other = gpumc_checkerboard_next(lattice, site, axis);
    const struct gpumc_checkerboard_place next = gpumc_checkerboard_place(lattice, other);
    const bool against =
        (sample->coupling[site * lattice->dimension + axis] < 0) != sample->negative;
    if (against == (is_turned(sample, site) != is_turned(sample, other)))
      continue;
    set_sign(sample, &place, gpumc_checkerboard_towards(&place, axis, true), lanes);
    set_sign(sample, &next, gpumc_checkerboard_towards(&next, axis, false), lanes);
  }
}

/* The samples of one set: 32 from 32 `set` on, or the only one in all lanes. */
static enum gpumc_status add_samples(const struct gpumc_ensemble *ensemble,
                                     const struct sample *sample, size_t set,
                                     struct gpumc_error *error)
{
  const struct gpumc_ensemble_plan *plan = &ensemble->plan;
  const size_t first = set * ISING_MULTISPIN_LANES;
  enum gpumc_status status = GPUMC_OK;
  for (size_t lane = 0;
       lane < ISING_MULTISPIN_LANES && first + lane < plan->samples && status == GPUMC_OK; lane++) {
    status = ising_disorder_sample(ensemble->model, first + lane, sample->coupling, sample->field,
                                   error);
    for (size_t i = 0; status == GPUMC_OK && i < ensemble->model->sites; i++)
      add_site(sample, i, plan->samples == 1 ? UINT32_MAX : (uint32_t)1 << lane);
  }
  return status;
}

static enum gpumc_status
bring_set(const struct gpumc_ensemble *ensemble, const struct ising_multispin_table *table,
          const struct sample *sample, size_t set, struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  const size_t signs = table->signs_words * sizeof(uint32_t);
  const size_t turned = table->turned_words * sizeof(uint32_t);
  memset(sample->signs, 0, signs);
  memset(sample->turned, 0, turned);
  enum gpumc_status status = add_samples(ensemble, sample, set, error);
  if (status == GPUMC_OK)
    status = device->ops->copy_to_device(device,
                                         ising_storage_table(ensemble, table->signs + set * signs),
                                         sample->signs, signs, error);
  if (status == GPUMC_OK && turned > 0)
    status = device->ops->copy_to_device(
        device, ising_storage_table(ensemble, table->turned + set * turned), sample->turned, turned,
        error);
  return status;
}

static enum gpumc_status bring_disorder(const struct gpumc_ensemble *ensemble,
                                        const struct ising_multispin_table *table,
                                        struct gpumc_error *error)
{
  const struct ising_parameters *parameters = ising_parameters(ensemble->model);
  const struct gpumc_checkerboard *lattice = &parameters->lattice;
  const size_t sites = ensemble->model->sites;
  struct sample sample = {.lattice = lattice,
                          .fields = table->turned_words > 0,
                          .negative = parameters->coupling_quanta < 0.0};
  enum gpumc_status status = gpumc_allocate_array(&sample.coupling, sites * lattice->dimension,
                                                  "couplings of a sample", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&sample.field, sites, "fields of a sample", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&sample.signs, table->signs_words, "words of couplings", error);
  if (status == GPUMC_OK)
    status =
        gpumc_allocate_array(&sample.turned, table->turned_words + 1, "words of fields", error);
  for (size_t set = 0; set < table->sets && status == GPUMC_OK; set++)
    status = bring_set(ensemble, table, &sample, set, error);
  free(sample.coupling);
  free(sample.field);
  free(sample.signs);
  free(sample.turned);
  return status;
}

enum gpumc_status ising_multispin_table_fill(const struct gpumc_ensemble *ensemble,
                                             int64_t wave_sum[2], struct gpumc_error *error)
{
  const struct ising_multispin_table table =
      ising_multispin_table_of(ensemble->model, &ensemble->plan);
  const char *why = ising_disorder_no_bits(ensemble->model);
  if (why != NULL)
    return gpumc_error_set(error, GPUMC_INVALID, "kernel multispin: %s", why);
  enum gpumc_status status =
      ising_bring_waves(ensemble, ising_storage_table(ensemble, table.cosine),
                        ising_storage_table(ensemble, table.sine), wave_sum, error);
  if (status == GPUMC_OK && table.signs_words > 0)
    status = bring_disorder(ensemble, &table, error);
  return status;
}

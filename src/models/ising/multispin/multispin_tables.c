/* Signs of couplings and fields, sample by sample, and the data of the multispin kernel on the CPU
 * beside the replicas. */
#include "models/ising/multispin/multispin_tables.h"

#include <stdlib.h>

#include "core/base/memory.h"
#include "models/ising/multispin/multispin.h"

/* Couplings and fields of one sample being converted to words. `negative`: J < 0. */
struct sample {
  const struct gpumc_checkerboard *lattice;
  bool fields, negative;
  int32_t *coupling, *field;
};

enum gpumc_status ising_multispin_check(const struct gpumc_model *model, struct gpumc_error *error)
{
  const char *why = ising_disorder_no_bits(model);
  return why == NULL ? GPUMC_OK
                     : gpumc_error_set(error, GPUMC_INVALID, "kernel multispin: %s", why);
}

size_t ising_multispin_sign_groups(const struct gpumc_ensemble_plan *plan)
{
  return plan->samples == 1 ? 1 : (plan->samples + ISING_LANES - 1) / ISING_LANES;
}

static bool is_below(const struct sample *sample, size_t site)
{
  return sample->fields && sample->field[site] < 0;
}

static void tell_site(const struct sample *sample, size_t site, uint32_t lanes,
                      const struct ising_multispin_signs_to *to)
{
  const struct gpumc_checkerboard *lattice = sample->lattice;
  const struct gpumc_checkerboard_place place = gpumc_checkerboard_place(lattice, site);
  if (is_below(sample, site))
    to->field(to->words, &place, lanes);
  for (size_t axis = 0; axis < lattice->dimension; axis++) {
    const size_t other = gpumc_checkerboard_next(lattice, site, axis);
    const struct gpumc_checkerboard_place next = gpumc_checkerboard_place(lattice, other);
    const bool against =
        (sample->coupling[site * lattice->dimension + axis] < 0) != sample->negative;
    const bool turned = to->turned && is_below(sample, site) != is_below(sample, other);
    if (against == turned)
      continue;
    to->bond(to->words, &place, gpumc_checkerboard_towards(&place, axis, true), lanes);
    to->bond(to->words, &next, gpumc_checkerboard_towards(&next, axis, false), lanes);
  }
}

enum gpumc_status
ising_multispin_signs_of_group(const struct gpumc_model *model,
                               const struct gpumc_ensemble_plan *plan, size_t group,
                               const struct ising_multispin_signs_to *to, struct gpumc_error *error)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  const size_t first = group * ISING_LANES, left = plan->samples - first;
  struct sample sample = {.lattice = &parameters->lattice,
                          .fields = ising_disorder_traits(model).fields,
                          .negative = parameters->coupling_quanta < 0.0};
  enum gpumc_status status;
  GPUMC_TRY_OUT(status,
                gpumc_allocate_array(&sample.coupling, model->sites * sample.lattice->dimension,
                                     "couplings of a sample", error));
  GPUMC_TRY_OUT(status,
                gpumc_allocate_array(&sample.field, model->sites, "fields of a sample", error));
  for (size_t lane = 0; lane < ISING_LANES && lane < left; lane++) {
    const uint32_t lanes = plan->samples == 1 ? UINT32_MAX : (uint32_t)1 << lane;
    GPUMC_TRY_OUT(status, ising_disorder_sample(model, plan->first_sample + first + lane,
                                                sample.coupling, sample.field, error));
    for (size_t i = 0; i < model->sites; i++)
      tell_site(&sample, i, lanes, to);
  }
out:
  free(sample.coupling);
  free(sample.field);
  return status;
}

static enum ising_signs signs_of(const struct lattice_disorder_traits *traits)
{
  if (traits->fields)
    return ISING_FIELD_SIGNS;
  return traits->couplings ? ISING_BOND_SIGNS : ISING_SAME_SIGNS;
}

static size_t sign_words(const struct gpumc_checkerboard *lattice, enum ising_signs signs,
                         const struct gpumc_ensemble_plan *plan)
{
  return ising_multispin_sign_groups(plan) * 2 * ising_multispin_sign_words(lattice, signs);
}

size_t ising_multispin_tables_bytes(const struct gpumc_model *model,
                                    const struct gpumc_ensemble_plan *plan)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  const struct lattice_disorder_traits traits = ising_disorder_traits(model);
  return sizeof(struct ising_multispin_tables) +
         2 * gpumc_checkerboard_edge_blocks(lattice) * sizeof(struct gpumc_checkerboard_edges) +
         sign_words(lattice, signs_of(&traits), plan) * sizeof(uint32_t) +
         2 * ising_wave_of(model).length * sizeof(int32_t) +
         plan->runs * sizeof(struct ising_multispin_rule);
}

/* The signs of one group, laid out as in struct ising_multispin_instance. */
struct sign_words {
  const struct ising_multispin_instance *instance;
  uint32_t *signs;
};

static void set_sign(const struct sign_words *words, const struct gpumc_checkerboard_place *place,
                     size_t slot, uint32_t lanes)
{
  const struct gpumc_checkerboard *lattice = &words->instance->lattice;
  const size_t slots = ising_multispin_slots(lattice->dimension, words->instance->signs);
  words->signs[place->colour * ising_multispin_sign_words(lattice, words->instance->signs) +
               (place->k / GPUMC_EDGE_SITES * slots + slot) * GPUMC_EDGE_SITES +
               place->k % GPUMC_EDGE_SITES] |= lanes;
}

static void set_bond(void *words, const struct gpumc_checkerboard_place *place,
                     enum gpumc_neighbour direction, uint32_t lanes)
{
  set_sign(words, place, direction, lanes);
}

static void set_field(void *words, const struct gpumc_checkerboard_place *place, uint32_t lanes)
{
  const struct sign_words *to = words;
  set_sign(to, place, 2 * to->instance->lattice.dimension, lanes);
}

static enum gpumc_status
set_samples(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan,
            struct ising_multispin_tables *tables, struct gpumc_error *error)
{
  const struct ising_multispin_instance *instance = &tables->instance;
  const size_t group_words = 2 * ising_multispin_sign_words(&instance->lattice, instance->signs);
  for (size_t group = 0; group < tables->sign_groups; group++) {
    struct sign_words words = {instance, tables->signs + group * group_words};
    const struct ising_multispin_signs_to to = {
        .words = &words, .bond = set_bond, .field = set_field};
    GPUMC_TRY(ising_multispin_signs_of_group(model, plan, group, &to, error));
  }
  return GPUMC_OK;
}

static void describe(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan,
                     const struct lattice_disorder_traits *traits,
                     struct ising_multispin_tables *tables)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  const double quantum = model->quantum[ISING_ENERGY];
  tables->instance.lattice = parameters->lattice;
  tables->instance.signs = signs_of(traits);
  tables->plain = ising_is_plain(model, plan);
  tables->coupling = parameters->coupling;
  tables->coupling_quanta = parameters->coupling_quanta;
  tables->field_quanta = traits->fields ? traits->field_width : parameters->field_quanta;
  tables->width = traits->field_width * quantum;
  if (parameters->disorder != NULL)
    tables->coupling = tables->coupling_quanta * quantum;
}

static void set_edges(struct ising_multispin_tables *tables)
{
  const struct gpumc_checkerboard *lattice = &tables->instance.lattice;
  for (size_t colour = 0; colour < 2; colour++) {
    struct gpumc_checkerboard_edges *edges =
        tables->edges + colour * gpumc_checkerboard_edge_blocks(lattice);
    gpumc_checkerboard_edges_fill(lattice, colour, edges);
    tables->instance.edges[colour] = edges;
  }
}

static void set_waves(const struct lattice_wave *wave, struct ising_multispin_tables *tables)
{
  int32_t *cosine = tables->wave_table, *sine = cosine + wave->length;
  lattice_wave_table(wave, cosine, sine);
  tables->waves = (struct ising_multispin_waves){*wave, cosine, sine};
}

enum gpumc_status ising_multispin_tables_begin(const struct gpumc_model *model,
                                               const struct gpumc_ensemble_plan *plan,
                                               struct ising_multispin_tables *tables,
                                               struct gpumc_error *error)
{
  const struct lattice_disorder_traits traits = ising_disorder_traits(model);
  const struct lattice_wave wave = ising_wave_of(model);
  GPUMC_TRY(gpumc_allocate_array(&tables->wave_table, (size_t)2 * wave.length, "waves", error));
  GPUMC_TRY(gpumc_allocate_array(&tables->rule, plan->runs, "rules of the runs", error));
  describe(model, plan, &traits, tables);
  set_waves(&wave, tables);
  return GPUMC_OK;
}

enum gpumc_status ising_multispin_tables_create(const struct gpumc_model *model,
                                                const struct gpumc_ensemble_plan *plan,
                                                struct ising_multispin_tables *tables,
                                                struct gpumc_error *error)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  GPUMC_TRY(ising_multispin_check(model, error));
  GPUMC_TRY(ising_multispin_tables_begin(model, plan, tables, error));
  GPUMC_TRY(gpumc_allocate_array(&tables->edges, 2 * gpumc_checkerboard_edge_blocks(lattice),
                                 "edges of the lattice", error));
  set_edges(tables);
  if (tables->instance.signs == ISING_SAME_SIGNS)
    return GPUMC_OK;
  tables->sign_groups = ising_multispin_sign_groups(plan);
  GPUMC_TRY(gpumc_allocate_array(&tables->signs, sign_words(lattice, tables->instance.signs, plan),
                                 "signs of couplings and fields", error));
  return set_samples(model, plan, tables, error);
}

void ising_multispin_tables_free(struct ising_multispin_tables *tables)
{
  free(tables->edges);
  free(tables->signs);
  free(tables->wave_table);
  free(tables->rule);
  *tables = (struct ising_multispin_tables){0};
}

static void set_plain(const struct ising_acceptance *acceptance, uint32_t neighbours,
                      struct ising_multispin_rule *rule)
{
  rule->like = acceptance->spin_up[neighbours] ? UINT32_MAX : 0;
  for (uint32_t unsatisfied = 0; 2 * unsatisfied < neighbours; unsatisfied++)
    gpumc_bit_thresholds_set(&rule->thresholds, unsatisfied,
                             acceptance->threshold[neighbours - unsatisfied]);
}

struct ising_multispin_rule ising_multispin_rule(const struct ising_multispin_tables *tables,
                                                 enum ising_move update,
                                                 const double control[ISING_CONTROLS])
{
  const double beta = control[ISING_BETA];
  const double field =
      tables->instance.signs == ISING_FIELD_SIGNS ? tables->width : control[ISING_FIELD];
  const uint32_t neighbours = 2 * (uint32_t)tables->instance.lattice.dimension;
  struct ising_multispin_rule rule = {.update = update == ISING_MOVE_HEAT_BATH ? ISING_HEAT_BATH
                                                : tables->plain                ? ISING_PLAIN
                                                                               : ISING_METROPOLIS};
  struct ising_acceptance acceptance = ising_acceptance(beta, tables->coupling, field, neighbours);
  if (rule.update == ISING_PLAIN) {
    set_plain(&acceptance, neighbours, &rule);
    return rule;
  }
  if (rule.update == ISING_HEAT_BATH)
    ising_heat_bath(beta, tables->coupling, field, neighbours, acceptance.threshold);
  for (uint32_t up = 0; up <= neighbours; up++) {
    rule.spin_up[up] = acceptance.spin_up[up] ? UINT32_MAX : 0;
    gpumc_bit_thresholds_set(&rule.thresholds, up, acceptance.threshold[up]);
  }
  return rule;
}

void ising_multispin_set_rules(const struct gpumc_ensemble *ensemble,
                               struct ising_multispin_tables *tables, const double *control)
{
  for (size_t m = 0; m < ensemble->runs; m++) {
    if (m > 0 && ising_same_controls(control, m, m - 1))
      tables->rule[m] = tables->rule[m - 1];
    else
      tables->rule[m] =
          ising_multispin_rule(tables, ensemble->plan.move, ising_controls_of(control, m));
    tables->rule[m].random = gpumc_ensemble_random(ensemble, m);
  }
}

/* ---- cost and refusals ---- */

/* Nanoseconds of one core with AVX-512, for the choice of `kernel.variant: auto`, which must be the
 * same on every device (docs/performance.md, "Few replicas"): spin flips per nanosecond. A replica
 * that has words to itself costs as much as 32. */
static const double rate = 16.0;

double ising_multispin_cost(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan,
                            size_t replicas)
{
  (void)plan;
  const size_t words = (replicas + ISING_LANES - 1) / ISING_LANES;
  return (double)model->sites * (double)(words * ISING_LANES) / rate;
}

const char *ising_multispin_cpu_refuses(const struct gpumc_model *model,
                                        const struct gpumc_kernel_options *options,
                                        const char **key)
{
  const char *why = ising_cpu_refuses(model, options, key);
  return why != NULL ? why : ising_disorder_no_bits(model);
}

const char *ising_multispin_gpu_refuses(const struct gpumc_model *model,
                                        const struct gpumc_kernel_options *options,
                                        const char **key)
{
  const char *why = ising_gpu_refuses(model, options, key);
  return why != NULL ? why : ising_disorder_no_bits(model);
}

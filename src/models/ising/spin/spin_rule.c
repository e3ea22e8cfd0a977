/* How spins are updated at a temperature: thresholds of the classes, and the estimate's margins. */
#include "models/ising/spin/spin_rule.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "models/ising/ising.h"
#include "models/lattice/checkerboard.h"

/* Error of p itself: spin_rule.h computes it to 2^-20. */
#define ESTIMATE_ERROR 0x1p-19
/* Error of f in single precision, in units of the largest f: seven terms are rounded and added up,
 * the slope is rounded and multiplied, each with an error of 2^-24: 16 of these. The lanes of a GPU
 * (spin_lane.cuh) stay within it: the field with all neighbours apart is rounded (1), twice the
 * terms of those alike are rounded (2 together) and added one by one (7, since each sum on the way
 * is the field of other neighbours), and the slope is rounded and multiplied twice, once by a
 * rounded log2 e (4): 14. */
#define SUM_ERROR 0x1p-20

enum ising_spin_kind ising_spin_kind(const struct gpumc_model *model)
{
  const struct lattice_disorder_traits traits = ising_disorder_traits(model);
  if (!traits.couplings && !traits.fields)
    return ISING_SPIN_UNIFORM;
  if ((traits.couplings && !traits.couplings_are_signs) ||
      (traits.fields && !traits.fields_are_signs))
    return ISING_SPIN_TERMS;
  return ISING_SPIN_SIGNS;
}

double ising_spin_coupling(const struct gpumc_model *model)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  const double quantum = model->quantum[ISING_ENERGY];
  switch (ising_spin_kind(model)) {
  case ISING_SPIN_UNIFORM:
    return parameters->coupling;
  case ISING_SPIN_SIGNS:
    return fabs(parameters->coupling_quanta) * quantum;
  default:
    return quantum;
  }
}

/* Sets `neighbours` + 1 classes, the first one at `table`'s place `first`. */
static void set_classes(enum ising_move update, double beta, double coupling, double field,
                        uint32_t neighbours, uint32_t first, struct ising_spin_table *table)
{
  const struct ising_acceptance acceptance = ising_acceptance(beta, coupling, field, neighbours);
  uint64_t up_below[ISING_CLASSES_MAXIMUM];
  ising_heat_bath(beta, coupling, field, neighbours, up_below);
  for (uint32_t up = 0; up <= neighbours; up++) {
    const bool metropolis = update == ISING_MOVE_METROPOLIS;
    const uint64_t threshold = metropolis ? acceptance.threshold[up] : up_below[up];
    const bool always = threshold >= GPUMC_THRESHOLD_ALWAYS;
    const uint32_t compared = metropolis ? acceptance.spin_up[up] : 0;
    table->threshold[first + up] = always ? 0 : (uint32_t)threshold;
    for (uint32_t b = 0; b < sizeof table->byte / sizeof *table->byte; b++)
      table->byte[b][first + up] = (uint8_t)(table->threshold[first + up] >> 8 * b);
    table->compared[first + up] = always ? ISING_EITHER_SPIN : (uint8_t)compared;
  }
}

static void
set_table(const struct gpumc_model *model, enum ising_move update, struct ising_spin_rule *rule)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  const struct lattice_disorder_traits traits = ising_disorder_traits(model);
  const uint32_t neighbours = 2 * (uint32_t)parameters->lattice.dimension;
  const double coupling = ising_spin_coupling(model);
  double field[2] = {rule->field, rule->field};
  if (rule->kind == ISING_SPIN_SIGNS) {
    field[0] = rule->field - traits.field_width * rule->exact.quantum;
    field[1] = rule->field + traits.field_width * rule->exact.quantum;
  }
  for (uint32_t larger = 0; larger < 2; larger++)
    set_classes(update, rule->exact.beta, coupling, field[larger], neighbours,
                larger * ISING_TABLE_FIELD, &rule->table);
}

/* Returns a bound on the local fields of all samples; rounding to quanta included. */
static double largest_field(const struct gpumc_model *model)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  const double bonds = 2.0 * (double)parameters->lattice.dimension;
  return bonds * lattice_largest_coupling(parameters->disorder, 0) + fabs(parameters->field) +
         lattice_samples_largest_field(parameters->disorder) +
         (bonds + 1.0) * model->quantum[ISING_ENERGY];
}

static struct ising_spin_estimate
estimate_of(const struct gpumc_model *model, enum ising_move update, double beta)
{
  const double error = SUM_ERROR * 2.0 * fabs(beta) * largest_field(model);
  const bool useful = error < 1.0;
  return (struct ising_spin_estimate){
      .slope = (float)(2.0 * beta * model->quantum[ISING_ENERGY]),
      .least = update == ISING_MOVE_METROPOLIS ? -0.0f : -ISING_EXPONENT_MAXIMUM,
      .one = update == ISING_MOVE_METROPOLIS ? 0.0f : 1.0f,
      .narrow = useful ? (float)((1.0 - ESTIMATE_ERROR) * gpumc_exp(-error)) : 0.0f,
      .wide = useful ? (float)((1.0 + ESTIMATE_ERROR) * gpumc_exp(error)) : (float)INFINITY,
  };
}

struct ising_spin_rule ising_spin_rule(const struct gpumc_model *model, enum ising_move update,
                                       const double control[ISING_CONTROLS])
{
  struct ising_spin_rule rule = {
      .kind = ising_spin_kind(model),
      .start = update == ISING_MOVE_METROPOLIS,
      .field = control[ISING_FIELD],
      .exact = {control[ISING_BETA], model->quantum[ISING_ENERGY]},
  };
  if (rule.kind == ISING_SPIN_TERMS)
    rule.estimate = estimate_of(model, update, control[ISING_BETA]);
  else
    set_table(model, update, &rule);
  return rule;
}

struct ising_spin_samples
ising_spin_samples_of(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  const size_t step = GPUMC_CHECKERBOARD_PADDING;
  struct ising_spin_samples samples = {
      .kind = ising_spin_kind(model), .first = plan->first_sample, .count = plan->samples};
  samples.stride = (lattice->colour + step - 1) / step * step;
  if (samples.kind == ISING_SPIN_SIGNS)
    samples.bytes = 2 * samples.stride;
  if (samples.kind == ISING_SPIN_TERMS)
    samples.bytes = 2 * (2 * lattice->dimension + 1) * samples.stride * sizeof(int32_t);
  return samples;
}

/* Both ends of the bond from site i along `axis`. */
struct bond {
  struct gpumc_checkerboard_place place[2];
  enum gpumc_neighbour neighbour[2]; /* what one end is to the other */
};

static struct bond bond_of(const struct gpumc_checkerboard *lattice, size_t i, size_t axis)
{
  struct bond bond;
  bond.place[0] = gpumc_checkerboard_place(lattice, i);
  bond.place[1] = gpumc_checkerboard_place(lattice, gpumc_checkerboard_next(lattice, i, axis));
  for (size_t end = 0; end < 2; end++)
    bond.neighbour[end] = gpumc_checkerboard_towards(&bond.place[end], axis, end == 0);
  return bond;
}

static void fill_signs(const struct gpumc_model *model, size_t stride, const int32_t *coupling,
                       const int32_t *field, uint8_t *signs)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  const int32_t uniform = (int32_t)rint(ising_parameters(model)->field_quanta);
  for (size_t i = 0; i < model->sites; i++) {
    for (size_t axis = 0; axis < lattice->dimension; axis++) {
      const struct bond bond = bond_of(lattice, i, axis);
      const uint32_t negative = coupling[i * lattice->dimension + axis] < 0;
      for (size_t end = 0; end < 2; end++)
        signs[bond.place[end].colour * stride + bond.place[end].k] |=
            (uint8_t)(negative << bond.neighbour[end]);
    }
    const struct gpumc_checkerboard_place place = gpumc_checkerboard_place(lattice, i);
    const uint32_t larger = field[i] > uniform;
    signs[place.colour * stride + place.k] |= (uint8_t)(larger << ISING_FIELD_SIGN);
  }
}

static void fill_terms(const struct gpumc_model *model, size_t stride, const int32_t *coupling,
                       const int32_t *field, int32_t *terms)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  const size_t neighbours = 2 * lattice->dimension, of_colour = (neighbours + 1) * stride;
  for (size_t i = 0; i < model->sites; i++) {
    for (size_t axis = 0; axis < lattice->dimension; axis++) {
      const struct bond bond = bond_of(lattice, i, axis);
      for (size_t end = 0; end < 2; end++)
        terms[bond.place[end].colour * of_colour + bond.neighbour[end] * stride +
              bond.place[end].k] = coupling[i * lattice->dimension + axis];
    }
    const struct gpumc_checkerboard_place place = gpumc_checkerboard_place(lattice, i);
    terms[place.colour * of_colour + neighbours * stride + place.k] = field[i];
  }
}

enum gpumc_status ising_spin_samples_fill(const struct gpumc_model *model,
                                          const struct ising_spin_samples *samples, size_t first,
                                          size_t count, void *data, struct gpumc_error *error)
{
  const size_t bonds = model->sites * ising_parameters(model)->lattice.dimension;
  int32_t *coupling = NULL, *field = NULL;
  if (samples->kind == ISING_SPIN_UNIFORM)
    return GPUMC_OK;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&coupling, bonds, "couplings of a sample", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&field, model->sites, "fields of a sample", error));
  for (size_t s = 0; s < count; s++) {
    uint8_t *sample = (uint8_t *)data + s * samples->bytes;
    GPUMC_TRY_OUT(status,
                  ising_disorder_sample(model, samples->first + first + s, coupling, field, error));
    if (samples->kind == ISING_SPIN_SIGNS)
      fill_signs(model, samples->stride, coupling, field, sample);
    else
      fill_terms(model, samples->stride, coupling, field, (int32_t *)(void *)sample);
  }
out:
  free(coupling);
  free(field);
  return status;
}

/* Rates of one core with AVX-512 in spin flips per nanosecond, for the choice of `kernel.variant:
 * auto`, which must be the same on every device, and for `gpumc plan` (docs/performance.md, "Few
 * replicas" and "Cluster moves"): moves of one spin; clusters near the critical point, in two
 * dimensions and in three, lattices of several sizes. */
static const double rate = 4.8, swendsen_wang_rate[] = {0.36, 0.22}, wolff_rate[] = {0.3, 0.083};

double ising_spin_cost(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan,
                       size_t replicas)
{
  const bool cubic = ising_parameters(model)->lattice.dimension == 3;
  double of_move = rate;
  if (plan->move == ISING_MOVE_SWENDSEN_WANG)
    of_move = swendsen_wang_rate[cubic];
  else if (plan->move == ISING_MOVE_WOLFF)
    of_move = wolff_rate[cubic];
  return (double)model->sites * (double)replicas / of_move;
}

/* Temperatures in place of inverse temperatures, beta = 1/T: wherever a table declares a key of
 * these (gpumc_key.temperature), the file may give the sibling key that takes temperatures. It is
 * declared, checked and turned into inverse temperatures here, so that plugins read these alone:
 *
 *   temperature: {values: [2.0, 1.0]}          beta: {values: [0.5, 1.0]}
 *   temperature: {from: 4, to: 1, count: 9}    beta: {from: 0.25, to: 1, count: 9}
 *   temperature: {from: 2, to: 1, step: 0.5}   beta: {values: [1/2, 1/1.5, 1/1]}
 *
 * Each inverse temperature is 1/T, rounded once. Equal steps, and `spacing: linear`, are equal
 * steps of T from `from` towards `to`, and become a list. A constant ratio is the same for both, so
 * that those ranges stay ranges. Both orders are allowed, from hot to cold and from cold to hot.
 *
 * A block of inverse temperatures has among its keys `from`, `to` and `values`, and may have
 * `step`, `count` and `spacing`. */
#ifndef GPUMC_CORE_TEMPERATURES_H
#define GPUMC_CORE_TEMPERATURES_H

#include "core/config/params.h"

/* A copy of the table in which each key with `temperature` is followed by the sibling that it
 * names, in blocks as well. One array holds all of it, with room for `spare` more keys after its
 * end: the caller frees it. NULL when memory ran out. */
struct gpumc_key *gpumc_keys_add_temperatures(const struct gpumc_key *keys, size_t spare);

/* What the file would have if it gave inverse temperatures: the value of `key`, the sibling of
 * `entry`, whose value as temperatures, without mistakes, is `values`. `typed`: the declared key of
 * `entry`. NULL after a mistake, reported at its place, or when memory ran out. The caller frees
 * it. */
struct gpumc_node *gpumc_temperatures_invert(const struct gpumc_key *key,
                                             const struct gpumc_key *typed,
                                             const struct gpumc_entry *entry, const cJSON *values,
                                             struct gpumc_report *report);

/* Whether the key at a dotted name of such a table is an inverse temperature, or a list of them.
 * `name`: the key of the temperatures in its place. */
bool gpumc_temperatures_sibling(const struct gpumc_key *keys, const char *dotted_key,
                                char name[static GPUMC_KEY_NAME_BYTES]);

/* Takes the temperatures, which gpumc_params_resolve leaves beside what they stand for, out of the
 * values of a block. */
void gpumc_temperatures_strip(const struct gpumc_key *keys, cJSON *values);

#endif

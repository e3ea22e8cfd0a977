/* Texts of configurations for the fake plugins, and how the language reads them. */
#ifndef TESTS_SUPPORT_LANGUAGE_FIXTURE_H
#define TESTS_SUPPORT_LANGUAGE_FIXTURE_H

#include "support/fake_plugins.h"

#define HEAD "gpumc: 1\nseed: 7\noutput: out.h5\n"
#define MODEL "model: {name: chain, shape: [8, 4]}\n"
#define ALGORITHM "algorithm: {name: anneal, population: 100, beta: {to: 1.0, step: 0.1}}\n"
#define GOOD HEAD MODEL ALGORITHM

/* Accepts the text, read as "c.yaml"; the caller frees *config. */
void language_accept(const char *text, struct gpumc_config *config);
/* Expects the whole message, so that no mistake is reported twice or with others. */
void language_refuse(const char *text, const char *message);

/* Does the same with assignments KEY=VALUE. */
void language_accept_set(const char *text, const char *const *assignments, size_t count,
                         struct gpumc_config *config);
void language_refuse_set(const char *text, const char *const *assignments, size_t count,
                         const char *message);

#endif

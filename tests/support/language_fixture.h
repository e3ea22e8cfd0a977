/* Texts of configurations for the fake plugins, and what the language makes of them. */
#ifndef TESTS_SUPPORT_LANGUAGE_FIXTURE_H
#define TESTS_SUPPORT_LANGUAGE_FIXTURE_H

#include "support/fake_plugins.h"

#define HEAD "gpumc: 1\nseed: 7\noutput: out.h5\n"
#define MODEL "model: {name: chain, shape: [8, 4]}\n"
#define ALGORITHM "algorithm: {name: anneal, population: 100, beta: {to: 1.0, step: 0.1}}\n"
#define GOOD HEAD MODEL ALGORITHM

/* The text is read as "c.yaml"; the caller frees *config. */
void language_accept(const char *text, struct gpumc_config *config);
/* The whole message, so that no mistake is told twice or with company. */
void language_refuse(const char *text, const char *message);

/* The same with assignments KEY=VALUE. */
void language_accept_set(const char *text, const char *const *assignments, size_t count,
                         struct gpumc_config *config);
void language_refuse_set(const char *text, const char *const *assignments, size_t count,
                         const char *message);

#endif

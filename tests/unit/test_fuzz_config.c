/* Mutated configurations in this process, for the sanitizers: any outcome except a crash is right.
 * GPUMC_FUZZ_FILES: the number of files instead of that of a quick test; GPUMC_FUZZ_SEED:
 * others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>

#include "support/fake_plugins.h"

enum { MUTANTS = 20000, LONGEST = 4096 };

static const char base[] =
    "gpumc: 1\nseed: 7\noutput: '{model.shape}-{seed}.h5'\n"
    "model: &m {name: chain, shape: &s [8, 4], J: 1.0, periodic: true}\n"
    "algorithm:\n  name: anneal\n  population: 1e3\n  beta: {to: 1.0, step: 0.1}\n"
    "  pause: 2 min\n  memory: 4 KiB\n  window: {from: 1, to: 2}\n"
    "kernel: {device: cuda:1, variant: wide}\ncheckpoint: {every: 10 min}\n"
    "campaign:\n  model.shape: [*s, [2]]\n  seed: [1, 2, 3]\n";

static const char *const tokens[] = {"*m",
                                     "&m ",
                                     "*s",
                                     "[",
                                     "]",
                                     "{",
                                     "}",
                                     ": ",
                                     "\n",
                                     "- ",
                                     "~",
                                     "1e999",
                                     "0x1",
                                     "''",
                                     "\"",
                                     "|\n ",
                                     "? ",
                                     "<<: *m",
                                     "---\n",
                                     "!!int ",
                                     "\xff",
                                     "\\0",
                                     "\"\\0\"",
                                     "{seed}",
                                     "999999999999999999999",
                                     "campaign:\n  seed: ",
                                     "\t",
                                     "#",
                                     ".beta",
                                     "model.shape: ",
                                     "-1",
                                     "null",
                                     "%YAML 1.1\n",
                                     "name: frozen",
                                     "name: look"};

/* Returns splitmix64 numbers: the same mutants everywhere. */
static uint64_t next(uint64_t *state)
{
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* Replaces text[from .. from+removed-1] by `inserted`. */
static void splice(char text[LONGEST], size_t *length, size_t from, size_t removed,
                   const char *inserted, size_t n)
{
  if (*length - removed + n >= LONGEST)
    return;
  memmove(text + from + n, text + from + removed, *length - from - removed);
  memcpy(text + from, inserted, n);
  *length = *length - removed + n;
}

static void mutate(char text[LONGEST], size_t *length, uint64_t *random)
{
  char copy[64];
  size_t at = next(random) % *length, some = next(random) % sizeof copy;
  some = some < *length - at ? some : *length - at;
  const char *token = tokens[next(random) % (sizeof tokens / sizeof *tokens)];
  switch (next(random) % 5) {
  case 0:
    text[at] = (char)next(random);
    break;
  case 1:
    splice(text, length, at, *length > 64 ? some % 16 : 0, "", 0);
    break;
  case 2:
    memcpy(copy, text + at, some);
    splice(text, length, next(random) % *length, 0, copy, some);
    break;
  case 3:
    splice(text, length, at, 0, token, strlen(token));
    break;
  default:
    splice(text, length, at, some % 8, token, strlen(token));
  }
}

static void assert_lines_have_places(const char *message)
{
  for (const char *line = message; line != NULL && *line != '\0';) {
    size_t row, column;
    int end = 0;
    if (sscanf(line, "fuzz:%zu:%zu: %n", &row, &column, &end) != 2 || end == 0)
      fail_msg("no place in: %s", line);
    line = strchr(line, '\n');
    line += line != NULL;
  }
}

static void test_mutants(void **state)
{
  const char *seed = getenv("GPUMC_FUZZ_SEED");
  uint64_t random = seed != NULL ? strtoull(seed, NULL, 10) : 20170801;
  size_t accepted = 0;
  const char *wanted = getenv("GPUMC_FUZZ_FILES");
  const int mutants = wanted != NULL ? atoi(wanted) : MUTANTS;
  (void)state;
  for (int i = 0; i < mutants; i++) {
    char text[LONGEST];
    size_t length = sizeof base - 1;
    struct gpumc_config config;
    struct gpumc_error error = {0};
    memcpy(text, base, length);
    for (uint64_t n = 1 + next(&random) % 4; n > 0; n--)
      mutate(text, &length, &random);
    enum gpumc_status status =
        gpumc_config_parse_with(&fake_plugins, "fuzz", text, length, NULL, 0, &config, &error);
    assert_true(status == GPUMC_OK || status == GPUMC_INVALID);
    if (status == GPUMC_INVALID)
      assert_lines_have_places(gpumc_error_text(&error));
    accepted += status == GPUMC_OK;
    gpumc_error_free(&error);
    gpumc_config_free(&config);
  }
  assert_in_range(accepted, mutants / 1000, mutants / 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_mutants)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

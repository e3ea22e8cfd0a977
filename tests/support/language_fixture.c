/* Configurations that must be accepted or refused. */
#include "support/language_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static enum gpumc_status parse(const char *text, const char *const *assignments, size_t count,
                               struct gpumc_config *config, struct gpumc_error *error)
{
  return gpumc_config_parse_with(&fake_plugins, "c.yaml", text, strlen(text), assignments, count,
                                 config, error);
}

void language_accept_set(const char *text, const char *const *assignments, size_t count,
                         struct gpumc_config *config)
{
  struct gpumc_error error = {0};
  if (parse(text, assignments, count, config, &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
}

void language_refuse_set(const char *text, const char *const *assignments, size_t count,
                         const char *message)
{
  struct gpumc_config config;
  struct gpumc_error error = {0};
  assert_int_equal(parse(text, assignments, count, &config, &error), GPUMC_INVALID);
  assert_string_equal(gpumc_error_text(&error), message);
  assert_null(config.tasks);
  gpumc_error_free(&error);
  gpumc_config_free(&config);
}

void language_accept(const char *text, struct gpumc_config *config)
{
  language_accept_set(text, NULL, 0, config);
}

void language_refuse(const char *text, const char *message)
{
  language_refuse_set(text, NULL, 0, message);
}

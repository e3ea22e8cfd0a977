/* The device that tests of kernels and populations use. */
#include "support/test_device.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77 };

static struct gpumc_device opened;

const char *test_device_name(void)
{
  const char *name = getenv("GPUMC_TEST_DEVICE");
  return name == NULL || name[0] == '\0' ? "cpu" : name;
}

bool test_device_is_cpu(void)
{
  return strcmp(test_device_name(), "cpu") == 0;
}

static void close_device(void)
{
  gpumc_device_close(&opened);
}

void test_device_require(void)
{
  struct gpumc_error error = {0};
  if (opened.ops != NULL)
    return;
  enum gpumc_status status = gpumc_device_open(test_device_name(), 1, &opened, &error);
  if (status == GPUMC_OK) {
    atexit(close_device);
    return;
  }
  const char *required = getenv("GPUMC_REQUIRE_CUDA");
  const bool skip = status == GPUMC_DEVICE && (required == NULL || strcmp(required, "1") != 0);
  fprintf(stderr, "%s: %s\n", skip ? "skipped" : "failed", gpumc_error_text(&error));
  gpumc_error_free(&error);
  exit(skip ? SKIPPED : EXIT_FAILURE);
}

struct gpumc_device test_device(struct test_setting setting)
{
  test_device_require();
  struct gpumc_device device = opened;
  device.threads = setting.threads;
  device.isa = setting.isa;
  device.block_threads = setting.block_threads;
  return device;
}

struct test_setting test_setting(void)
{
  return (struct test_setting){.threads = 1, .isa = gpumc_isa_detect()};
}

static size_t settings_of_cpu(int least, int most, bool every_level, struct test_setting *setting)
{
  const int highest = (int)gpumc_isa_detect();
  size_t count = 0;
  for (int level = every_level ? (int)gpumc_isa_lowest() : highest; level <= highest; level++)
    for (int threads = least; threads <= most; threads++) {
      assert(count < TEST_SETTINGS_MAXIMUM);
      setting[count++] = (struct test_setting){threads, (enum gpumc_isa)level, 0};
    }
  return count;
}

size_t test_settings(int least, int most, bool every_level,
                     struct test_setting setting[TEST_SETTINGS_MAXIMUM])
{
  static const uint32_t blocks[] = {0, 32, 64, 128, 256, 512, 1024};
  const size_t count = sizeof blocks / sizeof *blocks;
  if (test_device_is_cpu())
    return settings_of_cpu(least, most, every_level, setting);
  for (size_t i = 0; i < count; i++) {
    setting[i] = test_setting();
    setting[i].block_threads = blocks[i];
  }
  return count;
}

const char *test_setting_text(struct test_setting setting)
{
  static char text[128];
  if (test_device_is_cpu())
    snprintf(text, sizeof text, "cpu, %d threads, %s", setting.threads,
             gpumc_isa_name(setting.isa));
  else
    snprintf(text, sizeof text, "%s, %u threads a block", test_device_name(),
             setting.block_threads);
  return text;
}

/* The device that tests of kernels and populations use: GPUMC_TEST_DEVICE, "cpu" unless set.
 *
 * If it is not available, the program ends with exit code 77, which CTest reports as skipped; with
 * GPUMC_REQUIRE_CUDA=1 it fails. */
#ifndef TESTS_SUPPORT_TEST_DEVICE_H
#define TESTS_SUPPORT_TEST_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/device/device.h"

enum { TEST_SETTINGS_MAXIMUM = 16 };

/* One setting of the device: threads and level of a CPU, threads per block of a GPU. No result
 * depends on it. */
struct test_setting {
  int threads;
  enum gpumc_isa isa;
  uint32_t block_threads;
};

const char *test_device_name(void);
bool test_device_is_cpu(void);

/* Opens the device or ends the program. Call it first in main(). */
void test_device_require(void);

/* Returns the device with this setting; it stays open to the end of the program. */
struct gpumc_device test_device(struct test_setting setting);

/* Returns the highest level with one thread, or each kernel's own block size. */
struct test_setting test_setting(void);
/* Lists settings: on a CPU `least` to `most` threads, at every level or only the highest; on a GPU
 * every block size. Returns how many. */
size_t test_settings(int least, int most, bool every_level,
                     struct test_setting setting[TEST_SETTINGS_MAXIMUM]);
/* Returns a text for messages: "cpu, 2 threads, x86-64-v3". It is valid until the next call. */
const char *test_setting_text(struct test_setting setting);

#endif

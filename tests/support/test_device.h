/* The device that the tests of kernels and populations work on: GPUMC_TEST_DEVICE, "cpu" unless
 * set.
 *
 * Where it is not to be had, the program ends with exit code 77, which CTest reports as skipped;
 * with GPUMC_REQUIRE_CUDA=1 it fails. */
#ifndef TESTS_SUPPORT_TEST_DEVICE_H
#define TESTS_SUPPORT_TEST_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/device/device.h"

enum { TEST_SETTINGS_MAXIMUM = 16 };

/* One way for the device to work: threads and level of a CPU, threads of a block of a GPU. No
 * result depends on it. */
struct test_setting {
  int threads;
  enum gpumc_isa isa;
  uint32_t block_threads;
};

const char *test_device_name(void);
bool test_device_is_cpu(void);

/* The device is open, or the program ends here. First thing in main(). */
void test_device_require(void);

/* The device, which stays open to the end of the program, set so. */
struct gpumc_device test_device(struct test_setting setting);

/* The highest level, one thread; each kernel's own block. */
struct test_setting test_setting(void);
/* On a CPU `least` to `most` threads, at every level or the highest only; on a GPU every size of a
 * block. Returns how many. */
size_t test_settings(int least, int most, bool every_level,
                     struct test_setting setting[TEST_SETTINGS_MAXIMUM]);
/* For messages: "cpu, 2 threads, x86-64-v3". Valid until the next call. */
const char *test_setting_text(struct test_setting setting);

#endif

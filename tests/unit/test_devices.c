/* Reports on the devices of several processes, and on GPUs that some of them share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "core/device/devices.h"

static struct gpumc_device_place place_of(int32_t host, const char *device, const char *identity)
{
  struct gpumc_device_place place = {.host = host, .description = "H200, 132 multiprocessors"};
  snprintf(place.host_name, sizeof place.host_name, "node%d", (int)host);
  snprintf(place.device, sizeof place.device, "%s", device);
  snprintf(place.identity, sizeof place.identity, "%s", identity);
  return place;
}

static void assert_said(struct gpumc_device_place *places, size_t count, const char *expected)
{
  struct gpumc_text text = {0};
  const struct gpumc_devices devices = {.count = count, .of = places};
  assert_int_equal(gpumc_devices_shared(&devices, &text), expected[0] != '\0');
  assert_string_equal(gpumc_text_string(&text), expected);
  gpumc_text_free(&text);
}

static void gpus_of_their_own(void **state)
{
  (void)state;
  /* A launcher may show each process its own GPU as number 0, and hosts may be clones. */
  struct gpumc_device_place shown[] = {place_of(0, "cuda:0", "aa"), place_of(0, "cuda:0", "bb"),
                                       place_of(2, "cuda:0", "aa")};
  struct gpumc_device_place cpus[] = {place_of(0, "cpu", ""), place_of(0, "cpu", "")};
  const struct gpumc_devices own = {.count = 3, .of = shown}, host = {.count = 2, .of = cpus};
  assert_int_equal(gpumc_devices_sharers(&own, 0), 1);
  assert_int_equal(gpumc_devices_sharers(&host, 1), 1);
  assert_said(shown, 3, "");
  assert_said(cpus, 2, "");
  assert_said(NULL, 0, "");
}

static void gpus_that_are_shared(void **state)
{
  (void)state;
  struct gpumc_device_place places[] = {place_of(0, "cuda:0", "aa"), place_of(0, "cuda:1", "bb"),
                                        place_of(0, "cuda:0", "aa"), place_of(3, "cuda:0", "cc"),
                                        place_of(0, "cuda:1", "bb"), place_of(0, "cuda:0", "aa"),
                                        place_of(3, "cuda:0", "cc")};
  const struct gpumc_devices devices = {.count = 7, .of = places};
  static const size_t sharers[] = {3, 2, 3, 2, 2, 3, 2};
  for (size_t p = 0; p < 7; p++)
    assert_int_equal(gpumc_devices_sharers(&devices, p), sharers[p]);
  assert_said(places, 3, "2 processes on node0 share cuda:0 (H200, 132 multiprocessors)");
  assert_said(places, 5,
              "2 processes on node0 share cuda:0 (H200, 132 multiprocessors), and 1 more GPU is "
              "shared, too");
  assert_said(places, 7,
              "3 processes on node0 share cuda:0 (H200, 132 multiprocessors), and 2 more GPUs are "
              "shared, too");
}

static void devices_are_listed_by_rank(void **state)
{
  (void)state;
  struct gpumc_device_place places[] = {place_of(0, "cuda:1", "aa"), place_of(1, "cuda:0", "bb")};
  const struct gpumc_devices devices = {.count = 2, .of = places};
  struct gpumc_text text = {0};
  gpumc_devices_list(&devices, &text);
  assert_string_equal(gpumc_text_string(&text), "node0 cuda:1: H200, 132 multiprocessors\n"
                                                "node1 cuda:0: H200, 132 multiprocessors");
  gpumc_text_free(&text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gpus_of_their_own),
      cmocka_unit_test(gpus_that_are_shared),
      cmocka_unit_test(devices_are_listed_by_rank),
  };
  return cmocka_run_group_tests_name("devices", tests, NULL, NULL);
}

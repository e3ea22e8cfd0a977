/* The checksum: fixed values, independence of how data are split, and detection of damage. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "core/base/checksum.h"

enum { N_BYTES = 1000 };

static void fill(unsigned char bytes[N_BYTES])
{
  for (size_t i = 0; i < N_BYTES; i++)
    bytes[i] = (unsigned char)(i * i + i / 7);
}

/* These are written into files: the values must never change while the checkpoint's version stays
 * the same. */
static void test_values_are_pinned(void **state)
{
  (void)state;
  unsigned char bytes[N_BYTES];
  fill(bytes);
  assert_int_equal(gpumc_checksum_of("", 0), UINT64_C(0x4B16FEF655469D63));
  assert_int_equal(gpumc_checksum_of("a", 1), UINT64_C(0xAB5717EEA5945E01));
  assert_int_equal(gpumc_checksum_of(bytes, N_BYTES), UINT64_C(0x7ECF7CB1DB5337CE));
}

static void test_the_cut_does_not_matter(void **state)
{
  (void)state;
  unsigned char bytes[N_BYTES];
  fill(bytes);
  uint64_t whole = gpumc_checksum_of(bytes, N_BYTES);
  for (size_t piece = 1; piece < 100; piece++) {
    struct gpumc_checksum checksum;
    gpumc_checksum_begin(&checksum);
    for (size_t i = 0; i < N_BYTES; i += piece)
      gpumc_checksum_add(&checksum, bytes + i, i + piece < N_BYTES ? piece : N_BYTES - i);
    assert_int_equal(gpumc_checksum_value(&checksum), whole);
  }
}

static void test_every_flipped_bit_is_noticed(void **state)
{
  (void)state;
  unsigned char bytes[N_BYTES];
  fill(bytes);
  uint64_t whole = gpumc_checksum_of(bytes, N_BYTES);
  for (size_t bit = 0; bit < 8 * N_BYTES; bit++) {
    bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    assert_int_not_equal(gpumc_checksum_of(bytes, N_BYTES), whole);
    bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
  }
}

static void test_lengths_of_zeros_differ(void **state)
{
  (void)state;
  static const unsigned char zeros[N_BYTES];
  uint64_t values[N_BYTES];
  for (size_t n = 0; n < N_BYTES; n++) {
    values[n] = gpumc_checksum_of(zeros, n);
    for (size_t other = 0; other < n; other++)
      assert_int_not_equal(values[n], values[other]);
  }
}

static void test_exchanged_words_are_noticed(void **state)
{
  (void)state;
  unsigned char bytes[N_BYTES];
  unsigned char moved[N_BYTES];
  fill(bytes);
  uint64_t whole = gpumc_checksum_of(bytes, N_BYTES);
  for (size_t i = 0; i + 8 <= N_BYTES; i += 8)
    for (size_t j = i + 8; j + 8 <= N_BYTES; j += 8) {
      memcpy(moved, bytes, N_BYTES);
      memcpy(moved + i, bytes + j, 8);
      memcpy(moved + j, bytes + i, 8);
      if (memcmp(moved, bytes, N_BYTES) != 0)
        assert_int_not_equal(gpumc_checksum_of(moved, N_BYTES), whole);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values_are_pinned),
      cmocka_unit_test(test_the_cut_does_not_matter),
      cmocka_unit_test(test_every_flipped_bit_is_noticed),
      cmocka_unit_test(test_lengths_of_zeros_differ),
      cmocka_unit_test(test_exchanged_words_are_noticed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Text files of users: words, places, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/text_file.h"
#include "support/status.h"
#include "support/work_directory.h"

enum { WORDS_MOST = 16 };

/* Reads `bytes` as a file; expects `words`, separated by a blank, in lines that are digits. */
static void
expect_words(const char *bytes, size_t size, const char *expected, const char *expected_lines)
{
  struct gpumc_text_file file;
  struct gpumc_error error = {0};
  struct gpumc_text words = {0};
  char word[GPUMC_WORD_BYTES], lines[WORDS_MOST + 1] = "";
  size_t n = 0;
  write_file("t", bytes, size);
  assert_ok(gpumc_text_file_open("t", &file, &error), &error);
  for (;; n++) {
    assert_ok(gpumc_text_file_word(&file, word, &error), &error);
    if (word[0] == '\0')
      break;
    assert_true(n < WORDS_MOST);
    gpumc_text_append(&words, n > 0 ? " %s" : "%s", word);
    lines[n] = (char)('0' + file.line);
  }
  assert_string_equal(gpumc_text_string(&words), expected);
  assert_string_equal(lines, expected_lines);
  gpumc_text_free(&words);
  gpumc_text_file_close(&file);
  gpumc_text_file_close(&file);
}

static void test_words_and_lines(void **state)
{
  static const struct {
    const char *text, *words, *lines;
  } cases[] = {
      {"", "", ""},
      {" \n\t\n", "", ""},
      {"a b\nc", "a b c", "112"},
      {"a b\r\nc\r\n", "a b c", "112"},
      {"a b\rc\r", "a b c", "112"},
      {"a\r\rb\n\rc\n\n\nd", "a b c d", "1358"},
      {"\xef\xbb\xbf"
       "a # b\nc",
       "a c", "12"},
      {"# x\ry # z\r\nw#v\nu", "y w u", "234"},
      {"a#b#c\n#\n#d", "a", "1"},
      {"\xce\xb2 \xe2\x88\x92"
       "1 # \xf0\x9f\x98\x80\n2",
       "\xce\xb2 \xe2\x88\x92"
       "1 2",
       "112"},
      {"\xef\xbb\xbf", "", ""},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    expect_words(cases[i].text, strlen(cases[i].text), cases[i].words, cases[i].lines);
}

/* Reads `bytes` to the flaw that `message` tells. */
static void expect_flaw(const char *bytes, size_t size, const char *message)
{
  struct gpumc_text_file file;
  struct gpumc_error error = {0};
  char word[GPUMC_WORD_BYTES];
  enum gpumc_status status;
  write_file("t", bytes, size);
  assert_ok(gpumc_text_file_open("t", &file, &error), &error);
  do
    status = gpumc_text_file_word(&file, word, &error);
  while (status == GPUMC_OK && word[0] != '\0');
  assert_int_equal(status, GPUMC_INVALID);
  assert_string_equal(gpumc_error_text(&error), message);
  gpumc_error_free(&error);
  gpumc_text_file_close(&file);
}

static void test_flaws_are_told_with_their_place(void **state)
{
  static const char latin[] = "; save the text as UTF-8 (from Latin-1: iconv -f latin1 -t utf-8)";
  static const struct {
    const char *bytes;
    size_t size;
    const char *message;
    bool latin;
  } cases[] = {
      {"a\n1 \0 2", 7, "t:2:3: a zero byte: this is not a text file", false},
      {"a # \0\n2", 7, "t:1:5: a zero byte: this is not a text file", false},
      {"\0", 1, "t:1:1: a zero byte: this is not a text file", false},
      {"1.5\0", 4, "t:1:4: a zero byte: this is not a text file", false},
      {"a\r\n# Gr\xf6\xdf"
       "e\n",
       12, "t:2:5: not UTF-8: byte 0xf6", true},
      {"\xc3\xa9 \xe9", 4, "t:1:3: not UTF-8: byte 0xe9", true},
      {"\xe2\x82", 2, "t:1:1: not UTF-8: byte 0xe2", true},
      {"\xc0\x80", 2, "t:1:1: not UTF-8: byte 0xc0", true},
      {"\xed\xa0\x80", 3, "t:1:1: not UTF-8: byte 0xed", true},
      {"a \x80", 3, "t:1:3: not UTF-8: byte 0x80", true},
      {"\xff\xfe"
       "1\0",
       4, "t:1:1: UTF-16, not UTF-8; save the file as UTF-8", false},
      {"\xfe\xff\0"
       "1",
       4, "t:1:1: UTF-16, not UTF-8; save the file as UTF-8", false},
      {"1\n\xff\xfe", 4, "t:2:1: not UTF-8: byte 0xff", true},
      {"1 \x1b[31m", 7, "t:1:3: the character U+001B is not allowed; remove it", false},
      {"1\n2\n3 \f4", 8, "t:3:3: the character U+000C is not allowed; remove it", false},
      {"1 \xef\xbb\xbf"
       "2",
       6,
       "t:1:3: a byte-order mark, U+FEFF, is not allowed after the beginning of the file; remove "
       "it",
       false},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct gpumc_text message = {0};
    gpumc_text_append(&message, "%s%s", cases[i].message, cases[i].latin ? latin : "");
    expect_flaw(cases[i].bytes, cases[i].size, gpumc_text_string(&message));
    gpumc_text_free(&message);
  }
}

static void test_long_words(void **state)
{
  char bytes[GPUMC_WORD_BYTES + 2];
  (void)state;
  memset(bytes, '7', sizeof bytes);
  bytes[0] = '\n';
  expect_flaw(bytes, GPUMC_WORD_BYTES + 1,
              "t:2: a word of more than 4095 bytes; numbers are separated by white space");
  bytes[GPUMC_WORD_BYTES] = '\n';
  write_file("t", bytes, GPUMC_WORD_BYTES + 1);
  struct gpumc_text_file file;
  struct gpumc_error error = {0};
  char word[GPUMC_WORD_BYTES];
  assert_ok(gpumc_text_file_open("t", &file, &error), &error);
  assert_ok(gpumc_text_file_word(&file, word, &error), &error);
  assert_int_equal(strlen(word), GPUMC_WORD_BYTES - 1);
  gpumc_text_file_close(&file);
}

static void test_numbers_and_quotes(void **state)
{
  char text[GPUMC_QUOTED_BYTES], word[100];
  double number;
  (void)state;
  assert_true(gpumc_word_is_number("-1.5e3", &number) && number == -1500);
  assert_false(gpumc_word_is_number("", &number));
  assert_false(gpumc_word_is_number("1,5", &number));
  assert_false(gpumc_word_is_number("1x", &number));
  assert_string_equal(gpumc_word_quoted("a\x1b\xce\xb2\xff", text), "'a\\x1b\xce\xb2\\xff'");
  memset(word, 1, sizeof word);
  word[99] = '\0';
  assert_int_equal(strlen(gpumc_word_quoted(word, text)), 4 * 40 + 5);
  memset(word, 'x', 39);
  memcpy(word + 39, "\xc3\xa9y", 4);
  assert_string_equal(gpumc_word_quoted(word, text),
                      "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'");
}

/* The signature at `place` of a file of `size` bytes. */
static bool is_hdf5_with(size_t place, size_t size)
{
  struct gpumc_error error = {0};
  unsigned char *bytes = calloc(1, size + 8);
  bool found;
  assert_non_null(bytes);
  memcpy(bytes + place, "\x89HDF\r\n\x1a\n", 8);
  write_file("h", bytes, size);
  free(bytes);
  assert_ok(gpumc_file_is_hdf5("h", &found, &error), &error);
  return found;
}

static void test_hdf5_is_recognised_after_any_user_block(void **state)
{
  struct gpumc_text_file file;
  struct gpumc_error error = {0};
  (void)state;
  assert_true(is_hdf5_with(0, 8));
  assert_false(is_hdf5_with(0, 7));
  for (size_t place = 512; place <= 1 << 20; place *= 2) {
    assert_true(is_hdf5_with(place, place + 8));
    assert_true(is_hdf5_with(place, 5 * place + 11));
    assert_false(is_hdf5_with(place, place + 7));
    assert_false(is_hdf5_with(place + 1, place + 9));
  }
  assert_false(is_hdf5_with(1536, 4096));
  assert_false(is_hdf5_with(256, 4096));
  assert_true(is_hdf5_with(512, 4096));
  assert_int_equal(gpumc_text_file_open("h", &file, &error), GPUMC_INVALID);
  assert_string_equal(gpumc_error_text(&error), "h: an HDF5 file, but a text file is expected");
  gpumc_error_free(&error);
  gpumc_text_file_close(&file);
  assert_int_equal(gpumc_text_file_open("absent", &file, &error), GPUMC_INVALID);
  assert_string_equal(gpumc_error_text(&error), "cannot read absent: No such file or directory");
  gpumc_error_free(&error);
  gpumc_text_file_close(&file);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, work_directory_enter, work_directory_leave)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(test_words_and_lines),
      TEST(test_flaws_are_told_with_their_place),
      TEST(test_long_words),
      TEST(test_numbers_and_quotes),
      TEST(test_hdf5_is_recognised_after_any_user_block),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

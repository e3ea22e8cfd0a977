/* YAML text to nodes with marks, and every way a text can be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/config/config.h"

static struct gpumc_document parse_n(const char *text, size_t length, struct gpumc_report *report)
{
  struct gpumc_document document;
  struct gpumc_error error = {0};
  if (gpumc_document_parse("c.yaml", text, length, &document, report, &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
  return document;
}

static struct gpumc_document accept(const char *text)
{
  struct gpumc_report report = {0};
  struct gpumc_document document = parse_n(text, strlen(text), &report);
  if (report.mistakes > 0)
    fail_msg("%s", gpumc_text_string(&report.lines));
  assert_non_null(document.root);
  return document;
}

static void refuse_n(const char *text, size_t length, const char *lines)
{
  struct gpumc_report report = {0};
  struct gpumc_document document = parse_n(text, length, &report);
  assert_string_equal(gpumc_text_string(&report.lines), lines);
  gpumc_document_free(&document);
  gpumc_report_free(&report);
}

static void refuse(const char *text, const char *lines)
{
  refuse_n(text, strlen(text), lines);
}

static void test_marks(void **state)
{
  struct gpumc_document document = accept("a: 1\nb:\n  - x\n  - {c: 'quo'}\n\"d\":  é  # no\n");
  const struct gpumc_node *root = document.root;
  (void)state;
  assert_int_equal(root->count, 3);
  assert_string_equal(root->entries[2].key, "d");
  assert_int_equal(root->entries[2].key_mark.line, 5);
  const struct gpumc_node *item = gpumc_node_find(root, "b")->items[1];
  assert_int_equal(item->mark.line, 4);
  assert_int_equal(item->mark.column, 5);
  const struct gpumc_node *quoted = gpumc_node_find(item, "c");
  assert_string_equal(quoted->text, "quo");
  assert_false(quoted->plain);
  assert_int_equal(quoted->mark.column, 9);
  assert_string_equal(quoted->mark.source, "c.yaml");
  assert_string_equal(gpumc_node_find(root, "d")->text, "é");
  assert_true(gpumc_node_find(root, "a")->plain);
  assert_null(gpumc_node_find(root, "a.b"));
  assert_null(gpumc_node_find(root, "e"));
  gpumc_document_free(&document);
  gpumc_document_free(&document);
}

static void test_aliases_are_copies(void **state)
{
  struct gpumc_document document = accept("a: &a {b: [1, 2]}\nc: *a\n");
  const struct gpumc_node *first = gpumc_node_find(document.root, "a.b");
  const struct gpumc_node *second = gpumc_node_find(document.root, "c.b");
  (void)state;
  assert_ptr_not_equal(first, second);
  assert_string_equal(second->items[1]->text, "2");
  assert_int_equal(second->items[1]->mark.line, 1);
  gpumc_document_free(&document);
}

static void test_byte_order_mark(void **state)
{
  struct gpumc_document document = accept("\xef\xbb\xbf"
                                          "a: 1\nb: 2\n");
  (void)state;
  assert_string_equal(document.root->entries[0].key, "a");
  assert_int_equal(document.root->entries[0].key_mark.column, 1);
  assert_int_equal(document.root->entries[0].value->mark.column, 4);
  assert_string_equal(document.root->entries[1].key, "b");
  gpumc_document_free(&document);
  document = accept("\xef\xbb\xbf# a comment\n---\na: 1\nb: 2\n");
  assert_int_equal(document.root->count, 2);
  assert_int_equal(document.root->entries[1].key_mark.line, 4);
  gpumc_document_free(&document);
  refuse("\xef\xbb\xbf", "c.yaml:1:1: the configuration is empty\n");
  refuse("\xef\xbb\xbf\xef\xbb\xbf"
         "a: 1\n",
         "c.yaml:1:1: a byte-order mark, U+FEFF, is not allowed after the beginning of the file; "
         "remove it\n");
}

static void test_syntax_errors(void **state)
{
  (void)state;
  refuse("", "c.yaml:1:1: the configuration is empty\n");
  refuse("# nothing\n", "c.yaml:1:1: the configuration is empty\n");
  refuse("- a\n", "c.yaml:1:1: expected keys with values, found a list\n");
  refuse("word\n", "c.yaml:1:1: expected keys with values, found text 'word'\n");
  refuse("a: [1\n", "c.yaml:2:1: not valid YAML: a ',' or ']' is missing in the list in "
                    "brackets that starts at line 1\n");
  refuse("a: {b: 1\nc: 2\n", "c.yaml:2:2: not valid YAML: a ',' or '}' is missing in the block in "
                             "braces that starts at line 1\n");
  refuse("a:\n\tb: 1\n", "c.yaml:2:1: not valid YAML: a tab cannot indent; use spaces\n");
  refuse("\xc3\xa9:\n  b: \xc3\xa9\n\tc: 1\n",
         "c.yaml:3:1: not valid YAML: a tab cannot indent; use spaces\n");
  refuse("a: @b\n",
         "c.yaml:1:4: not valid YAML: text cannot begin with '@' unless it is in quotes\n");
  refuse("a: b: c\n",
         "c.yaml:1:5: not valid YAML: no ':' is expected here; check the indentation of "
         "the line, and put text that contains ': ' in quotes\n");
  refuse("a: 'b\n",
         "c.yaml:2:1: not valid YAML: the closing quote is missing from the text that starts "
         "at line 1\n");
  refuse("a: 1\n---\nb: 2\n",
         "c.yaml:2:1: a second document starts here; a configuration has only one\n");
  refuse("a: !!int 1\n", "c.yaml:1:4: tags are not allowed, found 'tag:yaml.org,2002:int'\n");
  refuse("a: 1\n? [b]\n: 2\n", "c.yaml:2:3: a key must be a single word or text\n");
  refuse("a: &a {x: 1}\nb:\n  <<: *a\n", "c.yaml:3:3: merge keys ('<<') are not allowed\n");
  refuse("&a b: 1\n", "c.yaml:1:1: a key cannot carry an anchor\n");
}

static void test_duplicate_key_errors(void **state)
{
  (void)state;
  refuse("a: 1\nb: {c: 1, c: 2}\na: 2\na: 3\n",
         "c.yaml:2:11: duplicate key 'c'; it was already given at line 2\n"
         "c.yaml:3:1: duplicate key 'a'; it was already given at line 1\n"
         "c.yaml:4:1: duplicate key 'a'; it was already given at line 1\n");
}

static void test_alias_errors(void **state)
{
  (void)state;
  refuse("a: *b\n", "c.yaml:1:4: the alias '*b' refers to no anchor before it\n");
  refuse("a: &a [*a]\n", "c.yaml:1:8: the alias '*a' is inside the value that it refers to\n");
  refuse("a: &a {b: {c: *a}}\n",
         "c.yaml:1:15: the alias '*a' is inside the value that it refers to\n");
}

#define LATIN "; save the text as UTF-8 (from Latin-1: iconv -f latin1 -t utf-8)"

static void test_byte_errors(void **state)
{
  (void)state;
  refuse("a: 1\nb: \xff\n", "c.yaml:2:4: not UTF-8: byte 0xff" LATIN "\n");
  refuse("\xc3\xa9: \xc0\x80\n", "c.yaml:1:4: not UTF-8: byte 0xc0" LATIN "\n");
  refuse("a: \xed\xa0\x80\n", "c.yaml:1:4: not UTF-8: byte 0xed" LATIN "\n");
  refuse("a: \xe2\x82", "c.yaml:1:4: not UTF-8: byte 0xe2" LATIN "\n");
  refuse_n("a: x\0y\n", 7, "c.yaml:1:5: a zero byte: this is not a text file\n");
  refuse("a: \x1b[1m\n", "c.yaml:1:4: the character U+001B is not allowed; remove it\n");
  refuse("a: \"x\\0y\"\n", "c.yaml:1:4: text must not contain the character NUL\n");
}

/* Ten levels of ten aliases would be 10^10 values. */
static void test_billion_laughs(void **state)
{
  struct gpumc_text text = {0};
  struct gpumc_report report = {0};
  (void)state;
  gpumc_text_append(&text, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
  for (int i = 1; i < 10; i++) {
    gpumc_text_append(&text, "a%d: &a%d [*a%d", i, i, i - 1);
    for (int j = 1; j < 10; j++)
      gpumc_text_append(&text, ", *a%d", i - 1);
    gpumc_text_append(&text, "]\n");
  }
  struct gpumc_document document = parse_n(text.characters, text.length, &report);
  assert_null(document.root);
  assert_int_equal(report.mistakes, 1);
  assert_non_null(strstr(gpumc_text_string(&report.lines),
                         "too large: more than 300000 keys and values when aliases are expanded; "
                         "use shorter lists, or several configurations"));
  gpumc_document_free(&document);
  gpumc_report_free(&report);
  gpumc_text_free(&text);
}

static void refuse_repeated(const char *head, const char *unit, int count, const char *words)
{
  struct gpumc_text text = {0};
  struct gpumc_report report = {0};
  gpumc_text_append(&text, "%s", head);
  for (int i = 0; i < count; i++)
    gpumc_text_append(&text, "%s", unit);
  struct gpumc_document document = parse_n(text.characters, text.length, &report);
  assert_null(document.root);
  if (strstr(gpumc_text_string(&report.lines), words) == NULL)
    fail_msg("no '%s' in: %.200s", words, gpumc_text_string(&report.lines));
  gpumc_document_free(&document);
  gpumc_report_free(&report);
  gpumc_text_free(&text);
}

static void test_size_errors(void **state)
{
  (void)state;
  refuse_repeated("a: ", "[", 33, "nested more than 32 levels deep");
  refuse_repeated("a: ", "{b: ", 20000, "nested more than 32 levels deep");
  refuse_repeated("a: [", "x,", 300000, "too large: more than 300000 keys and values");
  refuse_repeated("a: [", "&x y,", 2000, "more than 1000 anchors");
  refuse_repeated("a: ", "0123456789", 840000,
                  "c.yaml:1:1: larger than 8 MiB; use shorter lists with fewer digits, or several");
}

/* A 1 KiB text and 8200 aliases to it exceed 8 MiB. */
static void test_size_of_aliases_errors(void **state)
{
  struct gpumc_text head = {0};
  (void)state;
  gpumc_text_append(&head, "a: &a %01024d\nb: [", 0);
  refuse_repeated(head.characters, "*a, ", 8200,
                  "too large: more than 8 MiB of keys and values when aliases are expanded; use "
                  "shorter texts and lists, or several configurations");
  gpumc_text_free(&head);
  refuse_repeated("a: &a [[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]\nb: [[[[[[[[[[[[[[[[", "*a, ", 1,
                  "c.yaml:2:20: nested more than 32 levels deep");
}

/* Has the maximum number of keys and values, 54 of them around the long list, and the maximum
 * depth. */
static void test_largest_document(void **state)
{
  struct gpumc_text text = {0};
  struct gpumc_report report = {0};
  (void)state;
  gpumc_text_append(
      &text, "b: &b [[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]\nc: [[[[[[[[[[[[[[[*b]]]]]]]]]]]]]]]\na: [");
  for (int i = 0; i < 300000 - 54; i++)
    gpumc_text_append(&text, "%d, ", i);
  gpumc_text_append(&text, "]\n");
  struct gpumc_document document = parse_n(text.characters, text.length, &report);
  assert_string_equal(gpumc_text_string(&report.lines), "");
  assert_int_equal(gpumc_node_find(document.root, "a")->count, 300000 - 54);
  gpumc_document_free(&document);
  gpumc_report_free(&report);
  gpumc_text_free(&text);
}

static void test_many_mistakes_errors(void **state)
{
  struct gpumc_text text = {0};
  struct gpumc_report report = {0};
  (void)state;
  for (int i = 0; i < 20000; i++)
    gpumc_text_append(&text, "a: 1\n");
  struct gpumc_document document = parse_n(text.characters, text.length, &report);
  assert_int_equal(report.mistakes, GPUMC_MISTAKES_LISTED + 1);
  assert_int_equal(report.calls, 19999);
  assert_non_null(strstr(gpumc_text_string(&report.lines),
                         "c.yaml:1002:1: more than 1000 mistakes; the rest is not listed\n"));
  gpumc_document_free(&document);
  gpumc_report_free(&report);
  gpumc_text_free(&text);
}

static void test_report_lines(void **state)
{
  struct gpumc_report report = {0};
  struct gpumc_mark mark = {.source = "a\nb", .line = 10, .column = 1};
  (void)state;
  gpumc_report_mistake(&report, mark, "key '%s'", "x\ny\x7f\xc2\x9b\xc3\xa9");
  mark.line = 9;
  gpumc_report_mistake(&report, mark, "again");
  gpumc_report_mistake(&report, mark, "again");
  assert_int_equal(report.mistakes, 2);
  assert_int_equal(report.calls, 3);
  gpumc_report_sort(&report);
  assert_string_equal(gpumc_text_string(&report.lines),
                      "a\\x0ab:9:1: again\na\\x0ab:10:1: key 'x\\x0ay\\x7f\\x9b\xc3\xa9'\n");
  gpumc_report_free(&report);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_marks),
      cmocka_unit_test(test_aliases_are_copies),
      cmocka_unit_test(test_byte_order_mark),
      cmocka_unit_test(test_syntax_errors),
      cmocka_unit_test(test_duplicate_key_errors),
      cmocka_unit_test(test_alias_errors),
      cmocka_unit_test(test_byte_errors),
      cmocka_unit_test(test_billion_laughs),
      cmocka_unit_test(test_size_errors),
      cmocka_unit_test(test_size_of_aliases_errors),
      cmocka_unit_test(test_largest_document),
      cmocka_unit_test(test_many_mistakes_errors),
      cmocka_unit_test(test_report_lines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

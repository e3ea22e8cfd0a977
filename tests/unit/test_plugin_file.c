/* The note of a plugin, read from files as bytes: intact notes, other files, and thousands of
 * damaged ones. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/plugins/plugin_file.h"
#include "core/plugins/plugin_set.h"
#include "support/work_directory.h"

/* A shared object with only its header, a segment of notes, another program's note, and ours, and a
 * segment to be loaded. */
enum { NOTES = 256, LAYOUT_MAXIMUM = 4096, LOADED_BYTES = 4096 };
struct object {
  Elf64_Ehdr header;
  Elf64_Phdr segment, load;
  char padding[NOTES - sizeof(Elf64_Ehdr) - 2 * sizeof(Elf64_Phdr)];
  struct {
    Elf64_Nhdr header;
    char owner[4], contents[8];
  } other;
  struct {
    Elf64_Nhdr header;
    char owner[8];
    struct gpumc_plugin_note note;
    uint32_t layout[LAYOUT_MAXIMUM];
  } ours;
  char loaded[LOADED_BYTES];
};

static void make(struct object *object)
{
  FILE *self = fopen("/proc/self/exe", "rb");
  memset(object, 0, sizeof *object);
  assert_non_null(self);
  assert_int_equal(fread(&object->header, sizeof object->header, 1, self), 1);
  fclose(self);
  object->header.e_type = ET_DYN;
  object->header.e_phoff = offsetof(struct object, segment);
  object->header.e_phnum = 2;
  object->header.e_phentsize = sizeof(Elf64_Phdr);
  object->segment =
      (Elf64_Phdr){.p_type = PT_NOTE,
                   .p_offset = offsetof(struct object, other),
                   .p_filesz = offsetof(struct object, loaded) - offsetof(struct object, other)};
  object->load = (Elf64_Phdr){.p_type = PT_LOAD,
                              .p_offset = offsetof(struct object, loaded),
                              .p_filesz = sizeof *object - offsetof(struct object, loaded)};
  object->other.header = (Elf64_Nhdr){.n_namesz = 4, .n_descsz = 5, .n_type = 1};
  memcpy(object->other.owner, "GNU", 4);
  assert_true(gpumc_plugin_layout_count < LAYOUT_MAXIMUM);
  object->ours.header =
      (Elf64_Nhdr){.n_namesz = sizeof GPUMC_PLUGIN_OWNER,
                   .n_descsz = (Elf64_Word)(sizeof object->ours.note +
                                            gpumc_plugin_layout_count * sizeof(uint32_t)),
                   .n_type = GPUMC_PLUGIN_NOTE_TYPE};
  memcpy(object->ours.owner, GPUMC_PLUGIN_OWNER, sizeof GPUMC_PLUGIN_OWNER);
  object->ours.note = (struct gpumc_plugin_note){.abi = GPUMC_PLUGIN_ABI,
                                                 .n_layout = (uint32_t)gpumc_plugin_layout_count,
                                                 .name = "some",
                                                 .version = "1.0",
                                                 .models = "one two ",
                                                 .algorithms = "three "};
  for (size_t i = 0; i < gpumc_plugin_layout_count; i++)
    object->ours.layout[i] = gpumc_plugin_layout[i].bytes;
}

/* Returns the verdict on the file: "" if it can be used. */
static const char *verdict(const void *bytes, size_t size)
{
  static char text[sizeof((struct gpumc_plugin_file *)0)->why_not];
  struct gpumc_plugin_file file;
  struct gpumc_error error = {0};
  write_file("x.so", bytes, size);
  const enum gpumc_status status = gpumc_plugin_file_read("x.so", &file, &error);
  assert_true(status == GPUMC_OK || status == GPUMC_INVALID);
  snprintf(text, sizeof text, "%s", status == GPUMC_OK ? file.why_not : gpumc_error_text(&error));
  gpumc_error_free(&error);
  gpumc_plugin_file_free(&file);
  return text;
}

static void assert_refused(const struct object *object, const char *words)
{
  const char *said = verdict(object, sizeof *object);
  if (strstr(said, words) == NULL)
    fail_msg("\"%s\" instead of \"%s\"", said, words);
}

static void test_a_note_is_read(void **state)
{
  struct object object;
  struct gpumc_plugin_file file;
  struct gpumc_error error = {0};
  (void)state;
  make(&object);
  assert_string_equal(verdict(&object, sizeof object), "");
  assert_int_equal(gpumc_plugin_file_read("x.so", &file, &error), GPUMC_OK);
  assert_string_equal(file.note.name, "some");
  assert_true(gpumc_plugin_lists(file.note.models, "one"));
  assert_true(gpumc_plugin_lists(file.note.models, "two"));
  assert_false(gpumc_plugin_lists(file.note.models, "on"));
  assert_false(gpumc_plugin_lists(file.note.models, "three"));
  assert_false(gpumc_plugin_lists("", ""));
  gpumc_plugin_file_free(&file);
  gpumc_plugin_file_free(&file);
}

static void test_other_objects_errors(void **state)
{
  struct object good, object;
  (void)state;
  make(&good);
  object = good, object.ours.note.abi++;
  assert_refused(&object, "built for plugin ABI 2, but this gpumc has ABI 1");
  object = good, object.ours.layout[gpumc_plugin_layout_count - 1]++;
  assert_refused(&object, "differs");
  object = good, object.ours.note.n_layout--;
  assert_refused(&object, "the list of structs differs");
  object = good, object.ours.note.n_layout = UINT32_MAX;
  assert_refused(&object, "damaged");
  object = good, object.ours.note.name[0] = '\0';
  assert_refused(&object, "damaged");
  object = good, object.ours.note.name[0] = '/';
  assert_refused(&object, "damaged");
  object = good, memset(object.ours.note.kernels, 'k', sizeof object.ours.note.kernels);
  assert_refused(&object, "damaged");
  object = good, object.ours.owner[0] = 'G';
  assert_refused(&object, "no gpumc note");
  object = good, object.ours.header.n_type = 2;
  assert_refused(&object, "no gpumc note");
  object = good, object.ours.header.n_descsz = UINT32_MAX - 1;
  assert_refused(&object, "no gpumc note");
  object = good, object.other.header.n_namesz = UINT32_MAX;
  assert_refused(&object, "no gpumc note");
  object = good, object.segment.p_filesz = 0;
  assert_refused(&object, "no gpumc note");
  object = good, object.header.e_phoff = UINT64_MAX - 16;
  assert_refused(&object, "not a shared object");
  object = good, object.header.e_phnum = UINT16_MAX;
  assert_refused(&object, "not a shared object");
  object = good, object.header.e_type = ET_REL;
  assert_refused(&object, "not a shared object");
  object = good, object.header.e_machine ^= 0x80;
  assert_refused(&object, "another kind of processor");
  object = good, object.header.e_ident[EI_CLASS] = ELFCLASS32;
  assert_refused(&object, "another kind of processor");
  object = good, object.header.e_ident[0] = 'E';
  assert_refused(&object, "not a shared object");
}

/* Every segment with contents is within the file. */
static void test_files_cut_off_errors(void **state)
{
  static const Elf64_Word types[] = {PT_LOAD, PT_DYNAMIC, PT_NOTE, PT_TLS, PT_GNU_RELRO};
  static const char words[] = "x.so: damaged: the file was cut off; copy or build it again";
  static const size_t missing[] = {
      1, 100, LOADED_BYTES - 1, LOADED_BYTES, LOADED_BYTES + 1, LOADED_BYTES + 5000};
  struct object good, object;
  (void)state;
  make(&good);
  for (size_t k = 0; k < sizeof missing / sizeof *missing; k++)
    assert_string_equal(verdict(&good, sizeof good - missing[k]), words);
  for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
    object = good, object.load.p_type = types[k];
    assert_string_equal(verdict(&object, sizeof object), "");
    assert_string_equal(verdict(&object, sizeof object - 1), words);
  }
  object = good, object.segment.p_offset = UINT64_MAX - 8;
  assert_refused(&object, words);
  object = good, object.segment.p_filesz = UINT64_MAX;
  assert_refused(&object, words);
  object = good, object.load.p_filesz++;
  assert_refused(&object, words);
  /* Without contents in the file. */
  object = good, object.load.p_filesz = 0, object.load.p_offset = UINT64_MAX;
  assert_string_equal(verdict(&object, sizeof object), "");
}

/* Whatever is cut off or changed, the file is read within its bounds, which sanitizers watch. */
static void test_damaged_files(void **state)
{
  struct object good;
  (void)state;
  make(&good);
  for (size_t size = 0; size < sizeof good; size += size < 512 ? 1 : 499) {
    void *part = malloc(size + 1);
    memcpy(part, &good, size);
    assert_string_not_equal(verdict(part, size),
                            ""); /* the segment would be longer than the file */
    free(part);
  }
  uint32_t random = 1;
  for (int k = 0; k < 3000; k++) {
    struct object object = good;
    for (int changes = 1 + k % 4; changes > 0; changes--) {
      random = random * 1664525u + 1013904223u;
      const size_t at = (random >> 8) % (offsetof(struct object, ours.layout) + 64);
      ((unsigned char *)&object)[at] ^= (unsigned char)(1u << (random & 7));
    }
    (void)verdict(&object, sizeof object);
  }
}

static void test_no_files_errors(void **state)
{
  struct gpumc_plugin_set set;
  struct gpumc_error error = {0};
  (void)state;
  assert_int_equal(gpumc_plugin_set_init(&set, &error), GPUMC_OK);
  assert_int_equal(gpumc_plugin_set_add(&set, "./nothing.so", "folder/c.yaml", &error),
                   GPUMC_INVALID);
  assert_string_equal(gpumc_error_text(&error),
                      "folder/./nothing.so: cannot open the plugin: No such file or directory");
  gpumc_error_free(&error);
  assert_int_equal(setenv("GPUMC_PLUGIN_PATH", "here:there", 1), 0);
  assert_int_equal(gpumc_plugin_set_add(&set, "nothing", NULL, &error), GPUMC_INVALID);
  assert_non_null(
      strstr(gpumc_error_text(&error), "there is no plugin 'nothing' in here, there, "));
  gpumc_error_free(&error);
  gpumc_plugin_set_free(&set);
  gpumc_plugin_set_free(&set);
}

static void test_versions_agree(void **state)
{
  static const char one[] =
      "[{\"name\": \"a\", \"version\": \"1\"}, {\"name\": \"b\", \"version\": \"1\"}]";
  static const char other[] = "[{\"name\": \"b\", \"version\": \"2\"}]";
  static const char more[] =
      "[{\"name\": \"c\", \"version\": \"1\"}, {\"name\": \"b\", \"version\": \"2\"}]";
  static const char newer[] =
      "[{\"name\": \"b\", \"version\": \"2\"}, {\"name\": \"a\", \"version\": \"1\"}]";
  static const char kernels[] = "[{\"name\": \"b\", \"version\": \"2\"}, {\"name\": \"k\", "
                                "\"version\": \"1\", \"models\": \"\", \"algorithms\": \"\"}]";
  static const char third[] = "[{\"name\": \"c\", \"version\": \"2\"}]";
  char difference[256];
  (void)state;
  assert_true(gpumc_plugins_agree(NULL, NULL, difference));
  assert_true(gpumc_plugins_agree(NULL, one, difference));
  assert_true(gpumc_plugins_agree(one, one, difference));
  assert_true(gpumc_plugins_agree(other, more, difference));
  assert_true(gpumc_plugins_agree(kernels, other, difference));
  assert_true(gpumc_plugins_agree("no JSON", one, difference));
  assert_false(gpumc_plugins_agree(one, other, difference));
  assert_string_equal(difference, "version 1 of plugin a, which is not in use here");
  assert_false(gpumc_plugins_agree(one, newer, difference));
  assert_string_equal(difference, "version 1 of plugin b, but this is version 2");
  assert_false(gpumc_plugins_agree(other, third, difference));
  assert_string_equal(difference, "version 2 of plugin b, which is not in use here");
  assert_false(gpumc_plugins_agree(other, NULL, difference));
  assert_false(gpumc_plugins_agree(kernels, more, difference));
  assert_string_equal(difference, "version 1 of plugin k, which is not in use here");
}

static void test_abi(void **state)
{
  char text[GPUMC_PLUGIN_ABI_BYTES], again[GPUMC_PLUGIN_ABI_BYTES];
  (void)state;
  assert_string_equal(gpumc_plugin_abi(text), gpumc_plugin_abi(again));
  assert_int_equal(strlen(text), 18);
  assert_memory_equal(text, "1-", 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_a_note_is_read, work_directory_enter,
                                      work_directory_leave),
      cmocka_unit_test_setup_teardown(test_other_objects_errors, work_directory_enter,
                                      work_directory_leave),
      cmocka_unit_test_setup_teardown(test_files_cut_off_errors, work_directory_enter,
                                      work_directory_leave),
      cmocka_unit_test_setup_teardown(test_damaged_files, work_directory_enter,
                                      work_directory_leave),
      cmocka_unit_test_setup_teardown(test_no_files_errors, work_directory_enter,
                                      work_directory_leave),
      cmocka_unit_test(test_versions_agree),
      cmocka_unit_test(test_abi),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

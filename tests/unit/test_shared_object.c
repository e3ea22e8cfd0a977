/* Shared objects as bytes: damaged ones are refused before the loader follows them, and those that
 * everyone can write to are seen. */
#include <dlfcn.h>
#include <elf.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/module_note.h"
#include "core/base/shared_object.h"
#include "support/draw.h"
#include "support/status.h"
#include "support/work_directory.h"

enum { DRAWN = 2000 };

/* A shared object of the build. */
static const char *sample(void)
{
  static char path[4096];
  const char *build = getenv("GPUMC_BUILD");
  snprintf(path, sizeof path, "%s/tests/libgpumc_faults.so",
           build != NULL ? build : "build/release");
  return path;
}

/* Whether a process lives that gives the file to the loader: that may be ended by a signal, or by
 * the loader. */
static bool survives(const char *path)
{
  int state;
  const pid_t child = fork();
  if (child == 0) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
      signal(signals[i], SIG_DFL); /* not cmocka's */
    (void)dlopen(path, RTLD_NOW | RTLD_LOCAL);
    _exit(0);
  }
  assert_int_equal(waitpid(child, &state, 0), child);
  return WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

/* Numbers of one case, in turn. */
struct numbers {
  uint32_t number, used;
};

static uint64_t next(struct numbers *numbers, uint64_t below)
{
  return test_draw(1, numbers->number, numbers->used++) % below;
}

/* Damages one place of the header, of the segments, of the dynamic table or of the sections' table.
 */
static void damage(unsigned char *bytes, size_t size, struct numbers *numbers)
{
  static const uint64_t values[] = {
      0, 1, 8, 0xfff, 0x1000, 0x7fffffff, 0xffffffff, UINT64_MAX, UINT64_C(1) << 47};
  Elf64_Ehdr header;
  Elf64_Phdr segment;
  memcpy(&header, bytes, sizeof header);
  size_t begin = header.e_phoff, room = header.e_phnum * sizeof(Elf64_Phdr);
  const uint64_t kind = next(numbers, 8);
  if (kind == 0) {
    begin = 16; /* what identifies the file is looked at before */
    room = sizeof header - begin;
  } else if (kind == 1) {
    begin = header.e_shoff;
    room = header.e_shnum * sizeof(Elf64_Shdr);
  } else if (kind >= 5) {
    for (size_t i = 0; i < header.e_phnum; i++) {
      memcpy(&segment, bytes + header.e_phoff + i * sizeof segment, sizeof segment);
      if (segment.p_type == PT_DYNAMIC) {
        begin = segment.p_offset;
        room = segment.p_filesz;
      }
    }
  }
  assert_true(begin + room <= size);
  if (next(numbers, 2) == 0) {
    bytes[begin + next(numbers, room)] ^= (unsigned char)(1 + next(numbers, 255));
  } else {
    const uint64_t value = values[next(numbers, sizeof values / sizeof *values)] + next(numbers, 3);
    const size_t place = begin + 8 * next(numbers, room / 8);
    memcpy(bytes + place, &value, sizeof value);
  }
}

static void test_damaged_files_are_refused_or_harmless(void **state)
{
  size_t size, refused = 0, opened = 0;
  unsigned char *whole = file_bytes(sample(), &size), *bytes = malloc(size);
  (void)state;
  assert_non_null(bytes);
  assert_null(gpumc_elf_flaw(whole, size));
  for (uint32_t number = 0; number < DRAWN; number++) {
    struct numbers numbers = {.number = number};
    struct gpumc_error error = {0};
    memcpy(bytes, whole, size);
    damage(bytes, size, &numbers);
    write_file("damaged.so", bytes, size);
    if (gpumc_shared_object_whole("damaged.so", "plugin", "build it", &error) != GPUMC_OK) {
      refused++;
    } else {
      opened++;
      if (!survives("./damaged.so"))
        fail_msg("damage %u was not seen, and ends the process that opens the file", number);
    }
    gpumc_error_free(&error);
  }
  print_message("%zu refused, %zu harmless\n", refused, opened);
  assert_true(refused > DRAWN / 3);
  free(bytes);
  free(whole);
}

/* The number of drawn damages of which the loader dies, if nothing looks before it: what the test
 * above would find. */
static void test_control_the_loader_dies_of_some(void **state)
{
  size_t size, died = 0;
  unsigned char *whole = file_bytes(sample(), &size), *bytes = malloc(size);
  (void)state;
  assert_non_null(bytes);
  for (uint32_t number = 0; number < DRAWN / 8; number++) {
    struct numbers numbers = {.number = number};
    memcpy(bytes, whole, size);
    damage(bytes, size, &numbers);
    write_file("damaged.so", bytes, size);
    died += !survives("./damaged.so");
  }
  print_message("%zu of %d\n", died, DRAWN / 8);
  assert_true(died > 0);
  free(bytes);
  free(whole);
}

static void test_files_that_end_early(void **state)
{
  size_t size;
  unsigned char *whole = file_bytes(sample(), &size);
  (void)state;
  for (size_t part = sizeof(Elf64_Ehdr); part < size; part += 1 + size / 400) {
    unsigned char *bytes = malloc(part);
    assert_non_null(bytes);
    memcpy(bytes, whole, part);
    write_file("part.so", bytes, part);
    if (gpumc_elf_flaw(bytes, part) == NULL)
      assert_true(survives("./part.so"));
    free(bytes);
  }
  free(whole);
}

static void expect_exposed(const char *path, const char *place)
{
  char found[4096] = "";
  const bool exposed = gpumc_shared_object_is_exposed(path, found, sizeof found);
  assert_int_equal(exposed, place != NULL);
  if (place != NULL && strcmp(found + strlen(found) - strlen(place), place) != 0)
    fail_msg("%s in place of %s", found, place);
}

static void test_what_everyone_can_write_to(void **state)
{
  (void)state;
  assert_int_equal(mkdir("folder", 0755) | mkdir("folder/below", 0755), 0);
  write_file("folder/below/x.so", "", 0);
  assert_int_equal(chmod("folder/below/x.so", 0664), 0);
  expect_exposed("folder/below/x.so", NULL);
  assert_int_equal(chmod("folder/below/x.so", 0666), 0);
  expect_exposed("folder/below/x.so", "below/x.so");
  assert_int_equal(chmod("folder/below/x.so", 0644), 0);
  assert_int_equal(chmod("folder/below", 0777), 0);
  expect_exposed("folder/below/x.so", "folder/below");
  assert_int_equal(chmod("folder/below", 0775), 0);
  assert_int_equal(chmod("folder", 0757), 0);
  expect_exposed("folder/below/x.so", "folder");
  assert_int_equal(chmod("folder", 01777), 0); /* as /tmp: others cannot take files away */
  expect_exposed("folder/below/x.so", NULL);
  assert_int_equal(symlink("folder/below/x.so", "link.so"), 0);
  assert_int_equal(chmod("folder/below", 0777), 0);
  expect_exposed("link.so", "folder/below");
  expect_exposed("absent.so", NULL);
}

/* What a module has to say before anything of it runs. */
static void test_modules(void **state)
{
  struct gpumc_error error = {0};
  size_t size;
  unsigned char *whole = file_bytes(sample(), &size);
  (void)state;
  write_file("module.so", whole, size);
  assert_refused(gpumc_module_check("module.so", GPUMC_NOTE_MPI, 2, &error), &error,
                 "module.so belongs to another version of gpumc", "again");
  assert_int_equal(chmod("module.so", 0666), 0);
  assert_refused(gpumc_module_check("module.so", GPUMC_NOTE_MPI, 2, &error), &error,
                 "everyone can write to", "chmod o-w");
  write_file("text.so", "no module", 9);
  assert_refused(gpumc_module_check("text.so", GPUMC_NOTE_MPI, 2, &error), &error,
                 "not a module of gpumc", "not a shared object");
  assert_refused(gpumc_module_check("absent.so", GPUMC_NOTE_MPI, 2, &error), &error, "absent.so",
                 "No such file");
  free(whole);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, work_directory_enter, work_directory_leave)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(test_damaged_files_are_refused_or_harmless),
      TEST(test_control_the_loader_dies_of_some),
      TEST(test_files_that_end_early),
      TEST(test_what_everyone_can_write_to),
      TEST(test_modules),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

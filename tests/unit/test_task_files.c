/* A task's files: names, lock, status record, removal. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/files.h"
#include "core/storage/hdf5_file.h"
#include "core/storage/side_files.h"
#include "support/status.h"
#include "support/work_directory.h"

static struct gpumc_task_files names(void)
{
  struct gpumc_task_files files;
  struct gpumc_error error = {0};
  assert_ok(gpumc_task_files_init(&files, "a/b/x.h5", &error), &error);
  return files;
}

static void test_names(void **state)
{
  (void)state;
  struct gpumc_task_files files = names();
  assert_string_equal(files.output, "a/b/x.h5");
  assert_string_equal(files.partial, "a/b/x.h5.partial");
  assert_string_equal(files.checkpoint, "a/b/x.h5.ckpt");
  assert_string_equal(files.log, "a/b/x.h5.log");
  assert_string_equal(files.lock, "a/b/x.h5.lock");
  assert_string_equal(files.status, "a/b/x.h5.status");
  gpumc_task_files_free(&files);
  gpumc_task_files_free(&files);
}

static void test_lock(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_task_lock *lock;
  struct gpumc_task_files files = names();
  long process;
  assert_false(gpumc_task_lock_held(&files, &process));
  for (int i = 0; i < 3; i++) {
    assert_ok(gpumc_task_lock_acquire(&files, &lock, &error), &error);
    assert_true(gpumc_task_lock_held(&files, &process));
    assert_int_equal(process, getpid());
    gpumc_task_lock_release(lock);
    assert_false(gpumc_file_exists(files.lock));
    assert_false(gpumc_task_lock_held(&files, NULL));
  }
  gpumc_task_lock_release(NULL);
  write_file(files.lock, "gpumc 99999 elsewhere\n", 22);
  assert_false(gpumc_task_lock_held(&files, NULL));
  assert_ok(gpumc_task_lock_acquire(&files, &lock, &error), &error);
  gpumc_task_lock_release(lock);
  gpumc_task_files_free(&files);
}

static void test_lock_errors(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_task_lock *lock;
  struct gpumc_task_lock *second;
  char expected[64];
  struct gpumc_task_files files = names();
  int ready[2];
  char byte;
  assert_int_equal(pipe(ready), 0);
  pid_t child = fork();
  if (child == 0) {
    if (gpumc_task_lock_acquire(&files, &lock, &error) != GPUMC_OK || write(ready[1], "x", 1) != 1)
      _exit(1);
    for (;;)
      pause();
  }
  assert_int_equal(read(ready[0], &byte, 1), 1);
  assert_int_equal(gpumc_task_lock_acquire(&files, &second, &error), GPUMC_BUSY);
  assert_null(second);
  snprintf(expected, sizeof expected, "a/b/x.h5 is being worked on by process %ld on ",
           (long)child);
  assert_non_null(strstr(gpumc_error_text(&error), expected));
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  /* Its file is still there and is no obstacle. */
  assert_true(gpumc_file_exists(files.lock));
  assert_false(gpumc_task_lock_held(&files, NULL));
  assert_ok(gpumc_task_lock_acquire(&files, &lock, &error), &error);
  gpumc_task_lock_release(lock);
  gpumc_error_free(&error);
  gpumc_task_files_free(&files);
}

/* Child processes take and release the lock in turn; the one that has it must be alone. */
static void test_lock_is_exclusive(void **state)
{
  (void)state;
  enum { CHILDREN = 4, TURNS = 200 };
  pid_t children[CHILDREN];
  struct gpumc_task_files files = names();
  for (int i = 0; i < CHILDREN; i++) {
    children[i] = fork();
    if (children[i] != 0)
      continue;
    struct gpumc_error error = {0};
    struct gpumc_task_lock *lock;
    for (int turn = 0; turn < TURNS;) {
      if (gpumc_task_lock_acquire(&files, &lock, &error) != GPUMC_OK)
        continue;
      FILE *alone = fopen("alone", "wx");
      if (alone == NULL)
        _exit(1);
      fclose(alone);
      unlink("alone");
      gpumc_task_lock_release(lock);
      turn++;
    }
    _exit(0);
  }
  for (int i = 0; i < CHILDREN; i++) {
    int status;
    waitpid(children[i], &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  gpumc_task_files_free(&files);
}

static void test_status_record(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_status_record read;
  struct gpumc_task_files files = names();
  struct gpumc_status_record record = {GPUMC_RECORD_FAILED,     0.25, 12.5, NAN, 0,
                                       "\"no\"\nspace \xce\xb2"};
  assert_ok(gpumc_directory_prepare(files.output, &error), &error);
  assert_false(gpumc_status_record_read(&files, &read));
  assert_ok(gpumc_status_record_write(&files, &record, &error), &error);
  assert_true(gpumc_status_record_read(&files, &read));
  assert_int_equal(read.state, GPUMC_RECORD_FAILED);
  assert_true(read.fraction == 0.25 && read.seconds == 12.5 && read.remaining_seconds < 0);
  assert_true(read.updated > 1e9);
  assert_string_equal(read.message, record.message);
  gpumc_task_files_free(&files);
}

static void test_status_record_errors(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_status_record record = {.state = GPUMC_RECORD_RUNNING, .fraction = 0.5};
  struct gpumc_task_files files = names();
  assert_int_equal(gpumc_status_record_write(&files, &record, &error), GPUMC_FAILURE);
  assert_non_null(strstr(gpumc_error_text(&error), "a/b/x.h5.status: cannot write"));
  gpumc_error_free(&error);
  assert_ok(gpumc_directory_prepare(files.output, &error), &error);
  assert_ok(gpumc_status_record_write(&files, &record, &error), &error);
  size_t size;
  unsigned char *bytes = file_bytes(files.status, &size);
  for (size_t length = 0; length + 2 < size; length++) {
    write_file(files.status, bytes, length);
    assert_false(gpumc_status_record_read(&files, &record));
  }
  for (size_t i = 0; i < size; i++)
    for (int bit = 0; bit < 8; bit++) {
      bytes[i] ^= (unsigned char)(1 << bit);
      write_file(files.status, bytes, size);
      (void)gpumc_status_record_read(&files, &record);
      bytes[i] ^= (unsigned char)(1 << bit);
    }
  free(bytes);
  static const char *const others[] = {"[]", "{}", "null", "{\"state\": 3}",
                                       "{\"state\": \"odd\"}"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    write_file(files.status, others[i], strlen(others[i]));
    assert_false(gpumc_status_record_read(&files, &record));
  }
  gpumc_task_files_free(&files);
}

static void test_remove(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  write_file("x", "first", 5);
  assert_ok(gpumc_file_remove("x", &error), &error);
  assert_false(gpumc_file_exists("x"));
  assert_ok(gpumc_file_remove("x", &error), &error);
  assert_int_equal(gpumc_file_remove(".", &error), GPUMC_FAILURE);
  gpumc_error_free(&error);
}

int main(void)
{
  gpumc_hdf5_prepare_program();
#define TEST(name) cmocka_unit_test_setup_teardown(name, work_directory_enter, work_directory_leave)
  const struct CMUnitTest tests[] = {
      TEST(test_names),         TEST(test_lock),
      TEST(test_lock_errors),   TEST(test_lock_is_exclusive),
      TEST(test_status_record), TEST(test_status_record_errors),
      TEST(test_remove),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

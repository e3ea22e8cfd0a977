/* Opening only regular files, and recognizing our own. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/files.h"
#include "core/storage/checkpoint.h"
#include "core/storage/hdf5_file.h"
#include "core/storage/side_files.h"
#include "support/status.h"
#include "support/work_directory.h"

static void make_specials(void)
{
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
  int made = socket(AF_UNIX, SOCK_STREAM, 0);
  assert_int_equal(bind(made, (struct sockaddr *)&address, sizeof address), 0);
  close(made);
  assert_int_equal(mkfifo("fifo", 0600), 0);
  assert_int_equal(mkdir("directory", 0700), 0);
  assert_int_equal(symlink("nowhere", "dangling"), 0);
  assert_int_equal(symlink("looping", "looping"), 0);
  assert_int_equal(symlink("file", "link"), 0);
}

static void test_only_regular_files_are_opened(void **state)
{
  static const struct {
    const char *path, *reason;
  } cases[] = {
      {"fifo", "not a regular file but a FIFO"},
      {"socket", "not a regular file but a socket"},
      {"directory", "not a regular file but a directory"},
      {"/dev/null", "not a regular file but a device"},
      {"dangling", "No such file or directory"},
      {"looping", "Too many levels of symbolic links"},
      {"absent", "No such file or directory"},
  };
  static const int ways[] = {O_RDONLY, O_RDWR, O_WRONLY};
  (void)state;
  make_specials();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
      const char *reason = NULL;
      assert_int_equal(gpumc_regular_open(cases[i].path, ways[way], &reason), -1);
      assert_string_equal(reason, cases[i].reason);
      assert_int_equal(errno == EINVAL, strncmp(reason, "not a", 5) == 0);
    }
}

static void test_what_is_opened(void **state)
{
  const char *reason;
  struct stat found;
  (void)state;
  make_specials();
  int descriptor = gpumc_regular_open("file", O_RDWR | O_CREAT | O_NOFOLLOW, &reason);
  assert_true(descriptor >= 0);
  assert_int_equal(write(descriptor, "text", 4), 4);
  assert_int_equal(fcntl(descriptor, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  close(descriptor);
  FILE *stream = gpumc_regular_stream("link", &reason);
  assert_non_null(stream);
  assert_int_equal(fgetc(stream), 't');
  fclose(stream);
  assert_int_equal(gpumc_regular_open("link", O_RDWR | O_TRUNC | O_NOFOLLOW, &reason), -1);
  assert_int_equal(stat("file", &found), 0);
  assert_int_equal(found.st_size, 4);
  descriptor = gpumc_regular_open("file", O_RDWR | O_TRUNC, &reason);
  assert_int_equal(fstat(descriptor, &found), 0);
  assert_int_equal(found.st_size, 0);
  close(descriptor);
}

static void test_our_own_are_known(void **state)
{
  static const struct {
    const char *text;
    enum gpumc_side side;
    bool ours;
  } cases[] = {
      {"", GPUMC_SIDE_PARTIAL, true},
      {"gpumc-checkpoint", GPUMC_SIDE_CHECKPOINT, true},
      {"gpumc-checkpoint and more", GPUMC_SIDE_CHECKPOINT, true},
      {"gpumc-checkpoin", GPUMC_SIDE_CHECKPOINT, false},
      {"gpumc-series-log", GPUMC_SIDE_LOG, true},
      {"gpumc-series-log", GPUMC_SIDE_CHECKPOINT, false},
      {"gpumc 12 host\n", GPUMC_SIDE_LOCK, true},
      {"12 host\n", GPUMC_SIDE_LOCK, false},
      {"{\"state\":\"running\"}", GPUMC_SIDE_STATUS, false},
      {"{\"state\":\"stopped\",\"fraction\":null,\"seconds\":1,\"remaining_seconds\":null,"
       "\"message\":\"\",\"updated\":2}",
       GPUMC_SIDE_STATUS, true},
      {"{\"state\":\"stopped\",\"fraction\":null,\"seconds\":1,\"remaining_seconds\":null,"
       "\"message\":\"\",\"updated\":2,\"mine\":3}",
       GPUMC_SIDE_STATUS, false},
      {"\x89HDF\r\n\x1a\n\x03", GPUMC_SIDE_PARTIAL, true}, /* and nothing after it */
      {"\x89HDF\r\n\x1a\n\x02 gpumc-results", GPUMC_SIDE_PARTIAL, false},
      {"\x89HDF\r\n\x1a\n\x03 ... gpumc-results", GPUMC_SIDE_PARTIAL, true},
      {"gpumc-results", GPUMC_SIDE_PARTIAL, false},
  };
  struct gpumc_error error = {0};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_file("x", cases[i].text, strlen(cases[i].text));
    const enum gpumc_presence presence = gpumc_side_file_look("x", cases[i].side);
    assert_int_equal(presence, cases[i].ours ? GPUMC_PRESENCE_OURS : GPUMC_PRESENCE_FOREIGN);
    const enum gpumc_status status = gpumc_side_file_check("x", cases[i].side, &error);
    assert_int_equal(status, cases[i].ours ? GPUMC_OK : GPUMC_FAILURE);
    gpumc_error_free(&error);
  }
  assert_int_equal(gpumc_side_file_look("absent", GPUMC_SIDE_LOG), GPUMC_PRESENCE_NONE);
}

static void test_removal_spares_others(void **state)
{
  struct gpumc_error error = {0};
  (void)state;
  write_file("x.ckpt", "mine", 4);
  write_file("x.ckpt.new", "gpumc-checkpoint", 16);
  assert_ok(gpumc_side_file_remove("x", GPUMC_SIDE_CHECKPOINT, &error), &error);
  assert_int_equal(access("x.ckpt", F_OK), 0);
  assert_int_equal(access("x.ckpt.new", F_OK), -1);
}

/* A checkpoint is recognized while it is written, and a file that is not ours is not
 * overwritten. */
static void test_checkpoint_is_marked_from_the_start(void **state)
{
  struct gpumc_error error = {0};
  struct gpumc_checkpoint_writer *writer;
  (void)state;
  assert_ok(gpumc_checkpoint_begin("x.ckpt", &writer, &error), &error);
  assert_int_equal(gpumc_side_file_look("x.ckpt.new", GPUMC_SIDE_CHECKPOINT), GPUMC_PRESENCE_OURS);
  size_t size;
  unsigned char *bytes = file_bytes("x.ckpt.new", &size);
  assert_true(size > 16);
  free(bytes);
  gpumc_checkpoint_abandon(writer);
  assert_int_equal(access("x.ckpt.new", F_OK), -1);
  write_file("x.ckpt.new", "mine", 4);
  assert_int_equal(gpumc_checkpoint_begin("x.ckpt", &writer, &error), GPUMC_FAILURE);
  gpumc_error_free(&error);
  assert_int_equal(access("x.ckpt.new", F_OK), 0);
}

int main(void)
{
  gpumc_hdf5_prepare_program();
#define TEST(name) cmocka_unit_test_setup_teardown(name, work_directory_enter, work_directory_leave)
  const struct CMUnitTest tests[] = {
      TEST(test_only_regular_files_are_opened),
      TEST(test_what_is_opened),
      TEST(test_our_own_are_known),
      TEST(test_removal_spares_others),
      TEST(test_checkpoint_is_marked_from_the_start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

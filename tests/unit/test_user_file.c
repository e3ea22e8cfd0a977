/* Files written for users: which names may be given, and what is left after a failure. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/files.h"
#include "core/base/user_file.h"
#include "support/status.h"
#include "support/work_directory.h"

static bool begins_with_ours(const char *begin)
{
  return strncmp(begin, "# ours", 6) == 0;
}

static const struct gpumc_user_file_rule new_only = {.remedy = "choose another name with -o"};
static const struct gpumc_user_file_rule own_too = {.own = begins_with_ours,
                                                    .remedy = "choose another name with -o"};
static const struct gpumc_user_file_rule any_regular = {.replace = true, .remedy = "move it away"};

static void expect_content(const char *path, const char *content)
{
  size_t size;
  unsigned char *bytes = file_bytes(path, &size);
  assert_int_equal(size, strlen(content));
  assert_memory_equal(bytes, content, size);
  free(bytes);
}

static enum gpumc_status write_text(const char *path, const char *content,
                                    const struct gpumc_user_file_rule *rule,
                                    struct gpumc_error *error)
{
  struct gpumc_text text = {0};
  gpumc_text_append(&text, "%s", content);
  const enum gpumc_status status = gpumc_user_file_write(path, &text, rule, error);
  gpumc_text_free(&text);
  return status;
}

/* Nothing but `n` names is in the directory. */
static void expect_names(const char *const *names, size_t n)
{
  FILE *list = popen("ls -A", "r");
  char name[256];
  size_t count = 0;
  assert_non_null(list);
  while (fgets(name, sizeof name, list) != NULL) {
    name[strcspn(name, "\n")] = '\0';
    assert_true(count < n);
    assert_string_equal(name, names[count++]);
  }
  pclose(list);
  assert_int_equal(count, n);
}

static void test_new_names(void **state)
{
  struct gpumc_error error = {0};
  (void)state;
  assert_ok(write_text("a", "text", &new_only, &error), &error);
  assert_ok(write_text("b/c/d", "", &new_only, &error), &error);
  expect_content("a", "text");
  expect_content("b/c/d", "");
  expect_names((const char *const[]){"a", "b"}, 2);
}

static void test_files_of_others_stay(void **state)
{
  static const char *const links[] = {"to_mine", "nowhere", "looping"};
  struct gpumc_error error = {0};
  (void)state;
  write_file("mine", "mine", 4);
  assert_int_equal(symlink("mine", "to_mine"), 0);
  assert_int_equal(symlink("absent", "nowhere"), 0);
  assert_int_equal(symlink("looping", "looping"), 0);
  assert_int_equal(mkfifo("fifo", 0600), 0);
  assert_int_equal(mkdir("folder", 0700), 0);
  const struct gpumc_user_file_rule *const rules[] = {&new_only, &own_too, &any_regular};
  for (size_t r = 0; r < 3; r++) {
    for (size_t i = 0; i < 3; i++)
      assert_refused(write_text(links[i], "# ours", rules[r], &error), &error, links[i],
                     "is a symbolic link, so it was left alone");
    assert_refused(write_text("fifo", "x", rules[r], &error), &error, "fifo",
                   "not a regular file but a FIFO");
    assert_refused(write_text("folder", "x", rules[r], &error), &error, "folder",
                   "not a regular file but a directory");
  }
  assert_refused(write_text("mine", "x", &new_only, &error), &error, "mine: already exists",
                 "choose another name");
  assert_refused(write_text("mine", "x", &own_too, &error), &error,
                 "mine: already exists and was not written by this command, so it was left alone: ",
                 "choose another name");
  expect_content("mine", "mine");
  expect_names((const char *const[]){"fifo", "folder", "looping", "mine", "nowhere", "to_mine"}, 6);
}

static void test_own_files_are_replaced(void **state)
{
  struct gpumc_error error = {0};
  (void)state;
  write_file("a", "# ours, old and longer", 22);
  assert_ok(write_text("a", "# ours, new", &own_too, &error), &error);
  expect_content("a", "# ours, new");
  assert_ok(write_text("a", "other", &any_regular, &error), &error);
  expect_content("a", "other");
  expect_names((const char *const[]){"a"}, 1);
}

/* A file that appears while ours is written is not replaced. */
static void test_a_name_that_is_taken_meanwhile(void **state)
{
  struct gpumc_user_file files[2] = {{0}};
  struct gpumc_error error = {0};
  (void)state;
  for (int i = 0; i < 2; i++) {
    assert_ok(gpumc_user_file_name(&files[i], i == 0 ? "a" : "b", &own_too, &error), &error);
    assert_ok(gpumc_user_file_open(&files[i], &error), &error);
    fputs("# ours", files[i].stream);
    assert_ok(gpumc_user_file_close(&files[i], &error), &error);
  }
  write_file("b", "mine", 4);
  assert_refused(gpumc_user_files_publish(files, 2, GPUMC_OK, &error), &error, "b: appeared", "");
  gpumc_user_files_free(files, 2);
  expect_content("b", "mine");
  expect_names((const char *const[]){"b"}, 1);
}

static void test_what_is_not_published_goes(void **state)
{
  struct gpumc_user_file file = {0};
  struct gpumc_error error = {0};
  (void)state;
  assert_ok(gpumc_user_file_name(&file, "a", &new_only, &error), &error);
  assert_ok(gpumc_user_file_open(&file, &error), &error);
  gpumc_user_files_free(&file, 1);
  gpumc_user_files_free(&file, 1);
  gpumc_user_files_free(NULL, 0);
  expect_names(NULL, 0);
}

/* In a process of its own, whose files may have at most `most` bytes. */
static int with_room(rlim_t most, bool over)
{
  const pid_t child = fork();
  if (child == 0) {
    struct gpumc_error error = {0};
    char content[3000];
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){most, most});
    memset(content, 'x', sizeof content);
    memcpy(content, "# ours", 6);
    content[sizeof content - 1] = '\0';
    const enum gpumc_status status = write_text("a", content, over ? &own_too : &new_only, &error);
    const bool told = strstr(gpumc_error_text(&error), "cannot write a: File too large") != NULL;
    _exit(status == GPUMC_OK ? 0 : told ? 1 : 2);
  }
  int ended;
  assert_int_equal(waitpid(child, &ended, 0), child);
  assert_true(WIFEXITED(ended));
  return WEXITSTATUS(ended);
}

static void test_a_full_disk_leaves_nothing(void **state)
{
  (void)state;
  for (rlim_t most = 0; most < 2999; most += 777) {
    assert_int_equal(with_room(most, false), 1);
    expect_names(NULL, 0);
  }
  write_file("a", "# ours", 6);
  for (rlim_t most = 0; most < 2999; most += 777) {
    assert_int_equal(with_room(most, true), 1);
    expect_content("a", "# ours");
    expect_names((const char *const[]){"a"}, 1);
  }
  assert_int_equal(with_room(2999, true), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, work_directory_enter, work_directory_leave)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(test_new_names),
      TEST(test_files_of_others_stay),
      TEST(test_own_files_are_replaced),
      TEST(test_a_name_that_is_taken_meanwhile),
      TEST(test_what_is_not_published_goes),
      TEST(test_a_full_disk_leaves_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

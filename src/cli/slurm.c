/* Programs that are run to their end, and what those of Slurm say. */
#include "cli/slurm.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/checksum.h"
#include "core/base/files.h"
#include "core/base/machine.h"

extern char **environ;

const double cli_slurm_patience = 30;

/* ---- programs ---- */

enum { WAIT_NANOSECONDS = 5000000 };

/* Standard input, output and error are files in memory: none of them fills up, so that nobody has
 * to read or write while the program works. */
struct streams {
  int files[3];
};

static void close_streams(struct streams *streams)
{
  for (int i = 0; i < 3; i++)
    if (streams->files[i] >= 0)
      close(streams->files[i]);
}

static bool open_streams(const char *input, struct streams *streams)
{
  bool opened = true;
  for (int i = 0; i < 3; i++) {
    streams->files[i] = memfd_create("gpumc", MFD_CLOEXEC);
    opened = opened && streams->files[i] >= 0;
  }
  return opened &&
         (input == NULL || gpumc_write_all_at(streams->files[0], input, strlen(input), 0) == 0);
}

static void read_stream(int file, struct gpumc_text *text)
{
  char part[4096];
  off_t offset = 0;
  for (;;) {
    const ssize_t length = pread(file, part, sizeof part, offset);
    if (length <= 0)
      return;
    gpumc_text_append(text, "%.*s", (int)length, part);
    offset += length;
  }
}

/* Returns an error number. The program gets no signal that we hold back or ignore. */
static int spawn(const char *const words[], const struct streams *streams, pid_t *process)
{
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, usual;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  sigemptyset(&none);
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  for (int i = 0; i < 3; i++)
    posix_spawn_file_actions_adddup2(&actions, streams->files[i], i);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const int failure =
      posix_spawnp(process, words[0], &actions, &attributes, (char *const *)words, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failure;
}

/* Returns the exit code. */
static int wait_for(pid_t process, double seconds)
{
  const struct timespec pause = {0, WAIT_NANOSECONDS};
  const double end = gpumc_clock() + seconds;
  int state = 0;
  pid_t ended = 0;
  while ((ended = waitpid(process, &state, WNOHANG)) == 0 && gpumc_clock() < end)
    nanosleep(&pause, NULL);
  if (ended == 0) {
    kill(process, SIGKILL);
    waitpid(process, &state, 0);
  }
  return ended > 0 && WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

/* Returns whether a folder of the PATH that can be searched has the program. */
static bool is_on_path(const char *name)
{
  const char *folders = getenv("PATH");
  bool found = false;
  struct stat file;
  while (folders != NULL && *folders != '\0' && !found) {
    const size_t length = strcspn(folders, ":");
    char *path = NULL;
    if (asprintf(&path, "%.*s%s%s", (int)length, folders, length > 0 ? "/" : "", name) >= 0) {
      found = stat(path, &file) == 0 && S_ISREG(file.st_mode);
      free(path);
    }
    folders += length + (folders[length] == ':');
  }
  return found;
}

enum gpumc_status cli_program_run(const char *const words[], const char *input, double seconds,
                                  struct cli_program *program, struct gpumc_error *error)
{
  struct streams streams;
  pid_t process;
  *program = (struct cli_program){.code = CLI_PROGRAM_NOT_FOUND};
  int failure = open_streams(input, &streams) ? spawn(words, &streams, &process) : errno;
  if (failure == 0) {
    program->code = wait_for(process, seconds);
    read_stream(streams.files[STDOUT_FILENO], &program->output);
    read_stream(streams.files[STDERR_FILENO], &program->messages);
  }
  close_streams(&streams);
  /* A folder of the PATH that cannot be searched gives another error than one without it. */
  if (failure != 0 && is_on_path(words[0]))
    return gpumc_error_set(error, GPUMC_FAILURE, "cannot start %s: %s", words[0],
                           strerror(failure));
  return GPUMC_OK;
}

void cli_program_free(struct cli_program *program)
{
  gpumc_text_free(&program->output);
  gpumc_text_free(&program->messages);
  program->code = 0;
}

/* GPUMC_FAILURE with what the program said last, if anything. */
static enum gpumc_status
blame(const char *name, const struct cli_program *program, struct gpumc_error *error)
{
  const char *text = gpumc_text_string(&program->messages);
  size_t end = strlen(text);
  while (end > 0 && text[end - 1] == '\n')
    end--;
  size_t begin = end;
  while (begin > 0 && text[begin - 1] != '\n')
    begin--;
  if (end > begin)
    return gpumc_error_set(error, GPUMC_FAILURE, "%.*s", (int)(end - begin), text + begin);
  if (program->code < 0)
    return gpumc_error_set(error, GPUMC_FAILURE, "%s did not answer", name);
  return gpumc_error_set(error, GPUMC_FAILURE, "%s exited with code %d", name, program->code);
}

/* ---- the end of the job ---- */

/* "59", "1:30", "2:00:00", "3-04:00:00" as squeue writes times, or "UNLIMITED". */
static bool read_time(const char *text, double *seconds)
{
  double days = 0, sum = 0;
  const char *dash = strchr(text, '-');
  if (strncmp(text, "UNLIMITED", 9) == 0) {
    *seconds = INFINITY;
    return true;
  }
  if (dash != NULL) {
    days = strtod(text, NULL);
    text = dash + 1;
  }
  for (;; text++) {
    char *end;
    const long number = strtol(text, &end, 10);
    if (end == text || number < 0)
      return false;
    sum = 60 * sum + (double)number;
    if (*end != ':') {
      *seconds = 86400 * days + sum;
      return *end == '\0' || *end == '\n';
    }
    text = end;
  }
}

bool cli_slurm_in_job(void)
{
  const char *job = getenv("SLURM_JOB_ID");
  return job != NULL && *job != '\0';
}

enum gpumc_status cli_slurm_time_left(double *seconds, struct gpumc_error *error)
{
  const char *job = getenv("SLURM_JOB_ID");
  const char *end_time = getenv("SLURM_JOB_END_TIME"); /* Slurm 23.02 and newer, since 1970 */
  const char *const words[] = {"squeue", "--noheader", "--jobs", job, "--format=%L", NULL};
  struct cli_program program;
  if (end_time != NULL && atoll(end_time) > 0) {
    *seconds = (double)atoll(end_time) - (double)time(NULL);
    return GPUMC_OK;
  }
  GPUMC_TRY(cli_program_run(words, NULL, cli_slurm_patience, &program, error));
  enum gpumc_status status = GPUMC_OK;
  if (program.code != 0)
    status = program.code == CLI_PROGRAM_NOT_FOUND
                 ? gpumc_error_set(error, GPUMC_FAILURE, "squeue is not on the PATH")
                 : blame("squeue", &program, error);
  else if (!read_time(gpumc_text_string(&program.output), seconds))
    status =
        gpumc_error_set(error, GPUMC_FAILURE, "squeue reports no remaining time for job %s", job);
  cli_program_free(&program);
  return status;
}

/* ---- jobs of a configuration ---- */

enum { MARK_LENGTH = 24 };

/* "gpumc-0123456789ab-": of the file's place, of what the command line changes in it, and of the
 * folder, to which outputs are relative. */
static bool configuration_mark(const struct cli_config_options *options, const char *path,
                               char mark[static MARK_LENGTH])
{
  struct gpumc_checksum checksum;
  char *whole = realpath(path, NULL), *folder = realpath(".", NULL);
  if (whole == NULL || folder == NULL) {
    free(whole);
    free(folder);
    return false;
  }
  gpumc_checksum_begin(&checksum);
  gpumc_checksum_add(&checksum, whole, strlen(whole) + 1);
  gpumc_checksum_add(&checksum, folder, strlen(folder) + 1);
  for (size_t i = 0; i < options->n_assignments; i++)
    gpumc_checksum_add(&checksum, options->assignments[i], strlen(options->assignments[i]) + 1);
  if (options->output_assignment != NULL)
    gpumc_checksum_add(&checksum, options->output_assignment,
                       strlen(options->output_assignment) + 1);
  snprintf(mark, MARK_LENGTH, "gpumc-%012" PRIx64 "-", gpumc_checksum_value(&checksum) >> 16);
  free(whole);
  free(folder);
  return true;
}

char *cli_slurm_job_name(const struct cli_config_options *options, const char *path, size_t bundle)
{
  char mark[MARK_LENGTH], *name = NULL;
  if (!configuration_mark(options, path, mark) || asprintf(&name, "%s%zu", mark, bundle) < 0)
    return NULL;
  return name;
}

/* Of a line "ID|NAME|STATE|REASON" of squeue, where ID is "1234_5" and NAME the mark and the size
 * of bundles. A running element counts before a waiting one of the same tasks. */
static void note_job(char *line, const char *mark, size_t n_tasks, struct cli_slurm_job *jobs)
{
  char *fields[4];
  for (size_t i = 0; i < 4; i++)
    if ((fields[i] = strsep(&line, "|")) == NULL)
      return;
  const char *element = strchr(fields[0], '_');
  if (element == NULL || strncmp(fields[1], mark, strlen(mark)) != 0)
    return;
  char *end;
  const size_t bundle = strtoul(fields[1] + strlen(mark), &end, 10);
  const size_t first = bundle * strtoul(element + 1, NULL, 10);
  if (*end != '\0')
    return;
  const bool waits = strcmp(fields[3], "None") != 0;
  for (size_t task = first; task < first + bundle && task < n_tasks; task++) {
    struct cli_slurm_job *job = &jobs[task];
    if (strcmp(job->state, "RUNNING") == 0)
      continue;
    snprintf(job->id, sizeof job->id, "%s", fields[0]);
    snprintf(job->state, sizeof job->state, "%s", fields[2]);
    snprintf(job->reason, sizeof job->reason, "%s", waits ? fields[3] : "");
  }
}

/* What an answer of squeue is worth, with the error of CLI_SLURM_FAILED. */
static enum cli_slurm_answer judge(const struct cli_program *squeue, struct gpumc_error *error)
{
  const char *no_cluster = "Could not establish a configuration source";
  if (squeue->code == CLI_PROGRAM_NOT_FOUND ||
      strstr(gpumc_text_string(&squeue->messages), no_cluster) != NULL)
    return CLI_SLURM_NONE;
  if (squeue->code == 0)
    return CLI_SLURM_KNOWN;
  blame("squeue", squeue, error);
  return CLI_SLURM_FAILED;
}

enum cli_slurm_answer cli_slurm_find_jobs(const struct cli_config_options *options,
                                          const char *path, size_t n_tasks,
                                          struct cli_slurm_job *jobs, struct gpumc_error *error)
{
  char mark[MARK_LENGTH], user[32];
  const char *const words[] = {"squeue", "--noheader",           "--array", "--user",
                               user,     "--format=%i|%j|%T|%r", NULL};
  struct cli_program squeue;
  memset(jobs, 0, n_tasks * sizeof *jobs);
  snprintf(user, sizeof user, "%ld", (long)getuid());
  if (!configuration_mark(options, path, mark))
    return CLI_SLURM_NONE;
  if (cli_program_run(words, NULL, cli_slurm_patience, &squeue, error) != GPUMC_OK)
    return CLI_SLURM_FAILED;
  const enum cli_slurm_answer answer = judge(&squeue, error);
  char *rest = answer == CLI_SLURM_KNOWN ? squeue.output.characters : NULL, *line;
  while ((line = strsep(&rest, "\n")) != NULL)
    note_job(line, mark, n_tasks, jobs);
  cli_program_free(&squeue);
  return answer;
}

size_t cli_slurm_elements(void)
{
  enum { ELEMENTS = 1001 };
  const char *const words[] = {"scontrol", "show", "config", NULL};
  const char *key = "MaxArraySize";
  struct cli_program program;
  struct gpumc_error error = {0};
  long elements = 0;
  if (cli_program_run(words, NULL, cli_slurm_patience, &program, &error) == GPUMC_OK) {
    const char *found = strstr(gpumc_text_string(&program.output), key);
    const char *equals = found != NULL ? strchr(found, '=') : NULL;
    elements = equals != NULL ? strtol(equals + 1, NULL, 10) : 0;
    cli_program_free(&program);
  }
  gpumc_error_free(&error);
  return elements > 0 ? (size_t)elements : ELEMENTS;
}

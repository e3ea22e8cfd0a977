/* gpumc: the table of subcommands, and the words before them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_info.h"
#include "cli/cli.h"
#include "core/base/text.h"
#include "core/base/machine.h"
#include "core/storage/hdf5_file.h"

#define COMMAND(word, text)                                                                        \
  {                                                                                                \
    .name = #word, .summary = text, .main = cli_##word, .argp = &cli_##word##_argp                 \
  }
/* One whose `main` is called with the table of all. */
#define COMMAND_OF_ALL(word, text)                                                                 \
  {                                                                                                \
    .name = #word, .summary = text, .argp = &cli_##word##_argp, .main_of_all = cli_##word          \
  }
static const struct cli_command commands[] = {
    COMMAND(init, "write a configuration to start from"),
    COMMAND(run, "run a configuration, or continue it"),
    COMMAND(validate, "check configurations and report every mistake"),
    COMMAND(plan, "show what a run would do and need"),
    COMMAND(list, "list models, algorithms and kernels"),
    COMMAND(describe, "describe one model or algorithm: keys, observables, citation"),
    COMMAND(schema, "print the JSON Schema of the configuration language"),
    COMMAND(merge, "merge several results of one configuration"),
    COMMAND(info, "show the contents of a result file"),
    COMMAND(compare, "check whether two results agree within their errors"),
    COMMAND(export, "write the tables of a result as CSV"),
    COMMAND(status, "show the progress of the tasks of a configuration"),
    COMMAND(submit, "submit the tasks of a configuration to Slurm"),
    COMMAND(bench, "measure the update rates of the kernels on this machine"),
    COMMAND(doctor, "report what this program and this machine offer, and what is missing"),
    COMMAND_OF_ALL(completion, "print the script with which a shell completes commands"),
    COMMAND_OF_ALL(man, "print a manual page"),
    {0}};
enum { N_COMMANDS = sizeof commands / sizeof *commands - 1 };

static void print_help(void)
{
  struct gpumc_text text = {0};
  gpumc_text_append(&text, "Usage: gpumc COMMAND [OPTION...] [ARGUMENT...]\n"
                           "Monte Carlo simulations for statistical physics, driven by one "
                           "configuration file.\n\n"
                           "Commands:\n");
  for (size_t i = 0; i < N_COMMANDS; i++)
    gpumc_text_append(&text, "  %-11s %s\n", commands[i].name, commands[i].summary);
  gpumc_text_append(
      &text, "\n"
             "Options:\n"
             "  -h, --help     show this text; for a command, `gpumc COMMAND --help` or `gpumc "
             "help COMMAND`\n"
             "  -V, --version  show version and build\n"
             "\n"
             "Examples:\n"
             "  gpumc init ising2d pa\n"
             "  gpumc plan ising2d-pa.yaml\n"
             "  gpumc run ising2d-pa.yaml -o results/ising.h5\n"
             "  gpumc info results/ising.h5\n"
             "\n"
             "Exit codes: 0 done; 1 failure at run time; 2 usage or configuration; 3 device;\n"
             "75 stopped by a signal or the time limit, resumable.\n");
  cli_print_help(gpumc_text_string(&text));
  gpumc_text_free(&text);
}

static void print_version(void)
{
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  printf("gpumc %s (%s, %s, %s, HDF5 %u.%u.%u)\n", GPUMC_PROGRAM_VERSION, GPUMC_COMMIT,
         GPUMC_COMPILER, GPUMC_BUILD_TYPE, major, minor, release);
}

static const struct cli_command *find_command(const char *name)
{
  for (size_t i = 0; i < N_COMMANDS; i++)
    if (strcmp(commands[i].name, name) == 0)
      return &commands[i];
  return NULL;
}

static int unknown(const char *word)
{
  enum { N_CANDIDATES = N_COMMANDS + 2 };
  const char *candidates[N_CANDIDATES] = {"--help", "--version"};
  for (size_t i = 0; i < N_COMMANDS; i++)
    candidates[i + 2] = commands[i].name;
  const char *nearest = gpumc_nearest_name(word, candidates, N_CANDIDATES);
  const char *kind = word[0] == '-' ? "option" : "command";
  if (nearest != NULL)
    cli_usage_error("gpumc", "unknown %s '%s'; did you mean '%s'?", kind, word, nearest);
  cli_usage_error("gpumc", "unknown %s '%s'", kind, word);
}

static int run_command(const struct cli_command *command, int argc, char **argv)
{
  char name[32];
  snprintf(name, sizeof name, "gpumc %s", command->name);
  argv[0] = name;
  return command->main_of_all != NULL ? command->main_of_all(commands, argc, argv)
                                      : command->main(argc, argv);
}

/* `gpumc help`, `gpumc help COMMAND`: `word` is the command or NULL. */
static int help(const char *word)
{
  if (word == NULL) {
    print_help();
    return GPUMC_OK;
  }
  const struct cli_command *command = find_command(word);
  char option[] = "--help";
  char *arguments[] = {NULL, option, NULL};
  return command != NULL ? run_command(command, 2, arguments) : unknown(word);
}

static int dispatch(int argc, char **argv)
{
  if (argc < 2)
    cli_usage_error("gpumc", "no command given");
  const char *word = argv[1];
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
    return help(NULL);
  if (strcmp(word, "help") == 0)
    return help(argc > 2 ? argv[2] : NULL);
  if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
    print_version();
    return GPUMC_OK;
  }
  const struct cli_command *command = find_command(word);
  if (command == NULL)
    return unknown(word);
  return run_command(command, argc - 1, argv + 1);
}

/* Whether `entry` of the environment is the variable `name` ("NAME=") with blanks or nothing. */
__attribute__((no_sanitize("address", "undefined"))) static bool
is_blank(const char *entry, const char *name)
{
  for (; *name != '\0'; name++)
    if (*entry++ != *name)
      return false;
  while (*entry == ' ' || *entry == '\t')
    entry++;
  return *entry == '\0';
}

/* Takes a blank OMP_NUM_THREADS, which gpumc counts as unset, out of the environment before libgomp
 * complains about it, as it is loaded. Nothing else of the program has begun by then, so nothing of
 * the C library is called, and no sanitizer is there. */
__attribute__((no_sanitize("address", "undefined"))) static void
forget_blank_threads(int argc, char **argv, char **environment)
{
  char **kept = environment;
  (void)argc;
  (void)argv;
  for (char **entry = environment; *entry != NULL; entry++)
    if (!is_blank(*entry, "OMP_NUM_THREADS="))
      *kept++ = *entry;
  *kept = NULL;
}

typedef void before_libraries(int argc, char **argv, char **environment);
__attribute__((section(".preinit_array"), used)) static before_libraries *const called_first =
    forget_blank_threads;

static const char spin_count[] = "1000";

/* The threads of libgomp wait for each other in busy loops, by default for so long that on a
 * machine with other work they keep each other from the cores and a run takes tens of times as
 * long. With this count an idle machine is as fast as with the default; with 100 small runs are
 * slower there. libgomp reads it when it is loaded, that is, before main(): hence the program once
 * more, in the same process. Whoever sets either variable decides; where the program cannot be
 * started again, it continues as it is. */
static void limit_busy_waiting(char **argv)
{
  char path[PATH_MAX];
  if (getenv("OMP_WAIT_POLICY") != NULL || getenv("GOMP_SPINCOUNT") != NULL)
    return;
  if (!gpumc_threads_environment_is_good())
    return; /* libgomp has complained once, and would again */
  /* Not /proc/self/exe itself, which would become the name of the process. */
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0 || setenv("GOMP_SPINCOUNT", spin_count, 1) != 0)
    return;
  path[length] = '\0';
  execv(path, argv);
}

/* Where standard input, output or error is closed, the next file to be opened would get its number,
 * and our messages would be written into it. Their replacements can be neither read nor
 * written. */
static void fill_standard_descriptors(void)
{
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++)
    if (fcntl(number, F_GETFD) < 0 &&
        open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
      _exit(GPUMC_FAILURE);
}

/* However the program ends, in argp's --help too: what was said must have been written. */
static void check_output(int code, void *unused)
{
  (void)unused;
  bool failed = ferror(stdout) != 0;
  failed = fflush(stdout) != 0 || failed;
  failed = (fclose(stdout) != 0 && errno != EBADF) || failed;
  if (!failed)
    return;
  cli_error("cannot write to standard output");
  _exit(code != GPUMC_OK ? code : GPUMC_FAILURE);
}

/* Signals that arrive while the program starts, or restarts itself, wait until somebody listens. */
static void hold_signals(int how)
{
  static const int stopping[] = {SIGTERM, SIGHUP, SIGINT, SIGUSR1, SIGUSR2};
  sigset_t set;
  sigemptyset(&set);
  for (size_t i = 0; i < sizeof stopping / sizeof *stopping; i++)
    sigaddset(&set, stopping[i]);
  sigprocmask(how, &set, NULL);
}

int main(int argc, char **argv)
{
  hold_signals(SIG_BLOCK);
  fill_standard_descriptors();
  limit_busy_waiting(argv);
  if (argc > 1 && strcmp(argv[1], "run") == 0)
    cli_run_listen();
  else
    hold_signals(SIG_UNBLOCK);
  on_exit(check_output, NULL);
  gpumc_hdf5_prepare_program();
  return dispatch(argc, argv);
}

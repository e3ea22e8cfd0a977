/* gpumc status --watch: the table again and again on a terminal, a line for each change elsewhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "cli/signals.h"
#include "cli/status/status.h"

static volatile sig_atomic_t stopped_by;
static int awake[2] = {-1, -1}; /* a pipe in which something is written for each signal */
static bool on_terminal;

static const char other_screen[] = "\033[?1049h\033[?7l\033[?25l"; /* no wrapping, no cursor */
static const char own_screen[] = "\033[?25h\033[?7h\033[?1049l";

static int stop_signal(void)
{
  return __atomic_load_n(&stopped_by, __ATOMIC_RELAXED);
}

/* Signals are noted while it waits, so that a screen is never left half drawn. */
static void note_signal(int number)
{
  __atomic_store_n(&stopped_by, number, __ATOMIC_RELAXED);
  const ssize_t written = write(awake[1], "", 1);
  (void)written; /* what is there is enough */
}

/* A look at files that takes longer than that waits for a disk that does not answer. */
static const double look_seconds = 1;

static void end_a_look(double seconds)
{
  if (seconds < look_seconds)
    return;
  const ssize_t written = on_terminal ? write(STDOUT_FILENO, own_screen, sizeof own_screen - 1) : 0;
  (void)written;
  cli_end_by_signal(stop_signal());
}

/* Whether a state is one that no run is on its way to change. */
static bool is_end(enum gpumc_task_state state)
{
  return state == GPUMC_TASK_DONE || state == GPUMC_TASK_FAILED || state == GPUMC_TASK_REFUSED;
}

static bool have_ended(const struct status_look *look)
{
  bool ended = true;
  for (size_t i = 0; i < look->config->n_tasks; i++)
    ended = ended && is_end(look->reports[i].state);
  return ended;
}

static void append_time(struct gpumc_text *text)
{
  char words[32];
  const time_t now = time(NULL);
  struct tm local;
  if (localtime_r(&now, &local) != NULL &&
      strftime(words, sizeof words, "%Y-%m-%d %H:%M:%S", &local) > 0)
    gpumc_text_append(text, "%s", words);
}

/* Lines of the terminal's window; a usual number where it does not tell. */
static size_t window_lines(void)
{
  struct winsize size;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 2 ? size.ws_row : 24;
}

/* What status_print says, in memory; the caller frees, NULL when memory ran out. */
static char *status_text(const cJSON *json)
{
  char *text = NULL;
  size_t length = 0;
  FILE *terminal = stdout, *memory = open_memstream(&text, &length);
  if (memory == NULL)
    return NULL;
  stdout = memory;
  status_print(json);
  stdout = terminal;
  fclose(memory);
  return text;
}

/* The head, and of the text as many lines as there is room for, on the terminal's other screen,
 * where lines that are too long are cut off. */
static void draw(const struct status_look *look, const cJSON *json)
{
  struct gpumc_text head = {0};
  char *text = status_text(json);
  const char *rest = text != NULL ? text : "";
  append_time(&head);
  gpumc_text_append(&head, "  ");
  status_append_counts(cli_member(json, "counts"), (int)look->config->n_tasks, &head);
  printf("\033[H%s%s%s\033[K\n\033[K\n", cli_style_on(stdout, CLI_HEADING),
         gpumc_text_string(&head), cli_style_off(stdout, CLI_HEADING));
  for (size_t line = 2, lines = window_lines(); *rest != '\0' && line < lines; line++) {
    const size_t length = strcspn(rest, "\n");
    const bool last = line + 1 == lines && rest[length] != '\0' && rest[length + 1] != '\0';
    if (last)
      printf("... (a taller window shows the rest)\033[K");
    else
      printf("%.*s\033[K%s", (int)length, rest, line + 1 < lines ? "\n" : "");
    rest += length + (rest[length] != '\0');
  }
  fputs("\033[J", stdout);
  fflush(stdout);
  gpumc_text_free(&head);
  free(text);
}

/* A line for each task whose state is another one than `before[n_tasks]`, "" at first, when a line
 * of the counts says how things are. */
static void print_changes(const struct status_look *look, const cJSON *json,
                          enum gpumc_task_state *before, bool first)
{
  const struct gpumc_config *config = look->config;
  struct gpumc_text text = {0};
  if (first) {
    append_time(&text);
    gpumc_text_append(&text, "  ");
    status_append_counts(cli_member(json, "counts"), (int)config->n_tasks, &text);
    gpumc_text_append(&text, "\n");
  }
  for (size_t i = 0; i < config->n_tasks; i++) {
    const enum gpumc_task_state now = look->reports[i].state;
    if (!first && now != before[i]) {
      append_time(&text);
      gpumc_text_append(&text, "  task %zu: %s -> %s  %s\n", i, status_names[before[i]],
                        status_names[now], config->tasks[i].output);
    }
    before[i] = now;
  }
  cli_say(stdout, "%s", gpumc_text_string(&text));
  fflush(stdout);
  gpumc_text_free(&text);
}

/* Until then, or until a signal. */
static void wait_for(double seconds)
{
  struct timeval time = {.tv_sec = (time_t)seconds,
                         .tv_usec = (suseconds_t)(1e6 * (seconds - (double)(time_t)seconds))};
  fd_set set;
  FD_ZERO(&set);
  FD_SET(awake[0], &set);
  select(awake[0] + 1, &set, NULL, NULL, &time);
}

static bool listen_to_signals(void)
{
  static const struct cli_listener listener = {note_signal, end_a_look};
  static const int stopping[] = {SIGINT, SIGTERM, SIGHUP};
  int heard[sizeof stopping / sizeof *stopping];
  size_t n = 0;
  if (pipe2(awake, O_CLOEXEC | O_NONBLOCK) != 0)
    return false;
  for (size_t i = 0; i < sizeof stopping / sizeof *stopping; i++)
    if (!cli_signal_is_ignored(stopping[i]))
      heard[n++] = stopping[i];
  cli_listen(heard, n, &listener);
  return true;
}

int status_watch(struct status_look *look)
{
  enum gpumc_task_state *before = calloc(look->config->n_tasks, sizeof *before);
  const char *const kind = getenv("TERM");
  cJSON *json = NULL;
  bool ended = false, unheard = false;
  if (before == NULL) {
    cli_error("out of memory: %zu tasks", look->config->n_tasks);
    return GPUMC_FAILURE;
  }
  on_terminal = isatty(STDOUT_FILENO) == 1 && kind != NULL && strcmp(kind, "dumb") != 0;
  if (!listen_to_signals()) {
    cli_error("cannot wait for signals: %s", strerror(errno));
    free(before);
    return GPUMC_FAILURE;
  }
  if (on_terminal)
    fputs(other_screen, stdout);
  for (bool first = true; !ended && !unheard && stop_signal() == 0; first = false) {
    cJSON_Delete(json);
    json = status_look_once(look);
    ended = have_ended(look);
    if (on_terminal)
      draw(look, json);
    else
      print_changes(look, json, before, first);
    unheard = ferror(stdout) != 0; /* of what they have flushed; main.c says so */
    if (!ended && !unheard)
      wait_for(look->arguments->seconds);
  }
  if (on_terminal) {
    fputs(own_screen, stdout);
    status_print(json);
  }
  cJSON_Delete(json);
  free(before);
  if (stop_signal() != 0) {
    fflush(stdout);
    cli_end_by_signal(stop_signal());
  }
  bool good = !unheard;
  for (size_t i = 0; i < look->config->n_tasks; i++)
    good = good && look->reports[i].state == GPUMC_TASK_DONE;
  return good ? GPUMC_OK : GPUMC_FAILURE;
}

/* gpumc status --watch: the table again and again on a terminal, a line for each change elsewhere.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "cli/status/status.h"

static volatile sig_atomic_t stopped_by;

static void note_signal(int number)
{
  stopped_by = number;
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

/* Until then, or until a signal that is held back outside of this wait. */
static void wait_for(double seconds, const sigset_t *open)
{
  const struct timespec time = {.tv_sec = (time_t)seconds,
                                .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
  pselect(0, NULL, NULL, NULL, &time, open);
}

static const int stopping[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_STOPPING = sizeof stopping / sizeof *stopping };

/* Signals are noted while it waits, so that a screen is never left half drawn. `open`: as they were
 * before. */
static void hold_signals(sigset_t *open)
{
  const struct sigaction action = {.sa_handler = note_signal};
  sigset_t held;
  sigemptyset(&held);
  for (size_t i = 0; i < N_STOPPING; i++)
    sigaddset(&held, stopping[i]);
  sigprocmask(SIG_BLOCK, &held, open);
  for (size_t i = 0; i < N_STOPPING; i++) {
    struct sigaction before;
    if (sigaction(stopping[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(stopping[i], &action, NULL);
  }
}

/* Ends as one who does not know the signal would have: the shell sees it. */
static void end_by_signal(const sigset_t *open)
{
  fflush(stdout);
  signal(stopped_by, SIG_DFL);
  raise(stopped_by);
  sigprocmask(SIG_SETMASK, open, NULL);
}

int status_watch(struct status_look *look)
{
  enum gpumc_task_state *before = calloc(look->config->n_tasks, sizeof *before);
  const char *const kind = getenv("TERM");
  const bool on_terminal = isatty(STDOUT_FILENO) == 1 && kind != NULL && strcmp(kind, "dumb") != 0;
  sigset_t open;
  cJSON *json = NULL;
  bool ended = false, unheard = false;
  if (before == NULL) {
    cli_error("out of memory: %zu tasks", look->config->n_tasks);
    return GPUMC_FAILURE;
  }
  hold_signals(&open);
  if (on_terminal)
    fputs("\033[?1049h\033[?7l\033[?25l", stdout); /* other screen, no wrapping, no cursor */
  for (bool first = true; !ended && !unheard && stopped_by == 0; first = false) {
    cJSON_Delete(json);
    json = status_look_once(look);
    ended = have_ended(look);
    if (on_terminal)
      draw(look, json);
    else
      print_changes(look, json, before, first);
    unheard = ferror(stdout) != 0; /* of what they have flushed; main.c says so */
    if (!ended && !unheard)
      wait_for(look->arguments->seconds, &open);
  }
  if (on_terminal) {
    fputs("\033[?25h\033[?7h\033[?1049l", stdout);
    status_print(json);
  }
  cJSON_Delete(json);
  free(before);
  if (stopped_by != 0)
    end_by_signal(&open);
  bool good = !unheard;
  for (size_t i = 0; i < look->config->n_tasks; i++)
    good = good && look->reports[i].state == GPUMC_TASK_DONE;
  return good ? GPUMC_OK : GPUMC_FAILURE;
}

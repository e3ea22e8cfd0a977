#include "cli/manual/options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "core/simulation/registry.h"

static size_t add_options(const struct argp_option *table,
                          struct manual_option options[MANUAL_OPTIONS_MAXIMUM], size_t count)
{
  for (; table != NULL && (table->name != NULL || table->key != 0); table++) {
    const bool hidden = (table->flags & OPTION_HIDDEN) != 0 || table->name == NULL;
    if (hidden || count == MANUAL_OPTIONS_MAXIMUM)
      continue;
    options[count++] = (struct manual_option){
        .name = table->name,
        .letter = table->key > 0 && table->key < 128 && isalnum(table->key) ? (char)table->key : 0,
        .argument = table->arg,
        .optional = (table->flags & OPTION_ARG_OPTIONAL) != 0,
        .doc = table->doc,
    };
  }
  return count;
}

size_t manual_options(const struct cli_command *command,
                      struct manual_option options[MANUAL_OPTIONS_MAXIMUM])
{
  const size_t own = add_options(command->argp->options, options, 0);
  return add_options(cli_standard_options, options, own);
}

size_t manual_arguments(const struct cli_command *command,
                        struct manual_argument arguments[MANUAL_ARGUMENTS_MAXIMUM])
{
  static const char ellipsis[] = "...";
  const char *rest = command->argp->args_doc != NULL ? command->argp->args_doc : "";
  size_t count = 0;
  for (;;) {
    rest += strspn(rest, " []");
    const size_t length = strcspn(rest, " []");
    if (length == 0 || rest[0] == '-' || count == MANUAL_ARGUMENTS_MAXIMUM)
      return count;
    struct manual_argument *argument = &arguments[count++];
    snprintf(argument->name, sizeof argument->name, "%.*s", (int)length, rest);
    char *dots = strstr(argument->name, ellipsis);
    argument->repeated = dots != NULL;
    if (dots != NULL)
      *dots = '\0';
    rest += length;
  }
}

/* ---- values ---- */

static void append_models(struct gpumc_text *words)
{
  for (const struct gpumc_model_ops *const *m = gpumc_models(); *m != NULL; m++)
    gpumc_text_append(words, "%s%s", words->length > 0 ? " " : "", (*m)->name);
}

static void append_algorithms(struct gpumc_text *words)
{
  for (const struct gpumc_algorithm_ops *const *a = gpumc_algorithms(); *a != NULL; a++)
    gpumc_text_append(words, "%s%s", words->length > 0 ? " " : "", (*a)->name);
}

static void append_commands(const struct cli_command *commands, struct gpumc_text *words)
{
  for (; commands->name != NULL; commands++)
    gpumc_text_append(words, "%s%s", words->length > 0 ? " " : "", commands->name);
}

static const char *const device_words[] = {"auto", "cpu", "cuda", NULL};

enum manual_kind
manual_values(const struct cli_command *commands, const char *name, struct gpumc_text *words)
{
  static const struct {
    const char *name;
    enum manual_kind kind;
    const char *words;
  } known[] = {
      {"CONFIG", MANUAL_CONFIGURATIONS, NULL},
      {"RESULT", MANUAL_RESULTS, NULL},
      {"FILE", MANUAL_FILES, NULL},
      {"PLUGIN", MANUAL_FILES, NULL},
      {"OUTPUT", MANUAL_FILES, NULL},
      {"DIR", MANUAL_FILES, NULL},
      {"KEY=VALUE", MANUAL_KEYS, NULL},
      {"WHEN", MANUAL_WORDS, "auto always never"},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcmp(known[i].name, name) != 0)
      continue;
    if (known[i].words != NULL)
      gpumc_text_append(words, "%s", known[i].words);
    return known[i].kind;
  }
  for (size_t i = 0; strcmp(name, "DEVICE") == 0 && device_words[i] != NULL; i++)
    gpumc_text_append(words, "%s%s", i > 0 ? " " : "", device_words[i]);
  if (strcmp(name, "NAME") == 0)
    gpumc_text_append(words, "config kernel");
  if (strcmp(name, "NAME") == 0 || strcmp(name, "MODEL") == 0)
    append_models(words);
  if (strcmp(name, "NAME") == 0 || strcmp(name, "ALGORITHM") == 0)
    append_algorithms(words);
  if (strcmp(name, "PAGE") == 0) {
    append_commands(commands, words);
    gpumc_text_append(words, " " MANUAL_LANGUAGE_PAGE);
  }
  for (const char *rest = strchr(name, '|') != NULL ? name : ""; *rest != '\0';) {
    const size_t length = strcspn(rest, "|");
    gpumc_text_append(words, "%s%.*s", words->length > 0 ? " " : "", (int)length, rest);
    rest += length;
    rest += *rest == '|';
  }
  return words->length > 0 ? MANUAL_WORDS : MANUAL_ANYTHING;
}

/* ---- keys ---- */

static bool has_word(const char *words, const char *word)
{
  const size_t length = strlen(word);
  for (const char *at = strstr(words, word); at != NULL; at = strstr(at + 1, word))
    if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
      return true;
  return false;
}

/* The words of a key with that name, "" for a new one; NULL when memory ran out. */
static struct gpumc_text *words_of(struct manual_keys *keys, const char *dotted_key)
{
  size_t i = 0;
  while (i < keys->count && strcmp(keys->items[i].name, dotted_key) != 0)
    i++;
  if (i < keys->count)
    return &keys->items[i].words;
  struct manual_key *grown = realloc(keys->items, (i + 1) * sizeof *grown);
  char *name = strdup(dotted_key);
  if (grown != NULL)
    keys->items = grown;
  if (grown == NULL || name == NULL) {
    free(name);
    keys->failed = true;
    return NULL;
  }
  keys->items[keys->count++] = (struct manual_key){.name = name};
  return &keys->items[i].words;
}

static void add_word(struct gpumc_text *words, const char *word)
{
  if (words != NULL && !has_word(gpumc_text_string(words), word))
    gpumc_text_append(words, "%s%s", words->length > 0 ? " " : "", word);
}

static void add_choices(struct gpumc_text *words, const struct gpumc_key *declared)
{
  static const char *const truths[] = {"true", "false", NULL};
  const char *const *choices = declared->type == GPUMC_KEY_BOOLEAN ? truths : declared->choices;
  for (; choices != NULL && *choices != NULL; choices++)
    add_word(words, *choices);
  if (declared->type == GPUMC_KEY_DEVICE)
    for (size_t i = 0; device_words[i] != NULL; i++)
      add_word(words, device_words[i]);
}

/* Adds a key, and that by which a campaign varies it. */
static void add_key(void *state, const char *dotted_key, const struct gpumc_key *declared)
{
  struct manual_keys *keys = state;
  char varied[GPUMC_KEY_NAME_BYTES];
  add_choices(words_of(keys, dotted_key), declared);
  if (declared->sweepable)
    add_choices(words_of(keys, gpumc_key_join("campaign", dotted_key, varied)), declared);
}

void manual_free_keys(struct manual_keys *keys)
{
  for (size_t i = 0; i < keys->count; i++) {
    free(keys->items[i].name);
    gpumc_text_free(&keys->items[i].words);
  }
  free(keys->items);
}

void manual_append_keys(struct gpumc_text *text, const struct manual_keys *keys)
{
  for (size_t i = 0; i < keys->count; i++)
    gpumc_text_append(text, "%s%s=", i > 0 ? " " : "", keys->items[i].name);
}

static bool add_plugin(const struct gpumc_language_tables *tables, const struct gpumc_key *declared,
                       const char *block, struct manual_keys *keys)
{
  struct gpumc_key *own = gpumc_language_plugin_keys(tables, declared);
  if (own == NULL)
    return false;
  gpumc_keys_visit(own, block, add_key, keys);
  free(own);
  return true;
}

/* Adds the names of the kernels of a model to the values of kernel.variant. */
static void add_variants(const struct gpumc_model_ops *model, struct manual_keys *keys)
{
  static const char *const names[] = {"kernel.variant", "campaign.kernel.variant"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    add_word(words_of(keys, names[i]), "auto");
    for (size_t k = 0; model->kernels[k] != NULL; k++)
      add_word(words_of(keys, names[i]), model->kernels[k]->variant);
  }
}

bool manual_find_keys(struct manual_keys *keys)
{
  struct gpumc_language_tables tables;
  bool good = true;
  gpumc_language_tables_fill(&tables, gpumc_models());
  gpumc_keys_visit(tables.root, "", add_key, keys);
  for (const struct gpumc_model_ops *const *m = gpumc_models(); *m != NULL; m++) {
    add_word(words_of(keys, "model.name"), (*m)->name);
    good = add_plugin(&tables, (*m)->keys, "model", keys) && good;
    add_variants(*m, keys);
  }
  for (const struct gpumc_algorithm_ops *const *a = gpumc_algorithms(); *a != NULL; a++) {
    add_word(words_of(keys, "algorithm.name"), (*a)->name);
    good = add_plugin(&tables, (*a)->keys, "algorithm", keys) && good;
  }
  return good && !keys->failed;
}

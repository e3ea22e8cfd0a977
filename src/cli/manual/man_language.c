/* The manual page of the configuration language, from the declared keys. */
#include <stdlib.h>
#include <string.h>

#include "cli/manual/man.h"
#include "cli/manual/options.h"
#include "core/run/language.h"
#include "core/simulation/registry.h"

/* "an integer from 1 to 64; in replicas; default 32; may be varied in a campaign." */
static void append_traits(struct gpumc_text *text, const struct gpumc_key *key)
{
  struct gpumc_text traits = {0};
  if (key->type == GPUMC_KEY_MAPPING)
    gpumc_text_append(&traits, "A block");
  else
    gpumc_key_expectation(key, &traits);
  if (key->unit != NULL)
    gpumc_text_append(&traits, ", in %s", key->unit);
  if (key->required)
    gpumc_text_append(&traits, "; required");
  else if (key->required_unless != NULL)
    gpumc_text_append(&traits, "; required if %s is absent", key->required_unless);
  else if (key->or_auto)
    gpumc_text_append(&traits, "; default auto");
  else if (key->default_text != NULL)
    gpumc_text_append(&traits, "; default %s",
                      key->default_text[0] == '\0' ? "\"\"" : key->default_text);
  for (size_t i = 0; key->default_divides != NULL && key->default_divides[i] != NULL; i++)
    gpumc_text_append(&traits, "%s%s",
                      i == 0 ? " or the largest smaller divisor of " : ", otherwise of ",
                      key->default_divides[i]);
  if (key->sweepable)
    gpumc_text_append(&traits, "; may be varied in a campaign");
  if (traits.length > 0 && traits.characters[0] >= 'a' && traits.characters[0] <= 'z')
    traits.characters[0] = (char)(traits.characters[0] - 'a' + 'A');
  gpumc_text_append(&traits, ".");
  man_line(text, gpumc_text_string(&traits));
  text->failed = text->failed || traits.failed;
  gpumc_text_free(&traits);
}

/* "Exactly one of step, count, values." */
static void
append_group(struct gpumc_text *text, const struct gpumc_key *keys, const struct gpumc_key *key)
{
  const char *before = "Exactly one of ";
  if (key->exactly_one_of == NULL)
    return;
  for (const struct gpumc_key *other = keys; other->name != NULL; other++) {
    if (other->exactly_one_of == NULL || strcmp(other->exactly_one_of, key->exactly_one_of) != 0)
      continue;
    man_words(text, before);
    man_words(text, other->name);
    before = ", ";
  }
  gpumc_text_append(text, ".\n");
}

static void append_keys(struct gpumc_text *text, const struct gpumc_key *keys, const char *block)
{
  for (const struct gpumc_key *key = keys; key != NULL && key->name != NULL; key++) {
    char dotted[GPUMC_KEY_NAME_BYTES];
    gpumc_key_join(block, key->name, dotted);
    gpumc_text_append(text, ".TP\n\\fB");
    man_words(text, dotted);
    gpumc_text_append(text, "\\fR\n");
    man_line(text, key->doc != NULL ? key->doc : "");
    append_traits(text, key);
    append_group(text, keys, key);
    append_keys(text, key->children, dotted);
  }
}

static void append_plugin(struct gpumc_text *text, const struct gpumc_language_tables *tables,
                          const char *kind, const char *name, const char *summary,
                          const struct gpumc_key *declared)
{
  struct gpumc_key *keys = gpumc_language_plugin_keys(tables, declared);
  gpumc_text_append(text, ".SS ");
  man_words(text, kind);
  gpumc_text_append(text, " ");
  man_line(text, name);
  man_words(text, summary);
  gpumc_text_append(text, ".\n");
  text->failed = text->failed || keys == NULL;
  append_keys(text, keys, kind);
  free(keys);
}

static const char introduction[] =
    ".SH DESCRIPTION\n"
    "A configuration is one YAML file. It names a model and an algorithm, each with keys of its "
    "own, and a kernel.\n"
    "Every key is listed here with the values that it accepts; nothing else is accepted.\n"
    ".PP\n"
    "Durations have a unit (100 ms, 90 s, 10 min, 2 h, 1 d), and so do sizes (512 MiB, 4 GiB).\n"
    "\\fBoutput\\fR may contain placeholders: {seed} stands for the value of that key, {{ and }} "
    "for braces.\n"
    ".PP\n"
    "The block \\fBcampaign\\fR has dotted keys with lists of values. Every combination of them is "
    "a task; the first key varies slowest.\n"
    ".SH EXAMPLE\n"
    "As\n"
    ".BR gpumc\\-init (1)\n"
    "writes it:\n";

enum gpumc_status man_language(struct gpumc_text *text, struct gpumc_error *error)
{
  const struct gpumc_model_ops *const *models = gpumc_models();
  const struct gpumc_algorithm_ops *const *algorithms = gpumc_algorithms();
  struct gpumc_language_tables tables;
  struct gpumc_text example = {0};
  size_t first = 0;
  while (algorithms[first] != NULL && !gpumc_language_suits(models[0], algorithms[first]))
    first++;
  gpumc_language_tables_fill(&tables, models);
  man_head(text, "GPUMC.YAML", 5, MANUAL_LANGUAGE_PAGE, "configurations of gpumc");
  gpumc_text_append(text, "%s", introduction);
  struct gpumc_plugin_set set = {0};
  enum gpumc_status status = gpumc_plugin_set_init(&set, error);
  if (status == GPUMC_OK)
    status = gpumc_language_example(&set, models[0], algorithms[first], NULL, 0, &example, error);
  gpumc_plugin_set_free(&set);
  if (status != GPUMC_OK) {
    gpumc_text_free(&example);
    return status;
  }
  man_example(text, gpumc_text_string(&example), example.length);
  gpumc_text_free(&example);
  gpumc_text_append(text, ".SH KEYS\n.SS The file\n");
  append_keys(text, tables.root, "");
  for (size_t i = 0; models[i] != NULL; i++)
    append_plugin(text, &tables, "model", models[i]->name, models[i]->summary, models[i]->keys);
  for (size_t i = 0; algorithms[i] != NULL; i++)
    append_plugin(text, &tables, "algorithm", algorithms[i]->name, algorithms[i]->summary,
                  algorithms[i]->keys);
  gpumc_text_append(text, ".SH SEE ALSO\n.BR gpumc (1),\n.BR gpumc\\-init (1),\n"
                          ".BR gpumc\\-validate (1),\n.BR gpumc\\-describe (1)\n");
  return GPUMC_OK;
}

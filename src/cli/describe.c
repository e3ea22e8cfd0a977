/* gpumc describe: the declared keys, observables, kernels and citation of one plugin; and
 * gpumc schema: the JSON Schema of the whole configuration language. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "core/simulation/observables.h"

enum { OPTION_MARKDOWN = CLI_OPTION_OWN, OPTION_PLUGIN, NAMES_MAXIMUM = 64 };

struct describe_arguments {
  struct cli_arguments common;
  struct gpumc_plugin_set plugins;
  bool markdown;
};

static const struct argp_option options[] = {
    {"json", CLI_OPTION_JSON, NULL, 0, "Print the description as JSON", 0},
    {"plugin", OPTION_PLUGIN, "PLUGIN", 0, CLI_PLUGIN_HELP, 0},
    {"markdown", OPTION_MARKDOWN, NULL, 0, "Print the reference page of the whole language", 0},
    {0}};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
  struct describe_arguments *arguments = state->input;
  if (key == OPTION_PLUGIN)
    cli_plugin_add(&arguments->plugins, argument);
  else if (key == OPTION_MARKDOWN)
    arguments->markdown = true;
  else
    return cli_parse_common(key, argument, state);
  return 0;
}

const struct argp cli_describe_argp = {
    options,
    parse_option,
    "NAME",
    "Describe a model or an algorithm: keys with units, ranges and defaults, observables, kernels, "
    "citation. NAME 'config' describes the top-level keys of the file, 'kernel' those of that "
    "block.\v"
    "Examples:\n"
    "  gpumc describe ising2d\n"
    "  gpumc describe potts --plugin ./potts.so\n"
    "  gpumc describe pa --json\n"
    "  gpumc describe --markdown > docs/config-reference.md",
    NULL,
    NULL,
    NULL};

/* One thing that has a description; what it has not is NULL. */
struct subject {
  const char *name, *kind, *summary, *citation;
  const struct gpumc_key *keys;
  const struct gpumc_model_ops *model;
};

/* `tables`: filled, and borrowed by some. */
static bool find_subject(const char *name, const struct gpumc_plugin_set *plugins,
                         const struct gpumc_language_tables *tables, struct subject *subject)
{
  const struct gpumc_model_ops *model = gpumc_plugin_set_model(plugins, name);
  const struct gpumc_algorithm_ops *algorithm = gpumc_plugin_set_algorithm(plugins, name);
  if (model != NULL)
    *subject =
        (struct subject){model->name, "model", model->summary, model->citation, model->keys, model};
  else if (algorithm != NULL)
    *subject = (struct subject){algorithm->name,     "algorithm",     algorithm->summary,
                                algorithm->citation, algorithm->keys, NULL};
  else if (strcmp(name, "config") == 0)
    *subject = (struct subject){"config", "file",       "the keys of a configuration file",
                                NULL,     tables->root, NULL};
  else if (strcmp(name, "kernel") == 0)
    *subject = (struct subject){"kernel", "block",        "which kernel runs, and where",
                                NULL,     tables->kernel, NULL};
  else
    return false;
  return true;
}

static int unknown_name(const struct gpumc_plugin_set *plugins, const char *name)
{
  const char *names[NAMES_MAXIMUM] = {"config", "kernel"};
  size_t count = 2;
  struct gpumc_text list = {0};
  for (const struct gpumc_model_ops *const *m = plugins->models; *m != NULL; m++)
    if (count < NAMES_MAXIMUM)
      names[count++] = (*m)->name;
  for (const struct gpumc_algorithm_ops *const *a = plugins->algorithms; *a != NULL; a++)
    if (count < NAMES_MAXIMUM)
      names[count++] = (*a)->name;
  const char *nearest = gpumc_nearest_name(name, names, count);
  for (size_t i = 0; i < count; i++)
    gpumc_text_append(&list, "%s%s", i > 0 ? ", " : "", names[i]);
  if (nearest != NULL)
    cli_error("unknown name '%s'; did you mean '%s'?", name, nearest);
  else
    cli_error("unknown name '%s'; known names: %s", name, gpumc_text_string(&list));
  gpumc_text_free(&list);
  return GPUMC_INVALID;
}

static const char *type_name(enum gpumc_key_type type)
{
  switch (type) {
  case GPUMC_KEY_BOOLEAN:
    return "boolean";
  case GPUMC_KEY_INTEGER:
    return "integer";
  case GPUMC_KEY_REAL:
    return "real";
  case GPUMC_KEY_STRING:
    return "text";
  case GPUMC_KEY_CHOICE:
    return "choice";
  case GPUMC_KEY_DEVICE:
    return "device";
  case GPUMC_KEY_DURATION:
    return "duration";
  case GPUMC_KEY_SIZE:
    return "size";
  case GPUMC_KEY_TURNS:
    return "choice or turns";
  case GPUMC_KEY_MAPPING:
    return "block";
  }
  return "?";
}

static void add_names(cJSON *json, const char *name, const char *const *names)
{
  cJSON *list = names != NULL ? cJSON_AddArrayToObject(json, name) : NULL;
  for (size_t i = 0; list != NULL && names[i] != NULL; i++)
    cJSON_AddItemToArray(list, cJSON_CreateString(names[i]));
}

static cJSON *keys_json(const struct gpumc_key *keys)
{
  cJSON *list = cJSON_CreateArray();
  for (const struct gpumc_key *key = keys; key != NULL && key->name != NULL; key++) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "name", key->name);
    cJSON_AddStringToObject(json, "type", type_name(key->type));
    cJSON_AddStringToObject(json, "doc", key->doc != NULL ? key->doc : "");
    if (key->unit != NULL)
      cJSON_AddStringToObject(json, "unit", key->unit);
    if (key->default_text != NULL)
      cJSON_AddStringToObject(json, "default", key->default_text);
    add_names(json, "default_divides", key->default_divides);
    if (key->minimum != 0 || key->maximum != 0) {
      if (isfinite(key->minimum))
        cJSON_AddNumberToObject(json, "minimum", key->minimum);
      if (isfinite(key->maximum))
        cJSON_AddNumberToObject(json, "maximum", key->maximum);
      cJSON_AddBoolToObject(json, "minimum_exclusive", key->minimum_exclusive);
    }
    if (key->or_auto)
      cJSON_AddBoolToObject(json, "or_auto", true);
    if (key->or_infinite)
      cJSON_AddBoolToObject(json, "or_infinite", true);
    if (key->inverse_of != NULL)
      cJSON_AddStringToObject(json, "inverse_of", key->inverse_of);
    if (key->multiple_of > 1)
      cJSON_AddNumberToObject(json, "multiple_of", (double)key->multiple_of);
    if (key->list_maximum > 0) {
      cJSON_AddNumberToObject(json, "list_minimum", (double)key->list_minimum);
      cJSON_AddNumberToObject(json, "list_maximum", (double)key->list_maximum);
      cJSON_AddBoolToObject(json, "ascending", key->ascending);
      if (key->monotonic)
        cJSON_AddBoolToObject(json, "monotonic", true);
    }
    if (key->exactly_one_of != NULL)
      cJSON_AddStringToObject(json, "exactly_one_of", key->exactly_one_of);
    cJSON_AddBoolToObject(json, "required", key->required);
    if (key->required_unless != NULL)
      cJSON_AddStringToObject(json, "required_unless", key->required_unless);
    cJSON_AddBoolToObject(json, "sweepable", key->sweepable);
    add_names(json, "choices", key->choices);
    if (key->children != NULL)
      cJSON_AddItemToObject(json, "children", keys_json(key->children));
    cJSON_AddItemToArray(list, json);
  }
  return list;
}

static cJSON *label_json(struct gpumc_label label)
{
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "name", label.name);
  cJSON_AddStringToObject(json, "symbol", label.symbol);
  cJSON_AddStringToObject(json, "units", label.units);
  cJSON_AddStringToObject(json, "long_name", label.long_name);
  return json;
}

static void add_model_json(cJSON *json, const struct gpumc_model_ops *model)
{
  cJSON *observables = cJSON_AddArrayToObject(json, "observables");
  cJSON *derived = cJSON_AddArrayToObject(json, "derived");
  for (size_t q = 0; q < model->n_quantities; q++) {
    const char *key = gpumc_declared_request(model, q);
    cJSON *quantity = label_json(gpumc_declared_label(model, q));
    cJSON_AddBoolToObject(quantity, "on_request", key != NULL);
    if (key != NULL)
      cJSON_AddStringToObject(quantity, "request_key", key);
    cJSON_AddBoolToObject(quantity, "of_pairs", gpumc_declared_paired(model, q));
    const char *moved = gpumc_declared_moved(model, q);
    if (moved != NULL)
      cJSON_AddStringToObject(quantity, "moved", moved);
    const char *where = gpumc_declared_where(model, q);
    if (where != NULL)
      cJSON_AddStringToObject(quantity, "only_where", where);
    cJSON_AddItemToArray(model->quantities[q].value == NULL ? observables : derived, quantity);
  }
  cJSON *controls = cJSON_AddArrayToObject(json, "controls");
  for (size_t k = 0; k < model->n_controls; k++)
    cJSON_AddItemToArray(controls, label_json(model->controls[k].label));
  cJSON *channels = cJSON_AddArrayToObject(json, "channels");
  for (size_t c = 0; c < model->n_channels; c++) {
    cJSON *channel = label_json(model->channels[c].label);
    if (gpumc_channel_is_profile(&model->channels[c])) {
      cJSON_AddStringToObject(channel, "request_key", model->channels[c].request_key);
      cJSON_AddStringToObject(channel, "over", model->channels[c].axis.name);
    }
    cJSON_AddItemToArray(channels, channel);
  }
  cJSON *pairs = cJSON_AddArrayToObject(json, "pairs");
  for (size_t k = 0; k < model->n_pairs; k++)
    cJSON_AddItemToArray(pairs, label_json(model->pairs[k].label));
  cJSON *kernels = cJSON_AddArrayToObject(json, "kernels");
  for (const struct gpumc_kernel_ops *const *k = model->kernels; *k != NULL; k++) {
    cJSON *kernel = cJSON_CreateObject();
    cJSON_AddStringToObject(kernel, "device", (*k)->device);
    cJSON_AddStringToObject(kernel, "variant", (*k)->variant);
    cJSON_AddStringToObject(kernel, "trajectory", gpumc_kernel_trajectory(*k));
    cJSON_AddStringToObject(kernel, "summary", (*k)->summary);
    cJSON_AddStringToObject(kernel, "takes", (*k)->takes != NULL ? (*k)->takes : "everything");
    cJSON_AddBoolToObject(kernel, "absent", (*k)->absent != 0);
    cJSON_AddItemToArray(kernels, kernel);
  }
}

static cJSON *subject_json(const struct subject *subject)
{
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "name", subject->name);
  cJSON_AddStringToObject(json, "kind", subject->kind);
  cJSON_AddStringToObject(json, "summary", subject->summary);
  cJSON_AddItemToObject(json, "keys", keys_json(subject->keys));
  if (subject->model != NULL)
    add_model_json(json, subject->model);
  if (subject->citation != NULL)
    cJSON_AddStringToObject(json, "citation", subject->citation);
  return json;
}

/* ", give exactly one of step, overlap, values", of a group among `keys`. */
static void append_group(const cJSON *keys, const cJSON *key, struct gpumc_text *text)
{
  const char *group = cli_text(key, "exactly_one_of"), *separator = ", give exactly one of ";
  const cJSON *other;
  if (group[0] == '\0')
    return;
  cJSON_ArrayForEach(other, keys)
  {
    if (strcmp(cli_text(other, "exactly_one_of"), group) != 0)
      continue;
    gpumc_text_append(text, "%s%s", separator, cli_text(other, "name"));
    separator = ", ";
  }
}

/* A list with `first` in front of its first item and `between` in front of the others. */
static void
append_names(const cJSON *names, const char *first, const char *between, struct gpumc_text *text)
{
  const cJSON *name;
  cJSON_ArrayForEach(name, names)
      gpumc_text_append(text, "%s%s", name == names->child ? first : between, name->valuestring);
}

static void append_default(const cJSON *key, struct gpumc_text *text)
{
  const char *value = cli_text(key, "default");
  if (cli_has(key, "default"))
    gpumc_text_append(text, ", default %s", value[0] == '\0' ? "\"\"" : value);
  append_names(cli_member(key, "default_divides"), " or the largest smaller divisor of ",
               ", otherwise of ", text);
}

static void append_range(const cJSON *key, struct gpumc_text *text)
{
  const double least = cli_number(key, "list_minimum"), most = cli_number(key, "list_maximum");
  if (strcmp(cli_text(key, "type"), type_name(GPUMC_KEY_TURNS)) == 0) {
    gpumc_text_append(text, ", up to %.0f turns of %.0f to %.0f", most, cli_number(key, "minimum"),
                      cli_number(key, "maximum"));
    return;
  }
  if (cli_has(key, "list_maximum") && least == most)
    gpumc_text_append(text, ", list of %.0f", most);
  else if (cli_has(key, "list_maximum"))
    gpumc_text_append(text, ", list of %.0f to %.0f", least, most);
  if (cli_has(key, "minimum") && cli_has(key, "maximum"))
    gpumc_text_append(text, ", %s%.15g to %.15g",
                      cli_true(key, "minimum_exclusive") ? "above " : "",
                      cli_number(key, "minimum"), cli_number(key, "maximum"));
  else if (cli_has(key, "minimum"))
    gpumc_text_append(text, ", %s%.15g",
                      cli_true(key, "minimum_exclusive") ? "above " : "at least ",
                      cli_number(key, "minimum"));
  else if (cli_has(key, "maximum"))
    gpumc_text_append(text, ", at most %.15g", cli_number(key, "maximum"));
  if (cli_true(key, "or_infinite"))
    gpumc_text_append(text, " or .inf");
  if (cli_has(key, "multiple_of"))
    gpumc_text_append(text, ", multiple of %.0f", cli_number(key, "multiple_of"));
}

/* "integer, 1 to 100, replicas, default 20000, required", of one of `keys`. */
static void append_traits(const cJSON *keys, const cJSON *key, struct gpumc_text *text)
{
  gpumc_text_append(text, "%s", cli_text(key, "type"));
  append_range(key, text);
  append_names(cli_member(key, "choices"), ": ", " | ", text);
  if (cli_has(key, "unit"))
    gpumc_text_append(text, ", in %s", cli_text(key, "unit"));
  append_default(key, text);
  gpumc_text_append(text, "%s", cli_true(key, "required") ? ", required" : "");
  if (cli_has(key, "required_unless"))
    gpumc_text_append(text, ", required if %s is absent", cli_text(key, "required_unless"));
  append_group(keys, key, text);
  gpumc_text_append(text, "%s", cli_true(key, "sweepable") ? ", may be varied in a campaign" : "");
}

static void print_keys(const cJSON *keys, int indent)
{
  const cJSON *key;
  cJSON_ArrayForEach(key, keys)
  {
    struct gpumc_text traits = {0};
    append_traits(keys, key, &traits);
    printf("%*s%s  (%s)\n", indent, "", cli_text(key, "name"), gpumc_text_string(&traits));
    if (cli_text(key, "doc")[0] != '\0')
      printf("%*s%s\n", indent + 4, "", cli_text(key, "doc"));
    gpumc_text_free(&traits);
    print_keys(cli_member(key, "children"), indent + 4);
  }
}

static void print_quantities(const char *title, const cJSON *quantities)
{
  const cJSON *quantity;
  if (cli_first(quantities) == NULL)
    return;
  puts(title);
  cJSON_ArrayForEach(quantity, quantities)
  {
    const char *key = cli_text(quantity, "request_key"), *moved = cli_text(quantity, "moved");
    const char *where = cli_text(quantity, "only_where"), *over = cli_text(quantity, "over");
    printf("  %s  %s  (unit %s%s%s%s%s%s%s%s%s%s%s)\n      %s\n", cli_text(quantity, "name"),
           cli_text(quantity, "symbol"), cli_text(quantity, "units"),
           key[0] != '\0' ? ", on request: " : "", key,
           cli_true(quantity, "of_pairs") ? ", where copies are compared" : "",
           moved[0] != '\0' ? ", where " : "", moved, moved[0] != '\0' ? " is moved" : "",
           where[0] != '\0' ? ", only where " : "", where,
           over[0] != '\0' ? ", a profile over " : "", over, cli_text(quantity, "long_name"));
  }
}

static void print_model(const cJSON *model)
{
  const cJSON *kernel;
  print_quantities("\nControls that algorithms move:", cli_member(model, "controls"));
  print_quantities("\nObservables:", cli_member(model, "observables"));
  print_quantities("\nDerived from their averages:", cli_member(model, "derived"));
  print_quantities("\nMeasured for every replica:", cli_member(model, "channels"));
  print_quantities("\nMeasured for pairs of copies:", cli_member(model, "pairs"));
  puts("\nKernels (variant auto picks the fastest that can run a task, the first among equals):");
  cJSON_ArrayForEach(kernel, cli_member(model, "kernels")) printf(
      "  %s on %s%s  (trajectory %s)\n      %s\n      accepts: %s\n", cli_text(kernel, "variant"),
      cli_text(kernel, "device"), cli_true(kernel, "absent") ? ", not in this build" : "",
      cli_text(kernel, "trajectory"), cli_text(kernel, "summary"), cli_text(kernel, "takes"));
}

static void print_subject(const cJSON *subject)
{
  const cJSON *keys = cli_member(subject, "keys");
  printf("%s (%s): %s\n", cli_text(subject, "name"), cli_text(subject, "kind"),
         cli_text(subject, "summary"));
  if (cli_first(keys) != NULL) {
    puts("\nKeys:");
    print_keys(keys, 2);
  }
  if (cli_has(subject, "kernels"))
    print_model(subject);
  if (cli_has(subject, "citation"))
    printf("\nCitation:\n%s\n", cli_text(subject, "citation"));
}

static int print_reference(const struct gpumc_plugin_set *plugins)
{
  struct gpumc_text text = {0};
  gpumc_language_reference(plugins, &text);
  int code = text.failed ? GPUMC_FAILURE : GPUMC_OK;
  if (text.failed)
    cli_error("out of memory while writing the reference page");
  else
    fputs(gpumc_text_string(&text), stdout);
  gpumc_text_free(&text);
  return code;
}

static int describe_name(struct describe_arguments *arguments)
{
  const char *name = arguments->common.subject;
  struct gpumc_plugin_set *plugins = &arguments->plugins;
  struct gpumc_language_tables tables;
  struct gpumc_error error = {0};
  struct subject subject;
  /* Blocks of the file first: no plugin is looked for by their names. */
  gpumc_language_tables_fill(&tables, plugins->models);
  if (!find_subject(name, plugins, &tables, &subject)) {
    for (enum gpumc_plugin_kind kind = GPUMC_PLUGIN_MODEL; kind <= GPUMC_PLUGIN_ALGORITHM; kind++)
      if (gpumc_plugin_set_want(plugins, kind, name, true, &error) != GPUMC_OK)
        return cli_fail(&error);
    gpumc_language_tables_fill(&tables, plugins->models);
    if (!find_subject(name, plugins, &tables, &subject))
      return unknown_name(plugins, name);
  }
  struct gpumc_key *keys = gpumc_language_plugin_keys(&tables, subject.keys);
  if (keys == NULL) {
    cli_error("out of memory: describing %s", subject.name);
    return GPUMC_FAILURE;
  }
  subject.keys = keys;
  const int code = cli_report(subject_json(&subject), arguments->common.json, print_subject);
  free(keys);
  return code;
}

int cli_describe(int argc, char **argv)
{
  struct describe_arguments arguments = {.common = {.command = argv[0], .kind = "name"}};
  cli_plugins_open(&arguments.plugins);
  cli_parse(&cli_describe_argp, argc, argv, &arguments);
  if (arguments.markdown && arguments.common.subject != NULL)
    cli_usage_error(argv[0], "--markdown prints the whole reference page; give no name with it");
  if (!arguments.markdown && arguments.common.subject == NULL)
    cli_usage_error(argv[0], "no name given; 'gpumc list' shows the names");
  const int code =
      arguments.markdown ? print_reference(&arguments.plugins) : describe_name(&arguments);
  gpumc_plugin_set_free(&arguments.plugins);
  return code;
}

static const struct argp_option schema_options[] = {
    {"plugin", OPTION_PLUGIN, "PLUGIN", 0, CLI_PLUGIN_HELP, 0}, {0}};

static error_t parse_schema_option(int key, char *argument, struct argp_state *state)
{
  if (key == OPTION_PLUGIN)
    cli_plugin_add(state->input, argument);
  else if (key == ARGP_KEY_ARG)
    cli_usage_error("gpumc schema", "unexpected argument '%s'", argument);
  else
    return ARGP_ERR_UNKNOWN;
  return 0;
}

const struct argp cli_schema_argp = {
    schema_options,
    parse_schema_option,
    "",
    "Print the JSON Schema (draft-07) of the configuration language.\v"
    "Examples:\n"
    "  gpumc schema > schemas/gpumc.schema.json\n"
    "  gpumc schema --plugin ./potts.so > potts.schema.json",
    NULL,
    NULL,
    NULL};

int cli_schema(int argc, char **argv)
{
  struct gpumc_plugin_set plugins;
  cli_plugins_open(&plugins);
  cli_parse(&cli_schema_argp, argc, argv, &plugins);
  const int code = cli_print_json(gpumc_language_schema(&plugins));
  gpumc_plugin_set_free(&plugins);
  return code;
}

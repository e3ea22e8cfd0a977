/* gpumc describe: the declared keys, observables, kernels and citation of one plugin. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/simulation/registry.h"

enum { OPTION_MARKDOWN = CLI_OPTION_OWN, NAMES_MAXIMUM = 64 };

struct describe_arguments {
  struct cli_arguments common;
  bool markdown;
};

static const struct argp_option options[] = {
    {"json", CLI_OPTION_JSON, NULL, 0, "The description as JSON", 0},
    {"markdown", OPTION_MARKDOWN, NULL, 0, "The reference page of the whole language", 0},
    {0}};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
  struct describe_arguments *arguments = state->input;
  if (key != OPTION_MARKDOWN)
    return cli_parse_common(key, argument, state);
  arguments->markdown = true;
  return 0;
}

static const struct argp parser = {
    options,
    parse_option,
    "NAME",
    "Describe a model or an algorithm: keys with units, ranges and defaults, observables, kernels, "
    "citation. NAME 'config' describes the keys of the file itself, 'kernel' those of that block.\v"
    "Examples:\n"
    "  gpumc describe ising2d\n"
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

static bool find_subject(const char *name, struct subject *subject)
{
  const struct gpumc_model_ops *model = gpumc_model_find(name);
  const struct gpumc_algorithm_ops *algorithm = gpumc_algorithm_find(name);
  if (model != NULL)
    *subject =
        (struct subject){model->name, "model", model->summary, model->citation, model->keys, model};
  else if (algorithm != NULL)
    *subject = (struct subject){algorithm->name,     "algorithm",     algorithm->summary,
                                algorithm->citation, algorithm->keys, NULL};
  else if (strcmp(name, "config") == 0)
    *subject = (struct subject){
        "config", "file", "the keys of a configuration file", NULL, gpumc_language_keys(), NULL};
  else if (strcmp(name, "kernel") == 0)
    *subject = (struct subject){
        "kernel", "block", "which kernel runs, and where", NULL, gpumc_kernel_keys(), NULL};
  else
    return false;
  return true;
}

static int unknown_name(const char *name)
{
  const char *names[NAMES_MAXIMUM] = {"config", "kernel"};
  size_t count = 2;
  struct gpumc_text list = {0};
  for (const struct gpumc_model_ops *const *m = gpumc_models(); *m != NULL; m++)
    if (count < NAMES_MAXIMUM)
      names[count++] = (*m)->name;
  for (const struct gpumc_algorithm_ops *const *a = gpumc_algorithms(); *a != NULL; a++)
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
  case GPUMC_KEY_MAPPING:
    return "block";
  }
  return "?";
}

static bool has_range(const struct gpumc_key *key)
{
  return key->minimum != 0 || key->maximum != 0;
}

/* ", give exactly one of step, overlap, values", of a group. */
static void
append_group(const struct gpumc_key *keys, const struct gpumc_key *key, struct gpumc_text *text)
{
  const char *separator = ", give exactly one of ";
  for (; key->exactly_one_of != NULL && keys->name != NULL; keys++)
    if (keys->exactly_one_of != NULL && strcmp(keys->exactly_one_of, key->exactly_one_of) == 0) {
      gpumc_text_append(text, "%s%s", separator, keys->name);
      separator = ", ";
    }
}

static void append_default(const struct gpumc_key *key, struct gpumc_text *text)
{
  if (key->default_text != NULL)
    gpumc_text_append(text, ", default %s",
                      key->default_text[0] == '\0' ? "\"\"" : key->default_text);
  for (size_t i = 0; key->default_divides != NULL && key->default_divides[i] != NULL; i++)
    gpumc_text_append(text, "%s%s", i == 0 ? " or the largest smaller divisor of " : ", else of ",
                      key->default_divides[i]);
}

/* "integer, 1 to 100, replicas, default 20000, required", of one of `keys`. */
static void
append_traits(const struct gpumc_key *keys, const struct gpumc_key *key, struct gpumc_text *text)
{
  gpumc_text_append(text, "%s", type_name(key->type));
  if (key->list_maximum > 0 && key->list_minimum == key->list_maximum)
    gpumc_text_append(text, ", list of %zu", key->list_maximum);
  else if (key->list_maximum > 0)
    gpumc_text_append(text, ", list of %zu to %zu", key->list_minimum, key->list_maximum);
  if (has_range(key))
    gpumc_text_append(text, ", %s%.15g to %.15g", key->minimum_exclusive ? "above " : "",
                      key->minimum, key->maximum);
  if (key->multiple_of > 1)
    gpumc_text_append(text, ", multiple of %lld", (long long)key->multiple_of);
  for (size_t i = 0; key->choices != NULL && key->choices[i] != NULL; i++)
    gpumc_text_append(text, "%s%s", i == 0 ? ": " : " | ", key->choices[i]);
  if (key->unit != NULL)
    gpumc_text_append(text, ", in %s", key->unit);
  append_default(key, text);
  gpumc_text_append(text, "%s", key->required ? ", required" : "");
  if (key->required_unless != NULL)
    gpumc_text_append(text, ", required without %s", key->required_unless);
  append_group(keys, key, text);
  gpumc_text_append(text, "%s", key->sweepable ? ", may be varied in a campaign" : "");
}

static void print_keys(const struct gpumc_key *keys, int indent)
{
  for (const struct gpumc_key *key = keys; key != NULL && key->name != NULL; key++) {
    struct gpumc_text traits = {0};
    append_traits(keys, key, &traits);
    printf("%*s%s  (%s)\n", indent, "", key->name, gpumc_text_string(&traits));
    if (key->doc != NULL)
      printf("%*s%s\n", indent + 4, "", key->doc);
    gpumc_text_free(&traits);
    if (key->children != NULL)
      print_keys(key->children, indent + 4);
  }
}

/* What the kernel asks of the lattice. */
static const char *taken_by(const struct gpumc_kernel_ops *kernel)
{
  return kernel->takes != NULL ? kernel->takes : "everything";
}

static void print_model(const struct gpumc_model_ops *model)
{
  puts("\nObservables, besides energy, specific heat, free energy and entropy:");
  for (size_t i = 0; i < model->n_observables; i++) {
    const struct gpumc_observable *observable = &model->observables[i];
    printf("  %s  %s  (unit %s%s)\n      %s\n", observable->name, observable->symbol,
           observable->units, model->channels[observable->channel].on_request ? ", on request" : "",
           observable->long_name);
  }
  if (model->n_derived > 0)
    puts("\nDerived from their averages:");
  for (size_t i = 0; i < model->n_derived; i++) {
    const struct gpumc_derived *derived = &model->derived[i];
    printf("  %s  %s  (unit %s)\n      %s\n", derived->name, derived->symbol, derived->units,
           derived->long_name);
  }
  puts("\nKernels, in order of preference:");
  for (const struct gpumc_kernel_ops *const *k = model->kernels; *k != NULL; k++)
    printf("  %s on %s%s  (trajectory %s)\n      %s\n      takes: %s\n", (*k)->variant,
           (*k)->device, (*k)->absent ? ", not in this build" : "", (*k)->trajectory, (*k)->summary,
           taken_by(*k));
}

static void print_subject(const struct subject *subject)
{
  printf("%s (%s): %s\n", subject->name, subject->kind, subject->summary);
  if (subject->keys != NULL && subject->keys->name != NULL) {
    puts("\nKeys:");
    print_keys(subject->keys, 2);
  }
  if (subject->model != NULL)
    print_model(subject->model);
  if (subject->citation != NULL)
    printf("\nCitation:\n%s\n", subject->citation);
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
    if (has_range(key)) {
      cJSON_AddNumberToObject(json, "minimum", key->minimum);
      cJSON_AddNumberToObject(json, "maximum", key->maximum);
      cJSON_AddBoolToObject(json, "minimum_exclusive", key->minimum_exclusive);
    }
    if (key->multiple_of > 1)
      cJSON_AddNumberToObject(json, "multiple_of", (double)key->multiple_of);
    if (key->list_maximum > 0) {
      cJSON_AddNumberToObject(json, "list_minimum", (double)key->list_minimum);
      cJSON_AddNumberToObject(json, "list_maximum", (double)key->list_maximum);
      cJSON_AddBoolToObject(json, "ascending", key->ascending);
    }
    if (key->exactly_one_of != NULL)
      cJSON_AddStringToObject(json, "exactly_one_of", key->exactly_one_of);
    cJSON_AddBoolToObject(json, "required", key->required);
    if (key->required_unless != NULL)
      cJSON_AddStringToObject(json, "required_unless", key->required_unless);
    cJSON_AddBoolToObject(json, "sweepable", key->sweepable);
    cJSON *choices = key->choices != NULL ? cJSON_AddArrayToObject(json, "choices") : NULL;
    for (size_t i = 0; choices != NULL && key->choices[i] != NULL; i++)
      cJSON_AddItemToArray(choices, cJSON_CreateString(key->choices[i]));
    if (key->children != NULL)
      cJSON_AddItemToObject(json, "children", keys_json(key->children));
    cJSON_AddItemToArray(list, json);
  }
  return list;
}

static cJSON *
quantity_json(const char *name, const char *symbol, const char *units, const char *long_name)
{
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "name", name);
  cJSON_AddStringToObject(json, "symbol", symbol);
  cJSON_AddStringToObject(json, "units", units);
  cJSON_AddStringToObject(json, "long_name", long_name);
  return json;
}

static void add_model_json(cJSON *json, const struct gpumc_model_ops *model)
{
  cJSON *observables = cJSON_AddArrayToObject(json, "observables");
  for (size_t i = 0; i < model->n_observables; i++) {
    const struct gpumc_observable *one = &model->observables[i];
    cJSON *observable = quantity_json(one->name, one->symbol, one->units, one->long_name);
    cJSON_AddBoolToObject(observable, "on_request", model->channels[one->channel].on_request);
    cJSON_AddItemToArray(observables, observable);
  }
  cJSON *derived = cJSON_AddArrayToObject(json, "derived");
  for (size_t i = 0; i < model->n_derived; i++) {
    const struct gpumc_derived *one = &model->derived[i];
    cJSON_AddItemToArray(derived,
                         quantity_json(one->name, one->symbol, one->units, one->long_name));
  }
  cJSON *kernels = cJSON_AddArrayToObject(json, "kernels");
  for (const struct gpumc_kernel_ops *const *k = model->kernels; *k != NULL; k++) {
    cJSON *kernel = cJSON_CreateObject();
    cJSON_AddStringToObject(kernel, "device", (*k)->device);
    cJSON_AddStringToObject(kernel, "variant", (*k)->variant);
    cJSON_AddStringToObject(kernel, "trajectory", (*k)->trajectory);
    cJSON_AddStringToObject(kernel, "summary", (*k)->summary);
    cJSON_AddStringToObject(kernel, "takes", taken_by(*k));
    cJSON_AddBoolToObject(kernel, "absent", (*k)->absent);
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

static int print_reference(void)
{
  struct gpumc_text text = {0};
  gpumc_language_reference(&text);
  int code = text.failed ? GPUMC_FAILURE : GPUMC_OK;
  if (text.failed)
    cli_error("out of memory while writing the reference page");
  else
    fputs(gpumc_text_string(&text), stdout);
  gpumc_text_free(&text);
  return code;
}

int cli_describe(int argc, char **argv)
{
  struct describe_arguments arguments = {.common = {.command = argv[0], .kind = "name"}};
  struct subject subject;
  cli_parse(&parser, argc, argv, &arguments);
  if (arguments.markdown && arguments.common.subject != NULL)
    cli_usage_error(argv[0], "--markdown is the whole reference page and takes no name");
  if (arguments.markdown)
    return print_reference();
  if (arguments.common.subject == NULL)
    cli_usage_error(argv[0], "a name is missing; 'gpumc list' shows them");
  if (!find_subject(arguments.common.subject, &subject))
    return unknown_name(arguments.common.subject);
  if (arguments.common.json)
    return cli_print_json(subject_json(&subject));
  print_subject(&subject);
  return GPUMC_OK;
}

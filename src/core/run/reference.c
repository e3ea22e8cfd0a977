/* The reference page of the language, Markdown, from all declared keys. */
#include <stdlib.h>
#include <string.h>

#include "core/config/params.h"
#include "core/run/language_internal.h"
#include "core/simulation/observables.h"

/* A bar would end the table's cell. */
static void append_cell(struct gpumc_text *text, const char *words)
{
  for (; *words != '\0'; words++)
    gpumc_text_append(text, *words == '|' ? "\\|" : "%c", *words);
}

static void
append_meaning(struct gpumc_text *text, const struct gpumc_key *keys, const struct gpumc_key *key)
{
  append_cell(text, key->doc != NULL ? key->doc : "");
  if (key->exactly_one_of == NULL)
    return;
  gpumc_text_append(text, " Exactly one of");
  const char *separator = " ";
  for (const struct gpumc_key *other = keys; other->name != NULL; other++)
    if (other->exactly_one_of != NULL && strcmp(other->exactly_one_of, key->exactly_one_of) == 0) {
      gpumc_text_append(text, "%s`%s`", separator, other->name);
      separator = ", ";
    }
  gpumc_text_append(text, ".");
}

static const char *default_words(const struct gpumc_key *key)
{
  if (key->required)
    return "required";
  if (key->exactly_one_of != NULL)
    return "one of a group";
  if (key->or_auto)
    return "`auto`";
  return key->type == GPUMC_KEY_MAPPING ? "optional" : "none";
}

static void append_row(struct gpumc_text *text, const struct gpumc_key *keys,
                       const struct gpumc_key *key, const char *name)
{
  struct gpumc_text wanted = {0};
  gpumc_key_expectation(key, &wanted);
  gpumc_text_append(text, "| `%s` | ", name);
  append_cell(text, gpumc_text_string(&wanted));
  gpumc_text_append(text, " | %s | ", key->unit != NULL ? key->unit : "");
  if (key->required_unless != NULL)
    gpumc_text_append(text, "required if `%s` is absent", key->required_unless);
  else if (key->default_text != NULL)
    gpumc_text_append(text, "`%s`", key->default_text[0] == '\0' ? "\"\"" : key->default_text);
  else
    gpumc_text_append(text, "%s", default_words(key));
  for (size_t i = 0; key->default_divides != NULL && key->default_divides[i] != NULL; i++)
    gpumc_text_append(text, "%s`%s`",
                      i == 0 ? " or the largest smaller divisor of " : ", otherwise of ",
                      key->default_divides[i]);
  gpumc_text_append(text, " | %s | ", key->sweepable ? "yes" : "");
  append_meaning(text, keys, key);
  gpumc_text_append(text, " |\n");
  gpumc_text_free(&wanted);
}

static void append_rows(struct gpumc_text *text, const struct gpumc_key *keys, const char *prefix)
{
  for (const struct gpumc_key *key = keys; key->name != NULL; key++) {
    struct gpumc_text name = {0};
    gpumc_text_append(&name, "%s%s%s", prefix, prefix[0] == '\0' ? "" : ".", key->name);
    append_row(text, keys, key, gpumc_text_string(&name));
    if (key->children != NULL)
      append_rows(text, key->children, gpumc_text_string(&name));
    gpumc_text_free(&name);
  }
}

static void append_table(struct gpumc_text *text, const struct gpumc_key *keys, const char *prefix)
{
  gpumc_text_append(text, "| key | value | unit | default | campaign | meaning |\n"
                          "| --- | --- | --- | --- | --- | --- |\n");
  if (keys != NULL)
    append_rows(text, keys, prefix);
  gpumc_text_append(text, "\n");
}

static void append_citation(struct gpumc_text *text, const char *citation)
{
  if (citation == NULL || citation[0] == '\0')
    return;
  const char *end = citation[strlen(citation) - 1] == '\n' ? "" : "\n";
  gpumc_text_append(text, "Please cite:\n\n```bibtex\n%s%s```\n\n", citation, end);
}

static void append_label(struct gpumc_text *text, struct gpumc_label label, const char *remark)
{
  gpumc_text_append(text, "| `%s` | ", label.name);
  append_cell(text, label.symbol);
  gpumc_text_append(text, " | %s | ", label.units);
  append_cell(text, label.long_name);
  gpumc_text_append(text, "%s |\n", remark);
}

static void append_controls(struct gpumc_text *text, const struct gpumc_model_ops *model)
{
  gpumc_text_append(text, "Controls that algorithms move:\n\n"
                          "| control | symbol | unit | meaning |\n| --- | --- | --- | --- |\n");
  for (size_t k = 0; k < model->n_controls; k++)
    append_label(text, model->controls[k].label, "");
  gpumc_text_append(text, "\n");
}

static void append_quantities(struct gpumc_text *text, const struct gpumc_model_ops *model)
{
  gpumc_text_append(text, "Observables; each algorithm lists what else it reports:\n"
                          "\n"
                          "| observable | symbol | unit | meaning |\n"
                          "| --- | --- | --- | --- |\n");
  for (size_t q = 0; q < model->n_quantities; q++) {
    const char *key = gpumc_declared_request(model, q), *moved = gpumc_declared_moved(model, q);
    const char *where = gpumc_declared_where(model, q);
    char remark[160] = "";
    if (key != NULL)
      snprintf(remark, sizeof remark, " (with `algorithm.%s`)", key);
    else if (gpumc_declared_paired(model, q))
      snprintf(remark, sizeof remark, " (where copies are compared)");
    else if (moved != NULL)
      snprintf(remark, sizeof remark,
               moved == gpumc_no_control ? " (where %s is moved)" : " (where `%s` is moved)",
               moved);
    if (where != NULL)
      snprintf(remark + strlen(remark), sizeof remark - strlen(remark), " (only where %s)", where);
    append_label(text, gpumc_declared_label(model, q), remark);
  }
  for (size_t c = 0; c < model->n_channels; c++) {
    const struct gpumc_channel *channel = &model->channels[c];
    char remark[160];
    if (!gpumc_channel_is_profile(channel))
      continue;
    snprintf(remark, sizeof remark, ", a profile over `%s` (with `algorithm.%s`)",
             channel->axis.name, channel->request_key);
    append_label(text, channel->label, remark);
  }
  gpumc_text_append(text, "\n");
}

/* What is measured, as it stands in time series. */
static void append_measured(struct gpumc_text *text, const struct gpumc_model_ops *model)
{
  gpumc_text_append(
      text, "Measured for every replica, and for pairs of replicas where copies are compared:\n"
            "\n"
            "| measured | symbol | unit | meaning |\n"
            "| --- | --- | --- | --- |\n");
  for (size_t c = 0; c < model->n_channels; c++)
    if (!gpumc_channel_is_profile(&model->channels[c]))
      append_label(text, model->channels[c].label, "");
  for (size_t k = 0; k < model->n_pairs; k++)
    append_label(text, model->pairs[k].label, " (of a pair)");
  gpumc_text_append(text, "\n");
}

static void append_kernels(struct gpumc_text *text, const struct gpumc_model_ops *model)
{
  gpumc_text_append(
      text, "Kernels (`auto` picks the fastest that can run a task, the first among equals):\n"
            "\n"
            "| device | variant | trajectory | what it is | what it accepts |\n"
            "| --- | --- | --- | --- | --- |\n");
  for (size_t i = 0; model->kernels[i] != NULL; i++) {
    const struct gpumc_kernel_ops *kernel = model->kernels[i];
    gpumc_text_append(text, "| %s | `%s` | `%s` | %s | %s |\n", kernel->device, kernel->variant,
                      gpumc_kernel_trajectory(kernel), kernel->summary,
                      kernel->takes != NULL ? kernel->takes : "everything");
  }
  gpumc_text_append(text, "\n");
}

static const char introduction[] =
    "# Configuration reference\n"
    "\n"
    "Generated by `gpumc describe --markdown`; do not edit.\n"
    "\n"
    "A configuration is one YAML file. Every key is listed here with the values that it accepts;\n"
    "nothing else is accepted. Keys marked in the column *campaign* may be varied by the block\n"
    "`campaign`: their dotted name with a list of values. Every combination becomes a task; the\n"
    "first key varies slowest.\n"
    "Durations carry a unit (`100 ms`, `90 s`, `10 min`, `2 h`, `1 d`), sizes too (`512 MiB`,\n"
    "`4 GiB`). `output` may contain `{key}` placeholders, with lists joined by `x`: with\n"
    "`model.shape: [64, 64]`, `{model.shape}` is `64x64`, and moves that take turns,\n"
    "`[{a: 2}, {b: 1}]`, are `a-2xb-1`.\n"
    "\n"
    "Wherever a key accepts inverse temperatures, a sibling accepts temperatures instead, with\n"
    "k_B = 1 and in the units of the couplings: `temperature` for `beta`, `control.temperature` "
    "for\n"
    "`control.beta`, `reweight_temperature` for `reweight`, `temperatures` for `betas`. Each "
    "becomes\n"
    "beta = 1/T, rounded once: `temperature: {values: 2.0}` and `beta: {values: 0.5}` give the "
    "same\n"
    "bits, and results hold beta. Ranges go from hot to cold or from cold to hot. `step`, and "
    "`count`\n"
    "with `spacing: linear`, make equal steps of T that start at `from`; `count` without it makes "
    "a\n"
    "constant ratio, as in beta. `.inf` stands for an infinite temperature where beta may be 0.\n"
    "\n"
    "## The file\n"
    "\n";

void gpumc_language_reference_with(const struct gpumc_plugins *plugins, struct gpumc_text *text)
{
  gpumc_text_append(text, "%s", introduction);
  struct gpumc_language_tables tables;
  gpumc_language_tables_fill(&tables, plugins->models);
  append_table(text, tables.root, "");
  for (size_t i = 0; plugins->models[i] != NULL; i++) {
    const struct gpumc_model_ops *model = plugins->models[i];
    gpumc_text_append(text, "## Model `%s`\n\n%s\n\n", model->name, model->summary);
    append_table(text, model->keys, "model");
    if (model->n_controls > 0)
      append_controls(text, model);
    if (model->n_quantities > 0)
      append_quantities(text, model);
    if (model->n_channels > 0)
      append_measured(text, model);
    append_kernels(text, model);
    append_citation(text, model->citation);
  }
  for (size_t i = 0; plugins->algorithms[i] != NULL; i++) {
    const struct gpumc_algorithm_ops *algorithm = plugins->algorithms[i];
    gpumc_text_append(text, "## Algorithm `%s`\n\n%s\n\n", algorithm->name, algorithm->summary);
    struct gpumc_key *keys = gpumc_language_plugin_keys(&tables, algorithm->keys);
    text->failed = text->failed || keys == NULL;
    append_table(text, keys, "algorithm");
    free(keys);
    append_citation(text, algorithm->citation);
  }
  while (text->length > 1 && text->characters[text->length - 2] == '\n')
    text->characters[--text->length] = '\0';
}

void gpumc_language_reference(const struct gpumc_plugin_set *set, struct gpumc_text *text)
{
  const struct gpumc_plugins plugins = gpumc_plugins_of(set);
  gpumc_language_reference_with(&plugins, text);
}

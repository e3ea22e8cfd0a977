/* What is made of all declared keys: the JSON Schema of the whole language (the root, a definition
 * for each plugin, the campaign), and the reference page, Markdown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config/params.h"
#include "core/config/schema_keys.h"
#include "core/run/language_internal.h"
#include "core/simulation/ladder.h"
#include "core/simulation/observables.h"

/* ---- the schema ---- */

/* The schema under construction. `rules`: what must hold at the root besides the plain blocks. */
struct builder {
  const struct gpumc_plugins *plugins;
  cJSON *definitions;
  cJSON *rules;
  struct gpumc_language_tables tables;
};

/* A campaign's properties and the array of their names (may be NULL), while keys are visited. */
struct axes {
  cJSON *properties, *names;
  bool failed;
};

/* A single value is a list of itself, and where the key is a list of one, that as well. */
static cJSON *scalar_value(const struct gpumc_key *key)
{
  struct gpumc_key single = *key;
  single.list_minimum = single.list_maximum = 0;
  single.default_text = NULL;
  return gpumc_schema_value(&single);
}

static void add_axis(void *state, const char *dotted_key, const struct gpumc_key *key)
{
  struct axes *axes = state;
  if (!key->sweepable || axes->failed)
    return;
  cJSON *list = gpumc_json_pair("type", cJSON_CreateString("array"));
  bool good = gpumc_json_put(list, "minItems", cJSON_CreateNumber(1));
  good = good && gpumc_json_put(list, "items", gpumc_schema_value(key));
  cJSON *forms = cJSON_CreateArray();
  good = gpumc_json_push(forms, list) && good;
  if (key->list_minimum <= 1)
    good = gpumc_json_push(forms, scalar_value(key)) && good;
  good = gpumc_json_put(axes->properties, dotted_key, gpumc_json_pair("anyOf", forms)) && good;
  axes->failed = !good || (axes->names != NULL &&
                           !gpumc_json_push(axes->names, cJSON_CreateString(dotted_key)));
}

/* {not: {pattern: "^model\\."}}: a key of another block. */
static cJSON *outside(const char *block)
{
  char pattern[64];
  snprintf(pattern, sizeof pattern, "^%s\\.", block);
  return gpumc_json_pair("not", gpumc_json_pair("pattern", cJSON_CreateString(pattern)));
}

/* {campaign: {...}} of one plugin: its own keys with their types, no others of its block. */
static cJSON *campaign_of(const char *block, const struct gpumc_key *keys)
{
  cJSON *campaign = cJSON_CreateObject();
  cJSON *allowed = cJSON_CreateArray();
  struct axes axes = {.properties = cJSON_CreateObject(), .names = cJSON_CreateArray()};
  gpumc_keys_visit(keys, block, add_axis, &axes);
  bool any = axes.names != NULL && axes.names->child != NULL;
  bool good = gpumc_json_push(allowed, outside(block));
  if (any)
    good = gpumc_json_push(allowed, gpumc_json_pair("enum", axes.names)) && good;
  else
    cJSON_Delete(axes.names);
  good = gpumc_json_put(campaign, "properties", axes.properties) && good;
  good = gpumc_json_put(campaign, "propertyNames", gpumc_json_pair("anyOf", allowed)) && good;
  if (good && !axes.failed)
    return gpumc_json_pair("campaign", campaign);
  cJSON_Delete(campaign);
  return NULL;
}

/* {BLOCK: {properties: {name: NAME}, required: [name]}} as an `if`; `name` is taken over. */
static cJSON *is_named(const char *block, cJSON *name)
{
  const char *key = "name";
  cJSON *condition = gpumc_json_pair("properties", gpumc_json_pair("name", name));
  bool good = gpumc_json_put(condition, "required", cJSON_CreateStringArray(&key, 1));
  cJSON *schema = gpumc_json_pair("properties", gpumc_json_pair(block, condition));
  if (good && gpumc_json_put(schema, "required", cJSON_CreateStringArray(&block, 1)))
    return schema;
  cJSON_Delete(schema);
  return NULL;
}

/* {enum: [...]} of the models that have controls and no temperature; NULL: there are none. */
static cJSON *names_without_temperature(const struct gpumc_plugins *plugins)
{
  cJSON *names = cJSON_CreateArray();
  bool good = true;
  for (size_t i = 0; plugins->models[i] != NULL; i++) {
    const struct gpumc_model_ops *model = plugins->models[i];
    if (model->n_controls > 0 && !gpumc_model_has_temperature(model))
      good = gpumc_json_push(names, cJSON_CreateString(model->name)) && good;
  }
  if (good && names != NULL && names->child != NULL)
    return gpumc_json_pair("enum", names);
  cJSON_Delete(names);
  return NULL;
}

/* What the block must hold of an algorithm that moves controls, for these models: the conditions of
 * its other keys, which are changed, `control`, and no temperatures. */
static cJSON *without_temperature(const char *block, struct gpumc_key *keys)
{
  static const char *const absent[] = {"beta", "temperature"};
  const char *control = "control";
  cJSON *conditions = cJSON_CreateArray(), *blocks = cJSON_CreateObject();
  gpumc_block_without_temperature(keys);
  cJSON_Delete(gpumc_schema_block(keys, block, conditions));
  bool good = true;
  cJSON *moved = cJSON_CreateObject();
  for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
    good = gpumc_json_put(blocks, absent[i], cJSON_CreateFalse()) &&
           gpumc_json_put(moved, absent[i], cJSON_CreateFalse()) && good;
  good = gpumc_json_put(blocks, control, gpumc_json_pair("properties", moved)) && good;
  cJSON *inside = gpumc_json_pair("properties", blocks);
  good = gpumc_json_put(inside, "required", cJSON_CreateStringArray(&control, 1)) && good;
  cJSON *schema = gpumc_json_pair("properties", gpumc_json_pair(block, inside));
  good = gpumc_json_put(schema, "allOf", conditions) && good;
  if (good)
    return schema;
  cJSON_Delete(schema);
  return NULL;
}

/* [{if: such a model, then: ..., else: {allOf: conditions}}] in place of conditions[] of a block;
 * as they are where there is no such model, or the block moves no control. NULL when memory ran
 * out. */
static cJSON *conditions_by_model(const struct builder *builder, const char *block,
                                  struct gpumc_key *keys, cJSON *conditions)
{
  cJSON *names = names_without_temperature(builder->plugins);
  if (names == NULL || strcmp(block, "algorithm") != 0 || !gpumc_keys_move_controls(keys)) {
    cJSON_Delete(names);
    return conditions;
  }
  cJSON *rule = gpumc_json_pair("if", is_named("model", names));
  bool good = gpumc_json_put(rule, "then", without_temperature(block, keys));
  good = gpumc_json_put(rule, "else", gpumc_json_pair("allOf", conditions)) && good;
  cJSON *rules = cJSON_CreateArray();
  if (gpumc_json_push(rules, rule) && good)
    return rules;
  cJSON_Delete(rules);
  return NULL;
}

/* The definition of one plugin's block, and the rule that asks for it where it is named. */
static bool add_plugin(struct builder *builder, const char *block, const char *const *names,
                       const char *name, const char *summary, const struct gpumc_key *plugin_keys)
{
  char definition[GPUMC_KEY_NAME_BYTES], reference[GPUMC_KEY_NAME_BYTES];
  snprintf(definition, sizeof definition, "%s-%s", block, name);
  snprintf(reference, sizeof reference, "#/definitions/%s-%s", block, name);
  struct gpumc_key *keys = gpumc_block_keys(&builder->tables, block, names, plugin_keys);
  cJSON *conditions = cJSON_CreateArray(), *consequence = cJSON_CreateObject();
  if (keys == NULL || conditions == NULL || consequence == NULL)
    goto fail;
  cJSON *schema = gpumc_schema_block(keys, block, conditions);
  if (!gpumc_json_put(builder->definitions, definition, schema) ||
      !gpumc_json_put(schema, "description", cJSON_CreateString(summary)))
    goto fail;
  cJSON *properties = campaign_of(block, keys);
  if (!gpumc_json_put(consequence, "properties", properties) ||
      !gpumc_json_put(properties, block, gpumc_json_pair("$ref", cJSON_CreateString(reference))))
    goto fail;
  conditions = conditions_by_model(builder, block, keys, conditions);
  if (conditions == NULL)
    goto fail;
  free(keys);
  if (conditions->child == NULL)
    cJSON_Delete(conditions);
  else if (!gpumc_json_put(consequence, "allOf", conditions)) {
    cJSON_Delete(consequence);
    return false;
  }
  cJSON *rule =
      gpumc_json_pair("if", is_named(block, gpumc_json_pair("const", cJSON_CreateString(name))));
  bool good = gpumc_json_put(rule, "then", consequence);
  return gpumc_json_push(builder->rules, rule) && good;
fail:
  free(keys);
  cJSON_Delete(conditions);
  cJSON_Delete(consequence);
  return false;
}

/* In the root, a plugin's block must name one; the rules say the rest. */
static bool describe_block(cJSON *properties, const char *block, const char *const *names)
{
  cJSON *schema = cJSON_GetObjectItemCaseSensitive(properties, block);
  const char *required = "name";
  int count = 0;
  while (names[count] != NULL)
    count++;
  cJSON *name = gpumc_json_pair("enum", cJSON_CreateStringArray(names, count));
  return gpumc_json_put(schema, "properties", gpumc_json_pair("name", name)) &&
         gpumc_json_put(schema, "required", cJSON_CreateStringArray(&required, 1));
}

static bool describe_campaign(const struct builder *builder, cJSON *properties)
{
  cJSON *campaign = cJSON_GetObjectItemCaseSensitive(properties, "campaign");
  struct axes axes = {.properties = cJSON_CreateObject()};
  gpumc_keys_visit(builder->tables.root, "", add_axis, &axes);
  bool good = gpumc_json_put(campaign, "properties", axes.properties) && !axes.failed;
  return good &&
         gpumc_json_put(campaign, "patternProperties",
                        gpumc_json_pair("^(model|algorithm)\\.", cJSON_CreateTrue())) &&
         gpumc_json_put(campaign, "additionalProperties", cJSON_CreateFalse());
}

static bool add_plugins(struct builder *builder, cJSON *properties, const char *const *models,
                        const char *const *algorithms)
{
  bool good = describe_block(properties, "model", models) &&
              describe_block(properties, "algorithm", algorithms) &&
              describe_campaign(builder, properties);
  for (size_t i = 0; good && models[i] != NULL; i++) {
    const struct gpumc_model_ops *model = builder->plugins->models[i];
    good = add_plugin(builder, "model", models, model->name, model->summary, model->keys);
  }
  for (size_t i = 0; good && algorithms[i] != NULL; i++) {
    const struct gpumc_algorithm_ops *ops = builder->plugins->algorithms[i];
    good = add_plugin(builder, "algorithm", algorithms, ops->name, ops->summary, ops->keys);
  }
  return good;
}

static bool build(const struct gpumc_plugins *plugins, cJSON *schema, const char **models,
                  const char **algorithms)
{
  struct builder builder = {.plugins = plugins, .rules = cJSON_CreateArray()};
  gpumc_language_tables_fill(&builder.tables, plugins->models);
  cJSON *root = gpumc_schema_block(builder.tables.root, "", builder.rules);
  bool good = gpumc_json_put(schema, "$schema",
                             cJSON_CreateString("http://json-schema.org/draft-07/schema#")) &&
              gpumc_json_put(schema, "title", cJSON_CreateString("Configuration of gpumc"));
  for (cJSON *item; good && root != NULL && (item = root->child) != NULL;) {
    char *name = strdup(item->string);
    good = gpumc_json_put(schema, name != NULL ? name : "", cJSON_DetachItemViaPointer(root, item));
    free(name);
  }
  good = good && root != NULL;
  cJSON_Delete(root);
  good = gpumc_json_put(schema, "allOf", builder.rules) && good;
  builder.definitions = cJSON_CreateObject();
  good = gpumc_json_put(schema, "definitions", builder.definitions) && good;
  return good && add_plugins(&builder, cJSON_GetObjectItemCaseSensitive(schema, "properties"),
                             models, algorithms);
}

cJSON *gpumc_language_schema_with(const struct gpumc_plugins *plugins)
{
  const char **models = gpumc_model_names(plugins), **algorithms = gpumc_algorithm_names(plugins);
  cJSON *schema = cJSON_CreateObject();
  bool good = models != NULL && algorithms != NULL && schema != NULL &&
              build(plugins, schema, models, algorithms);
  free(models);
  free(algorithms);
  if (good)
    return schema;
  cJSON_Delete(schema);
  return NULL;
}

cJSON *gpumc_language_schema(const struct gpumc_plugin_set *set)
{
  const struct gpumc_plugins plugins = gpumc_plugins_of(set);
  return gpumc_language_schema_with(&plugins);
}

/* ---- the reference page ---- */

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
    gpumc_text_append(text, "required without `%s`", key->required_unless);
  else if (key->default_text != NULL)
    gpumc_text_append(text, "`%s`", key->default_text[0] == '\0' ? "\"\"" : key->default_text);
  else
    gpumc_text_append(text, "%s", default_words(key));
  for (size_t i = 0; key->default_divides != NULL && key->default_divides[i] != NULL; i++)
    gpumc_text_append(text, "%s`%s`", i == 0 ? " or the largest smaller divisor of " : ", else of ",
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
  gpumc_text_append(text, "Observables; what else an algorithm reports, it says itself:\n\n"
                          "| observable | symbol | unit | meaning |\n| --- | --- | --- | --- |\n");
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
  gpumc_text_append(text, "Measured of every replica, and of pairs of them where copies are "
                          "compared:\n\n"
                          "| measured | symbol | unit | meaning |\n| --- | --- | --- | --- |\n");
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
      text, "Kernels (`auto` takes the fastest that serves a run, of equal ones the first):\n\n"
            "| device | variant | trajectory | what it is | what it takes |\n"
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
    "# Configuration reference\n\n"
    "Generated by `gpumc describe --markdown`; do not edit.\n\n"
    "A configuration is one YAML file. Every key is listed here with what it takes; nothing else\n"
    "is accepted. Keys marked in the column *campaign* may be varied by the block `campaign`: "
    "their\n"
    "dotted name with a list of values. Every combination becomes a task, the first key slowest.\n"
    "Durations carry a unit (`100 ms`, `90 s`, `10 min`, `2 h`, `1 d`), sizes too (`512 MiB`,\n"
    "`4 GiB`). `output` may hold `{key}` placeholders, lists joined by `x`: with\n"
    "`model.shape: [64, 64]`, `{model.shape}` is `64x64`.\n\n"
    "Wherever a key takes inverse temperatures, a sibling takes temperatures in its place, with\n"
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
    "constant ratio, as in beta. `.inf` stands for an infinite temperature where beta may be "
    "0.\n\n"
    "## The file\n\n";

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

/* import: others' descriptions as files of ours: a Hugging Face config as a model, the output of a
 * cluster's tools about its nodes as a machine. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/forms.h>

#include "hf/huggingface.h"
#include "hf/numbers.h"
#include "config/load.h"
#include "config/node.h"
#include "config/world.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/command.h"

static const struct sp_taken options[] = {
    SP_TAKE(name),
    SP_OPTION_HW,
    SP_TAKE(card_rate),
};

/* The operands, read. */
struct texts {
    struct {
        const char *origin; /* for messages */
        char *text;
        size_t length;
    } * text;
    int n;
};

static void free_texts(struct texts *texts)
{
    for (int i = 0; i < texts->n; i++)
        free(texts->text[i].text);
    free(texts->text);
}

/* The texts are for free_texts() whatever the result. */
static bool read_texts(const struct sp_args *args, struct texts *texts, struct sp_error *error)
{
    texts->text = sp_must(calloc((size_t)args->n_operands + 1, sizeof *texts->text));
    for (; texts->n < args->n_operands; texts->n++) {
        const char *const path = args->operands[texts->n];
        size_t *const length = &texts->text[texts->n].length;
        texts->text[texts->n].origin = strcmp(path, "-") == 0 ? "standard input" : path;
        texts->text[texts->n].text =
            sp_read_file(sp_pipes_of(args->world), path, SP_JSON_MAX_BYTES, length, error);
        if (!texts->text[texts->n].text)
            return false;
    }
    return true;
}

/* The native file, with its last line ended; without a path none is written. */
static bool put_native(struct sp_report *report, const char *path, const char *text,
                       struct sp_error *error)
{
    char *const line = sp_make_text("%s\n", text);
    const bool ok = !path || sp_put_file(report, path, line, error);
    free(line);
    return ok;
}

/* The result of a config: the model, and its file as text for free(). */
struct import {
    struct sp_report *report;
    struct sp_model model;
    struct sp_params params;
    const char *path; /* of the native file; NULL: none */
    bool assumed;     /* --assume names the family */
    char *text;
};

#define SP_PART import
#define SP_PART_OF struct import
#include "answer/put_rows.h"

static bool refuse_native(const struct sp_json *json, struct sp_error *error)
{
    return sp_fail(error, SP_INPUT, "%s is already a model file: use it as --model", json->origin);
}

static bool convert(const struct sp_json *json, const struct sp_sources *sources, const char *name,
                    struct import *import, struct sp_error *error)
{
    if (sp_is_native_model(json->root))
        return refuse_native(json, error);
    cJSON *const native = sp_from_huggingface(json, sources->assume, error);
    if (!native)
        return false;
    for (int i = 0; sp_huggingface_remark(native, i); i++)
        sp_note(import->report, "%s", sp_huggingface_remark(native, i));
    if (name)
        cJSON_ReplaceItemInObjectCaseSensitive(native, "name", cJSON_CreateString(name));
    const struct sp_json document = {.root = native, .origin = json->origin};
    import->text = sp_must(cJSON_Print(native));
    sp_make_printable(import->text, "\n\t"); /* names of the config may be unsafe text */
    const bool ok = sp_decode_model(&document, &import->model, error);
    cJSON_Delete(native);
    return ok;
}

/* The result of nodes: a machine, and its file as text for free(). */
struct import_machine {
    struct sp_node node;
    struct sp_hardware chip; /* the machine that it begins with */
    double links, domain, domain_bytes_per_s, card_rate, scaleout_bytes_per_s;
    int devices_up; /* GPUs of the nodes in use */
    bool has_topology, has_ports, rate_given;
    const char *name, *path;
    char *text;
};

#define SP_PART import_machine
#define SP_PART_OF struct import_machine
#include "answer/put_rows.h"

/* The NVLink domain. A cell of a switched node counts all links of a GPU, for they lead to the
 * switches; of a node without switches those to that peer. */
static void find_domain(struct import_machine *m)
{
    const struct sp_chip *const chip = &m->chip.chip;
    const bool switched = m->node.links > chip->nvlink_ports;
    m->links = switched ? m->node.to_peer : m->node.links;
    m->domain = m->node.peers + 1;
    m->domain_bytes_per_s = m->node.peers == 0
                                ? chip->pcie_bytes_per_s
                                : sp_port_bytes_per_s(m->links, chip->nvlink_port_bytes_per_s);
    m->has_ports = !isnan(m->domain_bytes_per_s);
    if (!m->has_ports)
        m->domain_bytes_per_s = m->chip.network.domain_bytes_per_s;
    if (m->node.peers == 0) /* all GPUs of the node, over PCIe */
        m->domain = m->node.devices;
}

static bool read_nodes(const struct texts *texts, struct import_machine *m, struct sp_error *error)
{
    for (int i = 0; i < texts->n; i++) {
        const char *const text = texts->text[i].text, *const origin = texts->text[i].origin;
        const bool ok =
            sp_is_topology(text) ? sp_read_topology(text, origin, &m->node, error)
            : sp_is_node_list(text)
                ? sp_read_node_list(text, origin, &m->node, error)
                : sp_fail(error, SP_INPUT,
                          "%s: expected output of `nvidia-smi topo -m` or `scontrol show node`",
                          sp_safe(origin));
        m->has_topology = m->has_topology || sp_is_topology(text);
        if (!ok)
            return false;
    }
    return true;
}

/* A figure of the new file, with its source. */
static void set_figure(cJSON *network, const char *key, double value)
{
    cJSON *const figure = cJSON_CreateObject();
    cJSON_AddNumberToObject(figure, "value", value);
    cJSON_AddStringToObject(figure, "source", "node");
    cJSON_DeleteItemFromObjectCaseSensitive(network, key);
    cJSON_AddItemToObject(network, key, figure);
}

/* The base's file with the facts of the node in its place. Switches and cabling of the base do not
 * belong to this machine. */
static void write_machine(const struct sp_config *base, struct import_machine *m)
{
    static const char *const not_known[] = {"fabric", "domain_switches", "domain_switch_ports"};
    cJSON *const file = cJSON_Duplicate(base->json.root, true);
    cJSON *const network = cJSON_GetObjectItemCaseSensitive(file, "network");
    cJSON_DeleteItemFromObjectCaseSensitive(file, "aliases");
    cJSON_ReplaceItemInObjectCaseSensitive(file, "name", cJSON_CreateString(m->name));
    cJSON_DeleteItemFromObjectCaseSensitive(file, "made_from");
    cJSON_AddStringToObject(file, "made_from",
                            m->chip.made_from[0] ? m->chip.made_from : m->chip.name);
    for (size_t i = 0; i < sizeof not_known / sizeof *not_known; i++)
        cJSON_DeleteItemFromObjectCaseSensitive(network, not_known[i]);
    if (m->has_topology) {
        cJSON_ReplaceItemInObjectCaseSensitive(network, "domain", cJSON_CreateNumber(m->domain));
        set_figure(network, "domain_bytes_per_s", m->domain_bytes_per_s);
    }
    if (m->node.cards > 0)
        set_figure(network, "scaleout_bytes_per_s", m->scaleout_bytes_per_s);
    if (m->node.memory_bytes > 0)
        set_figure(network, "host_memory_bytes", m->node.memory_bytes);
    cJSON_AddStringToObject(cJSON_GetObjectItemCaseSensitive(file, "sources"), "node",
                            "nvidia-smi topo -m, scontrol show node");
    m->text = sp_must(cJSON_Print(file));
    cJSON_Delete(file);
}

static bool make_machine(const struct sp_args *args, struct import_machine *m,
                         struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    const char *const base = args->value.hw ? args->value.hw : m->node.device;
    struct sp_config config;
    if (base[0] == '\0')
        return sp_fail(error, SP_USAGE, "--hw NAME is needed: the topology does not name the chip");
    if (!sp_load_hardware(base, &sources, &m->chip, error))
        return false;
    if (m->chip.network.kind != SP_SWITCHED)
        return sp_fail(error, SP_INPUT, "--hw %s is a torus, which these tools do not describe",
                       sp_safe(base));
    m->rate_given = args->given.card_rate;
    m->card_rate = m->rate_given ? args->value.card_rate : m->chip.network.scaleout_bytes_per_s;
    m->scaleout_bytes_per_s =
        sp_card_bytes_per_s_per_device(m->node.cards, m->card_rate, m->node.devices);
    find_domain(m);
    m->devices_up = (m->node.nodes - m->node.down) * m->node.devices;
    if (!sp_open_config(SP_HARDWARE, base, &sources, &config, error))
        return false;
    write_machine(&config, m);
    sp_config_free(&config);
    return true;
}

static bool are_of_nodes(const struct texts *texts)
{
    return texts->n > 0 &&
           (sp_is_topology(texts->text[0].text) || sp_is_node_list(texts->text[0].text));
}

static bool run_nodes(const struct sp_args *args, const struct texts *texts,
                      struct sp_report *report, struct sp_error *error)
{
    char name[64] = "cluster";
    struct import_machine m = {.path = args->value.write, .name = name};
    sp_take_name(args, name, sizeof name);
    const bool ok = sp_check_name(args->value.name, error) && read_nodes(texts, &m, error) &&
                    make_machine(args, &m, error) && put_native(report, m.path, m.text, error);
    free(m.text);
    if (ok)
        put_import_machine_rows(report, &m);
    return ok;
}

/* import->text is for free() whatever the result. */
static bool import_of(const struct sp_args *args, const struct texts *texts, struct import *import,
                      struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    struct sp_json json;
    if (texts->n != 1)
        return sp_fail(error, SP_USAGE,
                       "give a config: scaleplan import config.json [-o model.json]");
    if (sources.n_sets > 0)
        return sp_fail(error, SP_USAGE, "--set has no effect here; edit the file");
    if (!sp_check_name(args->value.name, error))
        return false;
    sp_hf_take_infinities(texts->text->text, texts->text->length);
    if (!sp_json_parse(texts->text->text, texts->text->length, texts->text->origin, &json, error))
        return false;
    const bool ok = convert(&json, &sources, args->value.name, import, error);
    sp_json_free(&json);
    return ok;
}

static bool run_config(const struct sp_args *args, const struct texts *texts,
                       struct sp_report *report, struct sp_error *error)
{
    struct import import = {
        .report = report, .path = args->value.write, .assumed = sp_sources_of(args).assume != NULL};
    const bool ok = import_of(args, texts, &import, error) &&
                    put_native(report, import.path, import.text, error);
    free(import.text);
    if (!ok)
        return false;
    import.params = sp_count_params(&import.model);
    put_import_rows(report, &import);
    return true;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct texts texts = {0};
    bool ok = read_texts(args, &texts, error);
    if (ok)
        ok = are_of_nodes(&texts) ? run_nodes(args, &texts, report, error)
                                  : run_config(args, &texts, report, error);
    free_texts(&texts);
    return ok;
}

static const struct sp_example examples[] = {
    {"import config.json -o my-model.json", "a model file to edit and keep"},
    {"import config.json -o - | jq .moe", "the same to standard output"},
    {"import topo.txt nodes.txt -o cluster.json --card-rate 50GB",
     "a machine from `nvidia-smi topo -m` and `scontrol show node`"},
    {"fit --model config.json --hw h100-64", "or use the config as it is"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_import = {
    .name = "import",
    .writes_other = true,
    .summary =
        "turn a Hugging Face config into a model file, or a cluster's nodes into a machine file",
    .operands = "CONFIG.json|NODES.txt...",
    .about = SP_ABOUT_IN_SHELL(
        "Turns a Hugging Face config.json (`scaleplan list families`) into a model file and "
        "prints its parameter count; --model also reads the config itself. Its class decides "
        "the head. Unknown architectures need --assume FAMILY. Assumptions and uncounted "
        "parts are notes, also in the file. The output of `nvidia-smi topo -m` and `scontrol "
        "show node` gives a machine file; --hw or Slurm's Gres names the chip."),
    SP_OPTIONS(options),
    .examples = SP_EXAMPLES_IN_SHELL(examples),
    .run = SP_IN_SHELL(run),
};

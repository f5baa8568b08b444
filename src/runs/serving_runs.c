/* Reads rows of a CSV of serving runs as instances and requests. */
#include "base/memory.h"
#include "runs/columns.h"
#include "runs/serving_runs.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/names.h>

const char *const sp_serving_measure_names[SP_SERVING_MEASURES] = {"tpot", "ttft", "throughput"};

/* Concurrent sequences per attention-DP rank if memory allows more: the largest default limit of
 * the engines. */
#define MOST_SEQUENCES 2048.0

/* A model, machine or engine named by rows, loaded once. */
struct loaded {
    struct loaded *next;
    char name[80];
    bool known;
    enum kind { MODEL, MACHINE, ENGINE } kind;
    union {
        struct sp_model model;
        struct sp_hardware hw;
        struct sp_engine engine;
    } of;
};

struct reader {
    const struct sp_csv *csv;
    size_t row;
    const struct sp_sources *sources;
    struct loaded **list;
    struct sp_serving_run *run;
};

static __attribute__((format(printf, 2, 3))) void problem(struct reader *r, const char *format, ...)
{
    va_list arguments;
    if (r->run->problem[0] != '\0')
        return;
    va_start(arguments, format);
    vsnprintf(r->run->problem, sizeof r->run->problem, format, arguments);
    va_end(arguments);
}

static const char *text(const struct reader *r, const char *column)
{
    return sp_csv_cell(r->csv, r->row, sp_run_column(r->csv, column));
}

static double number(struct reader *r, const char *column, double least, double fallback)
{
    const char *const cell = text(r, column);
    if (cell[0] == '\0')
        return fallback;
    const double value = sp_is_decimal(cell) ? strtod(cell, NULL) : NAN;
    if (value >= least && value <= 1e12)
        return value;
    problem(r, "%s \"%s\" is not a number from %g", sp_run_column_name(r->csv, column),
            sp_safe(cell), least);
    return fallback;
}

/* Spells a word like a config's file name: lower case, dashes for other characters. */
static void slug(const char *word, char *out, size_t size)
{
    size_t n = 0;
    for (; *word && n + 1 < size; word++)
        out[n++] = isalnum((unsigned char)*word) || *word == '.'
                       ? (char)tolower((unsigned char)*word)
                       : '-';
    out[n] = '\0';
}

static bool load(const struct reader *r, struct loaded *l, double chips)
{
    struct sp_error error = {0};
    if (l->kind == MODEL)
        return sp_config_exists(SP_MODELS, l->name, r->sources) &&
               sp_load_model(l->name, r->sources, &l->of.model, &error);
    if (l->kind == ENGINE)
        return sp_config_exists(SP_ENGINES, l->name, r->sources) &&
               sp_load_engine(l->name, r->sources, &l->of.engine, &error);
    if (!sp_config_exists(SP_HARDWARE, l->name, r->sources) ||
        !sp_load_chip(l->name, r->sources, &l->of.hw, &error))
        return false;
    l->of.hw.slices = 1;
    l->of.hw.chips_per_slice = (int64_t)chips;
    return true;
}

/* The loaded object of that name; NULL if none. */
static struct loaded *find(struct reader *r, enum kind kind, const char *column, double chips)
{
    char name[64];
    slug(text(r, column), name, sizeof name);
    for (struct loaded *l = *r->list; l; l = l->next)
        if (l->kind == kind && strcmp(l->name, name) == 0 &&
            (kind != MACHINE || (double)l->of.hw.chips_per_slice == chips || !l->known))
            return l->known ? l : NULL;
    struct loaded *const l = sp_must(calloc(1, sizeof *l));
    snprintf(l->name, sizeof l->name, "%s", name);
    l->kind = kind;
    l->next = *r->list;
    *r->list = l;
    l->known = name[0] != '\0' && load(r, l, chips);
    return l->known ? l : NULL;
}

/* Whether a format stores only weights, "int4_wo": they are widened to 16 bits before matmuls. */
static bool weights_only(const char *cell)
{
    const size_t n = strlen(cell);
    return n > 3 && strcmp(cell + n - 3, "_wo") == 0;
}

/* Finds a storage format by its name or by the names in publications. */
static int storage(struct reader *r, const char *column, int fallback)
{
    static const struct {
        const char *word;
        enum sp_storage is;
    } others[] = {{"fp16", SP_STORED_BF16}, {"fp4", SP_STORED_NVFP4}};
    const char *const cell = text(r, column);
    if (cell[0] == '\0')
        return fallback;
    const size_t n = strlen(cell) - (weights_only(cell) ? strlen("_wo") : 0);
    for (int i = 0; i < SP_STORAGES; i++)
        if (strlen(sp_storage_names[i]) == n && strncmp(cell, sp_storage_names[i], n) == 0)
            return i;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(cell, others[i].word) == 0)
            return (int)others[i].is;
    problem(r, "unknown %s format \"%s\"", sp_run_column_name(r->csv, column), sp_safe(cell));
    return fallback;
}

/* Reads storage formats and the matching matmul formats. */
static void read_formats(struct reader *r)
{
    struct sp_service *const s = &r->run->service;
    const int weights = storage(r, "weights", SP_STORED_BF16);
    const int experts = storage(r, "expert_weights", weights);
    const bool narrow = r->run->engine->narrow_cache && sp_storages[weights].bytes <= 1;
    const int kv = storage(r, "kv", narrow ? SP_STORED_FP8 : SP_STORED_BF16);
    s->weight_bytes = sp_storages[weights].bytes;
    s->expert_bytes = sp_storages[experts].bytes;
    s->kv_bytes = sp_storages[kv].bytes;
    const struct sp_chip *const chip = &s->hw->chip;
    const bool widened = weights_only(text(r, "weights"));
    const bool experts_too = widened || weights_only(text(r, "expert_weights"));
    s->math = widened ? SP_BF16 : sp_math_of_stored(chip, (enum sp_storage)weights);
    s->expert_math = experts_too ? SP_BF16 : sp_math_of_stored(chip, (enum sp_storage)experts);
}

static void read_degrees(struct reader *r, double chips)
{
    struct sp_service *const s = &r->run->service;
    const bool experts = s->model->moe.experts > 0;
    s->tp = number(r, "tp", 1, chips);
    s->pp = number(r, "pp", 1, 1);
    s->attention_dp = number(r, "attention_dp", 1, 1);
    s->ep = experts ? number(r, "ep", 1, 1) : 1;
    if (s->tp * s->attention_dp * s->pp != chips)
        problem(r, "tp %g x attention dp %g x pp %g do not multiply to its %g chips", s->tp,
                s->attention_dp, s->pp, chips);
    if (fmod(s->tp * s->attention_dp, s->ep) != 0)
        problem(r, "ep %g does not divide tp x attention dp", s->ep);
}

/* "4x1x8x8": instances, TP, attention's data parallelism and EP of a pool. */
struct pool {
    double instances, tp, dp, ep;
};

/* Whole numbers with an x between them. */
static bool parse_pool(const char *cell, struct pool *p)
{
    double *const parts[] = {&p->instances, &p->tp, &p->dp, &p->ep};
    for (int i = 0; i < 4; i++) {
        char *end;
        if (!isdigit((unsigned char)*cell))
            return false;
        *parts[i] = (double)strtoul(cell, &end, 10);
        if (*end != (i < 3 ? 'x' : '\0'))
            return false;
        cell = end + 1;
    }
    return true;
}

static bool read_pool(struct reader *r, const char *column, struct pool *p)
{
    const char *const cell = text(r, column);
    if (!parse_pool(cell, p))
        problem(r, "%s \"%s\": expected instances x tp x attention dp x ep", column, sp_safe(cell));
    else if (p->instances < 1)
        problem(r, "%s %s: the number of instances is not stated", column, sp_safe(cell));
    else if (p->tp < 1 || p->dp < 1 || p->ep < 1 || fmod(p->tp * p->dp, p->ep) != 0)
        problem(r, "%s %s: ep does not divide tp x attention dp", column, sp_safe(cell));
    return r->run->problem[0] == '\0';
}

/* Speculative decoding, if stated. */
static void read_drafts(struct reader *r)
{
    struct sp_service *const s = &r->run->service;
    const struct sp_acceptance alike = {.first = number(r, "acceptance", 0, NAN), .later = 1};
    s->drafts = number(r, "draft_tokens", 1, 0);
    s->accepted = number(r, "accepted", 1,
                         isnan(alike.first) ? NAN : sp_speculated_tokens(s->drafts, &alike));
    if (s->drafts > 0 && !(s->accepted >= 1 && s->accepted <= s->drafts + 1))
        problem(r, "draft_tokens: accepted (or acceptance) is not stated, or too large");
}

/* Mean lengths; published benchmarks draw 0.8 to 1 times the nominal length. */
static void read_requests(struct reader *r)
{
    struct sp_requests *const q = &r->run->requests;
    const double input = number(r, "input", 1, NAN), output = number(r, "output", 1, NAN);
    const char *const spread = text(r, "length_spread");
    const double mean = strncmp(spread, "0.8..1", 6) == 0 ? 0.9 : 1; /* uniform */
    if (isnan(input) || isnan(output))
        problem(r, "%s and %s are not stated", sp_run_column_name(r->csv, "input"),
                sp_run_column_name(r->csv, "output"));
    r->run->service = (struct sp_service){.input = mean * input, .output = fmax(1, mean * output)};
    *q = (struct sp_requests){.direct = strstr(text(r, "kind"), "latency") == NULL};
    q->in_flight = number(r, "concurrency", 1, number(r, "batch", 1, INFINITY));
    q->all = number(r, "requests", 1, 0);
}

static void read_measured(struct reader *r)
{
    double *const m = r->run->measured;
    const char *const kind = text(r, "kind");
    const bool rate = strstr(kind, "throughput") != NULL;
    m[SP_MEASURED_TPOT] = number(r, "tpot_s", 1e-9, NAN);
    m[SP_MEASURED_TTFT] = number(r, "ttft_s", 1e-9, NAN);
    if (strcmp(text(r, "scoring"), "tpot") == 0) /* the rest is of another cause */
        m[SP_MEASURED_TTFT] = NAN;
    m[SP_MEASURED_RATE] = rate ? number(r, "output_tokens_per_s", 1e-9, NAN) : NAN;
}

/* Everything but degrees and formats. */
static struct sp_service service_of(struct reader *r, const struct sp_model *model,
                                    const struct sp_hardware *hw)
{
    const struct sp_serving_run *const run = r->run;
    return (struct sp_service){.input = run->service.input,
                               .output = run->service.output,
                               .model = model,
                               .hw = hw,
                               .chips = (double)sp_chips(hw),
                               .kv_token_bytes = NAN,
                               .memory_fraction = run->engine->memory_fraction,
                               .fraction_of_free = run->engine->of_free,
                               .keeps_all = run->engine->keeps_all,
                               .buffer_bytes = run->engine->buffer_bytes,
                               .separate = run->engine->separate_prompts,
                               .poll_steps = number(r, "poll_steps", 1, run->engine->poll_steps),
                               .block = run->engine->block_tokens,
                               .chunk = number(r, "chunk", 1, run->engine->chunk_tokens),
                               .mfu = 1,
                               .attention = true};
}

/* Reads the prefill pool, and each decode instance's share of it and of the requests. */
static void prepare_reader(struct sp_serving_run *run, const struct pool *reads, double generators)
{
    const struct sp_profile nobody = {.serves = true};
    struct sp_service reader = run->service;
    struct sp_served from, to;
    reader.tp = reads->tp;
    reader.attention_dp = reads->dp;
    reader.ep = reader.model->moe.experts > 0 ? reads->ep : 1;
    reader.chips = reads->tp * reads->dp;
    reader.drafts = 0;
    sp_prepare_service(&reader, &from);
    sp_prepare_service(&run->service, &to);
    run->reader = sp_must(calloc(1, sizeof *run->reader));
    sp_prepare_pass(&from, &nobody, run->reader);
    const double chips = reads->instances * reader.chips + generators * run->service.chips;
    run->requests.reader = run->reader;
    run->requests.readers = reads->instances / generators;
    run->requests.transfer_s = sp_pools(&from, &to, 1, 1, 1, chips).transfer_s;
}

static void prepare(struct sp_serving_run *run)
{
    const struct sp_profile nobody = {.serves = true};
    struct sp_service *const s = &run->service;
    struct sp_served served;
    s->held_tokens = sp_held_tokens(run->engine, s->input, s->output);
    s->step_tokens = s->input + s->output / 2;
    sp_prepare_service(s, &served);
    sp_prepare_pass(&served, &nobody, &run->pass);
    run->requests.in_flight =
        fmin(run->requests.in_flight, isfinite(run->requests.in_flight)
                                          ? run->requests.in_flight
                                          : fmin(MOST_SEQUENCES * s->attention_dp,
                                                 sp_room_for_sequences(&run->pass.served)));
}

static void name_run(struct reader *r)
{
    struct sp_serving_run *const run = r->run;
    snprintf(run->id, sizeof run->id, "%s", text(r, "id"));
    snprintf(run->model_name, sizeof run->model_name, "%s", text(r, "model"));
    snprintf(run->engine_name, sizeof run->engine_name, "%s", text(r, "engine"));
    snprintf(run->hardware, sizeof run->hardware, "%s", text(r, "hw"));
    snprintf(run->group, sizeof run->group,
             "%.30s %.12s %.12s %.8s %.8s %.6s %.6s %.6s %.6s %.8s %.8s", text(r, "model"),
             text(r, "hw"), text(r, "engine"), text(r, "weights"), text(r, "expert_weights"),
             text(r, "tp"), text(r, "pp"), text(r, "attention_dp"), text(r, "ep"), text(r, "input"),
             text(r, "output"));
    snprintf(run->source, sizeof run->source, "%s", text(r, "source"));
    snprintf(run->why, sizeof run->why, "%s", text(r, "why"));
    run->waits = strstr(run->why, "waits for a place") != NULL;
    run->scored =
        strcmp(text(r, "scoring"), "secondary") != 0 && strcmp(text(r, "scoring"), "no") != 0;
}

/* Finds model, machine and engine; false with a problem if one is unknown. */
static bool find_stack(struct reader *r, double chips)
{
    struct sp_serving_run *const run = r->run;
    const struct loaded *const model = find(r, MODEL, "model", 0);
    const struct loaded *const hw = find(r, MACHINE, "hw", chips);
    const struct loaded *const engine = find(r, ENGINE, "engine", 0);
    if (!model || !sp_model_has_shape(&model->of.model))
        problem(r, "model \"%s\" is not known", sp_safe(text(r, "model")));
    if (!hw)
        problem(r, "hw \"%s\" is not known", sp_safe(text(r, "hw")));
    if (!engine)
        problem(r, "engine \"%s\" is not known", sp_safe(text(r, "engine")));
    if (!model || !hw || !engine || run->problem[0] != '\0')
        return false;
    run->engine = &engine->of.engine;
    run->service = service_of(r, &model->of.model, &hw->of.hw);
    return true;
}

/* With two pools the run is that of a decode instance. */
static void read_pools(struct reader *r)
{
    struct sp_service *const s = &r->run->service;
    struct pool reads = {1, 1, 1, 1}, generates = {1, 1, 1, 1};
    if (!read_pool(r, "prefill", &reads) || !read_pool(r, "decode", &generates) ||
        !find_stack(r, generates.tp * generates.dp))
        return;
    s->tp = generates.tp;
    s->attention_dp = generates.dp;
    s->pp = 1;
    s->ep = s->model->moe.experts > 0 ? generates.ep : 1;
    read_formats(r);
    read_drafts(r);
    if (r->run->problem[0] != '\0')
        return;
    r->run->requests.in_flight /= generates.instances; /* INFINITY: as many as fit */
    prepare(r->run);
    prepare_reader(r->run, &reads, generates.instances);
}

static void read_row(struct reader *r)
{
    name_run(r);
    read_measured(r);
    read_requests(r);
    if (strcmp(text(r, "mode"), "disagg") == 0) {
        read_pools(r);
        return;
    }
    const double chips = number(r, "devices", 1, number(r, "tp", 1, 1));
    if (!find_stack(r, chips))
        return;
    read_formats(r);
    read_degrees(r, chips);
    read_drafts(r);
    if (r->run->problem[0] == '\0')
        prepare(r->run);
}

bool sp_is_serving_csv(const struct sp_csv *csv)
{
    return sp_run_column(csv, "input") >= 0 && sp_run_column(csv, "output") >= 0;
}

bool sp_read_serving_runs(const char *path, const struct sp_sources *sources,
                          struct sp_serving_runs *runs, struct sp_error *error)
{
    static const char *const needed[] = {"model", "hw", "engine", "input", "output", NULL};
    struct loaded *list = NULL;
    *runs = (struct sp_serving_runs){0};
    if (!sp_read_run_csv(path, sources, &runs->csv, error))
        return false;
    sp_need_columns(&runs->csv, path, needed, error);
    runs->n = runs->csv.rows - 1;
    runs->run = sp_must(calloc(runs->n + 1, sizeof *runs->run));
    for (size_t i = 0; i < runs->n && error->lines == 0; i++) {
        struct reader reader = {&runs->csv, i, sources, &list, &runs->run[i]};
        read_row(&reader);
    }
    runs->loaded = list;
    if (error->lines == 0)
        return true;
    sp_serving_runs_free(runs);
    return false;
}

void sp_serving_runs_free(struct sp_serving_runs *runs)
{
    for (struct loaded *l = runs->loaded; l;) {
        struct loaded *const next = l->next;
        free(l);
        l = next;
    }
    for (size_t i = 0; i < runs->n; i++)
        free(runs->run[i].reader);
    free(runs->run);
    sp_csv_free(&runs->csv);
    *runs = (struct sp_serving_runs){0};
}

struct sp_serve_estimate sp_estimate_serving_run(const struct sp_serving_run *run,
                                                 const double *constants)
{
    struct sp_pass pass = run->pass, reader;
    struct sp_requests requests = run->requests;
    sp_use_serving_constants(constants, &pass);
    if (run->reader) {
        reader = *run->reader;
        sp_use_serving_constants(constants, &reader);
        requests.reader = &reader;
    }
    return sp_serve_estimate(&pass, &requests);
}

/* Commands of an engine's server as options of `serve`. An engine's defaults are those of its file
 * in configs/engines. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/list.h"
#include "base/suggest.h"
#include "base/text.h"
#include "launch/engines/engines.h"
#include "launch/fields/deciding.h"
#include "launch/fields/programs.h"
#include "launch/huggingface/adapters.h"
#include "launch/shell/flags.h"
#include "launch/fields/unread.h"

enum { MOST_COMMANDS = 2 };

/* A server: its settings, and how it is divided. */
struct server {
    struct sp_settings *s;
    char role[SP_ROW_WORD]; /* "reads", "generates", "" */
    double tp, attention_dp, pp, ep, replicas;
};

struct reading {
    struct sp_launch_file *file;
    struct sp_settings *s; /* of the server that generates */
    const char *model;     /* as the command names it */
    bool experts;          /* the model has some */
    struct server server[MOST_COMMANDS];
    int n;
};

static bool tells(const char *word)
{
    (void)word; /* the command is known by its program */
    return true;
}

/* The place of a word in a command; -1: it has none. */
static int place_of(const struct sp_script_command *command, const char *word)
{
    for (int i = 0; i < command->n; i++)
        if (sp_is(command->words[i], word))
            return i;
    return -1;
}

/* Spells a name as the rows do: engines accept "-" and "_" alike. */
static void spell(struct sp_settings *s, struct sp_setting *at)
{
    static const char marks[] = "-_";
    for (int i = 0; i < 2 && !sp_row_of(s->words, at->name); i++) {
        char name[sizeof at->name];
        snprintf(name, sizeof name, "%s", at->name);
        for (char *c = name + 2; name[0] && name[1] && *c && *c != '.'; c++)
            *c = strchr(marks, *c) ? marks[i] : *c;
        if (sp_row_of(s->words, name) || sp_is_quiet(s->words->quiet, name + strspn(name, "-")))
            snprintf(at->name, sizeof at->name, "%s", name);
    }
}

/* Takes members of an option's JSON as options, "--speculative-config.method". */
static bool take_members(struct sp_settings *s, const struct sp_setting *at)
{
    struct sp_json json;
    char name[2 * sizeof at->name], value[sizeof at->value], number[48];
    const char *text = at->value;
    const size_t n = strlen(text);
    const bool quoted = n > 1 && strchr("'\"", text[0]) && text[n - 1] == text[0];
    snprintf(value, sizeof value, "%.*s", (int)(n - 2 * (size_t)quoted), text + quoted);
    if (!sp_json_parse(value, strlen(value), at->name, &json, s->error))
        return false;
    bool ok = true;
    for (const cJSON *item = json.root->child; item && ok; item = item->next) {
        snprintf(name, sizeof name, "%s.%.80s", at->name, item->string ? item->string : "");
        sp_format_double(item->valuedouble, number, sizeof number);
        if (cJSON_IsString(item) || cJSON_IsNumber(item))
            ok = sp_add_setting(s, name, cJSON_IsString(item) ? item->valuestring : number);
    }
    sp_json_free(&json);
    return ok;
}

static bool take_json(struct sp_settings *s)
{
    bool ok = true;
    for (int i = 0, n = s->n; i < n && ok; i++)
        if (strchr(s->at[i].value, '{') && strstr(s->at[i].name, "-config")) {
            const struct sp_setting at = s->at[i];
            sp_setting(s, at.name);
            ok = take_members(s, &at);
        }
    return ok;
}

/* Whether a list of the engine's file contains an option. */
static bool is_known(const struct sp_settings *s, const struct sp_setting *at)
{
    char option[24];
    const char *const name = at->name + strspn(at->name, "-");
    sp_core_option(s->words->core, at->name, "", option, sizeof option);
    return sp_row_of(s->words, at->name) || sp_is_quiet(s->words->quiet, name) || option[0];
}

static void offer_words(const char *list, struct sp_nearest *nearest)
{
    char name[96] = "--";
    for (size_t n; *list; list += n) {
        list += strspn(list, " \n");
        n = strcspn(list, " \n");
        snprintf(name + 2, sizeof name - 2, "%.*s", (int)n, list);
        if (n > 0)
            sp_offer_alike(nearest, name);
    }
}

/* Refuses a misspelt option of the engine: the server would not start. */
static bool refuse_mistyped(const struct sp_settings *s)
{
    bool ok = true;
    for (int i = 0; i < s->n; i++) {
        const struct sp_setting *const at = &s->at[i];
        struct sp_nearest nearest = {.wanted = at->name};
        for (int64_t j = 0; j < s->words->options.rows.n; j++)
            sp_offer_alike(&nearest, s->words->options.row[j].name);
        offer_words(s->words->quiet, &nearest);
        if (!is_known(s, at) && sp_is_misspelt(&nearest))
            ok = sp_fail_in(s, "line %d: %s has no option %s%s", at->line, s->words->framework,
                            sp_safe(at->name), sp_nearest_hint(&nearest));
    }
    return ok;
}

/* The name of the row's setting if it is given, else NULL. */
static const char *given(struct sp_settings *s, const char *serve)
{
    const struct sp_launch_row *const row = sp_row_of_service(s->words, serve);
    return row ? sp_setting(s, row->name) : NULL;
}

static double number(struct sp_settings *s, const char *serve, double otherwise)
{
    const struct sp_launch_row *const row = sp_row_of_service(s->words, serve);
    return row ? sp_setting_number(s, row->name, otherwise) : otherwise;
}

static double degree(struct sp_settings *s, const char *serve)
{
    const struct sp_launch_row *const row = sp_row_of_service(s->words, serve);
    return row ? (double)sp_setting_whole(s, row->name, 1, 1) : 1;
}

/* Our word for the value of a row; "" if it is left out. A word that the row does not have leaves
 * the answer open. */
static void word(struct sp_settings *s, const char *serve, const char *option, char *out)
{
    const struct sp_launch_row *const row = sp_row_of_service(s->words, serve);
    const char *const theirs = row ? sp_setting(s, row->name) : NULL;
    out[0] = '\0';
    if (theirs)
        sp_row_ours(row, theirs, out);
    if (theirs && !out[0])
        sp_add_unread(s->launch, option, row->name, theirs, 0);
}

/* The model behind the program's word, or of an option. */
static const char *model_of(struct reading *r, const struct sp_script_command *command)
{
    const char *const told = r->file->program->told;
    for (int i = 0; i + 1 < command->n; i++) {
        const char *const next = command->words[i + 1];
        const bool starts = sp_is(command->words[i], told) || sp_is(command->words[i], "serve");
        if (starts && next[0] != '-' && !sp_is(next, "serve"))
            return next;
    }
    const char *const model = given(r->server[0].s, "model");
    return model ? model : sp_setting(r->server[0].s, "--model");
}

static bool read_command(struct reading *r, struct sp_script_command *command)
{
    struct server *const server = &r->server[r->n++];
    const int own = place_of(command, r->file->program->told); /* a launcher's options are before */
    struct sp_script_command rest = *command;
    rest.words += own;
    rest.lines += own;
    rest.n -= own;
    const struct sp_script one = {.commands = &rest, .n = 1, .shell = r->file->script->shell};
    server->s = sp_new_settings(&r->file->settings);
    bool ok = sp_read_flags(&one, tells, server->s);
    for (int i = 0; i < server->s->n; i++)
        spell(server->s, &server->s->at[i]);
    ok = ok && take_json(server->s) && sp_spell_rows(server->s) && refuse_mistyped(server->s);
    word(server->s, "role", "disaggregate", server->role);
    given(server->s, "connector");
    if (r->n == 1)
        r->model = model_of(r, command);
    return ok;
}

static bool read_commands(struct reading *r)
{
    const struct sp_script *const script = r->file->script;
    bool ok = true;
    for (int i = 0; i < script->n && ok; i++)
        if (place_of(&script->commands[i], r->file->program->told) >= 0) {
            if (r->n == MOST_COMMANDS)
                return sp_fail_in(&r->file->settings, "it starts more than %d servers",
                                  MOST_COMMANDS);
            ok = read_command(r, &script->commands[i]);
        }
    const bool pair = r->n == 2 && !sp_is(r->server[0].role, r->server[1].role) &&
                      r->server[0].role[0] && r->server[1].role[0];
    if (ok && r->n == 1 && r->server[0].role[0])
        ok = sp_fail_in(&r->file->settings, "it starts only the server that %s: give both",
                        r->server[0].role);
    return ok && (r->n == 1 || pair ||
                  sp_fail_in(&r->file->settings,
                             "it starts %d servers that are not prefill and decode pools", r->n));
}

static const char *assumed(struct reading *r, const char *name)
{
    return sp_said(&r->file->assumed, name);
}

static double assumed_number(struct reading *r, const char *name, double otherwise)
{
    const char *const text = assumed(r, name);
    const double value = text ? strtod(text, NULL) : NAN;
    return value > 0 ? value : otherwise;
}

/* Takes "--NAME VALUE" of lines "# scaleplan:". */
static bool read_comment(struct reading *r)
{
    static const char mark[] = "# scaleplan:";
    const char *at = strstr(r->file->text, mark);
    char name[96] = "", value[256];
    bool ok = true;
    at = at ? at + sizeof mark - 1 : "";
    for (at += strspn(at, " "); *at && *at != '\n' && ok; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " \r\n");
        snprintf(value, sizeof value, "%.*s", (int)n, at);
        if (strncmp(value, "--", 2) == 0)
            snprintf(name, sizeof name, "%.90s", value + 2);
        else
            ok = sp_add_setting(&r->file->assumed, name, value);
        at += n > 0 ? n : strspn(at, "\r");
    }
    return ok;
}

static void read_model(struct reading *r)
{
    struct sp_model model;
    struct sp_error unknown = {0};
    char ours[SP_ROW_WORD] = "";
    const struct sp_launch *const launch = r->file->settings.launch;
    const char *const typed = assumed(r, "model");
    if (r->model && strlen(r->model) < SP_ROW_WORD)
        sp_model_ours(r->file->words[1], r->model, ours);
    if (typed || ours[0])
        sp_launch_option(r->s, "model", "%s", typed ? typed : ours);
    else if (r->model && sp_load_model(r->model, r->file->sources, &model, &unknown))
        sp_launch_option(r->s, "model", "%s", r->model);
    else
        sp_read_hub_model(r->s, r->model, r->file->sources);
    for (int i = 0; i < launch->options; i++)
        if (sp_is(launch->option[i].name, "model"))
            r->experts =
                sp_load_model(launch->option[i].value, r->file->sources, &model, &unknown) &&
                model.moe.experts > 0;
}

/* How a server is divided, as written by write.c. */
static void read_degrees(struct reading *r, struct server *v)
{
    struct sp_settings *const s = v->s;
    const struct sp_launch_row *const own = sp_row_of_service(s->words, "attention-dp");
    const bool all = sp_row_of_service(s->words, "ranks") != NULL;
    const double dp = degree(s, "dp"), first = degree(s, all ? "ranks" : "tp");
    const bool on =
        own ? sp_setting_on(s, own->name) : r->experts && sp_row_of_service(s->words, "dp");
    v->attention_dp = !on                                 ? assumed_number(r, "attention-dp", 1)
                      : sp_row_of_service(s->words, "dp") ? dp
                                                          : first;
    v->replicas = on ? 1 : dp;
    v->tp = all ? first / v->attention_dp : first;
    v->pp = degree(s, "pp");
    const double ranks = v->tp * v->attention_dp;
    v->ep = given(s, "all-ep") ? ranks : number(s, "ep", 1);
    if (all && fmod(first, v->attention_dp) != 0)
        sp_fail_in(s, "%.0f ranks are not a multiple of attention DP %.0f", first, v->attention_dp);
}

/* Degrees as options; EP is named where the model has experts. */
static void put_degrees(struct reading *r, const struct server *v)
{
    const double ranks = v->tp * v->attention_dp;
    const double ep = assumed_number(r, "ep", v->ep);
    sp_launch_option(r->s, "tp", "%.0f", v->tp);
    if (v->attention_dp > 1)
        sp_launch_option(r->s, "attention-dp", "%.0f", v->attention_dp);
    if (v->pp > 1)
        sp_launch_option(r->s, "pp", "%.0f", v->pp);
    if (r->experts && ranks > 1) {
        sp_launch_option(r->s, "ep", "%.0f", ep);
        sp_launch_option(r->s, "etp", "%.0f", ranks / ep);
    }
}

/* The most sequences that an instance runs at once: the comment's if the server was made for them,
 * else the server's. Requests in flight are in the comment alone. */
static void read_load(struct reading *r, const struct server *v)
{
    struct sp_settings *const s = r->s;
    const bool stages = sp_row_of_service(s->words, "stage-sequences") != NULL;
    const bool each = stages || sp_row_of_service(s->words, "rank-sequences");
    const double most = number(s,
                               stages ? "stage-sequences"
                               : each ? "rank-sequences"
                                      : "sequences",
                               NAN);
    const double parts = each ? v->attention_dp * (stages ? v->pp : 1) : 1;
    const double said = assumed_number(r, "max-running", NAN);
    const bool same = ceil(said / parts) == most;
    if (!isnan(most))
        sp_launch_option(s, "max-running", "%.0f", same ? said : most * parts);
    else if (!isnan(said))
        sp_launch_option(s, "max-running", "%.0f", said);
}

/* A pool of the comment, "4xtp1dp8ep8": the number of instances, and degrees that the command
 * cannot express, if they match its ranks. */
static double take_pool(const char *text, struct server *v)
{
    double n = 1, tp = 0, dp = 0, ep = v->ep;
    const bool some = text && sscanf(text, "%lfxtp%lfdp%lfep%lf", &n, &tp, &dp, &ep) >= 3;
    if (some && tp * dp == v->tp * v->attention_dp && !sp_row_of_service(v->s->words, "dp")) {
        v->tp = tp;
        v->attention_dp = dp;
        v->ep = ep;
    }
    return some ? fmax(1, n) : 1;
}

static void put_pool(const struct reading *r, const struct server *v, double n, char *out,
                     size_t size)
{
    sp_append(out, size, "%s%.0fxtp%.0fdp%.0f", out[0] ? ":" : "", n, v->tp, v->attention_dp);
    if (r->experts)
        sp_append(out, size, "ep%.0f", v->ep);
}

/* "4xtp1:1xtp8": counts of the comment, else one of each. */
static void read_pools(struct reading *r, struct server *generates, struct server *reads)
{
    const char *const said = assumed(r, "disaggregate");
    const char *const colon = said ? strchr(said, ':') : NULL;
    const double x = take_pool(said, reads), y = take_pool(colon ? colon + 1 : NULL, generates);
    char text[200] = "";
    put_pool(r, reads, x, text, sizeof text);
    put_pool(r, generates, y, text, sizeof text);
    sp_launch_option(r->s, "disaggregate", "%s", text);
    r->s->launch->devices = (int64_t)(x * reads->tp * reads->attention_dp +
                                      y * generates->tp * generates->attention_dp);
}

/* Drafts: a model that proposes them, or a head, whose small cost is not counted. */
static void read_draft_model(struct reading *r)
{
    char kind[SP_ROW_WORD], ours[SP_ROW_WORD] = "";
    word(r->s, "draft-kind", "draft-tokens", kind);
    const char *const theirs = given(r->s, "draft-model");
    if (!theirs || sp_is(kind, "head"))
        return;
    if (strlen(theirs) < SP_ROW_WORD)
        sp_model_ours(r->file->words[1], theirs, ours);
    sp_launch_option(r->s, "draft-model", "%s", ours[0] ? ours : theirs);
}

/* Numbers and formats that need no translation. */
static void read_settings(struct reading *r, const struct server *v)
{
    static const char *const numbers[] = {"memory-fraction", "block", "draft-tokens"};
    static const char *const words[] = {"weights", "kv"};
    struct sp_settings *const s = r->s;
    char text[SP_ROW_WORD];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const double value = number(s, numbers[i], NAN);
        sp_format_double(value, text, sizeof text);
        if (!isnan(value))
            sp_launch_option(s, numbers[i], "%s", text);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        word(s, words[i], words[i], text);
        if (text[0] && !sp_is(text, "auto"))
            sp_launch_option(s, words[i], "%s", text);
    }
    word(s, "plain", "weights", text);
    const bool all = sp_row_of_service(s->words, "all-chunk") != NULL;
    const double chunk = number(s, all ? "all-chunk" : "chunk", NAN);
    if (chunk > 0)
        sp_launch_option(s, "chunk", "%.0f", floor(chunk / (all ? v->attention_dp : 1)));
    else if (chunk <= 0)
        sp_add_unread(s->launch, "chunk", "prompts without chunks", "", 0);
    const double longest = number(s, "length", NAN);
    s->launch->longest = isnan(longest) ? 0 : longest;
}

/* Settings that only the comment gives. */
static void take_rest(struct reading *r)
{
    static const char own[] = "model,tp,attention-dp,ep,etp,replicas,disaggregate,max-running";
    const struct sp_settings *const a = &r->file->assumed;
    const struct sp_launch *const launch = r->s->launch;
    bool engine = false;
    for (int i = 0; i < a->n; i++) {
        bool told = sp_is_listed(own, a->at[i].name, '\0');
        for (int j = 0; j < launch->options; j++)
            told = told || sp_is(launch->option[j].name, a->at[i].name);
        if (!told)
            sp_launch_option(r->s, a->at[i].name, "%s", a->at[i].value);
        engine = engine || sp_is(a->at[i].name, "engine");
    }
    if (!engine)
        sp_launch_option(r->s, "engine", "%s", r->s->words->name);
    if (!assumed(r, "input") && !assumed(r, "output"))
        sp_launch_note(r->s, "a server has no request lengths: give --input and --output");
}

/* A setting that is equal in both servers of two pools counts as read in the other one too. */
static void match(struct sp_settings *reads, const struct sp_settings *generates)
{
    for (int i = 0; i < reads->n; i++) {
        const char *const same = sp_said(generates, reads->at[i].name);
        if (same && sp_is(same, reads->at[i].value))
            sp_peek_setting(reads, reads->at[i].name);
    }
}

static void put(struct reading *r)
{
    const bool pools = r->n == 2;
    const bool first = pools && sp_is(r->server[0].role, "generates");
    struct server *const v = &r->server[pools && !first ? 1 : 0];
    r->s = v->s;
    read_model(r);
    for (int i = 0; i < r->n; i++)
        read_degrees(r, &r->server[i]);
    if (pools) {
        match(r->server[first ? 1 : 0].s, v->s);
        read_pools(r, v, &r->server[first ? 1 : 0]);
    } else {
        put_degrees(r, v);
        r->s->launch->devices = (int64_t)(v->tp * v->attention_dp * v->pp *
                                          fmax(v->replicas, assumed_number(r, "replicas", 1)));
    }
    read_load(r, v);
    read_settings(r, v);
    read_draft_model(r);
    take_rest(r);
    for (int i = 0; i < r->n; i++)
        sp_note_unread(r->server[i].s, "--", r->s->words->quiet);
}

bool sp_read_server(struct sp_launch_file *file)
{
    struct reading r = {.file = file};
    if (!file->script)
        return sp_fail_in(&file->settings, "it is not a script");
    const bool ok = read_comment(&r) && read_commands(&r) && r.n > 0;
    if (ok)
        put(&r);
    bool known = ok;
    for (int i = 0; i < r.n; i++)
        known = (!ok || sp_refuse_gaps(r.server[i].s)) && known;
    for (int i = 0; i < r.n; i++)
        free(r.server[i].s);
    return known;
}

/* A service as the command of an engine's server. Settings without an engine option are in a
 * comment with the requests, which `serve --from` reads back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/quote.h"
#include "base/text.h"
#include "launch/engines/engines.h"

/* A command that is written. */
struct writing {
    const struct sp_served_launch *of;
    const struct sp_served_pool *pool;
    const struct sp_launch_words *words;
    const struct sp_launched *l;
    const char *role; /* "reads", "generates", "": both */
    bool last;        /* a loss of several commands is reported once */
};

static double ranks_of(const struct sp_served_pool *p)
{
    return p->tp * p->attention_dp;
}

/* Whether one option sets the replicas of a dense model and, for experts, the ranks of attention:
 * true for engines without a separate option for the latter. */
static bool dp_is_attention(const struct writing *w)
{
    return sp_row_of_service(w->words, "dp") && !sp_row_of_service(w->words, "attention-dp") &&
           w->of->experts > 0;
}

/* Instances that one command starts: for engines with an option for it, as many as one host holds
 * evenly. Pools are several commands, each started once per instance. */
static double started(const struct writing *w)
{
    const struct sp_served_pool *const p = w->pool;
    const bool dp = sp_row_of_service(w->words, "dp") != NULL;
    double n = 1;
    if (dp && !dp_is_attention(w) && p->attention_dp == 1 && !w->of->apart)
        n = fmax(1, fmin(p->instances, floor(w->of->host / (p->tp * p->pp))));
    while (fmod(p->instances, n) != 0)
        n--;
    return n;
}

/* Degree of data parallelism as the engine counts it. */
static double dp_of(const struct writing *w)
{
    const bool attention = dp_is_attention(w) || w->pool->attention_dp > 1;
    return attention ? w->pool->attention_dp : started(w);
}

/* Whether the engine's option for attention's data parallelism can express a degree: a switch takes
 * all ranks. */
static bool has_attention(const struct writing *w)
{
    return sp_row_of_service(w->words, "attention-dp") &&
           (sp_row_of_service(w->words, "dp") || w->pool->tp == 1);
}

/* The value of a row's setting, NAN if there is none. */
static double number_of(const struct writing *w, const char *serve)
{
    const struct sp_served_launch *const of = w->of;
    const struct sp_served_pool *const p = w->pool;
    const double each = ceil(of->sequences / p->attention_dp);
    const struct {
        const char *serve;
        double value;
    } numbers[] = {
        {"tp", p->tp},
        {"ranks", ranks_of(p)},
        {"pp", p->pp},
        {"dp", dp_of(w)},
        {"ep", of->experts > 0 ? p->ep : NAN},
        {"sequences", each * p->attention_dp},
        {"rank-sequences", each},
        {"stage-sequences", ceil(each / p->pp)},
        {"length", of->length},
        {"chunk", of->chunk > 0 ? of->chunk : NAN},
        {"all-chunk", of->chunk > 0 ? of->chunk * p->attention_dp : NAN},
        {"memory-fraction", of->memory_fraction},
        {"block", of->usual_block ? NAN : of->block},
        {"draft-tokens", of->drafts > 0 ? of->drafts : NAN},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sp_is(numbers[i].serve, serve))
            return numbers[i].value;
    return NAN;
}

/* The model's name on the hub; if unknown, the name that was typed. */
static const char *hub_name(const struct writing *w, const char *model, char *out)
{
    sp_model_theirs(w->l->words[1], model, out);
    return out[0] ? out : model;
}

/* Our word for a row's setting; "" if there is none. */
static const char *word_of(const struct writing *w, const char *serve, char *out)
{
    const struct sp_served_launch *const of = w->of;
    const struct sp_served_pool *const p = w->pool;
    const bool drafts = of->drafts > 0;
    const bool all_ep = of->experts > 0 && p->ep > 1 && p->ep == ranks_of(p);
    const struct {
        const char *serve, *word;
    } words[] = {
        {"model", hub_name(w, of->model, out)},
        {"all-ep", all_ep ? "on" : ""},
        {"attention-dp", p->attention_dp > 1 && has_attention(w) ? "on" : ""},
        {"weights", of->usual_weights || of->stored ? "" : of->weights},
        {"kv", of->usual_kv || of->kv_lacks_chip ? "" : of->kv},
        {"draft-kind", !drafts           ? ""
                       : of->draft_model ? "model"
                                         : "head"},
        {"connector", w->role[0] ? w->role : ""},
        {"role", w->role},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (sp_is(words[i].serve, serve))
            return words[i].word;
    return sp_is(serve, "draft-model") && drafts && of->draft_model
               ? hub_name(w, of->draft_model, out)
               : "";
}

/* The value of a row in the engine's spelling; false if it is not given. */
static bool value_of(const struct writing *w, const struct sp_launch_row *row, char *out)
{
    char room[SP_ROW_WORD];
    const struct sp_launch_row *const rival = sp_row_of(w->words, row->excludes);
    if (rival && value_of(w, rival, out))
        return false;
    const double number = number_of(w, row->serve);
    out[0] = '\0';
    if (!isnan(number)) {
        sp_format_double(number, out, SP_ROW_WORD);
        return row->always || !sp_is(out, row->unsaid);
    }
    const char *const word = word_of(w, row->serve, room);
    if (!word[0] || (row->made[0] && !sp_is_listed(row->made, word, '\0')))
        return false;
    if (row->value[0])
        snprintf(out, SP_ROW_WORD, "%s", row->value);
    else if (row->values[0])
        sp_row_theirs(row, word, out);
    else if (!row->takes_none)
        snprintf(out, SP_ROW_WORD, "%.47s", word);
    return out[0] || row->takes_none;
}

/* Whether an option of the command sets it. */
static bool is_said(const struct writing *w, const char *serve)
{
    char value[SP_ROW_WORD];
    const struct sp_launch_row *const row = sp_row_of_service(w->words, serve);
    return row && value_of(w, row, value);
}

/* Whether the engine has an option for the degree of expert parallelism. */
static bool says_ep(const struct writing *w)
{
    const struct sp_served_pool *const p = w->pool;
    return !(w->of->experts > 0) || sp_row_of_service(w->words, "ep") || p->ep == 1 ||
           p->ep == ranks_of(p);
}

static bool says_attention(const struct writing *w)
{
    return w->pool->attention_dp == 1 || has_attention(w) || dp_is_attention(w);
}

/* Whether a comment contains a text as one word. */
static bool is_one_word(const char *text)
{
    return text[0] && text[0] != '-' && !strpbrk(text, " \t\r\n");
}

static void put_asked(FILE *out, const char *name, const char *value)
{
    if (is_one_word(value))
        fprintf(out, " --%s %s", name, value);
}

static const char *asked_value(const struct sp_served_launch *of, const char *name)
{
    for (int i = 0; i < of->n_asked; i++)
        if (sp_is(of->asked[i].name, name))
            return of->asked[i].value;
    return NULL;
}

/* Settings without an option of the command. */
static void lose(const struct writing *w)
{
    const struct sp_served_launch *const of = w->of;
    const char *const experts = asked_value(of, "expert-weights");
    char id[SP_ROW_WORD];
    sp_model_theirs(w->l->words[1], of->model, id);
    if (!id[0])
        sp_lose(w->l, "the checkpoint of %s: replace the name by its folder or id",
                sp_safe(of->model));
    for (int i = 0; i < of->n_asked; i++)
        if (!is_one_word(of->asked[i].value))
            sp_lose(w->l, "--%s, whose value does not fit in a comment", of->asked[i].name);
    const double nodes = ceil(started(w) * w->pool->pp * ranks_of(w->pool) / of->host);
    if (nodes > 1)
        sp_lose(w->l, "its %.0f nodes: give each its rank and the address of the first", nodes);
    if (of->apart)
        sp_lose(w->l, "the addresses of both pools, and the router in front of them");
    if (!of->usual_weights && !is_said(w, "weights"))
        sp_lose(w->l, "weights in %s: use such a checkpoint", of->weights);
    if (experts && !sp_is(experts, of->weights))
        sp_lose(w->l, "experts in %s: use such a checkpoint", experts);
    if (!of->usual_kv && !is_said(w, "kv"))
        sp_lose(w->l, "a cache in %s", of->kv);
    if (!of->usual_block && !is_said(w, "block"))
        sp_lose(w->l, "cache blocks of %.0f tokens", of->block);
    if (of->drafts > 0 && !is_said(w, "draft-tokens"))
        sp_lose(w->l, "speculative decoding");
    else if (of->drafts > 0 && !of->draft_model && !of->own_head)
        sp_lose(w->l, "the draft head: name its checkpoint, unless the model has one");
    if (!says_attention(w))
        sp_lose(w->l, "attention's data parallelism over %.0f ranks", w->pool->attention_dp);
    if (!says_ep(w))
        sp_lose(w->l, "experts over %.0f of %.0f ranks", w->pool->ep, ranks_of(w->pool));
}

/* "4xtp1dp1", with experts "4xtp1dp1ep1". */
static void put_degrees(const struct sp_served_launch *of, const struct sp_served_pool *p,
                        const char *before, FILE *out)
{
    fprintf(out, "%s%.0fxtp%.0fdp%.0f", before, p->instances, p->tp, p->attention_dp);
    if (of->experts > 0)
        fprintf(out, "ep%.0f", p->ep);
}

/* The other inputs of `serve --from`. */
static void put_inputs(const struct writing *w, FILE *out)
{
    static const char own[] = "tp,pp,attention-dp,ep,etp,replicas,disaggregate,model,draft-model";
    static const char lists[] = "weights,kv,block,chunk,memory-fraction,draft-tokens,draft-model";
    const struct sp_served_launch *const of = w->of;
    const struct sp_served_pool *const p = w->pool;
    for (int i = 0; i < of->n_asked; i++) {
        const char *const name = of->asked[i].name;
        if (!sp_is_listed(own, name, '\0') &&
            !(sp_is_listed(lists, name, '\0') && is_said(w, name)))
            put_asked(out, name, of->asked[i].value);
    }
    if (!says_attention(w) && !of->apart)
        fprintf(out, " --tp %.0f --attention-dp %.0f", p->tp, p->attention_dp);
    if (!says_ep(w) && !of->apart)
        fprintf(out, " --ep %.0f --etp %.0f", p->ep, ranks_of(p) / p->ep);
    if (of->drafts > 0 && !is_said(w, "draft-tokens") && of->draft_model)
        put_asked(out, "draft-model", of->draft_model);
    if (!of->apart && started(w) != p->instances)
        fprintf(out, " --replicas %.0f", p->instances);
    if (of->apart) {
        put_degrees(of, &of->reads, " --disaggregate ", out);
        put_degrees(of, p, ":", out);
    }
}

/* The same as a comment, if there are any. */
static void put_rest(const struct writing *w, FILE *out)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const inputs = sp_must(open_memstream(&text, &size));
    put_inputs(w, inputs);
    fclose(inputs);
    if (size > 0)
        fprintf(out, "# scaleplan:%s\n", text);
    free(text);
}

/* Puts one command, one option per line. */
static void put_command(const struct writing *w, const char *program, FILE *out)
{
    char value[SP_ROW_WORD];
    const double n = w->pool->instances / started(w);
    if (n > 1)
        fprintf(out, "# %.0f of these:\n", n);
    fputs(program, out);
    if (!sp_row_of_service(w->words, "model")) {
        fputs(" ", out);
        sp_put_shell_word(hub_name(w, w->of->model, value), out);
    }
    for (int64_t i = 0; i < w->words->options.rows.n; i++) {
        const struct sp_launch_row *const row = &w->words->options.row[i];
        if (!row->serve[0] || !value_of(w, row, value))
            continue;
        fprintf(out, " \\\n    %s%s", row->name, value[0] ? " " : "");
        if (value[0])
            sp_put_shell_word(value, out);
        if (row->with[0])
            fprintf(out, " %s", row->with);
    }
    fputs(w->role[0] ? " &\n" : "\n", out);
}

void sp_put_server(const struct sp_target *target, const struct sp_served_launch *served,
                   const struct sp_launched *l, FILE *out)
{
    struct writing w = {.of = served,
                        .pool = &served->pool,
                        .words = l->words[0],
                        .l = l,
                        .role = served->apart ? "generates" : ""};
    lose(&w);
    fprintf(out, "# %s: %s on %s\n", l->words[0]->framework, sp_safe(served->model),
            sp_safe(served->hardware));
    sp_put_lost(l->written, "# ", "\n", out);
    put_rest(&w, out);
    if (served->apart) {
        struct writing reads = w;
        reads.pool = &served->reads;
        reads.role = "reads";
        put_command(&reads, target->program, out);
    }
    put_command(&w, target->program, out);
    if (served->apart)
        fputs("wait\n", out);
}

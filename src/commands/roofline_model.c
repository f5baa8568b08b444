/* Several matmuls on a chip's roofline, those of a whole model or given ones, and their total. */
#include <math.h>
#include <string.h>

#include "base/list.h"
#include "commands/roofline.h"

/* Matmuls of one shape in the whole model: rows of one of them. */
struct operator
{
    struct sp_matmul matmul;
    double rows, layers;
};

enum { OPERATORS = 32 };

/* What tokens a model works on: B on the chip, in sequences of `seq`. */
struct tokens {
    double B, seq;
};

static bool is_same(const struct operator* a, const struct operator* b)
{
    const struct sp_matmul *const x = &a->matmul, *const y = &b->matmul;
    return strcmp(x->name, y->name) == 0 && x->count == y->count && x->in == y->in &&
           x->out == y->out && a->rows == b->rows;
}

/* Adds those of `layers` layers; layers of several kinds share some. */
static size_t collect(struct operator* list, size_t n, const struct sp_layer *layer, double layers,
                      const struct tokens *tokens)
{
    for (int i = 0; i < layer->matmuls; i++) {
        const struct sp_matmul *const m = &layer->matmul[i];
        const double share = sp_stream_share(m->source ? layer->from : layer->own, tokens->seq);
        const struct operator mine = {*m, tokens->B * share * m->passed / m->count, layers};
        size_t at = 0;
        while (at < n && !is_same(&list[at], &mine))
            at++;
        if (at < n)
            list[at].layers += layers;
        else if (n < OPERATORS)
            list[n++] = mine;
    }
    return n;
}

static size_t operators_of(const struct sp_model *model, const struct tokens *tokens,
                           struct operator* list)
{
    struct sp_layers layers;
    size_t n = 0;
    sp_list_model(model, &layers);
    for (int at = 0; at < SP_LAYER_LISTS; at++)
        if (layers.count[at] > 0)
            n = collect(list, n, &layers.list[at], layers.count[at], tokens);
    return n;
}

static const struct sp_column columns[] = {
    {NULL, "operator", true},  {"count", "times", false},          {"flops", "FLOPs", false},
    {"bytes", "bytes", false}, {"intensity", "FLOPs/byte", false}, {"bound", "bound by", true},
    {"lower_s", "time", false}};

/* What all rows come to, each as often as it is done. */
struct total {
    double flops, bytes, lower_s;
};

/* A row of the table, and its share of the total. */
static void put_row(const struct roof *f, struct sp_row *row, size_t i, const char *name,
                    double count, struct sp_work work, struct total *total)
{
    snprintf(row->label, sizeof row->label, "%s", name);
    snprintf(row->prefix, sizeof row->prefix, "operators.%zu", i);
    sp_scope(f->report, row->prefix);
    sp_put_text(f->report, SP_Q_ROOFLINE_OP_NAME, "%s", name);
    sp_put(f->report, SP_Q_ROOFLINE_OP_COUNT, count);
    sp_put_work(f, work);
    total->flops += count * work.flops;
    total->bytes += count * work.bytes;
    total->lower_s += count * fmax(work.flops / f->C, work.bytes / f->W);
}

static void put_total(const struct roof *f, const struct total *total)
{
    struct sp_report *r = f->report;
    sp_scope(r, "total");
    sp_put(r, SP_Q_ROOFLINE_TOTAL_FLOPS, total->flops);
    sp_put(r, SP_Q_ROOFLINE_TOTAL_BYTES, total->bytes);
    sp_put(r, SP_Q_ROOFLINE_TOTAL_INTENSITY, total->flops / total->bytes);
    if (f->has_hw) {
        sp_put(r, SP_Q_ROOFLINE_TOTAL_MATH, total->flops / f->C);
        sp_put(r, SP_Q_ROOFLINE_TOTAL_MEM, total->bytes / f->W);
        sp_put(r, SP_Q_ROOFLINE_TOTAL_LOWER, total->lower_s);
    }
    sp_scope(r, "");
    sp_line(r, "total        {total.flops}, {total.bytes}: {total.intensity} FLOPs/byte; one after "
               "the other {total.lower_s}");
}

bool sp_put_matmuls(const struct roof *f, const char *list, struct sp_error *error)
{
    const double side = f->args->value.pad;
    struct sp_row rows[OPERATORS] = {0};
    struct total total = {0};
    char word[96];
    size_t n = 0;
    while (sp_next_item(&list, word, sizeof word)) {
        double dims[3];
        if (n == OPERATORS)
            return sp_fail(error, SP_INPUT, "--matmul: more than %d matmuls", OPERATORS);
        if (!sp_read_matmul(word, side, dims, error))
            return false;
        put_row(f, &rows[n], n, word, 1,
                sp_matmul_work(dims[0], dims[1], dims[2], f->bytes, f->args->given.batched),
                &total);
        n++;
    }
    sp_scope(f->report, "");
    sp_table(f->report, columns, sizeof columns / sizeof columns[0], rows, n);
    put_total(f, &total);
    return true;
}

bool sp_put_operators(const struct roof *f, struct sp_error *error)
{
    struct operator list[OPERATORS];
    struct sp_row rows[OPERATORS] = {0};
    struct total total = {0};
    struct tokens tokens;
    const char *origin;
    if (!sp_model_has_shape(&f->model))
        return sp_fail(error, SP_INPUT, "--model %s: only its size is known, no operators",
                       f->model.name);
    if (!sp_batch_of(f->args, &f->model, &tokens.B, &tokens.seq, &origin, error))
        return false;
    const size_t n = operators_of(&f->model, &tokens, list);
    for (size_t i = 0; i < n; i++) {
        const struct sp_matmul *m = &list[i].matmul;
        put_row(f, &rows[i], i, m->name, list[i].layers * m->count,
                sp_matmul_work(list[i].rows, m->in, m->out, f->bytes, false), &total);
    }
    sp_scope(f->report, "");
    sp_line(f->report, "%s, %s tokens on the %s (%s), forward pass:", f->model.name,
            sp_human_text(tokens.B, SP_TOKENS), f->chips > 1 ? "chips" : "chip", origin);
    sp_table(f->report, columns, sizeof columns / sizeof columns[0], rows, n);
    put_total(f, &total);
    return true;
}

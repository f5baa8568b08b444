/* The matmuls of a model, and totals of operations. */
#include "study/model_matmuls.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <scaleplan/forms.h>
#include <scaleplan/layer.h>

/* Matmuls of one shape in the whole model; rows per matmul. */
struct operator
{
    struct sp_matmul matmul;
    double rows, layers;
};

/* Tokens of a pass: B on the chip, in sequences of `seq`. */
struct tokens {
    double B, seq;
};

static bool is_same(const struct operator* a, const struct operator* b)
{
    const struct sp_matmul *const x = &a->matmul, *const y = &b->matmul;
    return strcmp(x->name, y->name) == 0 && x->count == y->count && x->in == y->in &&
           x->out == y->out && a->rows == b->rows;
}

/* Adds the matmuls of `layers` layers, merging equal ones. */
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
        else if (n < SP_MOST_OPERATIONS)
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

size_t sp_model_matmuls(const struct sp_model *model, double tokens, double seq,
                        struct sp_operands bytes, struct sp_operation_row rows[SP_MOST_OPERATIONS])
{
    struct operator list[SP_MOST_OPERATIONS];
    const size_t n = operators_of(model, &(struct tokens){tokens, seq}, list);
    for (size_t i = 0; i < n; i++) {
        const struct sp_matmul *const m = &list[i].matmul;
        snprintf(rows[i].name, sizeof rows[i].name, "%s", m->name);
        rows[i].count = list[i].layers * m->count;
        rows[i].work = sp_matmul_work(list[i].rows, m->in, m->out, bytes, false);
        if (m->read > 0) /* input that rows share is read once */
            rows[i].work.bytes -= bytes.a_bytes * list[i].rows * (m->in - m->read);
    }
    return n;
}

struct sp_operation_total sp_total_of(const struct sp_operation_row *rows, size_t n, double C,
                                      double W)
{
    struct sp_operation_total total = {{0, 0}, 0, 0};
    for (size_t i = 0; i < n; i++) {
        const struct sp_work *const one = &rows[i].work;
        total.work = sp_add_up(total.work, rows[i].count, *one);
        const double math_s = sp_math_s(one->flops, C), mem_s = sp_memory_s(one->bytes, W);
        total.lower_s += rows[i].count * sp_overlapped_s(math_s, mem_s);
        total.shorter_s += rows[i].count * fmin(math_s, mem_s);
    }
    return total;
}

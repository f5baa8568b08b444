/* The matmuls of a whole model on a chip's roofline. */
#include <string.h>

#include "commands/roofline.h"

/* Matmuls of one shape in the whole model. */
struct operator
{
    struct sp_matmul matmul;
    double layers;
};

enum { OPERATORS = 16 };

/* Adds those of `layers` layers, but for routers; layers of several kinds share some. */
static size_t collect(struct operator* list, size_t n, const struct sp_layer *layer, double layers)
{
    for (int i = 0; i < layer->matmuls; i++) {
        const struct sp_matmul *m = &layer->matmul[i];
        size_t at = 0;
        while (at < n && strcmp(list[at].matmul.name, m->name) != 0)
            at++;
        if (at == n && (m->part == SP_PART_ROUTER || n == OPERATORS))
            continue;
        if (at == n)
            list[n++] = (struct operator){*m, 0};
        list[at].layers += layers;
    }
    return n;
}

static size_t operators_of(const struct sp_model *model, struct operator* list)
{
    struct sp_layers layers;
    size_t n = 0;
    sp_list_model(model, &layers);
    for (int at = 0; at < SP_LAYER_LISTS; at++)
        n = collect(list, n, &layers.list[at], layers.count[at]);
    return n;
}

bool sp_put_operators(const struct roof *f, struct sp_error *error)
{
    static const struct sp_column columns[] = {
        {NULL, "operator", true},  {"count", "times", false},          {"flops", "FLOPs", false},
        {"bytes", "bytes", false}, {"intensity", "FLOPs/byte", false}, {"bound", "bound by", true},
        {"lower_s", "time", false}};
    struct operator list[OPERATORS];
    struct sp_row rows[OPERATORS] = {0};
    double B, seq;
    const char *origin;
    if (!sp_model_has_shape(&f->model))
        return sp_fail(error, SP_INPUT, "--model %s: only its size is known, no operators",
                       f->model.name);
    if (!sp_batch_of(f->args, &f->model, &B, &seq, &origin, error))
        return false;
    const size_t n = operators_of(&f->model, list);
    for (size_t i = 0; i < n; i++) {
        const struct sp_matmul *m = &list[i].matmul;
        snprintf(rows[i].label, sizeof rows[i].label, "%s", m->name);
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "operators.%zu", i);
        sp_scope(f->report, rows[i].prefix);
        sp_put_text(f->report, SP_Q_ROOFLINE_OP_NAME, "%s", m->name);
        sp_put(f->report, SP_Q_ROOFLINE_OP_COUNT, list[i].layers * m->count);
        sp_put_work(f, sp_matmul_work(B * m->passed / m->count, m->in, m->out, f->bytes, false));
    }
    sp_scope(f->report, "");
    sp_line(f->report, "%s, %s tokens on the %s (%s), forward pass:", f->model.name,
            sp_human_text(B, SP_TOKENS), f->chips > 1 ? "chips" : "chip", origin);
    sp_table(f->report, columns, sizeof columns / sizeof columns[0], rows, n);
    return true;
}

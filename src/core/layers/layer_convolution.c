/* Residual blocks of a convolutional network. He et al. 2015, "Deep Residual Learning", table 1;
 * strides are on the 3 x 3 convolutions, as in torchvision's models/resnet.py. */
#include <math.h>

#include "core/layers/layer_rows.h"

bool sp_is_convolutional(const struct sp_model *model)
{
    return model->convolution.width > 0;
}

int sp_convolution_stages(const struct sp_model *model)
{
    int stages = 1;
    for (const char *block = model->pattern; *block; block++)
        stages += *block == SP_NEXT_STAGE;
    return stages;
}

/* A stage has two kinds of blocks: its first and the others. They use the kinds of layers
 * without experts, since a convolutional network has no such layers. */
static const enum sp_layer_kind kinds[SP_CONVOLUTION_STAGES][2] = {
    {SP_LAYER_DENSE, SP_LAYER_OTHER_DENSE},
    {SP_LAYER_ATTENTION, SP_LAYER_OTHER},
    {SP_LAYER_MLP, SP_LAYER_CROSS},
    {SP_LAYER_REUSING, SP_LAYER_OTHER_REUSING}};

void sp_count_blocks(const struct sp_model *model, int64_t from, int64_t until,
                     struct sp_layer_counts *counts)
{
    int stage = 0;
    for (int64_t i = 0; i < until; i++) {
        const bool first = i == 0 || model->pattern[i] == SP_NEXT_STAGE;
        stage += i > 0 && first;
        if (i >= from)
            counts->of[kinds[stage][!first]]++;
    }
}

/* Side of what layers read that halve the side of a picture `halved` times. Pixels. */
static double side_of(const struct sp_model *m, int halved)
{
    return ceil(ldexp((double)m->convolution.image, -halved));
}

/* Positions of a stage. */
static double positions_of(const struct sp_model *m, int stage)
{
    const double side = side_of(m, stage + 2);
    return side * side;
}

double sp_last_positions(const struct sp_model *m)
{
    return positions_of(m, sp_convolution_stages(m) - 1);
}

/* A square convolution with a batch norm and, except for the last of a path, a ReLU. */
struct convolution {
    const char *name;
    enum sp_operator op;
    double side, stride; /* of the kernel */
    double in, out;      /* channels */
    double groups;
    double places; /* output positions over those of the block's output */
    bool is_last;
};

/* Elements that fused kernels read and write: a batch norm computes its statistics, then its values
 * with the ReLU; the end of a block adds. A profile's constant covers the traffic of unfused
 * frameworks beyond that. */
enum { BATCH_NORM = 3, SUM = 1 };

/* The backward pass of the norm reads the convolution's output; that of the next convolution reads
 * the ReLU's output. */
static void list_convolution(struct sp_layer *l, const struct convolution *c)
{
    const double taps = c->side * c->side, out = c->out * c->places;
    MATMUL(l, c->name, SP_PART_MLP, c->op, SP_TP_WHOLE, taps * c->in / c->groups,
           c->out / c->groups, c->groups, c->groups * c->places,
           .read = c->side > 1 ? c->stride * c->stride * c->in / c->groups : 0);
    TENSOR(l, 2 * c->out, SP_PART_NORM, SP_TP_WHOLE);
    KEEP(l, out, SP_BY_NOTHING, c->op, SP_COPIES_ONE, NONE | SELECTIVE | MLP | DOTS,
         .gradient = c->is_last);
    MOVE(l, BATCH_NORM * out, SP_BY_NOTHING, SP_OP_ACT);
    if (!c->is_last)
        KEEP(l, out, SP_BY_NOTHING, SP_OP_ACT, SP_COPIES_ONE, NONE | SELECTIVE);
}

/* The stem: a 7 x 7 convolution with stride 2 and a maximum over 3 x 3 with stride 2, which the
 * first block reads. */
static void list_stem(const struct sp_model *m, struct sp_layer *l)
{
    enum { COLOURS = 3 };
    const double C = (double)m->convolution.stem, side = side_of(m, 1);
    const double places = side * side / positions_of(m, 0);
    list_convolution(
        l, &(struct convolution){"stem 7x7", SP_OP_UP, 7, 2, COLOURS, C, 1, places, false});
    KEEP(l, C, SP_BY_NOTHING, SP_OPERATORS, SP_COPIES_INPUT, NONE | SELECTIVE | FULL);
    MOVE(l, C * (places + 1), SP_BY_NOTHING, SP_OP_ACT);
}

static void list_block(const struct sp_model *m, int stage, bool first, struct sp_layer *l)
{
    const struct sp_convolution *const c = &m->convolution;
    const double w = ldexp((double)c->width, stage), out = w * (double)c->expansion;
    const double stride = first && stage > 0 ? 2 : 1;
    const double in = !first ? out : stage > 0 ? out / 2 : (double)c->stem;
    l->own = l->from = positions_of(m, stage);
    l->width = out;
    const double places = first && stage > 0 ? positions_of(m, stage - 1) / l->own : 1;
    if (first && stage == 0)
        list_stem(m, l);
    if (c->expansion > 1) {
        list_convolution(l, &(struct convolution){"convolution 1x1 in", SP_OP_UP, 1, 1, in, w, 1,
                                                  places, false});
        list_convolution(l, &(struct convolution){"convolution 3x3", SP_OP_UP, 3, stride, w, w,
                                                  (double)c->groups, 1, false});
        list_convolution(
            l, &(struct convolution){"convolution 1x1 out", SP_OP_DOWN, 1, 1, w, out, 1, 1, true});
    } else {
        list_convolution(
            l, &(struct convolution){"convolution 3x3", SP_OP_UP, 3, stride, in, w, 1, 1, false});
        list_convolution(
            l, &(struct convolution){"convolution 3x3", SP_OP_DOWN, 3, 1, w, out, 1, 1, true});
    }
    if (in != out)
        list_convolution(
            l, &(struct convolution){"projection 1x1", SP_OP_DOWN, 1, stride, in, out, 1, 1, true});
    KEEP(l, out, SP_BY_NOTHING, SP_OPERATORS, SP_COPIES_INPUT, NONE | SELECTIVE | FULL);
    MOVE(l, SUM * out, SP_BY_NOTHING, SP_OP_NORMS);
}

void sp_list_blocks(const struct sp_model *model, struct sp_layers *layers)
{
    for (int stage = 0; stage < SP_CONVOLUTION_STAGES; stage++)
        for (int i = 0; i < 2; i++)
            if (layers->count[kinds[stage][i]] > 0)
                list_block(model, stage, i == 0, &layers->list[kinds[stage][i]]);
}

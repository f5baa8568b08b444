/* Operators of a layer on the roofline of a chip. */
#include <math.h>

#include <scaleplan/forms.h>
#include <string.h>

#include "core/layers/layer_flops.h"
#include "core/network/token_copies.h"
#include "core/step/step_internal.h"
#include "core/require.h"

/* Rate of large matmuls in a format, C x efficiency. FLOP/s. */
static double matmul_rate(const struct sp_step_inputs *in, enum sp_dtype dtype)
{
    const double *const peak = in->hw->chip.peak_flops_per_s;
    if (dtype == SP_FP4 && peak[SP_FP8] > 0)
        return peak[SP_FP8] * constant(in, SP_C_MATMUL_8) / sp_fp4_matmul_time;
    const bool narrow = sp_dtypes[dtype].bytes < 2;
    return peak[dtype] * constant(in, narrow ? SP_C_MATMUL_8 : SP_C_MATMUL_16);
}

/* Matmuls work on tiles: on average a side of n takes n plus half a tile of elements, so that small
 * matmuls waste more, without the steps of a single kernel's tiling. If the chip's kernels were not
 * measured, half of the side of a systolic array, else of 128 elements. */
static double half_tile(const struct sp_step_inputs *in, enum sp_dtype dtype)
{
    const bool narrow = sp_dtypes[dtype].bytes < 2;
    const struct sp_matmul_curve *const curve =
        &in->hw->chip.kernels.matmul[narrow ? SP_KERNEL_FP8 : SP_KERNEL_BF16];
    const double array = in->hw->chip.mxu_dim;
    return curve->share > 0 ? curve->half_tile : (array > 0 ? array : 128) / 2;
}

/* Speed of matmuls in a format: rate of large ones under the plan's 8-bit recipe (FLOP/s), and half
 * a tile. */
struct speed {
    double flops_per_s, experts_flops_per_s, half_tile;
};

static struct speed speed_of(const struct sp_step_inputs *in, enum sp_dtype wanted)
{
    const enum sp_dtype dtype = sp_compute_dtype(&in->hw->chip, wanted);
    const struct sp_fp8_recipe_traits *const r = &sp_fp8_recipes[in->plan->execution.fp8_recipe];
    const double rate = matmul_rate(in, dtype);
    const bool scaled = sp_dtypes[dtype].bytes == 1;
    return (struct speed){scaled ? rate / r->matmul : rate, scaled ? rate / r->experts : rate,
                          half_tile(in, dtype)};
}

/* A device's part of a matmul: `count` products [rows, in] x [in, out], where a row is the first to
 * read `read` elements of the input. */
struct products {
    double count, rows, in, out, read;
};

static struct products products_of(const struct sp_matmul *m, const struct sp_rank *r)
{
    const bool routed = m->part == SP_PART_EXPERTS;
    const double ranks = routed ? r->etp : r->tp;
    struct products mine = {m->source ? m->passed : m->count,
                            (m->source ? r->from : m->passed / m->count) * r->tokens[SP_BY_NOTHING],
                            m->in, m->out, 0};
    if (m->split == SP_TP_COLUMNS)
        mine.out = sp_columns_on_rank(m, ranks);
    else if (m->split == SP_TP_ROWS)
        mine.in = m->in / ranks;
    else if (m->split == SP_TP_TOKENS)
        mine.rows = r->tokens[SP_BY_SEQUENCE];
    if (routed) {
        /* each expert gets tokens of all ranks it serves; already divided by tp */
        mine.count = m->count / r->ep;
        mine.rows = r->tokens[SP_BY_WIDTH] * m->passed * r->computed * r->etp / mine.count;
    }
    mine.read = m->read > 0 ? m->read : mine.in;
    return mine;
}

/* The longer of arithmetic and memory. s. Products of a scan run at attention's rate, plus memory
 * traffic of its states (6 2-byte elements in Mamba-2's kernels, 2 in gated DeltaNet's). No
 * hybrid's step was measured. */
static double products_s(const struct products *m, double flops_per_s, double half,
                         double bytes_per_s)
{
    const double flops = 2 * (m->rows + half) * (m->in + half) * (m->out + half);
    const double bytes = SP_ELEMENT * (m->rows * m->read + m->in * m->out + m->rows * m->out);
    return m->count * sp_smooth_max(flops / flops_per_s, bytes / bytes_per_s);
}

/* Time of a matmul whose result has an odd number of columns over that of one with an even number:
 * its rows are read and written 2 bytes at a time. On A100 the head of 50,257 columns reaches 78 to
 * 98 TFLOP/s and that of 25,128 reaches 250, according to runs that differ only in their layers. */
static double odd_columns(const struct sp_step_inputs *in, const struct sp_matmul *m,
                          const struct products *mine)
{
    const bool odd = m->vocab && in->model->unpadded_vocab && fmod(floor(mine->out), 2) != 0;
    return odd ? 2.8 : 1;
}

/* Both passes of attention's core. s. */
struct core_time {
    double forward, backward;
};

/* Unfused attention: matmuls over all pairs, masked half included, and between them kernels that
 * move each score in 2 bytes. The causal softmax reads the half below the diagonal (backward: of
 * its result and of a gradient) and writes whole rows; dropout ignores the causal mask and reads,
 * writes and moves a byte of its own mask in both passes: 8 bytes per score forward and 9 backward,
 * without a causal mask 9 and 11. NVIDIA/Megatron-LM,
 * megatron/fused_kernels/scaled_upper_triang_masked_softmax.h; dropout: Korthikanti et al. 2022,
 * section 4.1. */
static struct core_time unfused_core(const struct sp_step_inputs *in, const struct sp_rank *rank,
                                     const struct sp_mixer *mixer, bool cross)
{
    const struct speed plain = speed_of(in, SP_BF16);
    const double rate = plain.flops_per_s, half = plain.half_tile;
    const double W = in->hw->chip.hbm_bytes_per_s;
    const double keys = mixer->length > 0 ? mixer->length : (double)in->plan->seq;
    const double seq = cross ? (double)in->plan->seq : keys;
    const double heads = rank->tokens[SP_BY_WIDTH] / seq * mixer->heads;
    const struct products scores = {heads, seq, mixer->qk, keys, mixer->qk},
                          values = {heads, seq, keys, mixer->v, keys};
    const double matmuls = products_s(&scores, rate, half, W) + products_s(&values, rate, half, W);
    const double read = SP_ELEMENT * (cross || mixer->bidirectional ? 1 : 0.5);
    const double dropout = in->plan->execution.dropout > 0 ? 2 * SP_ELEMENT + 1 : 0;
    const double byte_s = heads * seq * keys / sp_stream_bytes_per_s(in);
    return (struct core_time){matmuls + (read + SP_ELEMENT + dropout) * byte_s,
                              2 * matmuls + (2 * read + SP_ELEMENT + dropout) * byte_s};
}

/* Rate of a fused attention kernel. The profile's rate is that of the framework's own kernel; a
 * kernel named by the plan has the share at which it was measured alone, in place of the share
 * expected of the framework's. FLOP/s. */
static double fused_rate(const struct sp_step_inputs *in)
{
    const enum sp_attention_kernel kernel = in->plan->execution.attention_kernel;
    const enum sp_dtype dtype = sp_compute_dtype(&in->hw->chip, SP_BF16);
    const double own = in->hw->chip.peak_flops_per_s[dtype] * constant(in, SP_C_ATTENTION);
    const double expected = in->profile->expected[SP_C_ATTENTION];
    if (kernel <= SP_KERNEL_UNFUSED || !(expected > 0))
        return own;
    const bool of_ampere = kernel == SP_KERNEL_FA2 || kernel == SP_KERNEL_FLEX;
    const double share = sp_trained_attention_share(&in->hw->chip, of_ampere);
    return share > 0 ? own * share / expected : own;
}

/* FLOPs of a token's forward pass for keys that causal kernels compute in addition to the attended
 * ones, in blocks that the mask cuts: as many per query as were measured. */
static double edge_flops(const struct sp_step_inputs *in, const struct sp_mixer *mixer)
{
    const struct sp_attention_curve *const c = &in->hw->chip.kernels.attention[SP_KERNEL_BF16];
    const bool cut = c->share > 0 && !mixer->bidirectional && mixer->picked <= 0;
    return cut ? 2 * mixer->heads * (mixer->qk + mixer->v) * c->edge_keys : 0;
}

/* Adds scores and weighted sum (fused kernels skip the masked half), and a recurrence's products.
 * Flash attention recomputes scores in the backward pass, unfused attention keeps them. */
static void add_core(const struct sp_step_inputs *in, const struct sp_rank *rank,
                     const struct sp_mixer *mixer, bool cross, struct sp_layer_time *time)
{
    const bool unfused = in->plan->execution.attention_kernel == SP_KERNEL_UNFUSED;
    const double attended =
        unfused ? 2 * mixer->scan : sp_mixer_flops(mixer, (double)in->plan->seq, 0.5);
    const double each =
        sp_busiest_context(in, mixer) * attended + (unfused ? 0 : edge_flops(in, mixer));
    const double products = rank->tokens[SP_BY_WIDTH] * each / fused_rate(in);
    const struct core_time apart =
        unfused ? unfused_core(in, rank, mixer, cross) : (struct core_time){0, 0};
    time->of[SP_OP_CORE] += products + apart.forward;
    time->core_backward += (unfused ? 2 : 2.5) * products + apart.backward;
}

/* Memory passes of memory-bound work over a fused kernel's. Token copies for experts are counted
 * individually; a dispatcher that sends one copy per node places tokens on arrival, which saves
 * half of them. */
static double passes_of_memory(const struct sp_step_inputs *in, enum sp_operator op)
{
    if (op != SP_OP_ROUTE)
        return constant(in, SP_C_MEMORY);
    const bool as_they_arrive =
        in->plan->ep > 1 && sp_sends_once_a_node(in->plan->execution.dispatch);
    return as_they_arrive ? 0.5 : 1;
}

/* A third of the loss in both passes: the framework's bytes for each logit; a fused kernel counts
 * three elements of them in each of three passes. */
static double loss_s(const struct sp_step_inputs *in, double elements)
{
    enum { COUNTED = 3 * 3 };
    const double factor = in->profile->used_factor;
    return (factor > 0 ? factor : 1) * in->framework->loss_bytes / COUNTED * elements /
           sp_stream_bytes_per_s(in);
}

/* Memory-bound work: bytes over bandwidth. Each expert of a token costs four row copies (permute
 * and restore on both sides of the exchange), as in unfused dispatchers. */
static void add_moves(const struct sp_step_inputs *in, const struct sp_rank *rank,
                      const struct sp_layer *layer, struct sp_layer_time *time)
{
    const bool casts = sp_dtypes[in->plan->dtype].bytes != 2;
    for (int i = 0; i < layer->n_moved; i++) {
        const struct sp_moved *const m = &layer->moved[i];
        const double elements =
            (m->routed ? rank->computed : 1) * m->width * rank->tokens[m->sharded_by];
        if (m->loss)
            time->of[m->op] += loss_s(in, elements);
        else if (!m->casts || casts)
            time->of[m->op] +=
                passes_of_memory(in, m->op) * SP_ELEMENT * elements / sp_stream_bytes_per_s(in);
    }
}

/* Weights stored in fewer bits than matmuls take are dequantised at each use: read as stored,
 * written in 2 bytes. Dettmers et al. 2023, "QLoRA", section 3. */
static double widening_s(const struct sp_step_inputs *in, const struct sp_matmul *m,
                         const struct products *mine)
{
    const double stored = in->model->tuning.base_bytes;
    if (!m->base || stored <= 0 || stored >= SP_ELEMENT)
        return 0;
    return mine->count * mine->in * mine->out * (stored + SP_ELEMENT) /
           in->hw->chip.hbm_bytes_per_s;
}

/* Rows that adapters add to a matmul's output: after the reduce-scatter if TP splits the input. */
static double summed_rows(const struct sp_matmul *m, const struct sp_rank *r, double rows)
{
    if (m->split != SP_TP_ROWS)
        return rows;
    return m->part == SP_PART_EXPERTS ? rows / r->etp
                                      : rows * r->tokens[SP_BY_SEQUENCE] / r->tokens[SP_BY_NOTHING];
}

/* Tensor reads and writes besides an adapter's products, as in eager frameworks. Forward: output
 * read and written to scale it; both outputs read, sum written. Backward: output gradient scaled;
 * both input gradients read, sum written. */
enum { SCALED = 2, SUMMED = 3 };

/* Adapters of a matmul: input times A in 16 bits, times B, scaled, added to the output. Gradients
 * of both products take twice as long. Hu et al. 2021, "LoRA", section 4.1; unfused operations as
 * in peft, tuners/lora/tp_layer.py, and Megatron-Bridge, peft/lora_layers.py. */
static void add_adapters(const struct sp_step_inputs *in, const struct sp_rank *rank,
                         const struct sp_matmul *m, const struct products *mine,
                         struct sp_layer_time *time)
{
    const struct speed plain = speed_of(in, SP_BF16);
    const double W = in->hw->chip.hbm_bytes_per_s, rate = plain.flops_per_s;
    const double out = mine->out * m->adapted_out / m->out, rows = summed_rows(m, rank, mine->rows);
    const struct products down = {mine->count, mine->rows, mine->in, m->adapted * m->rank,
                                  mine->in},
                          up = {mine->count * m->adapted, rows, m->rank, out / m->adapted, m->rank};
    const double both =
        products_s(&down, rate, plain.half_tile, W) + products_s(&up, rate, plain.half_tile, W);
    const double outputs = SP_ELEMENT * mine->count * rows * out / W,
                 inputs = SP_ELEMENT * mine->count * mine->rows * mine->in / W;
    const double forward = both + (SCALED + SUMMED) * outputs,
                 backward = 2 * both + SCALED * outputs + SUMMED * inputs;
    time->of[m->op] += forward;
    time->spared += 2 * forward - backward;
}

void sp_time_of_layer(const struct sp_step_inputs *in, const struct sp_rank *rank,
                      const struct sp_layer *layer, struct sp_layer_time *time)
{
    const struct speed plain = speed_of(in, SP_BF16), narrow = speed_of(in, in->plan->dtype);
    *time = (struct sp_layer_time){.frozen = 0};
    if (layer->mixer.heads > 0 || layer->mixer.scan > 0)
        add_core(in, rank, &layer->mixer, false, time);
    if (layer->cross.heads > 0)
        add_core(in, rank, &layer->cross, true, time);
    add_moves(in, rank, layer, time);
    for (int i = 0; i < layer->matmuls; i++) {
        const struct sp_matmul *const m = &layer->matmul[i];
        const struct products mine = products_of(m, rank);
        const struct speed *const speed = m->plain ? &plain : &narrow;
        const double rate =
            m->part == SP_PART_EXPERTS ? speed->experts_flops_per_s : speed->flops_per_s;
        const double base = products_s(&mine, rate / odd_columns(in, m, &mine), speed->half_tile,
                                       in->hw->chip.hbm_bytes_per_s);
        time->of[m->op] += base;
        if (m->frozen) {
            const double opened = widening_s(in, m, &mine);
            time->frozen += base + opened;
            time->of[m->op] += opened;
        } else {
            time->opened += widening_s(in, m, &mine);
        }
        if (m->rank > 0)
            add_adapters(in, rank, m, &mine, time);
    }
}

/* Adds a layer's matmuls to the forward FLOPs per token of each operator. */
static void add_operators(const struct sp_layer *layer, double layers, double seq, double *flops)
{
    const double own = sp_stream_share(layer->own, seq), from = sp_stream_share(layer->from, seq);
    for (int i = 0; i < layer->matmuls && !layer->frozen; i++) {
        const struct sp_matmul *const m = &layer->matmul[i];
        flops[m->op] += layers * 2 * m->passed * m->in * m->out * (m->source ? from : own);
    }
}

double sp_recomputed_flops_of(const struct sp_layers *layers, const struct sp_plan *plan,
                              const struct sp_framework *framework, bool causal)
{
    const struct sp_shares shares = sp_repeated_shares(&plan->recompute, framework);
    const double seq = (double)plan->seq;
    double flops[SP_OPERATORS] = {0}, again = 0;
    for (unsigned left = sp_kinds_of(layers); left;) {
        const int kind = sp_take_kind(&left);
        add_operators(&layers->list[kind], layers->count[kind] - layers->still[kind], seq, flops);
    }
    if (shares.of[SP_OP_CORE] > 0)
        flops[SP_OP_CORE] = sp_forward_flops_of(layers, seq, causal, false).attention -
                            sp_still_flops_of(layers, seq, causal).attention;
    for (int op = 0; op < SP_OPERATORS; op++)
        again += flops[op] * shares.of[op];
    return again * plan->recompute_layers * (double)plan->batch * (double)plan->seq;
}

double sp_step_recomputed_flops(const struct sp_model *model, const struct sp_plan *plan,
                                const struct sp_framework *framework, bool causal)
{
    struct sp_layers layers;
    sp_list_model(model, &layers);
    return sp_recomputed_flops_of(&layers, plan, framework, causal);
}

static struct sp_local_matmul local_matmul(const struct sp_step_inputs *in,
                                           const struct sp_matmul *m, const struct sp_rank *rank)
{
    const struct products mine = products_of(m, rank);
    const enum sp_dtype dtype =
        sp_compute_dtype(&in->hw->chip, m->plain ? SP_BF16 : in->plan->dtype);
    struct sp_local_matmul l = {.name = m->name,
                                .count = mine.count,
                                .rows = mine.rows,
                                .in = mine.in,
                                .out = mine.out,
                                .flops_per_s = in->hw->chip.peak_flops_per_s[dtype],
                                .bytes_per_s = in->hw->chip.hbm_bytes_per_s};
    l.work = (struct sp_work){sp_matmuls_flops(l.count, l.rows, l.in, l.out),
                              sp_matmuls_bytes(l.count, l.rows, l.in, l.out) -
                                  SP_ELEMENT * l.count * l.rows * (l.in - mine.read)};
    l.math_s = l.work.flops / l.flops_per_s;
    l.memory_s = l.work.bytes / l.bytes_per_s;
    l.intensity = sp_intensity(l.work.flops, l.work.bytes);
    l.ridge = sp_ridge_point(l.flops_per_s, l.bytes_per_s);
    return l;
}

/* Index of a matmul in the list; n if absent. */
static int place_of(const struct sp_local_matmul *list, int n, const struct sp_local_matmul *m)
{
    int i = 0;
    while (i < n && (strcmp(list[i].name, m->name) != 0 || list[i].count != m->count ||
                     list[i].rows != m->rows || list[i].in != m->in || list[i].out != m->out))
        i++;
    return i;
}

int sp_matmuls_of_plan(const struct sp_step_inputs *in,
                       struct sp_local_matmul list[SP_MOST_LOCAL_MATMULS])
{
    sp_require(sp_check_plan(in->model, in->plan, sp_chips(in->hw), in->hw->slices) == SP_PLAN_OK,
               "the plan must pass sp_check_plan");
    struct sp_layers layers;
    struct sp_rank_layers mine;
    int n = 0;
    sp_list_model(in->model, &layers);
    sp_layers_on_rank(&layers, in->plan, in->framework, &mine);
    for (int kind = 0; kind < SP_LAYER_LISTS; kind++) {
        const struct sp_layer *const layer = &layers.list[kind];
        if (layers.count[kind] == 0)
            continue;
        const struct sp_rank rank = sp_rank_of_layer(&mine.rank, layer, (double)in->plan->seq);
        for (int i = 0; i < layer->matmuls; i++) {
            const struct sp_local_matmul m = local_matmul(in, &layer->matmul[i], &rank);
            const int at = place_of(list, n, &m);
            if (at == n)
                list[n++] = m;
            list[at].layers += layers.count[kind];
        }
    }
    return n;
}

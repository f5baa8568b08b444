/* Critical batches, loads and times of one strategy in closed form. */
#include <math.h>
#include <stddef.h>

#include <scaleplan/fit.h>
#include <scaleplan/flops.h>
#include <scaleplan/network.h>
#include <scaleplan/pipeline.h>

#include "core/fit/fit_internal.h"
#include "core/layers/layer_rank.h"
#include "core/require.h"

/* Only collectives on different mesh axes can take turns; the levels of one switched network always
 * pipeline. */
double sp_serial_load(const double link[SP_LINKS])
{
    return link[SP_LINK_ICI] + link[SP_LINK_ICI_TP] +
           fmax(link[SP_LINK_DOMAIN], link[SP_LINK_SCALEOUT]) + link[SP_LINK_DCN];
}

double sp_link_load(const struct sp_loads *loads, enum sp_link link)
{
    const double passes = loads->backward_only[link] ? 1 : fmax(loads->gathers, 1);
    return passes * loads->weights[link] + loads->activations[link];
}

/* Load of the weights on all links, one after the other. */
static double serial_weights(const struct sp_loads *loads)
{
    double all[SP_LINKS] = {0};
    for (int link = 0; link < SP_LINKS; link++)
        all[link] = sp_link_load(loads, (enum sp_link)link) - loads->activations[link];
    return sp_serial_load(all);
}

double sp_comms_over_math(const struct sp_loads *loads, enum sp_overlap overlap,
                          enum sp_link *binding)
{
    double largest = -1;
    for (int link = 0; link < SP_LINKS; link++) {
        const double load = sp_link_load(loads, (enum sp_link)link);
        if (load > largest) {
            largest = load;
            *binding = (enum sp_link)link;
        }
    }
    return overlap == SP_OVERLAP_NONE ? serial_weights(loads) + sp_serial_load(loads->activations)
                                      : largest;
}

/* Load of the forward pass, without sends that only the backward pass makes. */
static double forward_load(const struct sp_loads *loads, enum sp_overlap overlap)
{
    struct sp_loads forward = *loads;
    enum sp_link binding;
    for (int link = 0; link < SP_LINKS; link++) {
        forward.weights[link] *= loads->backward_only[link] ? 0 : loads->forward_weights;
        forward.activations[link] *= loads->forward_activations;
    }
    return sp_comms_over_math(&forward, overlap, &binding);
}

/* Rate of a collective over the axes of a slice and the data-centre network: the slower if they
 * overlap, else both in turn. Without axes: the data-centre network. */
static double levels_bytes_per_s(double W_ici, double W_dcn, enum sp_overlap overlap)
{
    if (W_ici <= 0)
        return W_dcn;
    return overlap == SP_OVERLAP_AXES ? fmin(W_ici, W_dcn) : 1 / (1 / W_ici + 1 / W_dcn);
}

/* Sums the n fastest torus axes into W and divides them into FSDP axes and a TP axis. */
static void torus_terms(struct sp_fit_terms *t, const struct sp_fit_input *in)
{
    const struct sp_hardware *hw = in->hw;
    const double w = hw->network.link_bytes_per_s;
    double axis[SP_MAX_AXES] = {0};
    unsigned number[SP_MAX_AXES] = {0}, first = 0, last = 0;
    int used = 0;
    for (int i = 0; i < SP_MAX_AXES; i++) {
        const double W = sp_axis_bytes_per_s(w, hw->shape.axis[i], sp_axis_wraps(hw, i));
        if (W <= 0)
            continue;
        int at = used++;
        for (; at > 0 && axis[at - 1] < W; at--) {
            axis[at] = axis[at - 1];
            number[at] = number[at - 1];
        }
        axis[at] = W;
        number[at] = 1U << i;
    }
    t->n = in->axes > 0 && in->axes < used ? in->axes : used;
    t->W_ici = 2 * w;
    for (int i = 0; i < t->n; i++) {
        first |= last;
        last = number[i];
    }
    t->W = sp_slice_axes_bytes_per_s(hw, first | last);
    t->W_Y = t->n > 1 ? axis[t->n - 1] : NAN;
    t->W_X = t->n > 1 ? sp_slice_axes_bytes_per_s(hw, first) : NAN;
    t->W_axes = t->W;
    t->W_domain = t->W_node = NAN;
    if (hw->slices > 1) {
        t->W_dcn = sp_dcn_bytes_per_s_per_chip(&hw->network);
        t->W = levels_bytes_per_s(t->W, t->M * t->W_dcn, in->overlap);
    }
}

/* (n-1)/n, the share of the gathered array that each of n devices or nodes receives. The textbook
 * drops it (1 here), which is wrong by half on two nodes. Rings drop it as in the book; a line
 * keeps it because a corner chip has only one link per axis. */
static double share_received(const struct sp_fit_input *in, double n)
{
    return in->exact_groups ? (n - 1) / n : 1;
}

static void switched_terms(struct sp_fit_terms *t, const struct sp_fit_input *in)
{
    const struct sp_network *const net = &in->hw->network;
    const double domain = (double)net->domain;
    t->n = 0;
    t->W_ici = t->W_axes = t->W_X = t->W_Y = NAN;
    t->W_domain = net->domain_bytes_per_s;
    t->W_node = sp_node_bytes_per_s(net);
    if (t->N <= domain)
        t->W = t->W_domain;
    else /* a domain of one device has no traffic inside */
        t->W = domain > 1 ? fmin(t->W_domain, t->W_node) : t->W_node;
    const struct sp_device_group all = sp_machine_group(in->hw);
    const bool exact = in->exact_groups && t->N > 1;
    t->W_group = exact ? 1 / sp_time_of_collective(SP_ALL_GATHER, 1, &all).throughput_s : t->W;
}

struct sp_fit_terms sp_fit_terms_on(struct sp_fit_terms t, const struct sp_fit_input *in)
{
    t.N = (double)sp_chips(in->hw);
    t.M = (double)in->hw->chips_per_slice;
    t.S = (double)in->hw->slices;
    t.tokens_per_chip = t.B / t.N;
    t.t_math_s = sp_step_ideal(t.flops, t.N, t.C);
    t.W_dcn = NAN;
    if (in->hw->network.kind == SP_TORUS) {
        torus_terms(&t, in);
        t.W_group = t.W;
    } else {
        switched_terms(&t, in);
    }
    return t;
}

/* Corrects the closed forms' 6 FLOPs and 6 bytes per parameter (gathers in both passes, gradient
 * reduction in the backward pass) for frozen weights. Per token: forward 2 P + 2 A FLOPs with
 * adapters A, backward 4 P - 2 P_frozen - 2 P_still + 4 A, without frozen tables. Activations move
 * as before, plus those of adapters. */
static void tuned_terms(struct sp_fit_terms *t, const struct sp_params *p)
{
    const double stored = SP_GATHERED_BYTES * p->trained + p->frozen_bytes;
    const double works = p->active - p->idle_active;
    const double moved = 4 * works - 2 * (p->frozen_active + p->still_active);
    const double forward = 2 * (works + p->adapters_active),
                 backward = moved + 4 * p->adapters_active;
    t->P_trained = p->trained;
    t->frozen_bytes = p->frozen_bytes;
    t->backward_share = backward / forward / (1 + backward / forward);
    t->gradients_alone = t->forward_weights = t->forward_activations = 1;
    if (p->frozen_active <= 0)
        return;
    /* below the first trained layer, weights are gathered for the forward pass only */
    const double again = 1 - p->still_active / p->active;
    const double both = again * stored + SP_GATHERED_BYTES * p->trained;
    const double factor = both / p->total * p->active / backward;
    t->r *= factor;
    t->F *= backward / moved;
    t->gradients_alone = 2 * SP_GATHERED_BYTES * p->trained / both;
    t->forward_weights = stored / p->total * p->active / forward / factor;
    t->forward_activations = (backward / moved) / (1 + p->adapters_active / works);
}

/* 2 D with as many KV heads as heads. */
static double kv_width(const struct sp_layers *layers)
{
    double width = 0;
    for (int kind = 0; kind < SP_LAYER_KINDS; kind++) {
        const struct sp_mixer *const x = &layers->list[kind].mixer;
        if (layers->count[kind] > 0) /* other kinds are not listed: the value does not matter */
            width += layers->count[kind] * x->kv_heads * (x->qk + x->v);
    }
    return width / (double)layers->model->layers;
}

struct sp_fit_terms sp_fit_terms(const struct sp_fit_input *in)
{
    struct sp_layers room;
    const struct sp_layers *const layers = sp_layers_of_fit(in, &room);
    const struct sp_params params =
        sp_model_has_shape(in->model) ? layers->params : sp_count_params(in->model);
    const struct sp_chip *chip = &in->hw->chip;
    struct sp_fit_terms t = {
        .P = params.total,
        .P_active = params.active,
        .kv_width = kv_width(layers),
        .D = sp_positions_per_token(in->model) * (double)in->model->d_model,
        .F = sp_active_d_ff(in->model),
        .L = (double)in->model->layers,
        .r = sp_moved_over_worked(in->model, in->seq),
        .B = in->batch_tokens,
        .seq = in->seq,
        .dtype = sp_compute_dtype(chip, (enum sp_dtype)in->precision->compute_dtype),
        .capacity_bytes = sp_capacity_bytes(chip),
    };
    t.C = t.dtype == SP_DTYPES ? NAN : chip->peak_flops_per_s[t.dtype];
    t.state_bytes = sp_state_bytes(&params, in->precision);
    tuned_terms(&t, &params);
    t.flops = sp_tuned_flops(in->model, t.B, in->seq, SP_FLOPS_6P);
    t.weight_bytes = in->precision->weight_bytes;
    t.grad_counted = in->precision->grad_bytes;
    t.grad_bytes = sp_kept_grad_bytes(in->precision, 2); /* any number above 1 accumulates */
    t.remat = in->remat;
    for (int remat = 0; remat < SP_REMATS; remat++)
        t.activation_bytes[remat] = sp_kept_activations(
            t.L, t.B, sp_kept_bytes_per_token_layer(layers, (enum sp_remat)remat));
    sp_require(sp_chips(in->hw) > 0 && t.B > 0 && t.C > 0,
               "the chips, the batch and the chip's peak must be positive");
    return sp_fit_terms_on(t, in);
}

static double weight_load(const struct sp_fit_terms *t, double X, double W)
{
    return sp_weight_load(t->r, t->C, X, W, t->B);
}

static double activation_load(const struct sp_fit_terms *t, double Y, double W)
{
    return sp_activation_load(t->C, Y, W, t->F);
}

/* Sends of a pipeline stage, 2BD bytes per boundary and chunk, over its forward pass. */
static double pipeline_load(const struct sp_strategy *s, const struct sp_fit_terms *t, double W)
{
    return (double)(s->chunks * s->pp) * t->C / (2 * t->L * t->F * W);
}

int64_t sp_stages_of_slices(int64_t stages, int64_t slices)
{
    return slices == 0 ? stages : sp_stages_of_slices(slices, stages % slices);
}

static void torus_loads(struct sp_strategy *s, const struct sp_fit_terms *t)
{
    struct sp_loads *loads = &s->loads;
    const double X = (double)(s->dp * s->fsdp);
    if (!isnan(s->W_X))
        loads->weights[SP_LINK_ICI] = weight_load(t, X, s->W_X);
    if (!isnan(s->W_Y))
        loads->activations[SP_LINK_ICI_TP] = activation_load(t, (double)s->tp, s->W_Y);
    if (!isnan(s->W_P)) /* at most: a group with a separate axis uses other links than the shards */
        loads->activations[SP_LINK_ICI] = pipeline_load(s, t, s->W_P);
    if (t->S <= 1)
        return;
    const double across = (double)sp_stages_of_slices(s->pp, (int64_t)t->S);
    if (across > 1)
        loads->activations[SP_LINK_DCN] = pipeline_load(s, t, t->W_dcn);
    if (s->kind == SP_TP)
        loads->activations[SP_LINK_DCN] = activation_load(t, t->N, t->M * t->W_dcn);
    else if (across < t->S)
        loads->weights[SP_LINK_DCN] = weight_load(t, t->S / across, t->W_dcn);
}

/* Time to gather a byte over the nodes of `devices` devices and their scalable units. s. */
static double s_per_byte_across(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                                double devices)
{
    struct sp_device_group group = sp_machine_group(in->hw);
    group.nodes.devices = devices;
    const struct sp_switch_time gather = sp_unit_collective(
        SP_ALL_GATHER, 1, &group.nodes, group.unit_devices, group.unit_bytes_per_s);
    return in->exact_groups ? fmax(gather.cross_s, gather.spine_s) : 1 / t->W_node;
}

/* On switches, TP is innermost, then shards, then pipeline stages. */
static void switched_loads(struct sp_strategy *s, const struct sp_fit_input *in,
                           const struct sp_fit_terms *t)
{
    struct sp_loads *loads = &s->loads;
    const double domain = (double)in->hw->network.domain;
    const double X = (double)(s->dp * s->fsdp), Y = (double)s->tp;
    const double nic = t->W_node / domain;
    const double across = s_per_byte_across(in, t, X * Y);
    if (Y > 1) {
        loads->activations[SP_LINK_DOMAIN] =
            activation_load(t, Y, t->W_domain) * share_received(in, fmin(Y, domain));
        if (Y > domain)
            loads->activations[SP_LINK_SCALEOUT] = activation_load(t, Y, 1 / across);
    }
    if (X > 1 && Y < domain)
        loads->weights[SP_LINK_DOMAIN] =
            weight_load(t, X, t->W_domain) * share_received(in, fmin(X, domain / Y));
    if (X > 1 && X * Y > domain)
        loads->weights[SP_LINK_SCALEOUT] = weight_load(t, X * fmin(Y, domain), 1 / across);
    if (s->pp > 1 && X * Y * (double)s->pp <= domain)
        loads->activations[SP_LINK_DOMAIN] += pipeline_load(s, t, t->W_domain);
    else if (s->pp > 1)
        loads->activations[SP_LINK_SCALEOUT] += pipeline_load(s, t, nic);
}

static enum sp_ratio_rule ratio_rule(const struct sp_strategy *s, const struct sp_fit_terms *t,
                                     enum sp_network_kind network)
{
    if (t->N <= 1)
        return SP_RATIO_ALONE;
    if (network == SP_SWITCHED)
        return SP_RATIO_LEVELS;
    if (s->cp > 1 || s->ep > 1 || s->pp > 1) /* links carry more than weights and activations */
        return SP_RATIO_LINKS;
    if (s->tp == 1)
        return SP_RATIO_SHARDS;
    return isnan(s->W_X) ? SP_RATIO_TP_SLICE : SP_RATIO_AXES;
}

/* Idle over useful time of the pipeline. */
static double bubble(const struct sp_strategy *s)
{
    const struct sp_pipeline pipeline = {.schedule = SP_INTERLEAVED,
                                         .stages = s->pp,
                                         .microbatches = s->microbatches,
                                         .chunks = s->chunks,
                                         .forward_s = 1,
                                         .backward_s = 2};
    return sp_bubble_s(&pipeline) / sp_useful_s(&pipeline);
}

bool sp_is_whole(const struct sp_strategy *s)
{
    return s->kind == SP_DP || (s->dp > 1 && s->fsdp == 1);
}

/* Marks links that only reduce gradients, once per step. DP overlaps only the backward pass (8DF
 * bytes against 8BDF FLOPs), so its load is relative to 2/3 of T_math; FSDP overlaps both passes.
 * Both have the same critical batch. */
static void mark_backward_only(struct sp_strategy *s, const struct sp_fit_terms *t,
                               const struct sp_network *net)
{
    const bool shards_inside = net->kind == SP_TORUS || s->fsdp * s->tp <= net->domain;
    for (int link = 0; link < SP_LINKS; link++) {
        s->loads.backward_only[link] =
            sp_is_whole(s) ||
            (s->dp > 1 && shards_inside && (link == SP_LINK_SCALEOUT || link == SP_LINK_DCN));
        s->loads.weights[link] *= s->loads.backward_only[link] ? t->gradients_alone : 1;
    }
}

void sp_judge_times(struct sp_strategy *s, const struct sp_fit_input *in,
                    const struct sp_fit_terms *t)
{
    s->comms_over_math = sp_comms_over_math(&s->loads, in->overlap, &s->binding);
    s->forward_load = forward_load(&s->loads, in->overlap);
    const double forward = s->forward_load, backward = s->comms_over_math;
    s->t_math_s = t->t_math_s;
    s->t_comms_s = sp_comms_of_step(t->t_math_s, t->backward_share, forward, backward);
    s->compute_bound = backward <= 1;
    s->step_s = sp_step_of_passes(t->t_math_s, t->backward_share, forward, backward);
    s->bubble = s->pp > 1 ? bubble(s) : 0;
    s->step_with_bubble_s = sp_step_with_bubble(s->step_s, s->uneven, s->bubble);
}

void sp_judge_loads(struct sp_strategy *s, const struct sp_fit_input *in,
                    const struct sp_fit_terms *t)
{
    s->loads = (struct sp_loads){.gathers = 1,
                                 .forward_weights = t->forward_weights,
                                 .forward_activations = t->forward_activations};
    if (in->hw->network.kind == SP_TORUS)
        torus_loads(s, t);
    else
        switched_loads(s, in, t);
    mark_backward_only(s, t, &in->hw->network);
    sp_add_runs_loads(s, in, t);
    s->ratio_rule = ratio_rule(s, t, (enum sp_network_kind)in->hw->network.kind);
}

/* If the network allows less than the stated MFU, it sets the time. */
double sp_step_at_mfu_s(const struct sp_strategy *s, double mfu)
{
    return sp_step_at_mfu(s->step_with_bubble_s, s->t_math_s, mfu);
}

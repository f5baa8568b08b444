/* Memory of one device under a plan, in closed form. */
#include "study/device_memory.h"

#include <math.h>
#include <stdio.h>

#include <scaleplan/forms.h>
#include <scaleplan/names.h>

/* Activations per device by the chosen rule. */
static void add_activations(const struct sp_memory_case *f, struct sp_device_memory *m)
{
    const double micro = f->micro_batch, count = f->checkpoints;
    const double tokens = isnan(micro) ? f->batch / f->spread.dp : micro * f->seq;
    const double L = (double)f->model.layers, D = (double)f->model.d_model;
    const enum sp_remat remat = f->remat < SP_REMATS ? f->remat : SP_REMAT_NONE;
    const double positions = sp_positions_per_token(&f->model);
    m->activations = m->gpt_layer = m->token_layer = NAN;
    m->rule = SP_ACTIVATIONS_EXACT;
    if (!sp_model_has_shape(&f->model))
        return;
    const double share =
        f->plan && f->remat == SP_REMATS ? sp_kept_share(&f->model, f->plan, f->framework) : 1;
    m->token_layer = share * sp_activation_bytes_per_token_layer(&f->model, remat);
    if (!isnan(count)) {
        m->activations = sp_checkpoint_bytes(count, f->batch, positions * D, L, f->devices);
        m->rule = SP_ACTIVATIONS_COUNTED;
    } else if (f->by_gpt_rule) {
        const enum sp_gpt_rule rule = sp_gpt_rule(f->remat, f->spread.tp, f->sequence_parallel);
        m->gpt_sequences = tokens / f->seq;
        m->gpt = rule;
        m->gpt_layer = sp_gpt_activation_bytes(rule, positions * f->seq, m->gpt_sequences, D,
                                               (double)f->model.heads, f->spread.tp);
        m->activations = sp_stage_activation_bytes(L, m->gpt_layer, &f->spread);
        m->rule = SP_ACTIVATIONS_GPT;
    } else {
        const double whole =
            f->sequence_parallel ? 1 : sp_undivided_activations(&f->model, remat, f->spread.tp);
        m->activations =
            whole * share * sp_activation_footprint(&f->model, remat, tokens, &f->spread);
    }
}

/* Moves the parts named by --offload-part to the host. */
static void offload(const struct sp_memory_case *f, struct sp_device_memory *m)
{
    double *const part[] = {[SP_OFFLOAD_OPTIMIZER] = &m->states.optimizer,
                            [SP_OFFLOAD_PARAMS] = &m->states.params,
                            [SP_OFFLOAD_ACTIVATIONS] = &m->activations};
    const int what = f->offload;
    if (what < 0)
        return;
    m->freed = *part[what];
    m->is_moved = what == SP_OFFLOAD_ACTIVATIONS;
    *part[what] = 0;
    m->states.total = sp_states_of_device(m->states.params, m->states.grads, m->states.optimizer);
}

/* Tokens per micro-batch and device. */
static double tokens_of_device(const struct sp_memory_case *f)
{
    const double micro = f->micro_batch;
    return (isnan(micro) ? f->batch / f->spread.dp : micro * f->seq) / f->spread.cp;
}

/* Companion weights, sharded like the model's; offloaded ones reuse the memory of its
 * activations. */
static void add_companions(const struct sp_memory_case *f, struct sp_device_memory *m)
{
    double away = 0;
    for (int i = 0; i < SP_COMPANION_ROLES; i++) {
        const enum sp_companion_place place = f->companions.of[i].place;
        if (place != SP_COMPANION_HELD && place != SP_COMPANION_OFFLOADED)
            continue;
        const struct sp_params params = sp_count_params(&f->companions.of[i].model);
        m->beside[i] = sp_tuned_footprint(&params, &f->precision, &f->spread).total;
        if (place == SP_COMPANION_HELD)
            m->buffers += m->beside[i];
        else
            away = fmax(away, m->beside[i]);
    }
    m->buffers += fmax(away - (isnan(m->activations) ? 0 : m->activations), 0) +
                  f->companions.logit_bytes * tokens_of_device(f) / f->spread.tp;
}

struct sp_device_memory sp_memory_of_device(const struct sp_memory_case *f)
{
    struct sp_device_memory m = {.states =
                                     sp_tuned_footprint(&f->params, &f->precision, &f->spread)};
    add_activations(f, &m);
    offload(f, &m);
    add_companions(f, &m);
    m.claimed = isnan(m.activations) ? 0 : m.activations;
    m.total = sp_memory_of_device_bytes(m.states.total, m.buffers, m.claimed);
    return m;
}

bool sp_plan_of_case(const struct sp_memory_case *f, const struct sp_framework *framework,
                     struct sp_plan *plan)
{
    const struct sp_spread *const s = &f->spread;
    const double sequences = f->batch / f->seq;
    const double micro = isnan(f->micro_batch) ? sequences / s->dp : f->micro_batch;
    const bool moved = f->offload >= 0 || f->model.tuning.companions;
    if (!framework || !f->has_hw || !sp_model_has_shape(&f->model) || f->by_gpt_rule ||
        !isnan(f->checkpoints) || moved || f->is_closed || !(micro >= 1) || micro != floor(micro) ||
        sequences != floor(sequences))
        return false;
    *plan = (struct sp_plan){.dp = (int64_t)s->dp,
                             .tp = (int64_t)s->tp,
                             .pp = (int64_t)s->pp,
                             .vpp = (int64_t)f->chunks,
                             .cp = (int64_t)s->cp,
                             .ep = (int64_t)s->ep,
                             .etp = sp_usual_etp(&f->model, (int64_t)s->tp, (int64_t)s->ep),
                             .zero = s->zero,
                             .sequence_parallel = s->tp > 1 && f->sequence_parallel,
                             .micro_batch = (int64_t)micro,
                             .batch = (int64_t)sequences,
                             .seq = (int64_t)f->seq,
                             .recompute = f->remat < SP_REMATS ? sp_policies[f->remat].recompute
                                                               : (struct sp_recompute){0},
                             .recompute_layers = 1,
                             .execution = framework->execution,
                             .schedule = sp_usual_schedule((int64_t)f->chunks),
                             .dtype = (enum sp_dtype)f->precision.compute_dtype,
                             .imbalance = 1};
    const int64_t devices = sp_plan_devices(plan);
    const int64_t slices = sp_chips(&f->hw) == devices ? f->hw.slices : 1;
    plan->shards = sp_default_shards(plan, slices);
    return sp_check_plan(&f->model, plan, devices, slices) == SP_PLAN_OK;
}

double sp_in_flight_of_case(const struct sp_memory_case *f, const struct sp_framework *framework)
{
    struct sp_plan made;
    if (!sp_plan_of_case(f, framework, &made) || made.pp == 1)
        return 1;
    const struct sp_plan *const plan = f->plan ? f->plan : &made;
    const struct sp_pipeline pipeline = {.schedule = plan->schedule,
                                         .stages = plan->pp,
                                         .microbatches =
                                             plan->batch / (plan->dp * plan->micro_batch),
                                         .chunks = plan->vpp};
    return sp_in_flight(&pipeline, 0);
}

struct sp_case_verdict sp_judge_case(const struct sp_memory_case *f,
                                     const struct sp_framework *framework)
{
    const double capacity = f->has_hw ? sp_capacity_bytes(&f->hw.chip) : INFINITY;
    static const struct sp_framework closed;
    struct sp_case_verdict v = {.reserved = NAN};
    struct sp_stage_memory m;
    struct sp_plan plan;
    v.is_plan = sp_plan_of_case(f, framework, &plan);
    if (v.is_plan && f->plan)
        plan = *f->plan;
    if (v.is_plan) {
        sp_fullest_stage(&f->model, &f->precision, &plan, framework, &m);
        v.device = (double)m.device;
        v.reserved = (double)m.reserved;
    } else {
        v.device = sp_memory_of_device(f).total;
    }
    const struct sp_framework *const judge = v.is_plan ? framework : &closed;
    v.odds = sp_oom_odds(judge, v.device, capacity);
    v.verdict = sp_memory_verdict(judge->memory_residual, v.device, capacity);
    return v;
}

enum sp_remat sp_lightest_remat(struct sp_memory_case f, const struct sp_framework *framework)
{
    static const enum sp_remat lighter[] = {SP_REMAT_NONE, SP_REMAT_SELECTIVE};
    for (size_t i = 0; i < sizeof lighter / sizeof *lighter; i++) {
        f.remat = lighter[i];
        if (!f.has_hw || sp_judge_case(&f, framework).verdict == SP_VERDICT_YES)
            return f.remat;
    }
    return SP_REMAT_FULL;
}

double sp_kept_per_param(const struct sp_memory_case *f)
{
    const int what = f->offload;
    const struct sp_params *const p = &f->params;
    const double kept =
        sp_state_bytes_per_param(&f->precision) -
        (what == SP_OFFLOAD_PARAMS      ? f->precision.weight_bytes
         : what == SP_OFFLOAD_OPTIMIZER ? f->precision.master_bytes + f->precision.optimizer_bytes
                                        : 0);
    if (!(p->frozen_bytes > 0))
        return kept;
    return (p->trained * kept + (what == SP_OFFLOAD_PARAMS ? 0 : p->frozen_bytes)) / p->total;
}

double sp_beside_bytes(const struct sp_memory_case *f)
{
    double bytes = 0;
    for (int i = 0; i < SP_COMPANION_ROLES; i++)
        if (f->companions.of[i].place == SP_COMPANION_HELD)
            bytes += sp_count_params(&f->companions.of[i].model).frozen_bytes;
    return bytes;
}

/* A plan that was given whole is judged as given, its neighbours as the framework makes them. */
static void add_choice(struct sp_memory_case f, const struct sp_framework *framework, bool asked,
                       struct sp_memory_choice *choice)
{
    f.plan = asked ? f.plan : NULL;
    choice->asked = asked;
    choice->memory = sp_memory_of_device(&f);
    choice->verdict = sp_judge_case(&f, framework);
}

size_t sp_memory_choices(const struct sp_memory_case *plan, const struct sp_framework *framework,
                         struct sp_memory_choice choices[SP_MEMORY_CHOICES])
{
    struct sp_memory_case f = *plan;
    size_t n = 0;
    const bool shaped = sp_model_has_shape(&f.model);
    if (f.spread.dp > 1) {
        for (; n < 4; n++) {
            f.spread.zero = (int)n;
            snprintf(choices[n].name, sizeof choices[n].name, "ZeRO %d", f.spread.zero);
            add_choice(f, framework, f.spread.zero == plan->spread.zero, &choices[n]);
        }
    } else if (shaped && !f.by_gpt_rule && isnan(f.checkpoints)) {
        for (; sp_remat_names[n]; n++) {
            f.remat = (enum sp_remat)n;
            snprintf(choices[n].name, sizeof choices[n].name, "recompute %.32s", sp_remat_names[n]);
            add_choice(f, framework, f.remat == plan->remat, &choices[n]);
        }
    } else {
        snprintf(choices[0].name, sizeof choices[0].name, "a device");
        add_choice(f, framework, false, &choices[n++]);
    }
    return n;
}

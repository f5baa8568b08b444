/* A service as the command of an engine's server. */
#include "cli/server_launch.h"

#include <math.h>
#include <string.h>

#include <scaleplan/names.h>
#include <scaleplan/plan.h>

/* Options only of a service; then those of both, with the model and the machine. */
/* clang-format off */
static const struct sp_taken of_service[] = {SP_OPTIONS_SERVICE};
static const enum sp_option_id of_both[] = {SP_O_tp, SP_O_pp, SP_O_ep, SP_O_etp, SP_O_dtype,
                                            SP_O_profile, SP_O_model, SP_O_shape, SP_O_hw,
                                            SP_O_network, SP_O_to, SP_O_strict, SP_O_write,
                                            SP_O_imbalance, SP_O_moe_overlap};
static const enum sp_option_id of_training[] = {SP_O_batch, SP_O_seq, SP_O_framework,
                                                SP_O_precision, SP_O_machine_factor};
/* clang-format on */

static bool is_of_both(enum sp_option_id id)
{
    for (size_t i = 0; i < sizeof of_both / sizeof *of_both; i++)
        if (of_both[i] == id)
            return true;
    return false;
}

static bool is_of_service(enum sp_option_id id)
{
    for (size_t i = 0; i < sizeof of_service / sizeof *of_service; i++)
        if (of_service[i].id == id)
            return true;
    return false;
}

static bool is_of_training(enum sp_option_id id)
{
    for (size_t i = 0; i < sizeof of_training / sizeof *of_training; i++)
        if (of_training[i] == id)
            return true;
    for (int i = 0; i < SP_PLAN_FIELDS; i++)
        if (sp_option_of_field(i) == id)
            return true;
    return false;
}

bool sp_check_kind(const struct sp_args *args, bool serves, const char *target,
                   struct sp_error *error)
{
    for (size_t i = 0; i < args->n_options; i++) {
        const enum sp_option_id id = args->options[i].id;
        const bool other = serves ? is_of_training(id) : is_of_service(id);
        if (args->given_at[id] && other && !is_of_both(id))
            return sp_fail(error, SP_USAGE, "--%s is for a %s; --to %s writes a %s",
                           sp_option_name(id), serves ? "training" : "service", target,
                           serves ? "service" : "training");
    }
    return true;
}

/* The typed options of a service, for the comment about those that the engine does not have. */
static void take_asked(const struct sp_args *args, struct sp_served_launch *l)
{
    for (size_t i = 0; i < args->n_options; i++) {
        const enum sp_option_id id = args->options[i].id;
        const bool counts = is_of_service(id) || id == SP_O_dtype || id == SP_O_profile;
        if (!counts || !args->given_at[id] || !args->text[id])
            continue;
        l->asked[l->n_asked].name = sp_option_name(id);
        l->asked[l->n_asked++].value = args->text[id];
    }
}

/* Degrees of an instance as its engine counts them. */
static struct sp_served_pool pool_of(const struct sp_service *s, double instances)
{
    const struct sp_serve_plan p = sp_serve_plan_of(s);
    return (struct sp_served_pool){instances, p.tp, p.attention_dp, p.pp, p.ep};
}

/* The number of sequences that an engine takes as an option, equal on each of its ranks: no fewer
 * than run, unless they would not fit. NAN: no limit. */
static double counted_sequences(const struct serve *f, double ranks)
{
    if (f->load.rate > 0 || !isfinite(f->B))
        return NAN;
    const double more = ranks * ceil((f->B - 1e-9) / ranks);
    return more <= sp_most_sequences(&f->served) ? more : ranks * fmax(1, floor(f->B / ranks));
}

/* The settings asked for by options, and the engine's own. */
static void fill(const struct serve *f, struct sp_served_launch *l)
{
    const struct sp_service *const s = &f->service;
    l->model = f->model.name;
    l->hardware = f->hw.name;
    l->draft_model = s->draft_model ? f->draft_model.name : NULL;
    l->apart = f->is_split;
    l->pool = pool_of(s, f->replicas);
    if (f->is_split)
        l->reads = pool_of(&f->reader.service, f->replicas * f->readers);
    l->experts = (double)f->model.moe.experts;
    l->sequences =
        s->most_running > 0 ? s->most_running : counted_sequences(f, l->pool.attention_dp);
    l->length = s->input + s->output;
    l->chunk = s->chunk;
    l->memory_fraction = s->memory_fraction;
    l->block = s->block;
    l->drafts = s->drafts;
    l->weights = sp_storage_names[f->weights];
    l->kv = sp_storage_names[f->kv];
    l->stored = f->model.weights != SP_STORED_BF16 || f->model.expert_weights != SP_STORED_BF16;
    l->kv_lacks_chip =
        sp_storages[f->kv].matmul == SP_FP4 && isnan(f->hw.chip.peak_flops_per_s[SP_FP4]);
    l->own_head = f->model.mtp_layers > 0;
    l->host = (double)sp_chips_per_host(&f->hw.network);
    l->usual_weights =
        (int)f->weights == f->model.weights &&
        (f->args->given.expert_weights || (int)f->expert_weights == f->model.expert_weights);
    l->usual_kv = !f->args->given.kv;
    l->usual_block = s->block == f->engine.block_tokens;
    take_asked(f->args, l);
}

bool sp_write_service(const struct sp_args *args, const struct sp_sources *sources,
                      const struct sp_target *target, const char *engine, struct sp_report *report,
                      struct serve *f, struct sp_written *written, struct sp_error *error)
{
    struct sp_served_launch launch = {.sources = sources};
    *f = (struct serve){
        .args = args, .report = report, .may_split = true, .textbook = sources->textbook};
    if (!sp_load_service(f, sources, error) || !sp_load_sequences(f, error))
        return false;
    if (!f->holds_weights)
        return sp_fail(error, SP_INPUT, "the weights of %s do not fit on %s: no command for %s",
                       f->model.name, f->hw.name, engine);
    f->fits = sp_service_fits(f);
    fill(f, &launch);
    return sp_write_server(target, &launch, written, error);
}

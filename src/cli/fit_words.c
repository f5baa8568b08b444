/* Strategies of `fit` in words, and as a command of `step`. */
#include "cli/fit_words.h"

#include <stdio.h>
#include <stdlib.h>

#include <scaleplan/plan.h>

#include "base/memory.h"
#include "base/text.h"
#include "cli/expected.h"
#include "cli/plan_fields.h"
#include "cli/plan_options.h"

/* Context parallelism takes its ranks from the shards, then from the replicas, which keeps the
 * product of the degrees the number of devices. Experts are dealt among ranks that have other work:
 * their degree is beside the product. */
void sp_name_degrees(const struct sp_strategy *s, char *out, size_t size)
{
    const int64_t of_shards = sp_common_divisor(s->fsdp, s->cp);
    const struct {
        const char *name;
        int64_t degree;
    } degrees[] = {{"DP", s->dp * of_shards / s->cp},
                   {"FSDP", s->fsdp / of_shards},
                   {"CP", s->cp},
                   {"TP", s->tp},
                   {"PP", s->pp}};
    out[0] = '\0';
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++)
        if (degrees[i].degree > 1)
            sp_append(out, size, "%s%s %lld", out[0] ? " x " : "", degrees[i].name,
                      (long long)degrees[i].degree);
    if (!out[0])
        snprintf(out, size, "one chip");
    if (s->ep > 1)
        sp_append(out, size, ", EP %lld", (long long)s->ep);
}

void sp_name_mesh(const struct sp_strategy *s, char *out, size_t size)
{
    sp_name_degrees(s, out, size);
    if (s->microbatches > 1)
        sp_append(out, size, " in %lld micro-batches", (long long)s->microbatches);
}

void sp_say_mesh_as_plan(const struct sp_strategy *plan, char *out, size_t size)
{
    snprintf(out, size, "%s%s",
             !plan->exists ? "it does not fit on the machine's axes"
             : !plan->runs ? "no batch close to this one divides among its replicas"
             : !plan->fits ? "as a plan it does not fit"
                           : "of whole sequences, on real axes, its ideal step is ",
             plan->fits && plan->runs ? sp_human_text(plan->step_with_bubble_s, SP_SECONDS) : "");
}

void sp_say_drawback(const struct sp_strategy *p, const struct sp_strategy *best, char *out,
                     size_t size)
{
    *out = '\0';
    if (!p->fits)
        sp_append(out, size, "needs %s per chip", sp_human_text(p->memory_bytes, SP_BYTES));
    else if (!p->runs)
        sp_append(out, size, "no framework runs it");
    else if (!p->compute_bound)
        sp_append(out, size, "waits for the %s", sp_link_titles[p->binding]);
    else if (p->kind != best->kind && p->bubble > 0)
        sp_append(out, size, "bubble %s", sp_human_text(p->bubble, SP_FRACTION));
    else if (p->verdict > best->verdict)
        sp_append(out, size, "memory is tight");
    else if (p->remat > best->remat)
        sp_append(out, size, "recompute %s", sp_remat_names[p->remat]);
}

/* The words after the program's name. */
static void add_step(const struct sp_args *args, const char *machine, const struct sp_fit_input *in,
                     const struct sp_strategy *strategy, const struct sp_plan *plan,
                     struct sp_words *w)
{
    static const enum sp_option_id passed_on[] = {
        SP_O_model,        SP_O_shape,       SP_O_network,    SP_O_seq,
        SP_O_precision,    SP_O_constants,   SP_O_trainable,  SP_O_lora_rank,
        SP_O_lora_targets, SP_O_base_format, SP_O_config_dir, SP_NO_OPTION};
    const struct sp_framework *const framework = sp_strategy_framework(in, strategy);
    sp_add_word(w, "step");
    sp_add_given(w, args, passed_on);
    sp_add_option(w, "hw", machine[0] ? machine : args->value.hw);
    sp_add_option(w, "framework", framework->name);
    sp_add_word(w, "--batch");
    sp_add_word(w, "%lldx%lld", (long long)plan->batch, (long long)plan->seq);
    sp_plan_words(plan, in->model, framework, in->hw->slices, w);
}

char *sp_fit_command(const struct sp_args *args, const char *machine, const struct sp_fit_input *in,
                     const struct sp_strategy *strategy, double *sequences)
{
    if (!strategy->is_plan)
        return NULL;
    const struct sp_plan plan = sp_strategy_plan(in, strategy);
    struct sp_words w = {0};
    sp_add_word(&w, "scaleplan");
    add_step(args, machine, in, strategy, &plan, &w);
    char *const line = sp_shell_line(&w);
    *sequences = (double)plan.batch;
    sp_free_words(&w);
    return line;
}

struct sp_estimate *sp_fit_estimate(const struct sp_args *asked, const char *machine,
                                    const struct sp_fit_input *in,
                                    const struct sp_strategy *strategy)
{
    struct sp_error error = {0};
    struct sp_words w = {0};
    const struct sp_plan plan = sp_strategy_plan(in, strategy);
    struct sp_planned *const planned = sp_must(malloc(sizeof *planned));
    struct sp_estimate *estimate = NULL;
    add_step(asked, machine, in, strategy, &plan, &w);
    struct sp_args *const args = sp_args_of_words(&w, asked);
    const struct sp_sources sources = sp_sources_of(args ? args : asked);
    if (args && sp_plan_of(args, &sources, planned, &error)) {
        estimate = sp_must(malloc(sizeof *estimate));
        sp_estimate_planned(planned, SP_FLOPS_6P, SP_WITH_RANGE | SP_WITH_RATES, estimate);
    }
    free(planned);
    free(args);
    sp_free_words(&w);
    return estimate;
}

/* Plans as launches. */
#include "cli/exported.h"

#include <stdlib.h>
#include <string.h>

#include "study/plan_text.h"

struct sp_launched sp_launched_of(const struct sp_planned *planned, const struct sp_plan *plan,
                                  const struct sp_sources *sources, int version,
                                  const char *framework_given)
{
    const char *const framework = planned->framework.framework.name;
    return (struct sp_launched){
        .model = &planned->model,
        .hw = &planned->hw,
        .plan = plan,
        .sources = sources,
        .version = version,
        .remat = sp_plan_name(plan, &sp_plan_fields[SP_FIELD_REMAT]),
        .precision = &planned->precision,
        .framework = framework,
        .usual = planned->framework.framework.execution,
        .framework_given =
            sp_config_exists(SP_FRAMEWORKS, framework, sources) ? NULL : framework_given,
    };
}

/* The open target for a machine's framework and recipe, or NULL. */
static const struct sp_exported *exported_of(const struct sp_planned *base,
                                             const struct sp_exporting *exporting)
{
    for (int i = 0; i < exporting->n; i++)
        if (strcmp(exporting->of[i].framework, base->framework.framework.name) == 0 &&
            strcmp(exporting->of[i].precision, base->precision.name) == 0)
            return &exporting->of[i];
    return NULL;
}

bool sp_exporting_for(const struct sp_planned *base, const struct sp_sources *sources,
                      struct sp_exporting *exporting, struct sp_error *error)
{
    static const char nemo[] = "nemo", bridge[] = "megatron-bridge"; /* which NeMo launches */
    const char *const framework = base->framework.framework.name;
    const char *const name = strcmp(framework, nemo) == 0 ? bridge : framework;
    int version;
    if (exported_of(base, exporting))
        return true;
    if (exporting->n == SP_MAX_EXPORTING)
        return sp_fail(error, SP_INPUT, "--exportable: more than %d frameworks and recipes",
                       SP_MAX_EXPORTING);
    struct sp_exported *const e = &exporting->of[exporting->n];
    for (int i = 0; sp_export_choices[i]; i++)
        if (strcmp(sp_export_choices[i], name) == 0) {
            e->target = sp_target_of(i, &version);
            snprintf(e->framework, sizeof e->framework, "%s", framework);
            snprintf(e->precision, sizeof e->precision, "%s", base->precision.name);
            sp_find_shipped(&base->model, &base->precision, &e->shipped);
            if (!sp_open_launch_words(e->target, sources, e->words, error))
                return false;
            exporting->n++;
            return true;
        }
    return sp_fail(error, SP_USAGE,
                   "--exportable: no launch of %s can be written: give --framework megatron, nemo, "
                   "torchtitan or maxtext",
                   framework);
}

void sp_close_exporting(struct sp_exporting *exporting)
{
    for (int i = 0; i < exporting->n; i++)
        sp_close_launch_words(exporting->of[i].words);
}

/* A plain plan on all devices, which loses no more than any other. */
static struct sp_plan plain_plan(const struct sp_planned *base, int zero, enum sp_remat policy)
{
    struct sp_plan plan = base->plan;
    plan.tp = plan.pp = plan.vpp = plan.cp = plan.ep = plan.etp = plan.micro_batch = 1;
    plan.dp = plan.shards = plan.batch = sp_chips(&base->hw);
    plan.zero = zero;
    plan.recompute = sp_policies[policy].recompute;
    plan.recompute_layers = plan.imbalance = 1;
    plan.execution = base->framework.framework.execution;
    return plan;
}

static bool loses(const struct sp_written *written, const char *what)
{
    for (int i = 0; i < written->n_lost; i++)
        if (strcmp(written->lost[i], what) == 0)
            return true;
    return false;
}

/* Writes the launch of a plan, with what it loses. */
static bool write_plan(const struct sp_planned *base, const struct sp_plan *plan,
                       const struct sp_exported *e, bool only_asks, struct sp_written *written,
                       struct sp_error *error)
{
    struct sp_launched launched = sp_launched_of(base, plan, NULL, 0, NULL);
    memcpy(launched.words, e->words, sizeof launched.words);
    launched.shipped = &e->shipped;
    launched.only_asks = only_asks;
    const bool ok = sp_write_launch(e->target, &launched, written, error);
    free(written->text);
    return ok;
}

bool sp_check_exportable(const struct sp_planned *base, const struct sp_exporting *exporting,
                         struct sp_error *error)
{
    static const enum sp_remat policies[] = {SP_REMAT_NONE, SP_REMAT_FULL};
    const struct sp_exported *const e = exported_of(base, exporting);
    struct sp_written always = {0},
                      other; /* the losses that all plans share, among those of the first */
    for (int zero = 0; zero < 4 && e; zero++)
        for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
            const bool is_first = zero == 0 && p == 0;
            const struct sp_plan plan = plain_plan(base, zero, policies[p]);
            struct sp_error ignored = {0}; /* a plan that is refused loses nothing */
            if (!write_plan(base, &plan, e, false, is_first ? &always : &other,
                            is_first ? error : &ignored))
                return !is_first;
            int kept = 0;
            for (int i = 0; i < always.n_lost; i++)
                if (is_first || loses(&other, always.lost[i]))
                    memmove(always.lost[kept++], always.lost[i], sizeof *always.lost);
            always.n_lost = kept;
        }
    if (always.n_lost == 0)
        return true;
    const char *lost = always.lost[0], *const kind = sp_lost_kind(&lost);
    return sp_fail(error, SP_INPUT, "--exportable: no plan of %s: %s: %s",
                   sp_safe(base->model.name), kind, lost);
}

bool sp_exports_whole(const struct sp_planned *base, const struct sp_plan *plan,
                      const void *exporting)
{
    struct sp_written written;
    struct sp_error error = {0};
    const struct sp_exported *const e = exported_of(base, exporting);
    return e && write_plan(base, plan, e, true, &written, &error) && written.n_lost == 0;
}

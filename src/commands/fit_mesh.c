/* `fit --mesh`: the verdict on a mesh that the user names. */
#include <math.h>
#include <string.h>

#include "base/list.h"
#include "base/number.h"
#include "commands/fit.h"

/* Reads "fsdp=1024,tp=4"; what is not named is 1. */
static bool read_mesh(const char *mesh, struct sp_degrees *degrees, struct sp_error *error)
{
    const struct {
        const char *name;
        int64_t *degree;
    } known[] = {
        {"dp", &degrees->dp}, {"fsdp", &degrees->fsdp}, {"tp", &degrees->tp}, {"pp", &degrees->pp}};
    char item[64];
    *degrees = (struct sp_degrees){1, 1, 1, 1};
    while (sp_next_item(&mesh, item, sizeof item)) {
        const char *const value = sp_cut_pair(item);
        int64_t *degree = NULL;
        double number;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (strcmp(item, known[i].name) == 0)
                degree = known[i].degree;
        if (!degree || !value || !sp_parse_number(value, &number) || number < 1 || number > 1e9 ||
            number != floor(number))
            return sp_fail(error, SP_INPUT,
                           "--mesh: \"%s\": expected degrees such as fsdp=1024,tp=4 (dp, fsdp, tp, "
                           "pp)",
                           sp_safe(item));
        *degree = (int64_t)number;
    }
    return true;
}

static enum sp_strategy_kind kind_of(const struct sp_degrees *d)
{
    if (d->pp > 1)
        return SP_PP_FSDP;
    if (d->dp > 1)
        return d->fsdp > 1 || d->tp > 1 ? SP_HSDP : SP_DP;
    return d->tp == 1 ? SP_FSDP : d->fsdp > 1 ? SP_FSDP_TP : SP_TP;
}

bool sp_put_given_mesh(const struct fit *f, const char *mesh, struct sp_error *error)
{
    struct sp_report *r = f->report;
    struct sp_degrees d;
    if (!read_mesh(mesh, &d, error))
        return false;
    const double product = (double)d.dp * (double)d.fsdp * (double)d.tp * (double)d.pp;
    if (product != f->t.N)
        return sp_fail(error, SP_INPUT, "--mesh: the degrees make %.0f chips, the machine has %.0f",
                       product, f->t.N);
    const enum sp_strategy_kind kind = f->t.N > 1 ? kind_of(&d) : SP_DP;
    const struct sp_strategy s = sp_fit_mesh(&f->in, &f->t, kind, &d, false);
    const struct sp_strategy real = sp_fit_mesh(&f->in, &f->t, kind, &d, true);
    if (!s.exists)
        return sp_fail(
            error, SP_INPUT,
            "--mesh: no %s mesh of %s lays FSDP %lld x TP %lld x PP %lld x DP %lld on this "
            "machine",
            sp_strategy_titles[kind], f->model.name, (long long)d.fsdp, (long long)d.tp,
            (long long)d.pp, (long long)d.dp);
    sp_scope(r, "mesh");
    sp_put_text(r, SP_Q_FIT_BEST_STRATEGY, "%s", sp_strategy_names[kind]);
    sp_put_strategy(f, &s);
    sp_put(r, SP_Q_FIT_RATIO_REAL, real.exists ? real.comms_over_math : NAN);
    sp_put_reason(f, &s);
    sp_put_way_out(f, &s, false);
    const struct sp_strategy best = sp_fit_best(&f->in, &f->t, ~0u);
    sp_put(r, SP_Q_FIT_MESH_OVER_BEST, s.step_with_bubble_s / best.step_with_bubble_s);
    sp_line(r, " ");
    sp_line(r,
            "mesh       %s by the rule: DP {mesh.dp} x FSDP {mesh.fsdp} x TP {mesh.tp} x PP "
            "{mesh.pp}; {mesh.reason}",
            sp_strategy_titles[kind]);
    sp_line(r,
            "           fits: {mesh.fits} ({mesh.memory_bytes} of {capacity_bytes} a chip); "
            "compute-bound: {mesh.compute_bound} (comms/math {mesh.comms_over_math}); ideal step "
            "{mesh.step_s}");
    sp_line(r,
            "           on the machine's real axes: comms/math {mesh.real_axes_comms_over_math}");
    sp_line(r, "           {mesh.step_over_best} times the ideal step of the best plan");
    sp_line(r, "           {mesh.way_out}");
    sp_scope(r, "");
    return true;
}

/* batch: what follows from the bandwidth of one network. */
#include <math.h>

#include <scaleplan/fit.h>

#include "commands/batch.h"

void sp_put_batch_level(const struct batch *f, const char *level, double W, const char *what)
{
    struct sp_report *r = f->report;
    char key[64];
    const double critical = sp_critical_tokens_per_chip(f->C_wire, W, f->r),
                 tp_max = sp_max_tp_degree(f->C_wire, W, f->F);
    const double d_ff = sp_min_d_ff_for_tp(f->tp, f->C_wire, W);
    const bool both = f->hw.network.kind == SP_SWITCHED && f->tp > (double)f->hw.network.domain;
    const struct {
        const char *prefix;
        double value;
        enum sp_quantity_id id;
        bool wanted;
    } rows[] = {
        {"alpha", f->C / W, SP_Q_BATCH_ALPHA_LEVEL, true},
        {"critical.dp", critical, SP_Q_BATCH_CRITICAL_LEVEL, true},
        {"critical.fsdp", critical, SP_Q_BATCH_CRITICAL_LEVEL, true},
        {"batch_needed", f->N * critical, SP_Q_BATCH_TOTAL_LEVEL, true},
        {"chips_fed", f->B / critical, SP_Q_BATCH_FED_LEVEL, f->has_batch},
        {"slices_fed", f->B / critical / f->slice, SP_Q_BATCH_SLICES_FED_LEVEL,
         f->has_batch && f->slice > 1},
        {"pods_fed", f->B / critical / f->pod, SP_Q_BATCH_PODS_FED_LEVEL, f->has_batch},
        {"compute_bound", f->B / f->N >= critical, SP_Q_BATCH_BOUND_LEVEL, f->has_batch},
        {"tp_limit", tp_max, SP_Q_BATCH_TP_LEVEL, !isnan(f->F)},
        {"d_ff_min", d_ff, SP_Q_BATCH_DFF_LEVEL, !isnan(f->tp)},
        {"tp_hides", both ? NAN : f->tp <= tp_max, SP_Q_BATCH_TP_OK_LEVEL,
         !isnan(f->tp) && !isnan(f->F)},
    };
    sp_scope(r, "");
    sp_symbol(r, "W", W, "bytes/s", "%s", what);
    sp_symbol(r, "slice", f->slice, "chips", "chips of a slice of --hw");
    sp_symbol(r, "pod", f->pod, "chips", "chips of a whole pod, or of a node");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!rows[i].wanted)
            continue;
        snprintf(key, sizeof key, "%s.%s", rows[i].prefix, level);
        sp_put_keyed(r, rows[i].id, key, rows[i].value);
    }
    sp_line(r,
            "%-12s {critical.dp.%s} tokens a chip (alpha {alpha.%s}), {batch_needed.%s} for "
            "{chips} chips%s%s%s%s%s%s",
            what, level, level, level, f->has_batch ? "; this batch feeds {chips_fed." : "",
            f->has_batch ? level : "", f->has_batch ? "} chips" : "",
            isnan(f->F) ? "" : "; TP up to {tp_limit.", isnan(f->F) ? "" : level,
            isnan(f->F) ? "" : "}");
    if (!isnan(f->tp) && f->hw.network.kind == SP_TORUS)
        sp_line(r, "%-12s TP %.0f needs an MLP width of {d_ff_min.%s}%s%s%s", "", f->tp, level,
                isnan(f->F) ? "" : ": hidden at this one: {tp_hides.", isnan(f->F) ? "" : level,
                isnan(f->F) ? "" : "}");
}

/* Bars of a report: the parts of a model, and a machine's needs. */
#include "pictures/parts.h"

#include <math.h>
#include <stdio.h>

#include "pictures/pictures.h"
#include "pictures/report_data.h"

/* The numbers of some keys as parts that add up; those that are 0 are left out. */
static void draw_sum(struct sp_figure *figure, const struct sp_report *r, const char *title,
                     const char *unit, const char *const *keys, const char *sum)
{
    struct sp_part parts[8];
    size_t n = 0;
    for (const char *const *key = keys; *key; key++) {
        const struct sp_entry *const entry = sp_find(r, *key);
        if (!(sp_entry_number(entry) > 0))
            continue;
        parts[n].value = entry->number;
        snprintf(parts[n].label, sizeof parts->label, "%s", entry->info->label);
        snprintf(parts[n].note, sizeof parts->note, "%s",
                 sp_human_text(entry->number, entry->info->unit));
        n++;
    }
    const struct sp_entry *const total = sp_find(r, sum);
    if (!total || n == 0)
        return;
    struct sp_waterfall w = {.title = "",
                             .label = title,
                             .unit = unit,
                             .parts = parts,
                             .n_parts = n,
                             .low = NAN,
                             .high = NAN,
                             .mark = NAN};
    w.sum.value = total->number;
    snprintf(w.sum.label, sizeof w.sum.label, "together");
    snprintf(w.sum.note, sizeof w.sum.note, "%s", sp_human_text(total->number, total->info->unit));
    sp_draw_waterfall(figure, &w);
}

struct sp_figure *sp_draw_flops(const struct sp_report *r)
{
    static const char *const weights[] = {
        "params.embedding", "params.attention", "params.mlp", "params.experts",
        "params.router",    "params.norm",      NULL};
    static const char *const work[] = {"forward.mlp_flops",       "forward.projection_flops",
                                       "forward.attention_flops", "forward.unembedding_flops",
                                       "forward.embedding_flops", NULL};
    struct sp_figure *const figure =
        sp_figure_new("What %.60s consists of", sp_find(r, "model")->text);
    draw_sum(figure, r, "parameters", "", weights, "params.total");
    draw_sum(figure, r, "forward pass of a token", "FLOPs", work, "forward_flops_per_token");
    return figure;
}

/* A number of a row of `need` with its unit. */
static void say(const struct sp_report *r, size_t i, const char *key, char *out, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "need.%zu.%s", i, key);
    const struct sp_entry *const entry = sp_find(r, path);
    snprintf(out, size, "%s", entry ? sp_human_text(entry->number, entry->info->unit) : "");
}

struct sp_figure *sp_draw_need(const struct sp_report *r, struct sp_error *error)
{
    struct sp_figure *const figure =
        sp_figure_new("Goal %.60s on %.40s: how far each figure alone is from it",
                      sp_find(r, "goal")->text, sp_find(r, "hw")->text);
    struct sp_plot_axis x = sp_make_axis("needed over present value", "times", true);
    struct sp_panel *const panel = sp_add_panel(figure, x, sp_make_axis("", "", false), "");
    struct sp_series *const bars = sp_add_series(panel, SP_BOXES, SP_BLUE, "%s", "");
    const char *path;
    size_t n = 0;
    for (size_t i = 0; *(path = sp_rows_text(r, "need", i, "path")); i++) {
        const double factor = sp_rows_number(r, "need", i, "factor"), y = -(double)n;
        char needed[48];
        if (!(factor > 0))
            continue;
        say(r, i, "needed", needed, sizeof needed);
        sp_add_box(bars, fmin(factor, 1), fmax(factor, 1), y - 0.36, y + 0.36);
        sp_add_label(panel, fmax(factor, 1), y, SP_LEFT, "%s", needed);
        sp_add_tick(&panel->y, y, "%s", path);
        n++;
    }
    panel->y.floating = true;
    panel->y.min = 0.5 - (double)n;
    panel->y.max = 1;
    panel->above = 0.5 / ((double)n + 0.5);
    panel->height_px = 17 + 34 * (double)n;
    panel->rows = 2 * (int)n + 2;
    sp_add_rule(panel, true, 1, SP_BLACK, "as it is");
    if (n > 0)
        return figure;
    sp_figure_free(figure);
    sp_fail(error, SP_INPUT, "--plot: no value of one figure alone is enough");
    return NULL;
}

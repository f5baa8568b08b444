/* Memory of a device as stacked bars: the plan that was asked for among its neighbours. */
#include "commands/memory.h"
#include "commands/plot_data.h"

#include <stdio.h>
#include <string.h>

static const char *const part_names[] = {"weights", "gradients", "optimizer", "activations"};
enum { PARTS = 4, MOST = 8 };

/* Returns the total. */
static double fill_bar(const struct memory *f, struct sp_bar *bar)
{
    const struct device_memory m = sp_memory_of_device(f);
    bar->parts[0] = m.states.params;
    bar->parts[1] = m.states.grads;
    bar->parts[2] = m.states.optimizer;
    bar->parts[3] = m.activations;
    snprintf(bar->note, sizeof bar->note, "%s", sp_human_text(m.total, SP_BYTES));
    return m.total;
}

/* A bar for each ZeRO stage; one that is as long as the one before says so. */
static size_t vary_zero(struct memory f, struct sp_bar *bars)
{
    const int asked = f.spread.zero;
    double before = -1;
    for (int i = 0; i < 4; i++) {
        f.spread.zero = i;
        snprintf(bars[i].label, sizeof bars[i].label, "ZeRO %d%s", i,
                 i == asked ? " (this plan)" : "");
        const double total = fill_bar(&f, &bars[i]);
        const size_t used = strlen(bars[i].note);
        if (total == before)
            snprintf(bars[i].note + used, sizeof bars[i].note - used, ", as ZeRO %d", i - 1);
        before = total;
    }
    return 4;
}

/* A bar for each policy of recomputation. */
static size_t vary_remat(struct memory f, struct sp_bar *bars)
{
    const enum sp_remat asked = f.remat;
    size_t n = 0;
    for (; sp_remat_names[n]; n++) {
        f.remat = (enum sp_remat)n;
        snprintf(bars[n].label, sizeof bars[n].label, "recompute %.32s%s", sp_remat_names[n],
                 f.remat == asked ? " (this plan)" : "");
        fill_bar(&f, &bars[n]);
    }
    return n;
}

/* What the plan may choose: how replicas share the states, else what is recomputed. */
static size_t draw_choices(const struct memory *f, struct sp_bar *bars)
{
    const bool shaped = sp_model_has_shape(&f->model);
    if (f->spread.dp > 1)
        return vary_zero(*f, bars);
    if (shaped && f->args->value.rule == 0 && !f->args->given.checkpoints)
        return vary_remat(*f, bars);
    snprintf(bars[0].label, sizeof bars[0].label, "a device");
    fill_bar(f, &bars[0]);
    return 1;
}

struct sp_figure *sp_plot_memory(const struct sp_args *args, const struct sp_report *report,
                                 struct sp_error *error)
{
    struct memory f = {0};
    struct sp_bar bars[MOST] = {0};
    char limit[64], title[SP_PLOT_TEXT] = "";
    (void)report;
    if (!sp_read_memory(args, &f, error))
        return NULL;
    const size_t n = draw_choices(&f, bars);
    const double capacity = f.has_hw ? sp_capacity_bytes(&f.hw.chip) : NAN;
    snprintf(limit, sizeof limit, "capacity %s", sp_human_text(capacity, SP_BYTES));
    struct sp_figure *const figure = sp_figure_new(
        "Memory of a device: %.40s on %s device%s, %.40s", f.model.name,
        sp_human_text(f.devices, SP_COUNT), f.devices > 1 ? "s" : "", f.precision.name);
    if (f.spread.dp > 1 && sp_memory_of_device(&f).states.grads == 0)
        snprintf(title, sizeof title,
                 "%.40s keeps no gradients, so ZeRO 2 has nothing more to shard than ZeRO 1 "
                 "(mixed16 has them)",
                 f.precision.name);
    sp_draw_bars(figure, &(struct sp_bars){.title = title,
                                           .label = "memory of a device",
                                           .unit = "B",
                                           .names = part_names,
                                           .n_parts = PARTS,
                                           .bars = bars,
                                           .n_bars = n,
                                           .limit = capacity,
                                           .limit_text = limit});
    return figure;
}

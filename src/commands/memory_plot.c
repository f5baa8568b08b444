/* Memory of a device as stacked bars: the plan that was asked for among its neighbours. */
#include "commands/plot_data.h"

extern const struct sp_command sp_cmd_memory;

static const char *const part_names[] = {"weights", "gradients", "optimizer", "activations"};
static const char *const part_keys[] = {"params", "grads", "optimizer", "activations"};
enum { PARTS = 4, MOST = 8 };

static void read_bar(const struct sp_report *r, struct sp_bar *bar)
{
    for (size_t k = 0; k < PARTS; k++)
        bar->parts[k] = sp_report_number(r, "memory.%s_bytes", part_keys[k]);
    snprintf(bar->note, sizeof bar->note, "%s",
             sp_human_text(sp_report_number(r, "memory.total_bytes"), SP_BYTES));
}

/* One option with other values, each run as the command itself runs it. */
struct variation {
    const char *option, *format;
    const char *const *names; /* NULL: the numbers themselves */
    int n, asked;
};

static struct variation choose_variation(const struct sp_args *args, const struct sp_report *r)
{
    const double zero = sp_number_of(args, "zero"), fsdp = sp_number_of(args, "fsdp");
    const bool replicas = sp_number_of(args, "dp") > 1 || fsdp > 1;
    const bool shaped = !isnan(sp_report_number(r, "memory.activations_bytes"));
    if (replicas)
        return (struct variation){"zero", "ZeRO %s", NULL, 4,
                                  !isnan(zero)  ? (int)zero
                                  : isnan(fsdp) ? 0
                                                : 3};
    if (shaped && sp_choice_of(args, "rule") == 0 && !sp_given(args, "checkpoints"))
        return (struct variation){"remat", "recompute %s", sp_remat_names, 5,
                                  sp_choice_of(args, "remat")};
    return (struct variation){NULL, "%s", NULL, 1, 0};
}

static bool read_variation(const struct sp_args *args, const struct variation *v, int i,
                           struct sp_bar *bar, struct sp_error *error)
{
    static struct sp_args changed;
    char number[16], name[48];
    changed = *args;
    sp_give_number(&changed, v->option, i);
    struct sp_report *const other = sp_report_new(sp_cmd_memory.name);
    const bool ok = sp_cmd_memory.run(&changed, other, error);
    snprintf(number, sizeof number, "%d", i);
    snprintf(name, sizeof name, "%.32s%s", v->names ? v->names[i] : number,
             i == v->asked ? " (this plan)" : "");
    if (v->names)
        snprintf(bar->label, sizeof bar->label, "recompute %s", name);
    else
        snprintf(bar->label, sizeof bar->label, "ZeRO %s", name);
    if (ok)
        read_bar(other, bar);
    sp_report_free(other);
    return ok;
}

SP_PLOT_OF(memory)
{
    const struct variation v = choose_variation(args, report);
    struct sp_bar bars[MOST] = {0};
    char limit[64];
    const double capacity = sp_report_number(report, "capacity_bytes");
    if (!v.option) {
        snprintf(bars[0].label, sizeof bars[0].label, "a device");
        read_bar(report, &bars[0]);
    }
    for (int i = 0; v.option && i < v.n; i++)
        if (!read_variation(args, &v, i, &bars[i], error))
            return NULL;
    snprintf(limit, sizeof limit, "capacity %s", sp_human_text(capacity, SP_BYTES));
    struct sp_figure *const figure = sp_figure_new(
        "Memory of a device: %.40s on %s device%s, %.40s", sp_report_text(report, "model"),
        sp_human_text(sp_report_number(report, "devices"), SP_COUNT),
        sp_report_number(report, "devices") > 1 ? "s" : "", sp_report_text(report, "precision"));
    sp_draw_bars(figure, &(struct sp_bars){.title = "",
                                           .label = "memory of a device",
                                           .unit = "B",
                                           .names = part_names,
                                           .n_parts = PARTS,
                                           .bars = bars,
                                           .n_bars = (size_t)v.n,
                                           .limit = capacity,
                                           .limit_text = limit});
    return figure;
}

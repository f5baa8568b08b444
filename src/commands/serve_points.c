/* serve: the instances of other sizes that a machine, or its network, offers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/words.h"
#include "commands/serve.h"

static void add_number(struct sp_words *words, const char *option, double value)
{
    sp_add_word(words, "%s", option);
    sp_add_word(words, "%.17g", value);
}

static void put_command(const struct serve *f, const struct sp_serve_point *point)
{
    const bool any_size = sp_chips(&f->hw) == 1;
    static const enum sp_option_id dropped[] = {
        SP_O_hw,    SP_O_top,  SP_O_objective,   SP_O_format, SP_O_get,    SP_O_explain,
        SP_O_check, SP_O_plot, SP_O_concurrency, SP_O_front,  SP_NO_OPTION};
    struct sp_words words = {0};
    const char *const hw = f->args->value.hw;
    sp_add_word(&words, "serve");
    sp_add_all(&words, f->args, dropped);
    sp_add_word(&words, "--hw");
    if (any_size && point->chips > 1)
        sp_add_word(&words, "%s-%.0f", hw, point->chips);
    else
        sp_add_word(&words, "%s", hw);
    if (point->replicas > 1 && point->tp == 0)
        add_number(&words, "--replicas", point->replicas);
    if (point->tp > 0)
        add_number(&words, "--tp", point->tp);
    if (point->attention_dp > 1)
        add_number(&words, "--attention-dp", point->attention_dp);
    if (!(f->load.rate > 0))
        add_number(&words, "--concurrency", point->sequences * point->replicas);
    char *const line = sp_shell_line(&words);
    sp_put_text(f->report, SP_Q_SERVE_POINT_COMMAND, "scaleplan %s", line);
    free(line);
    sp_free_words(&words);
}

/* Whether points are the estimate's. */
static bool is_estimated(const struct serve *f)
{
    return f->load.profile && isnan(f->load.step_s);
}

void sp_put_serve_point(const struct serve *f, const struct sp_serve_point *point, double usd)
{
    struct sp_report *const r = f->report;
    sp_put(r, SP_Q_SERVE_POINT_CHIPS, point->chips);
    sp_put(r, SP_Q_SERVE_POINT_REPLICAS, point->replicas);
    if (point->tp > 0)
        sp_put(r, SP_Q_SERVE_POINT_TP, point->tp);
    else
        sp_put_null(r, SP_Q_SERVE_POINT_TP);
    sp_put(r, SP_Q_SERVE_POINT_DP, point->attention_dp);
    sp_put(r, SP_Q_SERVE_POINT_BATCH, point->sequences);
    sp_put(r, SP_Q_SERVE_POINT_TPOT, point->steady.tpot_s);
    sp_put(r, is_estimated(f) ? SP_Q_SERVE_POINT_TTFT_SAID : SP_Q_SERVE_POINT_TTFT,
           point->steady.ttft_s);
    sp_put(r, SP_Q_SERVE_POINT_USER, 1 / point->steady.tpot_s);
    sp_put(r, is_estimated(f) ? SP_Q_SERVE_POINT_DEVICE_SAID : SP_Q_SERVE_POINT_DEVICE,
           point->tokens_per_s_per_chip);
    sp_put(r, SP_Q_SERVE_POINT_USD, usd);
    put_command(f, point);
}

double sp_usd_of_point(const struct serve *f, const struct sp_serve_point *p)
{
    const double chip_s =
        p->chips / p->steady.requests_per_s / (f->service.input + f->service.output);
    return sp_usd_per_mtoken(chip_s, f->price.usd_per_h);
}

int sp_find_serve_points(const struct serve *f, struct sp_serve_point points[SP_SERVE_POINTS])
{
    const double machine = (double)sp_chips(&f->hw);
    const bool known = f->served.kv_held > 0 || f->args->given.concurrency;
    if (!known)
        return 0;
    if (f->args->given.front)
        return sp_serve_front(&f->service, &f->load, machine, !f->textbook, points);
    return sp_serve_points(&f->service, &f->load, machine, !f->textbook,
                           (enum sp_serve_objective)f->args->value.objective, points);
}

void sp_put_serve_points(struct serve *f)
{
    const struct sp_column columns[] = {
        {"chips", "chips", false},
        {"replicas", "instances", false},
        {"tp", "TP", false},
        {"attention_dp", "attention DP", false},
        {"batch", "sequences", false},
        {"tpot_s", "between tokens", false},
        {is_estimated(f) ? "ttft_s" : "ideal.ttft_s", "first token", false},
        {"tokens_per_s_per_user", "a user", false},
        {"tokens_per_s_per_device", "a chip", false}};
    struct sp_serve_point points[SP_SERVE_POINTS];
    struct sp_row rows[SP_SERVE_POINTS] = {0};
    const int n = sp_find_serve_points(f, points), top = (int)f->args->value.top;
    const bool front = f->args->given.front;
    const int shown = n < top ? n : top;
    for (int i = 0; i < shown; i++) {
        /* of a front points from end to end */
        const int at = front && shown > 1 ? i * (n - 1) / (shown - 1) : i;
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "points.%d", i);
        sp_scope(f->report, rows[i].prefix);
        sp_put_serve_point(f, &points[at], sp_usd_of_point(f, &points[at]));
    }
    sp_scope(f->report, "");
    if (shown == 0)
        return;
    sp_line(f->report, " ");
    sp_table(f->report, columns, sizeof columns / sizeof *columns, rows, (size_t)shown);
    if (front)
        sp_line(f->report, "%d of %d points that no other beats in both rates (--top)", shown, n);
}

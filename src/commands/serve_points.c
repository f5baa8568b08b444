/* serve: the instances of other sizes that a machine, or its network, offers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/words.h"
#include "commands/serve.h"

static void put_command(const struct serve *f, const struct sp_serve_point *point, bool any_size)
{
    static const char *const dropped[] = {"hw",      "top",   "objective",   "format", "get",
                                          "explain", "check", "concurrency", NULL};
    struct sp_words words = {0};
    const char *const hw = sp_text_of(f->args, "hw");
    sp_add_word(&words, "serve");
    sp_add_all(&words, f->args, dropped);
    sp_add_word(&words, "--hw");
    if (any_size && point->chips > 1)
        sp_add_word(&words, "%s-%.0f", hw, point->chips);
    else
        sp_add_word(&words, "%s", hw);
    if (point->replicas > 1)
        sp_add_word(&words, "--replicas"), sp_add_word(&words, "%.0f", point->replicas);
    sp_add_word(&words, "--concurrency");
    sp_add_word(&words, "%.17g", point->sequences * point->replicas);
    char *const line = sp_shell_line(&words);
    sp_put_text(f->report, SP_Q_SERVE_POINT_COMMAND, "scaleplan %s", line);
    free(line);
    sp_free_words(&words);
}

static void put_point(const struct serve *f, const struct sp_serve_point *point, bool any_size)
{
    struct sp_report *const r = f->report;
    sp_put(r, SP_Q_SERVE_POINT_CHIPS, point->chips);
    sp_put(r, SP_Q_SERVE_POINT_REPLICAS, point->replicas);
    sp_put(r, SP_Q_SERVE_POINT_BATCH, point->sequences);
    sp_put(r, SP_Q_SERVE_POINT_TPOT, point->steady.tpot_s);
    sp_put(r, SP_Q_SERVE_POINT_TTFT, point->steady.ttft_s);
    sp_put(r, SP_Q_SERVE_POINT_USER, 1 / point->steady.tpot_s);
    sp_put(r, SP_Q_SERVE_POINT_DEVICE, point->tokens_per_s_per_chip);
    put_command(f, point, any_size);
}

void sp_put_serve_points(struct serve *f)
{
    static const struct sp_column columns[] = {{"chips", "chips", false},
                                               {"replicas", "instances", false},
                                               {"batch", "sequences", false},
                                               {"tpot_s", "between tokens", false},
                                               {"ideal.ttft_s", "first token", false},
                                               {"tokens_per_s_per_user", "a user", false},
                                               {"tokens_per_s_per_device", "a chip", false}};
    struct sp_serve_point points[SP_SERVE_POINTS];
    struct sp_row rows[SP_SERVE_POINTS] = {0};
    const double machine = (double)sp_chips(&f->hw);
    const bool known = f->served.kv_held > 0 || sp_given(f->args, "concurrency");
    const int n =
        known && !sp_given(f->args, "rate")
            ? sp_serve_points(&f->service, &f->load, machine,
                              (enum sp_serve_objective)sp_choice_of(f->args, "objective"), points)
            : 0;
    const int top = (int)sp_number_of(f->args, "top"), shown = n < top ? n : top;
    for (int i = 0; i < shown; i++) {
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "points.%d", i);
        sp_scope(f->report, rows[i].prefix);
        put_point(f, &points[i], machine == 1);
    }
    sp_scope(f->report, "");
    if (shown == 0)
        return;
    sp_line(f->report, " ");
    sp_table(f->report, columns, sizeof columns / sizeof *columns, rows, (size_t)shown);
}

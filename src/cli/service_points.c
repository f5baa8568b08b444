/* One instance of a machine in the answer of `serve`, with its command line. */
#include <stdlib.h>

#include "cli/words.h"
#include "cli/service.h"

struct shown_point {
    const struct sp_serve_point *of;
    double tp; /* NAN: spread evenly */
    double at_once;
    double chip_s, usd_per_h;
    bool said; /* by the estimate */
    const char *command;
};
#define SP_PART serve_point
#define SP_PART_OF struct shown_point
#include "answer/put_rows.h"

static void add_number(struct sp_words *words, const char *option, double value)
{
    sp_add_word(words, "%s", option);
    sp_add_word(words, "%.17g", value);
}

/* The command line of an instance; free() it. */
static char *command_of(const struct serve *f, const struct sp_serve_point *point)
{
    const bool any_size = sp_chips(&f->hw) == 1;
    static const enum sp_option_id dropped[] = {
        SP_O_hw,    SP_O_top,  SP_O_objective,  SP_O_format,      SP_O_get,   SP_O_explain,
        SP_O_check, SP_O_plot, SP_O_plot_width, SP_O_concurrency, SP_O_front, SP_NO_OPTION};
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
        add_number(&words, "--concurrency",
                   sp_total_of_instances(point->sequences, point->replicas));
    char *const line = sp_shell_line(&words);
    sp_free_words(&words);
    return line;
}

void sp_put_serve_point(const struct serve *f, const struct sp_serve_point *point)
{
    char *const command = command_of(f, point);
    put_serve_point_rows(
        f->report, &(struct shown_point){.of = point,
                                         .tp = point->tp > 0 ? point->tp : NAN,
                                         .at_once = sp_at_once(&f->service, point->sequences),
                                         .chip_s = sp_chip_seconds_of_token(point, f->service.input,
                                                                            f->service.output),
                                         .usd_per_h = f->price.usd_per_h,
                                         .said = f->load.profile && isnan(f->load.step_s),
                                         .command = command});
    free(command);
}

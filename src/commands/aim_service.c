/* Goals of serving: what `serve` says of a machine. */
#include <math.h>

#include "commands/aim.h"

bool sp_is_served(const struct sp_aim *aim)
{
    return aim->kind >= SP_AIM_TPOT;
}

/* The arguments of a line of `serve` that has what these give of its options. */
static bool take_words(const struct sp_args *args, struct sp_args *service, struct sp_error *error)
{
    char *words[] = {"serve", NULL};
    size_t n = 0;
    const struct sp_command *const serve = sp_find_command(words[0], error);
    const struct sp_option *const options = serve ? sp_options_of(serve, &n) : NULL;
    if (!options || !sp_parse_args(1, words, options, n, false, service, error))
        return false;
    for (size_t i = 0; i < n; i++) {
        const char *const name = options[i].name;
        if (sp_takes(args, name) && sp_given(args, name) && options[i].kind != SP_MANY &&
            options[i].kind != SP_FLAG && options[i].kind != SP_MAYBE &&
            !sp_take_text(service, name, sp_text_of(args, name), error))
            return false;
    }
    for (int i = 0; i < args->n_many; i++)
        service->many[service->n_many++] = args->many[i];
    service->pipes = args->pipes;
    return true;
}

bool sp_take_service(struct sp_aim *aim, struct sp_error *error)
{
    if (!take_words(aim->args, &aim->service, error))
        return false;
    const struct sp_sources sources = sp_sources_of(&aim->service);
    struct sp_report *const notes = sp_report_new("serve");
    struct serve *const f = &aim->serve;
    *f = (struct serve){.args = &aim->service, .report = notes, .textbook = sources.textbook};
    const bool loaded = sp_load_service(f, &sources, error) && sp_load_sequences(f, error);
    f->report = NULL;
    sp_report_free(notes);
    return loaded;
}

/* The goal's value of a service. */
static double value_of(const struct sp_aim *aim, const struct serve *f)
{
    const struct sp_steady y = sp_state_of_service(f);
    return aim->kind == SP_AIM_TPOT   ? y.tpot_s
           : aim->kind == SP_AIM_TTFT ? y.ttft_s
                                      : f->replicas * y.tokens_per_s;
}

double sp_value_of_service(const struct sp_aim *aim, const struct sp_hardware *hw)
{
    const struct sp_sources sources = sp_sources_of(&aim->service);
    struct sp_error error = {0};
    struct serve f = aim->serve;
    double value = NAN;
    f.hw = *hw;
    f.report = sp_report_new("serve");
    if (sp_settle_service(&f, &sources, &error) && sp_load_sequences(&f, &error))
        value = f.holds_weights ? value_of(aim, &f) : aim->kind == SP_AIM_SERVED ? 0 : INFINITY;
    sp_report_free(f.report);
    return value;
}

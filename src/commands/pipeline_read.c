/* pipeline: what is asked. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/number.h"
#include "commands/pipeline.h"

static bool read_scale(const char *text, struct pipe *f, struct sp_error *error)
{
    int64_t n = 0;
    for (int64_t s = 0; s < f->q.stages; s++)
        f->scale[s] = (struct sp_stage_scale){1, 1, 1};
    char word[48];
    while (text && *text && sp_next_item(&text, word, sizeof word)) {
        double value;
        if (!sp_parse_number(word, &value) || value > 1e6 || n >= f->q.stages)
            return sp_fail(error, SP_INPUT,
                           "--scale: expected %lld numbers up to 10^6, one a stage",
                           (long long)f->q.stages);
        f->scale[n++] = (struct sp_stage_scale){value, value, value};
    }
    if (n > 0 && n != f->q.stages)
        return sp_fail(error, SP_INPUT, "--scale: %lld numbers for %lld stages", (long long)n,
                       (long long)f->q.stages);
    return true;
}

bool sp_read_pipeline(const struct sp_args *args, struct pipe *f, struct sp_error *error)
{
    struct sp_pipeline *q = &f->q;
    const double stages = args->value.stages, m = args->value.microbatches;
    const double backward = args->value.backward, weight = args->value.weight_grad;
    const int schedule = args->value.schedule;
    if (isnan(stages))
        return sp_fail(error, SP_USAGE, "--stages P is needed");
    q->stages = (int64_t)stages;
    q->microbatches = isnan(m) ? q->stages : (int64_t)m;
    q->chunks = (int64_t)args->value.chunks;
    q->schedule = schedule >= 0 ? (enum sp_schedule)schedule : sp_usual_schedule(q->chunks);
    q->forward_s = args->value.forward;
    q->backward_s = isnan(backward) ? 2 * q->forward_s : backward;
    q->weight_grad_s = isnan(weight) ? q->backward_s / 2 : weight;
    f->send_s = args->value.send;
    if (q->weight_grad_s > q->backward_s)
        return sp_fail(error, SP_INPUT, "--weight-grad is longer than the whole backward pass");
    if (q->chunks > 1 && !sp_schedules[q->schedule].chunked)
        return sp_fail(error, SP_INPUT,
                       "--chunks: only interleaved and circular schedules have chunks");
    return read_scale(args->value.scale, f, error);
}

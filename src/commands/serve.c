/* serve: a model that answers requests: what fits, how fast at least, what binds, what it costs. */
#include <string.h>

#include "commands/plot_data.h"
#include "commands/serve.h"

static const char *const attentions[] = {"none", "causal", NULL};
static const char *const percentiles[] = {"50", "99", NULL};
static const char *const loaded[] = {"all", "touched", NULL};

static const struct sp_taken options[] = {
    SP_OPTIONS_SIZED_MODEL,
    SP_TAKE(kv_per_token),
    SP_TAKE(hw),
    SP_OPTION_NETWORK,
    SP_TAKE(input, .fallback = "1024"),
    SP_TAKE(output, .fallback = "1024"),
    SP_TAKE(context),
    SP_TAKE(concurrency),
    SP_TAKE(rate),
    SP_TAKE(tp),
    SP_TAKE(pp),
    SP_TAKE(attention_dp),
    SP_TAKE(ep),
    SP_TAKE(etp),
    SP_TAKE(replicas),
    SP_TAKE(weights, .fallback = "bf16"),
    SP_TAKE(expert_weights, .alias = "experts"),
    SP_TAKE(kv),
    SP_TAKE(engine),
    SP_TAKE(compute, .fallback = "bf16"),
    SP_TAKE(prefix_hit, .fallback = "0"),
    SP_TAKE(chunk),
    SP_TAKE(block),
    SP_TAKE(memory_fraction),
    SP_TAKE(mfu, .fallback = "1"),
    SP_TAKE(attention, .choices = attentions),
    SP_TAKE(experts_loaded, .choices = loaded),
    SP_TAKE(step_time),
    SP_TAKE(profile),
    SP_TAKE(tpot),
    SP_TAKE(ttft),
    SP_TAKE(percentile, .fallback = "50", .choices = percentiles),
    SP_TAKE(objective, .fallback = "throughput", .choices = sp_serve_objectives),
    SP_TAKE(front, .alias = "pareto"),
    SP_TAKE(top, .fallback = "10"),
    SP_TAKE(disaggregate),
    SP_TAKE(draft_tokens),
    SP_TAKE(acceptance),
    SP_TAKE(accepted),
    SP_TAKE(draft_model),
    SP_TAKE(check),
    SP_OPTIONS_PRICE,
    SP_OPTION_PLOT,
    SP_TAKE(watts),
    SP_TAKE(pue, .fallback = "1"),
};

static const struct sp_example examples[] = {
    {"scaleplan serve --model llama3-70b --hw h100-8 --input 2048 --output 512",
     "what fits, and how fast at least"},
    {"scaleplan serve --model llama3-70b --hw h100-8 --weights fp8 --kv fp8 --tpot 20ms",
     "the most sequences whose tokens come every 20 ms"},
    {"scaleplan serve --model llama3-70b --hw h200-8 --weights fp8 --engine trtllm --rate 6 "
     "--ttft 1s "
     "--tpot 30ms --percentile 99 --check slo",
     "whether 6 requests a second are answered in time"},
    {"scaleplan serve --model gpt-oss-120b --expert-weights mxfp4 --hw h200-8,b200-8 --tpot 20ms "
     "--objective cost",
     "machines compared by what a million tokens cost"},
    {"scaleplan serve --model llama2-13b --hw v5e-8 --concurrency 8 --context 8192 --constants "
     "textbook",
     "a row of the textbook's table"},
    {"scaleplan serve --params 405G --weights int8 --hw v5e --concurrency 1 --tpot 15ms --get "
     "min_slice_chips,points.0.chips",
     "the smallest machine that holds the weights, and the smallest in time"},
    {"scaleplan serve --model llama3-70b --hw v5e-32 --weights int8 --disaggregate auto --get "
     "disaggregated.ratio",
     "instances that read prompts for one that generates"},
    {"scaleplan serve --model deepseek-v3 --hw h200-32 --weights fp8 --compute fp8 --pareto",
     "the front of degrees and batches"},
    {NULL, NULL},
};

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    if (args->value.hw && strchr(args->value.hw, ','))
        return sp_compare_serving(args, report, error);
    struct serve f = {.args = args, .report = report, .textbook = sources.textbook};
    if (!sp_load_service(&f, &sources, error) || !sp_load_sequences(&f, error))
        return false;
    sp_put_service(&f);
    if (f.holds_weights && f.service.drafts > 0)
        sp_put_speculation(&f);
    if (f.holds_weights && args->given.disaggregate)
        sp_put_pools(&f);
    if (!f.degrees.given)
        sp_put_serve_points(&f);
    return true;
}

const struct sp_command sp_cmd_serve = {
    .name = "serve",
    .summary = "a model that answers requests: what fits, how fast at least, what it costs",
    .about =
        "Whether a model and the cache of its requests fit on a machine, how many requests run at "
        "once, how long a prompt and a token take at least (closed forms: no engine is faster) and "
        "on a measured chip and engine (an estimate, with the range that holds 80 % of measured "
        "runs), what binds, and what a million tokens cost. Without degrees also the instances of "
        "other sizes.",
    SP_OPTIONS(options),
    .examples = examples,
    .fits_key = "fits",
    .compute_bound_key = "slo.met",
    .bound_word = "slo",
    .run = run,
    .plot = sp_plot_serve,
};

/* serve: a model that answers requests: what fits, how fast at least, what binds, what it costs. */
#include <string.h>

#include "commands/plot_data.h"
#include "commands/serve.h"

static const char *const attentions[] = {"none", "causal", NULL};
static const char *const percentiles[] = {"50", "99", NULL};
static const char *const loaded[] = {"all", "touched", NULL};

static const struct sp_option options[] = {
    SP_OPTIONS_SIZED_MODEL,
    {"kv-per-token", "BYTES", SP_REAL, 0, 1e12, NULL, NULL,
     "keys and values of a token, for a model known by its size"},
    {"hw", "NAME[-CHIPS],...", SP_TEXT, 0, 0, NULL, NULL,
     "machine: v5p-4096, v5p:8x8x8, h100-512, or a JSON file; several are compared"},
    SP_OPTION_NETWORK,
    {"input", "TOKENS", SP_WHOLE, 1, 1e9, NULL, "1024", "tokens of a prompt"},
    {"output", "TOKENS", SP_WHOLE, 1, 1e9, NULL, "1024", "tokens that a request generates"},
    {"context", "TOKENS", SP_WHOLE, 1, 1e9, NULL, NULL,
     "cached tokens of a sequence (default: input + output/2 in the step, input + output held)"},
    {"concurrency", "N", SP_REAL, 1, 1e9, NULL, NULL,
     "requests in flight on the machine (default: as many as fit and keep --tpot)"},
    {"rate", "N", SP_REAL, 1e-9, 1e9, NULL, NULL, "requests per second, in place of --concurrency"},
    {"tp", "N", SP_WHOLE, 1, 1e6, NULL, NULL,
     "tensor parallelism of an instance (default: spread evenly over its chips)"},
    {"pp", "N", SP_WHOLE, 1, 1e6, NULL, NULL, "pipeline stages of an instance"},
    {"attention-dp", "N", SP_WHOLE, 1, 1e6, NULL, NULL,
     "data-parallel attention beside shared experts"},
    {"ep", "N", SP_WHOLE, 1, 1e6, NULL, NULL,
     "expert parallelism (default: tp x attention-dp / etp)"},
    {"etp", "N", SP_WHOLE, 1, 1e6, NULL, NULL, "tensor parallelism inside an expert"},
    {"replicas", "N", SP_WHOLE, 1, 1e9, NULL, NULL,
     "instances of the machine (default: what the degrees leave; one)"},
    {"weights", "FORMAT", SP_CHOICE, 0, 0, sp_storage_names, "bf16", "how weights are stored"},
    {"experts", "FORMAT", SP_CHOICE, 0, 0, sp_storage_names, NULL,
     "how routed experts are stored (default: --weights)"},
    {"kv", "FORMAT", SP_CHOICE, 0, 0, sp_storage_names, NULL,
     "how keys and values are stored (default: bf16; fp8 where the engine does so with narrow "
     "weights)"},
    {"engine", "NAME|FILE", SP_TEXT, 0, 0, NULL, NULL,
     "program that serves, whose habits count (default: vllm on GPUs, jetstream on TPUs, none with "
     "--constants textbook)"},
    {"compute", "FORMAT", SP_CHOICE, 0, 0, sp_storage_names, "bf16", "format of the matmuls"},
    {"prefix-hit", "FRACTION", SP_REAL, 0, 1, NULL, "0",
     "share of a prompt that is found in the cache"},
    {"chunk", "TOKENS", SP_WHOLE, 1, 1e9, NULL, NULL,
     "tokens of a prompt that a step of the estimate takes at most (default: the engine's)"},
    {"block", "TOKENS", SP_WHOLE, 1, 1e6, NULL, NULL,
     "tokens of a block of the cache (default: the engine's)"},
    {"memory-fraction", "FRACTION", SP_REAL, 0.01, 1, NULL, NULL,
     "share of the memory for weights and cache (default: the engine's)"},
    {"mfu", "FRACTION", SP_REAL, 0.0001, 1, NULL, "1", "share of the peak that a prefill reaches"},
    {"attention", "RULE", SP_CHOICE, 0, 0, attentions, NULL,
     "whether causal attention counts in the prefill (default: causal; none with --constants "
     "textbook)"},
    {"experts-loaded", "RULE", SP_CHOICE, 0, 0, loaded, NULL,
     "experts that a step reads: all, or those its tokens touch (default: touched; all with "
     "--constants textbook)"},
    {"step-time", "SECONDS", SP_REAL, 1e-9, 1e6, NULL, NULL,
     "measured time of a decode step, in place of the closed form's"},
    {"profile", "NAME|FILE", SP_TEXT, 0, 0, NULL, NULL,
     "constants of chip and engine for the estimate (default: the pair's, or borrowed from "
     "siblings; "
     "closed forms alone on TPUs and with --constants textbook)"},
    {"tpot", "SECONDS", SP_REAL, 1e-9, 1e6, NULL, NULL, "limit of the time between tokens"},
    {"ttft", "SECONDS", SP_REAL, 1e-9, 1e6, NULL, NULL, "limit of the time to the first token"},
    {"percentile", "P", SP_CHOICE, 0, 0, percentiles, "50",
     "of the requests that keep --ttft and --tpot: 50 or 99"},
    {"objective", "GOAL", SP_CHOICE, 0, 0, sp_serve_objectives, "throughput",
     "what instances are ordered by: throughput (tokens/s a chip), latency (between tokens), ttft, "
     "cost (chip-hours of a request)"},
    {"pareto", NULL, SP_FLAG, 0, 0, NULL, NULL,
     "list the front of all sizes, degrees and batches: tokens/s of a user against tokens/s of a "
     "chip"},
    {"top", "N", SP_WHOLE, 1, SP_SERVE_POINTS, NULL, "10", "instances of other sizes to list"},
    {"disaggregate", "auto|P:D", SP_TEXT, 0, 0, NULL, NULL,
     "prompts and answers on chips of their own: auto, or degrees such as tp4:dp8"},
    {"draft-tokens", "K", SP_WHOLE, 1, 64, NULL, NULL, "speculative decoding with K drafts a step"},
    {"acceptance", "FRACTION", SP_REAL, 0, 1, NULL, NULL, "probability that a draft is taken"},
    {"accepted", "N", SP_REAL, 1, 65, NULL, NULL,
     "tokens of a step that were measured, in place of --acceptance"},
    {"draft-model", "NAME|FILE", SP_TEXT, 0, 0, NULL, NULL,
     "model that drafts (default: drafts cost nothing)"},
    {"check", "WHAT", SP_MAYBE, 0, 0, NULL, NULL,
     "exit code 1 when the verdict is no: fits, slo (fits and keeps the limits), or both"},
    SP_OPTIONS_PRICE,
    SP_OPTION_PLOT,
    {"watts", "W", SP_REAL, 0, 1e6, NULL, NULL,
     "power of one device (default: the hardware file's)"},
    {"pue", "FACTOR", SP_REAL, 1, 10, NULL, "1", "power usage effectiveness of the building"},
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
    {"scaleplan serve --model gpt-oss-120b --experts mxfp4 --hw h200-8,b200-8 --tpot 20ms "
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
    if (sp_text_of(args, "hw") && strchr(sp_text_of(args, "hw"), ','))
        return sp_compare_serving(args, report, error);
    struct serve f = {.args = args, .report = report, .textbook = sources.textbook};
    if (!sp_load_service(&f, &sources, error) || !sp_load_sequences(&f, error))
        return false;
    sp_put_service(&f);
    if (f.holds_weights && f.service.drafts > 0)
        sp_put_speculation(&f);
    if (f.holds_weights && sp_given(args, "disaggregate"))
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

/* How layers run, as arguments of Megatron-LM: offloaded layers, the exchange of experts, CUDA
 * graphs, the scaling of 8-bit matmuls. */
#include <scaleplan/names.h>

#include "base/text.h"

#include "launch/megatron/megatron.h"

static void read_exchange(struct sp_settings *s)
{
    const char *const type = sp_setting(s, "--moe-token-dispatcher-type");
    const char *const backend = sp_setting(s, "--moe-flex-dispatcher-backend");
    const bool flexible = sp_is(type, "flex");
    const char *const usual = sp_setting(s, "--deepspeed") ? "alltoall" : "allgather";
    const char *const name = flexible ? (backend ? backend : "deepep") : type ? type : usual;
    for (int i = 0; sp_dispatch_names[i]; i++)
        if (sp_is(name, sp_dispatch_names[i]))
            sp_launch_option(s, "dispatch", "%s", name);
    if (sp_setting(s, "--overlap-moe-expert-parallel-comm"))
        sp_launch_option(s, "moe-overlap", "on");
}

/* The fusion is Megatron's own unless TransformerEngine's is asked for. */
static void read_loss(struct sp_settings *s)
{
    const char *const way = sp_setting(s, "--cross-entropy-fusion-impl");
    if (sp_setting(s, "--cross-entropy-loss-fusion"))
        sp_launch_option(s, "logits", "%s",
                         sp_logits_names[sp_is(way, "te") ? SP_LOGITS_FUSED : SP_LOGITS_NATIVE]);
}

static void make_loss(const struct sp_launched *l, struct sp_settings *made)
{
    const enum sp_logits logits = l->plan->execution.logits;
    const bool fused = logits == SP_LOGITS_FUSED;
    sp_make_switch(made, "--cross-entropy-loss-fusion", fused || logits == SP_LOGITS_NATIVE);
    if (fused)
        sp_make_setting(made, "--cross-entropy-fusion-impl", "te");
    if (logits == SP_LOGITS_CHUNKED || logits == SP_LOGITS_LINEAR)
        sp_lose(l, "how the loss holds logits (--logits)");
}

/* Without their options replicas exchange gradients and weights between steps. */
static void read_overlap(struct sp_settings *s)
{
    const bool reduces = sp_setting(s, "--overlap-grad-reduce"),
               gathers = sp_setting(s, "--overlap-param-gather"),
               shares = sp_setting(s, "--use-distributed-optimizer");
    const enum sp_dp_overlap hides = !reduces             ? SP_DP_OVERLAP_NONE
                                     : shares && !gathers ? SP_DP_OVERLAP_GRADIENTS
                                                          : SP_DP_OVERLAP_ALL;
    sp_launch_option(s, "dp-overlap", "%s", sp_dp_overlap_names[hides]);
}

void sp_read_execution(struct sp_settings *s)
{
    const bool routed = sp_setting(s, "--num-experts");
    sp_peek_setting(s, "--moe-token-dispatcher-type");
    if (routed)
        read_exchange(s);
    sp_read_plan_rows(s, false, routed ? "experts fp8" : "fp8");
    read_loss(s);
    read_overlap(s);
    /* DeepSpeed's forks exchange heads */
    const bool exchanges = sp_setting(s, "--deepspeed"),
               follows = sp_setting(s, "--hybrid-context-parallel");
    sp_peek_setting(s, "--max-seqlen-per-dp-cp-rank"); /* that of memory: a part of a sequence */
    sp_peek_setting(s, "--sequence-packing-scheduler");
    if (follows && sp_plan_whole(s, "cp") > 1)
        sp_launch_option(s, "cp-kind", "dynamic");
    else
        sp_read_cp_kind(s, sp_plan_whole(s, "cp"), exchanges ? "ulysses" : "ring");
}

/* The exchange of experts, and what CUDA graphs of an iteration need. */
void sp_make_execution(const struct sp_launched *l, struct sp_settings *made)
{
    static const char exchange[] = "--moe-token-dispatcher-type";
    const struct sp_execution *const e = &l->plan->execution;
    const char *const way = sp_dispatch_names[e->dispatch];
    char type[SP_ROW_WORD];
    sp_row_theirs(sp_row_of(l->words[0], exchange), way, type);
    if (l->model->moe.experts > 0)
        sp_make_setting(made, exchange, "%s", type);
    if (l->model->moe.experts > 0 && sp_is(type, "flex"))
        sp_make_setting(made, "--moe-flex-dispatcher-backend", "%s", way);
    sp_make_switch(made, "--moe-pad-expert-input-to-capacity",
                   l->model->moe.experts > 0 && e->capacity > 0);
    sp_make_cp_kind(l, made);
    if (l->plan->cp > 1 && e->cp_kind == SP_CP_DYNAMIC) {
        sp_make_switch(made, "--hybrid-context-parallel", true);
        sp_make_setting(made, "--max-seqlen-per-dp-cp-rank", "%lld",
                        (long long)(l->plan->seq * l->plan->micro_batch / l->plan->cp));
        sp_make_switch(made, "--calculate-per-token-loss", true);
        sp_make_setting(made, "--dataloader-type", "single");
    }
    make_loss(l, made);
    if (e->cuda_graph == SP_CUDA_GRAPH_FULL)
        sp_make_setting(made, "--no-check-for-nan-in-loss-and-grad", "%s", "");
}

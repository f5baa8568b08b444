/* The serving estimate: parts by hand, and properties of any engine. */
#include "check.h"

#include <string.h>

#include <scaleplan/scaleplan.h>

#include "config/load.h"

static const struct sp_sources sources = {.textbook = false};

/* A model on a machine without measured kernels, with simple constants. */
struct world {
    struct sp_model model;
    struct sp_hardware hw;
    struct sp_profile profile;
    struct sp_service service;
    struct sp_serve_instance instance;
};

static const struct sp_serve_load plain = {.concurrency = NAN, .tpot_s = INFINITY, .step_s = NAN};

static void prepare(struct world *w)
{
    struct sp_serve_load load = plain;
    load.profile = &w->profile;
    sp_prepare_instance(&w->service, &load, &w->instance);
}

static void make(struct world *w, const char *model, const char *hw, double tp, double dp)
{
    struct sp_error error = {0};
    assert_true(sp_load_model(model, &sources, &w->model, &error));
    assert_true(sp_load_hardware(hw, &sources, &w->hw, &error));
    sp_expect_serving_of(&w->hw, "vllm", &w->profile);
    w->service = (struct sp_service){.model = &w->model,
                                     .hw = &w->hw,
                                     .chips = tp * dp,
                                     .tp = tp,
                                     .attention_dp = dp,
                                     .weight_bytes = 2,
                                     .expert_bytes = 2,
                                     .kv_bytes = 2,
                                     .kv_token_bytes = NAN,
                                     .memory_fraction = 0.9,
                                     .input = 1024,
                                     .output = 512,
                                     .held_tokens = 1280,
                                     .buffer_bytes = 2.5e9,
                                     .step_tokens = 1280,
                                     .block = 16,
                                     .mfu = 1,
                                     .attention = true};
    prepare(w);
}

static struct sp_serve_estimate said(const struct world *w, double in_flight)
{
    const struct sp_requests requests = {.in_flight = in_flight};
    return sp_serve_estimate(&w->instance.pass, &requests);
}

/* Llama 3 70B on 8 H100, 16 sequences of 1280 tokens: each reads 80 layers x 2 x 8 heads x 128 x 2
 * bytes = 327,680 per token, an eighth of it on a chip, at 0.75 of 3.35e12 bytes/s; 80 layers of
 * 15 us, a step of 0.3 ms and 8 us per sequence; two all-reduces a layer of 6 us (0.75 + 3/4). */
static void parts(void **state)
{
    (void)state;
    struct world w;
    make(&w, "llama3-70b", "h100-8", 8, 1);
    const struct sp_pass_load load = {.decode = 16, .context = 1280};
    const struct sp_pass_time t = sp_pass_time(&w.instance.pass, &load);
    assert_close(t.attention_s, 16 * 1280 * 327680.0 / 8 / (0.75 * 3.35e12), 1e-12);
    assert_close(t.launch_s, 80 * 15e-6 + 3e-4 + 16 * 8e-6, 1e-12);
    assert_close(t.experts_s, 0, 0);
    /* bytes of 16 tokens of 8192 in 16 bits, 7/8 of them twice over 450e9 bytes/s at 0.6 */
    assert_close(t.comm_s, 160 * (6e-6 * 1.5 + 2 * 7.0 / 8 * 16 * 16384 / 450e9 / 0.6), 1e-12);
    /* weights of a chip, 69.5e9 x 2 / 8 bytes at the kernels' share of the bandwidth, at least */
    const double share = w.hw.chip.kernels.matmul[SP_KERNEL_BF16].memory_share;
    const double weights = (w.instance.served.shared - w.instance.served.table) * 2 / 8;
    assert_true(t.matmul_s > weights / (share * 3.35e12));
    assert_true(t.matmul_s < 1.1 * weights / (share * 3.35e12));
    assert_close(t.total_s,
                 t.matmul_s + t.experts_s + t.attention_s + t.elementwise_s + t.comm_s + t.launch_s,
                 0);
}

/* DeepSeek-V3 with attention's data parallelism: 4 of 32 ranks hold 8 x 8 experts of 256; the
 * latent of 576 elements is on every TP rank, a quarter of the sequences on each of four. */
static void latents_and_experts(void **state)
{
    (void)state;
    struct world one, four;
    make(&one, "deepseek-v3", "h200-32", 32, 1);
    make(&four, "deepseek-v3", "h200-32", 8, 4);
    const struct sp_pass_load load = {.decode = 64, .context = 4096};
    const double bytes = 61.0 * 576 * 2 * 4096;
    assert_close(sp_pass_time(&four.instance.pass, &load).attention_s,
                 16 * bytes / (0.75 * four.hw.chip.hbm_bytes_per_s), 1e-12);
    assert_close(sp_pass_time(&one.instance.pass, &load).attention_s,
                 64 * bytes / (0.75 * one.hw.chip.hbm_bytes_per_s), 1e-12);
    assert_close(four.instance.pass.experts, 256.0 / 32, 0);
    assert_close(one.instance.pass.experts, 256, 0);
    /* the greatest of 32 normal variables: Harter 1961 */
    assert_close(four.instance.pass.imbalance,
                 1 + 2.06967 * sqrt(sp_expert_variance(256) * 32 / 255), 1e-5);
    assert_close(four.instance.pass.exchanges, 2 * 58, 0);
    assert_close(four.instance.pass.reduces, 61 + 3, 0);
}

/* A token of DeepSeek-V3 goes to experts of 4 of 8 groups: on 8 nodes its prompts cross to 4 x 7/8,
 * fewer than 8 (1 - (7/8)^8) x 7/8 that 8 picks without groups reach; on 16 nodes, where a group
 * lies on two, to 16 (1 - (15/16)^8) x 15/16. 58 layers send 7168 2-byte numbers there and back. */
static void groups_of_experts(void **state)
{
    (void)state;
    struct world w;
    const double bytes = 58 * 7168 * 2 * 2.0;
    make(&w, "deepseek-v3", "h100-64", 1, 64);
    const double link = w.hw.network.scaleout_bytes_per_s;
    assert_close(w.instance.pass.prompt_exchange_s_per_token, bytes * 3.5 / link, 1e-12);
    w.model.moe.groups = 0;
    prepare(&w);
    assert_close(w.instance.pass.prompt_exchange_s_per_token,
                 bytes * 7 * (1 - pow(7.0 / 8, 8)) / link, 1e-12);
    make(&w, "deepseek-v3", "h100-128", 1, 128);
    assert_close(w.instance.pass.prompt_exchange_s_per_token,
                 bytes * 15 * (1 - pow(15.0 / 16, 8)) / link, 1e-12);
}

/* In a node of 8 each rank gets the tokens of the 7 others, whatever the picks; on 16 ranks of an
 * NVL72 8 x 15 / 16 experts of a token are elsewhere, on 8 of its ranks, all have one. */
static void gathered_tokens(void **state)
{
    (void)state;
    struct world w;
    const double bytes = 58 * 7168 * 2 * 2.0;
    make(&w, "deepseek-v3", "h200-8", 1, 8);
    const double link = w.hw.network.domain_bytes_per_s;
    assert_close(w.instance.pass.exchange_s_per_token, bytes * 7 / link, 1e-12);
    make(&w, "llama4-maverick", "h200-8", 1, 8);
    assert_close(w.instance.pass.exchange_s_per_token, 24 * 5120 * 2 * 2.0 * 7 / link, 1e-12);
    make(&w, "deepseek-v3", "gb200-16", 1, 16);
    const double wide = w.hw.network.domain_bytes_per_s;
    assert_close(w.instance.pass.exchange_s_per_token, bytes * 7.5 / wide, 1e-12);
    make(&w, "deepseek-v3", "gb200-8", 1, 8);
    assert_close(w.instance.pass.exchange_s_per_token, bytes * 7 / wide, 1e-12);
}

/* Kernels in 8 bits run longer by their launch, in isolation: for two matmuls of attention and two
 * of an MLP or of experts. */
static void converted_inputs(void **state)
{
    (void)state;
    struct world w;
    const struct sp_pass_load load = {.decode = 4, .context = 1024};
    make(&w, "deepseek-v3", "h200-8", 8, 1);
    const struct sp_matmul_curve *const curve = w.hw.chip.kernels.matmul;
    const double more_s = curve[SP_KERNEL_FP8].launch_s - curve[SP_KERNEL_BF16].launch_s;
    const double wide_s = sp_pass_time(&w.instance.pass, &load).launch_s;
    w.service.expert_math = SP_FP8;
    prepare(&w);
    assert_close(sp_pass_time(&w.instance.pass, &load).launch_s - wide_s, 58 * 2 * more_s, 1e-9);
    w.service.math = SP_FP8;
    prepare(&w);
    assert_close(sp_pass_time(&w.instance.pass, &load).launch_s - wide_s, 61 * 4 * more_s, 1e-9);
}

/* Each of 58 layers of DeepSeek-V3 copies 8 x 7168 2-byte numbers of a token into the experts'
 * order and back, reading and writing: every rank of TP 8 if all have a part of each expert, one in
 * eight if each has its own. */
static void copies_for_experts(void **state)
{
    (void)state;
    struct world w;
    make(&w, "deepseek-v3", "h200-8", 8, 1);
    const double parts = w.instance.pass.element_bytes;
    w.service.ep = 8;
    prepare(&w);
    assert_close(parts - w.instance.pass.element_bytes, 58 * 4 * 8 * 7168 * 2 * (1 - 1.0 / 8),
                 1e-12);
}

/* Behind an exchange a token of DeepSeek-V3 takes 8 experts of 3 x 7168 x 2048 weights, in all
 * ranks of EP 32 a quarter of one, at 0.55 of the rate of isolated kernels; each of 8 experts a
 * rank has 64 tokens of rounding more. Their reads take no time here. */
static void grouped_experts(void **state)
{
    (void)state;
    struct world w;
    const double tokens = 1e12;
    make(&w, "deepseek-v3", "h200-32", 1, 32);
    w.service.imbalance = 1;
    prepare(&w);
    struct sp_pass *const pass = &w.instance.pass;
    pass->alone.memory_share = INFINITY;
    const struct sp_pass_load load = {.prompt = tokens, .prompts = 1};
    const double flops = 58 * 2.0 * 3 * 7168 * 2048;
    const double rate =
        0.55 * w.hw.chip.kernels.matmul[SP_KERNEL_BF16].share * w.hw.chip.peak_flops_per_s[SP_BF16];
    assert_close(sp_pass_time(pass, &load).experts_s, flops * (tokens / 4 + 8 * 64) / rate, 1e-5);
    const struct sp_pass_load few = {.prompt = 1e6, .prompts = 1};
    const double more_s = sp_pass_time(pass, &few).experts_s;
    pass->value[SP_V_GROUPED_TILE] = 128;
    assert_close(sp_pass_time(pass, &few).experts_s - more_s, flops * 8 * 64 / rate, 1e-9);
}

/* An eighth of each of 8 experts for a token, at 0.6 of the peak in 16 bits and 0.3 in 8. */
static void experts_by_width(void **state)
{
    (void)state;
    struct world w;
    make(&w, "deepseek-v3", "h200-8", 8, 1);
    w.profile.value[SP_V_EXPERT_MATMUL_16] = 0.6;
    for (int wide = 0; wide <= 1; wide++) {
        w.service.expert_math = wide ? SP_BF16 : SP_FP8;
        prepare(&w);
        w.instance.pass.alone.memory_share = INFINITY;
        const struct sp_pass_load load = {.prompt = 1e12, .prompts = 1};
        const double rate =
            (wide ? 0.6 : 0.3) * w.hw.chip.peak_flops_per_s[wide ? SP_BF16 : SP_FP8];
        assert_close(sp_pass_time(&w.instance.pass, &load).experts_s,
                     58 * 2.0 * 3 * 7168 * 2048 * 1e12 / rate, 1e-6);
    }
}

/* MiniMax-M2.5 norms queries and keys over all heads: beside two all-reduces of 3072 2-byte numbers
 * a layer, one of two 4-byte sums. TP 4 moves 2 x 3/4 of the bytes; a start is 1 + 1/4 of that of
 * two ranks. */
static void norms_over_all_heads(void **state)
{
    (void)state;
    struct world w;
    make(&w, "minimax-m2.5", "h100-4", 4, 1);
    const struct sp_pass_load load = {.decode = 16, .context = 1280};
    const double bytes = 16 * 62 * (2.0 * 6144 + 8);
    assert_close(w.instance.pass.reduces, 3 * 62, 0);
    assert_close(sp_pass_time(&w.instance.pass, &load).comm_s,
                 3 * 62 * 6e-6 * 1.25 + 1.5 * bytes / 450e9 / 0.6, 1e-12);
    make(&w, "minimax-m2.5", "h100-1", 1, 1);
    assert_close(w.instance.pass.reduces, 0, 0);
}

/* Running and waiting requests by Little's law, and the message if memory is full. */
static void littles_law(void **state)
{
    (void)state;
    struct world w;
    make(&w, "llama3-70b", "h100-8", 8, 1);
    const double most = sp_room_for_sequences(&w.instance.served);
    /* 0.9 x 8 x 80 GiB - 141.1 GB - 20 GB over 327,680 bytes x 1280 tokens */
    assert_close(most, (0.9 * 8 * 85899345920.0 - w.instance.served.weights - 2e10) / 419430400,
                 1e-12);
    static const double loads[] = {1, 7, 100, 5000};
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        const struct sp_serve_estimate e = said(&w, loads[i]);
        assert_close(e.tokens_per_s, (e.running + e.waiting) * 512 / e.e2e_s, 1e-12);
        assert_close(e.running + e.waiting, loads[i], 1e-12);
        assert_close(e.e2e_s, e.ttft_s + 511 * e.tpot_s, 1e-12);
        assert_true(loads[i] < most ? e.waiting < 1e-9 : e.wait_s > 0);
    }
    /* a single request does not queue and waits for no step: server and prompt */
    const struct sp_serve_estimate alone = said(&w, 1);
    assert_close(alone.ttft_s, 0.02 + alone.prompt.total_s, 1e-12);
    assert_close(alone.tpot_s, alone.step.total_s, 1e-12);
}

/* Three drafts which give two tokens per step: four tokens of a sequence pass the matmuls and the
 * all-reduces, its cache is read once; a draft model adds its own three steps. */
static void drafts(void **state)
{
    (void)state;
    struct world w;
    struct sp_model small;
    struct sp_error error = {0};
    make(&w, "llama3-70b", "h100-8", 8, 1);
    const struct sp_pass_load load = {.decode = 16, .context = 1280, .drafts = 3};
    const struct sp_pass_time t = sp_pass_time(&w.instance.pass, &load);
    assert_close(t.attention_s, 16 * 1280 * 327680.0 / 8 / (0.75 * 3.35e12), 1e-12);
    assert_close(t.comm_s, 160 * (6e-6 * 1.5 + 2 * 7.0 / 8 * 64 * 16384 / 450e9 / 0.6), 1e-12);
    w.service.drafts = 3;
    w.service.accepted = 2;
    prepare(&w);
    const struct sp_serve_estimate e = said(&w, 1);
    const struct sp_pass_load one = {.decode = 1, .context = 1280, .drafts = 3};
    assert_close(e.tpot_s, sp_pass_time(&w.instance.pass, &one).total_s / 2, 1e-12);
    assert_close(e.ttft_s, 0.02 + e.prompt.total_s, 1e-12);
    /* a draft model takes memory: 8.03e9 weights of 2 bytes, and 131,072 bytes of a token's cache
     */
    assert_true(sp_load_model("llama3-8b", &sources, &small, &error));
    w.service.draft_model = &small;
    prepare(&w);
    const double weights = w.instance.served.weights + sp_count_params(&small).total * 2;
    assert_close(sp_room_for_sequences(&w.instance.served),
                 (0.9 * 8 * 85899345920.0 - weights - 2e10) / ((327680 + 131072) * 1280.0), 1e-12);
    struct sp_serve_load any = plain;
    any.profile = &w.profile;
    const struct sp_requests requests = sp_requests_of(&w.instance, &any, 1);
    const struct sp_pass_load single = {.decode = 1, .context = 1280};
    assert_close(sp_serve_estimate(&w.instance.pass, &requests).tpot_s,
                 (sp_pass_time(&w.instance.pass, &one).total_s +
                  3 * sp_pass_time(&w.instance.draft_pass, &single).total_s) /
                     2,
                 1e-12);
}

/* Twice as many requests as there are whole places run in two waves of as many, and no rest. */
static void waves(void **state)
{
    (void)state;
    struct world w;
    make(&w, "llama3-70b", "h100-8", 8, 1);
    const double places = floor(sp_room_for_sequences(&w.instance.served));
    const struct sp_requests requests = {.in_flight = 1e4, .all = 2 * places};
    const struct sp_serve_estimate e = sp_serve_estimate(&w.instance.pass, &requests);
    assert_true(places < sp_room_for_sequences(&w.instance.served));
    assert_close(e.requests_per_s, places / (e.e2e_s - e.wait_s), 1e-12);
}

/* A prompt of 16 Ki tokens in four chunks: four times the launches, the same attention (each token
 * sees as many), and the longest gap has a quarter of the time that the prompt adds. */
static void chunks(void **state)
{
    (void)state;
    struct world whole, cut;
    const struct sp_requests requests = {.in_flight = 8};
    make(&whole, "llama3-70b", "h100-8", 8, 1);
    make(&cut, "llama3-70b", "h100-8", 8, 1);
    whole.service.input = cut.service.input = 16384;
    cut.service.chunk = 4096;
    prepare(&whole);
    prepare(&cut);
    const struct sp_serve_estimate a = sp_serve_estimate(&whole.instance.pass, &requests),
                                   b = sp_serve_estimate(&cut.instance.pass, &requests);
    assert_close(b.prompt.attention_s, a.prompt.attention_s, 1e-12);
    /* 15 us a layer, and 100 us where no graph is captured */
    assert_close(a.prompt.launch_s, 80 * 115e-6 + 3e-4, 1e-12);
    assert_close(b.prompt.launch_s, 4 * (80 * 115e-6 + 3e-4), 1e-12);
    assert_close(b.stall_s - b.token_s, (a.stall_s - a.token_s) / 4, 0.05);
    assert_true(b.ttft_s > a.ttft_s);
    /* a prompt shorter than a chunk is one pass */
    whole.service.input = cut.service.input = 1024;
    prepare(&whole);
    prepare(&cut);
    assert_close(said(&cut, 1).ttft_s, said(&whole, 1).ttft_s, 0);
}

/* Two pools: inflow equals outflow (Little), answers never exceed processed prompts, and with
 * unlimited readers the TPOT is that of the decode instances. */
static void two_pools(void **state)
{
    (void)state;
    struct world w;
    make(&w, "llama3-70b", "h100-8", 8, 1);
    struct sp_requests requests = {.in_flight = 64, .reader = &w.instance.pass, .readers = 0.02};
    const struct sp_serve_estimate few = sp_serve_estimate(&w.instance.pass, &requests);
    assert_close(few.requests_per_s * few.e2e_s, 64, 1e-9);
    assert_true(few.requests_per_s < 0.02 * few.prompts_per_s);
    assert_true(few.requests_per_s > 0.9 * 0.02 * few.prompts_per_s); /* they are the bottleneck */
    requests.readers = 1e6;
    const struct sp_serve_estimate many = sp_serve_estimate(&w.instance.pass, &requests);
    const struct sp_pass_load load = {.decode = many.decoding, .context = 1280};
    assert_close(many.tpot_s, sp_pass_time(&w.instance.pass, &load).total_s, 1e-9);
    assert_close(many.ttft_s, 0.02 + many.prompt.total_s + many.step.total_s / 2, 1e-3);
    /* a cache that takes longer to send than its prompt to read is late by the rest */
    requests.transfer_s = many.prompt.total_s + 1;
    assert_close(sp_serve_estimate(&w.instance.pass, &requests).ttft_s, many.ttft_s + 1, 1e-2);
    /* a reader's chips count the prompts that it gets */
    const struct sp_serve_load split = {.readers = 0.02};
    const struct sp_token_cost cost =
        sp_estimated_token_cost(&w.instance.served, &w.instance.served, &split, &few);
    assert_close(cost.input, 8 / (few.requests_per_s / 0.02) / 1024, 1e-12);
    assert_close(cost.output, 8 / few.requests_per_s / 512, 1e-12);
}

/* The wait of one queue that serves one every `s` seconds (Pollaczek and Khinchine). */
static double queue_s(double rate, double s)
{
    return rate * s < 1 ? rate * s / (1 - rate * s) * s / 2 : INFINITY;
}

/* The most requests/s of decode instances in time, each with this share of the readers, if they
 * come at random and wait for a reader and for a place; evenly: with as many readers as they need,
 * of which no prompt waits for another. */
static double most_of_pools(const struct sp_serve_instance *reads,
                            const struct sp_serve_instance *makes, double readers, bool evenly)
{
    const struct sp_serve_load load = {.tpot_s = 0.03, .ttft_s = 0.5};
    struct sp_requests q = {.reader = &reads->pass, .readers = evenly ? 0 : readers};
    double most = 0;
    q.transfer_s = sp_pools(&reads->served, &makes->served, 1, 1, 1, 8).transfer_s;
    while (sp_most_sequences(&reads->served) > 0 &&
           q.in_flight < sp_most_sequences(&makes->served)) {
        q.in_flight++;
        const struct sp_serve_estimate e = sp_serve_estimate(&makes->pass, &q);
        const double all = readers * e.prompts_per_s, place_s = 512 * e.tpot_s / e.most;
        const double wait_s =
            evenly ? 0 : queue_s(e.requests_per_s, 1 / all) + queue_s(e.requests_per_s, place_s);
        if (e.tpot_s > load.tpot_s || fmax(e.ttft_s, e.ttft_s - e.wait_s + wait_s) > load.ttft_s)
            break;
        most = fmax(most, fmin(all, e.requests_per_s));
    }
    return most;
}

/* The best split of eight chips by exhaustive search; evenly spaced requests are more. */
static void best_split(void **state)
{
    (void)state;
    struct world w;
    make(&w, "llama3-70b", "h100-8", 8, 1);
    const struct sp_serve_load load = {.concurrency = NAN,
                                       .tpot_s = 0.03,
                                       .ttft_s = 0.5,
                                       .step_s = NAN,
                                       .percentile = 50,
                                       .profile = &w.profile};
    struct sp_service service = w.service;
    struct sp_serve_split best;
    struct sp_serve_instance reads, makes;
    double most = 0, even = 0;
    service.weight_bytes = 1;
    assert_true(sp_best_split(&service, &load, 8, true, &best));
    for (double tp = 1; tp <= 8; tp *= 2)
        for (double to = 1; to <= 8; to *= 2) {
            service.chips = service.tp = tp;
            sp_prepare_instance(&service, &load, &reads);
            service.chips = service.tp = to;
            sp_prepare_instance(&service, &load, &makes);
            for (double n = 1; n * to + tp <= 8; n++) {
                const double k = floor((8 - n * to) / tp);
                most = fmax(most, n * most_of_pools(&reads, &makes, k / n, false));
                even = fmax(even, n * most_of_pools(&reads, &makes, k / n, true));
            }
        }
    assert_true(most > 0);
    assert_close(best.requests_per_s, most, 1e-9);
    assert_close(best.even_requests_per_s, even, 1e-9);
    assert_true(even > most);
}

/* Open loop: as many in flight as arrive during one request, the wait of one queue, a limit. */
static void random_arrivals(void **state)
{
    (void)state;
    struct world w;
    make(&w, "llama3-70b", "h100-8", 8, 1);
    struct sp_requests requests = {.in_flight = NAN, .rate = 2};
    const struct sp_serve_estimate e = sp_serve_estimate(&w.instance.pass, &requests);
    const double served = e.e2e_s - e.wait_s, rho = 2 * served / e.most;
    assert_close(e.running, 2 * served, 1e-9);
    assert_close(e.wait_s, rho / (1 - rho) * served / (2 * e.most), 1e-6);
    assert_close(e.tokens_per_s, 1024, 1e-12);
    requests.rate = 1.001 * e.most_requests_per_s;
    assert_true(isinf(sp_serve_estimate(&w.instance.pass, &requests).wait_s));
    requests.rate = 0.99 * e.most_requests_per_s;
    assert_true(isfinite(sp_serve_estimate(&w.instance.pass, &requests).wait_s));
}

/* More of any figure of a chip never makes it slower. */
static void better_chips(void **state)
{
    (void)state;
    struct world w;
    make(&w, "gpt-oss-120b", "h100-4", 4, 1);
    w.service.weight_bytes = w.service.expert_bytes = 1;
    prepare(&w);
    const struct sp_serve_estimate before = said(&w, 64);
    double *const better[] = {&w.hw.chip.peak_flops_per_s[SP_BF16], &w.hw.chip.hbm_bytes_per_s,
                              &w.hw.chip.hbm_bytes, &w.hw.network.domain_bytes_per_s};
    for (size_t i = 0; i < sizeof better / sizeof *better; i++) {
        const double was = *better[i];
        *better[i] = 1.5 * was;
        prepare(&w);
        const struct sp_serve_estimate after = said(&w, 64);
        assert_true(after.tpot_s <= before.tpot_s);
        assert_true(after.ttft_s <= before.ttft_s);
        *better[i] = was;
    }
}

/* Half of twice the rate is the same speed. */
static void shares(void **state)
{
    (void)state;
    struct world w;
    make(&w, "gpt-oss-120b", "h100-4", 4, 1);
    const struct sp_pass_load load = {
        .decode = 64, .context = 2048, .prompts = 2, .prompt = 2048, .seen = 512};
    static const struct {
        int n;
        enum sp_serving_constant of[3];
    } halved[] = {{1, {SP_V_CACHE}}, {3, {SP_V_MATMUL, SP_V_PROMPT, SP_V_EXPERT_MATMUL_16}}};
    for (int rate = 0; rate < 2; rate++) {
        const struct sp_pass_time before = sp_pass_time(&w.instance.pass, &load);
        if (rate == 0)
            w.hw.chip.hbm_bytes_per_s *= 2;
        for (int f = 0; rate == 0 && f < SP_KERNEL_FORMATS; f++)
            w.hw.chip.kernels.matmul[f].memory_share /= 2;
        for (int dtype = 0; rate == 1 && dtype < SP_DTYPES; dtype++)
            w.hw.chip.peak_flops_per_s[dtype] *= 2;
        for (int i = 0; i < halved[rate].n; i++)
            w.profile.value[halved[rate].of[i]] /= 2;
        prepare(&w);
        const struct sp_pass_time after = sp_pass_time(&w.instance.pass, &load);
        assert_close(after.matmul_s, before.matmul_s, 1e-12);
        assert_close(after.experts_s, before.experts_s, 1e-12);
        assert_close(after.attention_s, before.attention_s, 1e-12);
    }
}

/* Longer and more requests lengthen steps; a step never beats its closed form. */
static void longer_and_more(void **state)
{
    (void)state;
    struct world w;
    make(&w, "minimax-m2.5", "h200-8", 8, 1);
    double last = 0;
    for (double B = 1; B <= 1024; B *= 2) {
        const struct sp_serve_estimate e = said(&w, B);
        assert_true(e.tpot_s > last);
        assert_true(e.step.total_s >= sp_decode_time(&w.instance.served, e.decoding, 1).step_s);
        last = e.tpot_s;
    }
    last = 0;
    for (double context = 128; context <= 1 << 17; context *= 2) {
        const struct sp_pass_load load = {.decode = 32, .context = context};
        const double s = sp_pass_time(&w.instance.pass, &load).total_s;
        assert_true(s > last);
        last = s;
    }
}

/* Limits: the most sequences within them are within, one more is not. */
static void limits(void **state)
{
    (void)state;
    struct world w;
    make(&w, "llama3-70b", "h200-8", 8, 1);
    struct sp_serve_load load = plain;
    load.profile = &w.profile;
    load.ttft_s = 0.4;
    load.tpot_s = 0.05;
    load.percentile = 99;
    const double B = sp_sequences_of_load(&w.instance, &load, 1);
    const struct sp_steady in = sp_state_of(&w.instance, &load, B),
                           out = sp_state_of(&w.instance, &load, B + 1);
    assert_true(sp_keeps_limits(&in, &load));
    assert_false(sp_keeps_limits(&out, &load));
    /* exp(2.3263 x 0.32) */
    assert_close(sp_latency_percentile(SP_LATENCY_TTFT, 1, 99), 2.1052, 1e-4);
    assert_close(sp_latency_percentile(SP_LATENCY_TTFT, 3, 50), 3, 0);
}

/* A stack without runs borrows chip constants from the chip's family and others from its engine. */
static void borrowed(void **state)
{
    (void)state;
    struct sp_error error = {0};
    struct sp_hardware hw;
    struct sp_profile own, lent;
    bool known;
    assert_true(sp_load_chip("b200", &sources, &hw, &error));
    assert_true(sp_load_serving(&hw, "vllm", &sources, &own, &known, &error));
    assert_true(known && own.serves);
    assert_true(sp_load_chip("mi300x", &sources, &hw, &error));
    assert_true(sp_load_serving(&hw, "vllm", &sources, &lent, &known, &error));
    assert_false(known);
    assert_int_equal(lent.known, SP_KNOWN_SOFTWARE);
    assert_string_equal(lent.name, "mi300x-vllm");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts),
        cmocka_unit_test(latents_and_experts),
        cmocka_unit_test(norms_over_all_heads),
        cmocka_unit_test(groups_of_experts),
        cmocka_unit_test(gathered_tokens),
        cmocka_unit_test(converted_inputs),
        cmocka_unit_test(copies_for_experts),
        cmocka_unit_test(grouped_experts),
        cmocka_unit_test(experts_by_width),
        cmocka_unit_test(littles_law),
        cmocka_unit_test(drafts),
        cmocka_unit_test(waves),
        cmocka_unit_test(chunks),
        cmocka_unit_test(two_pools),
        cmocka_unit_test(best_split),
        cmocka_unit_test(random_arrivals),
        cmocka_unit_test(better_chips),
        cmocka_unit_test(shares),
        cmocka_unit_test(longer_and_more),
        cmocka_unit_test(limits),
        cmocka_unit_test(borrowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Services drawn over models, chips, engines, degrees, formats, lengths and loads: no estimate is
 * faster than its closed form, no machine does more than it has, more requests at once are never
 * fewer per second, longer prompts are never cheaper. */
#include "check.h"

#include <string.h>

#include <scaleplan/scaleplan.h>

#include "config/load.h"
#include "draws.h"

enum { ALL_SERVICES = 20000 };

/* Error of the loop's fixed point, and of passes with chunks of other lengths. */
#define LOOSE 5e-3

static const struct sp_sources sources = {.textbook = false};
static uint64_t seed = 31;

static uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
}

/* A whole number up to 2^bits, small ones as often as large ones. */
static double draw_size(uint64_t bits)
{
    const uint64_t most = (uint64_t)1 << draw(bits + 1);
    return 1 + (double)draw(most);
}

static const char *const models[] = {"llama3.1-8b",       "llama3.1-70b", "gpt-oss-120b",
                                     "qwen3-30b-a3b",     "deepseek-v3",  "gemma3-27b",
                                     "qwen3.5-397b-a17b", "minimax-m2.5", "deepseek-v3.2"};
static const char *const chips[] = {"h100", "h200", "b200", "a100", "mi300x", "l40s"};
static const char *const engines[] = {"vllm", "sglang", "trtllm"};
enum { MODELS = sizeof models / sizeof *models, CHIPS = sizeof chips / sizeof *chips, ENGINES = 3 };

struct world {
    struct sp_model model[MODELS];
    struct sp_hardware hw[CHIPS];
    struct sp_engine engine[ENGINES];
    struct sp_profile profile[CHIPS][ENGINES];
    int served, answered, fetched;
};

static void load_world(struct world *w)
{
    struct sp_error error = {0};
    bool own;
    *w = (struct world){.served = 0};
    for (int i = 0; i < MODELS; i++)
        assert_true(sp_load_model(models[i], &sources, &w->model[i], &error));
    for (int i = 0; i < ENGINES; i++)
        assert_true(sp_load_engine(engines[i], &sources, &w->engine[i], &error));
    for (int i = 0; i < CHIPS; i++) {
        assert_true(sp_load_chip(chips[i], &sources, &w->hw[i], &error));
        for (int e = 0; e < ENGINES; e++)
            assert_true(
                sp_load_serving(&w->hw[i], engines[e], &sources, &w->profile[i][e], &own, &error));
    }
}

/* A service and where it runs. */
struct drawn {
    struct sp_hardware hw;
    struct sp_service service;
    struct sp_serve_load load;
    struct sp_engine engine;
    double concurrency, readers;
};

static void draw_degrees(struct drawn *d)
{
    struct sp_service *const s = &d->service;
    const struct sp_model *const m = s->model;
    s->tp = (double)(1 << draw(4));
    while (fmod((double)m->heads, s->tp) != 0)
        s->tp /= 2;
    s->attention_dp = m->moe.experts > 0 ? (double)(1 << draw(5)) : 1;
    s->pp = draw(6) == 0 ? 2 : 1;
    s->chips = s->tp * s->attention_dp * s->pp;
    d->hw.slices = 1;
    d->hw.chips_per_slice = (int64_t)s->chips;
}

/* Routed experts: on how many ranks, with copies or an imbalance, behind another batch. */
static void draw_experts(struct sp_service *s)
{
    const double ranks = s->tp * s->attention_dp;
    if (s->model->moe.experts == 0)
        return;
    s->ep = draw(2) ? (double)(1 << draw(8)) : 0;
    while (s->ep > ranks || fmod((double)s->model->moe.experts, fmax(1, s->ep)) != 0)
        s->ep /= 2;
    s->moe_overlap = draw(4) == 0;
    s->imbalance = draw(4) == 0 ? 1 + (double)draw(300) / 100 : 0;
    if (draw(4) == 0 && s->ep > 1)
        s->redundant = s->ep * (1 + (double)draw(2));
}

static void draw_formats(struct sp_service *s, const struct sp_engine *engine)
{
    const enum sp_storage weights = (enum sp_storage)draw(SP_STORAGES);
    const enum sp_storage experts = (enum sp_storage)draw(SP_STORAGES);
    const bool narrow = engine->narrow_cache && sp_storages[weights].bytes <= 1;
    s->weight_bytes = sp_storages[weights].bytes;
    s->expert_bytes = sp_storages[experts].bytes;
    s->kv_bytes = sp_storages[narrow || draw(2) ? SP_STORED_FP8 : SP_STORED_BF16].bytes;
    s->math = draw(3) ? sp_storages[weights].matmul : SP_BF16;
    s->expert_math = draw(3) ? sp_storages[experts].matmul : SP_BF16;
}

static void draw_lengths(struct drawn *d)
{
    struct sp_service *const s = &d->service;
    s->input = draw_size(16);
    s->output = draw(5) == 0 ? 1 : draw_size(12);
    s->held_tokens = sp_held_tokens(&d->engine, s->input, s->output);
    s->step_tokens = s->input + s->output / 2;
    if (draw(4) == 0)
        s->held_tokens = s->step_tokens = draw_size(17);
    s->prefix_hit = draw(4) == 0 ? (double)draw(100) / 100 : 0;
    s->by_layer = d->engine.fetches_by_layer;
    if (s->prefix_hit > 0 && draw(2)) /* some hosts so slow that their links are the limit */
        s->host_bytes_per_s = sp_host_bytes_per_s(&d->hw.chip) / draw_size(6);
    s->chunk = draw(2) ? d->engine.chunk_tokens : draw(2) ? 256 + draw_size(14) : 0;
    d->concurrency = draw_size(12);
}

static void draw_service(const struct world *w, struct drawn *d)
{
    const uint64_t chip = draw(CHIPS), engine = draw(ENGINES);
    *d = (struct drawn){.hw = w->hw[chip], .engine = w->engine[engine]};
    d->service = (struct sp_service){.model = &w->model[draw(MODELS)],
                                     .hw = &d->hw,
                                     .kv_token_bytes = NAN,
                                     .memory_fraction = d->engine.memory_fraction,
                                     .fraction_of_free = d->engine.of_free,
                                     .keeps_all = d->engine.keeps_all,
                                     .buffer_bytes = d->engine.buffer_bytes,
                                     .block = d->engine.block_tokens,
                                     .mfu = 1,
                                     .attention = draw(4) > 0};
    draw_degrees(d);
    draw_experts(&d->service);
    draw_formats(&d->service, &d->engine);
    draw_lengths(d);
    if (draw(8) == 0) {
        d->service.drafts = 1 + (double)draw(5);
        d->service.accepted = 1 + d->service.drafts * (double)draw(100) / 100;
    }
    d->load = (struct sp_serve_load){
        .tpot_s = INFINITY, .step_s = NAN, .profile = &w->profile[chip][engine]};
    d->readers = draw(6) == 0 ? draw_size(3) : 0;
}

/* The estimate of a service; false: it does not run. */
static bool ask_service(const struct drawn *d, double concurrency, struct sp_serve_instance *i,
                        struct sp_serve_estimate *e)
{
    struct sp_serve_load load = d->load;
    load.apart = d->readers > 0;
    load.readers = d->readers;
    sp_prepare_instance(&d->service, &load, i);
    if (sp_most_sequences(&i->served) < 1)
        return false;
    const struct sp_requests requests = sp_requests_of(i, &load, concurrency);
    *e = sp_serve_estimate(&i->pass, &requests);
    return true;
}

/* Time of a prompt in passes that are full, with parts of others, or alone. */
static double chunk_share_s(const struct drawn *d, const struct sp_serve_instance *i,
                            const struct sp_serve_estimate *e)
{
    const struct sp_service *const s = &d->service;
    const double tokens = fmax(1, s->input * (1 - s->prefix_hit)), ranks = s->attention_dp;
    const double chunk = s->chunk > 0 ? s->chunk : tokens, prompts = ranks * chunk / tokens;
    const struct sp_pass_load full = {
        .prompts = prompts, .prompt = ranks * chunk, .seen = s->input - tokens / 2};
    return fmin(e->prompt.total_s / ranks, sp_pass_time(&i->pass, &full).total_s / prompts);
}

/* Work of a request at the peaks: all of its tokens' matmuls, and steps as large as the running
 * requests. */
static void check_conservation(struct world *w, const struct drawn *d,
                               const struct sp_serve_instance *i, const struct sp_serve_estimate *e)
{
    const struct sp_served *const v = &i->served;
    const struct sp_service *const s = &d->service;
    const double given = s->drafts > 0 ? s->accepted : 1, checked = 1 + s->drafts;
    const double answers = (s->output - 1) / given;
    const double here = d->readers > 0 ? 0 : 1;
    const struct sp_decode_time step = sp_decode_time(v, e->decoding, checked);
    const double flops = here * v->prefill_flops + answers * checked * 2 * v->active;
    assert_true(e->requests_per_s * flops <= v->C * (1 + LOOSE));
    /* prompts are read in passes of a chunk on each rank at most, which share its weights */
    assert_true(e->requests_per_s * here * chunk_share_s(d, i, e) <= i->pass.plan.pp * (1 + LOOSE));
    assert_true(e->requests_per_s * (here * sp_prefill_time(v).math_s +
                                     answers * step.step_s / fmax(1, e->decoding)) <=
                1 + LOOSE);
    if (s->host_bytes_per_s > 0) { /* each rank's copy of a prompt's cache crosses a host's link */
        const double fetched =
            v->copies * sp_kv_bytes_of_sequence(s->model, s->prefix_hit * s->input, s->kv_bytes) +
            sp_state_bytes_of_sequence(s->model);
        assert_true(e->requests_per_s * fetched <=
                    fmax(1, d->readers) * s->chips * s->host_bytes_per_s * (1 + LOOSE));
        w->fetched++;
    }
    const struct sp_steady y = sp_steady_of_estimate(v, e);
    const double first = e->requests_per_s / fmax(1, e->decoding); /* its token is the prompt's */
    assert_true(y.flops_share <= 1 + LOOSE + first * step.step_s);
    assert_true(y.bandwidth_share <= 1 + LOOSE + first * step.step_s);
    assert_true(e->decoding <= e->most * (1 + LOOSE) || e->decoding <= 1);
    assert_true(e->prompt_share <= 1);
}

static void check_service(struct world *w, const struct drawn *d)
{
    struct sp_serve_instance one, same;
    struct sp_serve_estimate e, more, longer;
    struct drawn change = *d;
    if (!ask_service(d, d->concurrency, &one, &e))
        return;
    w->served++;
    const struct sp_decode_time least =
        sp_decode_time(&one.served, e.decoding, 1 + d->service.drafts);
    assert_true(e.step.total_s >= least.step_s);
    assert_true(e.prompt.total_s >= sp_prefill_time(&one.served).prefill_s);
    check_conservation(w, d, &one, &e);
    assert_true(ask_service(d, d->concurrency + 1 + (double)draw(64), &same, &more));
    assert_true(more.requests_per_s >= e.requests_per_s * (1 - LOOSE));
    change.service.input = d->service.input + draw_size(13);
    if (change.service.held_tokens ==
        sp_held_tokens(&d->engine, d->service.input, d->service.output)) {
        change.service.held_tokens =
            sp_held_tokens(&d->engine, change.service.input, d->service.output);
        change.service.step_tokens = change.service.input + d->service.output / 2;
    }
    if (!ask_service(&change, d->concurrency, &same, &longer))
        return;
    w->answered++;
    if (longer.requests_per_s > e.requests_per_s * (1 + LOOSE))
        print_message("%s on %d %s, %g at once, pp %g, prefix %g, chunk %g, readers %g, drafts %g: "
                      "prompts of %g and %g, answers of %g: %g and %g requests per s\n",
                      d->service.model->name, (int)d->service.chips, d->hw.name, d->concurrency,
                      d->service.pp, d->service.prefix_hit, d->service.chunk, d->readers,
                      d->service.drafts, d->service.input, change.service.input, d->service.output,
                      e.requests_per_s, longer.requests_per_s);
    assert_true(longer.requests_per_s <= e.requests_per_s * (1 + LOOSE));
}

static void services(void **state)
{
    struct world *const w = *state;
    for (int i = 0; i < ALL_SERVICES / one_in(); i++) {
        struct drawn d;
        draw_service(w, &d);
        check_service(w, &d);
    }
    assert_true(w->served > ALL_SERVICES / one_in() / 3);
    assert_true(w->fetched > w->served / 20);
}

int main(void)
{
    static struct world w;
    seed = drawn_seed(seed);
    load_world(&w);
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(services, &w)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

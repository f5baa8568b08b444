/*
 * Evaluations of the closed forms per second on one core, as a ratio to a baseline run beside it:
 * starting /bin/true, the minimum cost of any tool called from a shell.
 */
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

#include <scaleplan/scaleplan.h>

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* LLaMA-2 13B on a cube of 4096 v5p chips. */
static struct sp_model model = {.layers = 40,
                                .d_model = 5120,
                                .d_ff = 13824,
                                .heads = 40,
                                .kv_heads = 40,
                                .head_dim = 128,
                                .vocab = 32000,
                                .gated_mlp = true,
                                .norms_per_layer = 2};
static struct sp_hardware hw = {
    .chip = {.peak_flops_per_s = {459e12}, .hbm_bytes = 96e9, .hbm_usable_bytes = NAN},
    .network = {.kind = SP_TORUS,
                .axes = 3,
                .link_bytes_per_s = 90e9,
                .wrap = SP_WRAP_CUBE,
                .chips_per_host = 4},
    .chips_per_slice = 4096,
    .slices = 1,
    .shape = {{16, 16, 16}}};
static struct sp_precision precision = {.weight_bytes = 2, .optimizer_bytes = 8};

static double rows_per_s(double *checksum)
{
    enum { ROUNDS = 20000 };
    struct sp_fit_input in = {
        .model = &model, .hw = &hw, .precision = &precision, .seq = 4096, .remat = SP_REMAT_MLP};
    const double start = now_s();
    for (int i = 0; i < ROUNDS; i++) {
        in.batch_tokens = 3e6 + i;
        const struct sp_fit_terms t = sp_fit_terms(&in);
        for (int kind = SP_DP; kind <= SP_FSDP_TP; kind++)
            *checksum += sp_fit_strategy(&in, &t, (enum sp_strategy_kind)kind).step_s;
    }
    return 4.0 * ROUNDS / (now_s() - start);
}

static double best_per_s(double *checksum)
{
    enum { ROUNDS = 2000 };
    struct sp_fit_input in = {
        .model = &model, .hw = &hw, .precision = &precision, .seq = 4096, .remat = SP_REMAT_MLP};
    const double start = now_s();
    for (int i = 0; i < ROUNDS; i++) {
        in.batch_tokens = 3e6 + i;
        const struct sp_fit_terms t = sp_fit_terms(&in);
        *checksum += sp_fit_best(&in, &t, ~0u).step_s;
    }
    return ROUNDS / (now_s() - start);
}

static double spawns_per_s(void)
{
    enum { ROUNDS = 300 };
    char *const arguments[] = {"true", NULL};
    const double start = now_s();
    for (int i = 0; i < ROUNDS; i++) {
        pid_t pid;
        int status;
        if (posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, NULL) != 0)
            return NAN;
        waitpid(pid, &status, 0);
    }
    return ROUNDS / (now_s() - start);
}

int main(void)
{
    double checksum = 0;
    const double spawns = spawns_per_s(), rows = rows_per_s(&checksum),
                 best = best_per_s(&checksum);
    printf("strategy rows %.3g /s, best plans %.3g /s, starts of /bin/true %.3g /s\n", rows, best,
           spawns);
    printf("ratio to one start: %.3g rows, %.3g best plans (checksum %.6g)\n", rows / spawns,
           best / spawns, checksum);
    return 0;
}

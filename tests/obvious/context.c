/* Context parallelism beside attention: a ring played event by event, bytes counted rank by rank,
 * pairs of tokens counted one by one. */
#include "obvious.h"

/* When a rank of a ring ends a pass: it works on a block while it sends the keys and values that it
 * has and receives the next. */
static double played_ring(int ranks, double block, double send)
{
    double worked = 0, has = 0; /* the end of the last block; when the next keys and values came */
    for (int step = 0; step < ranks; step++) {
        const double begins = fmax(worked, has);
        has = begins + send;
        worked = begins + block;
    }
    return worked;
}

/* A plan in which attention takes a time set by a rate, and other work takes none. */
static bool draw_attention(struct world *w)
{
    if (!draw(w, false, false) || w->p.cp == 1 || w->m.sliding_window + w->m.attention_chunk > 0)
        return false;
    w->hw.chip.peak_flops_per_s[SP_BF16] = 1;
    w->p.recompute_layers = 0;
    w->profile.value[SP_C_CONTENTION] = 0;
    w->profile.value[SP_C_MATMUL_16] = w->profile.value[SP_C_MATMUL_8] = FREE;
    return true;
}

static void rings(void **state)
{
    int compared[2] = {0};
    (void)state;
    srand(31);
    for (int i = 0; i < 20000; i++) {
        struct world w;
        if (!draw_attention(&w))
            continue;
        const bool slow = rand() % 2;
        const struct sp_step_inputs in = {&w.m, &w.hw, &w.precision, &w.f, &w.profile, &w.p, NULL};
        w.p.execution.cp_kind = SP_CP_RING;
        const struct sp_context_bytes all = sp_context_bytes(&in);
        const double layers = (double)w.m.layers, kv = all.kv / layers, grads = all.grads / layers;
        const int n = (int)w.p.cp;
        const double each = layers * microbatches_of(&w.p);
        const double attention = estimate(&w).attention / each, forward = attention / 3.5;
        /* sends that differ so much from blocks that a smooth maximum is a maximum */
        const double rate = slow ? kv / (200 * attention) : 200 * n * (kv + grads) / forward;
        w.hw.network.domain_bytes_per_s = w.hw.network.scaleout_bytes_per_s = rate;
        w.profile.value[SP_C_SCALE_UP] = w.profile.value[SP_C_SCALE_OUT] = 1;
        const double back = attention - forward;
        const double right = played_ring(n, forward / n, kv / rate) +
                             played_ring(n, back / n, (kv + grads) / rate) + grads / rate;
        const struct sp_step_time t = estimate(&w);
        assert_true(fabs((t.attention + t.cp_comm) / each - right) <= 1e-4 * right);
        compared[slow]++;
    }
    print_message("%d with slow links, %d with slow attention\n", compared[1], compared[0]);
    assert_true(compared[0] >= 100 && compared[1] >= 100);
}

/* The bytes that all ranks of a group send to each other, pair by pair. */
static void bytes(void **state)
{
    (void)state;
    for (int n = 1; n <= 8; n++) {
        double gathered = 0, exchanged = 0, around = 0;
        for (int from = 0; from < n; from++)
            for (int to = 0; to < n; to++) {
                gathered += from != to ? 3 * 8 : 0;         /* 8 bytes of each, thrice */
                exchanged += from != to ? 2 * 24.0 / n : 0; /* a part of 24 for each */
            }
        for (int rank = 0; rank < n; rank++) {
            for (int step = 1; step < n; step++)
                around += 2 * 8 + 16; /* keys and values in both passes, gradients in one */
            around += 16;             /* home */
        }
        assert_close(sp_cp_gather_bytes(n, 8), gathered / n, 1e-12);
        assert_close(sp_cp_exchange_bytes(n, 16, 8), exchanged / n, 1e-12);
        assert_close(sp_cp_ring_bytes(n, 8, 16), around / n, 1e-12);
    }
}

/* Consecutive tokens leave most pairs to the last rank; heads are shared evenly by Ulysses. */
static void busiest(void **state)
{
    int compared = 0;
    (void)state;
    srand(32);
    for (int i = 0; i < 20000; i++) {
        struct world w;
        if (!draw(&w, false, false) || w.p.cp == 1)
            continue;
        w.hw.chip.peak_flops_per_s[SP_BF16] = 1;
        const double even = estimate(&w).attention;
        w.f.cp_uneven = true;
        const int seq = (int)w.p.seq, n = (int)w.p.cp;
        double pairs[8] = {0}, all = 0, most = 0;
        for (int layer = 0; layer < w.m.layers; layer++) {
            for (int token = 0; token < seq; token++)
                pairs[token / (seq / n)] += reach(&w.m, layer, token);
        }
        for (int rank = 0; rank < n; rank++) {
            all += pairs[rank];
            most = fmax(most, pairs[rank]);
        }
        const bool exchanged = w.p.execution.cp_kind == SP_CP_ULYSSES;
        assert_true(fabs(estimate(&w).attention / even - (exchanged ? 1 : n * most / all)) <= 2e-3);
        compared++;
    }
    print_message("%d plans\n", compared);
    assert_true(compared >= 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings),
        cmocka_unit_test(bytes),
        cmocka_unit_test(busiest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Time and cost to a loss, over batches and machines. */
#include <math.h>

#include <scaleplan/training.h>

enum { MOST_BATCHES = 40 };

/* Tokens are the law's times 1 + batch / noise scale. Without a measurement, the noise scale is
 * Kaplan's critical batch at the loss. */
struct sp_loss_point sp_run_to_loss(const struct sp_loss_question *q, double batch)
{
    struct sp_fit_input in = *q->fit;
    in.batch_tokens = batch;
    const struct sp_fit_terms t = sp_fit_terms(&in);
    const struct sp_strategy best = sp_fit_best(&in, &t, ~0u);
    struct sp_loss_point p = {
        .chips = sp_chips(in.hw),
        .batch = batch,
        .tokens = sp_tokens_in_batches(q->least_tokens, batch, q->noise),
        .step_s = best.exists ? sp_step_at_mfu_s(&best, q->mfu) : NAN,
        .fits = best.exists && best.fits,
    };
    p.steps = p.tokens / batch;
    p.seconds = p.steps * p.step_s;
    return p;
}

int sp_batches_to_loss(const struct sp_loss_question *q, struct sp_loss_point *points, int room)
{
    const double least = (double)sp_chips(q->fit->hw) * q->fit->seq;
    int n = 0;
    for (double batch = least; n < room && (n == 0 || batch <= 16 * q->noise); batch *= 2)
        points[n++] = sp_run_to_loss(q, batch);
    return n;
}

int sp_machines_to_loss(const struct sp_loss_question *q, struct sp_loss_point *points, int room)
{
    const int64_t most = q->fit->hw->chips_per_slice;
    int n = 0;
    for (int64_t chips = 1; chips <= most && n < room; chips *= 2) {
        struct sp_hardware hw = *q->fit->hw;
        hw.slices = 1;
        if (!sp_take_slice(&hw, chips))
            continue;
        struct sp_fit_input in = *q->fit;
        in.hw = &hw;
        struct sp_loss_question there = *q;
        there.fit = &in;
        struct sp_loss_point batches[MOST_BATCHES];
        const int tried = sp_batches_to_loss(&there, batches, MOST_BATCHES);
        const int best = sp_soonest(batches, tried);
        if (best >= 0)
            points[n++] = batches[best];
    }
    return n;
}

static int least_of(const struct sp_loss_point *points, int n, bool chip_seconds)
{
    int best = -1;
    double least = INFINITY;
    for (int i = 0; i < n; i++) {
        const double value = points[i].seconds * (chip_seconds ? (double)points[i].chips : 1);
        if (points[i].fits && value < least * (1 - 1e-12)) {
            best = i;
            least = value;
        }
    }
    return best;
}

int sp_soonest(const struct sp_loss_point *points, int n)
{
    return least_of(points, n, false);
}

/* If a chip-hour costs the same at every size, the cheapest machine is the smallest that fits,
 * because small batches waste no tokens. */
int sp_cheapest(const struct sp_loss_point *points, int n)
{
    return least_of(points, n, true);
}

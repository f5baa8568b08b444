/* The machines and batches that a problem allows. */
#include "study/problem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const sp_goal_names[] = {"step", "mfu", "cost", "devices", "memory", NULL};

/* This many of the largest numbers of devices are all examined; of the others, only those rounder
 * than every larger one. */
enum { NEAR_COUNTS = 12 };

/* Micro-batches that decide between two batches have up to 8 sequences. Those of 3, 5, 6 and 7 too,
 * which like 8 divide 840, where devices have less than a sequence each: replicas are few then, and
 * their stages wait for few micro-batches. */
enum { LARGEST_MICRO_BATCH = 8, SMALL_MICRO_BATCHES = 840 };

bool sp_is_free_batch(const struct sp_asked_batch *batch)
{
    return batch->is_about ||
           (!batch->counts_sequences && (!batch->is_typed || fmod(batch->tokens, batch->seq) != 0));
}

bool sp_is_about(double sequences, double asked)
{
    return fabs(sequences / asked - 1) <= SP_ABOUT * (1 + 1e-12);
}

/* Longest step of a run that ends in time. */
static double longest_run_step_s(const struct sp_problem *p, double batch_tokens)
{
    return isnan(p->days) ? INFINITY : p->days * 86400 * batch_tokens / p->tokens;
}

double sp_longest_step_s(const struct sp_problem *p, double batch_tokens)
{
    return fmin(isnan(p->max_step_s) ? INFINITY : p->max_step_s,
                longest_run_step_s(p, batch_tokens));
}

bool sp_is_in_time(const struct sp_problem *p, double batch_tokens, double step_s,
                   double run_step_s)
{
    return !(step_s > p->max_step_s) && run_step_s <= longest_run_step_s(p, batch_tokens);
}

bool sp_take_devices(struct sp_hardware *hw, int64_t devices)
{
    if (devices < 1)
        return false;
    if (hw->slices > 1 && devices % hw->chips_per_slice == 0) {
        hw->slices = devices / hw->chips_per_slice;
        return true;
    }
    hw->slices = 1;
    return sp_take_slice(hw, devices);
}

/* Length of a name without its count or shape: "h100" of "h100-512", "v5p" of "v5p:8x8x8"; 0: none.
 */
static size_t bare_length(const char *typed)
{
    const char *const colon = strrchr(typed, ':'), *const dash = strrchr(typed, '-');
    if (colon)
        return (size_t)(colon - typed);
    return dash && dash[1] && dash[1 + strspn(dash + 1, "0123456789x")] == '\0'
               ? (size_t)(dash - typed)
               : 0;
}

bool sp_is_counted(const struct sp_hardware *hw, const char *typed)
{
    return sp_chips(hw) > 1 || bare_length(typed) > 0;
}

void sp_name_machine(const struct sp_hardware *hw, const char *typed, char *out, size_t size)
{
    const size_t bare = bare_length(typed);
    const long long chips = (long long)hw->chips_per_slice, slices = (long long)hw->slices;
    char count[48];
    snprintf(count, sizeof count, slices > 1 ? "%lldx%lld" : "%lld", chips, slices);
    snprintf(out, size, "%.*s-%s", (int)(bare ? bare : strlen(hw->name)), bare ? typed : hw->name,
             count);
}

int64_t sp_fewer_devices(const struct sp_hardware *hw, int64_t devices)
{
    const int64_t slice = hw->chips_per_slice;
    if (hw->slices > 1 && devices > slice)
        return (devices - 1) / slice * slice;
    return devices > 1 ? sp_nearest_chips(&hw->network, devices - 1, false) : 0;
}

int64_t sp_odd_rest(int64_t devices, int64_t batch)
{
    const int64_t odd = sp_odd_part(devices);
    return odd / sp_common_divisor(odd, batch);
}

int64_t sp_round_shares(int64_t devices, int64_t batch)
{
    return sp_common_divisor(batch, LARGEST_MICRO_BATCH * devices);
}

int64_t sp_batch_shares(int64_t devices, int64_t batch)
{
    return batch < devices ? sp_common_divisor(batch, SMALL_MICRO_BATCHES * devices)
                           : sp_round_shares(devices, batch);
}

int sp_list_new_replicas(int64_t devices, int64_t batch, int64_t than, int64_t *found, int most)
{
    int n = 0;
    for (int64_t dp = 1; dp <= devices && dp <= batch; dp++) {
        if (devices % dp != 0 || batch % dp != 0)
            continue;
        if (than % (dp * sp_batch_shares(devices / dp, batch / dp)) == 0)
            continue;
        if (n < most)
            found[n] = dp;
        n++;
    }
    return n;
}

/* Batches such that no other batch is shared by all the same replicas and by more. */
struct batches {
    int n;
    int64_t batch[SP_MAX_VARIANTS], shares[SP_MAX_VARIANTS];
};

/* Keeps a batch unless every replica count that shares it also shares a batch kept before; of two
 * batches that the same replica counts share, keeps the nearer to the requested one. */
static void keep(struct batches *kept, int64_t devices, int64_t batch, double asked)
{
    const int64_t shares = sp_batch_shares(devices, batch);
    int left = 0;
    for (int i = 0; i < kept->n; i++) {
        const int64_t other = kept->batch[i];
        const bool is_nearer = fabs((double)batch - asked) < fabs((double)other - asked);
        if (kept->shares[i] % shares == 0 && !(kept->shares[i] == shares && is_nearer))
            return;
    }
    for (int i = 0; i < kept->n; i++) {
        if (shares % kept->shares[i] == 0)
            continue;
        kept->batch[left] = kept->batch[i];
        kept->shares[left++] = kept->shares[i];
    }
    kept->n = left;
    if (left < SP_MAX_VARIANTS) {
        kept->batch[left] = batch;
        kept->shares[left] = shares;
        kept->n++;
    }
}

/* The batches to try on a number of devices: the one that represents the request, and those within
 * SP_ABOUT that more replicas share. */
static void list_batches(const struct sp_tolerance *t, int64_t devices, struct batches *kept)
{
    const int64_t low = (int64_t)fmax(1, ceil(t->asked * (1 - SP_ABOUT) * (1 - 1e-12)));
    const int64_t high = (int64_t)floor(t->asked * (1 + SP_ABOUT) * (1 + 1e-12));
    const int64_t unit = LARGEST_MICRO_BATCH * devices; /* whole rounds, if there are some near */
    struct batches others = {0};
    *kept = (struct batches){1, {t->batch}, {sp_batch_shares(devices, t->batch)}};
    if (!t->batches)
        return;
    if (high - low >= unit)
        keep(&others, devices, (int64_t)fmax(1, round(t->asked / (double)unit)) * unit, t->asked);
    for (int64_t b = low; b <= high && high - low < unit; b++)
        keep(&others, devices, b, t->asked);
    for (int i = 0; i < others.n && kept->n < SP_MAX_VARIANTS; i++)
        if (kept->shares[0] % others.shares[i] != 0) {
            kept->batch[kept->n] = others.batch[i];
            kept->shares[kept->n++] = others.shares[i];
        }
}

/* How well a model's degrees divide a number of devices. */
struct roundness {
    int64_t rest; /* the odd part that replicas leave to stages, TP and CP */
    int64_t twos; /* the largest power of two that divides them: heads and layers divide by such */
    int64_t stages; /* numbers of stages that divide the layers */
    int64_t shares; /* replicas that share the batch, with micro-batches of powers of two alone:
                     * others hang on the batch, and would tell no devices apart */
};

static struct roundness roundness_of(const struct sp_model *model, int64_t devices, int64_t batch)
{
    struct roundness r = {sp_odd_rest(devices, batch), devices / sp_odd_part(devices), 0,
                          sp_round_shares(devices, batch)};
    const int64_t layers = model ? model->layers : 0;
    const int64_t most = layers < SP_MAX_STAGES ? layers : SP_MAX_STAGES;
    for (int64_t stages = 2; stages <= most; stages++)
        r.stages += devices % stages == 0 && sp_even_layers(model, stages) > 0;
    return r;
}

/* Whether one is as round as another in every way. */
static bool covers(const struct roundness *one, const struct roundness *other)
{
    return one->rest <= other->rest && one->twos >= other->twos && one->stages >= other->stages &&
           one->shares >= other->shares;
}

static bool is_covered(const struct roundness *list, int n, const struct roundness *one)
{
    for (int i = 0; i < n; i++)
        if (covers(&list[i], one))
            return true;
    return false;
}

int sp_list_variants(const struct sp_hardware *hw, const struct sp_tolerance *t,
                     struct sp_variant found[SP_MAX_VARIANTS])
{
    struct roundness round[SP_MAX_VARIANTS];
    int n = 0, counts = 0;
    for (int64_t d = sp_chips(hw); d >= t->least && d > 0; d = sp_fewer_devices(hw, d)) {
        const bool is_near = counts == 0 || (counts < NEAR_COUNTS && !t->only_rounder);
        const int larger = n;
        struct batches batches;
        list_batches(t, d, &batches);
        for (int i = 0; i < batches.n && n < SP_MAX_VARIANTS; i++) {
            const struct roundness one = roundness_of(t->model, d, batches.batch[i]);
            if (!is_near && is_covered(round, larger, &one))
                continue;
            round[n] = one;
            found[n++] = (struct sp_variant){d, batches.batch[i]};
        }
        counts++;
    }
    return n;
}

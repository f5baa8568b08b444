/* The machines and batches that a problem allows. */
#include "study/problem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const sp_goal_names[] = {"step", "mfu", "cost", "devices", "memory", NULL};

/* Up to this many numbers of devices are all looked at; of more, those that leave less to degrees
 * other than DP than every larger one. */
enum { ALL_COUNTS = 12 };

/* Largest micro-batch that decides between two batches. */
enum { LARGEST_MICRO_BATCH = 8 };

bool sp_is_free_batch(const struct sp_asked_batch *batch)
{
    return batch->is_about || (!batch->counts_sequences && fmod(batch->tokens, batch->seq) != 0);
}

bool sp_is_about(double sequences, double asked)
{
    return fabs(sequences / asked - 1) <= SP_ABOUT * (1 + 1e-12);
}

double sp_longest_step_s(const struct sp_problem *p, double batch_tokens)
{
    return fmin(isnan(p->max_step_s) ? INFINITY : p->max_step_s,
                isnan(p->days) ? INFINITY : p->days * 86400 * batch_tokens / p->tokens);
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

int64_t sp_batch_shares(int64_t devices, int64_t batch)
{
    return sp_common_divisor(batch, LARGEST_MICRO_BATCH * devices);
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
    const int64_t unit = LARGEST_MICRO_BATCH * devices;
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

/* Whether there are few numbers of devices from `least` on. */
static bool are_few(const struct sp_hardware *hw, int64_t least)
{
    int counts = 1;
    for (int64_t n = sp_fewer_devices(hw, sp_chips(hw));
         n >= least && n > 0 && counts <= ALL_COUNTS; n = sp_fewer_devices(hw, n))
        counts++;
    return counts <= ALL_COUNTS;
}

int sp_list_variants(const struct sp_hardware *hw, const struct sp_tolerance *t,
                     struct sp_variant found[SP_MAX_VARIANTS])
{
    const bool every = !t->only_rounder && are_few(hw, t->least);
    int64_t rest = INT64_MAX;
    int n = 0;
    for (int64_t d = sp_chips(hw); d >= t->least && d > 0; d = sp_fewer_devices(hw, d)) {
        struct batches batches;
        int64_t least_rest = rest;
        list_batches(t, d, &batches);
        for (int i = 0; i < batches.n && n < SP_MAX_VARIANTS; i++) {
            const int64_t left = sp_odd_rest(d, batches.batch[i]);
            if (every || left < rest || d == sp_chips(hw))
                found[n++] = (struct sp_variant){d, batches.batch[i]};
            least_rest = left < least_rest ? left : least_rest;
        }
        rest = least_rest;
    }
    return n;
}

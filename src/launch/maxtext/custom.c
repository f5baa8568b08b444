/* MaxText: remat_policy custom, which names what is kept of a layer tensor by tensor: on the
 * device, or in the host's memory; the rest runs again (get_remat_policy of decoders.py). */
#include <string.h>

#include "base/text.h"

#include "launch/maxtext/maxtext.h"

/* What policies here keep, a part of a layer each. */
enum part { QUERIES, KEYS, VALUES, OUT, GATES, DOWN, SCORES, PARTS };

/* Tensors, and the parts that each is all of. One without parts is not a policy's. */
static const struct {
    const char *name;
    unsigned parts;
} tensors[] = {
    {"query_proj", 1U << QUERIES},
    {"key_proj", 1U << KEYS},
    {"value_proj", 1U << VALUES},
    {"kv_proj", 1U << KEYS | 1U << VALUES},
    {"qkv_proj", 1U << QUERIES | 1U << KEYS | 1U << VALUES},
    {"out_proj", 1U << OUT},
    {"mlpwi", 1U << GATES},
    {"mlpwi_0", 1U << GATES},
    {"mlpwi_1", 1U << GATES},
    {"mlpwo", 1U << DOWN},
    {"context", 1U << SCORES},
    {"attention_out", 0},
    {"query_wa_proj", 0},
    {"kv_wa_proj", 0},
    {"mla_q", 0},
    {"mla_kv", 0},
    {"moe_mlpwi_0", 0},
    {"moe_mlpwi_1", 0},
    {"moe_mlpwo", 0},
    {"engram", 0},
    {"indexer_cutoff_threshold", 0},
};
enum { TENSORS = sizeof tensors / sizeof *tensors };

enum {
    PROJECTIONS = 1U << QUERIES | 1U << KEYS | 1U << VALUES,
    MLP = 1U << GATES | 1U << DOWN,
};

/* Policies by what they keep, those that keep most first. */
static const struct {
    const char *remat;
    unsigned parts;
} policies[] = {
    {"none", PROJECTIONS | 1U << OUT | MLP | 1U << SCORES},
    {"dots", PROJECTIONS | 1U << OUT | MLP},
    {"mlp", PROJECTIONS | 1U << OUT},
    {"qkv", PROJECTIONS},
    {"full", 0},
};

static bool is_at(struct sp_settings *s, const char *name, const char *place)
{
    const char *const where = sp_setting(s, name);
    return sp_is(where, place);
}

/* Names in a list, what of the kept is not in a policy. */
static void list_further(struct sp_settings *s, unsigned parts, const char *place, char *out,
                         size_t size)
{
    out[0] = '\0';
    for (int i = 0; i < TENSORS; i++) {
        const bool counted = tensors[i].parts != 0 && (tensors[i].parts & ~parts) == 0;
        if (is_at(s, tensors[i].name, place) && !counted)
            sp_append(out, size, " %s", tensors[i].name);
    }
}

void sp_read_custom(struct sp_settings *s)
{
    const bool gate = is_at(s, "mlpwi_0", "device") || is_at(s, "mlpwi_0", "offload"),
               up = is_at(s, "mlpwi_1", "device") || is_at(s, "mlpwi_1", "offload"),
               input_away = is_at(s, "decoder_layer_input", "offload");
    unsigned kept[2] = {0}; /* on the device, in the host's memory */
    char here[120], away[120];
    for (int i = 0; i < TENSORS; i++)
        for (int j = 0; j < 2; j++)
            if (is_at(s, tensors[i].name, j ? "offload" : "device") &&
                (strncmp(tensors[i].name, "mlpwi_", 6) != 0 || (gate && up)))
                kept[j] |= tensors[i].parts;
    size_t p = 0;
    while ((policies[p].parts & ~(kept[0] | kept[1])) != 0)
        p++;
    const unsigned parts = policies[p].parts;
    const bool host = parts ? (kept[0] & parts) == 0 : input_away;
    list_further(s, parts, "device", here, sizeof here);
    list_further(s, parts, "offload", away, sizeof away);
    sp_launch_option(s, "remat", "%s", policies[p].remat);
    if (host)
        sp_launch_option(s, "offload", "on");
    if (here[0] || away[0])
        sp_launch_note(s, "remat_policy custom: read as %s; not modelled: kept too%s%s%s",
                       policies[p].remat, here, away[0] ? ", in host memory" : "", away);
    if (!host && (kept[1] & parts) != 0)
        sp_launch_note(s, "remat_policy custom: some kept activations are in host memory; all are "
                          "counted on the device");
    if (input_away && !host)
        sp_launch_note(s, "not modelled: decoder_layer_input in host memory");
}

/* MaxText: remat_policy custom, which names the kept tensors of a layer one by one: on the device,
 * or in the host's memory; the rest is recomputed (get_remat_policy of decoders.py). */
#include <string.h>

#include <scaleplan/names.h>

#include "base/text.h"

#include "launch/maxtext/maxtext.h"

/* The parts of a layer that each policy here keeps. */
enum part { QUERIES, KEYS, VALUES, OUT, GATES, DOWN, SCORES, PARTS };

/* Tensors, the parts that each is all of, and what a plan moves them with; those that are written.
 * One without parts is not a policy's. */
static const struct {
    const char *name;
    unsigned parts;
    enum sp_away away;
    bool part_of_plan;
} tensors[] = {
    {"query_proj", 1U << QUERIES, SP_AWAY_CORE_ATTN, true},
    {"key_proj", 1U << KEYS, SP_AWAY_CORE_ATTN, true},
    {"value_proj", 1U << VALUES, SP_AWAY_CORE_ATTN, true},
    {"kv_proj", 1U << KEYS | 1U << VALUES, SP_AWAYS, false},
    {"qkv_proj", 1U << QUERIES | 1U << KEYS | 1U << VALUES, SP_AWAYS, false},
    {"out_proj", 1U << OUT, SP_AWAY_MLP_NORM, true},
    {"mlpwi", 1U << GATES, SP_AWAY_MLP, true},
    {"mlpwi_0", 1U << GATES, SP_AWAY_MLP, true},
    {"mlpwi_1", 1U << GATES, SP_AWAY_MLP, true},
    {"mlpwo", 1U << DOWN, SP_AWAY_MLP, true},
    {"context", 1U << SCORES, SP_AWAY_ATTN_PROJ, true},
    {"attention_out", 0, SP_AWAYS, false},
    {"query_wa_proj", 0, SP_AWAYS, false},
    {"kv_wa_proj", 0, SP_AWAYS, false},
    {"mla_q", 0, SP_AWAYS, false},
    {"mla_kv", 0, SP_AWAYS, false},
    {"moe_mlpwi_0", 0, SP_AWAYS, false},
    {"moe_mlpwi_1", 0, SP_AWAYS, false},
    {"moe_mlpwo", 0, SP_AWAYS, false},
    {"engram", 0, SP_AWAYS, false},
    {"indexer_cutoff_threshold", 0, SP_AWAYS, false},
};
enum { TENSORS = sizeof tensors / sizeof *tensors };

enum {
    PROJECTIONS = 1U << QUERIES | 1U << KEYS | 1U << VALUES,
    MLP = 1U << GATES | 1U << DOWN,
};

/* Policies ordered by how much they keep, most first. */
static const struct {
    const char *remat;
    unsigned parts;
} policies[] = {
    {"none", PROJECTIONS | 1U << OUT | MLP | 1U << SCORES},
    {"dots", PROJECTIONS | 1U << OUT | MLP},
    {"attention", PROJECTIONS | 1U << OUT},
    {"qkv", PROJECTIONS},
    {"mlp", MLP},
    {"full", 0},
};

static bool is_at(struct sp_settings *s, const char *name, const char *place)
{
    const char *const where = sp_setting(s, name);
    return sp_is(where, place);
}

/* Names in a list the kept tensors that are not in a policy. */
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

/* The kept tensors that wait in host memory, by our names. */
static void read_away(struct sp_settings *s, unsigned parts, unsigned moved, bool input)
{
    unsigned away = input ? 1U << SP_AWAY_ATTN_NORM : 0, said = 0;
    char list[160] = "";
    for (int i = 0; i < TENSORS; i++)
        if (tensors[i].part_of_plan && (tensors[i].parts & moved & parts) != 0)
            away |= 1U << tensors[i].away;
    for (int i = 0; i < TENSORS; i++)
        if (tensors[i].part_of_plan && away >> tensors[i].away & 1)
            said |= tensors[i].parts & parts;
    for (int i = 0; i < SP_AWAYS; i++)
        if (away >> i & 1)
            sp_append(list, sizeof list, "%s%s", list[0] ? "," : "", sp_away_names[i]);
    sp_launch_option(s, "offload-modules", "%s", list);
    if ((said & ~moved) != 0)
        sp_launch_note(s,
                       "remat_policy custom: read as offload-modules %s, of which some tensors "
                       "stay on the device",
                       list);
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
    const bool host = (kept[0] & parts) == 0 && input_away;
    list_further(s, parts, "device", here, sizeof here);
    list_further(s, parts, "offload", away, sizeof away);
    sp_launch_option(s, "remat", "%s", policies[p].remat);
    if (host)
        sp_launch_option(s, "offload", "on");
    if (here[0] || away[0])
        sp_launch_note(s, "remat_policy custom: read as %s; not modelled: kept too%s%s%s",
                       policies[p].remat, here, away[0] ? ", in host memory" : "", away);
    if (!host && ((kept[1] & parts) != 0 || input_away))
        read_away(s, parts, kept[1], input_away);
}

/* The row of a policy; past the last one where custom does not name it. */
static size_t policy_of(const struct sp_launched *l)
{
    size_t p = 0;
    while (p < sizeof policies / sizeof *policies && !sp_is(l->remat, policies[p].remat))
        p++;
    return p;
}

bool sp_custom_names(const struct sp_launched *l)
{
    const size_t p = policy_of(l);
    unsigned said = 1U << SP_AWAY_ATTN_NORM;
    if (p == sizeof policies / sizeof *policies)
        return false;
    for (int i = 0; i < TENSORS; i++)
        if (tensors[i].part_of_plan && (tensors[i].parts & ~policies[p].parts) == 0)
            said |= 1U << tensors[i].away;
    /* Where all is away, `--offload on` is meant, which moves what no tensor here is too: the
     * activations of experts, and with nothing recomputed the rest of a layer. */
    const bool more = policies[p].parts == policies[0].parts ||
                      (l->model->moe.experts > 0 && (policies[p].parts & MLP) != 0);
    const unsigned away = l->plan->recompute.away;
    return (away & ~said) == 0 && !(more && away == said);
}

void sp_make_custom(const struct sp_launched *l, struct sp_settings *s)
{
    const struct sp_recompute *const r = &l->plan->recompute;
    const unsigned away = r->offload && r->away == 0 ? ~0U : r->away;
    const size_t p = policy_of(l);
    if (!sp_custom_names(l))
        return;
    sp_make_setting(s, "remat_policy", "custom");
    for (int i = 0; i < TENSORS; i++)
        if (tensors[i].part_of_plan && (tensors[i].parts & ~policies[p].parts) == 0)
            sp_make_setting(s, tensors[i].name, "%s",
                            away >> tensors[i].away & 1 ? "offload" : "device");
    sp_make_setting(s, "decoder_layer_input", "%s",
                    away >> SP_AWAY_ATTN_NORM & 1 ? "offload" : "device");
}

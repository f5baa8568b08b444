/* MaxText: rules of sharding that are not those of base.yml (logical_axis_rules, or a file of
 * configs/custom_mesh_and_rule). A mesh that they give another meaning than the plan has is refused
 * by name; weights that they leave whole over experts or a sequence are read. */
#include <string.h>

#include "base/text.h"

#include "launch/maxtext/maxtext.h"

/* The dimensions that base.yml splits over each axis of a plan; a rule matters only if its axis is
 * used. Names of rules (`logical`) and of axes, separated by blanks. */
static const struct {
    const char *logical, *axes;
} rules[] = {
    {"activation_batch", "data fsdp fsdp_transpose expert"},
    {"activation_length", "context"},
    {"embed", "fsdp fsdp_transpose context expert"},
    {"mlp", "tensor tensor_sequence fsdp_transpose"},
    {"heads", "tensor tensor_sequence"},
    {"exp", "expert"},
    {"layers", "stage"},
};
enum { RULES = sizeof rules / sizeof *rules };

/* Files of custom_mesh_and_rule: the content of each for the rules above, "" if it has none. */
static const struct {
    const char *name, *axes[RULES];
} files[] = {
    {"pure-fsdp", {"fsdp", "", "fsdp", "", "", "", ""}},
    {"pipeline-large-moe",
     {"data fsdp expert", "context", "fsdp expert", "tensor", "tensor", "expert", "stage"}},
    {"ep-as-dp",
     {"data fsdp fsdp_transpose expert", "", "fsdp fsdp_transpose", "fsdp_transpose", "", "expert",
      ""}},
    {"ep-as-cp", {"data fsdp", "expert", "fsdp expert", "", "", "expert", "stage"}},
    {"cp-as-ep",
     {"data fsdp expert", "context", "fsdp context expert", "", "", "context expert", "stage"}},
    {"shard-exp-on-fsdp",
     {"data fsdp fsdp_transpose expert", "context", "fsdp context expert", "fsdp_transpose", "",
      "fsdp expert", "stage"}},
};

/* Axes of each rule as the options have them; NULL: as base.yml. */
struct given {
    const char *axes[RULES];
};

/* The list of a rule of logical_axis_rules: ['embed', ['fsdp', 'expert']] comes as an item's name
 * and a value behind it, ['exp', 'expert'] as two words. */
static const char *find_rule(struct sp_settings *s, const char *logical)
{
    static const char list[] = "logical_axis_rules.";
    const size_t n = strlen(logical);
    for (int i = 0; i < s->n; i++) {
        const struct sp_setting *const at = &s->at[i];
        if (strncmp(at->name, list, sizeof list - 1) != 0 || strncmp(at->value, logical, n) != 0)
            continue;
        if (at->value[n] == ' ')
            return at->value + n + 1;
        const size_t length = strlen(at->name);
        if (at->value[n] == '\0')
            return i + 1 < s->n && strncmp(at[1].name, at->name, length) == 0 &&
                           at[1].name[length] == '.'
                       ? at[1].value
                       : "";
    }
    return NULL;
}

static void read_lists(struct sp_settings *s, struct given *given)
{
    const bool all = sp_setting_on(s, "override_logical_axis_rules");
    for (int i = 0; i < RULES; i++) {
        const char *const found = find_rule(s, rules[i].logical);
        if (found || all)
            given->axes[i] = found ? found : "";
    }
    for (int i = 0; i < s->n; i++)
        if (strncmp(s->at[i].name, "logical_axis_rules", 18) == 0)
            s->at[i].read = true;
}

static bool read_file(struct sp_settings *s, struct given *given)
{
    const char *const name = sp_setting(s, "custom_mesh_and_rule");
    if (!name || !name[0])
        return true;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (sp_is(files[i].name, name)) {
            for (int j = 0; j < RULES; j++)
                given->axes[j] = files[i].axes[j];
            return true;
        }
    return sp_fail_in(s,
                      "custom_mesh_and_rule: \"%s\": expected pure-fsdp, pipeline-large-moe, "
                      "ep-as-dp, ep-as-cp, cp-as-ep or shard-exp-on-fsdp",
                      sp_safe(name));
}

/* One rule for one axis that is used: its meaning for the plan, or an error. */
static void compare(const struct sp_settings *s, int r, const char *axis, const char *given,
                    struct sp_maxtext_rules *out)
{
    const bool usual = sp_is_quiet(rules[r].axes, axis),
               weights = sp_is(rules[r].logical, "embed") && usual;
    if (sp_is_quiet(given, axis) == usual)
        return;
    if (weights && sp_is(axis, "expert"))
        out->experts_shard = false;
    else if (weights && sp_is(axis, "context"))
        out->context_shards = false;
    else
        sp_fail_in(s,
                   "rules of sharding: %s is%s split over %s, but in base.yml it is%s: such a mesh "
                   "is not modelled",
                   rules[r].logical, usual ? " not" : "", axis, usual ? "" : " not");
}

bool sp_read_rules(struct sp_settings *s, const char *used, struct sp_maxtext_rules *out)
{
    static const char *const axes[] = {"data",    "fsdp",   "fsdp_transpose",
                                       "context", "tensor", "tensor_sequence",
                                       "expert",  "stage"};
    struct given given = {{NULL}};
    const int before = s->error->lines;
    *out = (struct sp_maxtext_rules){true, true};
    if (!read_file(s, &given))
        return false;
    read_lists(s, &given);
    for (size_t a = 0; a < sizeof axes / sizeof *axes; a++)
        for (int r = 0; r < RULES; r++)
            if (sp_is_quiet(used, axes[a]) && given.axes[r])
                compare(s, r, axes[a], given.axes[r], out);
    return s->error->lines == before;
}

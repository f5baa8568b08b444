/* Megatron-LM: how its versions spell what an export says. Arguments that are not here are alike in
 * all of them. Names: megatron/training/arguments.py and transformer_config.py of each release. */
#include <string.h>

#include "launch/megatron/megatron.h"

/* From `newest` down to `oldest`, a flag (with this value; NULL: any) is spelled as `flags`, one of
 * them or several that blanks part; NULL: it has none. */
static const struct {
    const char *flag, *value;
    enum sp_core newest, oldest;
    const char *flags;
} spellings[] = {
    {"--cuda-graph-impl", "full_iteration", SP_CORE_17, SP_CORE_15,
     "--cuda-graph-impl local --cuda-graph-scope full_iteration"},
    {"--cuda-graph-impl", "full_iteration", SP_CORE_14, SP_CORE_14,
     "--enable-cuda-graph --cuda-graph-scope full_iteration"},
    {"--cuda-graph-impl", "transformer_engine", SP_CORE_14, SP_CORE_14, "--external-cuda-graph"},
    {"--fine-grained-activation-offloading", NULL, SP_CORE_15, SP_CORE_14, NULL},
    {"--offload-modules", NULL, SP_CORE_15, SP_CORE_14, ""},
    {"--cpu-offloading-num-layers", NULL, SP_CORE_15, SP_CORE_14, NULL},
    {"--moe-flex-dispatcher-backend", "deepep", SP_CORE_15, SP_CORE_14, "--moe-enable-deepep"},
    {"--moe-flex-dispatcher-backend", "hybridep", SP_CORE_15, SP_CORE_14, NULL},
    {"--optimizer", "muon", SP_CORE_17, SP_CORE_14, NULL},
};

const char *sp_megatron_version(int version)
{
    static const char *const names[] = {"0.20", "0.19", "0.18", "0.17", "0.16", "0.15", "0.14"};
    return names[version];
}

/* Puts a flag, or several with their values, in place of a setting. */
static void replace(struct sp_setting *at, const char *flags)
{
    const size_t n = strcspn(flags, " ");
    snprintf(at->name, sizeof at->name, "%.*s", (int)n, flags);
    snprintf(at->value, sizeof at->value, "%s", flags[n] ? flags + n + 1 : "");
}

void sp_spell_for_version(struct sp_settings *s, int version, struct sp_written *lost)
{
    for (int i = 0; i < s->n; i++)
        for (size_t j = 0; j < sizeof spellings / sizeof *spellings; j++) {
            struct sp_setting *const at = &s->at[i];
            const bool is_one = version >= (int)spellings[j].newest &&
                                version <= (int)spellings[j].oldest &&
                                strcmp(at->name, spellings[j].flag) == 0 &&
                                (!spellings[j].value || strcmp(at->value, spellings[j].value) == 0);
            if (!is_one)
                continue;
            if (!spellings[j].flags)
                sp_lose(lost, "%s%s%s, which Megatron-LM core %s does not have", at->name,
                        spellings[j].value ? " " : "", spellings[j].value ? spellings[j].value : "",
                        sp_megatron_version(version));
            replace(at, spellings[j].flags ? spellings[j].flags : "");
            break;
        }
}

/* torchtitan: the models that it trains, from the list in its file. */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "base/list.h"
#include "launch/torchtitan/torchtitan.h"

/* Common properties of the models of a folder: the most tokens of a sequence, whether their
 * attention is FlexAttention, with which 0.2.2 refuses context parallelism, and whether it is now
 * VarlenAttention, with which no later version accepts it. */
static const struct {
    const char *folder;
    int64_t tokens;
    bool flex, varlen;
} folders[] = {
    {"llama3", 131072, false, false},  {"deepseek_v3", 16384, true, false},
    {"llama4", 1048576, false, false}, {"qwen3", 40960, false, false},
    {"gpt_oss", 131072, true, true},
};

/* "FOLDER/FLAVOR[@VERSION][~OTHER][+fp8]=OURS": of all versions, or of one. The function in its
 * config_registry is named after folder and flavor; a flavor without one uses another's. */
static void read_item(char *item, const struct sp_launch_words *w, struct sp_titan_model *out)
{
    char newest[SP_ROW_WORD];
    const char *const ours = sp_cut_pair(item);
    char *const in_8_bits = strchr(item, '+'), *const other = strchr(item, '~'), *rest = item;
    *out = (struct sp_titan_model){.in_8_bits = in_8_bits != NULL, .borrows = other != NULL};
    if (other)
        *other = '\0';
    if (in_8_bits)
        *in_8_bits = '\0';
    snprintf(out->ours, sizeof out->ours, "%s", ours ? ours : "");
    snprintf(out->folder, sizeof out->folder, "%s", strsep(&rest, "/"));
    const char *const flavor = rest ? strsep(&rest, "@") : "";
    snprintf(out->flavor, sizeof out->flavor, "%s", flavor);
    snprintf(out->config, sizeof out->config, "%s_%s", out->folder, other ? other + 1 : flavor);
    for (char *c = out->config; *c; c++)
        *c = strchr("-.", *c) ? '_' : (char)tolower((unsigned char)*c);
    sp_version_name(w, 0, newest);
    out->is_newest = !rest || sp_is(rest, newest);
    out->is_released = !rest || (rest[0] && !out->is_newest);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (sp_is(folders[i].folder, out->folder)) {
            out->tokens = folders[i].tokens;
            out->flex = folders[i].flex;
            out->varlen = folders[i].varlen;
        }
}

bool sp_next_titan_model(const struct sp_launch_words *w, const char **list,
                         struct sp_titan_model *out)
{
    char item[2 * SP_ROW_WORD];
    const char *const at = *list ? *list : w->models;
    const size_t n = strcspn(at, " ");
    snprintf(item, sizeof item, "%.*s", (int)n, at);
    *list = at + n + (at[n] == ' ');
    if (n > 0)
        read_item(item, w, out);
    return n > 0;
}

struct sp_rules sp_titan_rules(const struct sp_settings *s, bool newest, int64_t devices,
                               const struct sp_titan_model *row, const struct sp_model *model)
{
    return (struct sp_rules){
        .settings = s,
        .model = model,
        .devices = devices,
        .version = newest ? 0 : 1,
        .fact = {{"limit", row ? row->tokens : 0},
                 {"flex", row && row->flex},
                 {"varlen", row && row->varlen}},
    };
}

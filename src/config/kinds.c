/* The table of kinds, and the kind of a file. */
#include "config/kinds.h"

#include "base/list.h"

#define ROW(kind, folder, name, noun, nouns, type, load, table, sets, marks, about)                \
    [kind] = {folder, name, noun, &(table), sets, marks, about},
const struct sp_config_kind_info sp_config_kinds[SP_CONFIG_KINDS] = {SP_KINDS(ROW, )};

enum sp_config_kind sp_guess_kind(const cJSON *root)
{
    int kind = SP_CONFIG_KINDS - 1; /* a later kind may have an earlier one's keys */
    for (; kind > 0; kind--) {
        const char *marks = sp_config_kinds[kind].marks;
        char mark[64];
        while (sp_next_item(&marks, mark, sizeof mark))
            if (cJSON_GetObjectItemCaseSensitive(root, mark))
                return (enum sp_config_kind)kind;
    }
    return SP_MODELS;
}

/* config.md: every key of every config file. */

#include "manual/manual.h"

static void put_cell(const char *text, FILE *out)
{
    for (; *text; text++)
        fputs(*text == '|' ? "\\|" : (char[]){*text, '\0'}, out);
}

void sp_write_config_reference(FILE *out)
{
    fputs("# Config files\n\n"
          "`man scaleplan-config` says the same.\n"
          "JSON Schemas for editors are installed in `share/scaleplan/schema/`; a file names its "
          "own by "
          "`$schema`.\n"
          "A key with a dot is a member of an object: `moe.experts` is `{\"moe\": {\"experts\": "
          "8}}`. `--set` takes the same\npaths with the file's kind in front, "
          "`--set hw.chip.hbm_bytes=80GiB`.\n",
          out);
    for (int k = 0; k < SP_CONFIG_KINDS; k++) {
        const struct sp_config_kind_info *const info = &sp_config_kinds[k];
        fprintf(out, "\n## %s/\n\nA %s: %s. `--set` paths start with `%s.`\n\n", info->folder,
                info->noun, info->about, info->table->name);
        fputs("| key | value | meaning |\n|---|---|---|\n", out);
        for (size_t i = 0; i < info->table->n; i++) {
            char words[512];
            sp_field_words(&info->table->fields[i], words, sizeof words);
            fprintf(out, "| `%s` | ", info->table->fields[i].key);
            put_cell(words, out);
            fputs(" | ", out);
            put_cell(info->table->fields[i].help, out);
            fputs(" |\n", out);
        }
    }
}

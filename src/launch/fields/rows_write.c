/* Options of a framework by the rows of its file: how they are written, checked, and spelled for
 * older versions. */
#include <string.h>

#include <scaleplan/names.h>
#include <scaleplan/plan.h>

#include "base/json.h"
#include "base/text.h"
#include "base/list.h"
#include "launch/fields/rows.h"

/* The value of a row's setting, as text; "" if the row sets nothing, or a setting without a value.
 * `usual`: the meaning of leaving it out. */
static void value_of(const struct sp_launch_row *row, const struct sp_launched *l, char *value,
                     const char **usual)
{
    value[0] = '\0';
    *usual = row->unsaid;
    for (int i = 0; i < SP_PLAN_FIELDS && row->plan[0]; i++) {
        const struct sp_plan_field *const field = &sp_plan_fields[i];
        if (!sp_is(field->name, row->plan))
            continue;
        const char *const name = sp_plan_name(l->plan, field);
        if (name)
            snprintf(value, SP_ROW_WORD, "%s", name);
        else
            sp_format_double(sp_plan_value(l->plan, field), value, SP_ROW_WORD);
        *usual = row->unsaid[0] || !field->fallback ? row->unsaid : field->fallback;
    }
    if (row->model[0])
        sp_format_field(sp_find_field(&sp_model_table, row->model), l->model, value, SP_ROW_WORD);
    if (row->model[0] && !row->unsaid[0])
        *usual = "0";
}

/* Whether the plan is of the kind to which a row applies. */
static bool is_of(const struct sp_launch_row *row, const struct sp_launched *l)
{
    return row->of[0] == '\0' || (sp_is(row->of, "experts") && l->model->moe.experts > 0) ||
           (sp_is(row->of, "latents") && l->model->mla.kv_lora_rank > 0) ||
           (sp_is(row->of, "fp8") && l->plan->dtype == SP_FP8) ||
           (sp_is(row->of, "shards") && l->plan->zero > 0);
}

/* The arguments that an export writes for an option: one or several, separated from their values by
 * blanks. */
static void put_words(struct sp_settings *s, const char *words)
{
    char option[SP_ROW_NAME];
    while (*words) {
        const size_t n = strcspn(words, " ");
        snprintf(option, sizeof option, "%.*s", (int)n, words);
        words += n + strspn(words + n, " ");
        const char *const value = strncmp(words, "--", 2) == 0 ? "" : words;
        sp_add_setting(s, option, value);
        words += strlen(value);
    }
}

static void put_row(const struct sp_launch_row *row, const struct sp_launched *l,
                    struct sp_settings *s)
{
    char value[SP_ROW_WORD], theirs[SP_ROW_WORD];
    const char *usual;
    const bool sets = row->plan[0] || row->model[0];
    value_of(row, l, value, &usual);
    if (row->by_code || !is_of(row, l) || (!sets && !row->always))
        return;
    snprintf(theirs, sizeof theirs, "%s", sets ? value : row->value);
    if (row->values[0])
        sp_row_theirs(row, value, theirs);
    if (row->takes_none && row->lost[0] && !sp_is(value, row->gives) && !sp_is(value, usual))
        sp_lose(l, "%s", row->lost);
    if (row->takes_none && sets ? !sp_is(value, row->gives)
                                : sets && !row->always && sp_is(value, usual))
        return;
    if (row->values[0] && !theirs[0]) {
        if (row->lost[0])
            sp_lose(l, "%s", row->lost);
        else
            sp_lose(l, "%s %s, which %s cannot express", row->plan[0] ? row->plan : row->model,
                    value, row->name);
        return;
    }
    sp_add_setting(s, row->name, row->takes_none ? "" : theirs);
    put_words(s, row->with);
}

void sp_make_cp_kind(const struct sp_launched *l, struct sp_settings *made)
{
    const struct sp_launch_row *const row = sp_row_of_plan(l->words[0], "cp-kind", NULL);
    char theirs[SP_ROW_WORD] = "";
    if (row && l->plan->cp > 1)
        sp_row_theirs(row, sp_cp_kind_names[l->plan->execution.cp_kind], theirs);
    if (theirs[0])
        sp_make_setting(made, row->name, "%s", theirs);
    else if (l->plan->cp > 1 && l->plan->execution.cp_kind == SP_CP_DYNAMIC &&
             !sp_row_of(l->words[0], "--hybrid-context-parallel"))
        sp_lose(l, "CP by documents (--cp-kind dynamic)");
}

void sp_put_rows(const struct sp_launched *l, const struct sp_settings *made, struct sp_settings *s)
{
    for (int64_t i = 0; i < l->words[0]->options.rows.n && !sp_is_settled(l); i++) {
        const struct sp_launch_row *const row = &l->words[0]->options.row[i];
        const char *const value = sp_said(made, row->name);
        if (value)
            sp_add_setting(s, row->name, value);
        else
            put_row(row, l, s);
    }
    for (int i = 0; i < made->n; i++) /* the parts for which no row has a place */
        if (!sp_row_of(l->words[0], made->at[i].name))
            sp_add_setting(s, made->at[i].name, made->at[i].value);
}

void sp_version_name(const struct sp_launch_words *w, int version, char *out)
{
    const char *at = w->versions;
    for (int i = 0; i < version; i++) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    snprintf(out, SP_ROW_WORD, "%.*s", (int)strcspn(at, " "), at);
}

void sp_version_text(const struct sp_launch_words *w, int version, char out[SP_VERSION])
{
    char name[SP_ROW_WORD];
    sp_version_name(w, version, name);
    snprintf(out, SP_VERSION, "%.24s %.15s%s%.16s", w->framework, w->release,
             w->release[0] ? " " : "", name);
}

/* The place of a version among them, by its name. */
static int place_of(const struct sp_launch_words *w, const char *name, size_t n)
{
    char at[SP_ROW_WORD];
    int i = 0;
    for (;; i++) {
        sp_version_name(w, i, at);
        if (!at[0] || (strlen(at) == n && strncmp(at, name, n) == 0))
            return i;
    }
}

/* Whether "NEWEST[-OLDEST][ VALUE]" is of that version and value. */
static bool is_of_version(const struct sp_launch_words *w, const char *item, size_t n, int version,
                          const char *value)
{
    const size_t versions = strcspn(item, " :"), first = strcspn(item, "- :");
    const int newest = place_of(w, item, first),
              oldest =
                  first < versions ? place_of(w, item + first + 1, versions - first - 1) : newest;
    const char *const given = item + versions + 1;
    return version >= newest && version <= oldest &&
           (versions == n ||
            (strlen(value) == n - versions - 1 && strncmp(given, value, n - versions - 1) == 0));
}

/* Spells one setting by one item of its row; false where the item is of other versions. */
static bool spell_item(const struct sp_launched *l, const char *item, struct sp_setting *at)
{
    const struct sp_launch_words *const w = l->words[0];
    char version[SP_VERSION];
    const char *const colon = strchr(item, ':');
    const size_t n = colon ? (size_t)(colon - item) : strlen(item);
    if (!is_of_version(w, item, n, l->version, at->value))
        return false;
    sp_version_text(w, l->version, version);
    const char *const flags = colon ? colon + 1 + strspn(colon + 1, " ") : "";
    const bool valued = memchr(item, ' ', n) != NULL;
    if (!colon)
        sp_lose(l, "%s%s%s, which %s does not take", at->name, valued ? " " : "",
                valued ? at->value : "", version);
    const size_t first = strcspn(flags, " ");
    snprintf(at->name, sizeof at->name, "%.*s", (int)first, flags);
    if (valued || flags[first]) /* otherwise it is another name */
        snprintf(at->value, sizeof at->value, "%s", flags[first] ? flags + first + 1 : "");
    return true;
}

void sp_spell_older(const struct sp_launched *l, struct sp_settings *s)
{
    for (int i = 0; i < s->n; i++) {
        const struct sp_launch_row *const row = sp_row_of(l->words[0], s->at[i].name);
        const char *list = row && row->older[0] ? row->older : NULL;
        char item[160];
        while (sp_next_item(&list, item, sizeof item) &&
               !spell_item(l, item + strspn(item, " "), &s->at[i]))
            ;
    }
}

const char *sp_quote_of(const struct sp_settings *s, const char *name)
{
    const struct sp_launch_row *const row = sp_row_of(s->words, name);
    return row && row->is_text ? "\"" : "";
}

void sp_write_head(const struct sp_launched *l, const struct sp_launch_words *words,
                   const char *form, FILE *out)
{
    char version[SP_VERSION];
    sp_version_text(words, l->version, version);
    fprintf(out, "# %s%s: ", version, form);
    sp_write_title(l, out);
    fputs("\n", out);
    sp_put_lost(l->written, "# ", "\n", out);
}

/* Inputs of an estimate that no option of a framework gives: a comment in the export carries them
 * to `step --from`, "scaleplan: --framework nemo --imbalance 1.2". Anything that the format can
 * express is in its own options only, so that editing them never contradicts the comment. */
#include <string.h>

#include "base/text.h"
#include "base/list.h"
#include "launch/fields/assumed.h"

static const char mark[] = "scaleplan:";

/* Options of `step` that such a comment may hold. */
static const char known[] = "framework,imbalance,fsdp,seq,remat,batch,micro-batch";

/* Whether a word can be separated by blanks and put in quotes unchanged. */
static bool is_one_word(const char *text)
{
    return text && text[0] && text[0] != '-' && !strpbrk(text, " \t\r\n\\'\"");
}

/* No framework has an option for the defaults on which an estimate rests; without this comment an
 * exported plan came back with another step time. The file's own options override it. */
void sp_write_assumed(const struct sp_launched *l, const char *framework, bool is_script_apart,
                      const char *before, const char *after, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    char line[512] = "";
    const size_t size = sizeof line;
#define PUT(...) sp_append(line, size, __VA_ARGS__)
    if (!sp_is(framework, l->framework))
        PUT(" --framework %s", is_one_word(l->framework_given) ? l->framework_given : l->framework);
    if (p->imbalance != 1)
        PUT(" --imbalance %.17g", p->imbalance);
    /* Between slices, the number of replicas is inferred. */
    if (p->zero > 0 && l->hw->slices > 1 && p->shards == p->dp * p->cp)
        PUT(" --fsdp %lld", (long long)p->shards);
    if (is_script_apart)
        PUT(" --seq %lld", (long long)p->seq);
    if (is_script_apart && sp_is(l->remat, "none"))
        PUT(" --remat none");
#undef PUT
    if (line[0])
        fprintf(out, "%s%s%s%s", before, mark, line, after);
}

bool sp_read_assumed(const char *line, struct sp_settings *assumed)
{
    char name[sizeof assumed->at->name] = "";
    line += strspn(line, " \t");
    if (strncmp(line, mark, sizeof mark - 1) != 0)
        return true;
    line += sizeof mark - 1;
    for (line += strspn(line, " \t"); *line && *line != '\n' && *line != '\r';
         line += strspn(line, " \t")) {
        char word[sizeof assumed->at->value];
        const size_t n = strcspn(line, " \t\r\n");
        snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), line);
        line += n;
        if (strncmp(word, "--", 2) == 0)
            snprintf(name, sizeof name, "%.60s", word + 2);
        else if (sp_is_listed(known, name, '\0') && !sp_add_setting(assumed, name, word))
            return false;
        if (strncmp(word, "--", 2) == 0 && !sp_is_listed(known, name, '\0'))
            sp_launch_note(assumed, "%s %.60s: not an option of such a comment", mark,
                           sp_safe(word));
    }
    return true;
}

bool sp_read_assumed_lines(const char *text, struct sp_settings *assumed)
{
    while (*text) {
        text += strspn(text, " \t");
        if (*text == '#' && !sp_read_assumed(text + 1, assumed))
            return false;
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return true;
}

void sp_assume(struct sp_settings *assumed, const char *name)
{
    const char *const value = sp_setting(assumed, name);
    if (value)
        sp_launch_option(assumed, name, "%s", value);
}

bool sp_take_assumed(struct sp_launch_file *file, const char *framework, const char *names)
{
    struct sp_settings *const assumed = &file->assumed;
    char name[16];
    if (!sp_read_assumed_lines(file->text, assumed))
        return false;
    const char *const said = sp_setting(assumed, "framework");
    sp_launch_option(assumed, "framework", "%s", said ? said : framework);
    while (sp_next_item(&names, name, sizeof name))
        sp_assume(assumed, name);
    return true;
}

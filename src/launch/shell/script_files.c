/* Scripts inside of a script: what it hands to a shell, and files that it writes and then runs. */
#include "launch/shell/script_files.h"

#include <string.h>

#include "base/list.h"
#include "base/text.h"

/* Whether a word is a command that runs a script. */
static bool is_shell(const char *word)
{
    return sp_is_listed("bash,sh,zsh,sbatch,qsub", word, '\0');
}

/* The name without "./". */
static const char *bare_name(const char *name)
{
    return strncmp(name, "./", 2) == 0 ? name + 2 : name;
}

/* The file of that name that was written last. */
static const char *find_file(const struct run *r, const char *name)
{
    for (int i = r->files - 1; i >= 0; i--)
        if (sp_is(r->file[i].name, bare_name(name)))
            return r->file[i].text;
    return NULL;
}

const char *sp_written_script(const struct run *r, const struct sp_shell_fields *fields)
{
    bool shell = false;
    for (int i = 0; i < fields->n; i++) {
        const char *const word = fields->at[i], *const text =
                                                    shell || i == 0 || is_shell(fields->at[0])
                                                        ? find_file(r, word)
                                                        : NULL;
        if (text)
            return text;
        shell = shell || is_shell(word) || sp_is(word, "source") || sp_is(word, ".");
    }
    return NULL;
}

const char *sp_read_script_text(const struct run *r, const struct sp_shell_fields *fields)
{
    const char *const first = fields->at[0];
    if (!r->input || fields->n == 0)
        return NULL;
    if (sp_is(first, "sbatch") || sp_is(first, "qsub"))
        return r->input;
    int last = fields->n - 1;
    while (last > 0 && fields->at[last][0] == '-')
        last--;
    return is_shell(fields->at[last]) ? r->input : NULL;
}

void sp_keep_file(struct run *r, const struct sp_shell_fields *fields)
{
    const bool cat = sp_is(fields->at[0], "cat"), tee = sp_is(fields->at[0], "tee");
    const char *const name = r->output ? r->output : tee ? fields->at[fields->n - 1] : NULL;
    if (!r->input || !(cat || tee))
        return;
    r->handed = r->output ? NULL : r->input;
    if (!name)
        return;
    r->file = sp_room_for_one(r->file, r->files, sizeof *r->file);
    r->file[r->files++] = (struct written_file){bare_name(name), r->input};
}

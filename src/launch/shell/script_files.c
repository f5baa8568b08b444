/* Scripts inside a script: texts that it passes to a shell, and files that it writes and then
 * runs. */
#include "launch/shell/script_files.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"
#include "launch/fields/named_files.h"
#include "launch/formats/syntax.h"
#include "launch/shell/commands.h"

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

const char *sp_written_file(const struct run *r, const char *name)
{
    for (int i = r->script->n_files - 1; i >= 0; i--)
        if (sp_is(r->script->files[i].name, bare_name(name)))
            return r->script->files[i].text;
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
    struct sp_script *const script = r->script;
    script->files = sp_room_for_one(script->files, script->n_files, sizeof *script->files);
    script->files[script->n_files++] = (struct sp_script_file){bare_name(name), r->input};
}

/* The folder of `cd` is kept like a name's value, so that branches and subshells treat it alike. No
 * shell name contains a blank. */
static const char folder_name[] = "cd ";

void sp_change_folder(struct run *r, const struct sp_shell_fields *fields)
{
    struct sp_shell *const shell = r->shell;
    const char *const name = fields->n > 1 ? fields->at[1] : "", *const before = sp_shell_value(
                                                                     &shell->scope, folder_name);
    const bool known = name[0] && name[0] != '-' && !sp_shell_gap_in(&shell->text, name);
    struct sp_shell_piece piece = {0};
    if (before && name[0] != '/') {
        sp_shell_puts(&piece, before);
        sp_shell_put(&piece, '/');
    }
    sp_shell_puts(&piece, name);
    sp_shell_export(&shell->scope, &shell->text, folder_name,
                    known ? sp_shell_take(&piece, &shell->text) : NULL);
    free(piece.at);
}

const char *sp_clean_script(struct sp_shell *shell, const char *text)
{
    struct sp_shell_piece piece = {0};
    for (const char *c = text; *c; c++) {
        const size_t n = c > text && strchr(" \t=\"'", c[-1]) ? sp_length_of_blank(c) : 0;
        if (n == 0 || !strchr(" \t\r\n\"'\\;", c[n])) {
            sp_shell_put(&piece, *c);
            continue;
        }
        sp_shell_puts(&piece, "${");
        for (const char *letter = c + 1; letter < c + n - 1; letter++)
            sp_shell_put(&piece, isalnum((unsigned char)*letter) ? *letter : '_');
        sp_shell_put(&piece, '}');
        c += n - 1;
    }
    return sp_shell_clean(&shell->text, sp_shell_take(&piece, &shell->text));
}

const char *sp_file_beside(struct run *r, const char *name, const char **where)
{
    char path[1024], inside[1024];
    size_t length;
    const char *const mark = strrchr(name, SP_MARK_END), *const folder = sp_shell_value(
                                                             &r->shell->scope, folder_name);
    char *text = NULL;
    name = mark ? mark + 1 : name;
    name += mark ? strspn(name, "/") : 0;
    if (name[0] && name[0] != '/' && folder && !mark && !sp_shell_gap_in(&r->shell->text, folder)) {
        snprintf(inside, sizeof inside, "%s/%s", folder, name);
        text = sp_read_beside(r->origin, inside, path, sizeof path, &length);
    }
    if (name[0] && !text && r->beside)
        text = sp_read_beside(r->beside, name, path, sizeof path, &length);
    if (name[0] && !text)
        text = sp_read_beside(r->origin, name, path, sizeof path, &length);
    const char *const script = text ? sp_clean_script(r->shell, text) : NULL;
    *where = text ? sp_shell_copy(&r->shell->text, path, strlen(path)) : NULL;
    free(text);
    return script;
}

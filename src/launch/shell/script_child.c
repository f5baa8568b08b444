/* Scripts that a script's command runs in a separate shell. */
#include "launch/shell/script_child.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"
#include "launch/fields/deciding.h"
#include "launch/shell/builtins.h"
#include "launch/shell/commands.h"
#include "launch/shell/script_branches.h"
#include "launch/shell/script_files.h"
#include "launch/shell/slurm.h"

enum { DEEPEST = 4 }; /* depth of scripts that run one another: one may run itself */

/* A script that a command runs: its text, its file (NULL: none), the places of the word that names
 * it and of its first parameter, and whether it is a job of a cluster. */
struct child {
    const char *text, *where;
    int word, parameters;
    bool job;
};

static bool is_shell(const char *word)
{
    return sp_is_listed("bash,sh,zsh", sp_base_name(word), '\0');
}

static bool is_queue(const char *word)
{
    return sp_is_listed("sbatch,qsub", word, '\0');
}

/* Whether a name ends like a script's. */
static bool is_script(const char *word)
{
    const char *const end = strrchr(sp_base_name(word), '.');
    return end && !strchr(word, '=') &&
           sp_is_listed("sh,bash,zsh,slurm,sbatch,job,batch,sub", end + 1, '\0');
}

/* Whether a word hands a text on to a shell: `bash -c TEXT NAME PARAMETERS`, `--command=TEXT`. */
static bool hands_on(const struct sp_shell_fields *fields, int i, struct child *child)
{
    static const char key[] = "--command=";
    const char *const word = fields->at[i];
    child->parameters = fields->n;
    child->word = i;
    if (strncmp(word, key, sizeof key - 1) == 0) {
        child->text = word + sizeof key - 1;
        return true;
    }
    if (i + 1 == fields->n)
        return false;
    bool hands = sp_is(word, "--command");
    for (int j = 0; j < i && word[0] == '-' && strchr(word, 'c') && word[1] != '-' && !hands; j++)
        if (is_shell(fields->at[j])) {
            hands = true;
            child->parameters = i + 3;
        }
    child->text = hands ? fields->at[i + 1] : NULL;
    return hands;
}

/* Takes the file that a word names; false if it is not there. */
static bool take_file(struct run *r, const struct sp_shell_fields *fields, int i,
                      struct child *child)
{
    const char *const name = fields->at[i];
    child->where = NULL;
    child->text = sp_written_file(r, name);
    if (!child->text && r->children < DEEPEST)
        child->text = sp_file_beside(r, name, &child->where);
    child->word = i;
    child->parameters = i + 1;
    return child->text != NULL;
}

/* The place of the word that names a script, recognised by the word before it or by its ending; -1:
 * there is none. A name without an extension, as in "./launch" or after sbatch, counts if the file
 * exists. */
static int find_file(struct run *r, const struct sp_shell_fields *fields, struct child *child)
{
    bool shell = false, queue = false;
    int last = -1; /* the word after sbatch, whose options may have values */
    for (int i = 0; i < fields->n; i++) {
        const char *const word = fields->at[i], *const end = strrchr(word, '.');
        if (word[0] == '-') /* "-eo pipefail" */
            i += shell && word[1] != '-' && word[strlen(word) - 1] == 'o';
        else if (sp_is(end, ".py") || sp_is(word, "python") || sp_is(word, "python3"))
            return shell ? i : -1;
        else if (shell || is_script(word) ||
                 ((queue || (i == 0 && strncmp(word, "./", 2) == 0 && end == word)) &&
                  take_file(r, fields, i, child)))
            return i;
        last = queue && word[0] != '-' ? i : last;
        child->job = child->job || is_queue(word);
        queue = queue || is_queue(word);
        shell = shell || is_shell(word);
    }
    return last;
}

/* Finds the script that a command runs; false if it runs none, or one that is missing. */
static bool find_child(struct run *r, const struct words *w, struct child *child)
{
    const struct sp_shell_fields *const fields = &w->fields;
    for (int i = 0; i < fields->n; i++)
        if (hands_on(fields, i, child))
            return true;
    child->word = 0;
    child->text = sp_read_script_text(r, fields);
    if (child->text) {
        child->job = is_queue(fields->at[0]);
        return true;
    }
    const int i = find_file(r, fields, child);
    if (i < 0)
        return false;
    if (child->text || take_file(r, fields, i, child))
        return true;
    if (!r->script->missing) {
        r->script->missing = fields->at[i];
        r->script->missing_line = w->lines[i];
    }
    return false;
}

/* Leaves only the environment among a shell's names. */
static void keep_exported(struct run *r)
{
    struct sp_shell_scope *const scope = &r->shell->scope;
    for (int i = 0; i < scope->n; i++)
        if (!scope->at[i].pinned && scope->at[i].reach == SP_MAYBE_EXPORTED)
            sp_open_name(r, scope->at[i].name);
        else if (!scope->at[i].pinned && scope->at[i].reach == SP_OWN)
            scope->at[i].value = NULL;
}

/* Assignments in front of a script set its variables: `env A=1 bash FILE`, `--export=ALL,A=1`. */
static void take_given(struct run *r, const struct sp_shell_fields *fields, int end)
{
    static const char key[] = "--export=";
    for (int i = 0; i < end; i++) {
        const bool list = strncmp(fields->at[i], key, sizeof key - 1) == 0;
        const char *at = fields->at[i] + (list ? sizeof key - 1 : 0);
        while (*at) {
            const size_t n = sp_assigned_here(at), all = list ? strcspn(at, ",") : strlen(at);
            if (n > 0 && n < all && at[n] == '=')
                sp_shell_export(&r->shell->scope, &r->shell->text,
                                sp_shell_copy(&r->shell->text, at, n),
                                sp_shell_copy(&r->shell->text, at + n + 1, all - n - 1));
            at += all + (at[all] != '\0');
        }
    }
}

static void run_child(struct run *r, const struct sp_shell_fields *fields,
                      const struct child *child)
{
    struct sp_shell_scope *const before = sp_copy_scope(&r->shell->scope);
    const struct run outside = *r;
    const char *const script = r->shell->script, *const source = r->shell->source;
    const int given = child->parameters < fields->n ? child->parameters : fields->n;
    keep_exported(r);
    take_given(r, fields, child->word);
    sp_set_parameters(r, fields->at + given, fields->n - given);
    if (child->job)
        r->script->slurm = sp_start_job(r->shell, child->text, fields->at, child->word);
    r->function = NULL;
    r->handler = NULL;
    r->handled = NULL;
    r->functions = r->inside = r->handlers = 0;
    r->doubt = NULL;
    r->doubtful = STAYS;
    r->beside = child->where ? child->where : r->beside;
    r->shell->script = r->shell->source = child->where;
    r->children++;
    r->again(r, child->text);
    free(r->function);
    free(r->handler);
    free(r->handled);
    free(r->doubt);
    r->handler = outside.handler;
    r->handled = outside.handled;
    r->handled_functions = outside.handled_functions;
    r->handlers = outside.handlers;
    r->function = outside.function;
    r->functions = outside.functions;
    r->inside = outside.inside;
    r->doubt = outside.doubt;
    r->doubtful = outside.doubtful;
    r->beside = outside.beside;
    r->shell->script = script;
    r->shell->source = source;
    r->children = outside.children;
    r->leave = outside.leave;
    sp_restore_scope(&r->shell->scope, before);
}

/* The value of a name that a command's environment has; NULL: none. */
static const char *exported(const struct run *r, const char *name)
{
    const struct sp_shell_scope *const scope = &r->shell->scope;
    return sp_shell_reach(scope, name) == SP_EXPORTED ? sp_shell_value(scope, name) : NULL;
}

/* How many devices a command sees; 0: not given. */
static int visible_devices(const struct run *r)
{
    const char *const list = exported(r, "CUDA_VISIBLE_DEVICES");
    return list && !sp_shell_gap_in(&r->shell->text, list) ? (int)sp_count_ids(list) : 0;
}

/* Programs that pass names of their environment on to torchrun: the options that follow their
 * words. Without them ms-swift is one process, which splits a model's layers over the visible
 * devices. */
static void add_environment(struct run *r, struct words *w, int visible)
{
    static const char *const names[] = {"NPROC_PER_NODE", "NNODES"};
    const char *const program = sp_base_name(w->fields.at[0]);
    const bool tunes = w->fields.n > 1 && sp_is_listed("sft,pt,rlhf", w->fields.at[1], '\0'),
               swift = sp_is(program, "swift") && tunes,
               megatron = sp_is(program, "megatron") && tunes;
    int given = 0;
    for (int i = 0; i < 2 && (swift || megatron || sp_is(program, "llamafactory-cli")); i++) {
        struct sp_shell_piece piece = {0};
        const char *const value = exported(r, names[i]);
        if (!value)
            continue;
        sp_shell_puts(&piece, i == 0 ? "--nproc_per_node=" : "--nnodes=");
        sp_shell_puts(&piece, value);
        w->lines = sp_room_for_one(w->lines, w->fields.n, sizeof *w->lines);
        w->lines[w->fields.n] = w->lines[0];
        sp_shell_add(&w->fields, sp_shell_take(&piece, &r->shell->text));
        given++;
    }
    if (swift && given == 0 && visible > 1)
        sp_add_unread(r->launch, "pp", "device_map", "of one process", w->lines[0]);
}

static void record(struct run *r, struct words *w)
{
    struct sp_script *const script = r->script;
    const int visible = visible_devices(r);
    add_environment(r, w, visible);
    script->commands = sp_room_for_one(script->commands, script->n, sizeof *script->commands);
    script->commands[script->n++] = (struct sp_script_command){.words = w->fields.at,
                                                               .lines = w->lines,
                                                               .n = w->fields.n,
                                                               .visible = visible,
                                                               .visible_line = r->visible_line,
                                                               .open = r->open > 0 || r->doubt};
    *w = (struct words){0};
}

void sp_launch_command(struct run *r, struct words *w)
{
    const struct sp_shell_fields fields = w->fields;
    struct child child = {.parameters = fields.n};
    const bool runs = find_child(r, w, &child);
    if (runs && child.where)
        sp_add_note(r->launch, "line %d: it runs %s, which is read", w->lines[child.word],
                    sp_safe(child.where));
    record(r, w);
    if (runs)
        run_child(r, &fields, &child);
}

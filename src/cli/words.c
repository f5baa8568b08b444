/* Lists of words that grow, quoted for a shell when they are printed. */
#include "cli/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/quote.h"

void sp_add_word(struct sp_words *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    w->word = sp_grow(w->word, (size_t)w->n + 2, &w->room, sizeof *w->word);
    w->word[w->n++] = sp_make_text_from(format, arguments);
    va_end(arguments);
    w->word[w->n] = NULL;
}

void sp_add_option(struct sp_words *w, const char *name, const char *value)
{
    sp_add_word(w, "--%s", name);
    sp_add_word(w, "%s", value);
}

void sp_free_words(struct sp_words *w)
{
    for (int i = 0; i < w->n; i++)
        free(w->word[i]);
    free(w->word);
    *w = (struct sp_words){0};
}

void sp_add_given(struct sp_words *w, const struct sp_args *args, const enum sp_option_id *ids)
{
    for (int i = 0; ids[i] != SP_NO_OPTION; i++)
        if (args->given_at[ids[i]] && args->text[ids[i]])
            sp_add_option(w, sp_option_name(ids[i]), args->text[ids[i]]);
    for (int i = 0; i < args->n_many; i++)
        sp_add_option(w, "set", args->many[i]);
}

bool sp_is_option_among(enum sp_option_id id, const enum sp_option_id *ids)
{
    for (int i = 0; ids[i] != SP_NO_OPTION; i++)
        if (ids[i] == id)
            return true;
    return false;
}

void sp_add_all(struct sp_words *w, const struct sp_args *args, const enum sp_option_id *except)
{
    for (size_t i = 0; i < args->n_options; i++) {
        const struct sp_option *const option = &args->options[i];
        if (!args->given_at[option->id] || sp_is_option_among(option->id, except) ||
            option->kind == SP_MANY || option->kind == SP_REPEATED)
            continue;
        sp_add_word(w, "--%s", option->name);
        if (args->text[option->id])
            sp_add_word(w, "%s", args->text[option->id]);
    }
    for (int i = 0; i < args->n_many; i++)
        sp_add_option(w, "set", args->many[i]);
    for (int i = 0; i < args->n_repeated; i++)
        sp_add_option(w, sp_option_name(args->repeated_id[i]), args->repeated[i]);
}

char *sp_shell_line(const struct sp_words *w)
{
    char *text = NULL;
    size_t length = 0;
    FILE *const out = sp_must(open_memstream(&text, &length));
    for (int i = 0; i < w->n; i++) {
        if (i > 0)
            fputc(' ', out);
        sp_put_shell_word(w->word[i], out);
    }
    fclose(out);
    return text;
}

/* Command lines that the program makes, to print and to parse again. */
#ifndef SP_WORDS_H
#define SP_WORDS_H

#include "cli/options.h"

struct sp_words {
    int n;
    size_t room;
    char **word; /* NULL-terminated, for getopt; NULL if there is none */
};

/* Adds one word, or --name value. */
__attribute__((format(printf, 2, 3))) void sp_add_word(struct sp_words *words, const char *format,
                                                       ...);
void sp_add_option(struct sp_words *words, const char *name, const char *value);
void sp_free_words(struct sp_words *words);

/* The options of the list (NULL-terminated) that were given, and every --set. */
void sp_add_given(struct sp_words *words, const struct sp_args *args, const enum sp_option_id *ids);

/* Every option that was given, in the order of the table, less those named in `except`. */
void sp_add_all(struct sp_words *words, const struct sp_args *args,
                const enum sp_option_id *except);

/* Whether a list of options, which SP_NO_OPTION ends, has this one. */
bool sp_is_option_among(enum sp_option_id id, const enum sp_option_id *ids);

/* The words as one line for a shell, quoted where needed. Free it. */
char *sp_shell_line(const struct sp_words *words);

#endif

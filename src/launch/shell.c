/* The arguments inside of a shell's script, without running it. */
#include <string.h>

#include "base/list.h"
#include "launch/shell.h"

static bool is_flag(const char *word)
{
    return word[0] == '-' && word[1] == '-' && word[2] >= 'a' && word[2] <= 'z';
}

/* Where a word of a shell stands: inside of an array, or of quotes that hold several arguments
 * (ARGS="--fp8-format hybrid --bf16", which the shell splits when it uses them), line breaks part
 * words and end nothing. */
struct shell {
    const char *at;
    int arrays; /* parentheses that are open */
    char list;  /* the quote of such a list, 0 outside */
    bool ended; /* a command, an array or a list ended before the word */
};

/* The first character from `at` that closes this quote, or the end. */
static const char *closing(const char *at, char quote)
{
    for (; *at && *at != quote; at++)
        if (quote == '"' && *at == '\\' && at[1])
            at++;
    return at;
}

/* Whether quotes open a list of arguments here: a flag first, or variables and then a flag, and
 * more than one word. */
static bool opens_list(const char *at)
{
    static const char blanks[] = " \t\r\n\\";
    const char *const end = (*at == '"' || *at == '\'') ? closing(at + 1, *at) : at;
    const char *word = at + 1;
    if (at == end)
        return false;
    for (word += strspn(word, blanks); word < end && *word == '$'; word += strspn(word, blanks))
        word += strcspn(word, " \t\r\n\\\"'");
    const size_t n = strcspn(word, blanks);
    return word < end && is_flag(word) && (word + n < end || word > at + 1);
}

/* Blanks, comments, line continuations, the parentheses of arrays, the quotes of lists. */
static void skip_blanks(struct shell *shell)
{
    shell->ended = false;
    for (;; shell->at++) {
        const char *const at = shell->at;
        const bool bare = !shell->list;
        if (*at == '\\' && (at[1] == '\n' || at[1] == '\r'))
            shell->at++;
        else if (bare && *at == '#')
            shell->at += strcspn(at, "\n") - 1;
        else if (bare && *at == '(')
            shell->arrays++;
        else if ((bare && (*at == ')' || (*at == '\n' && shell->arrays == 0))) ||
                 (*at && *at == shell->list))
            shell->ended = true;
        else if (bare && opens_list(at))
            shell->list = *at;
        else if (*at == '\0' || !strchr(" \t\r\n", *at))
            return;
        if (!bare && *at == shell->list)
            shell->list = 0;
        if (bare && *at == ')' && shell->arrays > 0)
            shell->arrays--;
    }
}

/* Whether an unquoted character ends a word. */
static bool ends_word(const struct shell *shell, const char *at)
{
    return strchr(shell->list ? " \t\r\n" : " \t\r\n()", *at) ||
           (*at == '\\' && (at[1] == '\n' || at[1] == '\r')) || (!shell->list && opens_list(at));
}

/* The next word of a shell's script, quotes taken off; false at the end. */
static bool next_word(struct shell *shell, char *word, size_t size)
{
    size_t n = 0;
    skip_blanks(shell);
    const char *at = shell->at;
    if (!*at)
        return false;
    for (char quote = 0; *at && *at != shell->list && (quote || !ends_word(shell, at)); at++) {
        if (!quote && (*at == '\'' || *at == '"'))
            quote = *at;
        else if (quote && *at == quote)
            quote = 0;
        else if (n + 1 < size)
            word[n++] = *at;
    }
    word[n] = '\0';
    shell->at = at;
    return true;
}

bool sp_read_flags(const char *text, struct sp_settings *settings, struct sp_error *error)
{
    char word[256];
    struct shell shell = {.at = text};
    bool open = false; /* the last flag may have values yet */
    while (next_word(&shell, word, sizeof word)) {
        struct sp_setting *const last = settings->n > 0 ? &settings->at[settings->n - 1] : NULL;
        open = is_flag(word) || (open && !shell.ended);
        if (is_flag(word)) {
            const char *const value = sp_cut_pair(word);
            if (!sp_add_setting(settings, word, value, error))
                return false;
        } else if (open && last) {
            const size_t used = strlen(last->value);
            snprintf(last->value + used, sizeof last->value - used, "%s%s", used > 0 ? " " : "",
                     word);
        }
    }
    return true;
}

static bool starts_with_one(const char *text, const char *const *names)
{
    for (; *names; names++)
        if (strncmp(text, *names, strlen(*names)) == 0)
            return true;
    return false;
}

bool sp_has_flags(const char *text, const char *const *names)
{
    bool start = true;
    for (; *text; text++) {
        if (start && *text == '#')
            text += strcspn(text, "\n");
        else if (start && text[0] == '-' && text[1] == '-' && text[2] >= 'a' && text[2] <= 'z' &&
                 (!names || starts_with_one(text, names)))
            return true;
        if (*text == '\0')
            return false;
        start = strchr(" \t\r\n('\"", *text) != NULL;
    }
    return false;
}

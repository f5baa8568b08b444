/* Blanks, comments and here-documents of a script. */
#include "launch/shell/script_blanks.h"

#include <string.h>

/* The place after a here-document that starts here, and the bytes of its text. */
static const char *end_of_here(const char *at, const struct sp_here_end *end, size_t *text)
{
    const char *const start = at;
    const size_t n = strlen(end->word);
    *text = 0;
    for (bool more = true; more && *at;) {
        const char *line = at;
        const size_t length = strcspn(at, "\n");
        *text = (size_t)(at - start);
        at += length + (at[length] == '\n');
        line += end->tabs ? strspn(line, "\t") : 0;
        more = strncmp(line, end->word, n) != 0 || !strchr("\r\n", line[n]);
        *text = more ? (size_t)(at - start) : *text;
    }
    return at;
}

/* The place after the here-documents that the line before opened. */
static const char *skip_here(const char *at, struct sp_here *here)
{
    size_t n;
    for (int i = 0; i < here->n; i++)
        at = end_of_here(at, &here->at[i], &n);
    here->n = 0;
    return at;
}

const char *sp_here_text(const char *at, const struct sp_here *here, size_t *n)
{
    while (*at && *at != '\n')
        at += *at == '\\' && at[1] ? 2 : 1;
    at += *at == '\n';
    *n = 0;
    for (int i = 0; i + 1 < here->n; i++)
        at = end_of_here(at, &here->at[i], n);
    if (here->n > 0)
        end_of_here(at, &here->at[here->n - 1], n);
    return at;
}

const char *sp_skip_blanks(const char *at, bool lines, struct sp_here *here)
{
    for (const char *before = NULL; before != at;) {
        before = at;
        at += strspn(at, " \t\r");
        if (*at == '\\' && at[1] == '\n')
            at += 2;
        else if (*at == '\\' && at[1] == '\r' && at[2] == '\n')
            at += 3;
        else if (*at == '#')
            at += strcspn(at, "\n");
        else if (lines && *at == '\n')
            at = skip_here(at + 1, here);
    }
    return at;
}

bool sp_is_bare(const char *at, const char *word)
{
    const size_t n = strlen(word);
    return strncmp(at, word, n) == 0 && (at[n] == '\0' || strchr(" \t\r\n;&|<>()", at[n]));
}

const char *sp_open_here(const char *at, struct sp_here *here)
{
    char word[sizeof here->at->word];
    size_t n = 0;
    const bool tabs = *at == '-';
    bool plain = false;
    at += tabs;
    at += strspn(at, " \t");
    for (; *at && !strchr(" \t\r\n;&|<>()", *at); at++) {
        plain = plain || strchr("'\"\\", *at);
        if (!strchr("'\"\\", *at) && n + 1 < sizeof word)
            word[n++] = *at;
    }
    word[n] = '\0';
    if (here->n < SP_MOST_HERE && n > 0) {
        memcpy(here->at[here->n].word, word, n + 1);
        here->at[here->n].plain = plain;
        here->at[here->n++].tabs = tabs;
    } else if (n > 0) {
        here->over = true;
    }
    return at;
}

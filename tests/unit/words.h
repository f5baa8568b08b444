/* The words of a command line that a test, a benchmark or a fuzz target has as one text. */
#ifndef SCALEPLAN_TEST_WORDS_H
#define SCALEPLAN_TEST_WORDS_H

#include <stdio.h>
#include <string.h>

enum { LINE = 2000, WORDS = 80 };

/* Splits a line into words in `copy`, with a final NULL. Returns their number. */
static inline int cut(const char *line, char copy[LINE], char *words[WORDS])
{
    char *rest = copy;
    int n = 0;
    snprintf(copy, LINE, "%s", line);
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;)
        words[n++] = word;
    words[n] = NULL;
    return n;
}

#endif

/* The lines of a Python text. */
#include "launch/formats/python_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "launch/formats/python_text.h"
#include "launch/formats/python_values.h"

bool sp_line_starts(const struct sp_python_line *line, const char *word)
{
    return sp_starts_python(line->from, word);
}

void sp_split_python(struct sp_python_file *m)
{
    const char *const end = m->text + strlen(m->text);
    int number = 1;
    size_t indent = 0;
    bool more = false; /* of a line, behind ";" */
    for (const char *at = m->text; at < end;) {
        const size_t blanks = strspn(at, " \t");
        indent = more ? indent : blanks;
        const char *const from = at + blanks, *stop = sp_find_outside(from, end, "\n;");
        if (stop < end && strchr(")]}", *stop))
            stop++; /* one that nothing opened */
        if (stop > from && *from != '#' && *from != '\r') {
            if ((m->n & (m->n - 1)) == 0)
                m->at = sp_must(realloc(m->at, (m->n ? 2 * (size_t)m->n : 1) * sizeof *m->at));
            m->at[m->n++] = (struct sp_python_line){from, stop, number, indent};
        }
        for (const char *c = at; c < stop; c++)
            number += *c == '\n';
        number += stop < end && *stop == '\n';
        more = stop < end && *stop == ';';
        at = stop < end ? stop + 1 : end;
    }
}

int sp_find_def(const struct sp_python_file *m, const char *name)
{
    const size_t n = strlen(name);
    for (int i = 0; i < m->n; i++)
        if (m->at[i].indent == 0 && sp_line_starts(&m->at[i], "def") &&
            strncmp(m->at[i].from + 4, name, n) == 0 && m->at[i].from[4 + n] == '(')
            return i;
    return -1;
}

int sp_block_end(const struct sp_python_file *m, int i)
{
    const size_t indent = m->at[i].indent;
    for (i++; i < m->n && m->at[i].indent > indent;)
        i++;
    return i;
}

const char *sp_assigned_value(const struct sp_python_line *line, char *name, size_t size)
{
    const char *const end = sp_end_of_name(line->from, line->to), *sign = end + strspn(end, " ");
    if (line->indent > 0 || end == line->from || sign >= line->to || *sign != '=' || sign[1] == '=')
        return NULL;
    snprintf(name, size, "%.*s", (int)(end - line->from), line->from);
    return sign + 1;
}

bool sp_next_parameter(const char **at, const char *end, char *name, size_t size,
                       struct sp_python_line *usual)
{
    while (*at < end) {
        const char *from = *at, *to = sp_find_outside(*at, end, ",");
        *at = to < end ? to + 1 : end;
        sp_trim_python(&from, &to);
        const char *const stop = sp_end_of_name(from + strspn(from, "*"), to);
        if (stop == from || (*from == '*' && from[1] != '*'))
            continue; /* "*", "*args" */
        const char *const sign = sp_find_outside(stop, to, "=");
        snprintf(name, size, "%.*s", (int)(stop - from), from);
        *usual = (struct sp_python_line){.from = sign < to ? sign + 1 : NULL, .to = to};
        return true;
    }
    return false;
}

bool sp_find_import(const struct sp_python_file *m, const char *name, char *path, size_t size)
{
    for (int i = 0; i < m->n; i++) {
        const char *const from = m->at[i].from, *const by = sp_line_starts(&m->at[i], "from")
                                                                ? strstr(from, " import ")
                                                                : NULL;
        const char *at = by && by < m->at[i].to ? strstr(by, name) : NULL;
        while (at && at < m->at[i].to &&
               (sp_is_python_letter(at[-1]) || sp_is_python_letter(at[strlen(name)])))
            at = strstr(at + 1, name);
        if (!at || at >= m->at[i].to)
            continue;
        snprintf(path, size, "%.*s", (int)(by - from - 5), from + 5);
        return true;
    }
    return false;
}

/* Whether a function, or one inside of it, returns the first thing that it is given. */
static bool hands_back(const struct sp_python_file *m, int def)
{
    const int end = sp_block_end(m, def);
    for (int i = def; i < end; i++) {
        const char *const open = strchr(m->at[i].from, '(');
        char given[64];
        if (!sp_line_starts(&m->at[i], "def") || !open || open > m->at[i].to)
            continue;
        snprintf(given, sizeof given, "%.*s", (int)strcspn(open + 1, ",): ="), open + 1);
        for (int j = i + 1; j < sp_block_end(m, i); j++) {
            const char *const word = m->at[j].from + sizeof "return";
            if (given[0] && sp_line_starts(&m->at[j], "return") && word < m->at[j].to &&
                strncmp(word, given, strlen(given)) == 0 &&
                word + strlen(given) + strspn(word + strlen(given), " ") >= m->at[j].to)
                return true;
        }
    }
    return false;
}

int sp_find_wrapper(const struct sp_python_file *m, int def)
{
    for (int i = def - 1; i >= 0 && m->at[i].from[0] == '@'; i--) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(m->at[i].from + 1, "(. \r\n"),
                 m->at[i].from + 1);
        const int wrapper = sp_find_def(m, name);
        if (wrapper >= 0 && !hands_back(m, wrapper))
            return i;
    }
    return -1;
}

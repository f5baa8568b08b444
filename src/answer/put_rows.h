/* Defines a function that puts the rows of a .def into a report in order. Before including it:
 *
 *   #define SP_ROWS "commands/lr.def"     the rows, over the members of s
 *   #define SP_ROWS_OF struct lr          the type of *s
 *   #define SP_PUT_ROWS put_rows          the function: void put_rows(struct sp_report *,
 *                                         const struct lr *s)
 *
 * No include guard: a command with several scopes includes it once per scope. Rows of Q(...) are
 * put by other code. */
#include "answer/report.h"

static void SP_PUT_ROWS(struct sp_report *r, const SP_ROWS_OF *s)
{
#define Q(id, key, label, unit, formula, source, meaning)
#define QF(id, key, label, unit, when, form, members, meaning)                                     \
    if (sp_takes(r, SP_Q_##id) && (when))                                                          \
        sp_put_form(r, SP_Q_##id, SP_CLOSED_##form, SP_ARGUMENTS members, sp_##form members);
#define QV(id, key, label, unit, when, member, source, meaning)                                    \
    if (sp_takes(r, SP_Q_##id) && (when))                                                          \
        sp_put(r, SP_Q_##id, member);
#define QE(id, key, label, unit, when, member, form, members, meaning)                             \
    if (sp_takes(r, SP_Q_##id) && (when))                                                          \
        sp_put_form(r, SP_Q_##id, SP_CLOSED_##form, SP_ARGUMENTS members, member);
#define QB(id, key, label, when, member, source, meaning)                                          \
    if (sp_takes(r, SP_Q_##id) && (when))                                                          \
        sp_put_bool(r, SP_Q_##id, member);
#define QT(id, key, label, when, words, source, meaning)                                           \
    if (sp_takes(r, SP_Q_##id) && (when))                                                          \
        sp_put_text(r, SP_Q_##id, SP_STRIP words);
#define QN(id, when)                                                                               \
    if (sp_takes(r, SP_Q_##id) && (when))                                                          \
        sp_put_null(r, SP_Q_##id);
#define LINE(when, words)                                                                          \
    if (sp_takes_words(r) && (when))                                                               \
        sp_line(r, SP_STRIP words);
#define NOTE(when, words)                                                                          \
    if (sp_takes_words(r) && (when))                                                               \
        sp_note(r, SP_STRIP words);
#define SCOPE(when, prefix)                                                                        \
    if (when)                                                                                      \
        sp_scope(r, prefix);
#define PART(when, put)                                                                            \
    if (when)                                                                                      \
        put(r, s);
#define QW(id, key, label, when, text, source, meaning)                                            \
    if (when)                                                                                      \
        sp_put_words(r, SP_Q_##id, text);
#define TABLE(when, list, columns)                                                                 \
    if (when)                                                                                      \
        sp_list_table(r, list, SP_STRIP columns);
#include SP_ROWS
#undef Q
#include "answer/row_kinds_end.h"
}

#undef SP_ROWS
#undef SP_ROWS_OF
#undef SP_PUT_ROWS

/* Defines a function that puts the rows of a .def into a report in order. Before including it:
 *
 *   #define SP_PART lr                    the rows of commands/lr.def, over the members of s
 *   #define SP_PART_OF struct lr          the type of *s
 *
 * The function is void put_lr_rows(struct sp_report *, const struct lr *s). No include guard: a
 * command with several scopes includes it once per scope. Rows of Q(...) are put by other code.
 * A form's value and words, which take time to make, are made only if the report takes them. */
#include "answer/report.h"
#include "answer/row_names.h"

/* A path has no blanks. */
/* clang-format off */
#define SP_PATH_TEXT(path) #path
#define SP_PATH_OF(part) SP_PATH_TEXT(commands/part.def)
/* clang-format on */
#define SP_FUNCTION_(part) put_##part##_rows
#define SP_FUNCTION_OF(part) SP_FUNCTION_(part)

static void SP_FUNCTION_OF(SP_PART)(struct sp_report *r, const SP_PART_OF *s)
{
#define Q(...)
#define IF(condition) if (condition)
#define WHEN(condition) if (condition) {
#define END }
#define QF_ID(id, key, label, unit, form, members, meaning)                                        \
    if (sp_takes(r, SP_Q_##id))                                                                    \
        sp_put_form(r, SP_Q_##id, SP_CLOSED_##form, SP_ARGUMENTS members, sp_##form members);
#define QV_ID(id, key, label, unit, member, source, meaning) sp_put(r, SP_Q_##id, member);
#define QE_ID(id, key, label, unit, member, form, members, meaning)                                \
    if (sp_takes(r, SP_Q_##id))                                                                    \
        sp_put_form(r, SP_Q_##id, SP_CLOSED_##form, SP_ARGUMENTS members, member);
#define QB_ID(id, key, label, member, source, meaning) sp_put_bool(r, SP_Q_##id, member);
#define QT_ID(id, key, label, words, source, meaning)                                              \
    if (sp_takes(r, SP_Q_##id))                                                                    \
        sp_put_text(r, SP_Q_##id, SP_STRIP words);
#define QW_ID(id, key, label, text, source, meaning) sp_put_words(r, SP_Q_##id, text);
#define QN(id) sp_put_null(r, SP_Q_##id);
#define LINE(...)                                                                                  \
    if (words)                                                                                     \
        sp_line(r, __VA_ARGS__);
#define NOTE(...)                                                                                  \
    if (words)                                                                                     \
        sp_note(r, __VA_ARGS__);
#define WARN(...)                                                                                  \
    if (words)                                                                                     \
        sp_warn(r, __VA_ARGS__);
#define TABLE(...) sp_list_table(r, __VA_ARGS__);
#define PART(put) put(r, s);
#define SCOPE(prefix) sp_scope(r, prefix);
#define IN(place) sp_stand_in(r, SP_##place);
    const enum sp_where outside = sp_where_now(r);
    const bool words = sp_takes_words(r);
#include SP_PATH_OF(SP_PART)
    (void)words; /* of rows without a line */
    sp_stand_in(r, outside);
#undef Q
#include "answer/row_kinds_end.h"
}

#undef SP_PATH_TEXT
#undef SP_PATH_OF
#undef SP_FUNCTION_
#undef SP_FUNCTION_OF
#undef SP_PART
#undef SP_PART_OF

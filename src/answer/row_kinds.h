/*
 * The kinds of rows of a command's NAME.def, for code that treats all quantities alike: each is a
 * Q(...) or, with a closed form, a Q_FORM(...); the others are nothing. No include guard: the
 * generated list of all rows opens with it and closes with row_kinds_end.h. IF(condition) before a
 * row selects the answers that have it, WHEN(condition) the same for all rows up to END: variants
 * of a key are rows with different conditions. See put_rows.h.
 */
#include "answer/row_names.h"
/* clang-format off */
/*
 *   QF(key, label, unit, form, (members), meaning)          a closed form of the members
 *   QV(key, label, unit, member, source, meaning)           a number that no form gives
 *   QE(key, label, unit, member, form, (members), meaning)  a number that an algorithm finds and this form explains
 *   QB(key, label, member, source, meaning)                 yes or no
 *   QT(key, label, (format, members...), source, meaning)   words
 *   QW(key, label, text, source, meaning)                   a text; NULL and "" are null
 *   QF_ID(id, key, ...) and so on                           the same with a name, SP_Q_id
 *   QN(id)                                                  null under the key of that row
 *   LINE(format, members...)                                a line of the text
 *   NOTE(format, members...)                                a remark
 *   TABLE(list, columns, members...)                        a table of the rows begun of a list: sp_list_table
 *   PART(put)                                               put(r, s) puts what is here
 *   IN(place)                                               what follows is in the texts of this place: BOTH, DETAILS, BRIEF, LISTED, SPREAD, SPARE, BRIEF_SPARE
 *   SCOPE(prefix)                                           the scope of what follows
 */
/* clang-format on */
#define IF(condition)
#define WHEN(condition)
#define END
#define QF_ID(id, key, label, unit, form, members, meaning)                                        \
    Q_FORM(id, key, label, unit, form, meaning)
#define QV_ID(id, key, label, unit, member, source, meaning)                                       \
    Q(id, key, label, unit, source, meaning)
#define QE_ID(id, key, label, unit, member, form, members, meaning)                                \
    QF_ID(id, key, label, unit, form, members, meaning)
#define QB_ID(id, key, label, member, source, meaning) Q(id, key, label, VERDICT, source, meaning)
#define QT_ID(id, key, label, words, source, meaning) Q(id, key, label, WORDS, source, meaning)
#define QW_ID(id, key, label, text, source, meaning) Q(id, key, label, WORDS, source, meaning)
#define QN(id)
#define LINE(...)
#define NOTE(...)
#define WARN(...)
#define TABLE(...)
#define PART(put)
#define SCOPE(prefix)
#define IN(place)
#define WAY(condition, words) /* see fit.c */

/*
 * The kinds of rows of a command's NAME.def, for who looks at all quantities alike: each is a
 * Q(...), the others are nothing. No include guard: the generated list of all rows opens with
 * it and closes with row_kinds_end.h. `when` selects the answers that have the row: variants of a
 * key are rows with different `when`. See put_rows.h.
 */
/* clang-format off */
/*
 *   QF(id, key, label, unit, when, form, (members), meaning)          a closed form of the members
 *   QV(id, key, label, unit, when, member, source, meaning)           a number that no form gives
 *   QE(id, key, label, unit, when, member, form, (members), meaning)  a number that an algorithm finds and this form explains
 *   QB(id, key, label, when, member, source, meaning)                 yes or no
 *   QT(id, key, label, when, (format, members...), source, meaning)   words
 *   QW(id, key, label, when, text, source, meaning)                   a text; "" is null
 *   QN(id, when)                                                      null under the key of that row
 *   LINE(when, (format, members...))                                  a line of the text
 *   NOTE(when, (format, members...))                                  a remark
 *   TABLE(when, list, ("columns", members...))                        a table of the rows begun of a list: sp_list_table
 *   PART(when, put)                                                   put(r, s) puts what stands here
 *   SCOPE(when, prefix)                                               the scope of what follows
 */
/* clang-format on */
#define QF(id, key, label, unit, when, form, members, meaning)                                     \
    Q(id, key, label, unit, sp_form_text(SP_CLOSED_##form), sp_form_source(SP_CLOSED_##form),      \
      meaning)
#define QV(id, key, label, unit, when, member, source, meaning)                                    \
    Q(id, key, label, unit, "", source, meaning)
#define QE(id, key, label, unit, when, member, form, members, meaning)                             \
    QF(id, key, label, unit, when, form, members, meaning)
#define QB(id, key, label, when, member, source, meaning)                                          \
    Q(id, key, label, VERDICT, "", source, meaning)
#define QT(id, key, label, when, words, source, meaning)                                           \
    Q(id, key, label, WORDS, "", source, meaning)
#define QW(id, key, label, when, text, source, meaning)                                            \
    Q(id, key, label, WORDS, "", source, meaning)
#define QN(id, when)
#define LINE(when, words)
#define NOTE(when, words)
#define PART(when, put)
#define SCOPE(when, prefix)
#define TABLE(when, list, columns)

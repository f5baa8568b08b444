/* clang-format off */
/* The kinds of rows of a command's NAME.def, for code that treats all quantities alike: rows with a
 * quantity become Q(...), others nothing. No include guard: the generated list of all rows begins
 * with this file and ends with row_kinds_end.h.
 *
 *   QF(id, key, label, unit, when, form, (members), meaning)    a closed form of the members
 *   QV(id, key, label, unit, when, member, source, meaning)     a number without a form
 *   QE(id, key, label, unit, when, member, form, (members), meaning)
 *                                            a number found by an algorithm, explained by a form
 *   QB(id, key, label, when, member, source, meaning)           yes or no
 *   QT(id, key, label, when, (format, members...), source, meaning)  words
 *   QN(id, when)                             null under the key of that row
 *   LINE(when, (format, members...))         a line of the text
 *   NOTE(when, (format, members...))         a note
 *   PART(when, put)                          what put(r, s) adds
 *   SCOPE(when, prefix)                      the scope of the rows below
 *
 * A row exists in answers for which `when` is true: variants of a key are rows with different
 * `when`. See put_rows.h. */
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
#define QN(id, when)
#define LINE(when, words)
#define NOTE(when, words)
#define PART(when, put)
#define SCOPE(when, prefix)

/* clang-format off */
/*
 * The kinds of rows of a command's NAME.def, for code that reads all quantities alike: each is a Q(...), lines and notes
 * are nothing. No include guard: the generated list of all rows opens with it and closes with row_kinds_end.h.
 *
 *   QF(id, key, label, unit, when, form, (members), meaning)            a closed form of the members
 *   QV(id, key, label, unit, when, member, source, meaning)             a number that no closed form gives
 *   QB(id, key, label, when, member, source, meaning)                   yes or no
 *   QT(id, key, label, when, (format, members...), source, meaning)     words
 *   LINE(when, (format, members...))
 *   NOTE(when, (format, members...))
 *
 * `when` selects the answers that have the row: variants of a key are rows with different `when`. See put_rows.h.
 */
/* clang-format on */
#define QF(id, key, label, unit, when, form, members, meaning)                                     \
    Q(id, key, label, unit, sp_form_text(SP_CLOSED_##form), sp_form_source(SP_CLOSED_##form),      \
      meaning)
#define QV(id, key, label, unit, when, member, source, meaning)                                    \
    Q(id, key, label, unit, "", source, meaning)
#define QB(id, key, label, when, member, source, meaning)                                          \
    Q(id, key, label, VERDICT, "", source, meaning)
#define QT(id, key, label, when, words, source, meaning)                                           \
    Q(id, key, label, WORDS, "", source, meaning)
#define LINE(when, words)
#define NOTE(when, words)

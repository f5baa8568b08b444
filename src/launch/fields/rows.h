/* Options of a framework by the rows of its file (configs/launch): how one row is read, written,
 * checked and lost. */
#ifndef SP_LAUNCH_ROWS_H
#define SP_LAUNCH_ROWS_H

#include "launch/fields/settings.h"

/* A framework's file, with a user's own of that name merged in, for free(); NULL with an error.
 * `switches` then has every option without a value, and `quiet` every one that changes nothing,
 * without dashes. */
struct sp_launch_words *sp_words_of(const char *name, const struct sp_sources *sources,
                                    struct sp_error *error);

/* The row of that option, or NULL. */
const struct sp_launch_row *sp_row_of(const struct sp_launch_words *words, const char *option);

/* The next row after `row` (NULL: the first) that sets that field of a plan, or NULL. */
const struct sp_launch_row *sp_row_of_plan(const struct sp_launch_words *words, const char *plan,
                                           const struct sp_launch_row *row);

/* The row that sets that property of a service, or NULL. */
const struct sp_launch_row *sp_row_of_service(const struct sp_launch_words *words,
                                              const char *serve);

/* The whole number that the settings have for that field of a plan, which has a row; 1 where it is
 * left out. */
int64_t sp_plan_whole(struct sp_settings *settings, const char *plan);

/* The next row after `row` (NULL: the first) that sets a key of a model, or NULL. */
const struct sp_launch_row *sp_next_dimension(const struct sp_launch_words *words,
                                              const struct sp_launch_row *row);

/* Whether an option of the framework that a plan is written for sets that field of it. */
bool sp_says(const struct sp_launched *launched, const char *plan);

/* The value here of one of the framework's words, and the reverse; "" if there is none or no row.
 * Valid words are short: `out` has SP_ROW_WORD bytes. */
enum { SP_ROW_WORD = 48 };
void sp_row_ours(const struct sp_launch_row *row, const char *theirs, char *out);
void sp_row_theirs(const struct sp_launch_row *row, const char *ours, char *out);

/* The same of models by name. */
void sp_model_ours(const struct sp_launch_words *words, const char *theirs, char *out);
void sp_model_theirs(const struct sp_launch_words *words, const char *ours, char *out);

/* One of a row's other spellings: of the value `when` ("": of any), an option with a value. */
struct sp_spelling {
    char when[32], option[SP_ROW_NAME], value[SP_ROW_WORD];
};

/* Reads the next of a list of them; false if it is NULL, as after the last. */
bool sp_next_spelling(const char **list, struct sp_spelling *spelling);

/* Appends the settings that other spellings mean. */
bool sp_spell_rows(struct sp_settings *settings);

/* Adds the fields of a plan as options of `step`: whole numbers, or all others. `of`: kinds of rows
 * that count, separated by blanks. */
void sp_read_plan_rows(struct sp_settings *settings, bool numbers, const char *of);

/* Adds the settings of a plan that rows define and no code has asked for: an option may consist of
 * a row alone, without code in the framework's reader. */
void sp_read_rest(struct sp_settings *settings);

/* Reads the kind of CP of several ranks by its row; `usual`: the value if it is left out, or if the
 * framework has no such row. */
void sp_read_cp_kind(struct sp_settings *settings, int64_t cp, const char *usual);

/* Makes the row for the kind of CP, if the plan has several ranks and the row a word for it. */
void sp_make_cp_kind(const struct sp_launched *launched, struct sp_settings *made);

/* Adds the model's keys of one kind of rows to a shape, ",KEY=VALUE": numbers, or all others. */
void sp_read_model_rows(struct sp_settings *settings, bool numbers, const char *of, char *shape,
                        size_t size);

/* Adds remarks on settings that are not modelled. */
void sp_note_rows(struct sp_settings *settings);

/* Puts a plan and its model as settings in the order of the rows, with those of `made` in their
 * places; parts for which there is no word are lost. */
void sp_put_rows(const struct sp_launched *launched, const struct sp_settings *made,
                 struct sp_settings *settings);

/* Spells settings in the words of that version; a setting that the version does not have is lost,
 * and one without a name is dropped. */
void sp_spell_older(const struct sp_launched *launched, struct sp_settings *settings);

/* The characters around an option's value: a quote, or "". */
const char *sp_quote_of(const struct sp_settings *settings, const char *name);

/* A framework with its version, "Megatron-LM core 0.20". */
enum { SP_VERSION = 64 };
void sp_version_text(const struct sp_launch_words *words, int version, char out[SP_VERSION]);

/* The name of a version by its place among them. */
void sp_version_name(const struct sp_launch_words *words, int version, char *out);

/* Writes comments "# FRAMEWORK VERSION FORM: ", the title, and a line for each part that is lost.
 */
void sp_write_head(const struct sp_launched *launched, const struct sp_launch_words *words,
                   const char *form, FILE *out);

#endif

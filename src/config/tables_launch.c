/* Keys of the files of configs/launch. */
#include "config/field_rows.h"
#include "config/launch_words.h"

#define R struct sp_launch_row
static const struct sp_field row_fields[] = {
    TEXT_("plan", R, plan, "the option of `step` that it sets"),
    TEXT_("model", R, model, "the key of model files that it sets"),
    TEXT_("of", R, of,
          "read and written of models with experts, with latents, in fp8 or with shards alone"),
    TEXT_("values", R, values, "its words for values, \"THEIRS=OURS, BOTH\""),
    BOOL_("switch", R, takes_none, "no value follows it"),
    BOOL_("list", R, is_list, "its value is a list of words"),
    BOOL_("text", R, is_text, "its value is a text, which stands in quotes"),
    TEXT_("gives", R, gives, "the value that a switch stands for"),
    TEXT_("unsaid", R, unsaid, "the value where it is left out"),
    BOOL_("always", R, always, "an export writes it whatever it means to leave it out"),
    TEXT_("value", R, value, "what an export writes of an option that sets nothing"),
    TEXT_("with", R, with, "options that an export writes behind it"),
    BOOL_("by_code", R, by_code, "code of the framework reads and writes it"),
    TEXT_("as", R, as,
          "what it is another spelling of, \"[VALUE: ]OPTION[ VALUE]\", comma-separated"),
    TEXT_(
        "beside", R, beside,
        "options of the framework below that write it too, \"OPTION=VALUE\", with ! those that are "
        "not given"),
    TEXT_("older", R, older,
          "how older versions spell it, \"NEWEST[-OLDEST][ VALUE][: OPTIONS]\", comma-separated; "
          "without a colon they do not have it"),
    TEXT_("excludes", R, excludes, "options that the framework refuses beside it"),
    TEXT_("needs", R, needs, "options that the framework refuses it without"),
    TEXT_("note", R, note, "what is not modelled of it; a remark says so"),
    TEXT_("lost", R, lost, "what an export cannot express where it has no word for a value"),
};
#undef R
const struct sp_field_table sp_launch_row_table = {"launch.options", row_fields,
                                                   N_FIELDS(row_fields), NULL};

#define W struct sp_launch_words
static const struct sp_field launch_fields[] = {
    TEXT_("name", W, name, "canonical name"),
    PROSE_("aliases", "other names people type"),
    TEXT_("framework", W, framework, "the framework as its authors write it"),
    TEXT_("release", W, release, "what its versions are of, before their number: \"core\" 0.20"),
    WORDS_("versions", W, versions, "those that an export can be for, the newest first"),
    ROWS_("options", W, options, SP_MOST_LAUNCH_ROWS, struct sp_launch_row,
          "its options by name, in the order of an export"),
    WORDS_("switches", W, switches, "options without a value that code asks for"),
    WORDS_("quiet", W, quiet,
           "options that change neither memory nor time enough to count; \"log-*\": all that start "
           "so"),
    WORDS_("quiet_switches", W, quiet_switches, "the same, of those without a value"),
    LINES_("facts", W, facts,
           "numbers that conditions name, \"NAME = EXPRESSION\", over names, settings {NAME} or "
           "{NAME|OTHERWISE}, and whether there is one: [NAME], [NAME?] where it is on, "
           "[NAME=THIS|THAT], [NAME~WORD]"),
    LINES_(
        "refuses", W, refuses,
        "what the framework refuses, \"CONDITION: WHAT\"; what excludes or needs an option alone "
        "stands in its row"),
    LINES_("loses", W, loses, "what of a plan it cannot express, in the same manner"),
    WORDS_("models", W, models, "models that it has by name: THEIRS=OURS, or a name of both"),
    PROSE_("source", "where the names come from"),
    PROSE_("note", "remarks"),
};
#undef W
const struct sp_field_table sp_launch_table = {"launch", launch_fields, N_FIELDS(launch_fields),
                                               &sp_launch_row_table};

/* Keys of the files of configs/launch. */
#include "config/field_rows.h"
#include "config/launch_words.h"

#define OF struct sp_launch_row
static const struct sp_field row_fields[] = {
    TEXT(plan, "the option of `step` that it sets"),
    TEXT(model, "the key of model files that it sets, or several that are read alone"),
    TEXT(serve, "what of a service it sets: options of `serve`, or what an engine makes of several "
                "(ranks: TP times attention's data parallelism, ...)"),
    TEXT(of, "read and written of models with experts, with latents, in fp8 or with shards alone"),
    TEXT(values, "its words for values, \"THEIRS=OURS, BOTH\""),
    BOOL_AT("switch", takes_none, "no value follows it"),
    BOOL_AT("truth", is_truth, "its value is a word for true or false; `values` has these two"),
    BOOL_AT("list", is_list, "its value is a list of words"),
    BOOL_AT("text", is_text, "its value is a text, which stands in quotes"),
    TEXT(gives, "the value that a switch stands for"),
    TEXT(unsaid, "the value where it is left out"),
    BOOL(always, "an export writes it whatever it means to leave it out"),
    TEXT(value, "what an export writes of an option that sets nothing"),
    TEXT(with, "options that an export writes behind it"),
    BOOL(by_code, "code of the framework reads and writes it"),
    TEXT(as, "what it is another spelling of, \"[VALUE: ]OPTION[ VALUE]\", comma-separated"),
    TEXT(
        beside,
        "options of the framework below that write it too, \"OPTION=VALUE\", with ! those that are "
        "not given"),
    TEXT(older,
         "how older versions spell it, \"NEWEST[-OLDEST][ VALUE][: OPTIONS]\", comma-separated; "
         "without a colon they do not have it"),
    TEXT(excludes, "options that the framework refuses beside it"),
    TEXT(needs, "options that the framework refuses it without"),
    TEXT(note, "what is not modelled of it; a remark says so"),
    TEXT(lost, "what an export cannot express where it has no word for a value"),
};
#undef OF
const struct sp_field_table sp_launch_row_table = {"launch.options", row_fields,
                                                   N_FIELDS(row_fields), NULL};

#define OF struct sp_launch_words
static const struct sp_field launch_fields[] = {
    NAMED,
    TEXT(framework, "the framework as its authors write it"),
    TEXT(release, "what its versions are of, before their number: \"core\" 0.20"),
    WORDS(versions, "those that an export can be for, the newest first"),
    ROWS(options, SP_MOST_LAUNCH_ROWS, struct sp_launch_row,
         "its options by name, in the order of an export"),
    WORDS(switches, "options without a value that code asks for"),
    WORDS(quiet,
          "options that change neither memory nor time enough to count; \"log-*\": all that start "
          "so"),
    WORDS(quiet_switches, "the same, of those without a value"),
    LINES(facts,
          "numbers that conditions name, \"NAME = EXPRESSION\", over names, settings {NAME} or "
          "{NAME|OTHERWISE}, and whether there is one: [NAME], [NAME?] where it is on, "
          "[NAME=THIS|THAT], [NAME~WORD]"),
    LINES(
        rollout,
        "what of reinforcement learning it says, \"OPTION = EXPRESSION\" in the same manner, 0: it "
        "does not (_ for - in options of `rl`; other names are numbers for the lines below); "
        "\"OPTION WORD = CONDITION\"; \"OPTION said = NAME|OTHERWISE\", as it stands there"),
    LINES(refuses,
          "what the framework refuses, \"CONDITION: WHAT\"; what excludes or needs an option alone "
          "stands in its row"),
    LINES(loses, "what of a plan it cannot express, in the same manner"),
    LINES(programs,
          "who runs a launch, \"FRAMEWORK[ > FORMAT]: WORDS OF ITS COMMANDS[ | KEYS OF ITS "
          "FILES][ = NAME=VALUE ...]\" with * for any text: its launches are read as that format, "
          "with these values where they say none; without a format they are refused by its name"),
    LINES(core,
          "values that decide an answer, \"OPTION: NAMES\" with * for any text: one that is not "
          "read leaves no answer unless that option of `step` is typed"),
    WORDS(models, "models that it has by name: THEIRS=OURS, or a name of both"),
    REMARKS("where the names come from"),
};
#undef OF
FIELD_TABLE(sp_launch_table, "launch", launch_fields, &sp_launch_row_table);

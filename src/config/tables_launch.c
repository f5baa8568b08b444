/* Keys of the files of configs/launch. */
#define NOT_IN_PAGE
#include "config/field_rows.h"
#include "config/launch_words.h"

#define OF struct sp_launch_row
static const struct sp_field row_fields[] = {
    TEXT(plan, "the option of `step` that it sets"),
    TEXT(model, "the model key that it sets; several are only read"),
    TEXT(serve, "the option of `serve` that it sets, or what an engine derives from several "
                "(ranks: TP times attention DP, ...)"),
    TEXT(of, "only for models with experts, with latents, in fp8 or with shards"),
    TEXT(values, "words for values, \"THEIRS=OURS, BOTH\""),
    BOOL_AT("switch", takes_none, "no value follows it"),
    BOOL_AT("truth", is_truth, "its value is true or false, in the two words of `values`"),
    BOOL_AT("list", is_list, "its value is a list of words"),
    BOOL_AT("text", is_text, "its value is a quoted text"),
    TEXT(made, "values that an engine makes while it loads; others need such a checkpoint"),
    TEXT(gives, "value that the switch sets"),
    TEXT(unsaid, "value if absent"),
    BOOL(always, "an export always writes it"),
    TEXT(value, "value that an export writes for an option that sets nothing"),
    TEXT(with, "options that an export writes after it"),
    BOOL(by_code, "read and written by C code"),
    TEXT(as, "the option that it respells, \"[VALUE: ]OPTION[ VALUE]\", comma-separated"),
    TEXT(beside,
         "options of the underlying framework that also write it, \"OPTION=VALUE\"; !: not given"),
    TEXT(older, "spelling in older versions, \"NEWEST[-OLDEST][ VALUE][: OPTIONS]\", "
                "comma-separated; without a colon: absent"),
    TEXT(excludes, "options that exclude it"),
    TEXT(needs, "options that it needs"),
    TEXT(note, "an effect that is not modelled; printed as a note"),
    TEXT(lost, "what an export loses if it has no word for the value"),
};
#undef OF
const struct sp_field_table sp_launch_row_table = {"launch.options", row_fields,
                                                   N_FIELDS(row_fields), NULL};

#define OF struct sp_launch_words
static const struct sp_field launch_fields[] = {
    NAMED,
    TEXT(framework, "the framework, as its authors spell it"),
    TEXT(release, "word before a version number: \"core\" 0.20"),
    WORDS(versions, "versions for export, newest first"),
    ROWS(options, SP_MOST_LAUNCH_ROWS, struct sp_launch_row,
         "options by name, in the order of an export"),
    WORDS(switches, "options without a value that C code reads"),
    WORDS(quiet, "options without a notable effect on memory or time; #: the place of an item"),
    WORDS(quiet_switches, "the same, for options without a value"),
    LINES(facts,
          "numbers for conditions, \"NAME = EXPRESSION\", over names, settings {NAME} or "
          "{NAME|OTHERWISE}, and tests: [NAME] given, [NAME?] on, [NAME=THIS|THAT], [NAME~WORD]"),
    LINES(rollout,
          "RL settings: \"OPTION = EXPRESSION\", 0: not set (_ for -; other names are numbers for "
          "later lines); \"OPTION WORD = CONDITION\"; \"OPTION per N = EXPRESSION\", N over it; "
          "\"OPTION said = NAME|OTHERWISE\", verbatim; \"OPTION as ENGINE:FLAG = NAME\", in the "
          "words of the engine's file; \"OPTION unread = NAMES\", refused without OPTION; \"note "
          "TEXT = CONDITION\"; \"quiet PREFIX = NAMES\", harmless: others with it are noted"),
    LINES(refuses, "settings that the framework refuses, \"CONDITION: WHAT\"; rows of options have "
                   "excludes and needs"),
    LINES(loses, "parts of a plan that it cannot express, in the same form"),
    LINES(programs, "programs that run a launch, \"FRAMEWORK[ > FORMAT]: WORDS OF ITS COMMANDS[ | "
                    "KEYS OF ITS FILES][ = NAME=VALUE ...]\", * for any text; read as that format "
                    "with these default values; without a format, refused by name"),
    LINES(images, "programs that containers start, \"WORDS: IMAGES\""),
    LINES(core, "settings that decide the answer, \"OPTION: NAMES\", * for any text; if one cannot "
                "be read, that option of `step` must be given"),
    WORDS(models, "models that it has by name: THEIRS=OURS, or a common name"),
    REMARKS("where the names come from"),
};
#undef OF
FIELD_TABLE(sp_launch_table, "launch", launch_fields, &sp_launch_row_table);

/* lint: the faults of a config file. */
#include <stdlib.h>
#include <string.h>

#include "config/exercises.h"
#include "config/world.h"
#include "base/suggest.h"
#include "cli/assumed.h"
#include "cli/plan_json.h"

extern const struct sp_command sp_cmd_step;

/* Every member of a plan is read by itself, so that its fault has its place. */
static bool check_plan(const struct sp_json *json, struct sp_error *error)
{
    struct sp_args args = {0};
    char step[] = "step", *words[] = {step, NULL};
    const int before = error->lines;
    if (!sp_parse_command(&sp_cmd_step, 1, words, &args, error))
        return false;
    const cJSON *member;
    cJSON_ArrayForEach(member, json->root)
    {
        struct sp_error wrong = {0};
        if (sp_is_full(error))
            return false;
        if (!sp_take_member(&args, json->root, member, &wrong))
            sp_fail(error, SP_INPUT, "%s: plan.%s", sp_json_place(json, member->string),
                    wrong.text + (strncmp(wrong.text, "--", 2) == 0 ? 2 : 0));
    }
    return error->lines == before;
}

/* A plan names degrees or options that no config has. */
static bool is_plan(const cJSON *root)
{
    return cJSON_IsObject(root) && (cJSON_GetObjectItemCaseSensitive(root, "hw") ||
                                    cJSON_GetObjectItemCaseSensitive(root, "tp") ||
                                    cJSON_GetObjectItemCaseSensitive(root, "model"));
}

/* A description of the file; NULL if it has a fault. */
static const char *lint_file(const char *file, const struct sp_sources *sources,
                             struct sp_error *error)
{
    struct sp_config config;
    struct sp_cases cases;
    if (!sp_open_config(SP_MODELS, file, sources, &config, error))
        return NULL;
    const cJSON *const root = config.json.root;
    const enum sp_config_kind kind = sp_guess_kind(root);
    const bool list = cJSON_IsArray(root), plan = is_plan(root);
    const bool plan_is_right = plan && check_plan(&config.json, error);
    sp_config_free(&config);
    if (plan)
        return plan_is_right ? "plan" : NULL;
    if (!list) {
        void *const loaded = sp_load_config(kind, file, sources, error);
        const bool is_right = loaded != NULL;
        free(loaded);
        return is_right ? sp_config_kinds[kind].noun : NULL;
    }
    if (!sp_open_cases(sp_pipes_of(sources->world), file, &cases, error))
        return NULL;
    sp_close_cases(&cases);
    return "case";
}

/* A file without a fault. */
struct linted {
    const char *file, *kind;
};

#define SP_PART lint
#define SP_PART_OF struct linted
#include "answer/put_rows.h"

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    if (args->n_operands == 0)
        return sp_fail(error, SP_USAGE, "give a file: scaleplan lint FILE...");
    sp_answer_is(report, "files");
    for (int i = 0; i < args->n_operands; i++) {
        const char *const file = args->operands[i];
        if (!strchr(file, '/') && !strstr(file, ".json") && strcmp(file, "-") != 0) {
            sp_fail(error, SP_INPUT, "%s: expected FILE.json or -", sp_safe(file));
            continue;
        }
        const char *const noun = lint_file(file, &sources, error);
        if (!noun)
            continue;
        sp_begin_row(report, "", "files.%d", i);
        put_lint_rows(report, &(struct linted){sp_safe(file), noun});
        if (strcmp(noun, sp_config_kinds[SP_HARDWARE].noun) == 0)
            sp_note_doubts(file, &sources, report);
    }
    return error->lines == 0;
}

static const struct sp_example examples[] = {
    {"lint my-chip.json", "its faults and where they are"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_lint = {
    .name = "lint",
    .is_list = true,
    .summary = "check config files",
    .operands = "FILE...",
    .about = "Checks config files (" SP_KINDS(
        SP_KIND_NOUN,
        ", ") "), plans (options of `step` in a JSON object) and cases for `check`: syntax, keys, "
              "ranges and consistency. Prints one line per error, with line and column.",
    .options = NULL,
    .n_options = 0,
    .examples = examples,
    .run = run,
};

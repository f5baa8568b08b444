/* Reads and checks files of exercise cases. */
#include "config/exercises.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/load.h"
#include "base/read_file.h"
#include "base/suggest.h"

const struct sp_case_member sp_case_members[] = {
    {"id", SP_CASE_IS_TEXT, true, 0, 0, "name of the case, unique in the file"},
    {"question", SP_CASE_IS_TEXT, false, 0, 0, "what is asked"},
    {"args", SP_CASE_IS_WORDS, true, 0, 0, "the words after `scaleplan`"},
    {"expect", SP_CASE_IS_VALUES, false, 0, 0, "key to value, SI base units"},
    {"rel_tol", SP_CASE_IS_REAL, false, 0, 1, "largest relative difference; 0: rounding only"},
    {"why", SP_CASE_IS_TEXT, false, 0, 0, "reason for a tolerance above 2 %"},
    {"source", SP_CASE_IS_TEXT, false, 0, 0, "where the values come from"},
    {"note", SP_CASE_IS_TEXT, false, 0, 0, "a remark"},
    {"section", SP_CASE_IS_TEXT, false, 0, 0, "begins a section of the document"},
    {"printed", SP_CASE_IS_VALUES, false, 0, 0, "values as the source prints them"},
    {"differs", SP_CASE_IS_TEXT, false, 0, 0, "why they differ, or why the source has a refusal"},
    {"draw", SP_CASE_IS_VALUES, false, 0, 0,
     "texts of question and args to what --random replaces them by"},
    {"exit", SP_CASE_IS_WHOLE, false, 2, 4, "exit code of a refusal"},
    {"error", SP_CASE_IS_TEXT, false, 0, 0, "part of the refusal"},
};
const size_t sp_n_case_members = sizeof sp_case_members / sizeof *sp_case_members;
enum { N_MEMBERS = sizeof sp_case_members / sizeof *sp_case_members };

/* "cases.json:7:5: args": the place in case i. */
#define place_of(json, i, key) place_in(SP_ROOM, json, i, key)
static const char *place_in(struct sp_text *room, const struct sp_json *json, int i,
                            const char *key)
{
    char path[128];
    snprintf(path, sizeof path, "%d%s%s", i, *key ? "." : "", key);
    const size_t n = strlen(sp_json_place_in(room, json, path));
    snprintf(room->s + n, sizeof room->s - n, ": %s", sp_safe(path));
    return room->s;
}

/* Whether a text is printable: terminal control characters are refused. */
static bool is_plain(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

static bool check_text(const struct sp_json *json, int i, const char *key, const char *text,
                       struct sp_error *error)
{
    return is_plain(text) ||
           sp_fail(error, SP_INPUT, "%s: control character in the text", place_of(json, i, key));
}

static bool check_words(const struct sp_json *json, int i, const cJSON *value,
                        struct sp_error *error)
{
    const cJSON *word;
    const int n = cJSON_GetArraySize(value);
    cJSON_ArrayForEach(word, value)
    {
        if (!cJSON_IsString(word))
            return sp_fail(error, SP_INPUT, "%s: expected words in quotes only",
                           place_of(json, i, "args"));
        if (!check_text(json, i, "args", word->valuestring, error))
            return false;
    }
    if (n < 1 || n > SP_CASE_MAX_ARGS)
        return sp_fail(error, SP_INPUT, "%s: %d words, expected from 1 to %d",
                       place_of(json, i, "args"), n, SP_CASE_MAX_ARGS);
    return true;
}

static bool check_values(const struct sp_json *json, int i, const cJSON *object,
                         struct sp_error *error)
{
    const cJSON *value;
    const int n = cJSON_GetArraySize(object);
    cJSON_ArrayForEach(value, object)
    {
        if (cJSON_IsObject(value) || cJSON_IsArray(value))
            return sp_fail(
                error, SP_INPUT,
                "%s: %s: expected a number, text, true, false or null; nested keys have dots",
                place_of(json, i, object->string), sp_safe(value->string));
        if (!check_text(json, i, object->string, value->string, error) ||
            (cJSON_IsString(value) &&
             !check_text(json, i, object->string, value->valuestring, error)))
            return false;
    }
    if (n < 1 || n > SP_CASE_MAX_VALUES)
        return sp_fail(error, SP_INPUT, "%s: %d keys, expected from 1 to %d",
                       place_of(json, i, object->string), n, SP_CASE_MAX_VALUES);
    return true;
}

static bool check_number(const struct sp_json *json, int i, const struct sp_case_member *member,
                         const cJSON *value, struct sp_error *error)
{
    const double number = value->valuedouble;
    if (number >= member->min && number <= member->max &&
        (member->type == SP_CASE_IS_REAL || number == floor(number)))
        return true;
    return sp_fail(error, SP_INPUT, "%s: %g is out of range, expected from %g to %g",
                   place_of(json, i, member->key), number, member->min, member->max);
}

static bool check_member(const struct sp_json *json, int i, const struct sp_case_member *member,
                         const cJSON *value, struct sp_error *error)
{
    static const char *const expected[] = {
        [SP_CASE_IS_TEXT] = "text",
        [SP_CASE_IS_WORDS] = "an array of words",
        [SP_CASE_IS_VALUES] = "an object of keys and values",
        [SP_CASE_IS_REAL] = "a number",
        [SP_CASE_IS_WHOLE] = "a whole number",
    };
    const bool right[] = {
        [SP_CASE_IS_TEXT] = cJSON_IsString(value),   [SP_CASE_IS_WORDS] = cJSON_IsArray(value),
        [SP_CASE_IS_VALUES] = cJSON_IsObject(value), [SP_CASE_IS_REAL] = cJSON_IsNumber(value),
        [SP_CASE_IS_WHOLE] = cJSON_IsNumber(value),
    };
    if (!right[member->type])
        return sp_fail(error, SP_INPUT, "%s: expected %s", place_of(json, i, member->key),
                       expected[member->type]);
    switch (member->type) {
    case SP_CASE_IS_WORDS:
        return check_words(json, i, value, error);
    case SP_CASE_IS_VALUES:
        return check_values(json, i, value, error);
    case SP_CASE_IS_REAL:
    case SP_CASE_IS_WHOLE:
        return check_number(json, i, member, value, error);
    default:
        return check_text(json, i, member->key, value->valuestring, error);
    }
}

static const struct sp_case_member *find_member(const char *key, struct sp_nearest *nearest)
{
    for (int m = 0; m < N_MEMBERS; m++) {
        if (strcmp(sp_case_members[m].key, key) == 0)
            return &sp_case_members[m];
        sp_nearest_offer(nearest, sp_case_members[m].key);
    }
    return NULL;
}

static const cJSON *get(const cJSON *node, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(node, key);
}

const char *sp_find_drawn(const char *text, const char *from, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = from; (at = strstr(at, word)); at++) {
        const char before = at > text ? at[-1] : ' ', after = at[n];
        const bool cut = isdigit((unsigned char)before) || before == '.' || before == '_' ||
                         (isalpha((unsigned char)before) && before != 'x');
        const bool goes_on = isdigit((unsigned char)after) || after == '_' ||
                             (after == '.' && isdigit((unsigned char)at[n + 1])) ||
                             (isalpha((unsigned char)after) && after != 'x');
        if (!cut && !goes_on)
            return at;
    }
    return NULL;
}

/* The drawn names and numbers must occur in the question and in the command. */
static bool check_draw(const struct sp_json *json, int i, const cJSON *node, const cJSON *draw,
                       struct sp_error *error)
{
    const cJSON *word;
    bool in_args = false;
    cJSON_ArrayForEach(word, get(node, "args"))
    {
        in_args = in_args || sp_find_drawn(word->valuestring, word->valuestring, draw->string);
    }
    if (!*draw->string || !in_args || !get(node, "question") ||
        !sp_find_drawn(get(node, "question")->valuestring, get(node, "question")->valuestring,
                       draw->string))
        return sp_fail(error, SP_INPUT, "%s: \"%s\" must occur in \"question\" and in \"args\"",
                       place_of(json, i, "draw"), sp_safe(draw->string));
    return (cJSON_IsString(draw) && *draw->valuestring) ||
           sp_fail(error, SP_INPUT, "%s: %s: expected text", place_of(json, i, "draw"),
                   sp_safe(draw->string));
}

/* A printed value is one of an expected key: the same number when rounded, or there is a reason. */
static bool check_printed(const struct sp_json *json, int i, const cJSON *node,
                          struct sp_error *error)
{
    static const double ROUNDED = 0.03; /* one or two digits */
    const cJSON *printed;
    cJSON_ArrayForEach(printed, get(node, "printed"))
    {
        const cJSON *const expected = get(get(node, "expect"), printed->string);
        if (!expected)
            return sp_fail(error, SP_INPUT, "%s: \"%s\" is not in \"expect\"",
                           place_of(json, i, "printed"), sp_safe(printed->string));
        if (!get(node, "differs") && cJSON_IsNumber(printed) && cJSON_IsNumber(expected) &&
            !sp_case_is_close(printed->valuedouble, expected->valuedouble, ROUNDED))
            return sp_fail(error, SP_INPUT, "%s: \"%s\" is not as expected; \"differs\" says why",
                           place_of(json, i, "printed"), sp_safe(printed->string));
    }
    return true;
}

/* Checks a case beyond the types of its members. */
static bool check_whole(const struct sp_json *json, int i, const cJSON *node,
                        struct sp_error *error)
{
    const cJSON *printed;
    for (int m = 0; m < N_MEMBERS; m++)
        if (sp_case_members[m].required && !get(node, sp_case_members[m].key))
            return sp_fail(error, SP_INPUT, "%s: \"%s\" is missing", place_of(json, i, ""),
                           sp_case_members[m].key);
    if (!get(node, "expect") == !get(node, "exit"))
        return sp_fail(error, SP_INPUT,
                       "%s: expected either \"expect\" (an answer) or \"exit\" (a refusal)",
                       place_of(json, i, ""));
    if (get(node, "error") && !get(node, "exit"))
        return sp_fail(error, SP_INPUT, "%s needs \"exit\"", place_of(json, i, "error"));
    if (get(node, "rel_tol") && get(node, "rel_tol")->valuedouble > 0.02 && !get(node, "why"))
        return sp_fail(error, SP_INPUT, "%s: above 2 %%, \"why\" is needed",
                       place_of(json, i, "rel_tol"));
    if (get(node, "differs") && !get(node, "printed") && !get(node, "exit"))
        return sp_fail(error, SP_INPUT, "%s needs \"printed\" or \"exit\"",
                       place_of(json, i, "differs"));
    if (cJSON_GetArraySize(get(node, "draw")) > SP_CASE_MAX_DRAWS)
        return sp_fail(error, SP_INPUT, "%s: expected at most %d keys", place_of(json, i, "draw"),
                       SP_CASE_MAX_DRAWS);
    cJSON_ArrayForEach(printed, get(node, "draw"))
    {
        if (!check_draw(json, i, node, printed, error))
            return false;
    }
    return check_printed(json, i, node, error);
}

static bool check_case(const struct sp_json *json, int i, const cJSON *node, struct sp_error *error)
{
    const cJSON *value;
    bool ok = true;
    if (!cJSON_IsObject(node))
        return sp_fail(error, SP_INPUT, "%s: expected an object, a case", place_of(json, i, ""));
    cJSON_ArrayForEach(value, node)
    {
        if (sp_is_full(error))
            return false;
        struct sp_nearest nearest = {.wanted = value->string};
        const struct sp_case_member *member = find_member(value->string, &nearest);
        if (!member)
            ok = sp_fail(error, SP_INPUT, "%s: unknown key%s", place_of(json, i, value->string),
                         sp_nearest_hint(&nearest));
        else
            ok = check_member(json, i, member, value, error) && ok;
    }
    return ok && check_whole(json, i, node, error);
}

static bool check_ids(const struct sp_json *json, struct sp_error *error)
{
    int i = 0;
    const cJSON *node;
    cJSON_ArrayForEach(node, json->root)
    {
        const char *const id = get(node, "id")->valuestring;
        for (const cJSON *other = json->root->child; other != node; other = other->next)
            if (strcmp(get(other, "id")->valuestring, id) == 0)
                return sp_fail(error, SP_INPUT, "%s: \"%s\" is also the name of another case",
                               place_of(json, i, "id"), sp_safe(id));
        i++;
    }
    return true;
}

static bool check_cases(const struct sp_cases *cases, struct sp_error *error)
{
    const struct sp_json *json = &cases->json;
    const cJSON *node;
    int i = 0;
    bool ok = true;
    if (!cJSON_IsArray(json->root) || cases->n == 0)
        return sp_fail(error, SP_INPUT, "%s:1:1: expected a JSON array of cases",
                       sp_safe(json->origin));
    cJSON_ArrayForEach(node, json->root)
    {
        if (sp_is_full(error))
            return false;
        ok = check_case(json, i++, node, error) && ok;
    }
    return ok && check_ids(json, error);
}

bool sp_open_cases(struct sp_pipes *pipes, const char *path, struct sp_cases *cases,
                   struct sp_error *error)
{
    size_t length;
    *cases =
        (struct sp_cases){.text = sp_read_file(pipes, path, SP_JSON_MAX_BYTES, &length, error)};
    if (!cases->text)
        return false;
    if (sp_json_parse(cases->text, length, sp_origin_of(path), &cases->json, error)) {
        cases->n = cJSON_GetArraySize(cases->json.root);
        if (check_cases(cases, error))
            return true;
    }
    sp_close_cases(cases);
    return false;
}

bool sp_known_cases(const char *text, size_t length, struct sp_cases *cases, struct sp_error *error)
{
    *cases = (struct sp_cases){.n = 0};
    if (!sp_json_parse_known(text, length, "printed figures", &cases->json, error))
        return false;
    cases->n = cJSON_GetArraySize(cases->json.root);
    return true;
}

void sp_close_cases(struct sp_cases *cases)
{
    sp_json_free(&cases->json);
    free(cases->text);
    cases->text = NULL;
}

static const char *text_at(const cJSON *node, const char *key)
{
    const cJSON *value = get(node, key);
    return value ? value->valuestring : "";
}

static int take_values(const cJSON *object, struct sp_case_value *values)
{
    int n = 0;
    const cJSON *value;
    cJSON_ArrayForEach(value, object)
    {
        values[n++] = (struct sp_case_value){
            .key = value->string,
            .kind = cJSON_IsNumber(value)   ? SP_CASE_NUMBER
                    : cJSON_IsBool(value)   ? SP_CASE_BOOL
                    : cJSON_IsString(value) ? SP_CASE_TEXT
                                            : SP_CASE_NULL,
            .number = cJSON_IsBool(value) ? cJSON_IsTrue(value) : value->valuedouble,
            .text = cJSON_IsString(value) ? value->valuestring : "",
        };
    }
    return n;
}

void sp_case_at(const struct sp_cases *cases, int i, struct sp_case *c)
{
    const cJSON *const node = cJSON_GetArrayItem(cases->json.root, i);
    const cJSON *const rel_tol = get(node, "rel_tol"), *const code = get(node, "exit"), *word;
    *c = (struct sp_case){
        .id = text_at(node, "id"),
        .section = text_at(node, "section"),
        .question = text_at(node, "question"),
        .source = text_at(node, "source"),
        .note = text_at(node, "note"),
        .why = text_at(node, "why"),
        .differs = text_at(node, "differs"),
        .error = text_at(node, "error"),
        .rel_tol = rel_tol ? rel_tol->valuedouble : 0,
        .exit = code ? (int)code->valuedouble : 0,
    };
    cJSON_ArrayForEach(word, get(node, "args"))
    {
        c->args[c->n_args++] = word->valuestring;
    }
    c->n_expect = take_values(get(node, "expect"), c->expect);
    c->n_printed = take_values(get(node, "printed"), c->printed);
    c->n_draw = take_values(get(node, "draw"), c->draw);
}

/* Tolerance 0 allows 1e-12, for sums in another order. */
bool sp_case_is_close(double actual, double expected, double rel_tol)
{
    const double tolerance = rel_tol > 0 ? rel_tol : 1e-12;
    return fabs(actual - expected) <= tolerance * fabs(expected);
}

double sp_case_off(double actual, double expected)
{
    return actual == expected ? 0 : actual / expected - 1;
}

bool sp_case_matches(const struct sp_case_value *expected, const struct sp_case_value *actual,
                     double rel_tol)
{
    if (actual->kind != expected->kind)
        return false;
    if (expected->kind == SP_CASE_TEXT)
        return strcmp(actual->text, expected->text) == 0;
    return expected->kind == SP_CASE_NULL ||
           sp_case_is_close(actual->number, expected->number, rel_tol);
}

#include "cases.h"

#include <stdio.h>
#include <string.h>

#include "text.h"

static const char *const keys[] = {"id", "question", "args", "expect", "rel_tol", "source", "note"};
enum { N_KEYS = sizeof keys / sizeof keys[0] };

static bool check_keys(const cJSON *object, const char *where, struct sp_error *error)
{
    const cJSON *member;
    cJSON_ArrayForEach(member, object)
    {
        struct sp_nearest nearest = {.wanted = member->string};
        bool known = false;
        for (int i = 0; i < N_KEYS; i++) {
            known = known || strcmp(keys[i], member->string) == 0;
            sp_nearest_offer(&nearest, keys[i]);
        }
        if (!known)
            return sp_fail(error, SP_INPUT, "%s: %s: unknown key%s", where, sp_safe(member->string),
                           sp_nearest_hint(&nearest));
    }
    return true;
}

/* A text member; "" when it is missing and not required. */
static bool read_text(const cJSON *object, const char *key, bool required, const char *where,
                      const char **out, struct sp_error *error)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, key);
    *out = "";
    if (!member && !required)
        return true;
    if (!cJSON_IsString(member))
        return sp_fail(error, SP_INPUT, "%s: %s must be text", where, key);
    *out = member->valuestring;
    return true;
}

static bool read_args(const cJSON *object, const char *where, struct sp_case *out,
                      struct sp_error *error)
{
    const cJSON *args = cJSON_GetObjectItemCaseSensitive(object, "args"), *arg;
    if (!cJSON_IsArray(args) || cJSON_GetArraySize(args) == 0)
        return sp_fail(error, SP_INPUT, "%s: args must be a list of words, the command first",
                       where);
    cJSON_ArrayForEach(arg, args)
    {
        if (!cJSON_IsString(arg) || out->n_args == SP_CASE_MAX_ARGS)
            return sp_fail(error, SP_INPUT, "%s: args must hold at most %d texts", where,
                           SP_CASE_MAX_ARGS);
        out->args[out->n_args++] = arg->valuestring;
    }
    return true;
}

bool sp_read_case(const struct sp_json *json, int index, struct sp_case *out,
                  struct sp_error *error)
{
    const cJSON *object = cJSON_GetArrayItem(json->root, index);
    const cJSON *tolerance = cJSON_GetObjectItemCaseSensitive(object, "rel_tol");
    char where[320];
    *out = (struct sp_case){.rel_tol = 0};
    snprintf(where, sizeof where, "%s: case %d", sp_safe(json->origin), index);
    if (!cJSON_IsObject(object))
        return sp_fail(error, SP_INPUT, "%s: must be an object", where);
    if (!check_keys(object, where, error) || !read_text(object, "id", true, where, &out->id, error))
        return false;
    snprintf(where, sizeof where, "%s: case \"%s\"", sp_safe(json->origin), sp_safe(out->id));
    if (tolerance && (!cJSON_IsNumber(tolerance) ||
                      !(tolerance->valuedouble >= 0 && tolerance->valuedouble < 1)))
        return sp_fail(error, SP_INPUT, "%s: rel_tol must be a number from 0 to below 1", where);
    out->rel_tol = tolerance ? tolerance->valuedouble : 0;
    out->expect = cJSON_GetObjectItemCaseSensitive(object, "expect");
    if (!cJSON_IsObject(out->expect) || !out->expect->child)
        return sp_fail(error, SP_INPUT, "%s: expect must be an object of key and value", where);
    if (cJSON_GetArraySize(out->expect) > SP_CASE_MAX_EXPECT)
        return sp_fail(error, SP_INPUT, "%s: expect holds more than %d keys", where,
                       SP_CASE_MAX_EXPECT);
    return read_text(object, "question", false, where, &out->question, error) &&
           read_text(object, "source", false, where, &out->source, error) &&
           read_text(object, "note", false, where, &out->note, error) &&
           read_args(object, where, out, error);
}

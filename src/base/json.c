/* Strict parsing through cJSON, places of faults, and doubles in their shortest exact form. */
#include "base/json.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_syntax.h"
#include "base/memory.h"
#include "base/shortest.h"
#include "base/utf8.h"

struct place {
    size_t line, column;
};

static struct place place_of(const char *text, size_t offset)
{
    struct place place = {1, 1};
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n') {
            place.line++;
            place.column = 1;
        } else {
            place.column++;
        }
    }
    return place;
}

static bool fail_at(const struct sp_json *json, size_t offset, struct sp_error *error,
                    const char *what)
{
    const struct place place = place_of(json->text, offset);
    return sp_fail(error, SP_INPUT, "%s:%zu:%zu: %s", sp_safe(json->origin), place.line,
                   place.column, what);
}

/* Encoding and grammar, before cJSON sees the text. */
static bool check_text(const struct sp_json *json, struct sp_error *error)
{
    const unsigned char *s = (const unsigned char *)json->text;
    if (strspn(json->text, " \t\r\n") == json->length)
        return sp_fail(error, SP_INPUT, "%s: the file is empty, expected JSON",
                       sp_safe(json->origin));
    for (size_t i = 0; (i += sp_plain_length(s + i, json->length - i)) < json->length;) {
        const size_t length = sp_utf8_length(s + i, json->length - i);
        if (length == 0)
            return fail_at(json, i, error, "not valid UTF-8");
        if (s[i] == 0)
            return fail_at(json, i, error, "NUL byte, expected JSON text");
        i += length;
    }
    size_t where;
    const char *const wrong = sp_json_syntax(json->text, json->length, &where);
    return !wrong || fail_at(json, where, error, wrong);
}

static int compare_keys(const void *a, const void *b)
{
    const cJSON *const *x = a, *const *y = b;
    return strcmp((*x)->string, (*y)->string);
}

/* The same for an object of few members, without a list. */
static const cJSON *find_twin_of_few(const cJSON *object)
{
    for (const cJSON *member = object->child; member; member = member->next)
        for (const cJSON *other = object->child; other != member; other = other->next)
            if (strcmp(other->string, member->string) == 0)
                return member;
    return NULL;
}

/* A member with the same key as another; NULL: none. Sorts, because an object may have 100000
 * members. */
static const cJSON *find_twin(const cJSON *object)
{
    enum { FEW = 8 };
    const size_t n = (size_t)cJSON_GetArraySize(object);
    if (n <= FEW)
        return find_twin_of_few(object);
    const cJSON **const members = sp_must(calloc(n + 1, sizeof(const cJSON *))), *member;
    const cJSON *twin = NULL;
    size_t i = 0;
    cJSON_ArrayForEach(member, object)
    {
        members[i++] = member;
    }
    qsort(members, n, sizeof(const cJSON *), compare_keys);
    for (i = 1; i < n && !twin; i++)
        if (strcmp(members[i - 1]->string, members[i]->string) == 0)
            twin = members[i];
    free(members);
    return twin;
}

/* The path of a node: its key, or its index in a list. */
struct step {
    const struct step *parent; /* NULL: the root, which has no name */
    const char *key;
    int index;
};

/* "a.0.b" */
static void path_of(const struct step *at, char *out, size_t size)
{
    out[0] = '\0';
    if (!at->parent)
        return;
    path_of(at->parent, out, size);
    const size_t used = strlen(out);
    const char *const dot = used > 0 ? "." : "";
    if (at->key)
        snprintf(out + used, size - used, "%s%s", dot, at->key);
    else
        snprintf(out + used, size - used, "%s%d", dot, at->index);
}

/* Refuses duplicate keys and numbers that are not finite, all the way down. */
static bool check_tree(const struct sp_json *json, const cJSON *node, const struct step *at,
                       struct sp_error *error)
{
    char path[160];
    struct step next = {.parent = at};
    const cJSON *child, *const twin = cJSON_IsObject(node) ? find_twin(node) : NULL;
    if (cJSON_IsNumber(node) && !isfinite(node->valuedouble)) {
        path_of(at, path, sizeof path);
        return sp_fail(error, SP_INPUT, "%s: %s%sthe number is too large",
                       sp_json_place(json, path), sp_safe(path), *path ? ": " : "");
    }
    if (cJSON_GetArraySize(node) > SP_JSON_MAX_MEMBERS) {
        path_of(at, path, sizeof path);
        return sp_fail(error, SP_INPUT, "%s: more than 100000 members in one object or array",
                       sp_json_place(json, path));
    }
    if (twin) {
        next.key = twin->string;
        path_of(&next, path, sizeof path);
        return sp_fail(error, SP_INPUT, "%s: %s: duplicate key", sp_json_place(json, path),
                       sp_safe(path));
    }
    cJSON_ArrayForEach(child, node)
    {
        next.key = child->string;
        if (!check_tree(json, child, &next, error))
            return false;
        next.index++;
    }
    return true;
}

bool sp_json_parse_known(const char *text, size_t length, const char *origin, struct sp_json *json,
                         struct sp_error *error)
{
    *json = (struct sp_json){.text = text, .length = length, .origin = origin};
    const char *end = text;
    json->root = cJSON_ParseWithLengthOpts(text, length + 1, &end, 1);
    if (json->root)
        return true;
    const size_t at = (size_t)(end - text);
    return fail_at(json, at < length ? at : length, error,
                   at < length ? "not valid JSON here" : "the JSON ends too early");
}

bool sp_json_parse(const char *text, size_t length, const char *origin, struct sp_json *json,
                   struct sp_error *error)
{
    *json = (struct sp_json){.text = text, .length = length, .origin = origin};
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark is harmless */
        json->text += 3;
        json->length -= 3;
    }
    if (!check_text(json, error) ||
        !sp_json_parse_known(json->text, json->length, origin, json, error))
        return false;
    if (!check_tree(json, json->root, &(struct step){0}, error)) {
        sp_json_free(json);
        return false;
    }
    if (!cJSON_IsObject(json->root) && !cJSON_IsArray(json->root)) {
        sp_json_free(json);
        return sp_fail(error, SP_INPUT, "%s:1:1: expected a JSON object or array", sp_safe(origin));
    }
    return true;
}

void sp_json_free(struct sp_json *json)
{
    cJSON_Delete(json->root);
    json->root = NULL;
}

static const char *skip_space(const char *s)
{
    return s + strspn(s, " \t\r\n");
}

static const char *skip_string(const char *s)
{
    for (s++; *s && *s != '"'; s++)
        if (*s == '\\' && s[1])
            s++;
    return *s ? s + 1 : s;
}

/* Returns the end of the value at s; the text is known to be valid JSON. */
static const char *skip_value(const char *s)
{
    int depth = 0;
    do {
        s = skip_space(s);
        if (*s == '"') {
            s = skip_string(s);
        } else if (*s == '{' || *s == '[') {
            depth++;
            s++;
        } else if (*s == '}' || *s == ']') {
            depth--;
            s++;
        } else if (*s == ',' || *s == ':') {
            s++;
        } else {
            s += strcspn(s, ",:]}[{\" \t\r\n");
        }
    } while (*s && depth > 0);
    return s;
}

/* The key `name` (length n) of the object at s; NULL when there is none. The last one of
 * duplicates. */
static const char *find_key(const char *s, const char *name, size_t n)
{
    const char *found = NULL;
    if (*s != '{')
        return NULL;
    for (s = skip_space(s + 1); *s == '"';) {
        const char *const key = s, *const end = skip_string(s);
        if ((size_t)(end - key) == n + 2 && strncmp(key + 1, name, n) == 0)
            found = key;
        s = skip_space(end);
        s = skip_space(skip_value(s + 1));
        if (*s == ',')
            s = skip_space(s + 1);
    }
    return found;
}

/* The element `index` of the array at s; NULL when there is none. */
static const char *find_element(const char *s, const char *index)
{
    if (*s != '[' || !isdigit((unsigned char)*index))
        return NULL;
    s = skip_space(s + 1);
    for (long left = strtol(index, NULL, 10); *s && *s != ']'; left--) {
        if (left == 0)
            return s;
        s = skip_space(skip_value(s));
        if (*s == ',')
            s = skip_space(s + 1);
    }
    return NULL;
}

const char *sp_json_place_in(struct sp_text *room, const struct sp_json *json, const char *path)
{
    if (!json->text)
        return sp_safe_in(room, json->origin);
    const char *value = skip_space(json->text), *key = value;
    while (*path) {
        const size_t n = strcspn(path, ".");
        const char *const element = find_element(value, path);
        const char *const next = element ? element : find_key(value, path, n);
        if (!next)
            break;
        key = next;
        value = element ? element : skip_space(skip_space(skip_string(key)) + 1);
        path += n + (path[n] == '.');
    }
    const struct place place = place_of(json->text, (size_t)(key - json->text));
    snprintf(room->s, sizeof room->s, "%s:%zu:%zu", sp_safe(json->origin), place.line,
             place.column);
    return room->s;
}

/* cJSON's own printing changes one double in six. */
void sp_format_double(double value, char *out, size_t size)
{
    if (!isfinite(value)) {
        snprintf(out, size, "null");
        return;
    }
    char usual[32];
    if (sp_shortest(value, usual)) {
        const size_t n = strlen(usual);
        memcpy(out, usual, n < size ? n + 1 : size);
        out[size - 1] = '\0';
        return;
    }
    for (int digits = 15; digits <= 16; digits++) {
        snprintf(out, size, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            return;
    }
    snprintf(out, size, "%.17g", value);
}

/* Finds a member of an array that open_path() made. Each has its index in valueint, which cJSON
 * uses only for numbers: values come in order, and walking to the end for each takes minutes for
 * 20,000 rows. */
static cJSON *member_at(cJSON *array, int index)
{
    cJSON *const last = array->child ? array->child->prev : NULL;
    if (!last || last->valueint < index)
        return NULL;
    return last->valueint == index ? last : cJSON_GetArrayItem(array, index);
}

/* The container that holds the last part of a dotted path; numbers index arrays. */
static cJSON *open_path(cJSON *root, const char *path, const char **last)
{
    cJSON *at = root;
    for (;;) {
        const size_t n = strcspn(path, ".");
        if (path[n] == '\0') {
            *last = path;
            return at;
        }
        char name[80];
        sp_cut_text(path, n, name, sizeof name);
        const char *const next = path + n + 1;
        cJSON *child = cJSON_IsArray(at) ? member_at(at, atoi(name))
                                         : cJSON_GetObjectItemCaseSensitive(at, name);
        if (!child) {
            const bool array = next[0] == '0' && (next[1] == '.' || next[1] == '\0');
            child = array ? cJSON_CreateArray() : cJSON_CreateObject();
            if (cJSON_IsArray(at)) {
                child->valueint = atoi(name);
                cJSON_AddItemToArray(at, child);
            } else {
                cJSON_AddItemToObject(at, name, child);
            }
        }
        at = child;
        path = next;
    }
}

void sp_json_add_at(cJSON *root, const char *path, cJSON *value)
{
    const char *key;
    cJSON *const container = open_path(root, path, &key);
    if (cJSON_IsArray(container))
        cJSON_AddItemToArray(container, value);
    else
        cJSON_AddItemToObject(container, key, value);
}

bool sp_to_json_number(const char *text, char *out, size_t size)
{
    char *end;
    const char *const digits = text + (*text == '-');
    if ((!isdigit((unsigned char)*digits) && *digits != '.') ||
        (digits[0] == '0' && isdigit((unsigned char)digits[1])) ||
        text[strspn(text, "-0123456789.eE+")] != '\0')
        return false;
    const double number = strtod(text, &end);
    if (end == digits || *end != '\0' || !isfinite(number))
        return false;
    size_t where;
    if (!sp_json_syntax(text, strlen(text), &where))
        snprintf(out, size, "%s", text); /* as it was typed */
    else
        sp_format_double(number, out, size);
    return true;
}

void sp_put_json_text(FILE *out, const char *key, const char *text, const char *end)
{
    cJSON *const string = cJSON_CreateString(text);
    char *const quoted = sp_must(cJSON_PrintUnformatted(string));
    cJSON_Delete(string);
    fprintf(out, "  \"%s\": %s%s\n", key, quoted, end);
    cJSON_free(quoted);
}

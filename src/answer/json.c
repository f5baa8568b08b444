/* Renders a report as JSON. */
#include "answer/report_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"

cJSON *sp_entry_json(const struct sp_entry *entry)
{
    const char *const value = sp_exact_value(entry, SP_ROOM);
    return entry->kind == SP_VALUE_TEXT ? cJSON_CreateString(value) : cJSON_CreateRaw(value);
}

void sp_add_entry_json(cJSON *root, const struct sp_entry *entry)
{
    sp_json_add_at(root, sp_path(entry), sp_entry_json(entry));
}

void sp_print_json(cJSON *root, bool one_line, FILE *out)
{
    char *text = one_line ? cJSON_PrintUnformatted(root) : cJSON_Print(root);
    if (text) {
        fputs(text, out);
        fputc('\n', out);
    }
    cJSON_free(text);
    cJSON_Delete(root);
}

/* Adds the program's version and the version of the keys, which increases when a key is removed or
 * changes meaning. */
static void add_origin(cJSON *root)
{
    enum { SHAPE_OF_KEYS = 2 };
    cJSON *const origin = cJSON_AddObjectToObject(root, "scaleplan");
    cJSON_AddStringToObject(origin, "version", SCALEPLAN_VERSION);
    cJSON_AddNumberToObject(origin, "keys", SHAPE_OF_KEYS);
}

/* A list that is printed row by row: as a tree it takes several times the room of its report. */
struct long_list {
    char name[32]; /* "": none */
};

/* A list with this many rows or more is long. A page, where every byte of code counts, has none. */
#ifdef __wasi__
enum { LONG = 0 };
#else
enum { LONG = 1000 };
#endif

/* The list of a path such as runs.999.id, if that has as many rows and they are printed. */
static void name_list(const char *path, struct long_list *list)
{
    const size_t n = strcspn(path, ".");
    if (n < sizeof list->name && path[n] != '\0' && isdigit((unsigned char)path[n + 1]) &&
        strtoul(path + n + 1, NULL, 10) >= LONG - 1)
        sp_cut_text(path, n, list->name, sizeof list->name);
}

/* The first long list. Its rows must count from 0, like those of an array, and be in order. */
static struct long_list find_long_list(const struct sp_report *report, const char *keys)
{
    struct long_list list = {""};
    size_t row, before = 0;
    for (size_t i = 0; LONG > 0 && i < report->n_entries && !list.name[0]; i++)
        name_list(sp_path(&report->entries[i]), &list);
    bool any = false;
    for (size_t i = 0; i < report->n_entries && list.name[0]; i++) {
        const struct sp_entry *const entry = &report->entries[i];
        const char *const path = sp_path(entry);
        const size_t n = strlen(list.name);
        if (strncmp(path, list.name, n) != 0 || path[n] != '.' || !sp_wanted(entry, keys))
            continue;
        const char *const inside = sp_inside_row(path, list.name, &row);
        if (!inside || row < before || row > before + any)
            return (struct long_list){""};
        before = row;
        any = true;
    }
    return any ? list : (struct long_list){""};
}

static bool is_in(const struct long_list *list, const struct sp_entry *entry, size_t *row,
                  const char **inside, struct sp_text *room)
{
    *inside = list->name[0] ? sp_inside_row(sp_path_in(room, entry), list->name, row) : NULL;
    return *inside;
}

/* The text between the braces of an object that holds only this, and its bytes. Takes it. */
static char *members_of(cJSON *member, const char *name, size_t *from, size_t *n)
{
    cJSON *const object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, name, member);
    char *const text = sp_must(cJSON_Print(object));
    cJSON_Delete(object);
    static const char open[] = "{\n", close[] = "\n}";
    *from = sizeof open - 1;
    *n = strlen(text) - *from - (sizeof close - 1);
    return text;
}

/* Prints a row as cJSON prints it in an array: the text between its brackets. */
static void print_row(cJSON *row, const char *list, FILE *out)
{
    size_t from, n;
    cJSON *const array = cJSON_CreateArray();
    cJSON_AddItemToArray(array, row);
    char *const text = members_of(array, list, &from, &n);
    const size_t before = (size_t)(strchr(text, '[') + 1 - text);
    fwrite(text + before, 1, from + n - before - 1, out);
    cJSON_free(text);
}

static void print_rows(const struct sp_report *report, const struct long_list *list,
                       const char *keys, FILE *out)
{
    size_t row, at = 0;
    const char *inside;
    cJSON *tree = NULL;
    fprintf(out, "\t\"%s\":\t[", list->name);
    for (size_t i = 0; i < report->n_entries; i++) {
        const struct sp_entry *const entry = &report->entries[i];
        struct sp_text path;
        if (!is_in(list, entry, &row, &inside, &path) || !sp_wanted(entry, keys))
            continue;
        if (tree && row != at) {
            print_row(tree, list->name, out);
            fputs(", ", out);
            tree = NULL;
        }
        at = row;
        if (!tree)
            tree = cJSON_CreateObject();
        sp_json_add_at(tree, inside, sp_entry_json(entry));
    }
    if (tree)
        print_row(tree, list->name, out);
    fputc(']', out);
}

/* Prints the tree, with an empty array in place of the list, as sp_print_json would with the list.
 * Frees it. */
static void print_around(const struct sp_report *report, const struct long_list *list,
                         const char *keys, cJSON *root, FILE *out)
{
    const char *before = "{\n";
    for (cJSON *member; (member = cJSON_DetachItemFromArray(root, 0)); before = ",\n") {
        fputs(before, out);
        if (strcmp(member->string, list->name) == 0) {
            print_rows(report, list, keys, out);
            cJSON_Delete(member);
            continue;
        }
        size_t from, n;
        char *const name = sp_must(strdup(member->string));
        char *const text = members_of(member, name, &from, &n);
        fwrite(text + from, 1, n, out);
        cJSON_free(text);
        free(name);
    }
    fputs("\n}\n", out);
    cJSON_Delete(root);
}

void sp_render_json(const struct sp_report *report, const struct sp_render *how, FILE *out)
{
    cJSON *root = cJSON_CreateObject();
    size_t row;
    const char *inside;
    const struct long_list list =
        how->one_line ? (struct long_list){""} : find_long_list(report, how->get);
    if (!how->get && !how->one_line) /* lines of a stream all have the same origin */
        add_origin(root);
    for (size_t i = 0; i < report->n_entries; i++) {
        const struct sp_entry *const entry = &report->entries[i];
        if (!sp_wanted(entry, how->get))
            continue;
        if (!is_in(&list, entry, &row, &inside, SP_ROOM))
            sp_add_entry_json(root, entry);
        else if (!cJSON_GetObjectItemCaseSensitive(root, list.name))
            cJSON_AddArrayToObject(root, list.name);
    }
    if (!how->get) {
        cJSON *notes = cJSON_AddArrayToObject(root, "notes");
        for (size_t i = 0; i < report->n_notes; i++)
            cJSON_AddItemToArray(notes, cJSON_CreateString(report->notes[i].text));
    }
    if (list.name[0])
        print_around(report, &list, how->get, root, out);
    else
        sp_print_json(root, how->one_line, out);
}

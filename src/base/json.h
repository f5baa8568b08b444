/* The only interface to cJSON: strict parsing with the places of faults, and numbers written so
 * that they read back equal. */
#ifndef SP_JSON_H
#define SP_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <cjson/cJSON.h>

#include "base/error.h"

enum { SP_JSON_MAX_BYTES = 4 << 20, SP_JSON_MAX_MEMBERS = 100000 };

/* A parsed document. `origin` names it in messages ("my.json", "built-in models/gpt2"). */
struct sp_json {
    cJSON *root;
    const char *text;
    size_t length;
    const char *origin;
};

/* Parses strict JSON: UTF-8, no trailing text, no duplicate keys, finite numbers, bounded depth.
 * The text and origin must outlive the document. On failure the error names the line and column. */
bool sp_json_parse(const char *text, size_t length, const char *origin, struct sp_json *json,
                   struct sp_error *error);

/* Parses JSON that a test has already checked strictly, such as a built-in file, in half the
 * time. */
bool sp_json_parse_known(const char *text, size_t length, const char *origin, struct sp_json *json,
                         struct sp_error *error);

void sp_json_free(struct sp_json *json);

/* "origin:line:column" of the key at a dotted path ("moe.experts", "3.args" in an array). If the
 * key is missing, the place of the object that should hold it; for a document without text, only
 * the origin. Good to the end of the block. */
#define sp_json_place(json, path) sp_json_place_in(SP_ROOM, json, path)
const char *sp_json_place_in(struct sp_text *room, const struct sp_json *json, const char *path);

/* Shortest decimal form that reads back as the same double; "null" for NAN and infinities. */
void sp_format_double(double value, char *out, size_t size);

/* Writes a line `  "key": "text"` and `end`, with JSON's escapes. */
void sp_put_json_text(FILE *out, const char *key, const char *text, const char *end);

/* Adds a value at a dotted path, "plans.0.mfu", and creates objects and arrays where they are
 * missing. */
void sp_json_add_at(cJSON *root, const char *path, cJSON *value);

/* Whether a text is a plain number, and that number in JSON's spelling: "1.e-4" is a number to
 * people only. */
bool sp_to_json_number(const char *text, char *out, size_t size);

#endif

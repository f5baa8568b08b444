/* Lists as people type them: A,B,C and KEY=VALUE,KEY=VALUE, parts such as 3/16, and paths of keys.
 */
#ifndef SP_LIST_H
#define SP_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Copies the next item of a comma-separated list into `item` (at most `size` bytes) and advances
 * *list; NULL after the last item. False if *list is NULL. "" is one empty item; "a," is "a" and an
 * empty one. */
bool sp_next_item(const char **list, char *item, size_t size);

/* The same with another separator; text in closed brackets is one piece. */
bool sp_next_piece(const char **list, char separator, char *piece, size_t size);

/* Whether an item of a comma-separated list equals `word`, or the part of `word` before the mark
 * `end`: with '.', "time" covers "time.step_s"; with '\0', items are whole words. Blanks before an
 * item are ignored; an empty item covers nothing. */
bool sp_is_listed(const char *list, const char *word, char end);

/* Whether a typed name means this one: "-" counts as "_", and a key's unit may follow, so that
 * "tokens_per_s", "step_s" and "cost_usd" mean "tokens-per-s", "step" and "cost". */
bool sp_is_named(const char *typed, const char *name);

/* Cuts "key=value" at its first equals sign: `pair` keeps the key, the value is returned. NULL when
 * there is no sign or no key. */
char *sp_cut_pair(char *pair);

/* Writes "path.key", or the key alone where the path is "", cut to `size` bytes. */
void sp_join_path(const char *path, const char *key, char *out, size_t size);

/* Reads "3/16", part 3 of 16; false for anything else or a part out of range. */
bool sp_parse_part(const char *text, int *part, int *parts);

/* The same of --shard, of at most `most` parts; else an error. */
bool sp_take_shard(const char *text, int most, int *part, int *parts, struct sp_error *error);

#endif

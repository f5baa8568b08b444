/* The state of a script that is read: names and values, text in one place, what is not known.
 *
 * An unknown part of a value is a mark inside it: SP_UNSET or SP_OPEN, digits,
 * SP_MARK_END; the digits are a place in the list of what is not known. SP_UNSET is a name that the
 * file gives no value; SP_OPEN what a command, or an undecided branch, would have given.
 * Items of a list are separated by SP_ITEM. */
#ifndef SP_LAUNCH_SHELL_STATE_H
#define SP_LAUNCH_SHELL_STATE_H

#include <stdbool.h>
#include <stddef.h>

enum { SP_UNSET = 1, SP_OPEN = 2, SP_MARK_END = 3, SP_ITEM = 4, SP_LAST_MARK = 4 };
enum { SP_SHELL_NAMES = 1024 };

/* Whether child scripts inherit a name: a branch with an unknown condition may export it. */
enum sp_exported { SP_OWN, SP_MAYBE_EXPORTED, SP_EXPORTED };

struct sp_shell_name {
    const char *name, *value;
    const char *refers; /* the name that this one stands for (declare -n); NULL: itself */
    bool pinned;        /* typed: the script does not change it */
    bool constant;      /* `readonly` */
    enum sp_exported reach;
};
struct sp_shell_scope {
    struct sp_shell_name at[SP_SHELL_NAMES];
    int n;
};

/* An unknown value: its placeholder, the variable on which it depends ("": none), its line. */
struct sp_shell_gap {
    const char *name, *by;
    int line;
};

/* Text that only grows; a piece of it does not move until everything is freed. */
struct sp_shell_text {
    struct sp_shell_block *blocks;
    struct sp_shell_gap *gaps;
    int n_gaps;
    size_t used; /* bytes in all */
    const char
        *full; /* the part for which there is no room: later results are wrong; NULL: all fits */
};

/* A piece of text under construction. */
struct sp_shell_piece {
    char *at;
    size_t n, size;
};

/* Fields that words expand to, and their positions. */
struct sp_shell_fields {
    const char **at;
    int n;
};

/* Copies `n` bytes; "" when there is no more room. */
const char *sp_shell_copy(struct sp_shell_text *text, const char *at, size_t n);

/* A copy without the characters that mark unknown parts. */
const char *sp_shell_clean(struct sp_shell_text *text_of, const char *text);

/* The value of a name, or NULL if it has none. */
const char *sp_shell_value(const struct sp_shell_scope *scope, const char *name);

/* Gives a name a value (NULL: none), but not a pinned one. */
void sp_shell_set(struct sp_shell_scope *scope, struct sp_shell_text *text, const char *name,
                  const char *value);

/* Lets a name stand for another (NULL: for itself); keeps the value of a name as it is. */
void sp_shell_refer(struct sp_shell_scope *scope, struct sp_shell_text *text, const char *name,
                    const char *other);
void sp_shell_freeze(struct sp_shell_scope *scope, const char *name);

/* Exchanges the value of a name, a pinned one too; the value before (NULL: none). */
const char *sp_shell_exchange(struct sp_shell_scope *scope, struct sp_shell_text *text,
                              const char *name, const char *value);

/* Whether child scripts inherit a name, and the names assigned from here on. */
enum sp_exported sp_shell_reach(const struct sp_shell_scope *scope, const char *name);
void sp_shell_let_reach(struct sp_shell_scope *scope, struct sp_shell_text *text, const char *name,
                        enum sp_exported reach);

/* Gives a name a value that scripts that are run have too. */
void sp_shell_export(struct sp_shell_scope *scope, struct sp_shell_text *text, const char *name,
                     const char *value);

/* How many parameters there are: values of 1, 2, ... without a gap. */
int sp_shell_parameters(const struct sp_shell_scope *scope);

/* An array of `n` elements of `size` bytes with room for one more; it doubles at powers of two. */
void *sp_room_for_one(void *array, int n, size_t size);

/* Puts a character, or text, at the end of a piece. */
void sp_shell_put(struct sp_shell_piece *piece, char c);
void sp_shell_puts(struct sp_shell_piece *piece, const char *text);

/* Puts the mark of an unknown part. */
void sp_shell_mark(struct sp_shell_text *text, struct sp_shell_piece *piece, char kind,
                   const char *name, int line);

/* Takes over a piece's text; the piece is then empty. */
const char *sp_shell_take(struct sp_shell_piece *piece, struct sp_shell_text *text);

/* How many items a list has; -1: that is not known, or they have their own indices. */
long sp_shell_items(const char *value);

/* Adds a field. */
void sp_shell_add(struct sp_shell_fields *fields, const char *field);

/* The first unknown part of a value, or NULL. */
const struct sp_shell_gap *sp_shell_gap_in(const struct sp_shell_text *text, const char *value);

/* The first name without a value in a text, as its mark; NULL if there is none. */
const char *sp_shell_unset_in(struct sp_shell_text *text, const char *value);

/* How the name of a gap begins that stands for the files that match a pattern. */
#define sp_shell_files "the files "

/* Whether a parameter stands for files, so that nobody knows how many there are. */
bool sp_shell_has_files(const struct sp_shell_scope *scope, const struct sp_shell_text *text);

/* A value for people, cut to `size`: ${NAME} in place of marks, blanks between items. False
 * where it was cut. */
bool sp_shell_show(const struct sp_shell_text *text, const char *value, char *out, size_t size);

/* Whether a value is one mark and nothing else, of a name that has no value. */
bool sp_shell_is_unset(const char *value);

void sp_shell_free(struct sp_shell_text *text);

/* A copy without the tabs that lines begin with. */
const char *sp_shell_without_tabs(struct sp_shell_text *text_of, const char *text);

#endif

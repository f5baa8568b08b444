/* Values in a Python text: names, and the values of expressions of literals and such names. No code
 * runs. */
#ifndef SP_LAUNCH_PYTHON_VALUES_H
#define SP_LAUNCH_PYTHON_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "launch/launch.h"

enum { SP_PYTHON_NAMES = 1024 };

/* A name with its value in the text; `branch`: the line of the branch that contains it. Names of
 * attributes ("args.NAME") begin with a dot. */
struct sp_python_name {
    char name[64];
    const char *from, *to;
    int branch;
    bool parameter; /* of a function: not the value it is called with */
};

/* The facts of a text so far: names with their values (of fields, of options of a parser, and
 * defaults of parameters). `called`: parameters have the values with which their function is
 * called. */
struct sp_python {
    const struct sp_typed_names *names;
    struct sp_python_name *at; /* room for SP_PYTHON_NAMES at first; it doubles */
    int n;
    bool called;
};

/* Gives a name a value, which stays in its text. The place holds until the next name. */
struct sp_python_name *sp_define_python(struct sp_python *python, const char *name,
                                        const char *from, const char *to);

/* The words that a name was given, where it has some. */
bool sp_python_words(const struct sp_python *python, const char *name, const char **from,
                     const char **to);

/* Puts the value of an expression; false if it is unknown. `branch` gets the line of the branch on
 * which it rests, -1 for a parameter. */
bool sp_python_value(const struct sp_python *python, const char *from, const char *to, int *branch,
                     char *out, size_t size);

/* The first place of a word with its blanks outside of quotes and brackets, or the end. */
const char *sp_find_python(const char *from, const char *to, const char *word);

/* The text after that word, or the end. */
const char *sp_after_python(const char *from, const char *to, const char *word);

/* Whether a condition holds: 1, 0, or -1 if unknown. */
int sp_python_truth(const struct sp_python *python, const char *from, const char *to);

/* Whether the branch of a line is taken: 2 or 0 as typed for `name`; else 1 for "else", or its
 * condition's value; -1: unknown. */
int sp_python_branch(const struct sp_python *python, const char *name, const char *line,
                     const char *to);

/* The unknown name in an expression, which can be given a value: not one of this file, nor the
 * result of a call. False: none. */
bool sp_find_untold(const struct sp_python *python, const char *from, const char *to, char *out,
                    size_t size);

/* Whether a text has a name. */
bool sp_mentions(const char *from, const char *to, const char *name);

/* Whether a line begins with that word. */
bool sp_starts_python(const char *line, const char *word);

#endif

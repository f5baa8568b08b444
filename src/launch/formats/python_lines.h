/* The lines of a Python text: its statements and blocks. */
#ifndef SP_LAUNCH_PYTHON_LINES_H
#define SP_LAUNCH_PYTHON_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* A statement, or the line that opens a block. */
struct sp_python_line {
    const char *from, *to;
    int number;
    size_t indent;
};
struct sp_python_file {
    char *text, path[512], name[160];
    struct sp_python_line *at;
    int n;
};

/* Parts a file's text into its lines. */
void sp_split_python(struct sp_python_file *file);

bool sp_line_starts(const struct sp_python_line *line, const char *word);

/* The value of "NAME = VALUE", a statement of the file itself; NULL: it is another one. */
const char *sp_assigned_value(const struct sp_python_line *line, char *name, size_t size);

/* The line of a function; -1: the file has none of that name. And the line after a block. */
int sp_find_def(const struct sp_python_file *file, const char *name);
int sp_block_end(const struct sp_python_file *file, int line);

/* The line of a function's decorator that the file defines and that returns a function other than
 * the one given; -1: none. */
int sp_find_wrapper(const struct sp_python_file *file, int def);

/* The module of "from MODULE import NAME"; false: none of that name. */
bool sp_find_import(const struct sp_python_file *file, const char *name, char *module, size_t size);

/* The next parameter of "NAME[: TYPE][ = DEFAULT]" up to `end`, the default in `usual` (NULL: it
 * has none); false after the last. */
bool sp_next_parameter(const char **at, const char *end, char *name, size_t size,
                       struct sp_python_line *usual);

#endif

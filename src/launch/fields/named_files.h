/* Files that a launch names. */
#ifndef SP_LAUNCH_NAMED_FILES_H
#define SP_LAUNCH_NAMED_FILES_H

#include <stddef.h>

/* The text of the file `name` that the file `from` names, for free(), and its bytes. Searched at
 * its path from there, from each folder above (scripts start from their repository's root), from
 * here, and there by its name only. NULL if there is no such text file. `path`, of `size` bytes,
 * is where it was found. */
char *sp_read_beside(const char *from, const char *name, char *path, size_t size, size_t *length);

struct sp_launch_file;

/* The same for a file that a launch names: its script may write the file itself. */
char *sp_read_named(const struct sp_launch_file *file, const char *name, size_t *length);

#endif

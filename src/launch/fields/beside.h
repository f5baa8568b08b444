/* Files that a launch names. */
#ifndef SP_LAUNCH_BESIDE_H
#define SP_LAUNCH_BESIDE_H

#include <stddef.h>

/* The text of the file `name` that the file `from` names, for free(), and its bytes: at its path
 * from there, from each folder above it (scripts start from their repository's root), or from
 * here, or of its name there. NULL if there is none of text.
 * `path`, of `size` bytes, is where it was. */
char *sp_read_beside(const char *from, const char *name, char *path, size_t size, size_t *length);

#endif

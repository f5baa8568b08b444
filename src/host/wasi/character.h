/* Characters of UTF-8. */
#ifndef SP_CHARACTER_H
#define SP_CHARACTER_H

/* The next character of a text that has one, which is moved after it; a byte that begins none is
 * one. */
unsigned sp_take_character(const char **text);

/* The columns that a character takes: 2 in East Asian scripts and for pictures, 0 for marks on the
 * one before. */
int sp_columns_of(unsigned character);

#endif

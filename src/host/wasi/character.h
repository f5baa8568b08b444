/* Characters of UTF-8. */
#ifndef SP_CHARACTER_H
#define SP_CHARACTER_H

/* Reads the next character of a non-empty text, which is moved past it; a byte that begins no
 * character counts as one. */
unsigned sp_take_character(const char **text);

/* The columns that a character takes: 2 in East Asian scripts and for pictures, 0 for marks on the
 * one before. */
int sp_columns_of(unsigned character);

#endif

/* The exercise book: cases with their command, answer and derivation, as Markdown. */
#ifndef SP_EXERCISE_BOOK_H
#define SP_EXERCISE_BOOK_H

#include <stdio.h>

#include "config/exercises.h"
#include "answer/report.h"

/* The answer of a report in the form of a case. */
struct sp_case_value sp_value_of_entry(const struct sp_entry *entry);

/* A book being written: its pages, and the errata at its end. */
struct sp_book {
    FILE *pages, *errata;
    char *pages_text, *errata_text;
    size_t pages_size, errata_size;
    bool derives;     /* formulas from their definitions */
    bool is_document; /* the page of one document, in its sections */
    int chapters;
};

/* Opens the book. */
void sp_book_open(struct sp_book *book, bool of_sheet);

/* A chapter named after a file of cases ("tests/textbook/roofline.json": Roofline) that begins with
 * a case; a single file that begins with a section is the page of a document, named after its
 * source. */
void sp_book_chapter(struct sp_book *book, const char *path, const struct sp_case *first,
                     bool is_alone);

/* A case with the report that answers it; `refusal` is the error when the command gave none, else
 * "". */
void sp_book_case(struct sp_book *book, const struct sp_case *c, const struct sp_report *answer,
                  const char *refusal);

/* A question of a sheet with its worked answer. */
void sp_book_solution(struct sp_book *book, int number, const struct sp_case *c,
                      const struct sp_report *answer);

/* Ends the book and puts it into the report as a block. */
void sp_book_close(struct sp_book *book, struct sp_report *report);

#endif

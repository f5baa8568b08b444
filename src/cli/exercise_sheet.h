/* Sheets of exercises: their questions with the program's answers. */
#ifndef SP_EXERCISE_SHEET_H
#define SP_EXERCISE_SHEET_H

#include <stdio.h>

#include "answer/report.h"
#include "base/text.h"
#include "config/exercises.h"
#include "config/world.h"

/* The answer of a case's command. */
struct sp_outcome {
    struct sp_report *report;
    struct sp_error error;
    bool answered;
};

/* Runs a case in this process, so that a file of cases starts the program only once. */
struct sp_outcome sp_answer_case(const struct sp_case *c, struct sp_world *world);

/* "unknown key", with the nearest of an answer's keys; good to the end of the block. */
#define sp_unknown_key(report, key) sp_unknown_key_in(SP_ROOM, report, key)
const char *sp_unknown_key_in(struct sp_text *room, const struct sp_report *report,
                              const char *key);

/* The choices that make a sheet. */
struct sp_sheet {
    const char *const *files;
    int n_files;
    struct sp_world *world;
    const char *only; /* "ID,ID", or NULL */
    bool is_random;   /* new numbers, of `count` of the cases that have any to draw */
    uint64_t seed;
    int count;
    void (*question)(void *context, int number, const struct sp_case *c,
                     const struct sp_report *answer);
    void *context;
};

/* Calls `question` for each question in the order of the files. */
bool sp_each_question(const struct sp_sheet *sheet, struct sp_error *error);

/* Writes a question without its answers: parts 3a, 3b, ... for the expected keys. */
void sp_put_question(int number, const struct sp_case *c, const struct sp_report *answer,
                     FILE *out);

#endif

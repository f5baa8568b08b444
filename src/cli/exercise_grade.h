/* A student's answers to a sheet of exercises: right or not, and which step may have gone wrong. */
#ifndef SP_EXERCISE_GRADE_H
#define SP_EXERCISE_GRADE_H

#include "answer/report.h"
#include "config/exercises.h"

/* The lines of a student's file, "3a 850" each; empty ones and comments ("# ...") are left out. */
struct sp_answers {
    struct sp_answer_line {
        const char *text;
        int number;
        enum { SP_LINE_UNREAD, SP_LINE_OUTDATED, SP_LINE_READ } state;
    } * lines;
    size_t n;
};
void sp_open_answers(const char *text, struct sp_answers *answers);
void sp_close_answers(struct sp_answers *answers);

/* A student's answer beside the program's. */
struct sp_graded {
    char question[16];           /* "3a" */
    const struct sp_entry *of;   /* the right answer */
    char given[64], remark[400]; /* as typed, "" for none; which step may have gone wrong */
    bool right;
    double off; /* relative difference of a number; else NAN */
};

/* Grades the answer to part `part` of question `number`. */
struct sp_graded sp_grade(struct sp_answers *answers, int number, int part, const struct sp_case *c,
                          const struct sp_report *answer);

/* Notes the lines that no question has read, and those that a later line has replaced. */
void sp_note_unread_answers(struct sp_report *report, const struct sp_answers *answers);

/* The name of a part of a question: "3", or "3a" of several. */
void sp_name_part(char out[16], int number, int part, int parts);

#endif

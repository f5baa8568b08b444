/* The answer of a command as a page of HTML for readers without a shell (--report). */
#ifndef SP_PAGE_H
#define SP_PAGE_H

#include "answer/report.h"

/* A number of a page: its label, and its key under the page's scope, or from the root where the key
 * begins with a slash. */
struct sp_page_fact {
    const char *label, *key;
};

/* Rows of a list of the report, "plans": one column per fact, keys under each row. */
struct sp_page_list {
    const char *title, *list; /* NULL: none */
    const struct sp_page_fact *columns;
    size_t n;
    const char *const *names, *const *titles; /* rows have these names and titles; NULL: numbers */
    size_t n_names;
};

/* The contents of a page from a filled report. */
struct sp_page {
    const char *title;      /* "llama3-70b on h100-512" */
    const char *verdict;    /* the answer in a sentence */
    bool yes;               /* it is a yes */
    const char *scope;      /* of the plan: "plans.0"; "": the root */
    const char *plan_title; /* over the facts of the plan */
    const char *price;      /* of a chip-hour, as text; NULL: unknown */
    const char *command;    /* the command that gives the same answer in a shell; NULL: none */
    const struct sp_page_fact *facts; /* unknown facts are left out */
    size_t n_facts;
    bool has_time, has_memory; /* pictures of the parts of `time` and `memory` under the scope */
    struct sp_page_list list;
    const struct sp_page_fact *assumptions;
    size_t n_assumptions;
};

/* Facts and assumptions of an estimated plan, for every command that shows one; columns of a list
 * of plans. */
extern const struct sp_page_fact sp_plan_facts[];
extern const size_t sp_n_plan_facts;
extern const struct sp_page_fact sp_plan_assumptions[];
extern const size_t sp_n_plan_assumptions;

/* Attaches a self-contained, escaped page; it loads and runs nothing. */
bool sp_write_page(struct sp_report *report, const struct sp_page *page, const char *path,
                   struct sp_error *error);

#endif

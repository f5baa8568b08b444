/* Plans that a framework refuses or cannot express: rules of its file (configs/launch), each a
 * condition and the message if it holds. */
#ifndef SP_LAUNCH_RULES_H
#define SP_LAUNCH_RULES_H

#include "launch/fields/rows.h"

/* A number by name, as conditions use it. */
struct sp_fact {
    char name[16];
    int64_t value;
};
enum { SP_FACTS = 64, SP_RULE = 400 };

/* The subject of rules. A condition is arithmetic of the shell over the names of facts, of the
 * settings {NAME}, {NAME|OTHERWISE} as whole numbers (0 where not given), {NAME*1000|OTHERWISE} as
 * those of thousandths, and whether one is given [NAME], is on [NAME?], has one of some values
 * [NAME=THIS|THAT] or a word [NAME~WORD], and of whether the script starts such a program
 * [>PATTERN]. A name that is not a setting may be a key of the model. A condition that divides by
 * zero does not hold. */
struct sp_rules {
    const struct sp_settings *settings;
    const struct sp_script *script; /* that gives them; NULL: none */
    const struct sp_model *model;   /* NULL: not known */
    int64_t devices;                /* the fact `devices`; 0: not known */
    int version;                    /* its place among the framework's, the newest first */
    struct sp_fact fact[SP_FACTS];
};

/* Reports settings that the framework refuses, "MaxText refuses this: ...", or loses them if a plan
 * is written as these settings. */
void sp_note_rules(const struct sp_rules *rules);

/* Adds a fact; gives the value of an expression, 0 if it has none; false if it names something
 * unknown. */
void sp_add_fact(struct sp_rules *rules, const char *name, int64_t value);
bool sp_calculate(const struct sp_rules *rules, const char *expression, int64_t *value);

/* Reads the next line of a list of rules, "BEFORE: BEHIND", in two parts. */
bool sp_next_rule(const char **list, const char *between, char before[SP_RULE],
                  char behind[SP_RULE]);

void sp_lose_rules(const struct sp_launched *launched, const struct sp_rules *rules);

/* Notes as lost the parts of a plan and its model that the framework cannot express, by the rules
 * over the names of plan fields; `fact` (NULL: none; the last has no name) adds further facts. */
void sp_lose_plan(const struct sp_launched *launched, const struct sp_fact *fact);

#endif

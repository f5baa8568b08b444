/* How a framework spells what a plan and a model are: the files of configs/launch. */
#ifndef SP_LAUNCH_WORDS_H
#define SP_LAUNCH_WORDS_H

#include "base/error.h"
#include "config/fields.h"

struct sp_sources;

/* An option of the framework. `values` and `older` are comma-separated: rows.h of the launch room
 * reads them. */
struct sp_launch_row {
    char name[SP_ROW_NAME];
    char plan[20];    /* the option of `step` that it sets */
    char model[32];   /* the key of model files that it sets */
    char of[12];      /* read and written of such models or plans alone; "": of all */
    char values[320]; /* THEIRS=OURS, or a word that both have */
    char gives[24];   /* ours, that a switch stands for */
    char unsaid[24];  /* ours, where it is left out */
    char value[48];   /* theirs, that an export writes where it sets nothing */
    char with[72];    /* what an export writes behind it */
    char as[480];     /* what it is another spelling of: [VALUE: ]FLAG[ VALUE] */
    char beside[96];  /* what writes it too: [!]FLAG=VALUE */
    char older[240];  /* how older versions spell it: NEWEST[-OLDEST][ VALUE][: FLAGS] */
    char note[96];    /* what is not modelled of it */
    char lost[96];    /* what an export loses where it has no word for the value */
    char excludes[96], needs[96];
    bool takes_none; /* no value follows it */
    bool is_text;    /* its value stands in quotes */
    bool is_list;    /* it is a list of words */
    bool always;     /* an export writes it whatever it means to leave it out */
    bool by_code;    /* code of the framework reads and writes it */
};

enum { SP_MOST_LAUNCH_ROWS = 256 };

/* A framework's file. The lists are joined by blanks. */
struct sp_launch_words {
    char name[32];
    char framework[32];
    char release[16];  /* what stands before a version; "": nothing */
    char versions[96]; /* the newest first */
    struct {
        struct sp_rows rows;
        struct sp_launch_row row[SP_MOST_LAUNCH_ROWS];
    } options;
    char switches[24576];       /* take no value */
    char quiet[24576];          /* change neither memory nor time enough to count */
    char quiet_switches[12288]; /* both */
    char facts[4096], refuses[12288], loses[8192]; /* lines of rules.h, of the launch room */
    char models[2048];          /* that it trains: THEIRS=OURS, or a name that both have */
};

/* Loads the file of that name into zeroed memory. A user's own file adds to the built-in one of its
 * name: its options take the place of those that are called the same. */
bool sp_load_launch_words(const char *spec, const struct sp_sources *sources,
                          struct sp_launch_words *words, struct sp_error *error);

#endif

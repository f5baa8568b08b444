/* A framework's spelling of plans and models: files of configs/launch. */
#ifndef SP_LAUNCH_WORDS_H
#define SP_LAUNCH_WORDS_H

#include "config/fields.h"

/* An option of the framework. src/launch/fields/rows.h parses `values` and `older`,
 * comma-separated. */
struct sp_launch_row {
    char name[SP_ROW_NAME];
    char plan[20];    /* option of `step` that it sets */
    char model[32];   /* key of a model file that it sets; comma-separated keys are read only */
    char serve[20];   /* property of a service that it sets, a name of sp_served_names */
    char of[12];      /* only for such models or plans; "": all */
    char values[480]; /* THEIRS=OURS, or one word for both */
    char made[32];    /* our values that an engine makes while it loads; "": all */
    char gives[24];   /* our value for a switch */
    char unsaid[24];  /* our value if it is absent */
    char value[48];   /* their value that exports write if nothing sets it */
    char with[72];    /* text that exports add after it */
    char as[480];     /* the option that it is another spelling of: [VALUE: ]FLAG[ VALUE] */
    char beside[96];  /* option that sets it too: [!]FLAG=VALUE */
    char older[240];  /* spellings of older versions: NEWEST[-OLDEST][ VALUE][: FLAGS] */
    char note[96];    /* an effect that scaleplan does not model */
    char lost[96];    /* loss of an export without a word for the value */
    char excludes[96], needs[96];
    bool takes_none; /* takes no value */
    bool is_truth;   /* value is a word for true or false, which `values` then maps */
    bool is_text;    /* value is quoted */
    bool is_list;    /* value is a list of words */
    bool always;     /* exports write it even if absence means the same */
    bool by_code;    /* read and written by code of the framework's module */
};

enum { SP_MOST_LAUNCH_ROWS = 256 };

/* Properties that rows of a serving engine may set, NULL-terminated. */
extern const char *const sp_served_names[];

/* A framework's file. Lists are separated by blanks. */
struct sp_launch_words {
    char name[32];
    char framework[32];
    char release[16];  /* the text before a version; "": nothing */
    char versions[96]; /* newest first */
    struct {
        struct sp_rows rows;
        struct sp_launch_row row[SP_MOST_LAUNCH_ROWS];
    } options;
    char switches[24576];       /* options without a value */
    char quiet[24576];          /* options with negligible effect on memory and time */
    char quiet_switches[12288]; /* both */
    char rollout[16384];        /* options of `rl`: lines of rollout.h, of the launch room */
    char facts[4096], refuses[12288], loses[8192]; /* lines of rules.h, of the launch room */
    char images[256];                /* containers: lines of container.h, of the launch room */
    char programs[8192], core[2048]; /* who runs a launch, and what decides it: lines of
                                        programs.h, of the launch room */
    char models[4096];               /* trainable models: THEIRS=OURS, or one name for both */
};

#endif

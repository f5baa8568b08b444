/* Reads the files of configs/logs. */
#include "config/load.h"
#include "config/read.h"

bool sp_read_log_words(const char *spec, const struct sp_sources *sources,
                       struct sp_log_words *words, struct sp_error *error)
{
    *words = (struct sp_log_words){0};
    if (!sp_load_fields(SP_LOGS, spec, sources, words, error))
        return false;
    return words->step_time[0] || words->device_rate[0] ||
           sp_fail(error, SP_INPUT, "log %s: step_time or device_rate is needed",
                   sp_safe(words->name));
}

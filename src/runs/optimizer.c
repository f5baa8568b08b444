/* The dynamic loader's view of NLopt. */
#include "runs/optimizer.h"

#include <stddef.h>
#include <string.h>

#include "host/library.h"

bool sp_open_optimizer(struct sp_optimizer *optimizer, struct sp_error *error)
{
    static const struct {
        const char *name;
        size_t offset;
    } functions[] = {
        {"nlopt_create", offsetof(struct sp_optimizer, create)},
        {"nlopt_set_lower_bounds", offsetof(struct sp_optimizer, set_lower_bounds)},
        {"nlopt_set_upper_bounds", offsetof(struct sp_optimizer, set_upper_bounds)},
        {"nlopt_set_min_objective", offsetof(struct sp_optimizer, set_min_objective)},
        {"nlopt_set_ftol_rel", offsetof(struct sp_optimizer, set_ftol_rel)},
        {"nlopt_set_maxeval", offsetof(struct sp_optimizer, set_maxeval)},
        {"nlopt_optimize", offsetof(struct sp_optimizer, optimize)},
        {"nlopt_destroy", offsetof(struct sp_optimizer, destroy)},
    };
    *optimizer = (struct sp_optimizer){.library = sp_open_library(NLOPT_SONAME)};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *const function =
            optimizer->library ? sp_function_of(optimizer->library, functions[i].name) : NULL;
        if (!function) {
            sp_close_optimizer(optimizer);
            return sp_fail(error, SP_INTERNAL, "a fit needs NLopt (" NLOPT_SONAME "), %s",
                           sp_loads_libraries
                               ? "which is not installed (Debian: libnlopt0)"
                               : "which a page cannot load: run `scaleplan calibrate` in a shell");
        }
        memcpy((char *)optimizer + functions[i].offset, &function, sizeof function);
    }
    return true;
}

void sp_close_optimizer(struct sp_optimizer *optimizer)
{
    if (optimizer->library)
        sp_close_library(optimizer->library);
    *optimizer = (struct sp_optimizer){0};
}

/* A size where a shape is needed: the known shapes nearest in size. */
#include "cli/shapeless.h"

#include "base/text.h"
#include "study/shapes.h"

bool sp_refuse_size(const char *who, const struct sp_args *args, const struct sp_sources *sources,
                    struct sp_error *error)
{
    struct sp_known_shape near[3];
    char names[3 * sizeof near->name + 64] = "";
    const size_t n = sp_nearest_shapes(args->value.params, NULL, sources, near, 3);
    for (size_t i = 0; i < n; i++)
        sp_append(names, sizeof names, "%s%s (%s)", i ? ", " : "", near[i].name,
                  sp_human_text(near[i].params, SP_PARAMETERS));
    return sp_fail(error, SP_USAGE,
                   "--params %s: %s a shape; nearest in size: --model %s; or --shape "
                   "layers=60,d_model=6144,...",
                   sp_safe(args->text[SP_O_params]), who, names);
}

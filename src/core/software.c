/* The list of a profile's constants. */
#include <scaleplan/software.h>

#define SP_CONSTANT(id, key, unit, fallback, spread, low, high, meaning)                           \
    {key, unit, fallback, spread, low, high, meaning},
const struct sp_constant_info sp_constants[SP_CONSTANTS] = {
#include <scaleplan/profile_constants.def>
};
#undef SP_CONSTANT

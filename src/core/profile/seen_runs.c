/* What a machine's own runs tell about similar plans. */
#include <math.h>

#include <scaleplan/profile.h>

double sp_likeness(const struct sp_place *one, const struct sp_place *other)
{
    static const double octaves = 3; /* over which the correlation falls to 1/e */
    return exp(-sp_octaves_between(one, other) / octaves);
}

double sp_seen_factor(const struct sp_profile *profile, const struct sp_model *model,
                      const struct sp_hardware *hw, const struct sp_plan *plan)
{
    if (!sp_has_seen_runs(profile))
        return 1;
    const struct sp_place here = sp_place_of(model, hw, plan);
    double error = 0;
    for (int i = 0; i < profile->seen_runs; i++)
        error += profile->seen[i].weight * sp_likeness(&here, &profile->seen[i].place);
    return exp(-error);
}

double sp_least_seen_factor(const struct sp_profile *profile)
{
    double most = 0;
    for (int i = 0; i < profile->seen_runs; i++)
        most += fmax(profile->seen[i].weight, 0);
    return exp(-most);
}

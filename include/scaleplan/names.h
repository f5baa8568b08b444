/* The spelling of what has names: number formats, schedules, recompute policies, placements. */
#ifndef SCALEPLAN_NAMES_H
#define SCALEPLAN_NAMES_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Each list is in the order of its enum or its bool and ends with NULL. */
extern const char *const sp_dtype_names[];     /* enum sp_dtype */
extern const char *const sp_schedule_names[];  /* enum sp_schedule */
extern const char *const sp_policy_names[];    /* index into sp_policies */
extern const char *const sp_placement_names[]; /* stages_inside of a plan */
extern const char *const sp_off_on[];          /* bool */
extern const char *const sp_zero_names[];      /* stages of ZeRO, 0 to 3 */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif

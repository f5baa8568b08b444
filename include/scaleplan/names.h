/* The program's names for enum values: one NULL-terminated list per enum, in its order. Other
 * properties: sp_schedules (pipeline.h), sp_dtypes (formats.h). */
#ifndef SCALEPLAN_NAMES_H
#define SCALEPLAN_NAMES_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

extern const char *const sp_dtype_names[];            /* enum sp_dtype */
extern const char *const sp_schedule_names[];         /* enum sp_schedule */
extern const char *const sp_strategy_names[];         /* enum sp_strategy_kind */
extern const char *const sp_strategy_titles[];        /* the same for display */
extern const char *const sp_link_titles[];            /* enum sp_link, for display */
extern const char *const sp_overlap_names[];          /* enum sp_overlap */
extern const char *const sp_flop_conventions[];       /* enum sp_flop_convention */
extern const char *const sp_policy_names[];           /* enum sp_remat */
extern const char *const sp_verdict_names[];          /* enum sp_verdict */
extern const char *const sp_remat_names[];            /* enum sp_remat up to SP_REMATS */
extern const char *const sp_placement_names[];        /* stages_inside of a plan */
extern const char *const sp_module_names[];           /* enum sp_module */
extern const char *const sp_away_names[];             /* enum sp_away */
extern const char *const sp_dispatch_names[];         /* enum sp_dispatch */
extern const char *const sp_cuda_graph_names[];       /* enum sp_cuda_graph */
extern const char *const sp_fp8_recipe_names[];       /* enum sp_fp8_recipe */
extern const char *const sp_attention_kernel_names[]; /* enum sp_attention_kernel */
extern const char *const sp_cp_kind_names[];          /* enum sp_cp_kind */
extern const char *const sp_cp_gather_names[];        /* enum sp_cp_gather */
extern const char *const sp_dp_overlap_names[];       /* enum sp_dp_overlap */
extern const char *const sp_logits_names[];           /* enum sp_logits */
extern const char *const sp_off_on[];                 /* a bool */
extern const char *const sp_storage_names[];          /* enum sp_storage */
extern const char *const sp_serve_objectives[];       /* enum sp_serve_objective */
extern const char *const sp_zero_names[];             /* stages of ZeRO, 0 to 3 */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif

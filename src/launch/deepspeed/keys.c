/* DeepSpeed: keys that are read, and those that change neither memory nor time enough to count.
 * Everything else that is switched on is named in a remark. Keys: deepspeed/runtime/constants.py,
 * zero/config.py and the sections' own config.py, 0.19. */
#include <string.h>

#include "base/list.h"
#include "launch/deepspeed/deepspeed.h"

/* Keys by section ("": the top), each list parted by commas. `quiet` change neither memory nor
 * time, or are read. */
/* clang-format off */
static const struct {
    const char *section, *quiet;
} keys[] = {
    {"", "_comment,comment,comments,train_batch_size,train_micro_batch_size_per_gpu,gradient_accumulation_steps,"
         "optimizer,scheduler,zero_optimization,bf16,bfloat16,fp16,data_types,activation_checkpointing,tensor_parallel,"
         "sequence_parallel_size,expert_parallel,gradient_clipping,steps_per_print,wall_clock_breakdown,"
         "zero_allow_untested_optimizer,zero_force_ds_cpu_optimizer,prescale_gradients,gradient_predivide_factor,"
         "gradient_allreduce_op,dump_state,memory_breakdown,tensorboard,wandb,csv_monitor,comet,monitor_config,"
         "flops_profiler,comms_logger,checkpoint,dataloader_drop_last,log_level,seed,aio,autotuning,"
         "elasticity,disable_allgather,sparse_gradients,graph_harvesting,managed_gradient_accumulation,vocabulary_size,"
         "ds_pipe_replicated,data_parallel_group,global_rank,timers,max_grad_norm,checkpoint_parallel_write_pipeline"},
    {"zero_optimization",
         "stage,contiguous_gradients,reduce_scatter,reduce_bucket_size,allgather_partitions,allgather_bucket_size,"
         "overlap_comm,load_from_fp32_weights,elastic_checkpoint,sub_group_size,prefetch_bucket_size,"
         "param_persistence_threshold,model_persistence_threshold,max_live_parameters,max_reuse_distance,"
         "stage3_prefetch_bucket_size,stage3_param_persistence_threshold,stage3_model_persistence_threshold,"
         "stage3_max_live_parameters,stage3_max_reuse_distance,gather_16bit_weights_on_model_save,"
         "stage3_gather_16bit_weights_on_model_save,stage3_gather_fp16_weights_on_model_save,"
         "ignore_unused_parameters,round_robin_gradients,zero_hpz_partition_size,mics_shard_size,"
         "mics_hierarchical_params_gather,offload_optimizer,offload_param,cpu_offload,cpu_offload_param,"
         "cpu_offload_params,cpu_offload_use_pin_memory,memory_efficient_linear,module_granularity_threshold,"
         "use_multi_rank_bucket_allreduce,allgather_sequential,legacy_stage1,override_module_apply,log_trace_cache_warnings,"
         "enable_sanity_checks,pipeline_loading_checkpoint,use_all_reduce_for_fetch_params,leaf_module,"
         "stage3_module_granularity_threshold,stage3_use_all_reduce_for_fetch_params"},
    {"bf16", "enabled,check_overflow,immediate_grad_update,loss_scale,auto_cast,"
             "initial_scale_power,loss_scale_window,hysteresis,consecutive_hysteresis,min_loss_scale"},
    {"bfloat16", "enabled,check_overflow,immediate_grad_update,loss_scale"},
    {"fp16", "enabled,fp16,loss_scale,auto_cast,initial_scale_power,loss_scale_window,hysteresis,"
             "consecutive_hysteresis,min_loss_scale"},
    {"data_types", "grad_accum_dtype"},
    {"tensor_parallel", "autotp_size,tp_grain_size,dtype"},
    {"expert_parallel", "enabled,autoep_size,expert_tensor_parallel_size"},
    {"activation_checkpointing", "partition_activations,contiguous_memory_optimization,number_checkpoints,"
             "cpu_checkpointing,synchronize_checkpoint_boundary,profile"},
};

/* What some of the others are. */
static const struct {
    const char *key, *what;
} known[] = {
    {"zero_hpz_partition_size", "a second copy of the weights in each group (ZeRO++ hpZ)"},
    {"zero_quantized_weights", "8-bit weights in gathers (ZeRO++ qwZ)"},
    {"zero_quantized_gradients", "4-bit gradients in reductions (ZeRO++ qgZ)"},
    {"torch_autocast", "weights kept in fp32 and cast on use"},
    {"amp", "weights kept in fp32 and cast on use"},
    {"bf16_optimizer_states", "moments in bf16"},
    {"bf16_master_weights_and_grads", "no fp32 copy of the weights"},
    {"fp16_master_weights_and_grads", "no fp32 copy of the weights"},
    {"communication_data_type", "another format on the wire"},
    {"compression_training", "layers, weights or activations that are cut or quantised"},
};
/* clang-format on */

bool sp_is_off(const cJSON *value)
{
    const cJSON *const enabled = cJSON_GetObjectItemCaseSensitive(value, "enabled");
    return !value || cJSON_IsNull(value) || cJSON_IsFalse(value) || cJSON_IsFalse(enabled) ||
           (cJSON_IsNumber(value) && value->valuedouble == 0) ||
           (cJSON_IsString(value) && strcmp(value->valuestring, "none") == 0);
}

static void note(const char *section, const char *key, struct sp_launch *launch)
{
    const char *what = "";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].key, key) == 0)
            what = known[i].what;
    sp_launch_note(launch, "not modelled: %s%s%s%s%s", section, section[0] ? "." : "", sp_safe(key),
                   what[0] ? ", " : "", what);
}

void sp_note_deepspeed_keys(const cJSON *root, struct sp_launch *launch)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *const name = keys[i].section;
        const cJSON *const section = name[0] ? cJSON_GetObjectItemCaseSensitive(root, name) : root;
        if (name[0] && (!cJSON_IsObject(section) || sp_is_off(section)))
            continue;
        for (const cJSON *at = section->child; at; at = at->next)
            if (!sp_is_listed(keys[i].quiet, at->string, '\0') && !sp_is_off(at))
                note(name, at->string, launch);
    }
    const cJSON *const groups = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(root, "zero_optimization"), "zero_hpz_partition_size");
    if (cJSON_IsNumber(groups) && groups->valuedouble > 1)
        note("zero_optimization", "zero_hpz_partition_size", launch);
}

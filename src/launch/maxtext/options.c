/* MaxText's names of what a plan and a model have. */
#include "launch/maxtext/maxtext.h"

const char *const sp_maxtext_models[][2] = {
    {"llama2-7b", "llama2-7b"},
    {"llama2-13b", "llama2-13b"},
    {"llama2-70b", "llama2-70b"},
    {"llama3-8b", "llama3-8b"},
    {"llama3-70b", "llama3-70b"},
    {"llama3.1-8b", "llama3.1-8b"},
    {"llama3.1-70b", "llama3.1-70b"},
    {"llama3-405b", "llama3.1-405b"},
    {"llama4-scout", "llama4-17b-16e"},
    {"llama4-maverick", "llama4-17b-128e"},
    {"mistral-7b", "mistral-7b"},
    {"mixtral-8x7b", "mixtral-8x7b"},
    {"mixtral-8x22b", "mixtral-8x22b"},
    {"deepseek-v3", "deepseek3-671b"},
    {"deepseek-v2", "deepseek2-236b"},
    {"deepseek-v2-lite", "deepseek2-16b"},
    {"kimi-k2", "kimi-k2-1t"},
    {"gemma-2b", "gemma-2b"},
    {"gemma-7b", "gemma-7b"},
    {"gemma2-2b", "gemma2-2b"},
    {"gemma2-9b", "gemma2-9b"},
    {"gemma2-27b", "gemma2-27b"},
    {"gemma3-27b", "gemma3-27b"},
    {"qwen3-8b", "qwen3-8b"},
    {"qwen3-32b", "qwen3-32b"},
    {"qwen3-30b-a3b", "qwen3-30b-a3b"},
    {"qwen3-235b-a22b", "qwen3-235b-a22b"},
    {"gpt-oss-20b", "gpt-oss-20b"},
    {"gpt-oss-120b", "gpt-oss-120b"},
    {"gpt3-175b", "gpt3-175b"},
};
const struct sp_maxtext_dimension sp_maxtext_dimensions[] = {
    {"base_num_decoder_layers", "layers", offsetof(struct sp_model, layers), 16},
    {"base_emb_dim", "d_model", offsetof(struct sp_model, d_model), 2048},
    {"base_mlp_dim", "d_ff", offsetof(struct sp_model, d_ff), 7168},
    {"base_num_query_heads", "heads", offsetof(struct sp_model, heads), 16},
    {"base_num_kv_heads", "kv_heads", offsetof(struct sp_model, kv_heads), 16},
    {"head_dim", "head_dim", offsetof(struct sp_model, head_dim), 128},
    {"vocab_size", "vocab", offsetof(struct sp_model, vocab), 32000},
};
const struct sp_maxtext_policy sp_maxtext_policies[] = {
    {"full", "full", false, true},
    {"minimal", "dots", false, true},
    {"minimal_with_context", "none", false, true},
    {"minimal_offloaded", "dots", true, true},
    {"save_qkv_proj", "qkv", false, true},
    {"qkv_proj_offloaded", "qkv", true, true},
    {"save_dot_except_mlp", "mlp", false, true},
    {"save_dot_with_context_except_mlp", "mlp", false, false},
    {"save_dot_except_mlpwi", "mlp", false, false},
    {"save_out_proj", "full", false, false},
};
int64_t sp_jax_devices_of(const struct sp_hardware *hw)
{
    return hw->network.jax_devices_per_chip > 0 ? hw->network.jax_devices_per_chip : 1;
}

/* Of base.yml, what changes neither memory nor time enough to count. */
/* clang-format off */
const char sp_maxtext_quiet[] =
    "config_file run_name M_RUN_NAME "
    "adam_* audio_* block_diffusion* chat_* checkpoint_* cost_* dataset_* debug_* decode_sampling_* diloco_* "
    "distill_* dump_* elastic_* eval_* experimental_sa* float32_* generate_* goodput* grain_* image_* inference_* "
    "jax_* learning_rate* local_checkpoint* local_sa_* managed_* mhc_pallas* monitor_* multi_tier_* muon_* olmo_* "
    "prefix_* profile* quantization_* ragged_* report* report_* rope_* routed_* sa_* save_* skip_* tokenizer* "
    "tpu_* train_* use_vertex* vertex_* video_* vllm_* wandb* wi_tile_* wo_tile_* xprof_* run_name model_name "
    "override_model_config normalization_layer_epsilon load_parameters_path load_full_state_path "
    "enable_checkpointing async_checkpointing max_num_checkpoints_to_keep enable_continuous_checkpointing "
    "enable_single_replica_ckpt_restoring force_unroll enable_orbax_v1 source_checkpoint_layout "
    "colocated_python_checkpointing enable_autocheckpoint reuse_example_batch metrics_file gcs_metrics "
    "enable_wandb dtype quantization constant_bound_config matmul_precision activations_in_float32 "
    "replicate_quant_scale quant_cfg_path kv_quant_axis kv_quant_dtype model_call_mode use_qwix_quantization "
    "use_manual_quantization weight_quantization_calibration_method act_quantization_calibration_method "
    "bwd_quantization_calibration_method weight_sparsity_update_step weight_sparsity_start_step "
    "te_comm_gemm_overlap decoder_block global_parameter_scale base_emb_dim base_num_query_heads base_num_kv_heads "
    "base_mlp_dim dense_init_scale base_num_decoder_layers head_dim mlp_activations_limit dropout_rate "
    "logits_via_embedding normalize_embedding_logits logits_dot_in_fp32 cast_logits_to_fp32 mla_qk_head_chunk_size "
    "mtp_loss_scaling_factor mtp_eval_target_module num_experts num_experts_per_tok megablox sparse_matmul "
    "num_moe_token_chunks moe_chunk_barrier base_moe_mlp_dim load_balance_loss_weight use_random_routing "
    "use_custom_sort_vjp use_ring_of_experts moe_dispatch_no_expert_sharding use_ragged_sort "
    "use_gather_mosaic_kernel merge_gating_gmm use_tokamax_gmm use_gmm_v2 norm_topk_prob n_routing_groups "
    "topk_routing_group batch_split_factor num_layers_per_pipeline_stage num_pipeline_repeats "
    "pipeline_parallel_layers num_pipeline_microbatches pipeline_delay_activation_forwarding "
    "scan_pipeline_iterations scan_pipeline_repeats scan_layers_per_stage set_remat_policy_on_pipeline_iterations "
    "set_remat_policy_on_layers_per_stage remat_policy decoder_layer_input indexer_cutoff_threshold context mlpwi "
    "mlpwi_0 mlpwi_1 mlpwo moe_mlpwi_0 moe_mlpwi_1 moe_mlpwo query_proj key_proj value_proj kv_proj qkv_proj "
    "out_proj query_wa_proj kv_wa_proj mla_q mla_kv attention_out engram optimizer_memory_host_offload "
    "parameter_memory_host_offload scan_layers param_scan_axis attention attention_sink causal_block_size "
    "attn_logits_soft_cap final_logits_soft_cap z_loss_multiplier use_post_attn_norm use_post_ffw_norm "
    "v_norm_with_scale qk_norm_with_scale mla_naive_kvcache moba_chunk_size moba_topk indexer_head_dim "
    "indexer_n_heads indexer_topk indexer_use_approx_top_k indexer_approx_top_k_recall indexer_mask_exact_topk "
    "indexer_sparse_training indexer_loss_scaling_factor use_sliced_mla_proj o_groups "
    "compressed_rope_max_timescale use_qk_clip qk_clip_threshold record_internal_nn_metrics base_output_directory "
    "enable_multi_tier_checkpointing mtc_data_parallelism enable_emergency_checkpoint hardware internal_compile "
    "internal_compile_num_devices compile_xla_flags data_sharding input_data_sharding_logical_axes "
    "ulysses_context_sharding custom_mesh_and_rule_for_eval logical_axis_rules_for_eval sharding_tolerance "
    "dcn_data_parallelism dcn_fsdp_parallelism dcn_fsdp_transpose_parallelism dcn_sequence_parallelism "
    "dcn_context_parallelism dcn_context_autoregressive_parallelism dcn_tensor_parallelism "
    "dcn_tensor_sequence_parallelism dcn_pipeline_parallelism dcn_expert_parallelism "
    "dcn_autoregressive_parallelism ici_data_parallelism ici_fsdp_parallelism ici_fsdp_transpose_parallelism "
    "ici_sequence_parallelism ici_context_parallelism ici_context_autoregressive_parallelism "
    "ici_tensor_parallelism ici_tensor_sequence_parallelism ici_autoregressive_parallelism "
    "ici_pipeline_parallelism ici_expert_parallelism check_vma shard_optimizer_over_data "
    "dense_fsdp_use_two_stage_all_gather num_vocab_tiling vocab_tiling_ag_once vocab_size use_chat_template "
    "tokenize_train_data tokenize_eval_data add_bos add_eos use_truncation per_device_batch_size "
    "expansion_factor_real_data max_corpus_chars default_prompt packing num_epoch max_segments_per_seq "
    "per_device_batch_size_start per_device_batch_size_increment global_rampup_samples "
    "sft_train_on_completion_only hf_path hf_name hf_data_dir hf_train_files hf_eval_split hf_eval_files "
    "hf_access_token colocated_python_data_input steps log_period max_inflight_computations lr_schedule_type "
    "wsd_decay_steps_fraction wsd_decay_style warmup_steps_fraction max_target_length max_prefill_predict_length "
    "prompt load_from_prefill_dir prefill_cache_dir autoregressive_decode_assert upload_all_profiler_results "
    "hide_profiler_step_metric enable_tpu_profiling_options enable_dropout enable_data_shuffling data_shuffle_seed "
    "init_weights_seed dcn_bandwidth_limit dcn_bandwidth_burst dcn_bandwidth_latency dcn_bandwidth_interface "
    "enable_streaming_diloco num_diloco_fragments use_sequential_layers num_communication_overlapping_steps "
    "communication_overlapping_alpha gradient_clipping_threshold gradient_accumulation_steps opt_type adamw_mask "
    "mu_dtype use_iota_embed use_untrainable_positional_embedding trainable_position_size local_rope_max_timescale "
    "global_rope_max_timescale global_rope_proportion local_rope_proportion max_position_embeddings "
    "original_max_position_embeddings beta_fast beta_slow mscale compiled_trainstep_file compile_topology "
    "compile_topology_num_slices write_estimator_result target_eval_loss abort_on_nan_loss abort_on_inf_loss "
    "enable_goodput_recording enable_pathways_goodput step_deviation_interval_seconds enable_gcp_goodput_metrics "
    "enable_gcp_step_deviation_metrics heartbeat_reporting_interval_in_seconds enable_tensorboard max_checkify "
    "prefill_slice enable_model_warmup enable_llm_inference_pool multi_sampling return_log_prob "
    "stack_prefill_result_cache prefill_cache_axis_order ar_cache_axis_order compute_axis_order reshape_q "
    "prometheus_port enable_jax_profiler log_config enable_checkpoint_cloud_logger enable_single_controller "
    "custom_mesh allow_split_physical_axes optimize_mesh_for_tpu_v6e shardy remove_size_one_mesh_axis_from_type "
    "use_ragged_attention use_splash_scheduler ring_scan_unroll local_use_splash_scheduler use_max_logit_estimate "
    "dq_reduction_steps context_parallel_load_balance context_parallel_strategy context_parallel_reorder_strategy "
    "prefill_chunk_size use_chunked_prefill enable_prefix_caching enable_padding_causal_mask use_qk_norm "
    "temperature_tuning freeze_vision_encoder_params freeze_audio_encoder_params dtype_mm remat_policy_for_vit "
    "use_audio_in_video posemb_type_for_vit max_num_images_per_example vision_output_length hidden_size_for_vit "
    "intermediate_size_for_vit num_attention_heads_for_vit num_channels_for_vit tile_size_for_vit "
    "patch_size_for_vit conv_stride_for_vit num_hidden_layers_for_vit projector_input_dim_for_vit "
    "projector_output_dim_for_vit vision_output_dim_for_vit pixel_shuffle_ratio_for_vit projector_dropout_for_vit "
    "spatial_merge_size_for_vit out_hidden_size_for_vit temporal_patch_size_for_vit "
    "num_position_embeddings_for_vit deepstack_visual_indexes_for_vit d_model_for_audio "
    "encoder_attention_heads_for_audio encoder_ffn_dim_for_audio encoder_layers_for_audio "
    "attention_dropout_for_audio activation_dropout_for_audio activation_function_for_audio num_mel_bins_for_audio "
    "max_source_positions_for_audio scale_embedding_for_audio n_window_for_audio n_window_infer_for_audio "
    "conv_chunksize_for_audio downsample_hidden_size_for_audio output_dim_for_audio num_conv_layers_for_audio "
    "max_timescale_for_audio max_sample_len_for_audio use_mrope mrope_section position_id_per_seconds "
    "subslice_shape enable_nnx pure_nnx_decoder pure_nnx gdn_conv_kernel_dim gdn_key_head_dim gdn_value_head_dim "
    "gdn_num_key_heads gdn_num_value_heads gdn_chunk_size use_qk_norm_in_gdn partial_rotary_factor "
    "use_tokamax_splash use_jax_splash force_q_layout sinkhorn_iterations enable_mhc_lite use_mhc_pallas_kernel "
    "engram_max_ngram_size engram_num_heads engram_head_dim engram_vocab_bases engram_kernel_size engram_seed "
    "base_config enable_profiler xla_flags ";
/* clang-format on */

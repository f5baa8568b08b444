/* Megatron-LM: arguments without a value, those that change neither memory nor time enough to
 * count, and older and other spellings (Megatron-DeepSpeed, forks). Names:
 * megatron/training/arguments.py, 0.20, and the launchers in front of it (torchrun, deepspeed,
 * srun). */
#include <string.h>

#include "launch/megatron/megatron.h"

/* clang-format off */
static const char switches[] =
    "abort-on-unmet-fused-kernel-constraints account-for-embedding-in-pipeline-split "
    "account-for-loss-in-pipeline-split accumulate-allreduce-grads-in-fp32 add-qkv-bias adlr-autoresume "
    "allow-ambiguous-pad-tokens apply-layernorm-1p apply-query-key-layer-scaling "
    "apply-residual-connection-post-layernorm apply-wd-to-qk-layernorm async-ckpt-use-cpu-shm async-save "
    "attention-output-gate attention-softmax-in-fp32 auto-detect-ckpt-format batch-invariant-mode "
    "bert-no-binary-head bf16 biencoder-shared-query-context-model cache-mla-latents calc-ft-timeouts "
    "calculate-per-token-loss check-for-large-grads check-for-spiky-loss checkpoint-activations "
    "checkpoint-in-cpu ckpt-assume-constant-structure ckpt-convert-update-legacy-dist-opt-format "
    "ckpt-drop-redundant-extra-state ckpt-format-torch ckpt-fully-parallel-load "
    "ckpt-fully-parallel-load-per-rank-objects ckpt-fully-parallel-save ckpt-pg-tensors-cache-create "
    "contigious-checkpointing cpu-offloading cpu-offloading-retain-pinned-cpu-buffers cpu-optimizer "
    "cpu_torch_adam create-all-gather-group create-moe-param-group cross-entropy-loss-fusion "
    "data-parallel-random-init dataloader-defer-npy-index-mmap dataloader-fast-cache-load "
    "dataloader-inter-document-masking ddp-average-in-collective ddp-pad-buckets-for-high-nccl-busbw "
    "ddp-reduce-scatter-with-fp32-accumulation decode-only-cuda-graphs decrease-batch-size-if-needed "
    "deepspeed deepspeed-activation-checkpointing defer-embedding-wgrad-compute "
    "delay-offload-until-cuda-graph delay-wgrad-compute deterministic-mode dino-norm-last-layer "
    "disable-align-grad-reduce disable-bf16-reduced-precision-matmul disable-bias-linear "
    "disable-ckpt-load-validate-sharding-integrity disable-clone-scatter-output-in-embedding "
    "disable-dsa-indexer-rotate-activation disable-dsa-indexer-scoring-relu "
    "disable-flight-recorder-dump-on-timeout disable-flight-recorder-extra-dump-on-exec "
    "disable-flight-recorder-include-only-active disable-fp8-wgrad disable-gloo-process-groups "
    "disable-jit-fuser disable-log-loss-scale-to-tensorboard disable-mamba-mem-eff-path "
    "disable-manual-gc-eval disable-moe-token-dropping disable-msc disable-pad-vocab-size "
    "disable-save-tokenizer-assets disable-straggler-on-startup disable-strict-fsdp-dtensor-load "
    "disable-symmetric-registration disable-tokenizer-sentencepiece-ignore-extra-whitespaces "
    "disable-tp-comm-bulk-dgrad disable-tp-comm-bulk-wgrad disable-tp-comm-overlap-ag "
    "disable-tp-comm-overlap-rs disable-tp-comm-split-ag disable-tp-comm-split-rs "
    "disable-use-tokenizer-model-from-checkpoint-args dist-ckpt-optim-fully-reshardable "
    "dist-ckpt-save-pre-mcore-014 distrib-optim-fully-reshardable-mem-efficient distribute-saved-activations "
    "ds-inference dsa-indexer-k-norm-fp32 dsa-indexer-rope-interleaved dsa-indexer-use-sparse-loss "
    "embed-layernorm enable-chunked-prefill enable-cuda-graph enable-experimental enable-ft-package "
    "enable-full-sharding-in-hsdp enable-mhc-connections enable-msc eod-mask-loss "
    "ep-overlap-early-attn-memory-release exit-on-missing-checkpoint exit-signal-handler "
    "exit-signal-handler-for-dataloader exit-signal-handler-for-training external-cuda-graph "
    "fake-process-group fim-data fine-grained-activation-offloading finetune first-last-layers-bf16 "
    "flash-decode flight-recorder-include-stack-trace force-ds-sequence-parallel fp16 fp16-lm-cross-entropy "
    "fp32-residual-connection fp4-param-gather fp8-output-proj fp8-param-gather freeze-all-layers "
    "fsdp-db-use-persist-buf-on-alloc-fail fsdp-double-buffer fsdp-manual-registration full-validation "
    "fused-residual-rmsnorm gdp-cutedsl-kernel glu-activation goldfish-loss grad-reduce-in-bf16 "
    "group-query-attention grpo-filter-groups-with-same-reward gtp-expert-remat-nccl-ub gtp-remat-nccl-ub "
    "gtp-remat-reduce-scatter-with-fp32-accumulation high-priority-a2a-comm-stream hybrid-context-parallel "
    "inference-cuda-graph-all-prefills inference-disable-ep-consensus inference-disable-triton-nvls-kernels "
    "inference-dynamic-batching inference-dynamic-batching-prefix-caching "
    "inference-dynamic-batching-track-generated-token-events "
    "inference-dynamic-batching-track-paused-request-events inference-fuse-tp-communication "
    "inference-moe-disable-fused-quant-kernels inference-rng-tracker inference-text-gen-server-logging "
    "inference-use-synchronous-zmq-collectives inference-wandb-logging init-method-xavier-uniform "
    "init-model-with-meta-device inprocess-empty-cuda-cache inprocess-restart is-hybrid-model "
    "keep-fp8-transpose-cache lazy-mpu-init load-main-params-from-ckpt log-batch-size-to-tensorboard "
    "log-device-memory-used log-energy log-max-attention-logit log-memory-to-tensorboard "
    "log-num-zeros-in-grad log-optimizer-states-to-tensorboard log-params-norm log-progress log-straggler "
    "log-throughput log-timers-to-tensorboard log-validation-ppl-to-tensorboard "
    "log-world-size-to-tensorboard logits-load-ignore-errors manual-gc "
    "megatron-fsdp-enable-fine-grained-param-gather megatron-fsdp-max-pool-double-buffer "
    "mla-down-proj-fusion mlp-type-residual mock-data moe-apply-probs-on-input moe-enable-deepep "
    "moe-enable-routing-replay moe-grouped-gemm moe-hybridep-pad-uneven-dispatch-inputs moe-layer-recompute "
    "moe-ncclep-zero-copy moe-pad-expert-input-to-capacity moe-pad-experts-for-cuda-graph-inference "
    "moe-paged-stash moe-per-layer-logging moe-permute-fusion moe-permute-fusion-into-hybridep "
    "moe-router-enable-expert-bias moe-router-force-load-balancing moe-router-fusion "
    "moe-router-padding-for-fp8 moe-router-padding-for-quantization moe-router-pre-softmax "
    "moe-routing-trace-capture-hidden-states moe-routing-trace-capture-logits moe-routing-trace-dump-weights "
    "moe-shared-expert-gate moe-shared-expert-overlap moe-single-grouped-bias moe-single-grouped-weight "
    "moe-use-grouped-tensor moe-use-upcycling mtp-detach-heads mtp-hsm mtp-standalone mtp-use-repeated-layer "
    "multi-latent-attention multiple-validation-sets muon-nesterov muon-no-split-qkv muon-use-syrk "
    "nccl-all-reduce-for-prefill no-align-grad-reduce no-align-param-gather "
    "no-async-tensor-model-parallel-allreduce no-barrier-with-level-1-timing no-bias-dropout-fusion "
    "no-bias-gelu-fusion no-bias-swiglu-fusion no-check-for-nan-in-loss-and-grad no-ckpt-fully-parallel-save "
    "no-ckpt-load-validate-sharding-integrity no-clone-scatter-output-in-embedding "
    "no-contiguous-buffers-in-local-ddp no-create-attention-mask-in-dataloader no-data-sharding "
    "no-dsa-indexer-rotate-activation no-dsa-indexer-scoring-relu no-flight-recorder-dump-on-timeout "
    "no-flight-recorder-extra-dump-on-exec no-flight-recorder-include-only-active no-fp8-wgrad "
    "no-gradient-accumulation-fusion no-gradient-reduce-div-fusion no-inference-disable-ep-consensus "
    "no-inference-dynamic-batching-prefix-caching no-inference-text-gen-server-logging "
    "no-inference-use-synchronous-zmq-collectives no-inference-wandb-logging no-initialization "
    "no-layer-norm-bias no-load-optim no-load-rng no-log-loss-scale-to-tensorboard no-manual-gc-eval "
    "no-masked-softmax-fusion no-mmap-bin-files no-one-logger no-overlap-p2p-communication no-pad-vocab-size "
    "no-persist-layer-norm no-pin-cpu-grads no-pin-cpu-params no-pipeline-parallel no-position-embedding "
    "no-query-key-layer-scaling no-rl-inference-logprobs-is-correction "
    "no-rl-offload-inference-model-weights-when-idle no-rl-partial-rollouts no-rl-persist-cuda-graphs "
    "no-rl-skip-bos-token no-rl-training-cuda-graphs no-rl-use-sequence-packing "
    "no-rl-verify-model-weights-swap no-rope-fusion no-save-optim no-save-rng no-save-tokenizer-assets "
    "no-scaled-masked-softmax-fusion no-strict-fsdp-dtensor-load "
    "no-tokenizer-sentencepiece-ignore-extra-whitespaces no-tp-comm-bulk-dgrad no-tp-comm-bulk-wgrad "
    "no-tp-comm-overlap-ag no-tp-comm-overlap-rs no-tp-comm-split-ag no-tp-comm-split-rs "
    "no-use-layer-wise-param-layout no-use-tokenizer-model-from-checkpoint-args "
    "no-yarn-correction-range-round-to-int nvtx-ranges one-logger-async openai-gelu optimizer-cpu-offload "
    "optimizer-cuda-graph otel-enabled output-bert-embeddings overlap-cpu-optimizer-d2h-h2d "
    "overlap-dispatch-backward-with-experts-wgrad overlap-grad-reduce overlap-moe-expert-parallel-comm "
    "overlap-p2p-communication-warmup-flush overlap-param-gather overlap-param-gather-with-optimizer-step "
    "override-opt-param-scheduler override-opt_param-scheduler partition-activations perform-rl-step profile "
    "pytorch-profiler-collect-callstack pytorch-profiler-collect-chakra pytorch-profiler-collect-shapes "
    "qk-clip qk-l2-norm qk-layernorm quick-geglu recompute-activations record-memory-history record-shapes "
    "repeated-dataloader replication reset-attention-mask reset-position-ids retriever-score-scaling "
    "reuse-grad-buf-for-mxfp8-param-ag rl-durable-rollout-bank rl-inference-logprobs-is-correction "
    "rl-offload-inference-model-weights-when-idle rl-offload-optimizer-during-inference rl-partial-rollouts "
    "rl-persist-cuda-graphs rl-profile rl-skip-bos-token rl-training-cuda-graphs rl-use-sequence-packing "
    "rl-verify-model-weights-swap rotary-interleaved run-workload-inspector-server sequence-parallel "
    "sequence-parallel-enabled sft skip-train squared-relu swiglu sync-tp-duplicated-parameters "
    "synchronize-each-layer te-rng-tracker tensorboard-log-optimizer test-mode "
    "tokenizer-hf-no-include-special-tokens tokenizer-hf-no-use-fast tokenizer-sentencepiece-legacy "
    "torch-fsdp2-no-reshard-after-forward tp-comm-overlap tp-comm-overlap-rs-dgrad trust-remote-code "
    "universal-checkpoint untie-embeddings untie-embeddings-and-output-weights use-checkpoint-args "
    "use-checkpoint-opt-param-scheduler use-checkpoint-opt_param-scheduler use-cpu-initialization "
    "use-custom-fsdp use-dist-ckpt use-distributed-optimizer use-flash-attn use-flash-attn-builder "
    "use-flash-attn-triton use-flash-attn-v1 use-flash-attn-v2 use-fused-weighted-squared-relu use-gigatoken "
    "use-grouped-gemm-for-dense-mlp use-grouped-gemm-for-shared-expert use-kitchen-attention "
    "use-legacy-static-engine use-mcore-models use-megatron-fsdp use-mp-args-from-checkpoint-args use-mup "
    "use-nccl-ub use-one-sent-docs use-persistent-ckpt-worker use-precision-aware-optimizer "
    "use-pytorch-profiler use-ring-exchange-p2p use-rope-scaling use-rotary-position-embeddings "
    "use-same-sampling-seed-across-dp-ranks use-sharp use-te-activation-func use-torch-fsdp2 "
    "use-torch-optimizer-for-cpu-offload use-tp-pp-dp-mapping use-transformer-engine-op-fuser "
    "use-turbo-attention use-wandb verify-integrity vision-pretraining xielu "
    "yarn-correction-range-round-to-int ";

const char sp_megatron_quiet[] =
    "name layer-type megatron-amp-O2 grad-allreduce-chunk-size-mb grad-div-ar-fusion gradient-accumulation-fusion "
    "bias-* masked-softmax-fusion get-attention-mask-from-fusion apply-rope-fusion nccl-* gc-interval "
    "fp8-interval fp8-wgrad ub-tp-comm-overlap* tp-comm-* use-cpu-initialization onnx-safe apex-* transformer-engine "
    "resume-from-checkpoint restore-from-* use-transformer-engine pre-process post-process persist-layer-norm "
    "openai-gelu attention-type num-micro-batches-with-partial-activation-checkpoints transformer-block-type "
    "activation add-bias-linear share-embeddings-and-output-weights gated-linear-unit share-token-type-embeddings "
    "native-amp-init-scale native-amp-growth-interval fsdp-* precision rope-* seq-len-interpolation-factor headscale "
    "use-emha do-layer-norm-weight-decay make-vocab-size-divisible-by use-turbo-* enable-primus-turbo stderr-sink-level "
    "work-group METRICS user-name exp-name workspace framework config model mixed-precision TEST-TYPE LAUNCHER MODE "
    "disable-last-saving auto-continue-train norm-init-weight finetune batch-p2p-comm batch-p2p-sync rampup* "
    "num-query-groups accumulate-grad-batches hidden-dropout ffn-dropout gradient-as-bucket-view overlap-p2p-comm "
    "attention-dropout seed persist-* position-embedding-* bias kv-channels clone-scatter-output-in-embedding "
    "num-moe-experts virtual-pipeline-model-parallel-size data-parallel-sharding-strategy cuda-graph-warmup* "
    "max-position-embeddings mscale mscale-all-dim override-lr-scheduler ln-fp16 deepspeed-activation-checkpointing "
    "no-async-tensor-model-parallel-allreduce jobname max_position_embeddings fsdp-double-buffer no-layer-norm-bias "
    "no-initialization use-cpu-initialization deterministic-mode no-tp-comm-* disable-tp-comm-* "
    "tp-comm-overlap-rs-dgrad tp-comm-overlap-cfg tp-comm-bootstrap-backend cross-entropy-loss-fusion "
    "cross-entropy-fusion-impl pipeline-model-parallel-comm-backend overlap-p2p-communication* "
    "no-overlap-p2p-communication use-ring-exchange-p2p defer-embedding-wgrad-compute wgrad-deferral-limit "
    "microbatch-group-size-per-virtual-pipeline-stage mtp-loss-scaling-factor mtp-detach-heads "
    "attention-backend flash-attention-version softmax-type hidden-dropout attention-dropout "
    "apply-residual-connection-post-layernorm norm-epsilon layernorm-epsilon apply-layernorm-1p "
    "glu-linear-offset activation-func-clamp-value rotary-* no-rope-freq qk-clip* calculate-per-token-loss "
    "dsa-indexer-loss-coeff init-method-* embedding-init-method-std init-model-with-meta-device use-mup "
    "mup-* apply-query-key-layer-scaling no-query-key-layer-scaling disable-bf16-reduced-precision-matmul "
    "use-fused-weighted-squared-relu fused-residual-rmsnorm use-transformer-engine-op-fuser fp8-recipe "
    "fp8-margin fp8-interval fp8-amax-* fp8-quantizer-factory fp4-recipe moe-enable-routing-replay "
    "moe-router-padding-for-* moe-router-num-groups moe-router-group-topk moe-router-pre-softmax "
    "moe-router-topk-scaling-factor moe-router-score-function moe-router-dtype moe-router-bias-update-rate "
    "moe-router-quantile-balancing-ema moe-router-force-* moe-grouped-gemm moe-use-grouped-tensor "
    "moe-single-grouped-* moe-z-loss-coeff moe-input-jitter-eps moe-token-dispatcher-type moe-enable-deepep "
    "moe-flex-dispatcher-* moe-permute-* moe-hybridep-* moe-deepep-num-sms moe-per-layer-logging "
    "moe-router-fusion moe-apply-probs-on-input moe-router-load-balancing-type moe-aux-loss-coeff "
    "moe-token-drop-policy moe-loss-coeff moe-eval-capacity-factor moe-min-capacity moe-ncclep-* "
    "moe-use-upcycling moe-upcycling-granularity moe-routing-trace-* no-clone-scatter-output-in-embedding "
    "config-logger-dir flash-decode batch-invariant-* use-te-activation-func symmetric-ar-type "
    "transformer-impl nccl-all-reduce-for-prefill inference-* decode-only-cuda-graphs yarn-* "
    "relative-attention-* use-rope-scaling rope-scaling-factor rope-type no-rope-fusion "
    "no-position-embedding make-vocab-size-divisible-by no-pad-vocab-size openai-gelu squared-relu onnx-safe "
    "bert-no-binary-head weight-decay* apply-wd-to-qk-layernorm clip-grad adam-* adam_* sgd-momentum muon-* "
    "lion-* ademamix-* no-weight-decay-cond-type profile* use-pytorch-profiler pytorch-profiler-* record-* "
    "memory-snapshot-path nvtx-ranges decrease-batch-size-if-needed empty-unused-memory-level check-* "
    "gpu-sniff-test-interval train-sync-interval train-iters train-samples train-tokens exit-* manual-gc* "
    "no-manual-gc-eval iterations-to-skip no-check-for-nan-in-loss-and-grad result-rejected-tracker-filename "
    "no-masked-softmax-fusion no-bias-* no-persist-layer-norm no-gradient-accumulation-fusion "
    "no-scaled-masked-softmax-fusion use-flash-attn use-flash-attn-v1 use-flash-attn-v2 "
    "use-flash-attn-triton use-flash-attn-builder dump-param-to-param-group-map dataloader-* "
    "use-mcore-models use-legacy-models seed te-rng-tracker inference-rng-tracker data-parallel-random-init "
    "lr lr-* override-opt_param-scheduler override-opt-param-scheduler use-checkpoint-opt_param-scheduler "
    "use-checkpoint-opt-param-scheduler start-weight-decay end-weight-decay warmup min-lr min_lr decoupled-* "
    "save save-* load load-* non-persistent-* finetune pretrained-checkpoint ckpt-* "
    "exit-on-missing-checkpoint auto-detect-ckpt-format no-use-tokenizer-model-from-checkpoint-args "
    "no-ckpt-* async-* use-persistent-ckpt-worker no-strict-fsdp-dtensor-load dist-ckpt-* distrib-optim-* "
    "use-dist-ckpt no-save-* no-load-* override-ckpt-iteration replication* verify-integrity loss-scale* "
    "initial-loss-scale min-loss-scale hysteresis attention-softmax-in-fp32 fp16-lm-cross-entropy "
    "reuse-grad-buf-for-mxfp8-param-ag distributed-* no-align-* local-rank local_rank lazy-mpu-init "
    "nccl-communicator-config-path use-tp-pp-dp-mapping disable-gloo-process-groups use-sharp "
    "sharp-enabled-group high-priority-* flight-recorder-* no-flight-recorder-* disable-jit-fuser "
    "overlap-grad-reduce overlap-param-gather overlap-param-gather-with-optimizer-step ddp-* "
    "no-use-layer-wise-param-layout use-nccl-ub disable-symmetric-registration fsdp-manual-registration "
    "create-all-gather-group no-gradient-reduce-div-fusion suggested-communication-unit-size "
    "megatron-fsdp-version megatron-fsdp-enable-fine-grained-param-gather cp-comm-type fake-process-group "
    "eval-* start-eval-at-iter full-validation multiple-validation-sets validation-set-names data-* "
    "phase-transition-iterations split train-data-path valid-data-path test-data-path train-weighted-* "
    "valid-weighted-* test-weighted-* per-split-data-args-path per-dataset-sequences-path no-mmap-bin-files "
    "mock-data sample-rate mask-prob short-seq-prob num-workers valid-num-workers reset-position-ids "
    "reset-attention-mask eod-mask-loss no-create-attention-mask-in-dataloader num-dataset-builder-threads "
    "object-storage-cache-path mid-level-dataset-surplus allow-ambiguous-pad-tokens fim-* vocab-file "
    "vocab-extra-ids merge-file tokenizer-* no-tokenizer-* tiktoken-* trust-remote-code null-tokenizer-* "
    "chat-template use-gigatoken adlr-* log-* no-log-* timing-log-* tensorboard-* "
    "no-barrier-with-level-1-timing wandb-* logging-level otel-* straggler-* disable-straggler-on-startup "
    "run-workload-inspector-server enable-experimental yaml-cfg no-one-logger one-logger-* app-tag-* "
    "inprocess-* enable-ft-package calc-ft-timeouts ft-* error-injection-* rerun-mode enable-msc disable-msc "
    "fault-injector-* sft-tokenizer-prompt-format te-precision-config-file use-checkpoint-args "
    "use-mp-args-from-checkpoint-args nproc_per_node nproc-per-node nnodes node_rank node-rank master_addr "
    "master-addr master_port master-port rdzv_* rdzv-* max_restarts max-restarts tee redirects standalone "
    "log_dir num_gpus num_nodes hostfile include exclude no_local_rank no_ssh jobid job-name wait "
    "kill-on-bad-exit container-* no-container-* mpi nodes ntasks ntasks-per-node cpus-per-task "
    "gpus-per-node gpus-per-task gres account partition time output error label export mem mem-bind cpu-bind "
    "membind cpunodebind no-container-mount-home overlap unbuffered signal exclusive nodelist deepspeed "
    "deepspeed_config deepspeed_mpi DDP-impl pp-partition-method tokenizer-name-or-path kill-switch-path "
    "universal-checkpoint exit-interval sync-tp-duplicated-parameters "
    "abort-on-unmet-fused-kernel-constraints repeated-dataloader train-mode dataset dataset-config "
    "max-padding-length extra-vocab-size patch-tokenizer-type goldfish-* trigger-path qknorm-impl "
    "no-pipeline-parallel curriculum-* use-rotary-position-embeddings create-moe-param-group codecarbon-dir "
    "transformer-timers force_default loss-func result-* padded-vocab-size-from keep-last use-wandb ";

const struct sp_flag_names sp_megatron_flags = {switches, sp_megatron_quiet};

/* Other spellings: `flag` stands for `as` with the value `gives`, NULL:
 * with its own value. */
static const struct {
    const char *flag, *as, *gives;
} spellings[] = {
    {"--model-parallel-size", "--tensor-model-parallel-size", NULL},
    {"--batch-size", "--micro-batch-size", NULL},
    {"--encoder-seq-length", "--seq-length", NULL},
    {"--pad-vocab-size-to", "--vocab-size", NULL},
    {"--padded-vocab-size", "--vocab-size", NULL},
    {"--use-rotary-position-embeddings", "--position-embedding-type", "rope"},
    {"--quick-geglu", "--swiglu", ""},
    {"--geglu", "--swiglu", ""},
    {"--glu-activation", "--swiglu", ""},
    {"--moe-expert-parallel-size", "--expert-model-parallel-size", NULL},
    {"--topk", "--moe-router-topk", NULL},
    {"--ds-sequence-parallel-size", "--context-parallel-size", NULL},
    {"--checkpoint-activations", "--recompute-granularity", "full"},
    {"--activations-checkpoint-method", "--recompute-method", NULL},
    {"--activations-checkpoint-method", "--recompute-granularity", "full"},
    {"--activations-checkpoint-granularity", "--recompute-granularity", NULL},
    {"--activations-checkpoint-num-layers", "--recompute-num-layers", NULL},
    {"--recompute-activations", "--recompute-granularity", "selective"},
    {"--use-custom-fsdp", "--use-megatron-fsdp", ""},
    {"--fp8", "--fp8-format", NULL},
    {"--fp8-hybrid", "--fp8-format", "hybrid"},
    {"--fp8-e4m3", "--fp8-format", "e4m3"},
    {"--enable-gqa", "--group-query-attention", ""},
};
/* clang-format on */

bool sp_spell_megatron(struct sp_settings *s, struct sp_error *error)
{
    const int n = s->n;
    for (int i = 0; i < n; i++)
        for (size_t j = 0; j < sizeof spellings / sizeof *spellings; j++) {
            const struct sp_setting from = s->at[i];
            if (strcmp(from.name, spellings[j].flag) != 0)
                continue;
            const char *const gives = spellings[j].gives;
            sp_setting(s, from.name);
            if (!sp_add_setting(s, spellings[j].as, gives ? gives : from.value, error))
                return false;
            struct sp_setting *const to = &s->at[s->n - 1];
            to->line = from.line;
            to->gap_line = from.gap_line;
            if (!gives) {
                memcpy(to->gap, from.gap, sizeof to->gap);
                memcpy(to->by, from.by, sizeof to->by);
            }
        }
    return true;
}

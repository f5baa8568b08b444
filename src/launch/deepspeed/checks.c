/* DeepSpeed: what its own checks refuse (DeepSpeedConfig of runtime/config.py, the engine's choice
 * of an optimizer, AutoEP's validate_folding_global; 0.19.6). Of a file that is read the table
 * makes remarks, of one that is written losses. */
#include <math.h>
#include <string.h>

#include "launch/deepspeed/deepspeed.h"

static const cJSON *at(const cJSON *root, const char *section, const char *key)
{
    const cJSON *const from = section ? cJSON_GetObjectItemCaseSensitive(root, section) : root;
    return from ? cJSON_GetObjectItemCaseSensitive(from, key) : NULL;
}

/* A number of the file, or `otherwise`. */
static double number(const cJSON *root, const char *section, const char *key, double otherwise)
{
    const cJSON *const value = at(root, section, key);
    return value && cJSON_IsNumber(value) ? value->valuedouble : otherwise;
}

static bool is_text(const cJSON *root, const char *section, const char *key, const char *text)
{
    const cJSON *const value = at(root, section, key);
    return value && cJSON_IsString(value) && strcmp(value->valuestring, text) == 0;
}

/* clang-format off */
void sp_check_deepspeed(const cJSON *root, int64_t devices, struct sp_refusals *refused)
{
    const double batch = number(root, NULL, "train_batch_size", 0), micro = number(root, NULL, "train_micro_batch_size_per_gpu", 0),
                 steps = number(root, NULL, "gradient_accumulation_steps", 0), tp = number(root, "tensor_parallel", "autotp_size", 1),
                 sequence = number(root, NULL, "sequence_parallel_size", 1), stage = number(root, "zero_optimization", "stage", 0),
                 ep = number(root, "expert_parallel", "autoep_size", 1), etp = number(root, "expert_parallel", "expert_tensor_parallel_size", 1);
    const double ranks = sequence > 0 ? (double)devices / sequence : 0;
    const bool experts = cJSON_IsTrue(at(root, "expert_parallel", "enabled")), bf16 = cJSON_IsTrue(at(root, "bf16", "enabled")),
               fp16 = cJSON_IsTrue(at(root, "fp16", "enabled")), half = bf16 || fp16, whole = batch > 0 && micro > 0 && steps > 0 && devices > 0,
               master = cJSON_IsTrue(at(root, "bf16", "bf16_master_weights_and_grads"));
    const struct sp_check checks[] = {
        {whole && fmod(micro * steps * ranks, batch) != 0, /* stages of the code divide it */ "a train_batch_size that is not micro-batch x accumulation x world size"},
        {bf16 && fp16, "bf16 and fp16"},
        {stage == 0 && half && is_text(root, "data_types", "grad_accum_dtype", "fp32"), "gradients in fp32 at ZeRO 0"},
        {stage > 3, "a ZeRO stage above 3"},
        {master && stage == 0, "bf16_master_weights_and_grads at ZeRO 0"},
        {cJSON_IsTrue(at(root, "bf16", "bf16_optimizer_states")) && !master, "bf16_optimizer_states without bf16_master_weights_and_grads"},
        {experts && etp != 1, "expert_tensor_parallel_size other than 1"},
        {experts && devices > 0 && fmod((double)devices, ep * etp) != 0, "an autoep_size that does not divide the devices"},
        {experts && tp > 1 && sequence > 1, "expert parallelism with autotp_size and sequence_parallel_size"},
        {experts && tp > 1 && ep == 1, "expert parallelism of 1 with autotp_size"},
        {experts && tp > 1 && stage == 3, "expert parallelism with autotp_size at ZeRO 3"},
        {experts && sequence > 1 && stage == 3, "expert parallelism with sequence_parallel_size at ZeRO 3"},
    };
    refused->n = 0;
    SP_REFUSE(checks, refused);
}
/* clang-format on */

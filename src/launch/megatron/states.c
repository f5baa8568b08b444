/* Megatron-LM: formats of weights, gradients and states, as a recipe and its differences. */

#include "base/text.h"

#include "launch/megatron/megatron.h"

/* Bytes of an element by the name of its format; 0: no such format. */
static int bytes_of(const char *format)
{
    static const struct {
        const char *name;
        int bytes;
    } formats[] = {{"fp32", 4}, {"fp16", 2}, {"bf16", 2}, {"fp8", 1}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (format && sp_is(formats[i].name, format))
            return formats[i].bytes;
    return 0;
}

static void set_bytes(const struct sp_settings *s, const char *field, int bytes)
{
    sp_launch_option(s, "set", "precision.%s=%d", field, bytes);
}

/* fp16 keeps gradients in its own format unless told otherwise, bf16 in fp32. Gradients that
 * DeepSpeed owns are of the model's format. */
static int bytes_of_gradients(struct sp_settings *s)
{
    const char *const main_grads = sp_setting(s, "--main-grads-dtype"),
                      *const fsdp_grads = sp_setting(s, "--megatron-fsdp-main-grads-dtype");
    const bool fp32 = sp_setting(s, "--accumulate-allreduce-grads-in-fp32") != NULL;
    if (sp_setting(s, "--use-megatron-fsdp") && bytes_of(fsdp_grads) > 0)
        return bytes_of(fsdp_grads);
    if (sp_setting(s, "--use-precision-aware-optimizer") && bytes_of(main_grads) > 0)
        return bytes_of(main_grads);
    if (sp_setting(s, "--fp16"))
        return fp32 ? 4 : 2;
    return sp_setting(s, "--grad-reduce-in-bf16") || sp_setting(s, "--deepspeed") ? 2 : 4;
}

/* Formats of the states, which count only with --use-precision-aware-optimizer. */
static void read_aware(struct sp_settings *s)
{
    static const char *const flags[] = {"--main-params-dtype", "--exp-avg-dtype",
                                        "--exp-avg-sq-dtype"};
    int bytes[3];
    for (int i = 0; i < 3; i++) {
        const int given = bytes_of(sp_setting(s, flags[i]));
        bytes[i] = given > 0 ? given : 4;
    }
    if (!sp_setting(s, "--use-precision-aware-optimizer"))
        return;
    if (bytes[0] != 4)
        set_bytes(s, "master_bytes", bytes[0]);
    if (bytes[1] + bytes[2] != 8)
        set_bytes(s, "optimizer_bytes", bytes[1] + bytes[2]);
}

void sp_read_megatron_states(struct sp_settings *s)
{
    const char *const optimizer = sp_setting(s, "--optimizer");
    const bool half = sp_setting(s, "--bf16") || sp_setting(s, "--fp16");
    const bool fp8 = sp_setting(s, "--fp8-format") != NULL;
    const int grads = bytes_of_gradients(s);
    const bool muon = optimizer && (sp_is(optimizer, "muon") || sp_is(optimizer, "dist_muon"));
    sp_launch_option(s, "precision", "%s",
                     fp8          ? (grads == 2 ? "fp8-mixed16" : "fp8-mixed18")
                     : !half      ? "fp32"
                     : grads == 2 ? "mixed16"
                     : muon       ? "muon"
                                  : "mixed18");
    if (fp8 && grads != 2 && grads != 4)
        set_bytes(s, "grad_bytes", grads);
    if (!half && !fp8)
        sp_launch_note(s, "neither --bf16 nor --fp16: fp32, as in Megatron-LM");
    if (sp_setting(s, "--deepspeed") && sp_setting(s, "--bf16"))
        sp_launch_note(s, "DeepSpeed's bf16 optimizer kept fp32 gradients and sharded states at "
                          "ZeRO 0 in older releases; for these, --precision mixed18 --zero 1");
    if (sp_setting(s, "--fp4-format"))
        sp_launch_note(s, "not modelled: --fp4-format, matmuls in 4 bits; read as %s",
                       half ? "16 bits" : "32 bits");
    read_aware(s);
    if (optimizer)
        sp_read_optimizer(s, "--optimizer", muon ? "muon" : optimizer,
                          sp_setting_number(s, "--sgd-momentum", 0.9));
    if (sp_setting(s, "--fine-grained-activation-offloading"))
        sp_read_offload(s);
    sp_read_optimizer_offload(s, "--optimizer-cpu-offload", "--optimizer-offload-fraction", 1);
    sp_note_rows(s);
}

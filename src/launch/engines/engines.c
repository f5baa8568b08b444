/* The engines whose servers are written and read, and the programs that start them. */
#include "launch/engines/engines.h"

#define ENGINE(name, starts, is_read)                                                              \
    const struct sp_target sp_target_##name = {                                                    \
        .words = {#name, "hub"},                                                                   \
        .program = (starts),                                                                       \
        .format = (is_read),                                                                       \
        .read = sp_read_server,                                                                    \
    }

ENGINE(vllm, "vllm serve", "vLLM server arguments");
ENGINE(sglang, "python -m sglang.launch_server", "SGLang server arguments");
ENGINE(trtllm, "trtllm-serve", "TensorRT-LLM server arguments");

/* Files to start from, for --example. */
#include "cli/example.h"

const char sp_example_runs[] =
    "hw,framework,devices,layers,d_model,d_ff,heads,kv_heads,vocab,seq,batch_sequences,micro_batch,"
    "zero,remat,measured_step_s,measured_peak_mem_gb,memory_level\n"
    "H100,torchtitan,64,32,4096,14336,32,8,128256,8192,128,2,ZeRO-3,full,2.30,20.3,reserved\n"
    "H100,torchtitan,128,32,4096,14336,32,8,128256,8192,256,2,ZeRO-3,full,2.35,19.2,reserved\n"
    "H100,torchtitan,128,80,8192,28672,64,8,128256,8192,256,1,ZeRO-3,full,21.9,37.4,reserved\n";

const char sp_example_cases[] =
    "[\n"
    "  {\n"
    "    \"id\": \"matmul-1\",\n"
    "    \"question\": \"FLOPs of a product of 1024 x 4096 and 4096 x 8192\",\n"
    "    \"args\": [\"roofline\", \"--matmul\", \"1024x4096x8192\", \"--hw\", \"h100\"],\n"
    "    \"expect\": {\"flops\": 68719476736},\n"
    "    \"source\": \"2 x 1024 x 4096 x 8192\"\n"
    "  }\n"
    "]\n";

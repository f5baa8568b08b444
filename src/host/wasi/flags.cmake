# A module has a stack of its own size, SP_STACK_BYTES of parallel.h; its memory grows. The stack stands below all data,
# so that one that is too small stops the program instead of writing over what it knows.
# What browsers have had since 2021: conversions without a test of their range, extensions of signs, copies of blocks. No function
# is copied into its callers, which makes the page 3 kB smaller.
target_compile_options(scaleplan_flags INTERFACE -mnontrapping-fptoint -msign-ext -mbulk-memory "SHELL:-mllvm -inline-threshold=-1000")
target_compile_definitions(scaleplan_flags INTERFACE _WASI_EMULATED_PROCESS_CLOCKS)
target_link_options(scaleplan_flags INTERFACE -Wl,-z,stack-size=4194304,--stack-first -Wl,-O0,--strip-debug,--compress-relocations "SHELL:-Wl,-mllvm,-inline-threshold=-1000")
# What the optimizer itself calls is not a part of what it optimizes.
set_source_files_properties(src/host/wasi/c_library.c src/host/wasi/memory.c PROPERTIES COMPILE_OPTIONS "-fno-lto;-fno-builtin")
# The page shows no rows of commands, and of options, that need a shell, and does not say
# where it has a model, an option or the habits of a framework, a fitted constant or a recipe from.
set(SCALEPLAN_COMMANDS_LEFT_OUT calibrate import scaling_losses)
set(SCALEPLAN_SOURCES_LEFT_OUT models launch logs engines kernels ground serving profiles frameworks precision storage)
# Harmless options of these frameworks are looked up, never shown: their names would take 13 kB. Of DeepSpeed they are listed by
# section. A page offers none for a misspelt option of an engine.
set(SCALEPLAN_LAUNCHES_PACKED accelerate maxtext megatron nanogpt nemo_rl neox openrlhf sglang torchtitan trainer verl vllm)
list(TRANSFORM SCALEPLAN_LAUNCHES_PACKED PREPEND launch/)

# A module has a stack of its own size, SP_STACK_BYTES of parallel.h; its memory grows. The stack stands below all data,
# so that one that is too small stops the program instead of writing over what it knows.
target_compile_definitions(scaleplan_flags INTERFACE _WASI_EMULATED_PROCESS_CLOCKS)
target_link_options(scaleplan_flags INTERFACE -Wl,-z,stack-size=4194304,--stack-first -Wl,--strip-all,--compress-relocations)

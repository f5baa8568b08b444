# A module has a stack of its own size, as large as the threads of posix/parallel.c have; its memory grows.
target_compile_definitions(scaleplan_flags INTERFACE _WASI_EMULATED_PROCESS_CLOCKS)
target_link_options(scaleplan_flags INTERFACE -Wl,-z,stack-size=1048576 -Wl,--strip-all)

# Hardening, and code that may stand anywhere in memory.
target_compile_options(scaleplan_flags INTERFACE -fstack-protector-strong)
target_link_options(scaleplan_flags INTERFACE -Wl,-z,relro,-z,now,--as-needed)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# Nobody puts functions of their own in the place of the library's: its files call theirs directly.
set(SCALEPLAN_LIBRARY_FLAGS -fno-semantic-interposition)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)
if(CMAKE_C_FLAGS MATCHES "sanitize=address")
  # A program that may stand anywhere adjusts a megabyte of the sanitizer's records at each start: a third of its time.
  set(CMAKE_C_LINK_OPTIONS_PIE -no-pie)
endif()
# gcc on x86 clears a struct of more than 80 bytes by `rep stos`, which starts as slowly as 30 stores run.
# Only where it optimises for speed: tools of clang read the flags of the other builds.
include(CheckCCompilerFlag)
set(clear_by_stores -mmemset-strategy=vector_loop:512:noalign,libcall:-1:noalign)
check_c_compiler_flag(${clear_by_stores} SCALEPLAN_CLEARS_BY_STORES)
if(SCALEPLAN_CLEARS_BY_STORES)
  target_compile_options(scaleplan_flags INTERFACE "$<$<CONFIG:Release>:${clear_by_stores}>")
endif()

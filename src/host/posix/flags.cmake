# Hardening, and code that may stand anywhere in memory.
target_compile_options(scaleplan_flags INTERFACE -fstack-protector-strong)
target_link_options(scaleplan_flags INTERFACE -Wl,-z,relro,-z,now,--as-needed)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

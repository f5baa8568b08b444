# One file that needs no library: how it is linked, and what the distribution has no static library of (cJSON and
# libsmartcols), from its sources. With glibc: its libm gives the digits of every other build.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# A C program unwinds no stack: tables for it would be 200 kB.
add_compile_options(-ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables)
set(CMAKE_C_LINK_OPTIONS_PIE -fPIE -static-pie) # in place of -pie, which follows all other options and would win
string(APPEND CMAKE_EXE_LINKER_FLAGS " -s -Wl,--gc-sections,-z,pack-relative-relocs")

include(src/host/sources.cmake)
get_sources(cjson util-linux)
add_cjson()

# libsmartcols and the files of util-linux that it calls; what its configure would find, as glibc has it.
set(util_linux "${sources}/util-linux")
file(GLOB smartcols_sources "${util_linux}/libsmartcols/src/*.c")
foreach(name buffer color-names jsonwrt mbsalign strutils ttyutils)
  list(APPEND smartcols_sources "${util_linux}/lib/${name}.c")
endforeach()
file(STRINGS "${util_linux}/.tarball-version" LIBSMARTCOLS_VERSION)
configure_file("${util_linux}/libsmartcols/src/libsmartcols.h.in" "${sources}/include/libsmartcols/libsmartcols.h" @ONLY)
add_foreign_library(smartcols ${smartcols_sources})
target_include_directories(smartcols PRIVATE "${util_linux}/include" "${sources}/include/libsmartcols")
target_include_directories(smartcols SYSTEM PUBLIC "${sources}/include")
target_compile_definitions(smartcols PRIVATE _GNU_SOURCE HAVE_WIDECHAR HAVE_LANGINFO_H HAVE_LOCALE_H HAVE_ERR_H HAVE_ERR
  HAVE_ERRX HAVE_WARN HAVE_WARNX HAVE_MEMPCPY HAVE_STRNDUP HAVE_STRNLEN HAVE_NANOSLEEP HAVE_LOFF_T HAVE_OPEN_MEMSTREAM
  HAVE_PROGRAM_INVOCATION_SHORT_NAME HAVE_SYS_IOCTL_H)
add_library(PkgConfig::SMARTCOLS ALIAS smartcols)

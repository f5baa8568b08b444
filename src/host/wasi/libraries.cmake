# The libraries of a WebAssembly module: cJSON, libcsv and libyaml from the distribution's sources; what a module
# cannot have (threads) is empty, and tables are plain (smartcols.c).
include(src/host/sources.cmake)
get_sources(cjson libcsv libyaml)

add_cjson()
add_foreign_library(csv ${sources}/libcsv/libcsv.c)
target_include_directories(csv SYSTEM PUBLIC ${sources}/libcsv)
set(CSV_LIBRARY csv)
file(GLOB yaml_sources ${sources}/libyaml/src/*.c)
add_foreign_library(yaml ${yaml_sources})
target_include_directories(yaml SYSTEM PUBLIC ${sources}/libyaml/include)
target_compile_definitions(yaml PRIVATE YAML_VERSION_MAJOR=0 YAML_VERSION_MINOR=2 YAML_VERSION_PATCH=5
                                        YAML_VERSION_STRING="0.2.5")
set(YAML_LIBRARY yaml)

add_library(Threads::Threads INTERFACE IMPORTED)
add_library(PkgConfig::SMARTCOLS INTERFACE IMPORTED)
set_target_properties(PkgConfig::SMARTCOLS PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}")

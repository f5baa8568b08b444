# The libraries of a system that has them installed.
find_package(cJSON CONFIG REQUIRED)
find_package(PkgConfig REQUIRED)
find_library(CSV_LIBRARY NAMES libcsv.a csv REQUIRED)
find_path(CSV_INCLUDE csv.h REQUIRED)
pkg_check_modules(SMARTCOLS REQUIRED IMPORTED_TARGET smartcols)
pkg_check_modules(YAML REQUIRED yaml-0.1)
find_library(YAML_LIBRARY NAMES libyaml.a yaml HINTS ${YAML_LIBRARY_DIRS} REQUIRED)
find_package(Threads REQUIRED)

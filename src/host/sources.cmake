# Libraries that are compiled from the distribution's sources, which come while it configures.
set(sources "${CMAKE_BINARY_DIR}/sources")

function(get_sources)
  if(NOT EXISTS "${sources}/done")
    execute_process(COMMAND bash "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/sources.sh" "${sources}" ${ARGN}
                    COMMAND_ERROR_IS_FATAL ANY)
  endif()
endfunction()

# Warnings in them are not ours to mend.
function(add_foreign_library name)
  add_library(${name} STATIC ${ARGN})
  target_compile_options(${name} PRIVATE -w)
endfunction()

# Programs name its header <cjson/cJSON.h>.
function(add_cjson)
  file(COPY "${sources}/cjson/cJSON.h" DESTINATION "${sources}/include/cjson")
  add_foreign_library(cjson "${sources}/cjson/cJSON.c")
  target_include_directories(cjson SYSTEM PUBLIC "${sources}/include")
endfunction()

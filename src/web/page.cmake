# scaleplan.html: the program as a WebAssembly module, the page's own files and the textbook cases, in one file.
find_program(NODE_PROGRAM node REQUIRED)
file(GLOB page_files CONFIGURE_DEPENDS src/web/*.js src/web/*.mjs src/web/*.css src/web/*.html)
file(GLOB page_cases CONFIGURE_DEPENDS tests/textbook/*.json)
set(page "${CMAKE_BINARY_DIR}/scaleplan.html")
add_custom_command(
  OUTPUT "${page}"
  COMMAND "${NODE_PROGRAM}" "${CMAKE_CURRENT_LIST_DIR}/build.mjs" $<TARGET_FILE:scaleplan_program>
          "${PROJECT_SOURCE_DIR}/tests/textbook" "${page}"
  DEPENDS scaleplan_program ${page_files} ${page_cases}
  VERBATIM)
add_custom_target(page ALL DEPENDS "${page}")

# scaleplan.html: the program as a WebAssembly module, the page's own files and the textbook cases, in one file.
find_program(NODE_PROGRAM node REQUIRED)
find_program(WASM_OPT_PROGRAM wasm-opt REQUIRED)
file(GLOB page_files CONFIGURE_DEPENDS src/web/*.js src/web/*.mjs src/web/*.css src/web/*.html)
file(GLOB page_cases CONFIGURE_DEPENDS tests/textbook/*.json)
set(page "${CMAKE_BINARY_DIR}/scaleplan.html")
set(module "${CMAKE_BINARY_DIR}/small.wasm")
# Nothing of the program stands below address 1024, so that small offsets can be folded into loads and stores.
add_custom_command(
  OUTPUT "${module}"
  COMMAND "${WASM_OPT_PROGRAM}" --flatten --rereloop -Oz -Oz -Oz --coalesce-locals-learning --reorder-locals --vacuum -Oz --low-memory-unused --converge --enable-bulk-memory --enable-sign-ext --enable-mutable-globals
          --enable-nontrapping-float-to-int $<TARGET_FILE:scaleplan_program> -o "${module}"
  DEPENDS scaleplan_program
  VERBATIM)
set(unpacker "${CMAKE_BINARY_DIR}/unpack.wasm")
add_custom_command(
  OUTPUT "${unpacker}"
  COMMAND "${CMAKE_C_COMPILER}" --target=wasm32 -nostdlib -Oz -mbulk-memory -Wl,--no-entry,--strip-all,-z,stack-size=4096
          "${CMAKE_CURRENT_LIST_DIR}/unpack.c" -o "${unpacker}"
  COMMAND "${WASM_OPT_PROGRAM}" -Oz --enable-bulk-memory "${unpacker}" -o "${unpacker}"
  DEPENDS "${CMAKE_CURRENT_LIST_DIR}/unpack.c"
  VERBATIM)
add_custom_command(
  OUTPUT "${page}"
  COMMAND "${NODE_PROGRAM}" "${CMAKE_CURRENT_LIST_DIR}/build.mjs" "${module}" "${unpacker}" "${PROJECT_SOURCE_DIR}/tests/textbook" "${page}"
  DEPENDS "${module}" "${unpacker}" ${page_files} ${page_cases}
  VERBATIM)
add_custom_target(page ALL DEPENDS "${page}")

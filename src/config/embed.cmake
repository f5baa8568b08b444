# Writes builtin.c: every config file as a byte array, line ends and indentation left out (no text of JSON goes over
# lines), and the table of them.
# Arguments: CONFIG_DIR, OUTPUT.
set(arrays "")
set(rows "")
set(count 0)
file(READ "${CMAKE_CURRENT_LIST_DIR}/kinds.def" kinds)
string(REGEX MATCHALL "X\\(SP_[A-Z]+, \"[a-z]+\"" kinds "${kinds}")
foreach(row IN LISTS kinds)
  string(REGEX MATCH "SP_[A-Z]+" kind "${row}")
  string(REGEX MATCH "[a-z]+" folder "${row}")
  file(GLOB files "${CONFIG_DIR}/${folder}/*.json")
  list(SORT files)
  foreach(path IN LISTS files)
    get_filename_component(name "${path}" NAME)
    string(REGEX REPLACE "\\.json$" "" name "${name}")
    file(READ "${path}" hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "0x0a,(0x20,)*" "" bytes "${bytes}")
    string(LENGTH "${bytes}" characters) # five a byte
    math(EXPR length "${characters} / 5")
    string(APPEND arrays "static const char text_${count}[] = {${bytes}0};\n")
    string(APPEND rows "    {${kind}, \"${name}\", text_${count}, ${length}},\n")
    math(EXPR count "${count} + 1")
  endforeach()
endforeach()
file(WRITE "${OUTPUT}" "/* Generated from configs/ by embed.cmake. */
#include \"config/load.h\"

${arrays}
const struct sp_builtin sp_builtins[] = {
${rows}};
const size_t sp_n_builtins = ${count};
")

# Writes builtin.c: every config file as a byte array, and the table of them. Line ends and indentation are left out (no text of
# JSON goes over lines), and blanks after a key's colon and between members.
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
    string(REPLACE "0x5c,0x22," "Q" bytes "${bytes}") # a quote inside a text stays as it is
    string(REPLACE "0x22,0x3a,0x20," "0x22,0x3a," bytes "${bytes}")
    string(REPLACE "0x2c,0x20,0x22," "0x2c,0x22," bytes "${bytes}")
    string(REPLACE "Q" "0x5c,0x22," bytes "${bytes}")
    # "$schema" is for editors
    string(REGEX REPLACE "0x22,0x24,0x73,0x63,0x68,0x65,0x6d,0x61,0x22,0x3a,0x22,(0x[013-9a-f][0-9a-f],|0x2[013-9a-f],)*0x22,0x2c," ""
           bytes "${bytes}")
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

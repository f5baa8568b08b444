# Writes builtin.c: every config file as a byte array, and the table of them. Line ends and indentation are left out (no text of
# JSON goes over lines), and blanks after a key's colon and between members.
# Arguments: CONFIG_DIR, OUTPUT, and SOURCES_LEFT_OUT: folders whose sources and notes the program does not show.
cmake_policy(SET CMP0057 NEW)

# Takes members whose value is a text out of `bytes`: what stands from BEFORE, which ends with the key's colon, to AFTER.
function(without before after)
  string(HEX "${before}" key)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," key "${key}")
  string(REGEX REPLACE "${key}0x22,(0x5c,0x[0-9a-f][0-9a-f],|0x[01346-9a-f][0-9a-f],|0x2[013-9a-f],|0x5[0-9abd-f],)*0x22,${after}" "" left "${bytes}")
  set(bytes "${left}" PARENT_SCOPE)
endfunction()

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
    without("\"\$schema\":" "0x2c,") # it is for editors
    if("${folder}" IN_LIST SOURCES_LEFT_OUT)
      without(",\"source\":" "")
      without(",\"note\":" "")
    endif()
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

# Writes builtin.c: every config file as a byte array, and the table of them. Line ends and indentation are left out (no text of
# JSON goes over lines), and blanks after a key's colon and between members.
# Arguments: CONFIG_DIR, OUTPUT, SOURCES_LEFT_OUT: folders whose sources and notes the program does not show, and
# LAUNCHES_PACKED: launch files whose harmless options are numbers of 22 bits instead of names, half as long: of the
# names that no list has, one in 7,000 (MaxText's 586) or fewer is taken for harmless.
cmake_policy(SET CMP0057 NEW)

# Takes members whose value is a text out of `bytes`: what stands from BEFORE, which ends with the key's colon, to AFTER.
function(without before after)
  string(HEX "${before}" key)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," key "${key}")
  string(REGEX REPLACE "${key}0x22,(0x5c,0x[0-9a-f][0-9a-f],|0x[01346-9a-f][0-9a-f],|0x2[013-9a-f],|0x5[0-9abd-f],)*0x22,${after}" "" left "${bytes}")
  set(bytes "${left}" PARENT_SCOPE)
endfunction()

# The digits of a step from one number to the next, for is_packed of src/launch/fields/quiet.c.
set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-")
function(put_step step)
  set(shifts 12 6 0)
  if(step GREATER 262143)
    string(APPEND packed "~")
    set(shifts 18 12 6 0)
  endif()
  foreach(shift IN LISTS shifts)
    math(EXPR digit "(${step} >> ${shift}) & 63")
    string(SUBSTRING "${alphabet}" ${digit} 1 digit)
    string(APPEND packed "${digit}")
  endforeach()
  set(packed "${packed}" PARENT_SCOPE)
endfunction()

# Packs names, separated by blanks, into `packed`.
function(pack names)
  string(REGEX MATCHALL "[^ ]+" names "${names}")
  set(numbers "")
  foreach(name IN LISTS names)
    string(HEX "${name}" codes)
    string(REGEX MATCHALL ".." codes "${codes}")
    set(number 0)
    foreach(code IN LISTS codes)
      math(EXPR number "(${number} * 1000003 + 0x${code}) & 0x3fffff")
    endforeach()
    math(EXPR number "${number} + 0x400000" OUTPUT_FORMAT HEXADECIMAL) # all of one width
    list(APPEND numbers ${number})
  endforeach()
  list(SORT numbers)
  list(REMOVE_DUPLICATES numbers)
  set(packed "=")
  set(before 0x400000)
  foreach(number IN LISTS numbers)
    math(EXPR step "${number} - ${before}")
    put_step(${step})
    set(before ${number})
  endforeach()
  set(packed "${packed}" PARENT_SCOPE)
endfunction()

# Packs a list of `text`, "KEY": [...], without line ends.
function(pack_list key)
  string(REGEX MATCH "\"${key}\":[^]]*" list "${text}")
  string(REGEX REPLACE "\"${key}\": .|[\",\n]" " " names "${list}")
  if(list)
    pack("${names}")
    string(REPLACE "${list}" "\"${key}\": [\"${packed}\"" text "${text}")
    set(text "${text}" PARENT_SCOPE)
  endif()
endfunction()

# Packs the lines of `text` "quiet PREFIX = NAMES".
function(pack_lines)
  string(REGEX MATCHALL "\"quiet [^ \"]+ = [^\"]+" lines "${text}")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^([^=]*= )(.*)$" "\\1" before "${line}")
    string(REGEX REPLACE "^[^=]*= " "" names "${line}")
    pack("${names}")
    string(REPLACE "${line}" "${before}${packed}" text "${text}")
  endforeach()
  set(text "${text}" PARENT_SCOPE)
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
    if("${folder}/${name}" IN_LIST LAUNCHES_PACKED)
      file(READ "${path}" text)
      pack_list(quiet)
      pack_list(quiet_switches)
      pack_lines()
      string(HEX "${text}" hex)
    endif()
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

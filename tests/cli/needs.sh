# shellcheck shell=bash
# needs.sh, sourced by tests: what a test asks for beyond the packages of the README, and how it is asked for.
#
#   lacks NEED...   whether one of them is not here; $lacking is then what it is called
#   need NEED...    for a whole test: where one is not here, says so and ends the test as skipped (exit code 77)
#   has NEED...     for a part of a test: whether all are here; says once what is not, and that a part was not tried

# A need, the command that succeeds where it is met, and what to call it. Programs are started, not just looked for: one
# may lie on the path without what it needs itself.
needs_table='
c++          | c++ --version                               | a C++ compiler (Debian: g++)
chromium     | chromium --version                          | chromium
clang        | clang --version                             | clang
dpkg-source  | dpkg-source --version                       | dpkg-source (Debian: dpkg-dev)
esbuild      | esbuild --version                           | esbuild
fish         | fish --version                              | fish
jsonschema   | python3 -c "import jsonschema"              | python3 with jsonschema (Debian: python3-jsonschema)
mandoc       | mandoc -T lint -W unsupp /dev/null          | mandoc
node         | node --version                              | node (Debian: nodejs)
npm          | npm --version                               | npm
package      | dpkg-shlibdeps --version && test $UID = 0   | dpkg-shlibdeps (Debian: dpkg-dev) and root, to try the .deb
python3      | python3 -c ""                               | python3
rsvg-convert | rsvg-convert --version                      | rsvg-convert (Debian: librsvg2-bin)
shared       | test -d "$shared_data"                      | ../shared/data beside the repository
sympy        | python3 -c "import sympy"                   | python3 with sympy (Debian: python3-sympy)
terminal     | script -qec "test -t 1" /dev/null           | a terminal: /dev/pts, and script (Debian: bsdutils)
utf8         | test -z "$(LC_ALL=C.UTF-8 bash -c : 2>&1)"  | the locale C.UTF-8 (Debian: libc-bin)
valgrind     | valgrind --version                          | valgrind
wasi         | test -e /usr/include/wasm32-wasi/stdio.h    | wasi-libc
wasm-ld      | wasm-ld --version                           | wasm-ld (Debian: lld)
wasm-opt     | wasm-opt --version                          | wasm-opt (Debian: binaryen)
xmllint      | xmllint --version                           | xmllint (Debian: libxml2-utils)
xz           | xz --version                                | xz (Debian: xz-utils)
yaml         | python3 -c "import yaml"                    | python3 with yaml (Debian: python3-yaml)
zsh          | zsh -fc "zmodload zsh/zpty"                 | zsh
'
shared_data=$(dirname "${BASH_SOURCE[0]}")/../../../shared/data
declare -A needs_known=() # what was asked for before: empty where it is here, else what it is called

lacks() { # NEED...
  local need name how called
  for need in "$@"; do
    if [ -z "${needs_known[$need]+asked}" ]; then
      IFS='|' read -r name how called < <(grep "^$need " <<<"$needs_table")
      [ -n "$name" ] || { echo "needs.sh: nothing is known of \"$need\"" >&2; exit 2; }
      (eval "$how") >/dev/null 2>&1 </dev/null && called=
      needs_known[$need]=${called# }
    fi
    lacking=${needs_known[$need]}
    [ -z "$lacking" ] || return 0
  done
  return 1
}

need() { # NEED...
  lacks "$@" || return 0
  echo "skipped: lacks $lacking"
  exit 77
}

declare -A needs_told=()
has() { # NEED...
  lacks "$@" || return 0
  [ -n "${needs_told[$lacking]+told}" ] || echo "not all is tried: lacks $lacking"
  needs_told[$lacking]=
  return 1
}

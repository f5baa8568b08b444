#!/usr/bin/env bash
# hardened.sh PROGRAM...: position-independent, addresses read-only after start, no executable stack, stack protector,
# fortified calls; no shell, no network.
set -u
failed=0
for program in "$@"; do
  has() { grep -qE "$2" <<<"$1" || { echo "$program: $3"; failed=1; }; }
  lacks() { if grep -qE "$2" <<<"$1"; then echo "$program: $3"; failed=1; fi; }
  header=$(readelf -hW "$program") segments=$(readelf -lW "$program") dynamic=$(readelf -dW "$program")
  symbols=$(readelf --dyn-syms -W "$program")
  has "$header" 'Type: +DYN' "not position-independent"
  has "$segments" 'GNU_RELRO' "no RELRO"
  has "$dynamic" 'BIND_NOW|FLAGS.*NOW' "symbols are bound lazily, RELRO is partial"
  has "$segments" 'GNU_STACK +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +RW +' "executable stack"
  has "$symbols" '__stack_chk_fail' "no stack protector"
  lacks "$dynamic" 'RPATH|RUNPATH' "has a search path of its own"
  case $program in
  *.so*) ;;
  *)
    has "$symbols" '__[a-z]+_chk' "no fortified calls"
    lacks "$symbols" ' (system|popen|execl[pe]?|execvp|socket|connect|getaddrinfo|gethostbyname)(@|$)' "starts a shell or opens a socket"
    ;;
  esac
done
[ $failed = 0 ] && echo "hardened"

#!/usr/bin/env bash
# block.sh N < README.md: the commands of the README's N-th block of setting up, to the letter.
awk -v want="$1" '/^```sh setup/ { on = ++n == want; next } /^```/ { on = 0 } on { print; found = 1 }
  END { if (!found) { print "the README has no set-up block " want > "/dev/stderr"; exit 1 } }'

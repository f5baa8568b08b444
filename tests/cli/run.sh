#!/usr/bin/env bash
# run.sh [--update] PROGRAM FILE.test...: runs the commands of transcripts and compares what they say.
#
#   # a comment
#   $ scaleplan fit --hw v5p-8 | head -1     a command for the shell
#   > a line of standard output
#   ! a line of standard error
#   = 3                                      exit code; left out where it is 0
#
# Every file runs in an empty folder of its own with PROGRAM on the path as `scaleplan` and without
# the user's configs; $TESTS is the folder tests/. --update writes what happened into the file, to be read before it is committed.
set -uo pipefail

update=
[ "${1:-}" = --update ] && { update=1; shift; }
program=$(realpath "$1") || exit 2
TESTS=$(realpath "$(dirname "$0")/..") && export TESTS || exit 2
shift
failed=0

transcript() { # FILE: what it should be, on standard output
    local line code
    while IFS= read -r line || [ -n "$line" ]; do
        case $line in
        '> '* | '>' | '! '* | '!' | '= '*) continue ;;
        esac
        printf '%s\n' "$line"
        [[ $line == '$ '* ]] || continue
        timeout 120 bash -c "${line#\$ }" >"$scratch/out" 2>"$scratch/err" </dev/null
        code=$?
        # Lines get a mark; one without a newline at its end is still a line.
        sed 's/^/> /; s/ *$//' "$scratch/out"
        [ -z "$(tail -c1 "$scratch/out")" ] || echo
        sed 's/^/! /; s/ *$//' "$scratch/err"
        [ $code -eq 0 ] || echo "= $code"
    done <"$1"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
ln -s "$program" "$scratch/bin/scaleplan"
export PATH="$scratch/bin:$PATH" HOME="$scratch/home" LC_ALL=C.UTF-8
unset XDG_CONFIG_HOME SCALEPLAN_CONFIG_PATH NO_COLOR

for file in "$@"; do
    file=$(realpath "$file") || exit 2
    rm -rf "$scratch/work"
    mkdir "$scratch/work"
    cd "$scratch/work" || exit 2
    transcript "$file" >"$scratch/actual"
    cd / || exit 2
    if [ -n "$update" ]; then
        cp "$scratch/actual" "$file"
    elif ! diff -u --label expected --label actual "$file" "$scratch/actual"; then
        echo "$file: differs" >&2
        failed=1
    else
        echo "$file: $(grep -c '^\$ ' "$file") commands as expected"
    fi
done
exit $failed

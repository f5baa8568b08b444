#!/usr/bin/env bash
# run.sh [--update] PROGRAM FILE.test...: runs the commands of transcripts and compares what they say.
#
#   # a comment
#   ? rsvg-convert terminal                  what the next command needs (needs.sh); where it is not here, it is not run
#   $ scaleplan fit --hw v5p-8 | head -1     a command for the shell
#   > a line of standard output
#   ! a line of standard error
#   = 3                                      exit code; left out where it is 0
#
# Every file runs in an empty folder of its own with PROGRAM on the path as `scaleplan` and without
# the user's configs; $TESTS is the folder tests/, by a path without spaces. Says what was not run, and why; exits with 77
# where nothing was. With FIRST set a file is left at its first difference. --update writes what happened into the file, to
# be read before it is committed.
set -uo pipefail
shopt -s extglob

update=
[ "${1:-}" = --update ] && { update=1; shift; }
program=$(realpath "$1") || exit 2
source "$(dirname "$0")/needs.sh"
failed=0 run=0
shift

# Lines with a mark, without blanks at their ends; one without a newline at its end is still a line. A program would take
# longer to start than most commands run.
marked() { # MARK
    local lines
    mapfile -t lines
    lines=("${lines[@]/#/$1}")
    lines=("${lines[@]/%+( )/}")
    [ ${#lines[@]} = 0 ] || printf '%s\n' "${lines[@]}"
}

transcript() { # FILE: what it should be, on standard output
    local line code needs='' skipping='' number=0
    while IFS= read -r line || [ -n "$line" ]; do
        number=$((number + 1))
        case $line in
        '> '* | '>' | '! '* | '!' | '= '*)
            [ -z "$skipping" ] || printf '%s\n' "$line" # as it stands: the command was not run
            continue
            ;;
        esac
        printf '%s\n' "$line"
        skipping=
        [[ $line == '? '* ]] && needs=${line#\? }
        [[ $line == '$ '* ]] || continue
        # shellcheck disable=SC2086
        if lacks $needs; then
            skipping=yes
            echo "$1:$number: skipped: lacks $lacking" >>"$scratch/skipped"
        fi
        needs=
        [ -z "$skipping" ] || continue
        (set +uo pipefail && shopt -u extglob && eval "${line#\$ }") >"$scratch/out" 2>"$scratch/err" </dev/null
        code=$?
        marked '> ' <"$scratch/out"
        marked '! ' <"$scratch/err"
        [ $code -eq 0 ] || echo "= $code"
        [ -z "${FIRST:-}" ] || cmp -s -n "$(stat -c %s "$scratch/actual")" "$1" "$scratch/actual" || return
    done <"$1"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
ln -s "$program" "$scratch/bin/scaleplan"
ln -s "$(realpath "$(dirname "$0")/..")" "$scratch/tests"
export PATH="$scratch/bin:$PATH" HOME="$scratch/home" TESTS="$scratch/tests"
if lacks utf8; then export LC_ALL=C; else export LC_ALL=C.UTF-8; fi
unset XDG_CONFIG_HOME SCALEPLAN_CONFIG_PATH NO_COLOR

for file in "$@"; do
    file=$(realpath "$file") || exit 2
    rm -rf "$scratch/work"
    mkdir "$scratch/work"
    cd "$scratch/work" || exit 2
    : >"$scratch/skipped"
    transcript "$file" >"$scratch/actual"
    cd "$OLDPWD" || exit 2
    commands=$(grep -c '^\$ ' "$file") skipped=$(wc -l <"$scratch/skipped")
    run=$((run + commands - skipped))
    cat "$scratch/skipped"
    if [ -n "$update" ]; then
        cp "$scratch/actual" "$file"
    elif ! diff -u --label expected --label actual "$file" "$scratch/actual"; then
        echo "$file: differs" >&2
        failed=1
    else
        echo "$file: $((commands - skipped)) of $commands commands run, all as expected"
    fi
done
[ $failed = 0 ] && [ $run = 0 ] && exit 77
exit $failed

#!/usr/bin/env bash
# short.sh PROGRAM SOURCE: the text of every example of --help is at most 12 lines of at most 80 columns, where it is an
# answer: not another format, values alone, a file for another program, a picture, or a listing, whose lines fit all the
# same. A command line to copy may be wider only where no blank is left to break it at.
set -u
program=$(realpath "$1") data=$(realpath "$2/tests/data") failed=0 looked=0
type jq >/dev/null 2>&1 || { echo "jq is needed"; exit 77; }
scratch=$(mktemp -d) && cd "$scratch" || exit 2
trap 'rm -rf "$scratch"' EXIT
export XDG_CONFIG_HOME=$scratch LC_ALL=C PATH="$scratch/bin:$PATH"
mkdir bin kernels && ln -s "$program" bin/scaleplan
unset SCALEPLAN_CONFIG_PATH

# The files that examples name.
ln -s "$data/huggingface-config.json" config.json
ln -s "$data/launch-megatron.sh" pretrain.sh
ln -s "$data/launches/verl_grpo_fsdp.sh" run_grpo.sh
ln -s "$data/runs-new.csv" runs.csv
ln -s "$data/kernel-times.csv" kernels.csv
ln -s "$data/nccl-tests.txt" nccl.txt
ln -s "$data/search-1-of-2.json" part-1.json
ln -s "$data/search-2-of-2.json" part-2.json

is_answer() { # LINE
    case $1 in
    *--get\ * | *--format\ * | *--explain* | *--plot\ -* | *\|* | *\>* | completion* | export* | sweep* | merge\ rows*) return 1 ;;
    esac
}

is_list() { # LINE
    case $1 in list* | show* | lint* | check*) return 0 ;; esac
    return 1
}

look() { # LINE
    local lines widest
    eval "$1" >answer 2>/dev/null # --check decides the exit code
    [ -s answer ] || return
    looked=$((looked + 1))
    lines=$(grep -c ^ answer)
    widest=$(awk '/^ *--shape [^ ]* \\$/ { next } length > n { n = length } END { print n + 0 }' answer)
    is_list "${1#scaleplan }" || [ "$lines" -le 12 ] || { echo "$1: $lines lines"; failed=1; }
    [ "$widest" -le 80 ] || { echo "$1: $widest columns"; failed=1; }
}

while read -r line; do
    is_answer "${line#scaleplan }" && look "${line%%&&*}"
done < <(scaleplan help --format json | jq -r '.[].examples[]? | (.command // .line // .)')
[ "$looked" -ge 60 ] || { echo "only $looked examples were looked at"; failed=1; }
[ $failed -eq 0 ] && echo "$looked answers are short"
exit $failed

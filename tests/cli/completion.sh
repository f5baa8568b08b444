#!/usr/bin/env bash
# completion.sh PROGRAM FOLDER: what the shells offer; zsh and fish where they are installed.
set -u
program=$1 folder=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$(realpath "$program")" "$work/scaleplan"
export PATH="$work:$PATH" HOME="$work" XDG_CONFIG_HOME="$work/config"
mkdir -p "$work/config/scaleplan/models" "$work/here"
echo '{"name": "my-own", "params": 1e9}' > "$work/config/scaleplan/models/my-own.json"
cd "$work/here" || exit 1
touch plan.sh
failed=0
expect() { # what was offered, on one line; what must be among it; what must not
  case " $1 " in *" $2 "*) ;; *) echo "expected $2 among: ${1:0:200}"; failed=1 ;; esac
  case " $1 " in *" ${3:-no such word} "*) echo "did not expect $3 among: ${1:0:200}"; failed=1 ;; esac
}

bash -n "$folder/scaleplan" || exit 1
source "$folder/scaleplan"
offer() { # the words of a command line, the last one under the cursor
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMPREPLY=()
  _scaleplan
  echo "${COMPREPLY[*]}"
}
expect "$(offer scaleplan '')" fit --model
expect "$(offer scaleplan se)" search fit
expect "$(offer scaleplan fit --mo)" --model --hw
expect "$(offer scaleplan fit --model llama2)" llama2-13b llama3-8b
expect "$(offer scaleplan fit --model my)" my-own
expect "$(offer scaleplan fit --hw v5)" v5p h100
expect "$(offer scaleplan step --remat '')" selective --model
expect "$(offer scaleplan step --from p)" plan.sh
expect "$(offer scaleplan export --to m)" maxtext jax
expect "$(offer scaleplan validate p)" plan.sh
expect "$(offer scaleplan step --precision mixed)" mixed18
# Every option of --help is offered.
for command in $(offer scaleplan '' | tr ' ' '\n' | grep -v -- '^--'); do
  for option in $(scaleplan "$command" --help | grep -oE '^  --[a-z0-9-]+'); do
    expect "$(offer scaleplan "$command" -)" "$option"
  done
done

if command -v zsh >/dev/null; then
  zsh -n "$folder/_scaleplan" || failed=1
fi
if command -v fish >/dev/null; then
  fish -n "$folder/scaleplan.fish" || failed=1
  fish_offer() { fish --no-config -c "source $folder/scaleplan.fish; complete -C '$1'" | cut -f1 | tr '\n' ' '; }
  expect "$(fish_offer 'scaleplan se')" search
  expect "$(fish_offer 'scaleplan fit --model llama2')" llama2-13b
  expect "$(fish_offer 'scaleplan step --remat ')" selective
  expect "$(fish_offer 'scaleplan fit --mo')" --model
fi
[ $failed = 0 ] && echo "completions are right"
exit $failed

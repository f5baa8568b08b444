#!/usr/bin/env bash
# completion.sh PROGRAM FOLDER: what the shells offer; zsh and fish where they are installed.
set -u
source "$(dirname "$0")/needs.sh"
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
expect "$(offer scaleplan show lla)" llama3-8b --model
expect "$(offer scaleplan show h1)" h100 llama3-8b
expect "$(offer scaleplan show --)" --kind llama3-8b
expect "$(offer scaleplan list '')" hardware plan.sh
expect "$(offer scaleplan list models pro)" profiles hardware
expect "$(offer scaleplan lint p)" plan.sh
expect "$(offer scaleplan fit --explain --mo)" --model
# --model=NAME, where = breaks words and where it does not
expect "$(offer scaleplan fit --model = lla)" llama3-8b --hw
expect "$(offer scaleplan fit --model =)" llama3-8b --hw
expect "$(offer scaleplan fit --model=lla)" --model=llama3-8b
# The second name of a list; words of an option that has the name of a kind of config.
expect "$(offer scaleplan step --hw h200,h1)" h200,h100 h200,h200
expect "$(offer scaleplan step --format '')" csv bf16
expect "$(offer scaleplan import p)" plan.sh CONFIGjson
# Options come before the command too, and `help` before one.
expect "$(offer scaleplan --qu)" --quiet fit
expect "$(offer scaleplan --quiet st)" step search
expect "$(offer scaleplan --format j)" json fit
expect "$(offer scaleplan --format json step --mod)" --model fit
expect "$(offer scaleplan --quiet step --remat sel)" selective fit
expect "$(offer scaleplan help se)" search fit
# A sweep takes another command's options, with lists, and its own.
expect "$(offer scaleplan sweep s)" step fit
expect "$(offer scaleplan sweep step --mo)" --model --hw
expect "$(offer scaleplan sweep step --va)" --valid --hw
expect "$(offer scaleplan sweep step --model lla)" llama3-8b --hw
expect "$(offer scaleplan sweep step --model llama3-8b,llama3-7)" llama3-8b,llama3-70b
expect "$(offer scaleplan sweep step --remat full,sel)" full,selective
# Keys of the command's own answer, one by one.
expect "$(offer scaleplan step --get mem)" memory.fits fits
expect "$(offer scaleplan step --get mfu,memory.f)" mfu,memory.fits
expect "$(offer scaleplan fit --get state_b)" state_bytes mfu
# Fields of a plan, also behind others, where = breaks words.
expect "$(offer scaleplan search --fix rem)" remat= dp=
expect "$(offer scaleplan search --only '')" zero= --model
expect "$(offer scaleplan search --near tp = 8,p)" 8,pp= 8,dp=
expect "$(offer scaleplan search --near tp = 8,pp = 2,v)" 2,vpp= --model
expect "$(offer scaleplan search --explain-rejects tp=8,sche)" tp=8,schedule= --model
# What the program prints is what is installed.
for shell in bash:scaleplan zsh:_scaleplan fish:scaleplan.fish; do
  scaleplan completion "${shell%:*}" | cmp - "$folder/${shell#*:}" || failed=1
done
# Every option of --help all is offered.
for command in $(offer scaleplan '' | tr ' ' '\n' | grep -v -- '^--\|^help$'); do
  for option in $(scaleplan "$command" --help all | grep -oE '^  --[a-z0-9-]+'); do
    expect "$(offer scaleplan "$command" -)" "$option"
  done
done

if has zsh; then
  # A terminal of its own, because completion runs in the line editor only: what is added as a match
  # is written down, and a file marks the end of the line.
  cat > "$work/offer.zsh" <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "source $HOME/inside.zsh"
for (( i = 0; i < 200; i++ )) { [[ -e $HOME/ready ]] && break; sleep 0.05 }
zpty -w -n shell "$1"$'\t'
for (( i = 0; i < 200; i++ )) { [[ -e $HOME/done ]] && break; sleep 0.05 }
zpty -d shell
END
  cat > "$work/inside.zsh" <<'END'
fpath=($SCALEPLAN_COMPLETION $fpath)
autoload -Uz compinit
compinit -u -d $HOME/dump
LISTMAX=10000
compadd() {
  local -a hits
  [[ "${@[1,(i)(-|--)]}" == *-(O|A|D)\ * ]] && { builtin compadd "$@"; return }
  builtin compadd -O hits "$@"
  print -l -- $hits >> $HOME/hits
  builtin compadd "$@"
}
finished() { : > $HOME/done }
comppostfuncs=(finished)
: > $HOME/ready
END
  zsh_offer() {
    rm -f "$work/ready" "$work/done"
    : > "$work/hits"
    SCALEPLAN_COMPLETION=$folder zsh -f "$work/offer.zsh" "$1" >/dev/null </dev/null
    tr '\n' ' ' < "$work/hits"
  }
  expect "$(zsh_offer 'scaleplan se')" search fit
  expect "$(zsh_offer 'scaleplan step --mod')" --model --hw
  expect "$(zsh_offer 'scaleplan step --model llama3')" llama3-8b llama2-7b
  expect "$(zsh_offer 'scaleplan step --model=llama3')" llama3-8b llama2-7b
  expect "$(zsh_offer 'scaleplan fit --hw h100-8 --model my')" my-own
  expect "$(zsh_offer 'scaleplan export --to ')" maxtext plan.sh
  expect "$(zsh_offer 'scaleplan step --from p')" plan.sh
  expect "$(zsh_offer 'scaleplan validate p')" plan.sh
  expect "$(zsh_offer 'scaleplan show llama3')" llama3-8b llama2-7b
  expect "$(zsh_offer 'scaleplan list h')" hardware plan.sh
  expect "$(zsh_offer 'scaleplan step --get memory.fi')" memory.fits mfu
  expect "$(zsh_offer 'scaleplan search --near tp=8,sch')" schedule= mfu
  expect "$(zsh_offer 'scaleplan sweep s')" step fit
  expect "$(zsh_offer 'scaleplan sweep step --mod')" --model
  expect "$(zsh_offer 'scaleplan sweep step --va')" --valid
  expect "$(zsh_offer 'scaleplan sweep step --model llama3-8b,llama3')" llama3-70b
  expect "$(zsh_offer 'scaleplan step --format ')" csv bf16
  expect "$(zsh_offer 'scaleplan --qu')" --quiet fit
  expect "$(zsh_offer 'scaleplan --quiet st')" step search
  expect "$(zsh_offer 'scaleplan --format json step --mod')" --model fit
  expect "$(zsh_offer 'scaleplan help se')" search plan.sh
  # The README's line: sourced, before and after compinit.
  sed -i '/^fpath=/d; s/^compinit.*/& ; source <(scaleplan completion zsh)/' "$work/inside.zsh"
  expect "$(zsh_offer 'scaleplan step --mod')" --model --hw
  sed -i '/^autoload/d; s/^compinit.*;/ZSH_COMPDUMP=$HOME\/dump;/' "$work/inside.zsh"
  expect "$(zsh_offer 'scaleplan step --mod')" --model --hw
fi
if has fish; then
  fish -n "$folder/scaleplan.fish" || failed=1
  fish_offer() { fish --no-config -c "source $folder/scaleplan.fish; complete -C '$1'" | cut -f1 | tr '\n' ' '; }
  expect "$(fish_offer 'scaleplan se')" search
  expect "$(fish_offer 'scaleplan fit --model llama2')" llama2-13b
  expect "$(fish_offer 'scaleplan step --remat ')" selective
  expect "$(fish_offer 'scaleplan fit --mo')" --model
  expect "$(fish_offer 'scaleplan step --mod')" --model
  expect "$(fish_offer 'scaleplan show lla')" llama3-8b
  expect "$(fish_offer 'scaleplan list ')" hardware plan.sh
  expect "$(fish_offer 'scaleplan lint p')" plan.sh
  expect "$(fish_offer 'scaleplan step --format ')" csv bf16
  expect "$(fish_offer 'scaleplan --qu')" --quiet
  expect "$(fish_offer 'scaleplan --quiet st')" step
  expect "$(fish_offer 'scaleplan help se')" search plan.sh
  expect "$(fish --no-config -c "scaleplan completion fish | source; complete -C 'scaleplan se'" | cut -f1 | tr '\n' ' ')" search
  expect "$(fish_offer 'scaleplan step --get memory.fi')" memory.fits mfu
  expect "$(fish_offer 'scaleplan search --fix rem')" remat= --model
  expect "$(fish_offer 'scaleplan sweep s')" step plan.sh
  expect "$(fish_offer 'scaleplan sweep step --mod')" --model
  expect "$(fish_offer 'scaleplan sweep step --va')" --valid
  expect "$(fish_offer 'scaleplan sweep step --model lla')" llama3-8b
fi
[ $failed = 0 ] && echo "completions are right"
exit $failed

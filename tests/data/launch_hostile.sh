#!/bin/bash
# Nothing of this may be run: each line would leave a file behind.
touch touched_by_command
A=$(touch touched_by_substitution; echo 8)
B=`touch touched_by_backticks`
C=${D:-$(touch touched_by_default)}
( touch touched_by_subshell )
eval "touch touched_by_eval"
bash -c 'touch touched_by_bash'
cat < <(touch touched_by_process) > touched_by_redirection
: > touched_by_truncation
trap 'touch touched_by_trap' EXIT
f() { touch touched_by_function; }; f
N=$((1 + $(touch touched_by_arithmetic; echo 1)))
cat <<END > touched_by_here
$(touch touched_by_here_document)
END
torchrun pretrain_gpt.py --num-layers 4 --hidden-size 512 --num-attention-heads 8 --micro-batch-size 1 --tensor-model-parallel-size $A

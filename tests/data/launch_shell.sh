#!/bin/bash
#SBATCH --nodes=8
# A script in the manner of those that people keep: --tensor-model-parallel-size 64 in a comment counts for nothing.
set -euo pipefail
SIZE=${1:-small}
TP=${TP:-2}
PP=$((TP * 2))   # 4
GPUS_PER_NODE=8
NNODES=$(( (63 + GPUS_PER_NODE) / GPUS_PER_NODE ))
BATCH=$(( 3 > 2 ? 256 : 128 ))
DTYPE="bf16"

usage() { echo "usage: $0 --tensor-model-parallel-size N"; exit 1; }
width() {
    WIDTH=$(( $1 * 1024 ))
}
[[ $TP -gt 4 ]] && usage
width 4

case $SIZE in
    small) LAYERS=32 ;;
    large|huge) LAYERS=80 ;;
    *) usage ;;
esac

MODEL_ARGS=(
    --num-layers $LAYERS --hidden-size "$WIDTH"   # 32 x 4096
    --num-attention-heads 32 --group-query-attention --num-query-groups 8
    --ffn-hidden-size 14336 --swiglu --normalization RMSNorm
    --disable-bias-linear --untie-embeddings-and-output-weights
    --vocab-size 128256 --position-embedding-type rope
)
if [ "$DTYPE" = fp8 ]; then
    MODEL_ARGS+=("--fp8-format hybrid")
else
    MODEL_ARGS+=(--bf16)
fi
EXTRA=""
for flag in sequence-parallel use-distributed-optimizer; do
    EXTRA="$EXTRA --$flag"
done
if ((TP > 1)) && [ -n "$EXTRA" ]; then
    EXTRA="${EXTRA} \
        --recompute-activations"
fi
cat <<JSON > ds.json
{"train_batch_size": 1, "--tensor-model-parallel-size": 32}
JSON
RUN="torchrun --nproc_per_node $GPUS_PER_NODE --nnodes $NNODES pretrain_gpt.py ${MODEL_ARGS[*]} \
    --tensor-model-parallel-size $TP --pipeline-model-parallel-size ${PP} \
    --micro-batch-size 1 --global-batch-size ${BATCH} --seq-length ${SEQ:-4096} $EXTRA \
    --save ${CKPT} --data-path $(ls /data | head -1)"
echo "$RUN"
eval $RUN 2>&1 | tee log.txt

/* Sources that several rows name. */
#ifndef SP_ROW_SOURCES_H
#define SP_ROW_SOURCES_H

/* clang-format off */
#define TRAINING "scaling book, chapter \"Training\""
#define GPUS "scaling book, chapter \"GPUs\""
#define TRANSFORMERS "scaling book, chapter \"Transformers\""
#define SHARDING "scaling book, chapter \"Sharding\""
#define ROOFLINES "scaling book, chapter \"Rooflines\""
#define APPLIED_INFERENCE "scaling book, chapter \"Applied Inference\""
#define INFERENCE "scaling book, chapter \"Inference\""
#define MAXIMUM_A_POSTERIORI "maximum a posteriori fit: docs/accuracy.md"
#define CHOOSING_A_STRATEGY "training-at-scale notes, \"Choosing a strategy\""
#define ZERO_SECTION_5 "ZeRO, Rajbhandari et al. 2020, section 5"
#define ZERO_SECTION_7 "ZeRO, Rajbhandari et al. 2020, section 7"
#define KORTHIKANTI "Korthikanti et al. 2022"
#define INVERSE "inverse of the models: docs/need.md"
#define BRANCH_AND_BOUND "branch and bound over the whole space: docs/search.md"
#define ESTIMATOR "estimator: docs/accuracy.md"
#define HEALTH_OF_RUN "training-at-scale notes, \"Monitoring\"; scaleplan/step.h"
#define PLAYBOOK "Nanotron, \"The Ultra-Scale Playbook\", memory of a step over time; framework file"
#define PYTORCH_DISTRIBUTED "Li et al. 2020, \"PyTorch Distributed\", section 3.2"
#define MEMORY_MODEL "Korthikanti et al. 2022; ZeRO (Rajbhandari et al. 2020); framework file"
#define SERVING_ESTIMATE "estimate: docs/serving.md"
#define SERVING_SIMULATION "event by event: docs/serving.md"
#define SUPERPOD "NVIDIA DGX SuperPOD reference architecture; scaling book, chapter \"GPUs\", quiz 3"
#define PREFERENCES "Rafailov et al. 2023, \"Direct Preference Optimization\""
#define LORA "Hu et al. 2021, \"LoRA\""
/* clang-format on */

#endif

// The tasks of users, and the words for their fields.

// The first question of a task, and its fields.
const TASKS = {
  fit: ['Does it fit?', 'fit --model llama3-70b --hw h100-512 --tokens 15T', 'model chip count batch length tokens'],
  step: ['How fast?', 'step --model llama3-70b --hw h100-512 --zero 3 --tokens 15T', 'model chip count batch length tp pp tokens'],
  search: ['What is best?', 'search --model llama3-70b --hw h100-512 --tokens 15T', 'model chip count batch length tokens'],
  serve: ['Serve it', 'serve --model llama3-70b --hw h100-8 --front', 'model chip count concurrency input output'],
  rl: ['RL', 'rl --model llama3-8b --hw h100-16 --prompts 32', 'model chip count prompts group output offload'],
};

// A field: its label, what it counts, and the powers of two between which its slider goes.
const FIELDS = {
  model: ['Model', 'name, HF id, file'],
  chip: ['Chip', ''],
  count: ['How many', 'chips', 0, 14],
  batch: ['Batch', 'sequences', 0, 15],
  length: ['Length', 'tokens each', 8, 20],
  tokens: ['Train on', 'tokens'],
  tp: ['Tensor parallel', '', 0, 6],
  pp: ['Pipeline', 'stages', 0, 6],
  concurrency: ['Users', 'at once', 0, 13],
  input: ['Prompt', 'tokens', 5, 17],
  output: ['Answer', 'tokens', 0, 15],
  prompts: ['Prompts', 'per step', 0, 13],
  group: ['Tries', 'per prompt', 0, 7],
  offload: ['Offload', ''],
};

// Which quantity of an answer is the value of a field that is left empty, where its name is not that of the field.
const DEFAULTS = { count: 'devices', batch: 'batch_sequences', length: 'seq', concurrency: 'running', kv: 'kv_format', weights: 'weights_format' };

// "h100-512" is 512 of the chip h100; "rtx-4090" is a chip's name, and "v5p:8x8x8" or a file are more than a number can say.
function machineOf(words, names) {
  const text = optionIn(words, 'hw') || '';
  const [, chip, count] = (!names.includes(text) && /^([^:,]+)-(\d+)$/.exec(text)) || [null, text, ''];
  return { chip, count };
}

// "512x8192" is 512 sequences of 8192 tokens; a number alone counts tokens.
function batchOf(words) {
  const text = optionIn(words, 'batch') || '';
  const [, batch, length] = /^(\d+)x(\d*)$/.exec(text) ?? [null, /^\d+$/.test(text) ? `${text} tokens` : text, ''];
  return { batch, length: length || optionIn(words, 'seq') || '' };
}

function fieldIn(words, name, names) {
  const shared = { ...machineOf(words, names), ...batchOf(words) };
  const value = shared[name] ?? optionIn(words, name);
  return value === null || value === true ? '' : value;
}

// `chip` and `count` are what stands in their fields: not every text of both can be told apart in one option.
function withField(words, name, value, { chip, count }) {
  if (name === 'chip' || name === 'count') {
    count = count.replace(/[, ]/g, '').replace(/[a-z]{2,}$/i, ''); // "1,024 chips"
    return withOption(words, 'hw', count && !/[:,.]/.test(chip) ? `${chip}-${count}` : chip);
  }
  if (name !== 'batch' && name !== 'length') return withOption(words, name, value);
  const { batch, length } = { ...batchOf(words), [name]: value };
  const counted = /^\d+$/.test(batch);
  return withOption(withOption(words, 'batch', counted ? `${batch}x${length}` : batch.replace(/ ?tokens?$/, '')), 'seq',
    counted ? '' : length);
}

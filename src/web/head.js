// The head of an answer: its verdict, a gauge of the memory, a bar of the time by part, and the figures most asked for. All
// are quantities of the answer: nothing is computed here but widths.

const named = (front, names, end) => names.split(' ').map((name) => `${front}${name}${end}`);

// The value to draw, if the answer has it: the first of a list whose whole is there, with its parts.
const MEMORIES = [
  { title: 'Memory', of: 'per chip', whole: 'best.device_bytes', most: 'capacity_bytes',
    parts: named('best.', 'state held activation peak', '_bytes'), colours: '07b fd9 d50 888' },
  { title: 'Memory', of: 'per chip', whole: 'memory.device_bytes', most: 'memory.capacity_bytes', low: 'memory.live_bytes',
    parts: named('memory.', 'params grads optimizer activations buffers', '_bytes'), colours: '07b fd9 5be d50 888' },
  { title: 'Memory', of: 'of an instance', whole: 'total_bytes', most: 'capacity_bytes', parts: ['weights_bytes', 'kv_cache_bytes'] },
  { title: 'Memory', of: 'per chip', whole: 'memory.both', most: 'memory.capacity', parts: ['memory.states'] },
];
const TIMES = [
  { title: 'Time between tokens', whole: 'tpot_s', low: 'tpot_low_s', high: 'tpot_high_s',
    parts: [...named('decode.', 'matmul experts attention elementwise comm launch', '_s'), 'prompts_s'] },
  { title: 'Time of a step', whole: 'step_s', low: 'time.low_s', high: 'time.high_s', parts: named('time.', 'matmul attention ' +
    'elementwise recompute launch offload tp_comm cp_comm ep_comm dp_comm pp_comm bubble optimizer straggler', '_s') },
  { title: 'Time of a step', whole: 'step_s', low: 'step_low_s', high: 'step_high_s',
    parts: named('', 'exposed_generation training refit wake overhead', '_s'), colours: '07b e90 097 ink d50' },
];
const FACTS = ['days days_at_mfu', 'cost_usd cost_at_mfu_usd', 'cost_usd_per_mtoken.output', 'ttft_s', 'mfu', 'tokens_per_s'];
const FRONTS = ['', 'plans.0.', 'expected.', 'best.']; // a plan is the answer, or is in it
const COLOURS = '07b 5be ade c7a 999 863 e90 fd6 d50 e95 b81 ccc 097 677'; // where a picture below has none for the same

// The quantities of a layout by key, without those that have no value.
function quantitiesOf(layout) {
  return new Map(layout.quantities.filter((each) => each.value !== null).map((each) => [each.key, each]));
}

// The first prefix under which a key exists.
function frontOf(all, key) {
  return FRONTS.find((front) => all.has(front + key));
}

// The first kind that an answer can draw: {title, whole, most, low, high, parts}, as quantities.
function drawnOf(kinds, all) {
  for (const kind of kinds) {
    const front = frontOf(all, kind.whole);
    const at = (key) => all.get(front + key);
    const colours = (kind.colours ?? COLOURS).split(' ');
    const parts = kind.parts.map((key, i) => ({ ...at(key), colour: colours[i] === 'ink' ? 'var(--ink)' : `#${colours[i]}` })).filter((part) => part.value > 0);
    if (parts.length) return { ...kind, front, whole: at(kind.whole), most: at(kind.most), low: at(kind.low), high: at(kind.high), parts };
  }
  return null;
}

function styled(element, style) {
  Object.assign(element.style, style);
  return element;
}

// A bar of parts with its key; `scale` is the value of its full width, `whole` that of the parts and what has no name.
function stackOf(parts, scale, whole, ask, ...marks) {
  const rest = whole - parts.reduce((sum, part) => sum + part.value, 0);
  const share = (value) => `${100 * value / scale}%`;
  return [make('div', { class: 'stack', 'aria-hidden': 'true' }, marks.filter(Boolean), parts.map((part) =>
    styled(make('span', { title: `${part.label} ${part.text}` }), { width: share(part.value), background: part.colour }))),
  make('ul', { class: 'key' }, parts.filter((part) => part.value >= 0.01 * scale).map((part) =>
    make('li', {}, styled(make('i'), { background: part.colour }), `${part.label.replace(' per chip', '')} `, numberOf(part, ask))), rest > 0.01 * scale ? make('li', {}, make('i', { class: 'used' }), 'allocator and runtime') : null)];
}

// Whose figures they are: `fit` has two plans, that of its verdict and the one that a search finds to be the fastest.
const planOf = (all) => all.get(`plans.${all.get('best.strategy')?.text}.plan`)?.text;
const degreesOf = (all, front) => ['dp', 'tp', 'pp', 'cp', 'ep'].map((key) => all.get(front + key)).filter((each) => each?.value > 1)
  .map(({ label, text }) => `${label} ${text}`).join(', ') || 'one chip';

function gaugeOf(all, ask) {
  const drawn = drawnOf(MEMORIES, all);
  if (!drawn) return null;
  const { whole, most, low, parts } = drawn;
  const over = whole.value > most.value;
  const scale = over ? whole.value : most.value;
  return make('section', { class: `gauge ${over ? 'bad' : 'good'}` }, make('h3', {}, `${drawn.title} `, make('b', {}, numberOf(whole, ask),
    ' of ', numberOf(most, ask)), ' ', make('small', {}, drawn.of, low && [', ', numberOf(low, ask), ' of it tensors'], whole.key.startsWith('best.') ? `, with ${planOf(all)}` : null)), stackOf(parts, scale, whole.value, ask, styled(make('span', { class: 'used' }), { width: `${100 * whole.value / scale}%` }),
    over && styled(make('span', { class: 'most' }), { left: `${100 * most.value / scale}%` })));
}

function timeOf(all, ask) {
  const drawn = drawnOf(TIMES, all);
  if (!drawn) return null;
  const { whole, low, high, parts, front } = drawn;
  return make('section', { class: 'time' }, make('h3', {}, `${drawn.title} `, make('b', {}, numberOf(whole, ask)),
    low && make('small', {}, '80 % range ', numberOf(low, ask), ' to ', numberOf(high, ask), front === 'expected.' ? `, with the fastest plan: ${degreesOf(all, front)}` : null)),
  stackOf(parts, whole.value, 0, ask));
}

// A plan that does not fit has no days.
function factsOf(all, ask) {
  if (all.get('best.fits')?.good === false) return null;
  const facts = FACTS.map((keys) => keys.split(' ').map((key) => all.get(frontOf(all, key) + key)).find(Boolean)).filter(Boolean);
  return facts.length > 1 ? make('p', { class: 'facts' }, facts.map((each) => factOf(each, ask))) : null;
}

function factOf(quantity, ask) {
  return make('span', { class: 'fact' }, make('small', {}, quantity.label), ' ', numberOf(quantity, ask));
}

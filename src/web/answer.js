// An answer of the program: its verdict, its lines and tables with every number as a button, its picture and notes.

// Numbers as buttons; `ask(key)` shows how one follows.
function numberOf(piece, ask) {
  const mood = piece.good === undefined ? '' : piece.good ? ' good' : ' bad';
  if (!piece.key) return make('span', {}, piece.text);
  return make('button', { type: 'button', class: `number${mood}`, tabindex: -1, 'data-key': piece.key,
    title: piece.key, onclick: () => ask(piece.key) }, piece.text);
}

function partsOf(parts, ask) {
  return parts.map((part) => (typeof part === 'string' ? part : numberOf(part, ask)));
}

// "plan       dp 512": the name of a line ends before two blanks, or before one if it fills its ten columns.
function nameOf(text) {
  const wide = /^( *)(\S(?:.{0,20}?\S)?) {2,}(.*)$/s.exec(text);
  const full = /^( *)(\S+) (.*)$/s.exec(text);
  return wide ?? (full && full[1].length + full[2].length === 10 ? full : null);
}

function lineRow(parts, ask) {
  const first = typeof parts[0] === 'string' ? parts[0] : '';
  const named = nameOf(first);
  if (named) return [make('dt', {}, named[2]), make('dd', {}, partsOf([named[3], ...parts.slice(1)], ask))];
  const whole = first.startsWith('      ') ? '' : 'whole';
  const body = first ? [first.trimStart(), ...parts.slice(1)] : parts;
  return [make('dt', { class: whole }), make('dd', { class: whole }, partsOf(body, ask))];
}

function isBlank(item) {
  return item.line && item.line.every((part) => typeof part === 'string' && part.trim() === '');
}

function tableOf(item, ask) {
  const side = (c) => (item.columns[c].left ? 'left' : 'right');
  const head = make('tr', {}, item.columns.map((column, c) => make('th', { scope: 'col', class: side(c) }, column.heading)));
  const rows = item.rows.map((row) => make('tr', {}, row.map((cell, c) =>
    make(c === 0 ? 'th' : 'td', { class: side(c), scope: c === 0 ? 'row' : null }, numberOf(cell, ask)))));
  return make('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Table' },
    make('table', {}, make('thead', {}, head), make('tbody', {}, rows)));
}

// The main numbers of commands whose first line is no verdict.
const FIRST_NUMBERS = {
  step: ['memory.fits', 'step_s', 'mfu', 'memory.device_bytes'],
  search: ['plans.0.step_s', 'plans.0.mfu', 'plans.0.memory.device_bytes', 'proven'],
  memory: ['memory.fits', 'memory.total_bytes', 'capacity_bytes'],
  roofline: ['bound', 'intensity', 'ridge'],
  pipeline: ['bubble_fraction', 'efficiency', 'total_s'],
  batch: ['critical.machine', 'critical.slice', 'batch_needed.machine', 'batch_needed.3'],
  comm: ['time_s', 'bound'], train: ['days', 'cost_usd'], flops: ['params.total', 'flops_per_step'],
  scaling: ['params', 'tokens', 'loss'], lr: ['lr'], shard: ['local_bytes', 'collective'],
};

function textOf(parts) {
  return parts.map((part) => (typeof part === 'string' ? part : part.text)).join('');
}

// The verdict: the first line if it has a yes or no, else the main numbers, else the first line if it has
// no name in front. Null if there is none.
function verdictOf(name, layout, ask) {
  const line = layout.items[0]?.line ?? [];
  const word = /^(Yes|No)\b/.exec(textOf(line))?.[1];
  if (word) return make('p', { class: `verdict ${word === 'Yes' ? 'good' : 'bad'}` }, partsOf(line, ask));
  if (!FIRST_NUMBERS[name]) return line.length && !nameOf(textOf(line)) ? make('p', { class: 'verdict plain' }, partsOf(line, ask)) : null;
  const answers = FIRST_NUMBERS[name].map((key) => layout.quantities.find((each) => each.key === key))
    .filter((each) => each && each.value !== null);
  if (!answers.length) return null;
  return make('p', { class: 'verdict' }, answers.map((each) => make('span', { class: 'fact' },
    make('small', {}, each.label), ' ', numberOf(each, ask))));
}

// Renders the blocks of the layout in order: lines as lists, tables, plain text unchanged.
function bodyOf(items, ask) {
  const out = [];
  let list = null;
  for (const item of items) {
    if (!item.line || isBlank(item)) list = null;
    if (item.columns) out.push(tableOf(item, ask));
    if (item.block !== undefined) out.push(make('pre', { class: 'wide', tabindex: 0 }, item.block));
    if (!item.line || isBlank(item)) continue;
    if (!list) out.push((list = make('dl', {})));
    list.append(...lineRow(item.line, ask));
  }
  return out;
}

// One tab stop for all numbers of an answer; arrow keys go from one to the next.
function walkNumbers(root) {
  const numbers = () => [...root.querySelectorAll('.number')];
  const first = numbers()[0];
  if (first) first.tabIndex = 0;
  root.addEventListener('keydown', (event) => {
    const all = numbers();
    const at = all.indexOf(document.activeElement);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (at < 0 || !step) return;
    event.preventDefault();
    const next = all[(at + step + all.length) % all.length];
    all.forEach((number) => { number.tabIndex = -1; });
    next.tabIndex = 0;
    next.focus();
  });
}

function reportOf(name, layout, figure, ask) {
  const verdict = verdictOf(name, layout, ask);
  const said = verdict?.matches('.good, .bad, .plain');
  const body = bodyOf(said ? layout.items.slice(1) : layout.items, ask);
  const notes = layout.notes.length ? make('ul', { class: 'notes' }, layout.notes.map((note) => make('li', {}, note))) : null;
  return make('div', { class: 'report' }, verdict, figure?.element, body, notes);
}

// Shows rows of CSV as a table; anything else unchanged.
function plainOf(words, text) {
  const rows = text.trimEnd().split('\n').map((line) => line.split(','));
  const isTable = words[0] === 'sweep' && optionIn(words, 'format') === null && rows.length > 1 && !text.includes('"');
  if (!isTable) return make('pre', { class: 'wide', tabindex: 0 }, text);
  const columns = rows[0].map((heading) => ({ heading, left: false }));
  return tableOf({ columns, rows: rows.slice(1).map((row) => row.map((cell) => ({ text: cell }))) }, () => {});
}

function errorsOf(done) {
  return done.stderr ? make('pre', { class: 'errors', role: 'alert' }, done.stderr) : null;
}

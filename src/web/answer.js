// An answer of the program: its verdict, its lines and tables with every number as a button, its picture and notes.

// Numbers as buttons; `ask(key)` shows how one follows. Commands lead to their answers, other words have nothing behind them.
function numberOf(piece, ask) {
  const mood = piece.good === undefined ? '' : piece.good ? ' good' : ' bad';
  if (/\bcommand\b/.test(piece.key)) return make('a', { href: `#${encodeURIComponent(lineOf(wordsOf(piece.text)))}` }, piece.text);
  if (!piece.key || !ask.follows(piece.key)) return make('span', {}, piece.text);
  return make('button', { type: 'button', class: `number${mood}`, tabindex: -1, 'data-key': piece.key,
    title: piece.key, onclick: () => ask(piece.key) }, piece.text);
}

function partsOf(parts, ask) {
  return parts.map((part) => (typeof part === 'string' ? part : numberOf(part, ask)));
}

// "plan       dp 512": the name of a line ends before two blanks, or before one if it is a word that fills its ten columns.
function nameOf(text) {
  return /^( *)(\S(?:.{0,20}?\S)?) {2,}(.*)$/s.exec(text) ?? /^()([a-z]{10}) (.*)$/s.exec(text);
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
  const head = make('tr', {}, item.columns.map((column, c) => make('th', { scope: 'col', class: side(c) }, column.heading || '#')));
  const rows = item.rows.map((row) => make('tr', {}, row.map((cell, c) =>
    make(c === 0 ? 'th' : 'td', { class: side(c), scope: c === 0 ? 'row' : null }, numberOf(cell, ask)))));
  return make('div', { class: 'wide', tabindex: 0 },
    make('table', {}, make('caption', { class: item.columns[0].heading && 'offscreen' }, item.columns[0].heading || 'plans'), make('thead', {}, head), make('tbody', {}, rows)));
}

// The main numbers of commands that draw no memory and no time.
const FIRST_NUMBERS = {
  roofline: ['bound', 'intensity', 'ridge'],
  pipeline: ['bubble_fraction', 'efficiency', 'total_s'],
  batch: ['critical.machine', 'critical.slice', 'batch_needed.machine', 'batch_needed.3'],
  comm: ['time_s', 'bound'], train: ['days', 'cost_usd'], flops: ['params.total', 'flops_per_step'],
  scaling: ['params', 'tokens', 'loss'], lr: ['lr'], shard: ['local_bytes', 'collective'], memory: ['memory.total_bytes'],
};

function textOf(parts) {
  return parts.map((part) => (typeof part === 'string' ? part : part.text)).join('');
}

// The verdict: the line that begins with a yes or no, which is taken out of the items; else the step and whether it fits; else
// the main numbers, or the first line if it has no name in front. Null if there is none.
function verdictOf(name, items, all, ask) {
  const at = items.slice(0, 4).findIndex((item) => item.line && /^(yes|no)\b/i.test(textOf(item.line)));
  if (at >= 0) {
    const text = textOf(items.splice(at, 1)[0].line);
    return make('h2', { class: `verdict ${/^y/i.test(text) ? 'good' : 'bad'}` }, text);
  }
  const of = (key) => all.get(frontOf(all, key) + key);
  const [fits, step, plan] = ['memory.fits', 'step_s', 'plans.0.name'].map(of);
  const facts = (FIRST_NUMBERS[name] ?? []).map(of).filter(Boolean);
  if (fits && frontOf(all, 'memory.fits') !== 'expected.') return make('h2', { class: `verdict ${fits.good ? 'good' : 'bad'}` }, fits.good ? 'Yes, it fits' : 'No, it does not fit',
    step ? [': ', numberOf(step, ask), ' per step'] : null, plan ? ` with ${plan.text.replace(', ', ', recompute ')}` : null);
  if (facts.length) return make('h2', { class: 'verdict facts' }, facts.map((each) => factOf(each, ask)));
  const line = items[0]?.line;
  return line && !nameOf(textOf(line)) ? make('h2', { class: 'verdict' }, partsOf(items.shift().line, ask)) : null;
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

function reportOf(name, layout, figure, show) {
  const all = quantitiesOf(layout);
  // What follows from something: a number, or a yes or no.
  const ask = Object.assign((key) => show(all.get(key)), { follows: (key) => typeof (all.get(key)?.value ?? '') !== 'string' });
  const items = [...layout.items];
  const verdict = verdictOf(name, items, all, ask);
  return make('div', { class: 'report' }, verdict, gaugeOf(all, ask), timeOf(all, ask), verdict?.matches('.facts') ? null : factsOf(all, ask),
    figure?.element, make('section', { class: 'lines' }, make('h3', {}, 'In full'), bodyOf(items, ask)),
    layout.notes.length ? make('section', {}, make('h3', {}, 'Notes'),
      make('ul', { class: 'notes' }, layout.notes.map((note) => make('li', {}, note)))) : null);
}

// Shows rows of CSV as a table; anything else unchanged.
function plainOf(words, text) {
  const rows = text.trimEnd().split('\n').map((line) => line.split(','));
  const isTable = words[0] === 'sweep' && optionIn(words, 'format') === null && rows.length > 1 && !text.includes('"');
  if (!isTable) return make('pre', { class: 'wide', tabindex: 0 }, text);
  const columns = rows[0].map((heading) => ({ heading, left: false }));
  return tableOf({ columns, rows: rows.slice(1).map((row) => row.map((cell) => ({ text: cell }))) });
}

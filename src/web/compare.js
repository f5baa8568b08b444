// Two answers side by side, and the numbers in which they differ.

function ratioText(a, b) {
  if (typeof a !== 'number' || typeof b !== 'number' || a === 0 || a === b) return '';
  return `× ${digits(b / a)}`;
}

// Quantities that both answers have, with different values; those in lists and commands are left out.
function differencesOf(before, after) {
  const of = new Map(before.map((quantity) => [quantity.key, quantity]));
  return after.filter((b) => {
    const a = of.get(b.key);
    return a && a.value !== b.value && !/^verdict$|\bcommand\b/.test(b.key) && !/\.\d+(\.|$)/.test(b.key);
  }).map((b) => ({ a: of.get(b.key), b }));
}

function differenceTable(differences) {
  const columns = ['what', 'first', 'second', 'second over first', 'key'].map((heading, i) => ({ heading, left: i === 0 || i === 4 }));
  const rows = differences.map(({ a, b }) => [b.label, a.text, b.text, ratioText(a.value, b.value), b.key]);
  return tableOf({ columns, rows: rows.map((row) => row.map((text) => ({ text }))) });
}

// Shows the numbers in the lines of the answer first and, on request, all others.
function compareTable(before, after) {
  const inLines = new Set(after.items.flatMap((item) => item.line ?? []).map((part) => part.key));
  const differences = differencesOf(before.quantities, after.quantities);
  const first = differences.filter(({ b }) => inLines.has(b.key));
  const others = differences.filter(({ b }) => !inLines.has(b.key));
  return make('section', { class: 'difference' }, make('h2', {}, 'What is different'),
    first.length ? differenceTable(first) : make('p', {}, 'Nothing that stands in the lines of both answers.'),
    others.length ? make('details', {}, make('summary', {}, `${others.length} other numbers`), differenceTable(others)) : null);
}

// Formats and parses numbers.

const PREFIXES = [[1e18, 'E'], [1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''], [1e-3, 'm'],
  [1e-6, 'µ'], [1e-9, 'n']];

function digits(value) {
  if (value === 0) return '0';
  const text = Math.abs(value) >= 1e5 || Math.abs(value) < 1e-4 ? value.toExponential(2) : value.toPrecision(3);
  return text.includes('e') ? text : String(Number(text));
}

// 0.0123 of "s" is "12.3 ms"; a number without a unit has a prefix from a thousand on.
function human(value, unit) {
  const size = Math.abs(value);
  const small = unit === 's';
  const [factor, prefix] = PREFIXES.find(([at]) => size >= at * 0.9995 && (at >= 1 || small)) ?? [1, ''];
  return `${digits(value / factor)}${prefix || unit ? ' ' : ''}${prefix}${unit}`.trim();
}

// "4.2e3", "12k", "40%", "1.5 GB": a number; NaN if it is none.
function typedNumber(text) {
  const match = /^\s*([-+]?[\d.,]+(?:e[-+]?\d+)?)\s*(%|([kKMGTPE])(i?)[A-Za-z/]*|[a-z/ ]*)\s*$/i.exec(text);
  if (!match) return NaN;
  const value = Number(match[1].replaceAll(',', ''));
  if (match[2] === '%') return value / 100;
  const power = match[3] ? 'kMGTPE'.toUpperCase().indexOf(match[3].toUpperCase()) + 1 : 0;
  return value * (match[4] ? 1024 : 1000) ** power;
}

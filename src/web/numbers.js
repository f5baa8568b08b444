// Formats and parses numbers.

function digits(value) {
  if (value === 0) return '0';
  const text = Math.abs(value) >= 1e5 || Math.abs(value) < 1e-4 ? value.toExponential(2) : value.toPrecision(3);
  return text.includes('e') ? text : String(Number(text));
}

const TIMES_OF = { ms: 1e-3, us: 1e-6, µs: 1e-6, ns: 1e-9 };

// "4.2e3", "12k", "40%", "1.5 GB", "3 ms", "7B" (bytes if that is what is counted): a number; NaN if it is not one.
function typedNumber(text, counted = '') {
  const match = /^\s*([-+]?[\d.,]+(?:[eE][-+]?\d+)?)\s*(%|([kKMGTPE])(i?)[A-Za-z/]*|[A-Za-zµ/ ]*)\s*$/.exec(text);
  if (!match) return NaN;
  const [, number, unit, prefix, binary] = match;
  const power = unit === 'B' && !counted.includes('bytes') ? 3 : prefix ? 'kMGTPE'.indexOf(prefix.replace('K', 'k')) + 1 : 0;
  return Number(number.replaceAll(',', '')) * (unit === '%' ? 0.01 : TIMES_OF[unit] ?? (binary ? 1024 : 1000) ** power);
}

// Formats and parses numbers.

function digits(value) {
  if (value === 0) return '0';
  const text = Math.abs(value) >= 1e5 || Math.abs(value) < 1e-4 ? value.toExponential(2) : value.toPrecision(3);
  return text.includes('e') ? text : String(Number(text));
}

// "4.2e3", "12k", "40%", "1.5 GB": a number; NaN if it is not one.
function typedNumber(text) {
  const match = /^\s*([-+]?[\d.,]+(?:e[-+]?\d+)?)\s*(%|([kKMGTPE])(i?)[A-Za-z/]*|[a-z/ ]*)\s*$/i.exec(text);
  if (!match) return NaN;
  const value = Number(match[1].replaceAll(',', ''));
  if (match[2] === '%') return value / 100;
  const power = match[3] ? 'kMGTPE'.toUpperCase().indexOf(match[3].toUpperCase()) + 1 : 0;
  return value * (match[4] ? 1024 : 1000) ** power;
}

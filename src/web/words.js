// Splits command lines like a shell: words, quotes, backslashes.

// The words of a line with their places; `open`: a quote is not closed.
function splitWords(line) {
  const words = [];
  let word = null;
  let quote = '';
  const start = (i) => { word = word ?? { text: '', from: i, to: i }; };
  for (let i = 0; i < line.length; i++) {
    const c = line[i];
    if (quote) {
      if (c === quote) quote = '';
      else word.text += quote === '"' && c === '\\' && '"\\$`'.includes(line[i + 1]) ? line[++i] : c;
    } else if (c === '"' || c === "'") {
      start(i);
      quote = c;
    } else if (/\s/.test(c)) {
      if (word) words.push({ ...word, to: i });
      word = null;
    } else {
      start(i);
      word.text += c === '\\' && i + 1 < line.length ? line[++i] : c;
    }
  }
  if (word) words.push({ ...word, to: line.length });
  return { words, open: quote !== '' };
}

// The words of a line, without the program's name where it was pasted with the rest.
function wordsOf(line) {
  const words = splitWords(line.trim().replace(/^\$ /, '')).words.map((word) => word.text);
  return words[0] === 'scaleplan' ? words.slice(1) : words;
}

function quoteWord(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function lineOf(words) {
  return words.map(quoteWord).join(' ');
}

// The value of an option among words: text, true if it has none, null if it is not given.
function optionIn(words, name) {
  let found = null;
  words.forEach((word, i) => {
    if (word === `--${name}`) {
      const next = words[i + 1];
      found = next !== undefined && !next.startsWith('--') ? next : true;
    } else if (word.startsWith(`--${name}=`)) {
      found = word.slice(name.length + 3);
    }
  });
  return found;
}

// Words without an option and its value.
function withoutOption(words, name) {
  const kept = [];
  for (let i = 0; i < words.length; i++) {
    if (words[i].startsWith(`--${name}=`)) continue;
    if (words[i] !== `--${name}`) kept.push(words[i]);
    else if (i + 1 < words.length && !words[i + 1].startsWith('--')) i++;
  }
  return kept;
}

// Sets the value of an option among words: "" removes it, true gives it without a value. Its place is kept.
function withOption(words, name, value) {
  const kept = withoutOption(words, name);
  if (value === '' || value === null) return kept;
  const added = value === true ? [`--${name}`] : [`--${name}`, value];
  const at = words.findIndex((word) => word === `--${name}` || word.startsWith(`--${name}=`));
  if (at < 0) return [...kept, ...added];
  return [...words.slice(0, at), ...added, ...kept.slice(at)];
}

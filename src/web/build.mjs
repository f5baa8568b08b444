// build.mjs MODULE CASES PAGE: puts the module, the textbook cases and the files of this folder into one page that
// loads nothing: its scripts and styles are allowed by their hashes, all else is refused.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = dirname(fileURLToPath(import.meta.url));
const [module, cases, page] = process.argv.slice(2);
const read = (name) => readFileSync(join(folder, name), 'utf8');
// Without comments of whole lines and without indentation: no text of the page goes over lines.
const spare = (name) => read(name).split('\n').map((line) => line.trim()).filter((line) => line && !line.startsWith('//')).join('\n');

// In order of loading: a file uses the files before it.
const firstScripts = ['lzma.js', 'unpack.js', 'dress.js'];
const lastScripts = ['boot.js'];
const scripts = ['words.js', 'dom.js', 'engine.js', 'commands.js', 'numbers.js', 'figure_scale.js',
  'figure_series.js', 'figure.js', 'answer.js', 'explain.js', 'copy.js', 'compare.js', 'complete.js', 'forms.js',
  'files.js', 'book.js', 'app.js'];
const workerScripts = ['wasi_files.js', 'wasi.js', 'worker.js'];

// Fifteen bits per character, from U+3400 on: none of these is a control character, a surrogate or a sign of HTML. The page is
// in UTF-16, so that 15 of 16 stored bits carry something; in UTF-8 fewer than 7 of 8 would.
const BITS = 15;
const FIRST_CODE = 0x3400;
function inCharacters(bytes) {
  const codes = [];
  let held = 0;
  let bits = 0;
  for (const byte of [...bytes, 0, 0]) { // the zeros fill the last character
    held |= byte << bits;
    bits += 8;
    if (bits < BITS) continue;
    codes.push(String.fromCharCode(FIRST_CODE + (held & (2 ** BITS - 1))));
    held >>= BITS;
    bits -= BITS;
  }
  return codes.join('');
}

const LZMA = ['--format=lzma', '--lzma1=preset=9e,lc=4,pb=0', '-c'];
const pack = (bytes) => inCharacters(execFileSync('xz', LZMA, { input: bytes, maxBuffer: 1 << 24 }));
const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const book = {};
for (const name of readdirSync(cases).filter((file) => file.endsWith('.json')).sort())
  book[name.replace('.json', '')] = JSON.parse(readFileSync(join(cases, name), 'utf8'));

const strict = (names) => `'use strict';\n${names.map(spare).join('\n')}`;
// These are not compressed: blanks beside signs are left out. None of their texts has a blank there.
const tight = (text) => text.replace(/ ?(=>|[-+*/%<>=?:&|^!,;{}()]+) ?/g, '$1');
const first = tight(strict(firstScripts));
const last = tight(strict(lastScripts));
const script = strict(scripts);
const style = spare('style.css');
// One stream, so that common text of the parts is stored once.
const carried = {
  program: readFileSync(module),
  cases: Buffer.from(JSON.stringify(book)),
  worker: Buffer.from(strict(workerScripts)),
  scripts: Buffer.from(script),
};
const parts = {
  POLICY: `default-src 'none'; script-src ${[first, last, script].map(hashOf).join(' ')} 'wasm-unsafe-eval'; style-src ${hashOf(style)}; ` +
    'worker-src blob:; base-uri \'none\'; form-action \'none\'',
  STYLE: pack(style),
  FIRST: first,
  LAST: last,
  SIZES: Object.entries(carried).map(([name, bytes]) => `${name} ${bytes.length}`).join(' '),
  CARRIED: pack(Buffer.concat(Object.values(carried))),
};
// A browser takes the encoding from the byte order mark, whatever a server's header says.
const html = `\ufeff${read('page.html').replace(/%([A-Z]+)%/g, (whole, name) => parts[name] ?? whole)}`;
const encoded = (text) => Buffer.from(text, 'utf16le');
writeFileSync(page, encoded(html));

const size = (text) => encoded(text).length;
console.log(`${page}: ${size(html)} bytes: ${size(parts.CARRIED)} of ${parts.SIZES}; scripts before ${size(first) + size(last)}, ` +
  `style ${size(parts.STYLE)}`);

// build.mjs MODULE UNPACKER CASES PAGE: puts the module, the scaling book's cases and the files of this folder into one page that
// loads nothing: its scripts and styles are allowed by their hashes, all else is refused.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInThisContext } from 'node:vm';
import { deflateRawSync } from 'node:zlib';
import { adapted } from './adapted.mjs';
import { withOneSegment } from './module.mjs';

const folder = dirname(fileURLToPath(import.meta.url));
const [module, unpacker, cases, page] = process.argv.slice(2);
const read = (name) => readFileSync(join(folder, name), 'utf8');
// Without comments and blanks, with short names of locals: names that another script uses stay.
const small = (text, loader) => execFileSync('esbuild', ['--minify', `--loader=${loader}`], { input: text, encoding: 'utf8' });

// In order of loading: a file uses the files before it.
const firstScripts = ['first.js'];
const toolScripts = ['boot.js'];
const scripts = ['words.js', 'dom.js', 'streams.js', 'engine.js', 'commands.js', 'numbers.js', 'figure.js',
  'answer.js', 'head.js', 'explain.js', 'copy.js', 'compare.js', 'complete.js', 'tasks.js', 'forms.js',
  'files.js', 'book.js', 'app.js'];
const workerScripts = ['wasi_files.js', 'wasi.js', 'worker.js'];

// Sixteen bits per character, in UTF-16: each block of characters begins with a number, from which numbers follow that are
// added to the others. It is one that leaves no surrogate, no control character and no sign of HTML in the block.
const BLOCK = 256;
const FREE = new Uint8Array(1 << 16).fill(1);
for (const [first, last] of [[0, 0x1f], [0x26, 0x26], [0x3c, 0x3c], [0x7f, 0x9f], [0xd800, 0xdfff], [0xfdd0, 0xfdef],
  [0xfeff, 0xfeff], [0xfffe, 0xffff]])
  FREE.fill(0, first, last + 1);
function blockFrom(start, words) {
  const block = [start];
  let key = start;
  for (const word of words) {
    key = (77 * key + 1) & 0xffff;
    if (!FREE[(word + key) & 0xffff]) return null;
    block.push((word + key) & 0xffff);
  }
  return String.fromCharCode(...block);
}
function inCharacters(bytes) {
  const words = new Uint16Array(Uint8Array.from([...bytes, ...[0, 0].slice(bytes.length % 2)]).buffer);
  let text = '';
  for (let at = 0; at < words.length; at += BLOCK - 1) {
    const block = words.subarray(at, at + BLOCK - 1);
    const start = FREE.findIndex((free, key) => free && blockFrom(key, block));
    if (start < 0) throw new Error('no character begins a block');
    text += blockFrom(start, block);
  }
  return text;
}

const LZMA = ['--format=lzma', '--lzma1=preset=9e,lc=2,pb=0', '-c'];
const pack = (bytes) => adapted(execFileSync('xz', LZMA, { input: bytes, maxBuffer: 1 << 24 }));
const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

// In the order of the scaling book, then of what is built on it. The page has no room for the cases of the four other
// documents (lesson, lecture, slides, flax-guide) and of courses: the exercise book has all of them.
const CHAPTERS = ['roofline', 'chips', 'networks', 'sharding', 'meshes', 'flops', 'memory', 'critical', 'strategy', 'verdicts', 'book-training',
  'train', 'pipeline', 'serving', 'reinforcement', 'learning', 'budget', 'questions'];
const book = Object.fromEntries(CHAPTERS.map((name) => [name, JSON.parse(readFileSync(join(cases, `${name}.json`), 'utf8'))
  .map(({ id, ...rest }) => rest)])); // names of cases would take 2 kB: book.js counts them

const strict = (names) => small(`'use strict';\n${names.map(read).join('\n')}`, 'js');
const first = strict(firstScripts);
const tools = strict(toolScripts);
const unpacking = readFileSync(unpacker);
const deflated = deflateRawSync(Buffer.concat([unpacking, Buffer.from(tools)]), { level: 9 });
const script = strict(scripts);
const { intoStreams, withCode } = runInThisContext(`${read('streams.js')}; ({ intoStreams, withCode })`);
// One stream, so that common text of the parts is stored once.
const carried = {
  program: withCode(withOneSegment(readFileSync(module)), intoStreams),
  cases: Buffer.from(JSON.stringify(book)),
  worker: Buffer.from(strict(workerScripts)),
  scripts: Buffer.from(script),
  body: Buffer.from(read('body.html')),
  style: Buffer.from(small(read('style.css'), 'css')),
};
const all = Buffer.concat(Object.values(carried));
const packed = pack(all);
const { memory, unpack } = new WebAssembly.Instance(new WebAssembly.Module(unpacking)).exports;
const at = memory.buffer.byteLength;
memory.grow((packed.length + all.length + 0xffff) >> 16);
new Uint8Array(memory.buffer, at).set(packed);
unpack(at, at + packed.length);
if (Buffer.compare(Buffer.from(memory.buffer, at + packed.length, all.length), all) !== 0) throw new Error('the page cannot be unpacked');
const parts = {
  POLICY: `default-src 'none'; script-src ${[first, tools, script].map(hashOf).join(' ')} 'wasm-unsafe-eval'; style-src ${hashOf(carried.style)}; ` +
    'worker-src blob:; base-uri \'none\'; form-action \'none\'',
  FIRST: first,
  TOOLS: inCharacters(deflated),
  TOOLSIZE: `${deflated.length}`,
  UNPACKERSIZE: `${unpacking.length}`,
  SIZE: `${all.length}`,
  SIZES: Object.entries(carried).map(([name, bytes]) => `${name} ${bytes.length}`).join(' '),
  CARRIED: inCharacters(packed),
};
// A browser takes the encoding from the byte order mark, whatever a server's header says.
const html = `\ufeff${read('page.html').replace(/%([A-Z]+)%/g, (whole, name) => parts[name] ?? whole)}`;
const encoded = (text) => Buffer.from(text, 'utf16le');
writeFileSync(page, encoded(html));

const size = (text) => encoded(text).length;
console.log(`${page}: ${size(html)} bytes: ${size(parts.CARRIED)} of ${parts.SIZES}; scripts before ${size(first) + size(parts.TOOLS)}`);

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
const small = (text, loader, ...more) =>
  execFileSync('esbuild', ['--minify', `--loader=${loader}`, ...more], { input: text, encoding: 'utf8' });

// In order of loading: a file uses the files before it.
const firstScripts = ['first.js'];
const toolScripts = ['boot.js'];
const scripts = ['words.js', 'dom.js', 'engine.js', 'commands.js', 'numbers.js', 'figure.js',
  'answer.js', 'head.js', 'explain.js', 'copy.js', 'compare.js', 'complete.js', 'tasks.js', 'forms.js',
  'files.js', 'book.js', 'app.js'];
const workerScripts = ['streams.js', 'wasi_files.js', 'wasi.js', 'worker.js'];

// Sixteen bits per character, in UTF-16: each block of characters begins with a number, from which numbers follow that are
// added to the others. It is one that leaves no surrogate, no control character and no sign of HTML in the block. The longer
// the blocks, the fewer these numbers, and the fewer that do so: the page has the longest blocks for which there are some,
// with a factor from each number to the next.
const LONGEST_BLOCK = 281;
const FACTORS = [77, 5, 13, 21, 29, 37, 45, 53];
const FREE = new Uint8Array(1 << 16).fill(1);
for (const [first, last] of [[0, 0x1f], [0x26, 0x26], [0x3c, 0x3c], [0x7f, 0x9f], [0xd800, 0xdfff], [0xfdd0, 0xfdef],
  [0xfeff, 0xfeff], [0xfffe, 0xffff]])
  FREE.fill(0, first, last + 1);
function isFree(start, words, factor) {
  let key = start;
  for (let i = 0; i < words.length; i++) {
    key = (factor * key + 1) & 0xffff;
    if (!FREE[(words[i] + key) & 0xffff]) return false;
  }
  return true;
}
function blockFrom(start, words, factor) {
  let key = start;
  return String.fromCharCode(start, ...words.map((word) => {
    key = (factor * key + 1) & 0xffff;
    return word + key;
  }));
}
function inBlocks(bytes, length, factor) {
  const words = new Uint16Array(Uint8Array.from([...bytes, ...[0, 0].slice(bytes.length % 2)]).buffer);
  let text = '';
  for (let at = 0; at < words.length; at += length - 1) {
    const block = words.subarray(at, at + length - 1);
    const start = FREE.findIndex((free, key) => free && isFree(key, block, factor));
    if (start < 0) return null;
    text += blockFrom(start, block, factor);
  }
  return text;
}
// The texts of two arrays of bytes, the length of their blocks and the factor.
function inCharacters(one, other) {
  for (let length = LONGEST_BLOCK; length > 1; length--)
    for (const factor of FACTORS) {
      const texts = [inBlocks(one, length, factor)];
      if (texts[0] !== null) texts.push(inBlocks(other, length, factor));
      if (!texts.includes(null)) return [...texts, length, factor];
    }
  throw new Error('no character begins a block');
}

const LZMA = ['--format=lzma', '--lzma1=preset=9e,lc=2,pb=0', '-c'];
const pack = (bytes) => adapted(execFileSync('xz', LZMA, { input: bytes, maxBuffer: 1 << 24 }));
const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

// In the order of the scaling book. The page has no room for the cases of the five documents (book-training, lesson, lecture, slides,
// flax-guide), meshes, critical, networks, memory, train, pipeline, learning, strategy, reinforcement, verdicts, budgets, questions and courses, nor for what a
// source prints and what may be drawn: the exercise book has all of it, and each document a page.
const CHAPTERS = ['roofline', 'chips', 'sharding', 'flops', 'serving'];
const book = Object.fromEntries(CHAPTERS.map((name) => [name, JSON.parse(readFileSync(join(cases, `${name}.json`), 'utf8'))
  .map(({ id, section, printed, differs, draw, ...rest }) => rest)])); // names of cases would take 2 kB: book.js counts them

const strict = (names, ...more) => small(`'use strict';\n${names.map(read).join('\n')}`, 'js', ...more);
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
const archive = pack(all);
const { memory, unpack } = new WebAssembly.Instance(new WebAssembly.Module(unpacking)).exports;
const at = memory.buffer.byteLength;
memory.grow((archive.length + all.length + 0xffff) >> 16);
new Uint8Array(memory.buffer, at).set(archive);
unpack(at, at + archive.length);
if (Buffer.compare(Buffer.from(memory.buffer, at + archive.length, all.length), all) !== 0) throw new Error('the page cannot be unpacked');
const [packed, packedTools, block, factor] = inCharacters(archive, deflated);
const first = strict(firstScripts, `--define:BLOCK=${block}`, `--define:FACTOR=${factor}`);
const parts = {
  POLICY: `default-src 'none'; script-src ${[first, tools, script].map(hashOf).join(' ')} 'wasm-unsafe-eval'; style-src ${hashOf(carried.style)}; ` +
    'worker-src blob:; base-uri \'none\'; form-action \'none\'',
  FIRST: first,
  TOOLS: packedTools,
  TOOLSIZE: `${deflated.length}`,
  UNPACKERSIZE: `${unpacking.length}`,
  SIZE: `${all.length}`,
  SIZES: Object.entries(carried).map(([name, bytes]) => `${name} ${bytes.length}`).join(' '),
  CARRIED: packed,
};
// A browser takes the encoding from the byte order mark, whatever a server's header says.
const html = `\ufeff${read('page.html').replace(/%([A-Z]+)%/g, (whole, name) => parts[name] ?? whole)}`;
const encoded = (text) => Buffer.from(text, 'utf16le');
writeFileSync(page, encoded(html));

const size = (text) => encoded(text).length;
console.log(`${page}: ${size(html)} bytes: ${size(packed)} in blocks of ${block} of ${parts.SIZES}; scripts before ${size(first) + size(parts.TOOLS)}`);

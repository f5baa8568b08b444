// Writes what xz packed with the bits of lzma.js: the same literals and copies, whose bits adapt otherwise.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInThisContext } from 'node:vm';

const { Chances, Lzma, RangeDecoder } = runInThisContext(
  `${readFileSync(join(dirname(fileURLToPath(import.meta.url)), 'lzma.js'), 'utf8')}; ({ Chances, Lzma, RangeDecoder })`);

// The bits of the page's format, in the order of the decoder's calls.
class RangeEncoder {
  constructor(probabilities) {
    this.low = 0; // below 2^40
    this.range = 0xffffffff;
    this.cache = 0;
    this.pending = 1;
    this.bytes = [];
    this.chances = new Chances(probabilities);
  }

  shift() {
    if (this.low < 0xff000000 || this.low >= 2 ** 32) {
      const carry = this.low >= 2 ** 32 ? 1 : 0;
      for (; this.pending > 0; this.pending--) {
        this.bytes.push((this.cache + carry) & 0xff);
        this.cache = 0xff;
      }
      this.cache = Math.floor(this.low / 2 ** 24) & 0xff;
    }
    this.pending++;
    this.low = (this.low % 2 ** 24) * 256;
  }

  narrow() {
    while (this.range < 2 ** 24) {
      this.range *= 256;
      this.shift();
    }
  }

  bit(i, bit) {
    const bound = Math.floor(this.range / 0x10000) * this.chances.of(i);
    if (bit) this.low += bound;
    this.range = bit ? this.range - bound : bound;
    this.chances.learn(i, bit);
    this.narrow();
  }

  direct(bit) {
    this.range = Math.floor(this.range / 2);
    if (bit) this.low += this.range;
    this.narrow();
  }

  end() {
    for (let i = 0; i < 5; i++) this.shift();
    return this.bytes;
  }
}

// Reads the bits as xz writes them, and writes each anew.
class Transcoder extends RangeDecoder {
  constructor(bytes, at, probabilities) {
    super(bytes, at, probabilities);
    this.half = new Uint16Array(probabilities).fill(1024);
    this.anew = new RangeEncoder(probabilities);
  }

  bit(i) {
    const { half, now } = this;
    const chance = half[i];
    const bound = Math.imul(now[0] >>> 11, chance) >>> 0;
    const bit = now[1] >= bound ? 1 : 0;
    if (bit) now[1] -= bound;
    now[0] = bit ? now[0] - bound : bound;
    half[i] = bit ? chance - (chance >> 5) : chance + ((2048 - chance) >> 5);
    this.fill();
    this.anew.bit(i, bit);
    return bit;
  }

  direct(count) {
    const value = super.direct(count);
    for (let i = count - 1; i >= 0; i--) this.anew.direct(Math.floor(value / 2 ** i) % 2);
    return value;
  }
}

// The bytes of xz --format=lzma as lzma.js reads them.
export function adapted(bytes) {
  const reader = new Lzma(bytes, Transcoder);
  const plain = reader.unpack();
  const packed = Uint8Array.from([...bytes.subarray(0, 13), ...reader.coder.anew.end()]);
  if (Buffer.compare(new Lzma(packed).unpack(), plain) !== 0) throw new Error('the bits cannot be read again');
  return packed;
}

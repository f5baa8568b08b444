// Writes what xz packed with the bits of unpack.c: the same literals and copies, whose bits adapt otherwise. A page's module is an
// eighth smaller in LZMA than in gzip, and by another 10 kB with these bits.

// Offsets of the probabilities of each kind of decision.
const LZMA = { isMatch: 0, isRep: 192, isRep0: 204, isRep1: 216, isRep2: 228, isRep0Long: 240, slot: 432, place: 688, align: 803,
  length: 819, repLength: 1333, literal: 1847 };

// A chance in 0x1000 of log odds in 256ths, as unpack.c has it.
const POINTS = [1, 2, 3, 6, 10, 16, 27, 45, 73, 120, 194, 310, 488, 747, 1101, 1546, 2047, 2549, 2994, 3348, 3607, 3785, 3901, 3975,
  4022, 4050, 4068, 4079, 4085, 4089, 4092, 4093, 4094];
function chanceOf(odds) {
  if (odds > 2047) return 4095;
  if (odds < -2047) return 1;
  const at = (odds >> 7) + 16;
  const part = odds & 127;
  return (POINTS[at] * (128 - part) + POINTS[at + 1] * part + 64) >> 7;
}
const LOG_ODDS = new Int16Array(0x1000);
for (let odds = -2047, next = 0; odds <= 2047; odds++) while (next <= chanceOf(odds)) LOG_ODDS[next++] = odds;
LOG_ODDS[0xfff] = 2047;

// Kinds of mixed bits beside those of literals, as in unpack.c.
const COPIES = 3;
const REPEATS = 4;
const KINDS = 5;
const DEPTHS = 8; // bits that are known of a byte: each has weights of its own

// What followed the two bytes before has 2^FARTHER places, which others share: 2^14 would take 300 bytes more and 8 ms of 150 less, 2^20
// twice as long.
const FARTHER = 17;

// Chances of 0 in 0x10000 by what came before. What was seen N times moves by 1 / (N + 1.6) of its error, and by 1 / 15.6 at least.
const MOST_SEEN = 14;
const STEPS = Int32Array.from({ length: MOST_SEEN + 1 }, (_, n) => Math.min(0x7fff, Math.floor(655360 / (10 * n + 16))));
class Histories {
  constructor(places) {
    this.chance = new Uint16Array(places).fill(0x8000);
    this.seen = new Uint8Array(places);
  }

  learn(place, bit) {
    const { chance, seen } = this;
    chance[place] += ((bit ? -chance[place] : 0xffff - chance[place]) * STEPS[seen[place]]) >> 16;
    if (seen[place] < MOST_SEEN) seen[place]++;
  }
}

// For each decision the chance of 0, in 0x10000: the mean of a fast and a slow learner, or a mix of both and of what
// followed the whole byte before, and the two bytes before.
class Chances {
  constructor(decisions) {
    this.fast = new Uint16Array(decisions).fill(0x4000);
    this.slow = this.fast.slice();
    this.behind = new Histories(KINDS << 16);
    this.farther = new Histories(1 << FARTHER);
    this.weights = Array.from({ length: KINDS * DEPTHS }, () => new Int32Array(4).fill(0x10000 / 4));
  }

  of(i) {
    return this.fast[i] + this.slow[i];
  }

  // The mix, and what it learns from the bit.
  mixed(i, kind, place, { before, second }) {
    const { behind, farther, fast, slow } = this;
    const third = (kind << 16) | (before << 8) | place;
    const fourth = (Math.imul((second << 16) | (before << 8) | place, 0x9e3779b1) + Math.imul(kind, 0x85ebca6b)) >>> (32 - FARTHER);
    const weights = this.weights[kind * DEPTHS + 31 - Math.clz32(place | 1)];
    const odds = [LOG_ODDS[fast[i] >> 3], LOG_ODDS[slow[i] >> 3], LOG_ODDS[behind.chance[third] >> 4],
      LOG_ODDS[farther.chance[fourth] >> 4]];
    const chance = chanceOf(odds.reduce((sum, one, k) => sum + ((weights[k] * one) >> 8), 0) >> 8);
    const learn = (bit) => {
      const error = ((bit ? 0 : 4095) - chance) * 6;
      for (let k = 0; k < 4; k++) weights[k] += (odds[k] * error + 0x2000) >> 14;
      behind.learn(third, bit);
      farther.learn(fourth, bit);
    };
    return { chance: chance << 4, learn };
  }

  learn(i, bit) {
    const { fast, slow } = this;
    if (bit) {
      fast[i] -= fast[i] >> 3;
      slow[i] -= slow[i] >> 7;
    } else {
      fast[i] += (0x8000 - fast[i]) >> 3;
      slow[i] += (0x8000 - slow[i]) >> 7;
    }
  }
}

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

  bit(i, bit, chance = this.chances.of(i)) {
    const bound = Math.floor(this.range / 0x10000) * chance;
    if (bit) this.low += bound;
    this.range = bit ? this.range - bound : bound;
    this.chances.learn(i, bit);
    this.narrow();
  }

  mixedBit(i, bit, kind, place, bytes) {
    const { chance, learn } = this.chances.mixed(i, kind, place, bytes);
    learn(bit);
    this.bit(i, bit, chance);
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
class Transcoder {
  constructor(bytes, at, decisions) {
    this.bytes = bytes;
    this.at = at + 5;
    this.now = new Uint32Array([0xffffffff, new DataView(bytes.buffer, bytes.byteOffset).getUint32(at + 1)]);
    this.half = new Uint16Array(decisions).fill(1024);
    this.before = 0; // the byte before
    this.second = 0; // and the one before that
    this.anew = new RangeEncoder(decisions);
  }

  fill() {
    const { now } = this;
    while (now[0] < 0x1000000) {
      now[0] <<= 8;
      now[1] = (now[1] << 8) | this.bytes[this.at++];
    }
  }

  bit(i) {
    const bit = this.read(i);
    this.anew.bit(i, bit);
    return bit;
  }

  mixedBit(i, kind, place) {
    const bit = this.read(i);
    this.anew.mixedBit(i, bit, kind, place, this);
    return bit;
  }

  read(i) {
    const { half, now } = this;
    const chance = half[i];
    const bound = Math.imul(now[0] >>> 11, chance) >>> 0;
    const bit = now[1] >= bound ? 1 : 0;
    if (bit) now[1] -= bound;
    now[0] = bit ? now[0] - bound : bound;
    half[i] = bit ? chance - (chance >> 5) : chance + ((2048 - chance) >> 5);
    this.fill();
    return bit;
  }

  direct(count) {
    const { now } = this;
    let value = 0;
    for (; count > 0; count--) {
      now[0] >>>= 1;
      const isOne = now[1] >= now[0];
      if (isOne) now[1] -= now[0];
      this.fill();
      this.anew.direct(isOne);
      value = value * 2 + (isOne ? 1 : 0);
    }
    return value;
  }

  tree(from, bits) {
    let at = 1;
    for (let i = 0; i < bits; i++) at = at * 2 + this.bit(from + at);
    return at - (1 << bits);
  }

  reverseTree(from, bits) {
    let at = 1;
    let value = 0;
    for (let i = 0; i < bits; i++) {
      const bit = this.bit(from + at);
      at = at * 2 + bit;
      value |= bit << i;
    }
    return value;
  }
}

class Lzma {
  constructor(bytes) {
    const [properties] = bytes;
    this.lc = properties % 9;
    this.lp = Math.floor(properties / 9) % 5;
    this.pb = Math.floor(properties / 45);
    this.coder = new Transcoder(bytes, 13, LZMA.literal + (0x300 << (this.lc + this.lp)));
    this.out = new Uint8Array(1 << 20);
    this.size = 0;
    this.state = 0;
    this.reps = [0, 0, 0, 0];
  }

  put(byte) {
    if (this.size === this.out.length) {
      const larger = new Uint8Array(2 * this.size);
      larger.set(this.out);
      this.out = larger;
    }
    this.out[this.size++] = byte;
  }

  literal() {
    const { coder, lc, lp, out, size } = this;
    const { before } = coder;
    const from = LZMA.literal + 0x300 * (((size & ((1 << lp) - 1)) << lc) + (before >> (8 - lc)));
    let symbol = 1;
    let match = this.state >= 7 ? out[size - this.reps[0] - 1] : -1;
    while (symbol < 0x100 && match >= 0) {
      const wanted = (match >> 7) & 1;
      match = (match << 1) & 0xff;
      const bit = coder.mixedBit(from + ((1 + wanted) << 8) + symbol, 1 + wanted, symbol);
      symbol = symbol * 2 + bit;
      if (bit !== wanted) match = -1;
    }
    while (symbol < 0x100) symbol = symbol * 2 + coder.mixedBit(from + symbol, 0, symbol);
    this.put(symbol - 0x100);
    this.state = this.state < 4 ? 0 : this.state < 10 ? this.state - 3 : this.state - 6;
  }

  length(from, place) {
    const { coder } = this;
    if (!coder.bit(from)) return coder.tree(from + 2 + 8 * place, 3);
    if (!coder.bit(from + 1)) return 8 + coder.tree(from + 130 + 8 * place, 3);
    return 16 + coder.tree(from + 258, 8);
  }

  distance(length) {
    const { coder } = this;
    const slot = coder.tree(LZMA.slot + 64 * Math.min(length, 3), 6);
    if (slot < 4) return slot;
    const count = (slot >> 1) - 1;
    const from = (2 + (slot & 1)) * 2 ** count;
    if (slot < 14) return from + coder.reverseTree(LZMA.place + from - slot, count);
    return from + coder.direct(count - 4) * 16 + coder.reverseTree(LZMA.align, 4);
  }

  // One of the last four distances becomes the first.
  takeRep() {
    const { coder, state, reps } = this;
    const which = !coder.bit(LZMA.isRep0 + state) ? 0 : !coder.bit(LZMA.isRep1 + state) ? 1
      : !coder.bit(LZMA.isRep2 + state) ? 2 : 3;
    reps.unshift(...reps.splice(which, 1));
    return which;
  }

  copy(length) {
    for (let i = 0; i < length; i++) this.put(this.out[this.size - this.reps[0] - 1]);
  }

  // A copy from a distance of before; a single byte of the last one has no length.
  repeat(place) {
    const alone = this.takeRep() === 0 && !this.coder.bit(LZMA.isRep0Long + 16 * this.state + place);
    const length = alone ? 1 : 2 + this.length(LZMA.repLength, place);
    this.state = alone ? (this.state < 7 ? 9 : 11) : this.state < 7 ? 8 : 11;
    this.copy(length);
  }

  // A copy from a new distance; false at the mark of the end.
  match(place) {
    const length = this.length(LZMA.length, place);
    this.state = this.state < 7 ? 7 : 10;
    this.reps = [this.distance(length), ...this.reps.slice(0, 3)];
    if (this.reps[0] === 0xffffffff) return false;
    this.copy(length + 2);
    return true;
  }

  unpack() {
    for (let goes = true; goes;) {
      const place = this.size & ((1 << this.pb) - 1);
      this.coder.before = this.size > 0 ? this.out[this.size - 1] : 0;
      this.coder.second = this.size > 1 ? this.out[this.size - 2] : 0;
      if (!this.coder.mixedBit(LZMA.isMatch + 16 * this.state + place, COPIES, this.state)) this.literal();
      else if (this.coder.mixedBit(LZMA.isRep + this.state, REPEATS, this.state)) this.repeat(place);
      else goes = this.match(place);
    }
    return this.out.subarray(0, this.size);
  }
}

// The bytes of xz --format=lzma as unpack.c reads them.
export function adapted(bytes) {
  const reader = new Lzma(bytes);
  reader.unpack();
  return Uint8Array.from([...bytes.subarray(0, 13), ...reader.coder.anew.end()]);
}

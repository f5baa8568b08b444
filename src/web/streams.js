// A WebAssembly module whose code stands in streams, each of one kind of number: operators, locals, constants
// and so on. Alike beside alike packs better than in the order of execution: 25 kB of 370.

// The numbers that follow an operator, by the letters of their streams: locals, calls, depths of branches, alignments and
// offsets of what is loaded and stored, constants.
const OPERANDS = { 2: 't', 3: 't', 4: 't', 0x0c: 'b', 0x0d: 'b', 0x10: 'c', 0x11: 'kk', 0x20: 'l', 0x21: 'l', 0x22: 'l',
  0x23: 'g', 0x24: 'g', 0x3f: 'm', 0x40: 'm', 0x41: 'i', 0x42: 'j', 0x43: '4', 0x44: '8' };
for (let load = 0x28; load < 0x36; load++) OPERANDS[load] = 'ao';
for (let store = 0x36; store <= 0x3e; store++) OPERANDS[store] = 'as';
const BRANCH_TABLE = 0x0e;
const LONG = 0xfc; // a second number says which
const LONG_OPERANDS = { 8: 'mm', 9: 'm', 10: 'mm', 11: 'm' };
const STREAMS = [...'hxtbclgmijkaos48'];
const CODE = 10;

// Goes over a code section: move(stream) takes a number to where it belongs and returns it, `moved` counts bytes.
function walkCode(move, moved) {
  const moveAll = (streams = '') => {
    for (let i = 0; i < streams.length; i++) move(streams[i]);
  };
  for (let functions = move('h'); functions > 0; functions--) {
    const size = move('h');
    const end = moved() + size;
    for (let locals = move('h'); locals > 0; locals--) moveAll('hh');
    while (moved() < end) {
      const operator = move('x');
      if (operator === LONG) moveAll(LONG_OPERANDS[move('x')]);
      else if (operator === BRANCH_TABLE) for (let branches = move('t'); branches >= 0; branches--) move('b');
      else moveAll(OPERANDS[operator]);
    }
  }
}

// Bytes that are read from the start, or written to the end.
class Tape {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  number() {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  }

  take(length) {
    return this.bytes.subarray(this.at, this.at += length);
  }

  put(bytes) {
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  putNumber(value) {
    for (; value >= 128; value = Math.floor(value / 128)) this.put([(value % 128) | 128]);
    this.put([value]);
  }

  written() {
    return this.bytes.subarray(0, this.at);
  }
}

// Moves a number of a stream: an operator is one byte, a fraction 4 or 8, any other number ends below 128.
const FRACTIONS = { 4: 4, 8: 8 };
function moveNumber(stream, from, to) {
  let byte = 128;
  let value = 0;
  if (stream in FRACTIONS) to.put(from.take(FRACTIONS[stream]));
  else for (let shift = 1; byte > 127; shift *= 128) {
    byte = to.bytes[to.at++] = from.bytes[from.at++];
    if (stream === 'x') return byte;
    value += (byte & 127) * shift;
  }
  return value;
}

function intoStreams(code) {
  const from = new Tape(code);
  const to = Object.fromEntries(STREAMS.map((stream) => [stream, new Tape(new Uint8Array(code.length))]));
  walkCode((stream) => moveNumber(stream, from, to[stream]), () => from.at);
  to.a.written().fill(0); // alignments are hints alone
  const all = new Tape(new Uint8Array(code.length + 100));
  for (const stream of STREAMS) all.putNumber(to[stream].at);
  for (const stream of STREAMS) all.put(to[stream].written());
  return all.written();
}

function outOfStreams(bytes) {
  const all = new Tape(bytes);
  const sizes = STREAMS.map(() => all.number());
  const from = Object.fromEntries(STREAMS.map((stream, i) => [stream, new Tape(all.take(sizes[i]))]));
  const to = new Tape(new Uint8Array(bytes.length));
  walkCode((stream) => moveNumber(stream, from[stream], to), () => to.at);
  return to.written();
}

// A module with its code section as `recode` makes it.
function withCode(module, recode) {
  const from = new Tape(module);
  const to = new Tape(new Uint8Array(module.length + 200));
  to.put(from.take(8));
  while (from.at < module.length) {
    const [kind] = from.take(1);
    const section = from.take(from.number());
    const written = kind === CODE ? recode(section) : section;
    to.put([kind]);
    to.putNumber(written.length);
    to.put(written);
  }
  return to.written();
}

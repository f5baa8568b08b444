// A WebAssembly module whose code is in streams, each of one kind of number: operators, locals, constants
// and so on. Alike beside alike packs better than in the order of execution: 25 kB of 370. What follows from the rest is not
// stored: the size of a function, and the sign and ends of an address.

// The numbers that follow an operator, by the letters of their streams: locals, calls, depths of branches, alignments and
// offsets of what is loaded and stored, constants.
const OPERANDS = { 2: 't', 3: 't', 4: 't', 0x0c: 'b', 0x0d: 'b', 0x10: 'c', 0x11: 'kk', 0x20: 'l', 0x21: 'l', 0x22: 'l',
  0x23: 'g', 0x24: 'g', 0x3f: 'm', 0x40: 'm', 0x41: 'i', 0x42: 'j', 0x43: '4', 0x44: '8' };
for (let load = 0x28; load < 0x36; load++) OPERANDS[load] = 'ao';
for (let store = 0x36; store <= 0x3e; store++) OPERANDS[store] = 'as';
const BLOCK = 2; // the first of three operators that an END closes
const END = 0x0b;
const BRANCH_TABLE = 0x0e;
const LONG = 0xfc; // a second number says which
const LONG_OPERANDS = { 8: 'mm', 9: 'm', 10: 'mm', 11: 'm' };
const STREAMS = [...'hxtblgmijkaosA48'];
// Calls are among the operators: which function is called says most of what follows. 2 kB of 360.
const withCalls = (tapes) => Object.assign(tapes, { c: tapes.x });
const CODE = 10;

// Goes over a code section: move(stream) takes a number to where it belongs and returns it, begin() and end() take a
// function's size.
function walkCode(move, begin, end) {
  const moveAll = (streams = '') => {
    for (let i = 0; i < streams.length; i++) move(streams[i]);
  };
  for (let functions = move('h'); functions > 0; functions--) {
    begin();
    for (let locals = move('h'); locals > 0; locals--) moveAll('hh');
    for (let depth = 1; depth > 0;) {
      const operator = move('x');
      if (operator === END) depth--;
      else if (operator >= BLOCK && operator < BLOCK + 3) depth++;
      if (operator === LONG) moveAll(LONG_OPERANDS[move('x')]);
      else if (operator === BRANCH_TABLE) for (let branches = move('t'); branches >= 0; branches--) move('b');
      else moveAll(OPERANDS[operator]);
    }
    end();
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

// Constants that can be addresses of data, which is above the stack of 4 MiB, are three bytes in a stream of their own;
// ADDRESS stands for one among the constants. What is ADDRESS itself takes a byte more, as the format allows. 2 kB of 350.
const ADDRESS = 0x55;
const FIRST_ADDRESS = 1 << 22;
function splitConstant(from, constants, addresses) {
  const start = from.at;
  const value = from.number() - FIRST_ADDRESS;
  if (from.at - start === 4 && value >= 0 && value < 1 << 24) {
    addresses.put([value >> 16, value >> 8, value]);
    constants.put([ADDRESS]);
  } else if (from.at - start === 1 && from.bytes[start] === ADDRESS) {
    constants.put([ADDRESS | 128, 127]);
  } else {
    constants.put(from.bytes.subarray(start, from.at));
  }
}
function joinConstant(constants, addresses, to) {
  if (constants.bytes[constants.at] !== ADDRESS) return moveNumber('i', constants, to);
  constants.at++;
  const [high, middle, low] = addresses.take(3);
  to.putNumber(FIRST_ADDRESS + (high << 16) + (middle << 8) + low);
}

function intoStreams(code) {
  const from = new Tape(code);
  const to = withCalls(Object.fromEntries(STREAMS.map((stream) => [stream, new Tape(new Uint8Array(code.length))])));
  walkCode((stream) => (stream === 'i' ? splitConstant(from, to.i, to.A) : moveNumber(stream, from, to[stream])),
    () => from.number(), () => {});
  to.a.written().fill(0); // alignments are hints alone
  const all = new Tape(new Uint8Array(code.length + 100));
  for (const stream of STREAMS) all.putNumber(to[stream].at);
  for (const stream of STREAMS) all.put(to[stream].written());
  return all.written();
}

// A function is written after a gap for its size, and moved to the size's end.
const GAP = 5;
function outOfStreams(bytes) {
  const all = new Tape(bytes);
  const sizes = STREAMS.map(() => all.number());
  const from = withCalls(Object.fromEntries(STREAMS.map((stream, i) => [stream, new Tape(all.take(sizes[i]))])));
  const to = new Tape(new Uint8Array(2 * bytes.length));
  let start;
  walkCode((stream) => (stream === 'i' ? joinConstant(from.i, from.A, to) : moveNumber(stream, from[stream], to)), () => {
    start = to.at;
    to.at += GAP;
  }, () => {
    const end = to.at;
    to.at = start;
    to.putNumber(end - start - GAP);
    const begins = to.at;
    to.bytes.copyWithin(begins, start + GAP, end);
    to.at = begins + end - start - GAP;
  });
  return to.written();
}

// A module with its code section as `recode` makes it.
function withCode(module, recode) {
  const from = new Tape(module);
  const to = new Tape(new Uint8Array(2 * module.length));
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

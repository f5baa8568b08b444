// A WebAssembly module whose code is in streams, each of one kind of number: operators, locals, constants
// and so on. Alike beside alike packs better than in the order of execution: 25 kB of 370. What follows from the rest is not
// stored: the size of a function, and the sign and ends of an address.

// The streams by number: a browser finds them by it five times as fast as by a letter, and moves two million numbers at the start.
const STREAMS = [...'hxtblgmijkaosA48'];
const numbersOf = (letters) => [...letters].map((letter) => STREAMS.indexOf(letter));
const [HEAD, OPERATOR, TARGETS, DEPTH, CONSTANT, ADDRESSES] = numbersOf('hxtbiA');
const FRACTIONS = STREAMS.map((letter) => Number(letter) || 0); // their bytes: 4 or 8
const CALL = STREAMS.length; // calls are among the operators: which function is called says most of what follows. 2 kB of 360.
const tapesOf = (tape) => {
  const tapes = STREAMS.map(tape);
  return [...tapes, tapes[OPERATOR]];
};

// The numbers that follow an operator, by the letters of their streams: locals, depths of branches, alignments and
// offsets of what is loaded and stored, constants.
const OPERANDS = Array(256).fill([]);
for (const [operator, letters] of Object.entries({ 2: 't', 3: 't', 4: 't', 12: 'b', 13: 'b', 17: 'kk', 32: 'l', 33: 'l', 34: 'l', 35: 'g',
  36: 'g', 63: 'm', 64: 'm', 65: 'i', 66: 'j', 67: '4', 68: '8' }))
  OPERANDS[operator] = numbersOf(letters);
OPERANDS[0x10] = [CALL];
OPERANDS.fill(numbersOf('ao'), 0x28, 0x36);
OPERANDS.fill(numbersOf('as'), 0x36, 0x3f);
const BLOCK = 2; // the first of three operators that an END closes
const END = 0x0b;
const BRANCH_TABLE = 0x0e;
const LONG = 0xfc; // a second number says which
const LONG_OPERANDS = ['', '', '', '', '', '', '', '', 'mm', 'm', 'mm', 'm'].map(numbersOf);
const CODE = 10;

// Goes over a code section: move(stream) takes a number to where it belongs and returns it, begin() and end() take a
// function's size.
function walkCode(move, begin, end) {
  for (let functions = move(HEAD); functions > 0; functions--) {
    begin();
    for (let locals = move(HEAD); locals > 0; locals--) {
      move(HEAD);
      move(HEAD);
    }
    for (let depth = 1; depth > 0;) {
      const operator = move(OPERATOR);
      if (operator === END) depth--;
      else if (operator >= BLOCK && operator < BLOCK + 3) depth++;
      if (operator === BRANCH_TABLE) for (let branches = move(TARGETS); branches >= 0; branches--) move(DEPTH);
      else {
        const streams = operator === LONG ? LONG_OPERANDS[move(OPERATOR)] : OPERANDS[operator];
        for (let i = 0; i < streams.length; i++) move(streams[i]);
      }
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
    for (; value > 127; value = Math.floor(value / 128)) this.bytes[this.at++] = (value % 128) | 128;
    this.bytes[this.at++] = value;
  }

  written() {
    return this.bytes.subarray(0, this.at);
  }
}

// Moves a number of a stream: an operator is one byte, a fraction 4 or 8, any other number ends below 128.
function moveNumber(stream, from, to) {
  if (FRACTIONS[stream]) to.put(from.take(FRACTIONS[stream]));
  else for (let byte = 128, value = 0, shift = 1; ; shift *= 128) {
    byte = to.bytes[to.at++] = from.bytes[from.at++];
    if (stream === OPERATOR) return byte;
    value += (byte & 127) * shift;
    if (byte < 128) return value;
  }
}

// Constants that can be addresses of data, which is above the stack of 4 MiB, are three bytes in a separate stream;
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
  if (constants.bytes[constants.at] !== ADDRESS) return moveNumber(CONSTANT, constants, to);
  constants.at++;
  const { bytes, at } = addresses;
  addresses.at += 3;
  to.putNumber(FIRST_ADDRESS + (bytes[at] << 16) + (bytes[at + 1] << 8) + bytes[at + 2]);
}

function intoStreams(code) {
  const from = new Tape(code);
  const to = tapesOf(() => new Tape(new Uint8Array(code.length)));
  walkCode((stream) => (stream === CONSTANT ? splitConstant(from, to[CONSTANT], to[ADDRESSES]) : moveNumber(stream, from, to[stream])),
    () => from.number(), () => {});
  to[STREAMS.indexOf('a')].written().fill(0); // alignments are only hints
  const all = new Tape(new Uint8Array(code.length + 100));
  STREAMS.forEach((_, i) => all.putNumber(to[i].at));
  STREAMS.forEach((_, i) => all.put(to[i].written()));
  return all.written();
}

// A function is written after a gap for its size, and moved to the size's end.
const GAP = 5;
function outOfStreams(bytes) {
  const all = new Tape(bytes);
  const sizes = STREAMS.map(() => all.number());
  const from = tapesOf((_, i) => new Tape(all.take(sizes[i])));
  const to = new Tape(new Uint8Array(2 * bytes.length));
  let start;
  walkCode((stream) => (stream === CONSTANT ? joinConstant(from[CONSTANT], from[ADDRESSES], to) : moveNumber(stream, from[stream], to)), () => {
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

// Rewrites a WebAssembly module so that it packs well.

function readNumber(bytes, at) {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++];
    value += (byte & 127) * 2 ** shift;
    if (byte < 128) return [value, at];
  }
}

function number(value) {
  const bytes = [];
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return [...bytes, value];
}

// The same, signed: a positive number whose seventh bit is set takes one byte more.
function signedNumber(value) {
  const bytes = number(value);
  if (bytes.at(-1) & 64) bytes.push(bytes.pop() | 128, 0);
  return bytes;
}

const CUSTOM = 0; // names of tools, which a browser does not read
const DATA = 11;
const DATA_COUNT = 12; // of segments: only code that names one needs it
const AT_CONSTANT = [0, 0x41]; // an active segment of the first memory, at an i32.const

function segmentsOf(section) {
  let [count, at] = readNumber(section, 0);
  const segments = [];
  for (; count > 0; count--) {
    if (section[at] !== AT_CONSTANT[0] || section[at + 1] !== AT_CONSTANT[1]) throw new Error('a segment of another kind');
    const [address, end] = readNumber(section, at + 2); // addresses are below 2^31, and the sign bit is clear
    const [size, start] = readNumber(section, end + 1);
    segments.push({ address, bytes: section.subarray(start, start + size) });
    at = start + size;
  }
  return segments;
}

// One segment in place of thousands: what the optimizer saves by leaving out zeros, their heads take again when packed.
function joined(section) {
  const segments = segmentsOf(section);
  const { address } = segments[0];
  const last = segments.at(-1);
  const image = Buffer.alloc(last.address + last.bytes.length - address);
  for (const { address: at, bytes } of segments) image.set(bytes, at - address);
  return Buffer.concat([Buffer.from([1, ...AT_CONSTANT, ...signedNumber(address), 0x0b, ...number(image.length)]), image]);
}

export function withOneSegment(module) {
  const parts = [module.subarray(0, 8)];
  for (let at = 8; at < module.length;) {
    const kind = module[at];
    const [size, start] = readNumber(module, at + 1);
    const section = module.subarray(start, start + size);
    const written = kind === DATA ? joined(section) : section;
    if (kind !== DATA_COUNT && kind !== CUSTOM) parts.push(Buffer.from([kind, ...number(written.length)]), written);
    at = start + size;
  }
  return Buffer.concat(parts);
}

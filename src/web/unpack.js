// What the page carries: bytes as seven bits a character, compressed.

function sevenBits(text) {
  const replaced = [0, 13, 60];
  const bytes = new Uint8Array(Math.floor((text.length * 7) / 8));
  let held = 0;
  let bits = 0;
  let at = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    held = (held << 7) | (code < 128 ? code : replaced[code - 128]);
    bits += 7;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = held >> bits;
      held &= (1 << bits) - 1;
    }
  }
  return bytes;
}

// The bytes that an element of the page carries; the element is emptied.
function unpack(id) {
  const element = document.getElementById(id);
  const packed = sevenBits(element.textContent);
  element.textContent = '';
  return new Lzma(packed).unpack();
}

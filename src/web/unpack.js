// Unpacks the page's contents: compressed bytes, fifteen bits per character from U+3400 on.

function fromCharacters(text) {
  const bytes = new Uint8Array(Math.floor((15 * text.length) / 8));
  let held = 0;
  let bits = 0;
  let at = 0;
  for (let i = 0; i < text.length; i++) {
    held |= (text.charCodeAt(i) - 0x3400) << bits;
    for (bits += 15; bits >= 8; bits -= 8, held >>= 8) bytes[at++] = held;
  }
  return bytes;
}

// Returns the bytes in an element of the page, and empties the element.
function unpack(id) {
  const element = document.getElementById(id);
  const packed = fromCharacters(element.textContent);
  element.textContent = '';
  return new Lzma(packed).unpack();
}

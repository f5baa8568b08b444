// Unpacks the page's contents: compressed bytes, two per character, in blocks of 256 characters. From the first of a block
// numbers follow that were added to the others (build.mjs).

function fromCharacters(text) {
  const bytes = new Uint8Array(2 * text.length);
  let at = 0;
  let key = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (i % 256 === 0) {
      key = code;
      continue;
    }
    key = (77 * key + 1) & 0xffff;
    bytes[at++] = code - key;
    bytes[at++] = (code - key) >> 8;
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

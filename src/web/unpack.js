// Unpacks the page's contents: compressed bytes, twenty of them as 23 digits of base 125.

function fromDigits(text) {
  const blocks = Math.floor(text.length / 23);
  const bytes = new Uint8Array(20 * blocks);
  for (let block = 0; block < blocks; block++) {
    const at = 20 * block;
    for (let i = 0; i < 23; i++) {
      const code = text.charCodeAt(23 * block + i);
      let carry = code - 1 - (code > 13) - (code > 60);
      for (let k = at; k < at + 20; k++, carry >>= 8) {
        carry += 125 * bytes[k];
        bytes[k] = carry;
      }
    }
  }
  return bytes;
}

// Returns the bytes in an element of the page, and empties the element.
function unpack(id) {
  const element = document.getElementById(id);
  const packed = fromDigits(element.textContent);
  element.textContent = '';
  return new Lzma(packed).unpack();
}

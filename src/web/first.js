// The only script that is stored as it is: inflates those that unpack all else. Hidden until then, the page shows nothing
// that has no style.

document.documentElement.hidden = true;

// The bytes of text: two per character, in blocks of BLOCK characters. From the first of a block numbers follow that were
// added to the others (build.mjs).
function fromCharacters(text) {
  const bytes = new Uint8Array(2 * text.length);
  let at = 0;
  let key = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (i % BLOCK === 0) {
      key = code;
      continue;
    }
    key = (FACTOR * key + 1) & 0xffff;
    bytes[at++] = code - key;
    bytes[at++] = (code - key) >> 8;
  }
  return bytes;
}

// Runs a script, whose text has a hash in the policy as this one has.
function runScript(text) {
  const script = document.createElement('script');
  script.textContent = text;
  document.body.append(script);
}

let unpacker; // a module before the scripts
document.addEventListener('DOMContentLoaded', async () => {
  const { textContent, dataset } = document.getElementById('tools');
  const packed = new Blob([fromCharacters(textContent).subarray(0, dataset.size)]);
  const tools = await new Response(packed.stream().pipeThrough(new DecompressionStream('deflate-raw'))).arrayBuffer();
  unpacker = tools.slice(0, dataset.unpacker);
  runScript(new TextDecoder().decode(tools.slice(dataset.unpacker)));
});
